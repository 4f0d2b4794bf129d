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

/* RMPPStatus (IBA 13.6.2) of a STOP or an ABORT. */
enum rmpp_status {
	RMPP_STATUS_OK = 0,
	RMPP_STATUS_RESOURCES = 1,	/* the only one of a STOP */
	RMPP_STATUS_TOO_LONG = 118,	/* total time */
	RMPP_STATUS_BAD_LENGTH = 119,	/* Last and PayloadLength disagree */
	RMPP_STATUS_BAD_SEGMENT = 120,	/* First and SegmentNumber disagree */
	RMPP_STATUS_BAD_TYPE = 121,
	RMPP_STATUS_WINDOW_SMALL = 122,	/* NewWindowLast < SegmentNumber */
	RMPP_STATUS_SEGMENT_BIG = 123,	/* an ACK of a segment never sent */
	RMPP_STATUS_BAD_STATUS = 124,
	RMPP_STATUS_BAD_VERSION = 125,
	RMPP_STATUS_RETRIES = 126,
	RMPP_STATUS_UNSPECIFIED = 127,
};

/* The status with which to abort the sender of such a header; 0: it is valid. */
enum rmpp_status rmpp_header_judge(const struct rmpp_header *h);

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
