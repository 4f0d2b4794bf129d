// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The scripted transport: see the header for what it is.
 *
 * Deliveries and timers are events in one sequence, sorted by time and, for
 * those of the same time, by the order in which they were scheduled. A step
 * takes the first, sets the clock and calls. Callbacks may schedule more.
 * Freeing with events left is fine: they never happen.
 */
#include "tests/lib/scripted.h"

#include <string.h>

#include "sm/mad/smp.h"

struct event {
	int64_t when;
	uint64_t order;
	unsigned timer_id;		/* 0: a delivery */
	transport_timer_fn fn;
	void *data;
	struct transport_mad m;		/* m.mad points to bytes */
	uint8_t *bytes;
};

struct scripted {
	struct transport base;
	int64_t now;
	uint64_t order;
	unsigned last_timer;
	unsigned refuse;
	enum transport_error refusal;
	unsigned flying, most_flying;
	GSequence *events;
	GHashTable *timers;		/* id -> GSequenceIter */
	GPtrArray *sent;
	scripted_peer_fn peer;
	void *peer_data;
};

static struct scripted *
scripted_of(const struct transport *t)
{
	return (struct scripted *)t;
}

static void
event_free(void *data)
{
	struct event *e = data;

	g_free(e->bytes);
	g_free(e);
}

static int
event_compare(const void *a, const void *b, void *data)
{
	const struct event *ea = a, *eb = b;

	return uint_compare((uint64_t)ea->when, (uint64_t)eb->when) ?:
		uint_compare(ea->order, eb->order);
}

static void
sent_free(void *data)
{
	g_free(((struct scripted_sent *)data)->message);
	g_free(data);
}

static GSequenceIter *
schedule(struct scripted *s, struct event *e)
{
	e->order = ++s->order;
	return g_sequence_insert_sorted(s->events, e, event_compare, NULL);
}

static bool
scripted_send(struct transport *t, const struct mad_addr *to,
	      const uint8_t *mad, size_t len, unsigned timeout_ms,
	      GError **error)
{
	struct scripted *s = scripted_of(t);
	struct scripted_sent *sent;

	if (s->refuse > 0) {
		s->refuse--;
		g_set_error_literal(error, TRANSPORT_ERROR,
				    s->refusal, "refused by script");
		return false;
	}
	g_assert(len == MAD_SIZE || t->rmpp);
	sent = g_new0(struct scripted_sent, 1);
	sent->when = s->now;
	sent->to = *to;
	sent->timeout_ms = timeout_ms;
	memcpy(sent->mad, mad, MIN(len, MAD_SIZE));
	sent->len = len;
	sent->message = g_memdup2(mad, len);
	g_ptr_array_add(s->sent, sent);
	if (s->peer)
		s->peer(t, sent, s->peer_data);
	return true;
}

static int64_t
scripted_now(struct transport *t)
{
	return scripted_of(t)->now;
}

static unsigned
scripted_timer_start(struct transport *t, int64_t when,
		     transport_timer_fn fn, void *data)
{
	struct scripted *s = scripted_of(t);
	struct event *e = g_new0(struct event, 1);

	e->when = MAX(when, s->now);
	e->timer_id = ++s->last_timer;
	e->fn = fn;
	e->data = data;
	g_hash_table_insert(s->timers, GUINT_TO_POINTER(e->timer_id),
			    schedule(s, e));
	return e->timer_id;
}

/* A cancel of what rang already is a bug of the caller. */
static void
scripted_timer_cancel(struct transport *t, unsigned id)
{
	struct scripted *s = scripted_of(t);
	void *key = GUINT_TO_POINTER(id);
	GSequenceIter *iter = g_hash_table_lookup(s->timers, key);

	g_assert(iter);
	g_hash_table_remove(s->timers, key);
	g_sequence_remove(iter);
}

static void
scripted_free(struct transport *t)
{
	struct scripted *s = scripted_of(t);

	g_hash_table_destroy(s->timers);
	g_sequence_free(s->events);
	g_ptr_array_free(s->sent, TRUE);
	g_free(s);
}

static const struct transport_ops scripted_ops = {
	.send = scripted_send,
	.now = scripted_now,
	.timer_start = scripted_timer_start,
	.timer_cancel = scripted_timer_cancel,
	.free = scripted_free,
};

struct transport *
scripted_new(void)
{
	struct scripted *s = g_new0(struct scripted, 1);

	s->base.ops = &scripted_ops;
	g_strlcpy(s->base.name, "scripted", sizeof(s->base.name));
	s->events = g_sequence_new(event_free);
	s->timers = g_hash_table_new(NULL, NULL);
	s->sent = g_ptr_array_new_with_free_func(sent_free);
	return &s->base;
}

void
scripted_set_peer(struct transport *t, scripted_peer_fn fn, void *data)
{
	scripted_of(t)->peer = fn;
	scripted_of(t)->peer_data = data;
}

void
scripted_deliver(struct transport *t, const struct transport_mad *m,
		 int64_t delay_us)
{
	struct scripted *s = scripted_of(t);
	struct event *e = g_new0(struct event, 1);

	g_assert(delay_us >= 0);
	e->when = s->now + delay_us;
	e->m = *m;
	/* exactly as long as it says, so a sanitizer sees a read past it */
	e->bytes = g_memdup2(m->mad, m->len);
	e->m.mad = e->bytes;
	s->flying++;
	s->most_flying = MAX(s->most_flying, s->flying);
	schedule(s, e);
}

static void
deliver(struct transport *t, const uint8_t *mad, bool is_returned,
	int64_t delay_us)
{
	const struct transport_mad m = {
		.event = is_returned ? TRANSPORT_RETURNED : TRANSPORT_RECEIVED,
		.addr.lid = 0xffff, .mad = mad, .len = MAD_SIZE,
	};

	scripted_deliver(t, &m, delay_us);
}

void
scripted_answer(struct transport *t, const uint8_t *mad, int64_t delay_us)
{
	deliver(t, mad, false, delay_us);
}

void
scripted_return(struct transport *t, const uint8_t *mad, int64_t delay_us)
{
	deliver(t, mad, true, delay_us);
}

void
scripted_reply(struct transport *t, const struct scripted_sent *sent,
	       int64_t delay_us)
{
	uint8_t mad[MAD_SIZE];

	memcpy(mad, sent->mad, MAD_SIZE);
	smp_make_response(mad, MAD_STATUS_OK);
	scripted_answer(t, mad, delay_us);
}

void
scripted_refuse(struct transport *t, unsigned count, enum transport_error code)
{
	scripted_of(t)->refusal = code;
	scripted_of(t)->refuse = count;
}

unsigned
scripted_count(const struct transport *t)
{
	return scripted_of(t)->sent->len;
}

const struct scripted_sent *
scripted_get(const struct transport *t, unsigned index)
{
	const struct scripted *s = scripted_of(t);

	g_assert(index < s->sent->len);
	return g_ptr_array_index(s->sent, index);
}

const struct scripted_sent *
scripted_last(const struct transport *t)
{
	return scripted_get(t, scripted_count(t) - 1);
}

void
scripted_forget(struct transport *t)
{
	g_ptr_array_set_size(scripted_of(t)->sent, 0);
}

unsigned
scripted_most_flying(const struct transport *t)
{
	return scripted_of(t)->most_flying;
}

static struct event *
first_event(struct scripted *s)
{
	if (g_sequence_is_empty(s->events))
		return NULL;
	return g_sequence_get(g_sequence_get_begin_iter(s->events));
}

bool
scripted_step(struct transport *t)
{
	struct scripted *s = scripted_of(t);
	struct event *first = first_event(s);
	struct event e;

	if (!first)
		return false;
	/* out of the sequence before the call, which may free the event's
	 * neighbours or schedule new ones */
	e = *first;
	first->bytes = NULL;
	g_sequence_remove(g_sequence_get_begin_iter(s->events));
	s->now = MAX(s->now, e.when);
	if (e.timer_id) {
		g_hash_table_remove(s->timers, GUINT_TO_POINTER(e.timer_id));
		e.fn(e.data);
		return true;
	}
	s->flying--;
	transport_deliver(&s->base, &e.m);
	g_free(e.bytes);
	return true;
}

void
scripted_run(struct transport *t, int64_t until)
{
	struct scripted *s = scripted_of(t);

	while (first_event(s) && first_event(s)->when <= until)
		scripted_step(t);
	s->now = MAX(s->now, until);
}

bool
scripted_run_idle(struct transport *t, int64_t limit)
{
	struct scripted *s = scripted_of(t);

	while (first_event(s)) {
		if (first_event(s)->when > limit)
			return false;
		scripted_step(t);
	}
	return true;
}

void
scripted_stall(struct transport *t, int64_t us)
{
	scripted_of(t)->now += us;
}
