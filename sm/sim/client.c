// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients: the transports of a simulated fabric.
 *
 * A client is a transport on an end port. The upper half of a TID identifies
 * the client that sent the request, as in the kernel's MAD layer, so several
 * clients can share a port. Other MADs are delivered by role: requests (SMPs
 * and GMPs) to the first manager of the port, Reports to every client that is
 * not one (IBA 13.4.6.1), GMPs also to a client if there is no manager.
 *
 * Messages of clients are moved whole, as for a program that leaves RMPP to the
 * kernel: the first 256 bytes are routed as a MAD. A driver's transport does no
 * RMPP.
 *
 * A request with a timeout leaves a struct pending behind, which its answer
 * takes away. (A driver has no such help: it is the kernel.)
 *
 * A callback may free its own client or any other, so the client is not used
 * after a callback.
 */
#include "sm/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#include "sm/mad/rmpp.h"

#define NS_PER_MS	1000000
#define OFF_TID_HIGH	8
#define METHOD_REPORT	0x06

struct pending {
	struct sim_event event;	/* at its deadline */
	struct sim_client *client;
	uint32_t tid;		/* lower half */
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];
};

struct client_timer {
	struct sim_event event;
	struct sim_client *client;
	transport_timer_fn fn;
	void *data;
	unsigned id;
};

struct sim_client {
	struct transport base;
	struct sim *sim;
	uint32_t id;		/* upper half of its TIDs, never 0 */
	uint32_t port;
	enum sim_role role;
	GHashTable *timers;	/* id -> struct timer */
	unsigned last_timer;
	GHashTable *pendings;	/* lower half of a TID -> struct pending */
};

static struct sim_client *
client_of(struct transport *t)
{
	return (struct sim_client *)t;
}

/* ---------------------------------------------------- pending requests */

static void
call(struct sim_client *c, enum transport_event event,
     const struct mad_addr *addr, const uint8_t *mad, size_t len)
{
	const struct transport_mad m = {
		.event = event, .addr = *addr, .mad = mad, .len = len,
	};

	if (c->base.on_recv)
		c->base.on_recv(&m, c->base.recv_data);
}

/* The callback may send, or free the client. */
static void
on_expiry(struct sim *sim, struct sim_event *e)
{
	struct pending p = *(struct pending *)e;

	g_hash_table_remove(p.client->pendings, GUINT_TO_POINTER(p.tid));
	sim->stats.returned++;
	call(p.client, TRANSPORT_RETURNED, &p.to, p.mad, MAD_SIZE);
}

static void
pending_end(struct sim_client *c, uint32_t tid)
{
	struct pending *p = g_hash_table_lookup(c->pendings,
						GUINT_TO_POINTER(tid));

	if (!p)
		return;
	sim_clock_stop(c->sim, &p->event);
	g_hash_table_remove(c->pendings, GUINT_TO_POINTER(tid));
}

/* ------------------------------------------------------------ delivering */

static struct sim_client *
find_asker(struct sim *sim, uint32_t port, uint32_t id)
{
	for (guint i = 0; i < sim->clients->len; i++) {
		struct sim_client *c = sim->clients->pdata[i];

		if (c->id == id && c->port == port)
			return c;
	}
	return NULL;
}

/* The first client of this role on the port. */
static struct sim_client *
find_role(struct sim *sim, uint32_t port, enum sim_role role)
{
	for (guint i = 0; i < sim->clients->len; i++) {
		struct sim_client *c = sim->clients->pdata[i];

		if (c->port == port && c->role == role)
			return c;
	}
	return NULL;
}

/* With the address for the answer. */
static void
client_give(struct sim *sim, struct sim_client *c, struct sim_packet *p)
{
	const struct sim_port *from = &sim->ports[p->from];
	struct mad_addr addr = p->addr;

	addr.lid = p->h.mgmt_class == MAD_CLASS_SMP_DIRECT ? LID_PERMISSIVE :
		from->info.lid;
	addr.pkey_index = sim_port_pkey_index(sim, p->to,
			sim_port_pkey(sim, p->from, p->addr.pkey_index));
	if (addr.grh) {
		bytes_store64(addr.gid, from->info.gid_prefix);
		bytes_store64(addr.gid + 8, from->guid);
	}
	sim->stats.delivered++;
	call(c, TRANSPORT_RECEIVED, &addr, p->message ? p->message : p->mad,
	     p->message ? p->len : MAD_SIZE);
}

/* Callbacks may attach and detach, so the receivers are listed first. */
static void
give_report(struct sim *sim, struct sim_packet *p)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct sim_client *c;

	for (guint i = 0; i < sim->clients->len; i++) {
		c = sim->clients->pdata[i];
		if (c->port == p->to && c->role == SIM_ROLE_CLIENT)
			g_array_append_val(ids, c->id);
	}
	if (!ids->len)
		sim->stats.lost_nobody++;
	for (guint i = 0; i < ids->len; i++) {
		c = find_asker(sim, p->to, g_array_index(ids, uint32_t, i));
		if (c)
			client_give(sim, c, p);
	}
}

void
sim_client_receive(struct sim *sim, struct sim_packet *p)
{
	bool is_smp = p->h.mgmt_class == MAD_CLASS_SMP_LID ||
		p->h.mgmt_class == MAD_CLASS_SMP_DIRECT;
	struct sim_client *c = find_role(sim, p->to, SIM_ROLE_DRIVER);

	if (!c && p->h.method == METHOD_REPORT) {
		give_report(sim, p);
		sim_packet_drop(p);
		return;
	}
	if (!c && p->h.method & MAD_METHOD_RESPONSE) {
		c = find_asker(sim, p->to, p->h.tid >> 32);
		if (c)
			pending_end(c, p->h.tid);
	} else if (!c) {
		c = find_role(sim, p->to, SIM_ROLE_MANAGER);
		if (!c && !is_smp)
			c = find_role(sim, p->to, SIM_ROLE_CLIENT);
	}
	if (!c) {
		sim_packet_lose(sim, p, &sim->stats.lost_nobody);
		return;
	}
	client_give(sim, c, p);
	sim_packet_drop(p);
}

/* -------------------------------------------------------- the transport */

static bool
client_send(struct transport *t, const struct mad_addr *to,
	    const uint8_t *mad, size_t len, unsigned timeout_ms, GError **error)
{
	struct sim_client *c = client_of(t);
	struct rmpp_header r;
	bool is_message = c->base.rmpp && len >= RMPP_SA_HEADER_LEN &&
		mad[1] == MAD_CLASS_SA && rmpp_header_read(mad, len, &r) &&
		r.flags & RMPP_FLAG_ACTIVE;
	struct sim_packet *p;

	if (len != MAD_SIZE && !is_message) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND,
			    "a MAD has %u bytes, not %zu", MAD_SIZE, len);
		return false;
	}
	p = sim_packet_new();
	p->addr = *to;
	p->from = c->port;
	memcpy(p->mad, mad, MIN(len, MAD_SIZE));
	if (len != MAD_SIZE)
		p->message = g_memdup2(mad, len);
	p->len = len;
	mad_header_read(p->mad, MAD_SIZE, &p->h);
	/* a Trap counts as a request: TrapRepress answers it */
	if (c->role != SIM_ROLE_DRIVER &&
	    !(p->h.method & MAD_METHOD_RESPONSE) &&
	    p->h.method != MAD_METHOD_TRAP_REPRESS) {
		bytes_store(p->mad + OFF_TID_HIGH, c->id, 4);
		if (p->message)
			bytes_store(p->message + OFF_TID_HIGH, c->id, 4);
		if (timeout_ms &&
		    c->sim->params.returns == SIM_RETURNS_IN_TIME) {
			struct pending *pending = g_new(struct pending, 1);

			/* Of two requests with one TID the later one is
			 * pending. */
			pending_end(c, p->h.tid);
			pending->event = (struct sim_event){ .fn = on_expiry };
			pending->client = c;
			pending->tid = p->h.tid;
			pending->to = *to;
			memcpy(pending->mad, p->mad, MAD_SIZE);
			g_hash_table_insert(c->pendings,
					    GUINT_TO_POINTER(p->h.tid),
					    pending);
			sim_clock_start(c->sim, &pending->event, c->sim->now +
					(int64_t)timeout_ms * NS_PER_MS);
		}
	}
	c->sim->stats.sent++;
	sim_packet_launch(c->sim, p);
	return true;
}

static int64_t
client_now(struct transport *t)
{
	return sim_now(client_of(t)->sim);
}

static void
client_on_timer(struct sim *sim, struct sim_event *e)
{
	struct client_timer *timer = (struct client_timer *)e;
	transport_timer_fn fn = timer->fn;
	void *data = timer->data;

	g_hash_table_remove(timer->client->timers, GUINT_TO_POINTER(timer->id));
	fn(data);
}

static unsigned
client_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		   void *data)
{
	struct sim_client *c = client_of(t);
	struct client_timer *timer = g_new0(struct client_timer, 1);

	do {
		timer->id = ++c->last_timer;
	} while (!timer->id || g_hash_table_contains(c->timers,
					GUINT_TO_POINTER(timer->id)));
	timer->event.fn = client_on_timer;
	timer->client = c;
	timer->fn = fn;
	timer->data = data;
	g_hash_table_insert(c->timers, GUINT_TO_POINTER(timer->id), timer);
	sim_clock_start(c->sim, &timer->event,
			MIN(when, INT64_MAX / NS_PER_US) * NS_PER_US);
	return timer->id;
}

static void
client_timer_cancel(struct transport *t, unsigned id)
{
	struct sim_client *c = client_of(t);
	struct client_timer *timer = g_hash_table_lookup(c->timers,
							 GUINT_TO_POINTER(id));

	if (!timer)
		return;
	sim_clock_stop(c->sim, &timer->event);
	g_hash_table_remove(c->timers, GUINT_TO_POINTER(id));
}

/* IsSM is set while a manager is attached; a change raises trap 144 (IBA
 * 14.2.5.1). */
static void
declare(struct sim *sim, uint32_t port)
{
	struct sim_port *p = &sim->ports[port];
	uint32_t mask = p->info.cap_mask & ~PORT_CAP_IS_SM;

	if (p->is_sm || find_role(sim, port, SIM_ROLE_MANAGER))
		mask |= PORT_CAP_IS_SM;
	if (mask == p->info.cap_mask)
		return;
	p->info.cap_mask = mask;
	sim_trap_raise(sim, port, 144, NULL);
}

void
sim_port_set_is_sm(struct sim *sim, uint32_t port, bool is_sm)
{
	sim->ports[port].is_sm = is_sm;
	declare(sim, port);
}

static void
free_events(struct sim *sim, GHashTable *events)
{
	GHashTableIter iter;
	gpointer event;

	g_hash_table_iter_init(&iter, events);
	while (g_hash_table_iter_next(&iter, NULL, &event))
		sim_clock_stop(sim, event);
	g_hash_table_unref(events);
}

static void
client_free(struct transport *t)
{
	struct sim_client *c = client_of(t);
	struct sim *sim = c->sim;
	uint32_t port = c->port;

	free_events(sim, c->timers);
	free_events(sim, c->pendings);
	g_ptr_array_remove(sim->clients, c);
	g_free(c);
	declare(sim, port);
}

void
sim_client_free_all(struct sim *sim)
{
	while (sim->clients->len)
		transport_free(sim->clients->pdata[sim->clients->len - 1]);
}

struct transport *
sim_attach(struct sim *sim, uint32_t port, enum sim_role role)
{
	static const struct transport_ops ops = {
		.send = client_send,
		.now = client_now,
		.timer_start = client_timer_start,
		.timer_cancel = client_timer_cancel,
		.free = client_free,
	};
	struct sim_client *c = g_new0(struct sim_client, 1);

	g_assert(port < sim->n_ports && sim_end_port(sim, port) == port);
	c->base.ops = &ops;
	c->base.simulated = true;
	c->base.port_guid = sim->ports[port].guid;
	c->base.port_num = sim->ports[port].num;
	g_snprintf(c->base.name, sizeof(c->base.name),
		   "simulated port %u of %.40s", sim->ports[port].num,
		   sim_node_of(sim, port)->desc);
	c->sim = sim;
	c->id = ++sim->last_client;
	c->port = port;
	c->role = role;
	c->base.rmpp = role != SIM_ROLE_DRIVER;
	c->timers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	c->pendings = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_ptr_array_add(sim->clients, c);
	declare(sim, port);
	return &c->base;
}
