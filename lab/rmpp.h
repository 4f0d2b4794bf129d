/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RMPP as Linux does it (IBA 13.6): one transfer over a transport. A message
 * is the header of its class (header_len bytes) and the data behind it, in one
 * piece.
 */
#ifndef MINISM_LAB_RMPP_H
#define MINISM_LAB_RMPP_H

#include "sm/io/transport.h"
#include "sm/mad/rmpp.h"

#define RMPP_WINDOW	64u
#define RMPP_IDLE_US	(40 * G_USEC_PER_SEC)	/* a receiver without news */
#define RMPP_LINGER_US	(10 * G_USEC_PER_SEC)	/* it repeats its last word */
#define RMPP_LIMIT	(UINT64_C(64) << 20)	/* bytes of a message */

struct rmpp;

enum rmpp_outcome {
	RMPP_DONE,
	RMPP_GAVE_UP,		/* we did, with an Abort */
	RMPP_ENDED_BY_PEER,	/* STOP or ABORT */
};

/* Called once, when the message was sent or has failed, or when a receiver is
 * finished. May free the transfer. */
typedef void (*rmpp_over_fn)(enum rmpp_outcome outcome, void *data);
/* The message is whole; valid during the callback. */
typedef void (*rmpp_message_fn)(const uint8_t *message, size_t len,
				void *data);

/* timeout_us: for an ACK, then it is sent again, so many times (retries). The
 * message is borrowed until it is over. */
struct rmpp *rmpp_send(struct transport *t, const struct mad_addr *to,
		       unsigned header_len, const uint8_t *message, size_t len,
		       int64_t timeout_us, unsigned retries, rmpp_over_fn over,
		       void *data);
struct rmpp *rmpp_receiver(struct transport *t, const struct mad_addr *from,
			   unsigned header_len, rmpp_message_fn on_message,
			   rmpp_over_fn over, void *data);
void rmpp_free(struct rmpp *x);		/* may be NULL */

/* A MAD for this transfer: MAD_SIZE bytes. A callback may free the transfer. */
void rmpp_take(struct rmpp *x, const uint8_t *mad);

#endif
