// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The generic half of a transport: calls go through the table of operations.
 *
 * Everything that differs between carriers is behind struct transport_ops;
 * this file only saves its callers the indirection and keeps the receiver,
 * which every carrier calls for each MAD in the thread that drives it.
 */
#include "sm/io/transport.h"

G_DEFINE_QUARK(minism-transport, transport_error)

void
transport_set_receiver(struct transport *t, transport_recv_fn fn, void *data)
{
	t->on_recv = fn;
	t->recv_data = data;
}

bool
transport_send(struct transport *t, const struct mad_addr *to,
	       const uint8_t *mad, size_t len, unsigned timeout_ms,
	       GError **error)
{
	return t->ops->send(t, to, mad, len, timeout_ms, error);
}

int64_t
transport_peek(struct transport *t)
{
	return t->ops->peek ? t->ops->peek(t) : t->ops->now(t);
}

int64_t
transport_now(struct transport *t)
{
	return t->ops->now(t);
}

const char *
transport_ms(const struct transport *t)
{
	return t->simulated ? "ms simulated" : "ms";
}

unsigned
transport_timer_start(struct transport *t, int64_t when,
		      transport_timer_fn fn, void *data)
{
	return t->ops->timer_start(t, when, fn, data);
}

void
transport_timer_cancel(struct transport *t, unsigned id)
{
	t->ops->timer_cancel(t, id);
}

void
transport_free(struct transport *t)
{
	if (t)
		t->ops->free(t);
}
