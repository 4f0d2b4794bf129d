// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chaos: random events on simulated fabrics with a subnet manager. After each
 * event the data plane and the devices are checked:
 *
 *	- every two hosts that are alive and cabled together reach each other
 *	- a packet passes if and only if the partitions permit it; these are
 *	  random, enforced by the switches, and change at any time
 *	- there is no credit loop: at rest, and at moments when tables are partly
 *	  written (except for cables that move between switches)
 *	- no two end ports have the same LID; ports that stayed keep theirs
 *	- a heavy sweep of a fabric that is up sends no Set
 *
 * MINISM_TEST_SEED sets the seed, MINISM_CHAOS_EVENTS the number of events for
 * each fabric (`make soak`), and MINISM_TEST_LOG the file of the subnet
 * manager's log; an argument is a pattern of the fabrics to run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/folder.h"
#include "tests/lib/seed.h"
#include "tests/lib/world.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define EVENTS		150u
#define SEED	20261121u
#define SECOND		G_USEC_PER_SEC
#define CHECK_SETS_EACH	16u
#define CHECK_PKEYS_EACH	8u
#define PARTITIONS	2u	/* besides the default partition */
#define FEW		5u	/* pairs, in a damaged fabric */
#define LOOKS		3u	/* checks while an event is handled */
#define LOOK_US		5000u	/* maximum time to the first one; then double */

static const char *const specs[] = {
	"PGFT(4,4;1,4)", "PGFT(2,2,4;1,2,2)", "PGFT(3,6;1,3)",
	"PGFT(4,6;1,2;1,2)", "PGFT(2,3,3;1,2,2)", "ring(6;2)", "ring(9;1)",
	"torus(3,3;1)", "torus(4,4;1)", "torus(3,3,3;1)", "mesh(4,3;1)",
	"random(10,3,2)", "random(16,4,1)", "random(8,5,2)",
	"dragonfly(3,1,1)", "dragonfly(2,2,1)", "hyperx(3,3;1)",
	"hyperx(4,2;2)", "rails(6;6,2)", "single(8)",
};

struct run {
	const char *spec;
	uint64_t seed;
	unsigned events, lmc;
};

struct chaos {
	struct world w;
	uint64_t rng;
	uint8_t *cut;		/* by port: its cable is cut */
	uint8_t *off;		/* by node */
	uint16_t *lids;		/* by port, as last seen alive */
	struct partition_rules *rules;
	bool check_pkeys;	/* after this event */
	struct sm_instance_params params;
	bool moved;		/* this event moves cables of switches: a
				   repeated Set may reach another switch */
	unsigned fault;		/* the last rule; 0: there is none */
	char what[160];		/* the last event, for messages */
};

static uint32_t
any_cabled_port(struct chaos *c)
{
	for (;;) {
		uint32_t port = prng_below(&c->rng, c->w.s->n_ports);

		if (sim_peer(c->w.sim, port) != SNAPSHOT_NONE)
			return port;
	}
}

static void
event_cable(struct chaos *c)
{
	uint32_t port = any_cabled_port(c), peer = sim_peer(c->w.sim, port);
	bool cut = !c->cut[port];

	c->cut[port] = c->cut[peer] = cut;
	if (cut)
		sim_link_cut(c->w.sim, port);
	else
		sim_link_mend(c->w.sim, port);
	snprintf(c->what, sizeof(c->what), "%s %s port %u",
		 cut ? "cut" : "mend", snapshot_node_of(c->w.s, port)->desc,
		 c->w.s->ports[port].num);
}

/* Repairs are more frequent than cuts would be by chance; else the fabric
 * would fall apart, and further events had no effect. */
static void
event_mend(struct chaos *c)
{
	for (uint32_t port = 0; port < c->w.s->n_ports; port++) {
		if (!c->cut[port] || prng_below(&c->rng, 3) == 0)
			continue;
		c->cut[port] = c->cut[sim_peer(c->w.sim, port)] = false;
		sim_link_mend(c->w.sim, port);
		snprintf(c->what, sizeof(c->what), "mend %s port %u",
			 snapshot_node_of(c->w.s, port)->desc,
			 c->w.s->ports[port].num);
		return;
	}
	event_cable(c);
}

static void
event_node(struct chaos *c)
{
	uint32_t node = prng_below(&c->rng, c->w.s->n_nodes);

	if (node == c->w.s->ports[c->w.s->local_port].node)
		return;
	c->off[node] = !c->off[node];
	if (c->off[node])
		sim_node_off(c->w.sim, node);
	else
		sim_node_on(c->w.sim, node);
	snprintf(c->what, sizeof(c->what), "%s %s", c->off[node] ? "off" :
		 "on", c->w.s->nodes[node].desc);
}

static void
event_node_on(struct chaos *c)
{
	for (uint32_t node = 0; node < c->w.s->n_nodes; node++) {
		if (!c->off[node] || prng_below(&c->rng, 3) == 0)
			continue;
		c->off[node] = false;
		sim_node_on(c->w.sim, node);
		snprintf(c->what, sizeof(c->what), "on %s",
			 c->w.s->nodes[node].desc);
		return;
	}
	event_cable(c);
}

static void
event_reset(struct chaos *c)
{
	uint32_t node = prng_below(&c->rng, c->w.s->n_nodes);

	if (c->off[node] || node == c->w.s->ports[c->w.s->local_port].node)
		return;
	sim_node_reset(c->w.sim, node);
	/* After a reset the host's LID is known to the manager only. */
	snprintf(c->what, sizeof(c->what), "reset %s",
		 c->w.s->nodes[node].desc);
}

static void
event_flap(struct chaos *c)
{
	uint32_t port = any_cabled_port(c);

	if (c->cut[port])
		return;
	sim_link_flap(c->w.sim, port, 1 + prng_below(&c->rng, 4),
		      1000 + prng_below(&c->rng, 40000),
		      1000 + prng_below(&c->rng, 40000));
	snprintf(c->what, sizeof(c->what), "flap %s port %u",
		 snapshot_node_of(c->w.s, port)->desc,
		 c->w.s->ports[port].num);
}

static void
event_loss(struct chaos *c)
{
	/* No duplicates: a repeated Set after the next one would undo it,
	 * and InfiniBand's links do not send a packet twice. */
	static const enum sim_fault_kind kinds[] = {
		SIM_FAULT_LOSS, SIM_FAULT_DELAY, SIM_FAULT_REORDER,
	};
	const struct sim_rule rule = {
		.match = { .node = SIM_ANY },
		.kind = kinds[prng_below(&c->rng, G_N_ELEMENTS(kinds))],
		.per_mille = 20 + prng_below(&c->rng, 100),
		.times = 1 + prng_below(&c->rng, 40),
		.us = 1 + prng_below(&c->rng, 5000),
	};

	c->fault = sim_rule_add(c->w.sim, &rule);
	event_cable(c);
}

/* Devices that acknowledge Sets without executing them, while a cable
 * changes. */
static void
event_untaken(struct chaos *c)
{
	char what[sizeof(c->what)];
	unsigned ms = 1 + prng_below(&c->rng, 400);

	sim_forget_sets(c->w.sim, ms * 1000);
	event_cable(c);
	g_strlcpy(what, c->what, sizeof(what));
	snprintf(c->what, sizeof(c->what), "no Set taken for %u ms, %.100s",
		 ms, what);
}

static void
event_babble(struct chaos *c)
{
	uint32_t port = any_cabled_port(c);

	sim_babble(c->w.sim, port, 128, 50, 2000);
	snprintf(c->what, sizeof(c->what), "babble %s",
		 snapshot_node_of(c->w.s, port)->desc);
}

static void
event_signal(struct chaos *c)
{
	sweep_request(c->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	snprintf(c->what, sizeof(c->what), "sweep by request");
}

/* A link is to be avoided, or used again. */
static void
event_avoid(struct chaos *c)
{
	uint32_t port = any_cabled_port(c);
	uint64_t guid = snapshot_node_of(c->w.s, port)->info.node_guid;
	uint8_t num = c->w.s->ports[port].num;
	bool avoid = sweep_avoid(c->w.m.sweep, guid, num, 0);

	if (!avoid)
		sweep_use(c->w.m.sweep, guid, num, false);
	snprintf(c->what, sizeof(c->what), "%s %s port %u", avoid ? "avoid" :
		 "use", snapshot_node_of(c->w.s, port)->desc, num);
}

static void
add_rule(struct chaos *c, struct partition *p)
{
	static const enum partition_who whos[] = {
		PARTITION_GUID, PARTITION_GUID, PARTITION_GUID,
		PARTITION_GUID, PARTITION_GUID, PARTITION_GUID,
		PARTITION_ALL_CAS, PARTITION_ALL_SWITCHES,
	};
	uint32_t port = any_cabled_port(c);
	const struct partition_rule rule = {
		.who = whos[prng_below(&c->rng, G_N_ELEMENTS(whos))],
		.membership = prng_below(&c->rng, PARTITION_BOTH + 1),
		.guid = c->w.s->ports[snapshot_is_switch(
			snapshot_node_of(c->w.s, port)) ?
			sim_peer(c->w.sim, port) : port].guid,
	};

	if (rule.who != PARTITION_GUID || rule.guid)
		g_array_append_val(p->rules, rule);
}

/* All ports are full members of the default partition, so all hosts reach
 * each other; the other partitions have random rules. */
static struct partition_rules *
random_rules(struct chaos *c)
{
	struct partition_rules *rules = partition_rules_default();

	for (unsigned i = 1; i <= PARTITIONS; i++) {
		struct partition *p = partition_rules_get(rules, i);
		unsigned n = prng_below(&c->rng, 12);

		while (n--)
			add_rule(c, p);
	}
	return rules;
}

static void
event_rules(struct chaos *c)
{
	partition_rules_unref(c->rules);
	c->rules = random_rules(c);
	sweep_set_partitions(c->w.m.sweep, c->rules);
	sweep_request(c->w.m.sweep, SWEEP_CAUSE_PARTITIONS);
	c->check_pkeys = true;
	snprintf(c->what, sizeof(c->what), "other partitions");
}

/* During the update for a cable. */
static void
event_rules_late(struct chaos *c)
{
	event_cable(c);
	sim_run(c->w.sim, sim_now(c->w.sim) + prng_below(&c->rng, 60000));
	event_rules(c);
}

/* May this end of a cable be moved? Not that of a cut one, nor the
 * manager's. */
static bool
may_move(struct chaos *c, uint32_t port)
{
	return !c->cut[port] && port != c->w.s->local_port &&
		sim_peer(c->w.sim, port) != c->w.s->local_port;
}

/* Two hosts, or any two ports, change places. */
static void
event_swap(struct chaos *c)
{
	uint32_t a = any_cabled_port(c), b = any_cabled_port(c);

	if (prng_below(&c->rng, 2)) {
		if (snapshot_is_switch(snapshot_node_of(c->w.s, a)))
			a = sim_peer(c->w.sim, a);
		if (snapshot_is_switch(snapshot_node_of(c->w.s, b)))
			b = sim_peer(c->w.sim, b);
	}
	if (!may_move(c, a) || !may_move(c, b))
		return;
	c->moved = snapshot_is_switch(snapshot_node_of(c->w.s, a)) ||
		snapshot_is_switch(snapshot_node_of(c->w.s, b));
	sim_cable_swap(c->w.sim, a, b);
	snprintf(c->what, sizeof(c->what), "swap %.60s port %u, %.60s port %u",
		 snapshot_node_of(c->w.s, a)->desc, c->w.s->ports[a].num,
		 snapshot_node_of(c->w.s, b)->desc, c->w.s->ports[b].num);
}

/* An event while there is no manager. */
static void
event_restart(struct chaos *c)
{
	static void (*const others[])(struct chaos *) = {
		event_cable, event_mend, event_node, event_node_on,
		event_reset, event_swap,
	};
	g_autofree char *what = NULL;

	manager_close(&c->w.m);
	sim_run(c->w.sim, sim_now(c->w.sim) + prng_below(&c->rng, SECOND));
	others[prng_below(&c->rng, G_N_ELEMENTS(others))](c);
	sim_run(c->w.sim, sim_now(c->w.sim) + prng_below(&c->rng, SECOND));
	manager_open(&c->w.m, c->w.sim, c->w.s->local_port, &c->params, NULL);
	sweep_set_partitions(c->w.m.sweep, c->rules);
	what = g_strdup(c->what);
	snprintf(c->what, sizeof(c->what), "restart, meanwhile %.120s", what);
}

static void
happen(struct chaos *c)
{
	static void (*const events[])(struct chaos *) = {
		event_cable, event_mend, event_mend, event_node,
		event_node_on, event_node_on, event_reset, event_flap,
		event_loss, event_babble, event_signal, event_cable,
		event_mend, event_rules, event_rules_late, event_untaken,
		event_avoid, event_avoid, event_swap, event_swap,
		event_restart,
	};

	c->what[0] = '\0';
	c->moved = false;
	events[prng_below(&c->rng, G_N_ELEMENTS(events))](c);
}

static void
check_loops(struct chaos *c, unsigned event)
{
	g_autofree uint8_t *alive = world_alive(&c->w);

	if (world_has_loop(&c->w, alive))
		fail_msg("event %u (%s): a credit loop at %" G_GINT64_FORMAT
			 " us", event, c->what, sim_now(c->w.sim));
}

static void
check_lids(struct chaos *c)
{
	g_autofree uint8_t *alive = world_alive(&c->w);
	g_autofree uint32_t *owner = g_new(uint32_t, 0x10000);

	memset(owner, 0xff, 0x10000 * sizeof(*owner));
	for (uint32_t port = 0; port < c->w.s->n_ports; port++) {
		const struct port_info *i = sim_port_info(c->w.sim, port);
		uint16_t lid = i->lid;

		if (!alive[port])
			continue;
		if (port == c->w.s->local_port && !lid)
			continue;	/* it has no link */
		assert_true(lid >= LID_UNICAST_MIN && lid <= LID_UNICAST_MAX);
		for (unsigned k = 0; k < 1u << i->lmc; k++) {
			if (owner[lid + k] != UINT32_MAX)
				fail_msg("LID %u twice after %s", lid + k,
					 c->what);
			owner[lid + k] = port;
		}
		if (c->lids[port] && c->lids[port] != lid)
			fail_msg("LID %u became %u after %s", c->lids[port],
				 lid, c->what);
		c->lids[port] = lid;
	}
}

static void
check_reach(struct chaos *c, unsigned event)
{
	unsigned pairs, mixed;
	unsigned bad = world_unreached(&c->w, SNAPSHOT_NONE, &pairs, &mixed);

	if (bad)
		fail_msg("event %u (%s): %u of %u pairs are not reached",
			 event, c->what, bad, pairs);
	/* Omitted pairs must be few and reported. */
	if (mixed && (c->w.m.last == SWEEP_END_UP ||
		      mixed > MAX(pairs / 5, FEW)))
		fail_msg("event %u (%s): %u of %u pairs of a host and a "
			 "switch are left out", event, c->what, mixed, pairs);
}

static void
check_pkeys(struct chaos *c, unsigned event)
{
	unsigned asked, bad = world_misled(&c->w, c->rules, &asked);

	c->check_pkeys = false;
	if (bad)
		fail_msg("event %u (%s): %u of %u packets do not do what "
			 "the partitions say", event, c->what, bad, asked);
}

static void
check_plan_empty(struct chaos *c, unsigned event)
{
	uint64_t sets = c->w.m.x->stats.sent_set;

	sweep_request(c->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	assert_true(world_settle(&c->w, 60 * SECOND));
	/* A fault may still be active, and change the fabric. */
	if (c->w.m.last != SWEEP_END_UP)
		return;
	if (c->w.m.x->stats.sent_set != sets)
		fail_msg("event %u (%s): %u Sets in a fabric that is up", event,
			 c->what,
			 (unsigned)(c->w.m.x->stats.sent_set -
				    sets));
}

/* After two light sweeps, changes without a trap must be known. If a fault
 * has spoilt every sweep so far, it is ended. */
static void
come_to_rest(struct chaos *c, unsigned event)
{
	sim_run(c->w.sim, sim_now(c->w.sim) + 5 * SECOND);
	if (!world_settle(&c->w, 120 * SECOND))
		fail_msg("event %u (%s): no rest", event, c->what);
	if (!c->fault || c->w.m.last == SWEEP_END_UP)
		return;
	sim_rule_remove(c->w.sim, c->fault);
	c->fault = 0;
	come_to_rest(c, event);
}

static void
chaos_run(const struct run *r)
{
	struct chaos c = {
		.rng = prng_stream(r->seed, 77), .params = manager_defaults,
	};
	AUTO_FOLDER(dir);

	c.params.wire.timeout_ms = 20;
	c.params.wire.retries = 2;
	c.params.sweep.sweep_s = 2;
	c.params.sweep.lmc = r->lmc;
	c.params.sweep.isolation.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT;
	c.params.sa = &manager_sa;
	c.params.cache_dir = dir;
	world_open(&c.w, r->spec, r->seed, &c.params);
	c.cut = g_new0(uint8_t, c.w.s->n_ports);
	c.off = g_new0(uint8_t, c.w.s->n_nodes);
	c.lids = g_new0(uint16_t, c.w.s->n_ports);
	assert_true(world_settle(&c.w, 60 * SECOND));
	assert_int_equal(c.w.m.last, SWEEP_END_UP);
	c.rules = partition_rules_default();
	event_rules(&c);
	for (unsigned event = 0; event < r->events; event++) {
		happen(&c);
		/* At moments when an update is probably in progress. */
		for (unsigned i = 0; i < LOOKS; i++) {
			sim_run(c.w.sim, sim_now(c.w.sim) +
				prng_below(&c.rng, LOOK_US << i));
			if (!c.moved)
				check_loops(&c, event);
		}
		come_to_rest(&c, event);
		check_reach(&c, event);
		check_loops(&c, event);
		check_lids(&c);
		if (c.check_pkeys || event % CHECK_PKEYS_EACH == 0)
			check_pkeys(&c, event);
		if (event % CHECK_SETS_EACH == 0 && c.w.m.last == SWEEP_END_UP)
			check_plan_empty(&c, event);
	}
	world_close(&c.w);
	partition_rules_unref(c.rules);
	g_free(c.cut);
	g_free(c.off);
	g_free(c.lids);
}

static void
test_fabric_recovers(void **state)
{
	const struct run r = {
		.spec = *state, .seed = seed_get(SEED),
		.events = seed_events(EVENTS),
	};

	printf("# %s: MINISM_TEST_SEED=%" G_GUINT64_FORMAT "\n", r.spec,
	       r.seed);
	chaos_run(&r);
}

TEST(test_fabric_of_many_lids_recovers)
{
	static const char *const specs_lmc[] = {
		"PGFT(3,6;1,3)", "torus(3,3;1)", "random(10,3,2)",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs_lmc); i++) {
		const struct run r = {
			.spec = specs_lmc[i], .seed = seed_get(SEED),
			.events = seed_events(EVENTS / 2), .lmc = i + 1,
		};

		printf("# %s, LMC %u: MINISM_TEST_SEED=%" G_GUINT64_FORMAT
		       "\n", r.spec, r.lmc, r.seed);
		chaos_run(&r);
	}
}

__attribute__((constructor)) static void
add_specs(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++)
		unit_add_state(specs[i], test_fabric_recovers, specs[i]);
}
