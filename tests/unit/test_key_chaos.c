// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chaos with M_Keys: random events on a simulated fabric whose ports are at
 * protection level 2, and on its manager: hosts and switches are reset, cables
 * are moved with or without a manager, the manager is killed at any moment,
 * gets other keys, loses SMPs. After each event every port must have its key
 * and every host must reach the others: a port whose key is lost would stay
 * unmanaged for ever.
 *
 * MINISM_TEST_SEED sets the seed, MINISM_CHAOS_EVENTS the events for each
 * fabric.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/folder.h"
#include "tests/lib/seed.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"
#include "tests/lib/world.h"
#include "topology/prng.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)
#define EVENTS	150u
#define SEED	20261121u
#define PATIENCE	60u	/* times 5 s */

struct chaos {
	struct world w;
	char *dir;		/* of M_Keys */
	struct policy policy;
	struct sm_instance_params sm;
	uint64_t rng;
	unsigned loss;		/* a rule; 0: none */
	const char *what;
};

static uint32_t
any_host(struct chaos *c)
{
	for (;;) {
		uint32_t port = prng_below(&c->rng, c->w.s->n_ports);

		if (snapshot_is_end_port(c->w.s, port) &&
		    port != c->w.s->local_port &&
		    !snapshot_is_switch(snapshot_node_of(c->w.s, port)))
			return port;
	}
}

static void
event_reset(struct chaos *c)
{
	uint32_t node;

	do
		node = prng_below(&c->rng, c->w.s->n_nodes);
	while (node == c->w.s->ports[c->w.s->local_port].node);
	c->what = "a node is reset";
	sim_node_reset(c->w.sim, node);
}

static void
event_swap(struct chaos *c)
{
	c->what = "two hosts change places";
	sim_cable_swap(c->w.sim, any_host(c), any_host(c));
}

static void
start(struct chaos *c)
{
	manager_open(&c->w.m, c->w.sim, c->w.s->local_port, &c->sm, NULL);
}

static void
restart(struct chaos *c)
{
	manager_close(&c->w.m);
	start(c);
}

static void
event_swap_unseen(struct chaos *c)
{
	c->what = "two hosts change places between two sweeps";
	manager_close(&c->w.m);
	sim_cable_swap(c->w.sim, any_host(c), any_host(c));
	start(c);
}

static void
event_restart(struct chaos *c)
{
	c->what = "the manager starts again";
	restart(c);
}

static void
event_other_keys(struct chaos *c)
{
	c->what = "other keys";
	c->sm.m_key = c->policy.m_key = prng_next(&c->rng) | 1;
	c->sm.key_mode = prng_below(&c->rng, 3) ? MKEY_DB_PER_PORT :
		MKEY_DB_ONE;
	restart(c);
}

/* In the middle of giving out other keys, or before that, or after. */
static void
event_crash(struct chaos *c)
{
	event_other_keys(c);
	c->what = "the manager is killed while it changes keys";
	sim_run(c->w.sim, sim_now(c->w.sim) + prng_below(&c->rng, 4000));
	if (prng_below(&c->rng, 2))
		event_other_keys(c);
	c->what = "the manager is killed while it changes keys";
	restart(c);
}

static void
event_loss(struct chaos *c)
{
	struct sim_rule loss = {
		.match = { .node = SIM_ANY }, .kind = SIM_FAULT_LOSS,
		.per_mille = 10 + prng_below(&c->rng, 60),
	};

	c->what = "SMPs are lost, or no longer";
	if (c->loss)
		sim_rule_remove(c->w.sim, c->loss);
	c->loss = c->loss ? 0 : sim_rule_add(c->w.sim, &loss);
	restart(c);
}

static void
check(struct chaos *c, unsigned event)
{
	unsigned pairs, mixed, wrong = 0, lost = 0;

	for (unsigned i = 0; i < PATIENCE; i++) {
		sim_run(c->w.sim, sim_now(c->w.sim) + 5 * SECOND);
		wrong = world_wrong_keys(&c->w, &c->sm, SNAPSHOT_NONE);
		lost = wrong ? 0 : world_unreached(&c->w, SNAPSHOT_NONE,
						   &pairs, &mixed);
		if (c->w.m.last == SWEEP_END_UP && !wrong && !lost)
			return;
	}
	fail_msg("event %u (%s): %u ports have another key, %u pairs are "
		 "lost: %s", event, c->what, wrong, lost,
		 c->w.m.problems->str);
}

static void
key_run(const char *spec, uint64_t seed, unsigned n_events)
{
	static void (*const events[])(struct chaos *c) = {
		event_reset, event_swap, event_swap_unseen, event_restart,
		event_other_keys, event_crash, event_crash, event_loss,
	};
	struct chaos c = {
		.rng = seed, .what = "start",
		.policy = policy_default, .sm = manager_defaults,
		.dir = g_dir_make_tmp("minism-keys-XXXXXX", NULL),
	};

	printf("# %s: MINISM_TEST_SEED=%" G_GUINT64_FORMAT "\n", spec, seed);
	c.policy.m_key_protect = 2;
	c.policy.m_key_lease = 15;	/* a host that is moved */
	c.policy.m_key = c.sm.m_key = 1;
	c.sm.key_mode = MKEY_DB_PER_PORT;
	c.sm.key_dir = c.dir;
	c.sm.sweep.policy = &c.policy;
	c.sm.sweep.route.engine = &engine_minhop;
	world_open(&c.w, spec, seed, &c.sm);
	for (unsigned i = 0; i < n_events; i++) {
		check(&c, i);
		events[prng_below(&c.rng, G_N_ELEMENTS(events))](&c);
	}
	check(&c, n_events);
	world_close(&c.w);
	/* what the managers have written: keys and neighbours */
	assert_int_equal(folder_remove(c.dir), 2);
	g_free(c.dir);
}

TEST(test_no_port_is_ever_locked_out)
{
	static const char *const specs[] = {
		"PGFT(4,4;1,2)", "ring(6;2)", "rails(4;4,2)",
	};

	for (size_t f = 0; f < G_N_ELEMENTS(specs); f++)
		key_run(specs[f], seed_get(SEED), seed_events(EVENTS));
}

/* Its first NodeInfo was lost; then it was asked with one key only. */
TEST(test_silent_host_is_asked_with_all_keys)
{
	key_run("ring(6;2)", 8, 60);
}

/* A cable end that is found twice is read again. */
TEST(test_host_that_moves_while_its_old_place_is_read)
{
	key_run("PGFT(4,4;1,2)", 4, 510);
}
