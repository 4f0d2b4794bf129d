/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of the SA that are longer than a MAD. The transport does RMPP (the
 * kernel, behind libibumad); here they are collected from a source, handed over
 * whole, and taken whole.
 *
 * A message is its first 56 bytes (MAD header, RMPP header, SA header) and the
 * data that follow. This module fills in the RMPP header.
 */
#ifndef MINISM_IO_SA_MESSAGE_H
#define MINISM_IO_SA_MESSAGE_H

#include "sm/io/transport.h"
#include "sm/mad/rmpp.h"

struct sa_message;

/* Of one message, and of all that are being collected: 64 MiB. Beyond that only
 * the oldest continues. */
#define SA_MESSAGE_COLLECT_MAX	(UINT64_C(64) << 20)

struct sa_message_message {
	struct mad_addr from;
	const uint8_t *header;	/* RMPP_SA_HEADER_LEN bytes */
	const uint8_t *data;	/* both valid during the callback */
	size_t len;
	bool cut;		/* the transport has no RMPP: there is only the
				   first MAD */
};
/* False: it is a MAD of another kind. */
bool sa_message_read(const struct transport_mad *m,
		     struct sa_message_message *out);

typedef void (*sa_message_message_fn)(const struct sa_message_message *m,
				      void *data);
/* Borrows t. From now on fn gets the messages that arrive, and the present
 * receiver of t all other MADs. */
struct sa_message *sa_message_new(struct transport *t, uint64_t max_collect,
				  sa_message_message_fn fn, void *data);
/* No callback will come; the transport has its receiver back. */
void sa_message_free(struct sa_message *b);

enum sa_message_outcome {
	SA_MESSAGE_SENT,		/* the transport has it */
	SA_MESSAGE_TOO_LONG,		/* for max_collect */
	SA_MESSAGE_NOT_ACCEPTED,	/* by the transport */
};
/* Once for every sa_message_send() that returned false, never from inside it.
 * The source is not called any more. May send. */
typedef void (*sa_message_done_fn)(enum sa_message_outcome outcome, void *data);

struct sa_message_order {
	struct mad_addr to;
	const uint8_t *header;	/* RMPP_SA_HEADER_LEN bytes, copied */
	rmpp_source_fn source;	/* called until done */
	void *source_data;
	unsigned timeout_ms;	/* a request: for its answer, as in
				   transport_send() */
};
/* True: the transport has it all, and done() will not come. */
bool sa_message_send(struct sa_message *b,
		     const struct sa_message_order *order,
		     sa_message_done_fn done, void *data);

#endif
