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
 * takes away. (A driver has no such help: it is the kernel.) An answer that comes
 * after the request was returned is dropped, as by the kernel.
 *
 * A callback may free its own client or any other, so the client is not used
 * after a callback.
 */
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#include "sm/mad/rmpp.h"
#include "sm/mad/sa_mad.h"
#include "topology/each.h"

#define NS_PER_MS	1000000
#define OFF_TID_HIGH	8

/* What a client waits for: the first member of its struct. */
struct waiting {
	struct sim_event event;
	struct sim_client *client;
};

struct pending {
	struct waiting base;	/* for its deadline */
	uint32_t tid;		/* lower half */
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];
};

struct client_timer {
	struct waiting base;
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
	bool hidden;		/* a manager that does not set IsSM */
	GHashTable *timers;	/* id -> struct client_timer */
	unsigned last_timer;
	GHashTable *pendings;	/* lower half of a TID -> struct pending; NULL
				   if it was returned */
};

static void
waiting_free(void *data)
{
	struct waiting *w = data;

	if (!w)
		return;
	sim_clock_stop(w->client->sim, &w->event);
	g_free(w);
}

/* The callback may send, or free the client. */
static void
on_expiry(struct sim *sim, struct sim_event *e)
{
	struct pending p = *(struct pending *)e;
	struct sim_client *c = p.base.client;
	const struct transport_mad m = {
		.event = TRANSPORT_RETURNED, .addr = p.to, .mad = p.mad,
		.len = MAD_SIZE,
	};

	g_hash_table_insert(c->pendings, GUINT_TO_POINTER(p.tid), NULL);
	sim->stats.returned++;
	transport_deliver(&c->base, &m);
}

/* ------------------------------------------------------------ delivering */

/* The first client of this role on the port, with an id above `after`. */
static struct sim_client *
find_role(struct sim *sim, uint32_t port, enum sim_role role, uint32_t after)
{
	EACH_PTR(struct sim_client, c, sim->clients)
		if (c->port == port && c->role == role && c->id > after)
			return c;
	return NULL;
}

void
sim_client_receive(struct sim *sim, struct sim_packet *p)
{
	struct sim_client *c = find_role(sim, p->to, SIM_ROLE_DRIVER, 0);
	bool is_report = !c && p->h.method == SA_METHOD_REPORT;
	const struct sim_port *from = &sim->ports[p->from];
	struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .addr = p->addr,
		.mad = p->message ? p->message : p->mad,
		.len = p->message ? p->len : MAD_SIZE,
	};
	uint32_t last = sim->last_client, id;
	gpointer tid = GUINT_TO_POINTER((uint32_t)p->h.tid), pending;

	if (is_report) {
		c = find_role(sim, p->to, SIM_ROLE_CLIENT, 0);
	} else if (!c && p->h.method & MAD_METHOD_RESPONSE) {
		for (guint i = 0; i < sim->clients->len && !c; i++) {
			c = sim->clients->pdata[i];
			if (c->id != p->h.tid >> 32 || c->port != p->to)
				c = NULL;
		}
		if (c && g_hash_table_lookup_extended(c->pendings, tid, NULL,
						      &pending)) {
			g_hash_table_remove(c->pendings, tid);
			c = pending ? c : NULL;
		}
	} else if (!c) {
		c = find_role(sim, p->to, SIM_ROLE_MANAGER, 0);
		if (!c && !sim_is_smp(&p->h))
			c = find_role(sim, p->to, SIM_ROLE_CLIENT, 0);
	}
	if (!c) {
		sim_packet_lose(sim, p, &sim->stats.lost_nobody);
		return;
	}
	/* The address is the one for the answer. */
	m.addr.lid = m.addr.path_bits = 0;
	if (p->h.mgmt_class == MAD_CLASS_SMP_DIRECT) {
		m.addr.lid = LID_PERMISSIVE;
	} else {
		m.addr.lid = sim_source_lid(sim, p);
		if (p->addr.lid != LID_PERMISSIVE)
			m.addr.path_bits = sim_path_bits(sim, p->to,
							 p->addr.lid);
	}
	m.addr.pkey_index = sim_port_pkey_index(sim, p->to,
			sim_port_pkey(sim, p->from, p->addr.pkey_index));
	if (m.addr.grh) {
		bytes_store64(m.addr.gid, from->info.gid_prefix);
		bytes_store64(m.addr.gid + 8, from->guid);
	}
	/* A Report to every client that is there now; a callback may attach and
	 * detach clients. */
	do {
		id = c->id;
		transport_deliver(&c->base, &m);
		c = is_report ? find_role(sim, p->to, SIM_ROLE_CLIENT, id) :
			NULL;
	} while (c && c->id <= last);
	sim_packet_drop(p);
}

/* -------------------------------------------------------- the transport */

static bool
client_send(struct transport *t, const struct mad_addr *to,
	    const uint8_t *mad, size_t len, unsigned timeout_ms, GError **error)
{
	struct sim_client *c = (struct sim_client *)t;
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
	p = g_new0(struct sim_packet, 1);
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
		c->sim->stats.by_lid += c->role == SIM_ROLE_MANAGER &&
			p->h.mgmt_class == MAD_CLASS_SMP_LID;
		bytes_store(p->mad + OFF_TID_HIGH, c->id, 4);
		if (p->message)
			bytes_store(p->message + OFF_TID_HIGH, c->id, 4);
		if (timeout_ms) {
			struct pending *pending = g_new0(struct pending, 1);

			pending->base.event.fn = on_expiry;
			pending->base.client = c;
			pending->tid = p->h.tid;
			pending->to = *to;
			memcpy(pending->mad, p->mad, MAD_SIZE);
			/* Of two requests with one TID the later one is
			 * pending. */
			g_hash_table_insert(c->pendings,
					    GUINT_TO_POINTER(pending->tid),
					    pending);
			sim_clock_start(c->sim, &pending->base.event,
					c->sim->now +
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
	return sim_now(((struct sim_client *)t)->sim);
}

static void
client_on_timer(struct sim *sim, struct sim_event *e)
{
	struct client_timer *timer = (struct client_timer *)e;
	transport_timer_fn fn = timer->fn;
	void *data = timer->data;

	g_hash_table_remove(timer->base.client->timers,
			    GUINT_TO_POINTER(timer->id));
	fn(data);
}

static unsigned
client_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		   void *data)
{
	struct sim_client *c = (struct sim_client *)t;
	struct client_timer *timer = g_new0(struct client_timer, 1);

	do {
		timer->id = ++c->last_timer;
	} while (!timer->id || g_hash_table_contains(c->timers,
					GUINT_TO_POINTER(timer->id)));
	timer->base.event.fn = client_on_timer;
	timer->base.client = c;
	timer->fn = fn;
	timer->data = data;
	g_hash_table_insert(c->timers, GUINT_TO_POINTER(timer->id), timer);
	sim_clock_start(c->sim, &timer->base.event,
			MIN(when, INT64_MAX / NS_PER_US) * NS_PER_US);
	return timer->id;
}

static void
client_timer_cancel(struct transport *t, unsigned id)
{
	g_hash_table_remove(((struct sim_client *)t)->timers,
			    GUINT_TO_POINTER(id));
}

/* IsSM is set while a manager is attached, too; a change raises trap 144 (IBA
 * 14.2.5.1). */
void
sim_port_set_is_sm(struct sim *sim, uint32_t port, bool is_sm)
{
	struct sim_port *p = &sim->ports[port];
	uint32_t mask = p->info.cap_mask & ~PORT_CAP_IS_SM;

	p->is_sm = is_sm;
	EACH_PTR(const struct sim_client, c, sim->clients)
		is_sm |= c->port == port && c->role == SIM_ROLE_MANAGER &&
			!c->hidden;
	if (is_sm)
		mask |= PORT_CAP_IS_SM;
	if (mask == p->info.cap_mask)
		return;
	p->info.cap_mask = mask;
	sim_trap_raise(sim, port, 144, NULL);
}

void
sim_client_show(struct transport *t, bool shown)
{
	struct sim_client *c = (struct sim_client *)t;

	c->hidden = !shown;
	sim_port_set_is_sm(c->sim, c->port, c->sim->ports[c->port].is_sm);
}

static void
client_free(struct transport *t)
{
	struct sim_client *c = (struct sim_client *)t;
	struct sim *sim = c->sim;
	uint32_t port = c->port;

	g_hash_table_unref(c->timers);
	g_hash_table_unref(c->pendings);
	g_ptr_array_remove(sim->clients, c);
	g_free(c);
	sim_port_set_is_sm(sim, port, sim->ports[port].is_sm);
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
		   "simulated port %u of %s", sim->ports[port].num,
		   sim_node_of(sim, port)->desc);
	c->sim = sim;
	c->id = ++sim->last_client;
	c->port = port;
	c->role = role;
	c->base.rmpp = role != SIM_ROLE_DRIVER;
	c->timers = g_hash_table_new_full(NULL, NULL, NULL, waiting_free);
	c->pendings = g_hash_table_new_full(NULL, NULL, NULL, waiting_free);
	g_ptr_array_add(sim->clients, c);
	sim_port_set_is_sm(sim, port, sim->ports[port].is_sm);
	return &c->base;
}
