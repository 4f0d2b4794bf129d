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

#include "tests/lib/chaos.h"
#include "tests/lib/folder.h"
#include "tests/lib/seed.h"
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

struct storm {
	struct chaos c;
	uint16_t *lids;		/* by port, as last seen alive */
	struct partition_rules *rules;
	bool check_pkeys;	/* after this event */
	struct sm_instance_params params;
	bool moved;		/* this event moves cables of switches: a
				   repeated Set may reach another switch */
	unsigned fault;		/* the last rule; 0: there is none */
};

static void
event_flap(struct storm *st)
{
	uint32_t port = chaos_cabled_port(&st->c);

	if (st->c.cut[port])
		return;
	sim_link_flap(st->c.w.sim, port, 1 + prng_below(&st->c.rng, 4),
		      1000 + prng_below(&st->c.rng, 40000),
		      1000 + prng_below(&st->c.rng, 40000));
	chaos_say(&st->c, "flap", port);
}

static void
event_loss(struct storm *st)
{
	/* No duplicates: a repeated Set after the next one would undo it,
	 * and InfiniBand's links do not send a packet twice. */
	static const enum sim_fault_kind kinds[] = {
		SIM_FAULT_LOSS, SIM_FAULT_DELAY, SIM_FAULT_REORDER,
	};
	const struct sim_rule rule = {
		.match = { .node = SIM_ANY },
		.kind = kinds[prng_below(&st->c.rng, G_N_ELEMENTS(kinds))],
		.per_mille = 20 + prng_below(&st->c.rng, 100),
		.times = 1 + prng_below(&st->c.rng, 40),
		.us = 1 + prng_below(&st->c.rng, 5000),
	};

	st->fault = sim_rule_add(st->c.w.sim, &rule);
	chaos_cable(&st->c);
}

/* Devices that acknowledge Sets without executing them, while a cable
 * changes. */
static void
event_untaken(struct storm *st)
{
	char what[sizeof(st->c.what)];
	unsigned ms = 1 + prng_below(&st->c.rng, 400);

	sim_forget_sets(st->c.w.sim, ms * 1000);
	chaos_cable(&st->c);
	g_strlcpy(what, st->c.what, sizeof(what));
	snprintf(st->c.what, sizeof(st->c.what),
		 "no Set taken for %u ms, %.100s", ms, what);
}

static void
event_babble(struct storm *st)
{
	uint32_t port = chaos_cabled_port(&st->c);

	sim_babble(st->c.w.sim, port, 128, 50, 2000);
	chaos_say(&st->c, "babble", port);
}

static void
event_signal(struct storm *st)
{
	sweep_request(st->c.w.m.sweep, SWEEP_CAUSE_SIGNAL);
	snprintf(st->c.what, sizeof(st->c.what), "sweep by request");
}

/* A link is to be avoided, or used again. */
static void
event_avoid(struct storm *st)
{
	uint32_t port = chaos_cabled_port(&st->c);
	uint64_t guid = snapshot_node_of(st->c.w.s, port)->info.node_guid;
	uint8_t num = st->c.w.s->ports[port].num;
	bool avoid = sweep_avoid(st->c.w.m.sweep, guid, num, 0);

	if (!avoid)
		sweep_use(st->c.w.m.sweep, guid, num, false);
	chaos_say(&st->c, avoid ? "avoid" : "use", port);
}

static void
add_rule(struct storm *st, struct partition *p)
{
	static const enum partition_who whos[] = {
		PARTITION_GUID, PARTITION_GUID, PARTITION_GUID,
		PARTITION_GUID, PARTITION_GUID, PARTITION_GUID,
		PARTITION_ALL_CAS, PARTITION_ALL_SWITCHES,
	};
	uint32_t port = chaos_cabled_port(&st->c);
	const struct partition_rule rule = {
		.who = whos[prng_below(&st->c.rng, G_N_ELEMENTS(whos))],
		.membership = prng_below(&st->c.rng, PARTITION_BOTH + 1),
		.guid = st->c.w.s->ports[snapshot_is_switch(
			snapshot_node_of(st->c.w.s, port)) ?
			sim_peer(st->c.w.sim, port) : port].guid,
	};

	if (rule.who != PARTITION_GUID || rule.guid)
		g_array_append_val(p->rules, rule);
}

/* All ports are full members of the default partition, so all hosts reach
 * each other; the other partitions have random rules. */
static struct partition_rules *
random_rules(struct storm *st)
{
	struct partition_rules *rules = partition_rules_default();

	for (unsigned i = 1; i <= PARTITIONS; i++) {
		struct partition *p = partition_rules_get(rules, i);
		unsigned n = prng_below(&st->c.rng, 12);

		while (n--)
			add_rule(st, p);
	}
	return rules;
}

static void
event_rules(struct storm *st)
{
	partition_rules_unref(st->rules);
	st->rules = random_rules(st);
	sweep_set_partitions(st->c.w.m.sweep, st->rules);
	sweep_request(st->c.w.m.sweep, SWEEP_CAUSE_PARTITIONS);
	st->check_pkeys = true;
	snprintf(st->c.what, sizeof(st->c.what), "other partitions");
}

/* During the update for a cable. */
static void
event_rules_late(struct storm *st)
{
	chaos_cable(&st->c);
	sim_run(st->c.w.sim,
		sim_now(st->c.w.sim) + prng_below(&st->c.rng, 60000));
	event_rules(st);
}

/* May this end of a cable be moved? Not that of a cut one, nor the
 * manager's. */
static bool
may_move(struct storm *st, uint32_t port)
{
	return !st->c.cut[port] && port != st->c.w.s->local_port &&
		sim_peer(st->c.w.sim, port) != st->c.w.s->local_port;
}

/* Two hosts, or any two ports, change places. */
static void
event_swap(struct storm *st)
{
	uint32_t a = chaos_cabled_port(&st->c), b = chaos_cabled_port(&st->c);

	if (prng_below(&st->c.rng, 2)) {
		if (snapshot_is_switch(snapshot_node_of(st->c.w.s, a)))
			a = sim_peer(st->c.w.sim, a);
		if (snapshot_is_switch(snapshot_node_of(st->c.w.s, b)))
			b = sim_peer(st->c.w.sim, b);
	}
	if (!may_move(st, a) || !may_move(st, b))
		return;
	st->moved = snapshot_is_switch(snapshot_node_of(st->c.w.s, a)) ||
		snapshot_is_switch(snapshot_node_of(st->c.w.s, b));
	sim_cable_swap(st->c.w.sim, a, b);
	snprintf(st->c.what, sizeof(st->c.what),
		 "swap %.60s port %u, %.60s port %u",
		 snapshot_node_of(st->c.w.s, a)->desc, st->c.w.s->ports[a].num,
		 snapshot_node_of(st->c.w.s, b)->desc, st->c.w.s->ports[b].num);
}

/* An event while there is no manager. */
static void
event_restart(struct storm *st)
{
	g_autofree char *what = NULL;

	manager_close(&st->c.w.m);
	sim_run(st->c.w.sim,
		sim_now(st->c.w.sim) + prng_below(&st->c.rng, SECOND));
	if (prng_below(&st->c.rng, 6))
		chaos_happen(&st->c);
	else
		event_swap(st);
	sim_run(st->c.w.sim,
		sim_now(st->c.w.sim) + prng_below(&st->c.rng, SECOND));
	manager_open(&st->c.w.m, st->c.w.sim, st->c.w.s->local_port,
		     &st->params, NULL);
	sweep_set_partitions(st->c.w.m.sweep, st->rules);
	what = g_strdup(st->c.what);
	snprintf(st->c.what, sizeof(st->c.what), "restart, meanwhile %.120s",
		 what);
}

static void
happen(struct storm *st)
{
	static void (*const events[])(struct storm *) = {
		event_flap, event_loss, event_babble, event_signal,
		event_rules, event_rules_late, event_untaken, event_avoid,
		event_avoid, event_swap, event_swap, event_restart,
	};

	st->c.what[0] = '\0';
	st->moved = false;
	if (prng_below(&st->c.rng, 2))
		chaos_happen(&st->c);
	else
		events[prng_below(&st->c.rng, G_N_ELEMENTS(events))](st);
}

static void
check_loops(struct storm *st, unsigned event)
{
	g_autofree uint8_t *alive = world_alive(&st->c.w);

	if (world_has_loop(&st->c.w, alive))
		fail_msg("event %u (%s): a credit loop at %" G_GINT64_FORMAT
			 " us", event, st->c.what, sim_now(st->c.w.sim));
}

static void
check_lids(struct storm *st)
{
	g_autofree uint8_t *alive = world_alive(&st->c.w);
	g_autofree uint32_t *owner = g_new(uint32_t, 0x10000);

	memset(owner, 0xff, 0x10000 * sizeof(*owner));
	for (uint32_t port = 0; port < st->c.w.s->n_ports; port++) {
		const struct port_info *i = sim_port_info(st->c.w.sim, port);
		uint16_t lid = i->lid;

		if (!alive[port])
			continue;
		if (port == st->c.w.s->local_port && !lid)
			continue;	/* it has no link */
		assert_true(lid >= LID_UNICAST_MIN && lid <= LID_UNICAST_MAX);
		for (unsigned k = 0; k < 1u << i->lmc; k++) {
			if (owner[lid + k] != UINT32_MAX)
				fail_msg("LID %u twice after %s", lid + k,
					 st->c.what);
			owner[lid + k] = port;
		}
		if (st->lids[port] && st->lids[port] != lid)
			fail_msg("LID %u became %u after %s", st->lids[port],
				 lid, st->c.what);
		st->lids[port] = lid;
	}
}

static void
check_reach(struct storm *st, unsigned event)
{
	unsigned pairs, mixed;
	unsigned bad = world_unreached(&st->c.w, SNAPSHOT_NONE, &pairs, &mixed);

	if (bad)
		fail_msg("event %u (%s): %u of %u pairs are not reached",
			 event, st->c.what, bad, pairs);
	/* Omitted pairs must be few and reported. */
	if (mixed && (st->c.w.m.last == SWEEP_END_UP ||
		      mixed > MAX(pairs / 5, FEW)))
		fail_msg("event %u (%s): %u of %u pairs of a host and a "
			 "switch are left out", event, st->c.what, mixed,
			 pairs);
}

static void
check_pkeys(struct storm *st, unsigned event)
{
	unsigned asked, bad = world_misled(&st->c.w, st->rules, &asked);

	st->check_pkeys = false;
	if (bad)
		fail_msg("event %u (%s): %u of %u packets do not do what "
			 "the partitions say", event, st->c.what, bad, asked);
}

static void
check_plan_empty(struct storm *st, unsigned event)
{
	uint64_t sets = st->c.w.m.x->stats.sent_set;

	sweep_request(st->c.w.m.sweep, SWEEP_CAUSE_SIGNAL);
	assert_true(world_settle(&st->c.w, 60 * SECOND));
	/* A fault may still be active, and change the fabric. */
	if (st->c.w.m.last != SWEEP_END_UP)
		return;
	if (st->c.w.m.x->stats.sent_set != sets)
		fail_msg("event %u (%s): %u Sets in a fabric that is up", event,
			 st->c.what, (unsigned)(st->c.w.m.x->stats.sent_set -
						sets));
}

/* After two light sweeps, changes without a trap must be known. If a fault
 * has spoilt every sweep so far, it is ended. */
static void
come_to_rest(struct storm *st, unsigned event)
{
	sim_run(st->c.w.sim, sim_now(st->c.w.sim) + 5 * SECOND);
	if (!world_settle(&st->c.w, 120 * SECOND))
		fail_msg("event %u (%s): no rest", event, st->c.what);
	if (!st->fault || st->c.w.m.last == SWEEP_END_UP)
		return;
	sim_rule_remove(st->c.w.sim, st->fault);
	st->fault = 0;
	come_to_rest(st, event);
}

static void
chaos_run(const struct run *r)
{
	struct storm st = { .params = manager_defaults };
	AUTO_FOLDER(dir);

	st.params.wire.timeout_ms = 20;
	st.params.wire.retries = 2;
	st.params.sweep.sweep_s = 2;
	st.params.sweep.lmc = r->lmc;
	st.params.sweep.isolation.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT;
	st.params.sa = &manager_sa;
	st.params.cache_dir = dir;
	world_open(&st.c.w, r->spec, r->seed, &st.params);
	chaos_open(&st.c, prng_stream(r->seed, 77));
	st.lids = g_new0(uint16_t, st.c.w.s->n_ports);
	assert_true(world_settle(&st.c.w, 60 * SECOND));
	assert_int_equal(st.c.w.m.last, SWEEP_END_UP);
	st.rules = partition_rules_default();
	event_rules(&st);
	for (unsigned event = 0; event < r->events; event++) {
		happen(&st);
		/* At moments when an update is probably in progress. */
		for (unsigned i = 0; i < LOOKS; i++) {
			sim_run(st.c.w.sim, sim_now(st.c.w.sim) +
				prng_below(&st.c.rng, LOOK_US << i));
			if (!st.moved)
				check_loops(&st, event);
		}
		come_to_rest(&st, event);
		check_reach(&st, event);
		check_loops(&st, event);
		check_lids(&st);
		if (st.check_pkeys || event % CHECK_PKEYS_EACH == 0)
			check_pkeys(&st, event);
		if (event % CHECK_SETS_EACH == 0 &&
		    st.c.w.m.last == SWEEP_END_UP)
			check_plan_empty(&st, event);
	}
	chaos_close(&st.c);
	partition_rules_unref(st.rules);
	g_free(st.lids);
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
