// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which entries hosts use among themselves: counted again by walking from
 * every host to every other.
 */
#include <string.h>

#include "routing/engine.h"
#include "tests/lib/engine_route.h"
#include "routing/metrics.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"
#include "topology/prng.h"

struct lab {
	struct snapshot *s;
	struct lid_map *lids;
	struct graph *g;
	struct lft *lft;
};

static void
lab_init(struct lab *lab, const char *spec, unsigned lmc)
{
	lab->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(lab->s);
	lab->lids = lid_assign(lab->s, lmc, NULL, 0, NULL, NULL);
	lab->g = graph_new(lab->s, lab->lids);
	lab->lft = lft_new(lab->g->n_switches, lab->g->top);
	assert_true(engine_route(&engine_minhop, lab->g, lab->lft, NULL));
}

static void
lab_clear(struct lab *lab)
{
	lft_free(lab->lft);
	graph_free(lab->g);
	lid_map_free(lab->lids);
	snapshot_unref(lab->s);
}

/* Follows one way, entry by entry, until it ends or is as long as can be. */
static void
copy_way(const struct lab *lab, struct lft *plain, uint32_t sw, uint32_t lid)
{
	const struct graph *g = lab->g;
	uint32_t hops, e;
	uint8_t port;

	for (hops = 0; hops <= g->n_switches; hops++) {
		port = lft_row(lab->lft, sw)[lid];
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
recount(const struct lab *lab)
{
	const struct graph *g = lab->g;
	struct lft *plain = lft_new(lab->lft->n_switches, lab->lft->top);
	struct lft *found = metrics_host_entries(g, lab->lft);
	uint32_t i, j, k;

	for (i = 0; i < g->n_targets; i++)
		for (j = 0; j < g->n_targets; j++)
			for (k = 0; k < g->targets[j].n_lids; k++)
				if (g->targets[i].port && g->targets[j].port)
					copy_way(lab, plain,
						 g->targets[i].sw,
						 g->targets[j].lid + k);
	assert_int_equal(found->top, plain->top);
	assert_memory_equal(found->ports, plain->ports,
			    (size_t)plain->n_switches * plain->stride);
	lft_free(plain);
	lft_free(found);
}

TEST(test_random_tables_are_cut_right)
{
	uint64_t rng = prng_stream(seed_take(1), 1);
	static const char *const specs[] = {
		"PGFT(2,3,2;1,2,2)", "torus(3,3;1)", "mesh(2,2;2)",
		"single(3)", "PGFT(2,4;1,3)",
	};
	struct lab lab;
	uint32_t i;

	for (unsigned round = 0; round < 40; round++) {
		lab_init(&lab, specs[round % G_N_ELEMENTS(specs)],
			 prng_below(&rng, 3));
		for (i = prng_below(&rng, 30); i > 0; i--)
			lft_row(lab.lft, prng_below(&rng, lab.g->n_switches))
				[1 + prng_below(&rng, lab.g->top)] =
				prng_below(&rng, 3) ?
				(uint8_t)prng_below(&rng, 6) : LFT_NO_PATH;
		recount(&lab);
		lab_clear(&lab);
	}
}
