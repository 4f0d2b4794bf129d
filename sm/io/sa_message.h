/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of the SA that are longer than a MAD: its first 56 bytes (MAD header,
 * RMPP header, SA header) and the data that follow. The transport does RMPP (the
 * kernel, behind libibumad); here they are handed over whole, and taken whole.
 */
#ifndef MINISM_IO_SA_MESSAGE_H
#define MINISM_IO_SA_MESSAGE_H

#include "sm/io/transport.h"
#include "sm/mad/rmpp.h"

struct sa_message {
	struct mad_addr from;
	const uint8_t *header;	/* RMPP_SA_HEADER_LEN bytes */
	const uint8_t *data;	/* both valid as long as the MAD is */
	size_t len;
	bool cut;		/* the transport has no RMPP: there is only the
				   first MAD */
};
/* False: it is a MAD of another kind. */
bool sa_message_read(const struct transport_mad *m, struct sa_message *out);

/* An answer; fills in its RMPP header. False: the transport refuses it. */
bool sa_message_send(struct transport *t, const struct mad_addr *to,
		     GByteArray *message);

#endif
