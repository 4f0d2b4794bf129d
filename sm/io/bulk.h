/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of the SA that are longer than a MAD. The transport does RMPP (the
 * kernel, behind libibumad); here they are collected from a source, handed over
 * whole, and taken whole.
 *
 * A message is its first 56 bytes (MAD header, RMPP header, SA header) and the
 * data that follow. What the RMPP header says is the business of this module.
 */
#ifndef MINISM_IO_BULK_H
#define MINISM_IO_BULK_H

#include "sm/io/transport.h"
#include "sm/wire/rmpp.h"

struct bulk;

/* Of one message, and of all that are being collected: 64 MiB. More, and only
 * the oldest goes on. */
#define BULK_COLLECT_MAX	(UINT64_C(64) << 20)

/* Keeps t; t's receiver stays who it was. */
struct bulk *bulk_new(struct transport *t, uint64_t max_collect);
void bulk_free(struct bulk *b);		/* no callback will come */

/* True: it is a message, and of no interest to anybody else. */
bool bulk_offer(struct bulk *b, const struct transport_mad *m);
/* From now on every MAD of the transport is offered first, and handed to the
 * receiver of this moment if it is not taken. bulk_free() puts that back. */
void bulk_intercept(struct bulk *b);

enum bulk_outcome {
	BULK_SENT,		/* the transport has it */
	BULK_TOO_LONG,		/* for max_collect */
	BULK_NOT_ACCEPTED,	/* by the transport */
};
/* Once for every bulk_send() that is not cancelled, never from inside it. The
 * source is not asked any more. May send and cancel. */
typedef void (*bulk_done_fn)(uint32_t id, enum bulk_outcome outcome,
			     void *data);

struct bulk_order {
	struct mad_addr to;
	const uint8_t *header;	/* RMPP_SA_HEADER_LEN bytes, copied */
	rmpp_source_fn source;	/* asked until done or cancelled */
	void *source_data;
	unsigned timeout_ms;	/* a request: for its answer, as in
				   transport_send() */
};
/* Returns an id; BULK_AT_ONCE: the transport has it all, and done() will not
 * come. */
#define BULK_AT_ONCE	UINT32_MAX
uint32_t bulk_send(struct bulk *b, const struct bulk_order *order,
		   bulk_done_fn done, void *data);
void bulk_cancel(struct bulk *b, uint32_t id);	/* over: ignored */

struct bulk_message {
	struct mad_addr from;
	const uint8_t *header;	/* RMPP_SA_HEADER_LEN bytes */
	const uint8_t *data;	/* both valid during the callback */
	size_t len;
};
typedef void (*bulk_message_fn)(const struct bulk_message *m, void *data);
void bulk_set_receiver(struct bulk *b, bulk_message_fn fn, void *data);

#endif
