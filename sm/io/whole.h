/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages in one piece, for transports that do RMPP themselves: the first 56
 * bytes with an RMPP header, then all the data. Private to sm/io.
 */
#ifndef MINISM_IO_WHOLE_H
#define MINISM_IO_WHOLE_H

#include <glib.h>

#include "sm/mad/rmpp.h"

/* A message that is being collected from a source. */
struct whole;

/* header: RMPP_SA_HEADER_LEN bytes, copied; at most max bytes of data. */
struct whole *whole_new(const uint8_t *header, rmpp_source_fn source,
			void *source_data, uint64_t max);
void whole_free(struct whole *w);

enum whole_state {
	WHOLE_READY,
	WHOLE_LATER,		/* there is more: call again */
	WHOLE_TOO_LONG,
};
/* Goes on for a bounded time. The source is not asked after READY and TOO_LONG
 * any more. */
enum whole_state whole_collect(struct whole *w);
size_t whole_len(const struct whole *w);
/* After READY. */
const GByteArray *whole_message(const struct whole *w);

/* Whether these bytes are a message, and how many of them, behind the first
 * 56, are its data. */
bool whole_measure(const uint8_t *message, size_t len, size_t *data_len);

#endif
