// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sender of an RMPP transfer.
 *
 *	            ACK, progress;
 *	            timeout, retries left
 *	              +------+
 *	              v      |      last segment acknowledged
 *	 new ----> SENDING --+---------------------------> OVER
 *	              |      |      .. of a request             ^
 *	              |      +--------------> SWITCHED --------+
 *	              |                        |    ^     linger time
 *	              |                        +----+
 *	              |                  that ACK again: ACK of 0 again
 *	              +--> OVER
 *	       STOP, ABORT; a bad ACK, too many retries: we abort
 *
 * The segments acked + 1 to pulled are kept in a ring: what is not
 * acknowledged, and one more, because only who has seen the end of the source
 * knows which segment is the last. All are full but the last.
 *
 *	    acked         next          window_last
 *	      |             |                |
 *	 1 .. a | a+1 .. n-1 | n .. .. .. .. w | ..
 *	 known    out          may go out        may not
 *
 * The window is 1 until the peer opens it (IBA 13.6.6.1), and never reaches
 * further than the ring. When the timer runs out, `next` goes back to behind
 * the last acknowledgement and all of the window is sent again: the peer may
 * keep what came out of order, but need not. Any progress takes the count of
 * retries back to zero.
 *
 * A source that has nothing ready stalls the sender: it asks again a little
 * later. What is out has its own timer meanwhile; if nothing is out, the peer
 * has nothing to acknowledge, and no time is counted against it.
 *
 * An ACK that is older than one that we know (less acknowledged, or a smaller
 * window) has been overtaken and counts for nothing. One that cannot be true
 * ends the transfer. An ABORT is never answered, whatever is wrong with it:
 * two ends that answer each other's ABORTs would never cease.
 *
 * After a request of several segments the direction switches (13.6.6.3): an
 * ACK of segment 0 gives the peer a window for its response. It is sent again
 * if the peer repeats its last ACK. We give 1, as the Linux kernel does, for
 * the rest is granted when the first segment is there.
 */
#include "sm/lab/rmpp_sender.h"

#include <glib.h>
#include <string.h>

#include "sm/mad/mad.h"

#define OFF_METHOD	3
#define SWITCH_WINDOW	1u

enum state {
	STATE_SENDING,
	STATE_SWITCHED,
	STATE_OVER,
};

/* What goes out before any segment. */
enum errand {
	ERRAND_NONE,
	ERRAND_ABORT,
	ERRAND_SWITCH,
};

struct rmpp_sender {
	struct rmpp_params params;
	struct rmpp_message message;
	enum state state;
	enum errand errand;
	enum rmpp_outcome outcome;
	uint8_t status;

	uint32_t acked, next, window_last;
	uint32_t sent;		/* the highest that ever went out */
	uint32_t pulled;
	size_t partial;		/* bytes of the segment after it */
	uint32_t last;		/* 0: not known yet */
	size_t last_len;
	uint64_t repeated;

	unsigned retries;	/* since the last news */
	int64_t timeout_us, deadline;
	int64_t stalled_until;	/* 0: it is not */

	unsigned room;		/* bytes of data in a segment */
	unsigned slots;
	uint8_t *ring;
	uint8_t header[MAD_SIZE];
};

/* ------------------------------------------------------------- the window */

static uint8_t *
slot_of(const struct rmpp_sender *s, uint32_t segment)
{
	return s->ring + (size_t)((segment - 1) % s->slots) * s->room;
}

/* False: it is not all there yet. */
static bool
pull(struct rmpp_sender *s)
{
	uint8_t *slot = slot_of(s, s->pulled + 1);
	size_t n = s->message.source(s->message.data, slot + s->partial,
				     s->room - s->partial);
	bool later = n & RMPP_SOURCE_LATER;

	n = (n & ~RMPP_SOURCE_LATER) + s->partial;
	s->partial = later ? n : 0;
	if (later)
		return false;
	g_assert(n <= s->room);
	g_assert(s->pulled < UINT32_MAX - 1);
	if (n > 0 || s->pulled == 0) {
		s->pulled++;
		s->last_len = n;
	}
	if (n < s->room)
		s->last = s->pulled;
	return true;
}

/* Until `segment` is here and it is known whether it is the last. */
static bool
pull_for(struct rmpp_sender *s, uint32_t segment, int64_t now)
{
	while (!s->last && s->pulled <= segment) {
		if (pull(s))
			continue;
		s->stalled_until = now + RMPP_SOURCE_PAUSE_US;
		return false;
	}
	return true;
}

static bool
may_send(const struct rmpp_sender *s)
{
	if (s->state != STATE_SENDING || s->stalled_until ||
	    s->next > s->window_last)
		return false;
	if (s->next - s->acked > s->params.window)
		return false;
	return !s->last || s->next <= s->last;
}

static void
restart_timer(struct rmpp_sender *s, int64_t now)
{
	s->deadline = now + s->timeout_us;
}

/* ------------------------------------------------------------------- ends */

static void
end(struct rmpp_sender *s, enum rmpp_outcome outcome, unsigned status)
{
	s->state = STATE_OVER;
	s->outcome = outcome;
	s->status = (uint8_t)status;
	s->deadline = RMPP_NO_DEADLINE;
	s->stalled_until = 0;
}

static void
give_up(struct rmpp_sender *s, enum rmpp_status status)
{
	end(s, RMPP_GAVE_UP, status);
	s->errand = ERRAND_ABORT;
}

static bool
is_request(const struct rmpp_sender *s)
{
	return !(s->header[OFF_METHOD] & MAD_METHOD_RESPONSE);
}

static void
complete(struct rmpp_sender *s, int64_t now)
{
	end(s, RMPP_DONE, RMPP_STATUS_OK);
	if (!is_request(s))
		return;
	s->state = STATE_SWITCHED;
	s->errand = ERRAND_SWITCH;
	s->deadline = now + s->params.linger_us;
}

/* ----------------------------------------------------- events, by state */

/* How long the peer says that it needs (IBA 13.6.3.1). It may ask for
 * patience, not for ever. */
static void
take_resp_time(struct rmpp_sender *s, const struct rmpp_header *h)
{
	int64_t us;

	if (h->resp_time == RMPP_NO_RESP_TIME)
		return;
	us = (INT64_C(4096) << h->resp_time) / 1000;
	s->timeout_us = CLAMP(us, s->params.timeout_us,
			      MAX(s->params.timeout_max_us,
				  s->params.timeout_us));
}

static void
take_ack(struct rmpp_sender *s, const struct rmpp_header *h, int64_t now)
{
	if (h->length < h->segment) {
		give_up(s, RMPP_STATUS_WINDOW_SMALL);
		return;
	}
	if (h->segment > s->sent) {
		give_up(s, RMPP_STATUS_SEGMENT_BIG);
		return;
	}
	if (h->segment < s->acked || h->length < s->window_last)
		return;
	take_resp_time(s, h);
	if (h->segment > s->acked) {
		s->acked = h->segment;
		s->next = MAX(s->next, s->acked + 1);
		s->retries = 0;
		restart_timer(s, now);
	}
	s->window_last = h->length;
	if (s->last && s->acked == s->last)
		complete(s, now);
}

static void
in_sending(struct rmpp_sender *s, const struct rmpp_header *h, int64_t now)
{
	enum rmpp_status fault = rmpp_header_judge(h);

	if (h->type == RMPP_TYPE_ABORT) {
		end(s, RMPP_ENDED_BY_PEER, h->status);
		return;
	}
	if (fault != RMPP_STATUS_OK) {
		give_up(s, fault);
		return;
	}
	switch ((enum rmpp_type)h->type) {
	case RMPP_TYPE_ACK:
		take_ack(s, h, now);
		break;
	case RMPP_TYPE_STOP:
		end(s, RMPP_ENDED_BY_PEER, h->status);
		break;
	case RMPP_TYPE_DATA:
	case RMPP_TYPE_ABORT:
		break;
	}
}

static void
in_switched(struct rmpp_sender *s, const struct rmpp_header *h)
{
	if (rmpp_header_judge(h) == RMPP_STATUS_OK &&
	    h->type == RMPP_TYPE_ACK && h->segment == s->last)
		s->errand = ERRAND_SWITCH;
}

void
rmpp_sender_receive(struct rmpp_sender *s, const uint8_t *mad, int64_t now)
{
	struct rmpp_header h;

	if (!rmpp_header_read(mad, MAD_SIZE, &h))
		return;
	switch (s->state) {
	case STATE_SENDING:
		in_sending(s, &h, now);
		break;
	case STATE_SWITCHED:
		in_switched(s, &h);
		break;
	case STATE_OVER:
		break;
	}
}

static void
expire_sending(struct rmpp_sender *s, int64_t now)
{
	if (s->retries >= s->params.retries) {
		give_up(s, RMPP_STATUS_RETRIES);
		return;
	}
	s->retries++;
	s->next = s->acked + 1;
	restart_timer(s, now);
}

static void
expire_switched(struct rmpp_sender *s)
{
	end(s, RMPP_DONE, RMPP_STATUS_OK);
}

/* The source is asked again. */
static void
end_stall(struct rmpp_sender *s, int64_t now)
{
	if (!s->stalled_until || now < s->stalled_until)
		return;
	s->stalled_until = 0;
	if (s->next == s->acked + 1)
		restart_timer(s, now);
}

void
rmpp_sender_expire(struct rmpp_sender *s, int64_t now)
{
	end_stall(s, now);
	if (s->deadline == RMPP_NO_DEADLINE || now < s->deadline)
		return;
	switch (s->state) {
	case STATE_SENDING:
		expire_sending(s, now);
		break;
	case STATE_SWITCHED:
		expire_switched(s);
		break;
	case STATE_OVER:
		break;
	}
}

void
rmpp_sender_abort(struct rmpp_sender *s, enum rmpp_status status)
{
	switch (s->state) {
	case STATE_SENDING:
		give_up(s, status);
		break;
	case STATE_SWITCHED:
		expire_switched(s);
		break;
	case STATE_OVER:
		break;
	}
}

/* ------------------------------------------------------------ what goes out */

static void
write_segment(struct rmpp_sender *s, uint8_t *mad)
{
	bool is_last = s->next == s->last;
	size_t len = is_last ? s->last_len : s->room;
	struct rmpp_header h = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA,
		.flags = RMPP_FLAG_ACTIVE,
		.resp_time = (uint8_t)s->params.resp_time,
		.segment = s->next,
	};

	if (s->next == 1) {
		h.flags |= RMPP_FLAG_FIRST;
		if (s->message.length != RMPP_LENGTH_UNKNOWN)
			h.length = rmpp_payload_length(s->message.length,
						       s->params.header_len);
	}
	if (is_last) {
		h.flags |= RMPP_FLAG_LAST;
		h.length = rmpp_payload_length(len, s->params.header_len);
	}
	memcpy(mad, s->header, s->params.header_len);
	rmpp_header_write(mad, &h);
	memcpy(mad + s->params.header_len, slot_of(s, s->next), len);
	memset(mad + s->params.header_len + len, 0, s->room - len);
}

/* A message that is longer or shorter than its first segment said is a
 * mistake of who made the source. */
static void
send_segment(struct rmpp_sender *s, uint8_t *mad, int64_t now)
{
	if (s->last && s->message.length != RMPP_LENGTH_UNKNOWN)
		g_assert((uint64_t)(s->last - 1) * s->room + s->last_len ==
			 s->message.length);
	write_segment(s, mad);
	if (s->next <= s->sent)
		s->repeated++;
	s->sent = MAX(s->sent, s->next);
	s->next++;
	restart_timer(s, now);
}

static void
write_control(const struct rmpp_sender *s, uint8_t *mad, enum rmpp_type type,
	      uint8_t status, uint32_t window)
{
	const struct rmpp_header h = {
		.version = RMPP_VERSION, .type = (uint8_t)type,
		.flags = RMPP_FLAG_ACTIVE, .status = status,
		.resp_time = (uint8_t)s->params.resp_time, .length = window,
	};

	memset(mad, 0, MAD_SIZE);
	memcpy(mad, s->header, s->params.header_len);
	rmpp_header_write(mad, &h);
}

bool
rmpp_sender_next(struct rmpp_sender *s, uint8_t *mad, int64_t now)
{
	enum errand errand = s->errand;

	s->errand = ERRAND_NONE;
	switch (errand) {
	case ERRAND_NONE:
		break;
	case ERRAND_ABORT:
		write_control(s, mad, RMPP_TYPE_ABORT, s->status, 0);
		return true;
	case ERRAND_SWITCH:
		write_control(s, mad, RMPP_TYPE_ACK, 0, SWITCH_WINDOW);
		return true;
	}
	if (!may_send(s) || !pull_for(s, s->next, now))
		return false;
	send_segment(s, mad, now);
	return true;
}

/* -------------------------------------------------------------- interface */

struct rmpp_sender *
rmpp_sender_new(const struct rmpp_params *params, const uint8_t *header,
		const struct rmpp_message *message, int64_t now)
{
	struct rmpp_sender *s = g_new0(struct rmpp_sender, 1);
	uint64_t need = message->length == RMPP_LENGTH_UNKNOWN ?
		UINT64_MAX : rmpp_segment_count(message->length,
						params->header_len);

	g_assert(params->header_len >= RMPP_HEADER_LEN &&
		 params->header_len < MAD_SIZE);
	g_assert(params->window >= 1 && params->window <= RMPP_WINDOW_MAX);
	s->params = *params;
	s->message = *message;
	s->next = 1;
	s->window_last = MAX(message->window, 1);
	s->timeout_us = params->timeout_us;
	s->room = MAD_SIZE - params->header_len;
	/* one more: a look at what follows */
	s->slots = (unsigned)MIN(params->window, need) + 1;
	s->ring = g_malloc((size_t)s->slots * s->room);
	memcpy(s->header, header, params->header_len);
	restart_timer(s, now);
	return s;
}

void
rmpp_sender_free(struct rmpp_sender *s)
{
	if (!s)
		return;
	g_free(s->ring);
	g_free(s);
}

int64_t
rmpp_sender_deadline(const struct rmpp_sender *s)
{
	return s->stalled_until ? MIN(s->stalled_until, s->deadline) :
		s->deadline;
}

enum rmpp_outcome
rmpp_sender_outcome(const struct rmpp_sender *s)
{
	return s->outcome;
}

unsigned
rmpp_sender_status(const struct rmpp_sender *s)
{
	return s->status;
}

uint64_t
rmpp_sender_repeated(const struct rmpp_sender *s)
{
	return s->repeated;
}
