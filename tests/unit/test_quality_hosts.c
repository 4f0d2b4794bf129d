// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which entries hosts use among themselves: counted again by walking from
 * every host to every other.
 */
#include <string.h>

#include "routing/metrics.h"
#include "tests/lib/auto.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

/* Follows one way, entry by entry, until it ends or is as long as can be. */
static void
copy_way(const struct fabric *f, struct lft *plain, uint32_t sw, uint32_t lid)
{
	const struct graph *g = f->g;
	uint32_t hops, e;
	uint8_t port;

	for (hops = 0; hops <= g->n_switches; hops++) {
		port = lft_row(f->out.lft, sw)[lid];
		lft_row(plain, sw)[lid] = port;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			if (g->edges[e].port == port)
				break;
		if (e == g->first_edge[sw + 1])
			return;
		sw = g->edges[e].peer;
	}
}

static void
recount(const struct fabric *f)
{
	const struct graph *g = f->g;
	AUTO(lft) *plain = lft_new(f->out.lft->n_switches, f->out.lft->top);
	AUTO(lft) *found = metrics_host_entries(g, f->out.lft);
	uint32_t i, j, k;

	for (i = 0; i < g->n_targets; i++)
		for (j = 0; j < g->n_targets; j++)
			for (k = 0; k < g->targets[j].n_lids; k++)
				if (g->targets[i].port && g->targets[j].port)
					copy_way(f, plain,
						 g->targets[i].sw,
						 g->targets[j].lid + k);
	assert_int_equal(found->top, plain->top);
	assert_memory_equal(found->ports, plain->ports,
			    (size_t)plain->n_switches * plain->stride);
}

TEST(test_random_tables_are_cut_right)
{
	uint64_t rng = prng_stream(seed_take(1), 1);
	static const char *const specs[] = {
		"PGFT(2,3,2;1,2,2)", "torus(3,3;1)", "mesh(2,2;2)",
		"single(3)", "PGFT(2,4;1,3)",
	};
	struct fabric f;
	uint32_t i;

	for (unsigned round = 0; round < 40; round++) {
		const char *spec = specs[round % G_N_ELEMENTS(specs)];

		fabric_open(&f, &engine_minhop, lab_generate(spec, 0, 0),
			    prng_below(&rng, 3));
		fabric_route(&f);
		for (i = prng_below(&rng, 30); i > 0; i--)
			lft_row(f.out.lft, prng_below(&rng, f.g->n_switches))
				[1 + prng_below(&rng, f.g->top)] =
				prng_below(&rng, 3) ?
				(uint8_t)prng_below(&rng, 6) : LFT_NO_PATH;
		recount(&f);
		fabric_clear(&f);
	}
}
