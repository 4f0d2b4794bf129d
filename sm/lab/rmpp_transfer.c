// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each event for a machine (a MAD, the timer) is followed by the same steps:
 * send what it wants sent, note its deadline, and see whether it has come to
 * an end. The first step of a new transfer is left to the timer, so that no
 * callback comes from inside the call that begins it.
 */
#include "sm/lab/rmpp_transfer.h"

#include <string.h>

#include "sm/mad/mad.h"
#include "sm/lab/rmpp_receiver.h"
#include "sm/lab/rmpp_sender.h"

const struct rmpp_params rmpp_transfer_params = {
	.header_len = RMPP_SA_HEADER_LEN,
	.window = RMPP_WINDOW_MAX,
	.resp_time = RMPP_NO_RESP_TIME,
	.timeout_us = 2 * (int64_t)G_USEC_PER_SEC,
	.timeout_max_us = 2 * (int64_t)G_USEC_PER_SEC,
	.idle_us = 40 * (int64_t)G_USEC_PER_SEC,
	.linger_us = 10 * (int64_t)G_USEC_PER_SEC,
	.limit = UINT64_C(64) << 20,
};

struct rmpp_transfer {
	struct transport *transport;
	struct mad_addr peer;
	struct rmpp_sender *sender;	/* one of two */
	struct rmpp_receiver *receiver;
	struct rmpp_bytes source;
	unsigned header_len, timer;
	bool told;		/* the message, or that it was sent */
	rmpp_transfer_message_fn on_message;
	rmpp_transfer_over_fn over;
	void *data;
};

static void advance(struct rmpp_transfer *x);

static void
on_timer(void *data)
{
	struct rmpp_transfer *x = data;
	int64_t now = transport_now(x->transport);

	x->timer = 0;
	if (x->sender && rmpp_sender_deadline(x->sender) <= now)
		rmpp_sender_expire(x->sender, now);
	if (x->receiver && rmpp_receiver_deadline(x->receiver) <= now)
		rmpp_receiver_expire(x->receiver, now);
	advance(x);
}

static void
ring_at(struct rmpp_transfer *x, int64_t when)
{
	if (x->timer)
		transport_timer_cancel(x->transport, x->timer);
	x->timer = transport_timer_start(x->transport, when, on_timer, x);
}

static void
tell_message(struct rmpp_transfer *x)
{
	g_autoptr(GByteArray) data = rmpp_receiver_steal_data(x->receiver);
	g_autofree uint8_t *message = g_malloc(x->header_len + data->len);

	memcpy(message, rmpp_receiver_header(x->receiver), x->header_len);
	if (data->len)
		memcpy(message + x->header_len, data->data, data->len);
	x->told = true;
	x->on_message(x, message, x->header_len + data->len, x->data);
}

/* A sender is over when the peer has it all; what it may have to repeat then
 * goes on until it is freed. */
static void
settle(struct rmpp_transfer *x, int64_t deadline)
{
	enum rmpp_outcome outcome = x->sender ?
		rmpp_sender_outcome(x->sender) :
		rmpp_receiver_outcome(x->receiver);

	if (outcome == RMPP_GOING_ON)
		return;
	if (x->sender && !x->told) {
		x->told = true;
		x->over(x, outcome, x->data);
		return;
	}
	if (!x->sender && !x->told && outcome == RMPP_DONE)
		tell_message(x);
	if (!x->sender && deadline == RMPP_NO_DEADLINE)
		x->over(x, outcome, x->data);
}

static void
advance(struct rmpp_transfer *x)
{
	int64_t now = transport_now(x->transport), deadline;
	uint8_t mad[MAD_SIZE];

	while (x->sender ? rmpp_sender_next(x->sender, mad, now) :
	       rmpp_receiver_next(x->receiver, mad, now))
		transport_send(x->transport, &x->peer, mad, MAD_SIZE, 0, NULL);
	deadline = x->sender ? rmpp_sender_deadline(x->sender) :
		rmpp_receiver_deadline(x->receiver);
	if (deadline != RMPP_NO_DEADLINE)
		ring_at(x, deadline);
	settle(x, deadline);
}

void
rmpp_transfer_receive(struct rmpp_transfer *x, const uint8_t *mad)
{
	int64_t now = transport_now(x->transport);

	if (x->sender)
		rmpp_sender_receive(x->sender, mad, now);
	else
		rmpp_receiver_receive(x->receiver, mad, now);
	advance(x);
}

static struct rmpp_transfer *
transfer_new(struct transport *t, const struct rmpp_params *params,
	     const struct mad_addr *peer, rmpp_transfer_over_fn over,
	     void *data)
{
	struct rmpp_transfer *x = g_new0(struct rmpp_transfer, 1);

	x->transport = t;
	x->peer = *peer;
	x->header_len = params->header_len;
	x->over = over;
	x->data = data;
	return x;
}

struct rmpp_transfer *
rmpp_transfer_send(struct transport *t, const struct rmpp_params *params,
		   const struct mad_addr *to, const uint8_t *message,
		   size_t len, rmpp_transfer_over_fn over, void *data)
{
	struct rmpp_transfer *x = transfer_new(t, params, to, over, data);
	struct rmpp_message m = {
		.source = rmpp_bytes_read, .data = &x->source,
		.length = len - params->header_len, .window = 1,
	};

	x->source.at = message + params->header_len;
	x->source.left = len - params->header_len;
	x->sender = rmpp_sender_new(params, message, &m, transport_now(t));
	ring_at(x, transport_now(t));
	return x;
}

struct rmpp_transfer *
rmpp_transfer_receiver(struct transport *t, const struct rmpp_params *params,
		       const struct mad_addr *from,
		       rmpp_transfer_message_fn on_message,
		       rmpp_transfer_over_fn over, void *data)
{
	struct rmpp_transfer *x = transfer_new(t, params, from, over, data);

	x->on_message = on_message;
	x->receiver = rmpp_receiver_new(params, transport_now(t));
	return x;
}

void
rmpp_transfer_free(struct rmpp_transfer *x)
{
	if (!x)
		return;
	if (x->timer)
		transport_timer_cancel(x->transport, x->timer);
	g_clear_pointer(&x->sender, rmpp_sender_free);
	g_clear_pointer(&x->receiver, rmpp_receiver_free);
	g_free(x);
}
