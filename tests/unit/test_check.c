// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables that are right, and tables that are broken in one known place.
 *
 * The fabric is a ring of four switches 0 - 1 - 2 - 3 - 0 in cable order,
 * one host each; routes go clockwise, so each count is known by hand.
 */
#include <string.h>

#include "routing/verify.h"
#include "routing/engine.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

#define N	4u

struct ring {
	struct snapshot *s;
	struct lid_map *lids;
	struct graph *g;
	struct lft *lft;
	uint32_t sw[N];		/* clockwise */
	uint8_t port[N];	/* of sw[i] to sw[i + 1] */
	uint8_t host_port[N];
	uint16_t lid[N];	/* of the host on sw[i] */
	uint64_t n_pairs;
};

static void
route_clockwise(struct ring *r)
{
	const struct graph_target *t;
	uint32_t i;

	for (t = r->g->targets; t < r->g->targets + r->g->n_targets; t++) {
		for (i = 0; i < N; i++)
			lft_row(r->lft, r->sw[i])[t->lid] =
				r->sw[i] == t->sw ? t->port : r->port[i];
		if (t->port == 0)
			continue;
		for (i = 0; r->sw[i] != t->sw; i++)
			;
		r->lid[i] = t->lid;
		r->host_port[i] = t->port;
	}
}

static int
set_up(void **state)
{
	struct ring *r = g_new0(struct ring, 1);
	const struct graph_edge *edge;
	uint32_t i;

	r->s = generate_fabric("ring(4;1)", NULL, NULL);
	assert_non_null(r->s);
	r->lids = lid_assign(r->s, 0, NULL, 0, NULL, NULL);
	assert_non_null(r->lids);
	r->g = graph_new(r->s, r->lids);
	r->lft = lft_new(r->g->n_switches, r->g->top);
	assert_int_equal(r->g->n_switches, N);

	for (i = 0; i < N; i++) {
		edge = &r->g->edges[r->g->first_edge[r->sw[i]]];
		if (i > 0 && edge->peer == r->sw[i - 1])
			edge++;
		r->port[i] = edge->port;
		if (i + 1 < N)
			r->sw[i + 1] = edge->peer;
		else
			assert_int_equal(edge->peer, r->sw[0]);
	}
	route_clockwise(r);
	r->n_pairs = (uint64_t)N * r->g->n_targets;
	*state = r;
	return 0;
}

static int
tear_down(void **state)
{
	struct ring *r = *state;

	lft_free(r->lft);
	graph_free(r->g);
	lid_map_free(r->lids);
	snapshot_unref(r->s);
	g_free(r);
	return 0;
}

static void
check(const struct ring *r, struct verify_reach *result)
{
	verify_reachability(r->g, r->lft, NULL, result);
	assert_int_equal(result->arrived + result->unrouted +
			 result->looping + result->astray, r->n_pairs);
}

static void
assert_first_bad(const struct verify_reach *result, uint32_t sw, uint16_t lid)
{
	assert_int_equal(result->lid, lid);
	assert_int_equal(result->sw, sw);
}

/* The lowest switch index among the first n clockwise from `from`. */
static uint32_t
lowest(const struct ring *r, unsigned from, unsigned n)
{
	uint32_t low = UINT32_MAX;

	for (unsigned i = 0; i < n; i++)
		low = MIN(low, r->sw[(from + i) % N]);
	return low;
}

TEST(test_good_tables_arrive, set_up, tear_down)
{
	const struct ring *r = *state;
	struct verify_reach result;

	check(r, &result);
	assert_int_equal(result.arrived, r->n_pairs);
	assert_int_equal(result.lid, LID_NONE);
}

/* 1 has no entry for the host on 3: lost from 0 (over 1) and 1. */
TEST(test_hole_is_unrouted_from_behind_it, set_up, tear_down)
{
	const struct ring *r = *state;
	struct verify_reach result;

	lft_row(r->lft, r->sw[1])[r->lid[3]] = LFT_NO_PATH;
	check(r, &result);
	assert_int_equal(result.unrouted, 2);
	assert_int_equal(result.arrived, r->n_pairs - 2);
	assert_first_bad(&result, lowest(r, 0, 2), r->lid[3]);
}

/* 2 sends what is for 3 back to 1, which sends it to 2; 0 joins them. */
TEST(test_loop_is_found_with_all_who_enter_it, set_up, tear_down)
{
	const struct ring *r = *state;
	const struct graph_edge *edge;
	struct verify_reach result;

	edge = &r->g->edges[r->g->first_edge[r->sw[2]]];
	if (edge->peer != r->sw[1])
		edge++;
	lft_row(r->lft, r->sw[2])[r->lid[3]] = edge->port;
	check(r, &result);
	assert_int_equal(result.looping, 3);
	assert_int_equal(result.arrived, r->n_pairs - 3);
	assert_first_bad(&result, lowest(r, 0, 3), r->lid[3]);
}

/* The owner's switch passes it on: round and round, from everywhere. */
TEST(test_owner_that_passes_on_is_a_loop, set_up, tear_down)
{
	const struct ring *r = *state;
	struct verify_reach result;

	lft_row(r->lft, r->sw[3])[r->lid[3]] = r->port[3];
	check(r, &result);
	assert_int_equal(result.looping, N);
	assert_first_bad(&result, 0, r->lid[3]);
}

TEST(test_wrong_exits_are_astray, set_up, tear_down)
{
	const struct ring *r = *state;
	struct verify_reach result;

	/* To the host of 2 what is for the host of 3: from 0, 1, 2. */
	lft_row(r->lft, r->sw[2])[r->lid[3]] = r->host_port[2];
	check(r, &result);
	assert_int_equal(result.astray, 3);
	assert_first_bad(&result, lowest(r, 0, 3), r->lid[3]);

	/* To port 0 of a switch that does not own it. */
	lft_row(r->lft, r->sw[2])[r->lid[3]] = 0;
	check(r, &result);
	assert_int_equal(result.astray, 3);

	/* To a port that the switch does not have. */
	lft_row(r->lft, r->sw[2])[r->lid[3]] = 200;
	check(r, &result);
	assert_int_equal(result.astray, 3);

	/* The owner's switch hands it to itself: lost from everywhere. */
	lft_row(r->lft, r->sw[2])[r->lid[3]] = r->port[2];
	lft_row(r->lft, r->sw[3])[r->lid[3]] = 0;
	check(r, &result);
	assert_int_equal(result.astray, N);
	assert_int_equal(result.arrived, r->n_pairs - N);
}

TEST(test_first_bad_pair_is_the_lowest_lid, set_up, tear_down)
{
	const struct ring *r = *state;
	struct verify_reach result;
	uint16_t low = MIN(r->lid[1], r->lid[2]);

	lft_row(r->lft, r->sw[1])[r->lid[1]] = LFT_NO_PATH;
	lft_row(r->lft, r->sw[2])[r->lid[2]] = 200;
	check(r, &result);
	assert_int_equal(result.unrouted, N);
	assert_int_equal(result.astray, N);
	assert_first_bad(&result, 0, low);
}

TEST(test_lids_past_the_tables_are_unrouted, set_up, tear_down)
{
	struct ring *r = *state;
	struct verify_reach result;
	struct lft *whole = r->lft;
	uint16_t top = whole->top;

	r->lft = lft_new(N, (uint16_t)(top - 1));
	for (uint32_t sw = 0; sw < N; sw++)
		memcpy(lft_row(r->lft, sw), lft_row(whole, sw), top);
	check(r, &result);
	assert_int_equal(result.unrouted, N);
	assert_first_bad(&result, 0, top);
	lft_free(whole);
}

/* Long chains of switches, all of which end in one loop. */
TEST(test_large_loop_needs_no_stack)
{
	struct snapshot *s = generate_fabric("ring(2000;1)", NULL, NULL);
	struct lid_map *lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	struct graph *g = graph_new(s, lids);
	struct lft *lft = lft_new(g->n_switches, g->top);
	struct verify_reach result;
	uint32_t sw = 0, last = SNAPSHOT_NONE, i;
	uint16_t lid = g->targets[0].lid;

	for (i = 0; i < g->n_switches; i++) {
		const struct graph_edge *edge = &g->edges[g->first_edge[sw]];

		if (edge->peer == last)
			edge++;
		lft_row(lft, sw)[lid] = edge->port;
		last = sw;
		sw = edge->peer;
	}
	verify_reachability(g, lft, NULL, &result);
	assert_int_equal(result.looping, 2000);
	assert_int_equal(result.arrived, 0);
	lft_free(lft);
	graph_free(g);
	lid_map_free(lids);
	snapshot_unref(s);
}
