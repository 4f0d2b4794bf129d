/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sending end of an RMPP transfer (IBA 13.6.6.1, 13.6.6.3): a state
 * machine without I/O or clock. Times are us of any clock that never goes
 * back.
 */
#ifndef MINISM_LAB_RMPP_SENDER_H
#define MINISM_LAB_RMPP_SENDER_H

#include "sm/mad/rmpp.h"

struct rmpp_message {
	rmpp_source_fn source;
	void *data;
	uint64_t length;	/* bytes that the source has; must be right,
				   or RMPP_LENGTH_UNKNOWN */
	unsigned window;	/* granted by the peer in advance, as for
				   a response (13.6.6.3); else 1 */
};

struct rmpp_sender;

/*
 * header: params->header_len bytes of a MAD, of which the RMPP header is not
 * looked at. If its method is a request, the direction switches after the
 * last acknowledgement. Nothing is sent before rmpp_sender_next().
 */
struct rmpp_sender *rmpp_sender_new(const struct rmpp_params *params,
				    const uint8_t *header,
				    const struct rmpp_message *message,
				    int64_t now);
void rmpp_sender_free(struct rmpp_sender *s);

/* Events: an ACK, STOP or ABORT (any MAD of MAD_SIZE bytes that has an active
 * RMPP header); the time; the wish to end it. */
void rmpp_sender_receive(struct rmpp_sender *s, const uint8_t *mad,
			 int64_t now);
void rmpp_sender_expire(struct rmpp_sender *s, int64_t now);
void rmpp_sender_abort(struct rmpp_sender *s, enum rmpp_status status);

/* After each event: writes the next MAD to send (MAD_SIZE bytes) until there
 * is none for now (false). */
bool rmpp_sender_next(struct rmpp_sender *s, uint8_t *mad, int64_t now);
/* When rmpp_sender_expire() wants to be called; RMPP_NO_DEADLINE: never, the
 * machine has nothing to do any more. */
int64_t rmpp_sender_deadline(const struct rmpp_sender *s);

/* DONE: the peer has it all. The machine may still have to repeat itself then,
 * until it has no deadline. */
enum rmpp_outcome rmpp_sender_outcome(const struct rmpp_sender *s);
unsigned rmpp_sender_status(const struct rmpp_sender *s);
/* Segments sent again. */
uint64_t rmpp_sender_repeated(const struct rmpp_sender *s);

#endif
