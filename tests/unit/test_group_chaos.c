// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chaos with multicast groups: two subnet managers, and hosts that behave like
 * IPoIB: each joins the broadcast group and some others when its port becomes
 * Active, and again if the SM asks for it (ClientReregister), and repeats
 * requests until they are answered. Cables, hosts, switches and managers, with
 * or without a cache folder, come and go. Soon after each event
 *
 *	- one manager is the master of all ports
 *	- every two hosts in the master's part of the fabric reach each other,
 *	  and there is no credit loop
 *	- a packet from a member of a group reaches each other member once, and
 *	  no port that never was a member: a new master does not know that a
 *	  port left a group while another manager was its master
 *
 * MINISM_TEST_SEED sets the seed, MINISM_CHAOS_EVENTS the events for each
 * fabric, MINISM_TEST_LOG the log, an argument a pattern of the fabrics.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/io/mad_client.h"
#include "sm/mad/sa_record.h"
#include "tests/lib/chaos.h"
#include "tests/lib/folder.h"
#include "tests/lib/seed.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define EVENTS		150u
#define SEED		20261123u
#define SECOND		G_USEC_PER_SEC
#define N_GROUPS	4u	/* the first is IPoIB's broadcast group */
#define N_MANAGERS	2u
#define TURN_US		(SECOND / 10)	/* of the hosts */
#define PATIENCE	60u	/* s until all checks must pass */

static const char *const specs[] = {
	"PGFT(4,4;1,4)", "PGFT(2,2,4;1,2,2)", "ring(6;2)", "torus(3,3;1)",
	"random(10,3,2)", "rails(4;4,2)", "dragonfly(2,2,1)", "mesh(4,3;1)",
};

struct storm;

struct host {
	struct storm *st;
	uint32_t port;
	struct transport *t;
	struct mad_client *x;
	bool wants[N_GROUPS];
	bool is_in[N_GROUPS];	/* as the host believes */
	bool was_in[N_GROUPS];
	uint16_t mlid[N_GROUPS];
	bool asks;		/* one request at a time, for: */
	unsigned group;
	unsigned life;		/* counts losses of its link */
};

struct storm {
	struct chaos c;		/* w.m: the first manager */
	struct manager other;
	struct host *hosts;
	unsigned n_hosts;
	char *dirs[N_MANAGERS];	/* cache folders; NULL: none */
};

/* ------------------------------------------------------------------ hosts */

static void
on_answer(const struct mad_client_answer *a, void *data, uint64_t life)
{
	struct host *h = data;
	struct mcmember_record r;

	h->asks = false;
	if (a->outcome != MAD_CLIENT_ANSWERED || a->header.status ||
	    life != h->life)
		return;
	sa_record_decode(SA_ATTR_MC_MEMBER, a->mad + SA_DATA_OFFSET, &r);
	h->is_in[h->group] = a->header.method != (SA_METHOD_DELETE |
						  MAD_METHOD_RESPONSE);
	h->was_in[h->group] = true;
	h->mlid[h->group] = r.mlid;
}

static void
host_ask(struct host *h, unsigned group)
{
	const struct snapshot *s = h->st->c.w.s;
	const uint64_t gid[2] = {
		GUINT64_TO_BE(UINT64_C(0xfe80000000000000)),
		GUINT64_TO_BE(s->ports[h->port].guid),
	};
	const struct mad_addr to = {
		.qp = 1, .qkey = MAD_GSI_QKEY,
		.lid = sim_port_info(h->st->c.w.sim, h->port)->sm_lid,
	};
	struct mcmember_record r = {
		.mgid = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff,	/* IPoIB's */
			  [12] = 0xff, 0xff, 0xff, 0xff },
		.join_state = 1, .q_key = 0xb1b, .pkey = 0xffff,
	};
	uint64_t mask = SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID) |
		SA_BIT(MCM_JOIN_STATE);
	uint8_t mad[MAD_SIZE];

	if (group && h->wants[group])
		mask |= SA_BIT(MCM_Q_KEY) | SA_BIT(MCM_PKEY) |
			SA_BIT(MCM_TCLASS) | SA_BIT(MCM_SL) |
			SA_BIT(MCM_FLOW_LABEL);
	if (group) {
		memset(r.mgid + 12, 0, 4);
		r.mgid[15] = (uint8_t)group;
	}
	memcpy(r.port_gid, gid, 16);
	sa_build(mad, h->wants[group] ? MAD_METHOD_SET : SA_METHOD_DELETE,
		 SA_ATTR_MC_MEMBER);
	mask = GUINT64_TO_BE(mask);
	memcpy(mad + SA_DATA_OFFSET - 8, &mask, 8);
	sa_record_encode(SA_ATTR_MC_MEMBER, mad + SA_DATA_OFFSET, &r);
	h->asks = true;
	h->group = group;
	mad_client_start(h->x, &to, mad, on_answer, h, h->life);
}

static void
host_forget(struct host *h)
{
	memset(h->is_in, 0, sizeof(h->is_in));
	h->life++;
}

static void
on_reregister(struct sim *sim, uint32_t port, void *data)
{
	struct storm *st = data;

	for (unsigned i = 0; i < st->n_hosts; i++)
		if (st->hosts[i].port == port)
			host_forget(&st->hosts[i]);
}

static void
lose_link(struct chaos *c, uint32_t port)
{
	on_reregister(c->w.sim, port, c);
}

static void
run(struct storm *st, int64_t us)
{
	struct sim *sim = st->c.w.sim;

	for (int64_t end = sim_now(sim) + us; sim_now(sim) < end;) {
		sim_run(sim, MIN(end, sim_now(sim) + TURN_US));
		for (unsigned i = 0; i < st->n_hosts; i++) {
			struct host *h = &st->hosts[i];

			if (st->c.off[st->c.w.s->ports[h->port].node] ||
			    sim_port_info(st->c.w.sim, h->port)->state !=
			    PORT_STATE_ACTIVE) {
				host_forget(h);
				continue;
			}
			for (unsigned g = 0; g < N_GROUPS && !h->asks; g++)
				if (h->wants[g] != h->is_in[g])
					host_ask(h, g);
		}
	}
}

/* --------------------------------------------------------------- managers */

static struct manager *
manager_at(struct storm *st, unsigned i)
{
	return i ? &st->other : &st->c.w.m;
}

static void
manager_start(struct storm *st, unsigned i)
{
	struct sm_instance_params params = manager_defaults;

	params.wire.timeout_ms = 20;
	params.wire.retries = 2;
	params.sweep.sweep_s = 2;
	params.sweep.clients = REREGISTER_FORGOTTEN;
	params.sweep.priority = 3 + prng_below(&st->c.rng, 8);
	params.sa = &manager_sa;
	params.cache_dir = st->dirs[i];
	manager_open(manager_at(st, i), st->c.w.sim, st->c.seat[i], &params,
		     NULL);
}

/* ----------------------------------------------------------------- events */

static void
event_group(struct storm *st)
{
	struct host *h = &st->hosts[prng_below(&st->c.rng, st->n_hosts)];
	unsigned group = 1 + prng_below(&st->c.rng, N_GROUPS - 1);

	h->wants[group] = !h->wants[group];
	chaos_say(&st->c, h->wants[group] ? "join" : "leave", h->port);
}

static void
event_kill(struct storm *st)
{
	unsigned i = prng_below(&st->c.rng, N_MANAGERS);

	if (!manager_at(st, i)->t) {
		manager_start(st, i);
		chaos_say(&st->c, "start", st->c.seat[i]);
	} else if (manager_at(st, 1 - i)->t) {
		manager_close(manager_at(st, i));
		chaos_say(&st->c, "kill", st->c.seat[i]);
	}
}

static void
event_retire(struct storm *st)
{
	unsigned i = prng_below(&st->c.rng, N_MANAGERS);

	if (!manager_at(st, 0)->t || !manager_at(st, 1)->t)
		return;
	manager_retire(manager_at(st, i));
	manager_close(manager_at(st, i));
	chaos_say(&st->c, "retire", st->c.seat[i]);
}

static void
event_priority(struct storm *st)
{
	unsigned i = prng_below(&st->c.rng, N_MANAGERS);

	if (manager_at(st, i)->t)
		sweep_set_priority(manager_at(st, i)->sweep,
				   prng_below(&st->c.rng, 15));
	chaos_say(&st->c, "priority", st->c.seat[i]);
}

/* ----------------------------------------------------------------- checks */

static const char *
other_master(struct storm *st, const uint8_t *alive)
{
	uint16_t lid = sim_port_info(st->c.w.sim, st->c.seat[0])->sm_lid;
	bool is_one = false;

	for (unsigned i = 0; i < N_MANAGERS; i++)
		is_one |= alive[st->c.seat[i]] && manager_at(st, i)->t &&
			sim_port_info(st->c.w.sim, st->c.seat[i])->lid == lid;
	if (!is_one)
		return "the master is not there";
	for (uint32_t p = 0; p < st->c.w.s->n_ports; p++)
		if (alive[p] && snapshot_is_end_port(st->c.w.s, p) &&
		    (sim_port_info(st->c.w.sim, p)->sm_lid != lid ||
		     (p != st->c.seat[0] && p != st->c.seat[1] &&
		      !sim_port_info(st->c.w.sim, p)->lid)))
			return "a port has another master";
	return NULL;
}

static const char *
wrong_copies(struct storm *st, const struct host *from, unsigned group,
	     const uint8_t *alive)
{
	g_autofree uint8_t *count = g_new0(uint8_t, st->c.w.s->n_ports);
	const char *why = NULL;
	struct sim_mcast out;

	if (sim_probe_mcast(st->c.w.sim, from->port, from->mlid[group], 0xffff,
			    0, &out) != SIM_DELIVERED)
		why = "a packet to a group does not go out, or goes round";
	for (guint i = 0; !why && i < out.reached->len; i++)
		count[g_array_index(out.reached, uint32_t, i)]++;
	for (unsigned i = 0; !why && i < st->n_hosts; i++) {
		const struct host *h = &st->hosts[i];

		if (h == from)
			why = count[h->port] ? "it comes back" : NULL;
		else if (alive[h->port] && count[h->port] > 1)
			why = "somebody has it twice";
		else if (alive[h->port] && h->is_in[group] && !count[h->port])
			why = "a member does not have it";
		else if (count[h->port] && !h->was_in[group])
			why = "one who never was a member has it";
		if (why)
			printf("# group %u, MLID 0x%x, from %s to %s\n", group,
			       from->mlid[group],
			       snapshot_node_of(st->c.w.s, from->port)->desc,
			       snapshot_node_of(st->c.w.s, h->port)->desc);
	}
	sim_mcast_clear(&out);
	return why;
}

static const char *
wrong_groups(struct storm *st, const uint8_t *alive)
{
	for (unsigned i = 0; i < st->n_hosts; i++) {
		const struct host *h = &st->hosts[i];

		for (unsigned g = 0; alive[h->port] && g < N_GROUPS; g++) {
			const char *why = h->wants[g] == h->is_in[g] ? NULL :
				"a host is not in its group, or still is";

			if (!why && h->is_in[g])
				why = wrong_copies(st, h, g, alive);
			if (!why)
				continue;
			return why;
		}
	}
	return NULL;
}

/* The first failed check; NULL: none. */
static const char *
look(struct storm *st)
{
	g_autofree uint8_t *alive = world_alive(&st->c.w);
	unsigned n = 0, n_managers = 0, pairs, mixed;
	const char *why;

	/* The part that is checked may have a single port, or no manager. */
	for (uint32_t p = 0; p < st->c.w.s->n_ports; p++)
		n += alive[p];
	for (unsigned i = 0; i < N_MANAGERS; i++)
		n_managers += alive[st->c.seat[i]] && manager_at(st, i)->t;
	if (n < 2 || !n_managers)
		return NULL;
	why = other_master(st, alive);
	if (!why && world_unreached(&st->c.w, SNAPSHOT_NONE, &pairs, &mixed))
		why = "pairs are not reached";
	return why ?: wrong_groups(st, alive);
}

static void
check(struct storm *st, unsigned event)
{
	g_autofree uint8_t *alive = NULL;
	const char *why = "";

	for (unsigned s = 0; why && s < PATIENCE; s++) {
		run(st, SECOND);
		why = look(st);
	}
	if (why)
		fail_msg("event %u (%s): %s", event, st->c.what, why);
	alive = world_alive(&st->c.w);
	if (world_has_loop(&st->c.w, alive))
		fail_msg("event %u (%s): a credit loop", event, st->c.what);
}

static void
open_hosts(struct storm *st)
{
	static const struct mad_client_params wire = {
		.timeout_ms = 200, .retries = 2, .max_wire = 16,
	};

	st->hosts = g_new0(struct host, st->c.w.s->n_ports);
	for (uint32_t p = 0; p < st->c.w.s->n_ports; p++) {
		struct host *h = &st->hosts[st->n_hosts];

		if (st->c.w.s->ports[p].peer == SNAPSHOT_NONE ||
		    snapshot_is_switch(snapshot_node_of(st->c.w.s, p)))
			continue;
		*h = (struct host){ .st = st, .port = p, .wants = { true } };
		h->t = sim_attach(st->c.w.sim, p, SIM_ROLE_CLIENT);
		h->x = mad_client_new(h->t, &wire);
		st->n_hosts++;
		if (p != st->c.seat[0])
			st->c.seat[1] = p;
	}
	sim_set_reregister(st->c.w.sim, on_reregister, st);
}

static void
chaos_run(const char *spec, uint64_t seed, unsigned events, bool keep)
{
	static void (*const own[])(struct storm *) = {
		event_group, event_group, event_kill, event_kill,
		event_retire, event_priority,
	};
	struct storm st = { 0 };

	for (unsigned i = 0; keep && i < N_MANAGERS; i++)
		st.dirs[i] = folder_new();

	world_open(&st.c.w, spec, seed, NULL);
	manager_close(&st.c.w.m);
	chaos_open(&st.c, prng_stream(seed, 78));
	st.c.lost = lose_link;
	open_hosts(&st);
	manager_start(&st, 0);
	manager_start(&st, 1);
	snprintf(st.c.what, sizeof(st.c.what), "start");
	for (unsigned event = 0; event < events; event++) {
		check(&st, event);
		if (event % 2)
			chaos_happen(&st.c);
		else
			own[prng_below(&st.c.rng, G_N_ELEMENTS(own))](&st);
		run(&st, prng_below(&st.c.rng, 3 * SECOND));
	}
	for (unsigned i = 0; i < st.n_hosts; i++) {
		mad_client_free(st.hosts[i].x);
		transport_free(st.hosts[i].t);
	}
	if (st.other.t)
		manager_close(&st.other);
	chaos_close(&st.c);
	for (unsigned i = 0; keep && i < N_MANAGERS; i++)
		folder_clear(&st.dirs[i]);
	g_free(st.hosts);
}

static void
test_groups_recover(void **state)
{
	const char *spec = *state;
	uint64_t seed = seed_get(SEED);

	printf("# %s: MINISM_TEST_SEED=%" G_GUINT64_FORMAT "\n", spec, seed);
	chaos_run(spec, seed, seed_events(EVENTS), false);
	chaos_run(spec, seed, seed_events(EVENTS), true);
}

__attribute__((constructor)) static void
add_specs(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++)
		unit_add_state(specs[i], test_groups_recover, specs[i]);
}
