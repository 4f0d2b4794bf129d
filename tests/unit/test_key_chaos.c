// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chaos with M_Keys: things happen to a simulated fabric whose ports are at
 * protection level 2, and to its manager, one after the other: hosts and
 * switches lose all they had, cables move while somebody looks or nobody does,
 * the manager is killed at any moment, is told other keys, loses SMPs. After
 * each of them every port must have its key and every host reach the others:
 * a port whose key is lost would stay dark for ever.
 *
 * MINISM_TEST_SEED sets the seed, MINISM_CHAOS_EVENTS the events a fabric.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/key_lab.h"
#include "tests/lib/seed.h"
#include "topology/prng.h"

#define EVENTS	150u
#define SEED	20261121u
#define PATIENCE	60u	/* times 5 s */

struct chaos {
	struct keylab l;
	uint64_t rng;
	struct keylab_keys keys;
	unsigned loss;		/* a rule; 0: none */
	const char *what;
};

static uint32_t
any_host(struct chaos *c)
{
	for (;;) {
		uint32_t port = prng_below(&c->rng, c->l.s->n_ports);

		if (snapshot_is_end_port(c->l.s, port) &&
		    port != c->l.s->local_port &&
		    !snapshot_is_switch(snapshot_node_of(c->l.s, port)))
			return port;
	}
}

static void
event_reset(struct chaos *c)
{
	uint32_t node;

	do
		node = prng_below(&c->rng, c->l.s->n_nodes);
	while (node == c->l.s->ports[c->l.s->local_port].node);
	c->what = "a node is reset";
	sim_node_reset(c->l.sim, node);
}

static void
event_swap(struct chaos *c)
{
	c->what = "two hosts change places";
	sim_cable_swap(c->l.sim, any_host(c), any_host(c));
}

static void
restart(struct chaos *c)
{
	keylab_stop(&c->l);
	keylab_start(&c->l, &c->keys, KEYLAB_REMEMBERS);
}

static void
event_swap_unseen(struct chaos *c)
{
	c->what = "two hosts change places while nobody looks";
	keylab_stop(&c->l);
	sim_cable_swap(c->l.sim, any_host(c), any_host(c));
	keylab_start(&c->l, &c->keys, KEYLAB_REMEMBERS);
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
	c->keys.m_key = prng_next(&c->rng) | 1;
	c->keys.mode = prng_below(&c->rng, 3) ? MKEY_DB_PER_PORT :
		MKEY_DB_ONE;
	restart(c);
}

/* In the middle of giving out other keys, or before that, or after. */
static void
event_crash(struct chaos *c)
{
	event_other_keys(c);
	c->what = "the manager is killed while it changes keys";
	sim_run(c->l.sim, sim_now(c->l.sim) + prng_below(&c->rng, 4000));
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
		sim_rule_remove(c->l.sim, c->loss);
	c->loss = c->loss ? 0 : sim_rule_add(c->l.sim, &loss);
	restart(c);
}

static void
check(struct chaos *c, unsigned event)
{
	for (unsigned i = 0; i < PATIENCE; i++) {
		sim_run(c->l.sim, sim_now(c->l.sim) + 5 * SECOND);
		if (c->l.last == SWEEP_END_UP && !keylab_wrong(&c->l) &&
		    !keylab_lost(&c->l, SNAPSHOT_NONE))
			return;
	}
	for (guint i = 0; i < c->l.lines->len; i++)
		printf("# %s\n", (char *)c->l.lines->pdata[i]);
	fail_msg("event %u (%s): %u ports have another key, %u pairs are "
		 "lost", event, c->what, keylab_wrong(&c->l),
		 keylab_lost(&c->l, SNAPSHOT_NONE));
}

static void
test_no_port_is_ever_locked_out(void **state)
{
	static const char *const specs[] = {
		"PGFT(4,4;1,2)", "ring(6;2)", "rails(4;4,2)",
	};
	static void (*const events[])(struct chaos *c) = {
		event_reset, event_swap, event_swap_unseen, event_restart,
		event_other_keys, event_crash, event_crash, event_loss,
	};

	for (size_t f = 0; f < G_N_ELEMENTS(specs); f++) {
		struct chaos c = {
			.rng = seed_get(SEED), .what = "start",
			.keys = { 1, MKEY_DB_PER_PORT, 2, 0 },
		};

		printf("# %s: MINISM_TEST_SEED=%" G_GUINT64_FORMAT "\n",
		       specs[f], seed_get(SEED));
		keylab_open(&c.l, specs[f]);
		keylab_start(&c.l, &c.keys, KEYLAB_REMEMBERS);
		for (unsigned i = 0; i < seed_events(EVENTS); i++) {
			check(&c, i);
			events[prng_below(&c.rng, G_N_ELEMENTS(events))](&c);
		}
		check(&c, seed_events(EVENTS));
		keylab_close(&c.l);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_port_is_ever_locked_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
