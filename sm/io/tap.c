// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tap on a transport.
 *
 * A transport whose operations pass to the one inside; MADs are reported.
 */
#include "sm/io/tap.h"

struct tap {
	struct transport base;
	struct transport *inner;
	tap_fn fn;
	void *data;
};

static void
tap_on_recv(const struct transport_mad *m, void *data)
{
	struct tap *tap = data;

	tap->fn(&(struct tap_event) {
		.kind = m->event == TRANSPORT_RECEIVED ? TAP_RECEIVED :
			TAP_RETURNED,
		.time = transport_now(tap->inner),
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

	if (!transport_send(tap->inner, to, mad, len, timeout_ms, error))
		return false;
	tap->fn(&(struct tap_event) {
		.kind = TAP_SENT, .time = transport_now(tap->inner),
		.addr = *to, .mad = mad, .len = len,
	}, tap->data);
	return true;
}

static int64_t
tap_now(struct transport *t)
{
	return transport_now(((struct tap *)t)->inner);
}

static unsigned
tap_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		void *data)
{
	return transport_timer_start(((struct tap *)t)->inner, when, fn, data);
}

static void
tap_timer_cancel(struct transport *t, unsigned id)
{
	transport_timer_cancel(((struct tap *)t)->inner, id);
}

static void
tap_free(struct transport *t)
{
	struct tap *tap = (struct tap *)t;

	transport_set_receiver(tap->inner, NULL, NULL);
	transport_free(tap->inner);
	g_free(tap);
}

static const struct transport_ops tap_ops = {
	.send = tap_send,
	.now = tap_now,
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
	transport_set_receiver(inner, tap_on_recv, tap);
	return &tap->base;
}
