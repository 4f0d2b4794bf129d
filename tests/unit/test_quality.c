/*
 * Loads that were counted by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "routing/quality.h"
#include "topology/generate.h"

/* A ring whose routes all go round in one sense, so that half of the channels
 * carry everything. */
struct ring {
	struct subnet *s;
	struct lid_map *lids;
	struct graph *g;
	struct lft *lft;
	uint32_t *sw;		/* in that sense */
	uint8_t *port;		/* of sw[i] to sw[i + 1] */
};

static void
ring_init(struct ring *r, const char *spec, unsigned lmc)
{
	const struct graph_target *t;
	const struct graph_edge *edge;
	uint32_t i, n, l;

	r->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(r->s);
	r->lids = lids_assign(r->s, lmc, NULL, 0, NULL, NULL);
	assert_non_null(r->lids);
	r->g = graph_new(r->s, r->lids);
	r->lft = lft_new(r->g->n_switches, r->g->top);
	n = r->g->n_switches;
	r->sw = g_new0(uint32_t, n + 1);
	r->port = g_new0(uint8_t, n);
	for (i = 0; i < n; i++) {
		edge = &r->g->edges[r->g->first_edge[r->sw[i]]];
		if (i > 0 && edge->peer == r->sw[i - 1])
			edge++;
		r->port[i] = edge->port;
		r->sw[i + 1] = edge->peer;
	}
	for (t = r->g->targets; t < r->g->targets + r->g->n_targets; t++)
		for (i = 0; i < n; i++)
			for (l = 0; l < t->n_lids; l++)
				lft_row(r->lft, r->sw[i])[t->lid + l] =
					r->sw[i] == t->sw ? t->port :
					r->port[i];
}

static void
ring_clear(struct ring *r)
{
	lft_free(r->lft);
	graph_free(r->g);
	lid_map_free(r->lids);
	subnet_unref(r->s);
	g_free(r->sw);
	g_free(r->port);
}

static const struct graph_target *
host_of(const struct ring *r, uint32_t i)
{
	const struct graph_target *t;

	t = &r->g->targets[r->g->first_target[r->sw[i]]];
	while (t->port == 0)
		t++;
	return t;
}

/* To each of 4 hosts come flows over 1, 2 and 3 channels of the ring: 24
 * channel uses, spread over 4 channels of one sense; the other 4 idle. */
static void
test_ring_of_four_has_six_on_each(void **state)
{
	struct quality_load load;
	struct ring r;

	ring_init(&r, "ring(4;1)", 0);
	quality_all_to_all(r.g, r.lft, &load);
	assert_int_equal(load.channels, 8);
	assert_int_equal(load.max, 6);
	assert_true(load.mean == 3.0);
	assert_int_equal(load.lost, 0);
	ring_clear(&r);
}

/* Three hosts on each: 9 flows for each pair of switches. Flows within a
 * switch use no channel. */
static void
test_hosts_of_a_switch_multiply(void **state)
{
	struct quality_load load;
	struct ring r;

	ring_init(&r, "ring(4;3)", 0);
	quality_all_to_all(r.g, r.lft, &load);
	assert_int_equal(load.max, 6 * 9);
	assert_true(load.mean == 27.0);
	assert_int_equal(load.lost, 0);
	ring_clear(&r);
}

/* Only base LIDs are asked for. */
static void
test_lmc_does_not_multiply(void **state)
{
	struct quality_load load;
	struct ring r;

	ring_init(&r, "ring(4;1)", 2);
	quality_all_to_all(r.g, r.lft, &load);
	assert_int_equal(load.max, 6);
	assert_true(load.mean == 3.0);
	assert_int_equal(load.lost, 0);
	ring_clear(&r);
}

/* 1 drops what is for the host of 3. That of 0 still loads channel 0-1, that
 * of 2 arrives: 2 lost, and channels 1-2 and 2-3 have 2 less each. */
static void
test_hole_loses_what_comes_through(void **state)
{
	struct quality_load load;
	struct ring r;

	ring_init(&r, "ring(4;1)", 0);
	lft_row(r.lft, r.sw[1])[host_of(&r, 3)->lid] = LFT_NO_PATH;
	quality_all_to_all(r.g, r.lft, &load);
	assert_int_equal(load.lost, 2);
	assert_int_equal(load.max, 6);
	assert_true(load.mean == 20.0 / 8);
	ring_clear(&r);
}

/* What ends in a loop is lost; a loop has no load that one could name. The 6
 * are on the channel from 3 to 0, which nothing for 3 uses. */
static void
test_loop_loses_all_who_enter(void **state)
{
	struct quality_load load;
	struct ring r;

	ring_init(&r, "ring(4;1)", 0);
	lft_row(r.lft, r.sw[3])[host_of(&r, 3)->lid] = r.port[3];
	quality_all_to_all(r.g, r.lft, &load);
	assert_int_equal(load.lost, 3);
	assert_int_equal(load.max, 6);
	assert_true(load.mean == 18.0 / 8);
	ring_clear(&r);
}

/* The owner's switch hands it to another port. */
static void
test_wrong_exit_loses_all(void **state)
{
	struct quality_load load;
	struct ring r;

	ring_init(&r, "ring(4;2)", 0);
	lft_row(r.lft, r.sw[2])[host_of(&r, 2)->lid] = 0;
	quality_all_to_all(r.g, r.lft, &load);
	assert_int_equal(load.lost, 7);
	ring_clear(&r);
}

static void
test_single_switch_has_no_channels(void **state)
{
	struct quality_load load;
	struct subnet *s = generate_fabric("single(5)", NULL, NULL);
	struct lid_map *lids = lids_assign(s, 0, NULL, 0, NULL, NULL);
	struct graph *g = graph_new(s, lids);
	struct lft *lft = lft_new(1, g->top);
	const struct graph_target *t;

	quality_all_to_all(g, lft, &load);
	assert_int_equal(load.channels, 0);
	assert_true(load.mean == 0.0);
	assert_int_equal(load.lost, 20);

	for (t = g->targets; t < g->targets + g->n_targets; t++)
		lft_row(lft, 0)[t->lid] = t->port;
	quality_all_to_all(g, lft, &load);
	assert_int_equal(load.lost, 0);
	assert_int_equal(load.max, 0);
	lft_free(lft);
	graph_free(g);
	lid_map_free(lids);
	subnet_unref(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_of_four_has_six_on_each),
		cmocka_unit_test(test_hosts_of_a_switch_multiply),
		cmocka_unit_test(test_lmc_does_not_multiply),
		cmocka_unit_test(test_hole_loses_what_comes_through),
		cmocka_unit_test(test_loop_loses_all_who_enter),
		cmocka_unit_test(test_wrong_exit_loses_all),
		cmocka_unit_test(test_single_switch_has_no_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
