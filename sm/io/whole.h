/*
 * Messages in one piece, for transports that do RMPP themselves: the first 56
 * bytes with an RMPP header, then all the data. Private to sm/io.
 */
#ifndef MINISM_IO_WHOLE_H
#define MINISM_IO_WHOLE_H

#include <glib.h>

#include "sm/wire/rmpp_sender.h"

/* The message of a source behind its header (RMPP_SA_HEADER_LEN bytes); NULL
 * if its data are longer than max. */
GByteArray *whole_collect(const uint8_t *header, rmpp_source_fn source,
			  void *source_data, uint64_t max);
/* Whether these bytes are a message, and how many of them, behind the first
 * 56, are its data. */
bool whole_measure(const uint8_t *message, size_t len, size_t *data_len);

#endif
