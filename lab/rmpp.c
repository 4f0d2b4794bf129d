// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The two ends of RMPP.
 *
 * A sender has sent the segments below `next`, and may send those up to the end
 * of the window, at most RMPP_WINDOW beyond the last acknowledged one:
 *
 *	      acked         next       window_last
 *	        |             |             |
 *	 1 .. a | a+1 .. n-1 | n .. .. .. w | ..
 *	 known    out          may go out     may not
 *
 * The window is 1 until the peer opens it (IBA 13.6.6.1). When the timer rings
 * all segments that are not acknowledged are sent again: the peer may have
 * dropped segments out of order. Any progress resets the count of retries. An
 * ACK with a lower segment than an earlier one was overtaken and is ignored;
 * one that cannot be true ends the transfer. An ABORT is never answered, or two
 * ends would answer each other's ABORTs for ever. After a request of several
 * segments an ACK of segment 0 permits the peer to answer (13.6.6.3), again
 * whenever it repeats its last ACK.
 *
 * A receiver keeps early segments; `ahead` has a bit for each:
 *
 *	          expected          window_last
 *	             |                   |
 *	 1 .. e-1 | e  e+1  ..  e+63 .. w | ..
 *	 here       ahead: bit 0, 1 ..     is dropped
 *
 * An ACK is sent when half the window is used, so that a sender never stalls,
 * and for a segment that comes twice: then our ACK was lost, or is under way,
 * so at most once in REPEAT_US. The lengths in the first segment (unless 0) and
 * in the last one must agree (13.6.2.1). When the message is complete, or
 * refused, the last ACK or ABORT is repeated on demand for a while.
 */
#include "lab/rmpp.h"

#include <string.h>

#include "sm/mad/mad.h"

#define OFF_METHOD	3
#define REPEAT_US	1000
#define PATIENCE_US	(2 * G_USEC_PER_SEC)	/* RRespTime at most */

enum state {
	STATE_BUSY,
	STATE_DONE,
	STATE_REFUSED,		/* of a receiver */
	STATE_OVER,
};

struct rmpp {
	struct transport *transport;
	struct mad_addr peer;
	enum state state;
	unsigned header_len, room;	/* room: bytes of data in a MAD */
	unsigned timer;
	uint8_t header[MAD_SIZE];
	uint32_t last, last_len;	/* segment (0: not known), its data */
	uint32_t window_last;
	rmpp_over_fn over;
	void *data;

	const uint8_t *message;		/* NULL: a receiver */
	size_t len;
	uint32_t acked, next, sent;	/* sent: the highest */
	unsigned retries, retries_max;
	int64_t timeout_us, timeout_min_us;

	GByteArray *here;
	uint32_t expected, total;	/* total: PayloadLength; 0: unknown */
	uint32_t told;			/* the last one of our ACK */
	uint64_t ahead;
	int64_t said_at;
	enum rmpp_status fault;
	rmpp_message_fn on_message;
};

enum rmpp_status
rmpp_header_judge(const struct rmpp_header *h)
{
	/* of each type: from, to */
	static const uint8_t status[][2] = {
		[RMPP_TYPE_DATA] = { RMPP_STATUS_OK, RMPP_STATUS_OK },
		[RMPP_TYPE_ACK] = { RMPP_STATUS_OK, RMPP_STATUS_OK },
		[RMPP_TYPE_STOP] = { RMPP_STATUS_RESOURCES,
				     RMPP_STATUS_RESOURCES },
		[RMPP_TYPE_ABORT] = { RMPP_STATUS_TOO_LONG,
				      RMPP_STATUS_UNSPECIFIED },
	};

	if (h->version != RMPP_VERSION)
		return RMPP_STATUS_BAD_VERSION;
	if (h->type < RMPP_TYPE_DATA || h->type > RMPP_TYPE_ABORT)
		return RMPP_STATUS_BAD_TYPE;
	return h->status < status[h->type][0] ||
		h->status > status[h->type][1] ?
		RMPP_STATUS_BAD_STATUS : RMPP_STATUS_OK;
}

static void rmpp_on_timer(void *data);

static void
ring_in(struct rmpp *x, int64_t us)
{
	transport_timer_clear(x->transport, &x->timer);
	x->timer = transport_timer_in(x->transport, us, rmpp_on_timer, x);
}

/* ACK, STOP or ABORT. The answers to segments go against their direction. */
static void
rmpp_say(struct rmpp *x, enum rmpp_type type, enum rmpp_status status,
	 uint32_t segment, uint32_t window_last)
{
	const struct rmpp_header h = {
		.version = RMPP_VERSION, .type = type, .status = status,
		.flags = RMPP_FLAG_ACTIVE, .resp_time = RMPP_NO_RESP_TIME,
		.segment = segment, .length = window_last,
	};
	uint8_t mad[MAD_SIZE] = { 0 };

	memcpy(mad, x->header, x->header_len);
	if (!x->message)
		mad[OFF_METHOD] ^= MAD_METHOD_RESPONSE;
	rmpp_header_write(mad, &h);
	transport_send(x->transport, &x->peer, mad, MAD_SIZE, 0, NULL);
	x->said_at = transport_now(x->transport);
}

static void
end(struct rmpp *x, enum rmpp_outcome outcome)
{
	transport_timer_clear(x->transport, &x->timer);
	x->state = STATE_OVER;
	x->over(outcome, x->data);
}

/* ------------------------------------------------------------------ sending */

static void
send_window(struct rmpp *x)
{
	uint32_t end = MIN(MIN(x->acked + RMPP_WINDOW, x->last),
			   x->window_last);

	if (x->next <= end)
		ring_in(x, x->timeout_us);
	for (; x->next <= end; x->next++) {
		size_t len = x->next == x->last ? x->last_len : x->room;
		struct rmpp_header h = {
			.version = RMPP_VERSION, .type = RMPP_TYPE_DATA,
			.flags = RMPP_FLAG_ACTIVE,
			.resp_time = RMPP_NO_RESP_TIME, .segment = x->next,
		};
		uint8_t mad[MAD_SIZE] = { 0 };

		if (x->next == 1) {
			h.flags |= RMPP_FLAG_FIRST;
			h.length = rmpp_payload_length(x->len - x->header_len,
						       x->header_len);
		}
		if (x->next == x->last) {
			h.flags |= RMPP_FLAG_LAST;
			h.length = rmpp_payload_length(len, x->header_len);
		}
		memcpy(mad, x->message, x->header_len);
		memcpy(mad + x->header_len, x->message + x->header_len +
		       (size_t)(x->next - 1) * x->room, len);
		rmpp_header_write(mad, &h);
		transport_send(x->transport, &x->peer, mad, MAD_SIZE, 0, NULL);
	}
	x->sent = MAX(x->sent, end);
}

static void
give_up(struct rmpp *x, enum rmpp_status status)
{
	rmpp_say(x, RMPP_TYPE_ABORT, status, 0, 0);
	end(x, RMPP_GAVE_UP);
}

/* RRespTime: the peer may ask for more time, within a limit (IBA 13.6.3.1). */
static void
take_ack(struct rmpp *x, const struct rmpp_header *h)
{
	int64_t us = (INT64_C(4096) << h->resp_time) / 1000;

	if (h->length < h->segment || h->segment > x->sent) {
		give_up(x, h->segment > x->sent && h->length >= h->segment ?
			RMPP_STATUS_SEGMENT_BIG : RMPP_STATUS_WINDOW_SMALL);
		return;
	}
	if (h->segment < x->acked || h->length < x->window_last)
		return;
	if (h->resp_time != RMPP_NO_RESP_TIME)
		x->timeout_us = CLAMP(us, x->timeout_min_us,
				      MAX(PATIENCE_US, x->timeout_min_us));
	x->window_last = h->length;
	if (h->segment > x->acked) {
		x->acked = h->segment;
		x->next = MAX(x->next, x->acked + 1);
		x->retries = 0;
		ring_in(x, x->timeout_us);
	}
	if (x->acked < x->last) {
		send_window(x);
		return;
	}
	if (!(x->header[OFF_METHOD] & MAD_METHOD_RESPONSE))
		rmpp_say(x, RMPP_TYPE_ACK, RMPP_STATUS_OK, 0, 1);
	end(x, RMPP_DONE);
}

/* ---------------------------------------------------------------- receiving */

/* An ACK, or the refusal. */
static void
answer(struct rmpp *x)
{
	if (x->state == STATE_REFUSED) {
		rmpp_say(x, x->fault == RMPP_STATUS_RESOURCES ?
			 RMPP_TYPE_STOP : RMPP_TYPE_ABORT, x->fault, 0, 0);
		return;
	}
	x->told = x->expected - 1;
	x->window_last = x->told + RMPP_WINDOW;
	rmpp_say(x, RMPP_TYPE_ACK, RMPP_STATUS_OK, x->told, x->window_last);
}

static void
answer_again(struct rmpp *x)
{
	if (transport_now(x->transport) - x->said_at >= REPEAT_US)
		answer(x);
}

static void
rmpp_refuse(struct rmpp *x, enum rmpp_status fault)
{
	x->fault = fault;
	x->state = STATE_REFUSED;
	answer(x);
	ring_in(x, RMPP_LINGER_US);
	g_byte_array_set_size(x->here, 0);
}

/* Checks the place and length of a segment within the window, the i-th from
 * `expected` (IBA 13.6.2.1). */
static enum rmpp_status
rmpp_judge(const struct rmpp *x, const struct rmpp_header *h, uint32_t i)
{
	uint32_t class_len = x->header_len - RMPP_HEADER_LEN;
	uint64_t total = h->segment == 1 ? h->length : x->total;
	uint64_t behind = (uint64_t)(h->segment - 1) * RMPP_PAYLOAD_MAX;
	bool is_last = h->flags & RMPP_FLAG_LAST;

	if (is_last && (h->length < class_len || h->length > RMPP_PAYLOAD_MAX))
		return RMPP_STATUS_BAD_LENGTH;
	if (x->last && (is_last || h->segment > x->last))
		return RMPP_STATUS_BAD_LENGTH;
	/* something that came early is behind the end */
	if (is_last && i < 63 && x->ahead >> (i + 1))
		return RMPP_STATUS_BAD_LENGTH;
	if (total && (is_last ? behind + h->length != total :
		      behind + RMPP_PAYLOAD_MAX >= total))
		return RMPP_STATUS_BAD_LENGTH;
	return MAX(total, behind) > RMPP_LIMIT ? RMPP_STATUS_RESOURCES :
		RMPP_STATUS_OK;
}

static void
take_segment(struct rmpp *x, const struct rmpp_header *h, const uint8_t *mad)
{
	uint32_t i = h->segment - x->expected;
	size_t at = x->header_len + (size_t)(h->segment - 1) * x->room;
	bool is_first = h->flags & RMPP_FLAG_FIRST;
	enum rmpp_status fault;

	if (h->segment == 0 || is_first != (h->segment == 1)) {
		rmpp_refuse(x, RMPP_STATUS_BAD_SEGMENT);
		return;
	}
	if (h->segment > x->window_last)
		return;
	if (h->segment < x->expected || x->ahead >> i & 1) {
		answer_again(x);
		return;
	}
	fault = rmpp_judge(x, h, i);
	if (fault) {
		rmpp_refuse(x, fault);
		return;
	}
	if (is_first) {
		memcpy(x->here->data, mad, x->header_len);
		x->total = h->length;
	}
	if (h->flags & RMPP_FLAG_LAST) {
		x->last = h->segment;
		x->last_len = h->length - (x->header_len - RMPP_HEADER_LEN);
	}
	if (x->here->len < at + x->room)
		g_byte_array_set_size(x->here, at + x->room);
	memcpy(x->here->data + at, mad + x->header_len, x->room);
	x->ahead |= UINT64_C(1) << i;
	for (; x->ahead & 1; x->ahead >>= 1)
		x->expected++;
	if (x->last && x->expected > x->last) {
		answer(x);
		x->on_message(x->here->data, x->header_len +
			      (size_t)(x->last - 1) * x->room + x->last_len,
			      x->data);
		x->state = STATE_DONE;
		ring_in(x, RMPP_LINGER_US);
		g_byte_array_set_size(x->here, 0);
		return;
	}
	ring_in(x, RMPP_IDLE_US);
	if (!x->told || x->expected - 1 - x->told >= RMPP_WINDOW / 2)
		answer(x);
}

/* ------------------------------------------------------------- both of them */

static void
rmpp_on_timer(void *data)
{
	struct rmpp *x = data;

	x->timer = 0;
	if (x->message && x->retries >= x->retries_max) {
		give_up(x, RMPP_STATUS_RETRIES);
	} else if (x->message) {
		x->retries++;
		x->next = x->acked + 1;
		send_window(x);
	} else if (x->state == STATE_BUSY) {
		rmpp_refuse(x, RMPP_STATUS_TOO_LONG);
	} else {
		end(x, x->state == STATE_DONE ? RMPP_DONE : RMPP_GAVE_UP);
	}
}

void
rmpp_take(struct rmpp *x, const uint8_t *mad)
{
	enum rmpp_status fault;
	struct rmpp_header h;

	rmpp_header_read(mad, MAD_SIZE, &h);
	fault = rmpp_header_judge(&h);
	if (!x->message && x->expected == 1)
		memcpy(x->header, mad, x->header_len);
	if (x->state == STATE_OVER) {
		/* the peer repeats the last ACK of a request */
		if (x->message && !fault && h.type == RMPP_TYPE_ACK &&
		    h.segment == x->last && x->acked == x->last &&
		    !(x->header[OFF_METHOD] & MAD_METHOD_RESPONSE))
			rmpp_say(x, RMPP_TYPE_ACK, RMPP_STATUS_OK, 0, 1);
	} else if (h.type == RMPP_TYPE_ABORT && x->state != STATE_DONE) {
		end(x, RMPP_ENDED_BY_PEER);
	} else if (x->state == STATE_BUSY && fault) {
		if (x->message)
			give_up(x, fault);
		else
			rmpp_refuse(x, fault);
	} else if (x->message && h.type == RMPP_TYPE_STOP) {
		end(x, RMPP_ENDED_BY_PEER);
	} else if (x->message && h.type == RMPP_TYPE_ACK) {
		take_ack(x, &h);
	} else if (!x->message && h.type == RMPP_TYPE_DATA && !fault) {
		if (x->state == STATE_BUSY)
			take_segment(x, &h, mad);
		else
			answer_again(x);
	}
}

static struct rmpp *
rmpp_new(struct transport *t, const struct mad_addr *peer, unsigned header_len,
	 rmpp_over_fn over, void *data)
{
	struct rmpp *x = g_new0(struct rmpp, 1);

	x->transport = t;
	x->peer = *peer;
	x->header_len = header_len;
	x->room = MAD_SIZE - header_len;
	x->window_last = 1;
	x->over = over;
	x->data = data;
	return x;
}

struct rmpp *
rmpp_send(struct transport *t, const struct mad_addr *to, unsigned header_len,
	  const uint8_t *message, size_t len, int64_t timeout_us,
	  unsigned retries, rmpp_over_fn over, void *data)
{
	struct rmpp *x = rmpp_new(t, to, header_len, over, data);
	size_t bytes = len - header_len;

	x->message = message;
	x->len = len;
	memcpy(x->header, message, header_len);
	x->next = 1;
	x->last = rmpp_segment_count(bytes, header_len);
	x->last_len = bytes - (size_t)(x->last - 1) * x->room;
	x->timeout_us = x->timeout_min_us = timeout_us;
	x->retries_max = retries;
	send_window(x);
	return x;
}

struct rmpp *
rmpp_receiver(struct transport *t, const struct mad_addr *from,
	      unsigned header_len, rmpp_message_fn on_message,
	      rmpp_over_fn over, void *data)
{
	struct rmpp *x = rmpp_new(t, from, header_len, over, data);

	x->on_message = on_message;
	x->expected = 1;
	x->said_at = INT64_MIN / 2;
	x->here = g_byte_array_new();
	g_byte_array_set_size(x->here, header_len);
	ring_in(x, RMPP_IDLE_US);
	return x;
}

void
rmpp_free(struct rmpp *x)
{
	if (!x)
		return;
	transport_timer_clear(x->transport, &x->timer);
	if (x->here)
		g_byte_array_unref(x->here);
	g_free(x);
}
