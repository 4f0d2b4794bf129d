/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The interface between the subnet manager and the carrier of its MADs: umad, a
 * simulated fabric.
 *
 * A transport moves whole MADs, has a clock and runs timers; attributes and
 * transactions are above it. Everything above runs in one thread, the one that
 * drives the transport, and every callback comes in that thread.
 */
#ifndef MINISM_IO_TRANSPORT_H
#define MINISM_IO_TRANSPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a MAD goes to or came from. Directed-route SMPs: LID 0xffff. */
struct mad_addr {
	uint32_t qp;		/* 0 for SMPs, 1 for GMPs */
	uint32_t qkey;
	uint16_t lid;
	uint16_t pkey_index;
	uint8_t sl;
	bool grh;		/* a GRH came along; gid is then its source */
	uint8_t path_bits;	/* of our LID; of an arrived MAD, its DLID's */
	/* of the GRH: */
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t gid[16];
};

enum transport_event {
	TRANSPORT_RECEIVED,	/* a MAD from the wire */
	TRANSPORT_RETURNED,	/* our own request: no answer came */
};

struct transport_mad {
	enum transport_event event;
	struct mad_addr addr;
	const uint8_t *mad;	/* valid during the callback */
	size_t len;
};

typedef void (*transport_recv_fn)(const struct transport_mad *m, void *data);
typedef void (*transport_tap_fn)(const struct transport_mad *m, bool is_sent,
				 void *data);
typedef void (*transport_timer_fn)(void *data);

enum transport_error {
	TRANSPORT_ERROR_OPEN,	/* no such port, no permission, no driver */
	TRANSPORT_ERROR_SEND,	/* the MAD was not accepted */
	TRANSPORT_ERROR_AGAIN,	/* nor this one, for want of memory or of a
				   place in a queue: try again in a moment */
};
#define TRANSPORT_ERROR g_quark_from_static_string("minism-transport")

struct transport;

struct transport_ops {
	/*
	 * Sends one MAD (or a message, see rmpp). timeout_ms: how long the
	 * transport may keep waiting for its answer before it says
	 * TRANSPORT_RETURNED (a transport that does not track requests need
	 * not). 0: no answer is expected.
	 */
	bool (*send)(struct transport *t, const struct mad_addr *to,
		     const uint8_t *mad, size_t len, unsigned timeout_ms,
		     GError **error);
	int64_t (*now)(struct transport *t);	/* us, monotonic */
	/* Calls fn once at `when` (us of now()) or as soon after as it can.
	 * Returns an id, never 0, valid for timer_cancel until then. */
	unsigned (*timer_start)(struct transport *t, int64_t when,
				transport_timer_fn fn, void *data);
	void (*timer_cancel)(struct transport *t, unsigned id);
	void (*free)(struct transport *t);
};

/* The common part of all transports, with which the struct of each begins. */
struct transport {
	const struct transport_ops *ops;
	transport_recv_fn on_recv;	/* set by transport_set_receiver() */
	void *recv_data;
	/* May be set: gets each MAD before on_recv does, and each that was
	 * sent, after send() has accepted it. */
	transport_tap_fn tap;
	void *tap_data;
	uint64_t port_guid;		/* of the port that it is bound to */
	uint8_t port_num;
	/*
	 * It does RMPP itself (IBA 13.6). send() takes an SA message of any
	 * length from RMPP_SA_HEADER_LEN bytes on, if its RMPP header is that
	 * of a first segment; the transport segments it. Such messages arrive
	 * reassembled, and may be shorter than MAD_SIZE. Without, all MADs of a
	 * transfer go through send() and on_recv one by one:
	 * sm/io/sa_message.h.
	 */
	bool rmpp;
	bool in_real_time;		/* else it is a simulation, which can be
					   repeated (sm/io/beside.h) */
	bool simulated;			/* and so is its time */
	char name[96];			/* for people: "ibsim0 port 1" */
};

/* fn gets each MAD, in the thread that drives the transport. */
static inline void
transport_set_receiver(struct transport *t, transport_recv_fn fn, void *data)
{
	t->on_recv = fn;
	t->recv_data = data;
}

static inline bool
transport_send(struct transport *t, const struct mad_addr *to,
	       const uint8_t *mad, size_t len, unsigned timeout_ms,
	       GError **error)
{
	const struct transport_mad sent = {
		.addr = *to, .mad = mad, .len = len,
	};

	if (!t->ops->send(t, to, mad, len, timeout_ms, error))
		return false;
	if (t->tap)
		t->tap(&sent, true, t->tap_data);
	return true;
}

/* For transports: a MAD has come. */
static inline void
transport_deliver(struct transport *t, const struct transport_mad *m)
{
	if (t->tap)
		t->tap(m, false, t->tap_data);
	if (t->on_recv)
		t->on_recv(m, t->recv_data);
}

static inline int64_t
transport_now(struct transport *t)
{
	return t->ops->now(t);
}

/* The unit of a printed difference of two such times, after division by 1000. */
static inline const char *
transport_ms(const struct transport *t)
{
	return t->simulated ? "ms simulated" : "ms";
}

static inline unsigned
transport_timer_start(struct transport *t, int64_t when,
		      transport_timer_fn fn, void *data)
{
	return t->ops->timer_start(t, when, fn, data);
}

/* Rings once in `us`. */
static inline unsigned
transport_timer_in(struct transport *t, int64_t us, transport_timer_fn fn,
		   void *data)
{
	return transport_timer_start(t, transport_now(t) + us, fn, data);
}

/* Cancels *id if it is not 0, and makes it 0. */
static inline void
transport_timer_clear(struct transport *t, unsigned *id)
{
	if (*id)
		t->ops->timer_cancel(t, *id);
	*id = 0;
}

static inline void
transport_free(struct transport *t)
{
	if (t)
		t->ops->free(t);
}

#endif
