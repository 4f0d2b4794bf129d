// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The receiver of an RMPP transfer.
 *
 *	          new segment: ACK if half a window of them is not acknowledged
 *	          old segment: ACK
 *	              +-----+
 *	              v     |       all here: ACK
 *	 new ---> EXPECTING +----------------------> COMPLETE --+
 *	              |     |                         |   ^     |
 *	              |     |           old segment:  +---+     | linger
 *	              |     |           ACK again               | time
 *	              |     | bad segment, too much,            v
 *	              |     | nothing new for too long        OVER
 *	              |     +----------------------> REFUSING --^
 *	              |       STOP or ABORT           |   ^     |
 *	              |                               +---+     |
 *	              |                 segment: again          |
 *	              +-----------------------------------------+
 *	                       ABORT by the peer
 *
 * All segments but the last are full, so each has its place in the message
 * whenever it comes. Those that come early are kept; `ahead` has a bit for
 * each. The window is granted from the last segment that is there without a
 * gap, W further, and an ACK goes out when half of it is used, so that a
 * sender that hears of it in time never stands still.
 *
 *	             expected           window_last
 *	                |                    |
 *	 1 .. .. .. e-1 | e  e+1  ..  e+63 ..w
 *	 here             ahead: bit 0, 1 ..
 *
 * A segment beyond the window is dropped, as the Linux kernel does: nobody has
 * allowed it, and whoever did send it will repeat it. The same segment again
 * means that our ACK was lost or is still on its way. The ACK is repeated, but
 * not more often than REPEAT_US: a sender that repeats a whole window needs
 * one.
 *
 * What the first segment says about the length (PayloadLength, if it is not 0)
 * and what the last one says must fit together (IBA 13.6.2.1). More than the
 * limit is refused with a STOP (13.6.2.3), if possible before it is here.
 */
#include "sm/lab/rmpp_receiver.h"

#include <glib.h>
#include <string.h>

#include "sm/mad/mad.h"

#define OFF_METHOD	3
#define REPEAT_US	1000

enum state {
	STATE_EXPECTING,
	STATE_COMPLETE,
	STATE_REFUSING,
	STATE_OVER,
};

enum errand {
	ERRAND_NONE,
	ERRAND_ACK,
	ERRAND_REFUSAL,
};

struct rmpp_receiver {
	struct rmpp_params params;
	enum state state;
	enum errand errand;
	enum rmpp_outcome outcome;
	uint8_t status;

	uint32_t expected;	/* the first that is not here */
	uint64_t ahead;		/* bit i: expected + i is; bit 0 never is */
	uint32_t acked, window_last;
	uint32_t total;		/* PayloadLength of the first; 0: unknown */
	uint32_t last;		/* 0: not known yet */
	unsigned last_len;	/* bytes of data in it */
	uint32_t reply_window;

	int64_t deadline, said_at;
	unsigned room;		/* bytes of data in a segment */
	GByteArray *data;
	uint8_t header[MAD_SIZE];
};

/* ---------------------------------------------------------- ends, answers */

static void
linger(struct rmpp_receiver *r, enum state state, enum rmpp_outcome outcome,
       int64_t now)
{
	r->state = state;
	r->outcome = outcome;
	r->deadline = now + r->params.linger_us;
}

static void
forget_data(struct rmpp_receiver *r)
{
	g_byte_array_unref(rmpp_receiver_steal_data(r));
}

static void
refuse(struct rmpp_receiver *r, enum rmpp_status status, int64_t now)
{
	linger(r, STATE_REFUSING, RMPP_GAVE_UP, now);
	r->status = (uint8_t)status;
	r->errand = ERRAND_REFUSAL;
	forget_data(r);
}

static void
end(struct rmpp_receiver *r)
{
	r->state = STATE_OVER;
	r->deadline = RMPP_NO_DEADLINE;
}

static void
acknowledge(struct rmpp_receiver *r)
{
	uint32_t here = r->expected - 1;

	r->window_last = here > UINT32_MAX - r->params.window ? UINT32_MAX :
		here + r->params.window;
	r->errand = ERRAND_ACK;
}

static bool
may_repeat(const struct rmpp_receiver *r, int64_t now)
{
	return now - r->said_at >= REPEAT_US;
}

/* --------------------------------------------------------------- segments */

static bool
is_here(const struct rmpp_receiver *r, uint32_t segment)
{
	if (segment < r->expected)
		return true;
	return segment - r->expected < 64 &&
		r->ahead >> (segment - r->expected) & 1;
}

/* A segment that is within the window: what is wrong with its place and its
 * length? (IBA 13.6.2.1) */
static enum rmpp_status
judge_length(const struct rmpp_receiver *r, const struct rmpp_header *h)
{
	uint32_t total = h->segment == 1 ? h->length : r->total;
	uint32_t class_len = r->params.header_len - RMPP_HEADER_LEN;
	bool is_last = h->flags & RMPP_FLAG_LAST;
	uint64_t behind;

	if (is_last && (h->length < class_len || h->length > RMPP_PAYLOAD_MAX))
		return RMPP_STATUS_BAD_LENGTH;
	if (r->last && (h->segment > r->last ||
			(is_last && h->segment != r->last)))
		return RMPP_STATUS_BAD_LENGTH;
	/* something that came early is behind the end */
	if (is_last && h->segment - r->expected < 63 &&
	    r->ahead >> (h->segment - r->expected + 1))
		return RMPP_STATUS_BAD_LENGTH;
	if (!total)
		return RMPP_STATUS_OK;
	behind = (uint64_t)(h->segment - 1) * RMPP_PAYLOAD_MAX;
	if (is_last)
		return behind + h->length == total ? RMPP_STATUS_OK :
			RMPP_STATUS_BAD_LENGTH;
	return behind + RMPP_PAYLOAD_MAX < total ? RMPP_STATUS_OK :
		RMPP_STATUS_BAD_LENGTH;
}

static bool
is_too_much(const struct rmpp_receiver *r, const struct rmpp_header *h)
{
	uint64_t class_len = r->params.header_len - RMPP_HEADER_LEN;
	uint64_t bytes = (uint64_t)(h->segment - 1) * r->room;
	uint64_t segments;

	bytes += h->flags & RMPP_FLAG_LAST ? h->length - class_len : r->room;
	if (bytes > r->params.limit)
		return true;
	if (h->segment > 1)
		return false;
	segments = ((uint64_t)h->length + RMPP_PAYLOAD_MAX - 1) /
		RMPP_PAYLOAD_MAX;
	return h->length > segments * class_len &&
		h->length - segments * class_len > r->params.limit;
}

static void
keep(struct rmpp_receiver *r, const struct rmpp_header *h, const uint8_t *mad)
{
	size_t at = (size_t)(h->segment - 1) * r->room;

	if (h->segment == 1) {
		memcpy(r->header, mad, r->params.header_len);
		r->total = h->length;
	}
	if (h->flags & RMPP_FLAG_LAST) {
		r->last = h->segment;
		r->last_len = h->length -
			(r->params.header_len - RMPP_HEADER_LEN);
	}
	if (r->data->len < at + r->room)
		g_byte_array_set_size(r->data, (guint)(at + r->room));
	memcpy(r->data->data + at, mad + r->params.header_len, r->room);

	r->ahead |= UINT64_C(1) << (h->segment - r->expected);
	while (r->ahead & 1) {
		r->ahead >>= 1;
		r->expected++;
	}
}

static void
take_segment(struct rmpp_receiver *r, const struct rmpp_header *h,
	     const uint8_t *mad, int64_t now)
{
	keep(r, h, mad);
	r->deadline = now + r->params.idle_us;
	if (r->last && r->expected > r->last) {
		g_byte_array_set_size(r->data, (guint)
				      ((r->last - 1) * (size_t)r->room +
				       r->last_len));
		acknowledge(r);
		linger(r, STATE_COMPLETE, RMPP_DONE, now);
		return;
	}
	if (r->acked == 0 ||
	    r->expected - 1 - r->acked >= (r->params.window + 1) / 2)
		acknowledge(r);
}

static void
judge_segment(struct rmpp_receiver *r, const struct rmpp_header *h,
	      const uint8_t *mad, int64_t now)
{
	bool is_first = h->flags & RMPP_FLAG_FIRST;
	enum rmpp_status fault;

	if (h->segment == 0 || is_first != (h->segment == 1)) {
		refuse(r, RMPP_STATUS_BAD_SEGMENT, now);
		return;
	}
	if (h->segment > r->window_last)
		return;
	if (is_here(r, h->segment)) {
		if (may_repeat(r, now))
			acknowledge(r);
		return;
	}
	fault = judge_length(r, h);
	if (fault == RMPP_STATUS_OK && is_too_much(r, h))
		fault = RMPP_STATUS_RESOURCES;
	if (fault == RMPP_STATUS_OK)
		take_segment(r, h, mad, now);
	else
		refuse(r, fault, now);
}

/* ------------------------------------------------------- events, by state */

static void
in_expecting(struct rmpp_receiver *r, const struct rmpp_header *h,
	     const uint8_t *mad, int64_t now)
{
	enum rmpp_status fault = rmpp_header_judge(h);

	if (h->type == RMPP_TYPE_ABORT) {
		r->outcome = RMPP_ENDED_BY_PEER;
		r->status = h->status;
		forget_data(r);
		end(r);
		return;
	}
	if (fault != RMPP_STATUS_OK) {
		refuse(r, fault, now);
		return;
	}
	switch ((enum rmpp_type)h->type) {
	case RMPP_TYPE_DATA:
		judge_segment(r, h, mad, now);
		break;
	case RMPP_TYPE_ACK:
	case RMPP_TYPE_STOP:
	case RMPP_TYPE_ABORT:
		break;
	}
}

static void
in_complete(struct rmpp_receiver *r, const struct rmpp_header *h, int64_t now)
{
	if (rmpp_header_judge(h) != RMPP_STATUS_OK)
		return;
	if (h->type == RMPP_TYPE_DATA && may_repeat(r, now))
		acknowledge(r);
	if (h->type == RMPP_TYPE_ACK && h->segment == 0 && h->length > 0)
		r->reply_window = h->length;
}

static void
in_refusing(struct rmpp_receiver *r, const struct rmpp_header *h, int64_t now)
{
	if (h->type == RMPP_TYPE_ABORT)
		end(r);
	else if (h->type == RMPP_TYPE_DATA && may_repeat(r, now))
		r->errand = ERRAND_REFUSAL;
}

void
rmpp_receiver_receive(struct rmpp_receiver *r, const uint8_t *mad,
		      int64_t now)
{
	struct rmpp_header h;

	if (!rmpp_header_read(mad, MAD_SIZE, &h))
		return;
	if (r->expected == 1)
		memcpy(r->header, mad, r->params.header_len);
	switch (r->state) {
	case STATE_EXPECTING:
		in_expecting(r, &h, mad, now);
		break;
	case STATE_COMPLETE:
		in_complete(r, &h, now);
		break;
	case STATE_REFUSING:
		in_refusing(r, &h, now);
		break;
	case STATE_OVER:
		break;
	}
}

void
rmpp_receiver_expire(struct rmpp_receiver *r, int64_t now)
{
	if (r->deadline == RMPP_NO_DEADLINE || now < r->deadline)
		return;
	switch (r->state) {
	case STATE_EXPECTING:
		refuse(r, RMPP_STATUS_TOO_LONG, now);
		break;
	case STATE_COMPLETE:
	case STATE_REFUSING:
		end(r);
		break;
	case STATE_OVER:
		break;
	}
}

void
rmpp_receiver_refuse(struct rmpp_receiver *r, enum rmpp_status status,
		     int64_t now)
{
	switch (r->state) {
	case STATE_EXPECTING:
		refuse(r, status, now);
		break;
	case STATE_COMPLETE:
	case STATE_REFUSING:
		end(r);
		break;
	case STATE_OVER:
		break;
	}
}

/* ------------------------------------------------------------ what goes out */

/* The peer knows it by the header of its segments; the direction is ours. */
static void
write_answer(const struct rmpp_receiver *r, uint8_t *mad,
	     const struct rmpp_header *h)
{
	memset(mad, 0, MAD_SIZE);
	memcpy(mad, r->header, r->params.header_len);
	mad[OFF_METHOD] ^= MAD_METHOD_RESPONSE;
	rmpp_header_write(mad, h);
}

bool
rmpp_receiver_next(struct rmpp_receiver *r, uint8_t *mad, int64_t now)
{
	struct rmpp_header h = {
		.version = RMPP_VERSION, .flags = RMPP_FLAG_ACTIVE,
		.resp_time = (uint8_t)r->params.resp_time,
	};
	enum errand errand = r->errand;

	r->errand = ERRAND_NONE;
	switch (errand) {
	case ERRAND_NONE:
		return false;
	case ERRAND_ACK:
		h.type = RMPP_TYPE_ACK;
		h.segment = r->acked = r->expected - 1;
		h.length = r->window_last;
		break;
	case ERRAND_REFUSAL:
		h.type = r->status == RMPP_STATUS_RESOURCES ?
			RMPP_TYPE_STOP : RMPP_TYPE_ABORT;
		h.status = r->status;
		break;
	}
	write_answer(r, mad, &h);
	r->said_at = now;
	return true;
}

/* -------------------------------------------------------------- interface */

struct rmpp_receiver *
rmpp_receiver_new(const struct rmpp_params *params, int64_t now)
{
	struct rmpp_receiver *r = g_new0(struct rmpp_receiver, 1);

	g_assert(params->header_len >= RMPP_HEADER_LEN &&
		 params->header_len < MAD_SIZE);
	g_assert(params->window >= 1 && params->window <= RMPP_WINDOW_MAX);
	r->params = *params;
	r->params.limit = MIN(params->limit, G_MAXINT - MAD_SIZE);
	r->expected = 1;
	r->window_last = 1;
	r->reply_window = 1;
	r->room = MAD_SIZE - params->header_len;
	r->deadline = now + params->idle_us;
	r->said_at = now - REPEAT_US;
	r->data = g_byte_array_new();
	return r;
}

void
rmpp_receiver_free(struct rmpp_receiver *r)
{
	if (!r)
		return;
	g_byte_array_unref(r->data);
	g_free(r);
}

int64_t
rmpp_receiver_deadline(const struct rmpp_receiver *r)
{
	return r->deadline;
}

enum rmpp_outcome
rmpp_receiver_outcome(const struct rmpp_receiver *r)
{
	return r->outcome;
}

unsigned
rmpp_receiver_status(const struct rmpp_receiver *r)
{
	return r->status;
}

const uint8_t *
rmpp_receiver_header(const struct rmpp_receiver *r)
{
	return r->header;
}

size_t
rmpp_receiver_size(const struct rmpp_receiver *r)
{
	return r->data->len;
}

GByteArray *
rmpp_receiver_steal_data(struct rmpp_receiver *r)
{
	GByteArray *data = r->data;

	r->data = g_byte_array_new();
	return data;
}

unsigned
rmpp_receiver_reply_window(const struct rmpp_receiver *r)
{
	return r->reply_window;
}
