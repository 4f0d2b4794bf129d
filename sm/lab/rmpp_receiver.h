/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The receiving end of an RMPP transfer (IBA 13.6.6.2, 13.6.6.3): a state
 * machine without I/O or clock. Times are us of any clock that never goes
 * back.
 */
#ifndef MINISM_LAB_RMPP_RECEIVER_H
#define MINISM_LAB_RMPP_RECEIVER_H

#include <glib.h>

#include "sm/mad/rmpp.h"

struct rmpp_receiver;

/* It begins with the first segment of which anything is known; that goes to
 * rmpp_receiver_receive() like all others. */
struct rmpp_receiver *rmpp_receiver_new(const struct rmpp_params *params,
					int64_t now);
void rmpp_receiver_free(struct rmpp_receiver *r);

/*
 * Events: a MAD of the sender (DATA, ABORT, the ACK of 0 that switches the
 * direction; MAD_SIZE bytes with an active RMPP header); the time; the wish to
 * end it, with a STOP if the status is RMPP_STATUS_RESOURCES, else an ABORT.
 */
void rmpp_receiver_receive(struct rmpp_receiver *r, const uint8_t *mad,
			   int64_t now);
void rmpp_receiver_expire(struct rmpp_receiver *r, int64_t now);
void rmpp_receiver_refuse(struct rmpp_receiver *r, enum rmpp_status status,
			  int64_t now);

/* After each event: writes the next MAD to send (MAD_SIZE bytes) until there
 * is none for now (false). */
bool rmpp_receiver_next(struct rmpp_receiver *r, uint8_t *mad, int64_t now);
/* When rmpp_receiver_expire() wants to be called; RMPP_NO_DEADLINE: never, the
 * machine has nothing to do any more. */
int64_t rmpp_receiver_deadline(const struct rmpp_receiver *r);

/* DONE: all of it is here. The machine may have to repeat itself then, as
 * after a refusal, until it has no deadline. */
enum rmpp_outcome rmpp_receiver_outcome(const struct rmpp_receiver *r);
unsigned rmpp_receiver_status(const struct rmpp_receiver *r);

/* The first header_len bytes of the first segment. */
const uint8_t *rmpp_receiver_header(const struct rmpp_receiver *r);
/* Bytes of data that it holds; these, once it is DONE, for the caller to
 * unref: the rest of its life goes on without. */
size_t rmpp_receiver_size(const struct rmpp_receiver *r);
GByteArray *rmpp_receiver_steal_data(struct rmpp_receiver *r);
/* The window that the peer has granted for the response, at least 1. */
unsigned rmpp_receiver_reply_window(const struct rmpp_receiver *r);

#endif
