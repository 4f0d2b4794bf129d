// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fabric that was damaged and is whole again gets the engine that it had
 * before: what is remembered of the damaged one must not decide.
 *
 * MINISM_TEST_SEED sets the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/seed.h"
#include "tests/lib/world.h"
#include "topology/prng.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)
#define SEED	3u
#define ROUNDS	12u

static void
settle(struct world *w)
{
	assert_true(world_settle(w, 60 * SECOND));
	assert_int_equal(w->m.last, SWEEP_END_UP);
}

/* Some cables of hosts, and now and then one between switches. */
static void
damage(struct world *w, uint64_t *rng, uint8_t *cut)
{
	unsigned per_cent = 10 + prng_below(rng, 80);

	for (uint32_t port = 0; port < w->s->n_ports; port++) {
		uint32_t peer = w->s->ports[port].peer;
		bool is_host =
			!snapshot_is_switch(snapshot_node_of(w->s, port));

		if (peer == SNAPSHOT_NONE || port == w->m.port ||
		    peer == w->m.port || peer < port)
			continue;
		is_host |= !snapshot_is_switch(snapshot_node_of(w->s, peer));
		if (prng_below(rng, 100) >= (is_host ? per_cent : 8))
			continue;
		cut[port] = true;
		sim_link_cut(w->sim, port);
	}
}

static void
heal(struct world *w, uint8_t *cut)
{
	for (uint32_t port = 0; port < w->s->n_ports; port++) {
		if (cut[port])
			sim_link_mend(w->sim, port);
		cut[port] = false;
	}
}

static void
test_healed_fabric_has_the_engine_of_a_fresh_start(void **state)
{
	static const char *const specs[] = {
		"ring(6;2)", "ring(8;2)", "torus(4,4;1)", "mesh(2,3,2;1)",
		"PGFT(4,4;1,4)", "PGFT(3,3,3;1,3,3)",
	};
	uint64_t seed = seed_get(SEED);
	uint64_t rng = prng_stream(seed, 5);

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		const struct world_params params = {
			.spec = specs[i], .seed = seed, .engine = "auto",
			.sweep_s = 1,
		};
		g_autofree uint8_t *cut = NULL;
		const struct engine *fresh;
		struct world w;

		world_open(&w, &params);
		settle(&w);
		fresh = w.m.engine;
		cut = g_new0(uint8_t, w.s->n_ports);
		for (unsigned round = 0; round < ROUNDS; round++) {
			damage(&w, &rng, cut);
			assert_true(world_settle(&w, 60 * SECOND));
			heal(&w, cut);
			settle(&w);
			if (w.m.engine != fresh)
				fail_msg("%s, seed %" G_GUINT64_FORMAT
					 ", round %u: %s, not %s", specs[i],
					 seed, round, w.m.engine->name,
					 fresh->name);
		}
		world_close(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_healed_fabric_has_the_engine_of_a_fresh_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
