/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of the SA that are longer than a MAD, by RMPP (IBA 13.6): many
 * transfers at a time over one transport, in both directions. Where the
 * transport does RMPP itself, messages pass as they are.
 *
 * A message is its first 56 bytes (MAD header, RMPP header, SA header) and the
 * data that follow. What the RMPP header says is the business of this module.
 */
#ifndef MINISM_IO_BULK_H
#define MINISM_IO_BULK_H

#include "sm/io/transport.h"
#include "sm/wire/rmpp_sender.h"

struct bulk;

struct bulk_params {
	struct rmpp_params rmpp;
	unsigned max_transfers;	/* at a time, those that linger included; one
				   more, and the one that was idle longest is
				   dropped, who lingers first */
	uint64_t max_bytes;	/* of messages that are coming in, together */
	uint64_t max_collect;	/* of one that a transport with RMPP is given:
				   it has to be there whole */
};
/* Window 64, 5 retries after 200 ms, 40 s without news, 10 s of lingering as
 * in Linux; messages to 64 MiB; 1,024 transfers; 128 MiB coming in; 64 MiB
 * collected. */
extern const struct bulk_params bulk_params_default;

/* params NULL: the defaults. Keeps t; t's receiver stays who it was. */
struct bulk *bulk_new(struct transport *t, const struct bulk_params *params);
/* No callback will come. Peers are not told: to them we are gone. */
void bulk_free(struct bulk *b);

/* True: the MAD belongs to a transfer (or to one that is forgotten), and is of
 * no interest to anybody else. */
bool bulk_offer(struct bulk *b, const struct transport_mad *m);
/* From now on every MAD of the transport is offered first, and handed to the
 * receiver of this moment if it is not taken. bulk_free() puts that back. */
void bulk_intercept(struct bulk *b);

enum bulk_outcome {
	BULK_SENT,		/* the peer has it; or the transport, if that
				   does RMPP itself */
	BULK_GAVE_UP,		/* with this RMPP status */
	BULK_ENDED_BY_PEER,	/* with this RMPP status */
	BULK_DROPPED,		/* for younger transfers */
	BULK_TOO_LONG,		/* for max_collect */
	BULK_NOT_ACCEPTED,	/* by the transport that does RMPP itself */
};
/* Once for every bulk_send() that is not cancelled, never from inside it. The
 * source is not asked any more. May send and cancel. */
typedef void (*bulk_done_fn)(uint32_t id, enum bulk_outcome outcome,
			     unsigned status, void *data);

struct bulk_order {
	struct mad_addr to;
	const uint8_t *header;	/* RMPP_SA_HEADER_LEN bytes, copied */
	rmpp_source_fn source;	/* asked until done or cancelled */
	void *source_data;
	uint64_t length;	/* as in struct rmpp_message */
	unsigned timeout_ms;	/* a request: for its answer, as in
				   transport_send(); used only where the
				   transport does RMPP itself */
};
/* Returns an id; 0: there is a transfer under this TID to this peer and in
 * this direction already, which goes on; BULK_AT_ONCE: the transport, which
 * does RMPP itself, has it all, and done() will not come. */
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

struct bulk_stats {
	uint64_t sent, received;	/* messages, whole */
	uint64_t segments_out, segments_in;	/* ACKs and the like, too */
	uint64_t repeated;	/* segments of messages that are over */
	uint64_t failed_out, failed_in;
	uint64_t dropped;	/* beyond max_transfers */
	uint64_t strays;	/* of no transfer that is known */
};
const struct bulk_stats *bulk_stats(const struct bulk *b);
unsigned bulk_transfers(const struct bulk *b);	/* at the moment */

#endif
