// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tap on a transport.
 *
 * A transport whose operations pass to the one inside and are reported. Timers
 * get ids of our own, 1, 2, 3 and so on: those of the transports differ from run
 * to run.
 */
#include "sm/io/tap.h"

#include <string.h>

struct tap {
	struct transport base;
	struct transport *inner;
	GHashTable *timers;		/* id -> struct tap_timer */
	unsigned last_timer;
	tap_fn fn;
	void *data;
};

struct tap_timer {
	struct tap *tap;
	unsigned id, inner_id;
	transport_timer_fn fn;
	void *data;
};

static void
tap_on_recv(const struct transport_mad *m, void *data)
{
	struct tap *tap = data;

	tap->fn(&(struct record_event) {
		.kind = m->event == TRANSPORT_RECEIVED ? RECORD_RECEIVED :
			RECORD_RETURNED,
		.time = transport_peek(tap->inner),
		.addr = m->addr, .mad = m->mad, .len = m->len,
	}, tap->data);
	if (tap->base.on_recv)
		tap->base.on_recv(m, tap->base.recv_data);
}

static bool
tap_send(struct transport *t, const struct mad_addr *to, const uint8_t *mad,
	 size_t len, unsigned timeout_ms, GError **error)
{
	struct tap *tap = (struct tap *)t;
	GError *refusal = NULL;
	bool sent = transport_send(tap->inner, to, mad, len, timeout_ms,
				   &refusal);

	tap->fn(&(struct record_event) {
		.kind = RECORD_SEND, .time = transport_peek(tap->inner),
		.addr = *to, .timeout_ms = timeout_ms,
		.mad = mad, .len = len,
		.refusal = refusal ? refusal->message : NULL,
	}, tap->data);
	if (refusal)
		g_propagate_error(error, refusal);
	return sent;
}

static int64_t
tap_now(struct transport *t)
{
	struct tap *tap = (struct tap *)t;
	int64_t now = transport_now(tap->inner);

	tap->fn(&(struct record_event) {
		.kind = RECORD_CLOCK, .time = now,
	}, tap->data);
	return now;
}

static int64_t
tap_peek(struct transport *t)
{
	return transport_peek(((struct tap *)t)->inner);
}

/* Its id is valid until it expires, so it is removed before the call. */
static void
tap_on_ring(void *data)
{
	struct tap_timer timer = *(struct tap_timer *)data;

	timer.tap->fn(&(struct record_event) {
		.kind = RECORD_RING, .timer = timer.id,
		.time = transport_peek(timer.tap->inner),
	}, timer.tap->data);
	g_hash_table_remove(timer.tap->timers, GUINT_TO_POINTER(timer.id));
	timer.fn(timer.data);
}

static unsigned
tap_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		void *data)
{
	struct tap *tap = (struct tap *)t;
	struct tap_timer *timer = g_new(struct tap_timer, 1);

	*timer = (struct tap_timer) {
		.tap = tap, .id = ++tap->last_timer, .fn = fn, .data = data,
	};
	tap->fn(&(struct record_event) {
		.kind = RECORD_START, .when = when, .timer = timer->id,
	}, tap->data);
	g_hash_table_insert(tap->timers, GUINT_TO_POINTER(timer->id), timer);
	timer->inner_id = transport_timer_start(tap->inner, when, tap_on_ring,
						timer);
	return timer->id;
}

static void
tap_timer_cancel(struct transport *t, unsigned id)
{
	struct tap *tap = (struct tap *)t;
	void *key = GUINT_TO_POINTER(id);
	struct tap_timer *timer = g_hash_table_lookup(tap->timers, key);

	tap->fn(&(struct record_event) {
		.kind = RECORD_CANCEL, .timer = id,
	}, tap->data);
	if (!timer)
		return;
	transport_timer_cancel(tap->inner, timer->inner_id);
	g_hash_table_remove(tap->timers, key);
}

static void
tap_free(struct transport *t)
{
	struct tap *tap = (struct tap *)t;

	transport_set_receiver(tap->inner, NULL, NULL);
	transport_free(tap->inner);
	g_hash_table_destroy(tap->timers);
	g_free(tap);
}

static const struct transport_ops tap_ops = {
	.send = tap_send,
	.now = tap_now,
	.peek = tap_peek,
	.timer_start = tap_timer_start,
	.timer_cancel = tap_timer_cancel,
	.free = tap_free,
};

struct transport *
tap_new(struct transport *inner, tap_fn fn, void *data)
{
	struct tap *tap = g_new0(struct tap, 1);

	tap->base = *inner;
	tap->base.ops = &tap_ops;
	tap->base.on_recv = NULL;
	tap->inner = inner;
	tap->fn = fn;
	tap->data = data;
	tap->timers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	transport_set_receiver(inner, tap_on_recv, tap);
	return &tap->base;
}
