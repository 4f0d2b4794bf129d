// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fat trees: shifts without congestion, ways for everybody, no deadlock,
 * whatever is missing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routing/quality.h"
#include "tests/lib/ftree_fabric.h"
#include "topology/prng.h"

static void
test_whole_trees_are_routed_by_shortest_ways(void **state)
{
	const char *specs[] = {
		"PGFT(6,12;1,6)", "PGFT(4,4,8;1,4,4)", "PGFT(4,4,8;1,2,2)",
		"PGFT(6,8;1,3;1,2)", "PGFT(4,4,6;1,4,2;1,1,2)",
		"PGFT(3,3,3,4;1,3,3,3)", "PGFT(4,4;2,2)", "PGFT(5,3;1,1)",
		"single(7)", "PGFT(2,2,2,2,4;1,2,2,2,2)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		struct fabric f;

		fabric_make(&f, specs[i], i + 1, 0);
		assert_int_equal(check_ways(&f), 0);
		assert_true(is_deadlock_free(&f));
		assert_int_equal(f.report->n_detours, 0);
		assert_int_equal(f.report->n_lost, 0);
		assert_int_equal(f.out.notes->len, 0);
		fabric_clear(&f);
	}
}

/* What the hosts of a leaf send to all others, over its cables up. */
static uint64_t
least_load(const struct fabric *f)
{
	uint32_t leaf = find_switch(f->s, true, 0), n = 0, i;
	uint32_t n_hosts = f->g->n_hosts[leaf];

	for (i = 0; i < f->g->n_switches; i++)
		n += f->g->n_hosts[i];
	return (uint64_t)n_hosts * (n - n_hosts) /
		(f->g->first_edge[leaf + 1] - f->g->first_edge[leaf]);
}

static void
test_full_bisection_shifts_without_congestion(void **state)
{
	const char *specs[] = {
		"PGFT(18,36;1,18)", "PGFT(12,24;1,6;1,2)",
		"PGFT(6,6,12;1,6,6)", "PGFT(4,4,8;1,4,2;1,1,2)",
		"PGFT(3,3,3,6;1,3,3,3)", "PGFT(12,12,24;1,12,12)",
	};

	for (uint64_t seed = 1; seed <= 2; seed++)
		for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
			struct quality_load load;
			struct fabric f;

			fabric_make(&f, specs[i], seed, 0);
			assert_int_equal(measure_shifts(&f, NULL,
				f.g->n_targets > 2000 ? 7 : 1), 1);
			quality_all_to_all(f.g, f.out.lft, &load);
			assert_int_equal(load.lost, 0);
			assert_int_equal(load.max, least_load(&f));
			fabric_clear(&f);
		}
}

/* Half the spines: each cable up carries two of a leaf's hosts, no more. */
static void
test_slim_trees_shift_at_their_ratio(void **state)
{
	struct fabric f;

	fabric_make(&f, "PGFT(4,4,8;1,2,2)", 3, 0);
	assert_true(measure_shifts(&f, NULL, 1) <= 4);
	fabric_clear(&f);
	fabric_make(&f, "PGFT(12,24;1,6)", 3, 0);
	assert_int_equal(measure_shifts(&f, NULL, 1), 2);
	fabric_clear(&f);
}

/* Everybody reaches everybody, by detours where the tree has no way, and no
 * channel waits for itself. */
static void
test_links_lost_leave_ways_for_all_data(void **state)
{
	const char *specs[] = {
		"PGFT(18,36;1,18)", "PGFT(6,6,12;1,6,6)", "PGFT(4,4,8;1,2,2)",
		"PGFT(12,24;1,6;1,2)", "PGFT(3,3,3,6;1,3,3,3)",
		"PGFT(8,8;1,4)",
	};
	const unsigned damage[] = { 1, 10, 50, 100 };

	for (uint64_t seed = 11; seed <= 14; seed++)
		for (size_t i = 0; i < N_ELEMENTS(specs); i++)
			for (size_t j = 0; j < N_ELEMENTS(damage); j++) {
				struct fabric f;

				fabric_make(&f, specs[i], seed, damage[j]);
				assert_sound(&f, specs[i], seed, damage[j]);
				fabric_clear(&f);
			}
}

/* A third of the cables: what is left is hardly a tree. Who has a way in it
 * keeps it, nothing can stop, and what is left out is told. */
static void
test_ruins_are_safe_and_reported(void **state)
{
	const char *specs[] = {
		"PGFT(6,12;1,6)", "PGFT(4,4,8;1,4,4)", "PGFT(4,4,8;1,2,2)",
		"PGFT(3,3,3,3;1,3,3,3)",
	};

	for (uint64_t seed = 21; seed <= 26; seed++)
		for (size_t i = 0; i < N_ELEMENTS(specs); i++)
			for (unsigned lost = 200; lost <= 500; lost += 150) {
				GError *error = NULL;
				struct fabric f;
				uint64_t n_pairs = 0, n;

				fabric_open(&f, generate(specs[i], seed,
							 lost));
				if (!ftree_route(&f.in, &f.out, &f.report,
						 &error)) {
					assert_int_equal(error->code,
						ENGINE_ERROR_FABRIC);
					g_error_free(error);
					fabric_clear(&f);
					continue;
				}
				assert_true(is_deadlock_free(&f));
				n_pairs = f.report->n_lost + f.report->n_mute;
				n = check_ways(&f);
				if (n_pairs > 0)
					assert_true(f.out.notes->len > 0 &&
						    n > 0);
				fabric_clear(&f);
			}
}

static void
test_switches_lost_leave_ways_for_all_data(void **state)
{
	const char *specs[] = {
		"PGFT(18,36;1,18)", "PGFT(6,6,12;1,6,6)", "PGFT(4,4,8;1,4,4)",
	};

	for (uint64_t seed = 31; seed <= 34; seed++)
		for (size_t i = 0; i < N_ELEMENTS(specs); i++)
			for (uint32_t n = 1; n <= 5; n += 2) {
				struct subnet *s = generate_to_edit(specs[i],
								    seed, 10);
				uint64_t rng = seed * 100 + n;
				struct fabric f;

				for (uint32_t k = 0; k < n; k++)
					drop_switch(s, find_switch(s, false,
						prng_below(&rng, 12)));
				fabric_open(&f, s);
				fabric_route(&f);
				assert_sound(&f, specs[i], seed, n);
				fabric_clear(&f);
			}
}

/* Leaves plugged into the wrong pod, so that one top is above a leaf twice. */
static void
test_swapped_cables_are_safe(void **state)
{
	uint64_t n_detours = 0;

	for (uint64_t seed = 920; seed < 960; seed++) {
		struct subnet *s = generate_to_edit("PGFT(3,3,6;1,3,3)", seed,
						    100);
		uint64_t rng = seed;
		struct fabric f;

		for (uint32_t n = 0; n < 6; n++) {
			uint32_t a = find_port(s, find_switch(s, true,
				prng_below(&rng, 8)), true, 0);
			uint32_t b = find_port(s, find_switch(s, true,
				8 + prng_below(&rng, 8)), true, 0), c, d;

			if (a == SUBNET_NONE || b == SUBNET_NONE)
				continue;
			c = s->ports[a].peer;
			d = s->ports[b].peer;
			plug(s, a, d);
			plug(s, b, c);
		}
		fabric_open(&f, s);
		fabric_route(&f);
		if (!is_deadlock_free(&f))
			fail_msg("seed %lu: a deadlock", (unsigned long)seed);
		if (f.report->n_lost + f.report->n_mute == 0)
			assert_int_equal(check_ways(&f), 0);
		else
			assert_true(f.out.notes->len > 0);
		n_detours += f.report->n_detours;
		fabric_clear(&f);
	}
	assert_true(n_detours > 0);
}

static void
test_little_damage_shifts_at_four_at_most(void **state)
{
	const char *specs[] = { "PGFT(18,36;1,18)", "PGFT(12,12,24;1,12,12)" };
	const unsigned most[] = { 3, 4 };

	for (uint64_t seed = 47; seed <= 49; seed++)
		for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
			struct quality_load load;
			struct fabric f;

			fabric_make(&f, specs[i], seed, 10);
			assert_true(measure_shifts(&f, NULL, 1) <= most[i]);
			quality_all_to_all(f.g, f.out.lft, &load);
			assert_true((double)load.max <= 1.8 * load.mean);
			fabric_clear(&f);
		}
}

/* Where a leaf has few cables left, none of them is left aside: up to 2.7 times
 * the mean was on the others, when some were. */
static void
test_much_damage_spreads_over_all_that_is_left(void **state)
{
	for (uint64_t seed = 6; seed <= 10; seed++) {
		struct quality_load load;
		struct fabric f;

		fabric_make(&f, "PGFT(12,12,24;1,12,12)", seed, 100);
		quality_all_to_all(f.g, f.out.lft, &load);
		assert_int_equal(load.lost, 0);
		assert_true((double)load.max <= 2.1 * load.mean);
		fabric_clear(&f);
	}
}

/* Six leaves a pod and five tops a plane: no two leaves share what another one
 * has for itself. */
static void
test_planes_without_a_top_spread_over_the_others(void **state)
{
	struct subnet *s = generate_to_edit("PGFT(6,6,12;1,6,6)", 1, 0);
	struct quality_load load;
	struct fabric f;

	for (unsigned plane = 0; plane < 6; plane++) {
		char name[16];

		g_snprintf(name, sizeof(name), "S-3-%u", plane * 7);
		for (uint32_t sw = 0; sw < s->n_switches; sw++)
			if (strcmp(s->nodes[s->switches[sw]].desc, name) == 0)
				drop_switch(s, sw);
	}
	fabric_open(&f, s);
	fabric_route(&f);
	assert_sound(&f, "a top less in each plane", 1, 6);
	quality_all_to_all(f.g, f.out.lft, &load);
	assert_true((double)load.max <= 1.2 * load.mean);
	fabric_clear(&f);
}

/* Five tops a plane for six leaves, but by two cables each: ways enough. */
static void
test_parallel_cables_are_ways_of_their_own(void **state)
{
	struct fabric f;

	fabric_make(&f, "PGFT(6,6,6;1,6,5;1,1,2)", 1, 0);
	assert_int_equal(measure_shifts(&f, NULL, 1), 1);
	fabric_clear(&f);
}

/* CAs on two spines: reached, and no harm to the others' shifts. */
static void
test_hosts_above_the_leaves_are_reached(void **state)
{
	struct subnet *s = generate_to_edit("PGFT(6,6,12;1,6,6)", 9, 0);
	struct fabric f;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t leaf = find_switch(s, true, 5 + i);
		uint32_t spine = find_switch(s, false, 0);
		uint32_t from = find_port(s, leaf, false, 0);
		uint32_t to = find_port(s, spine, true, 3);
		uint32_t ca = s->ports[from].peer;

		cut(s, from);
		cut(s, to);
		plug(s, ca, to);
	}
	fabric_open(&f, s);
	fabric_route(&f);
	assert_sound(&f, "hosts on spines", 9, 0);
	assert_int_equal(f.report->strays->len, 0);
	assert_int_equal(f.report->levels->len, 3);
	fabric_clear(&f);
}

/* The first host of each leaf is an I/O node: the others shift among
 * themselves without noticing, and I/O is dealt out over all planes. */
static void
test_io_nodes_do_not_disturb_compute_nodes(void **state)
{
	uint32_t on_port[GRAPH_PORTS] = { 0 }, most = 0, least = FAR, i, leaf;
	g_autofree uint8_t *is_io = NULL;
	struct fabric f;

	fabric_open(&f, generate("PGFT(6,6,12;1,6,6)", 4, 0));
	is_io = g_new0(uint8_t, f.g->n_targets);
	for (i = 0; i < f.g->n_targets; i++)
		is_io[i] = f.g->n_hosts[f.g->targets[i].sw] > 0 &&
			f.g->targets[i].port == 1;
	f.in.is_io = is_io;
	fabric_route(&f);
	assert_sound(&f, "I/O", 4, 0);
	assert_int_equal(measure_shifts(&f, is_io, 1), 1);
	leaf = find_switch(f.s, true, 0);
	for (i = 0; i < f.g->n_targets; i++)
		if (is_io[i] && f.g->targets[i].sw != leaf)
			on_port[lft_row(f.out.lft, leaf)
				[f.g->targets[i].lid]]++;
	for (i = 1; i < GRAPH_PORTS; i++)
		if (f.edge_of[leaf * GRAPH_PORTS + i] != SUBNET_NONE) {
			most = MAX(most, on_port[i]);
			least = MIN(least, on_port[i]);
		}
	assert_true(most - least <= 1);
	fabric_clear(&f);
}

/* Two leaves joined, one of them with no other cable left: the cable is used,
 * told by name, and nobody else takes it. */
static void
test_leaf_that_hangs_on_a_leaf_is_reached(void **state)
{
	struct subnet *s = generate_to_edit("PGFT(4,8;1,4)", 8, 0);
	uint32_t a = find_switch(s, true, 1), b = find_switch(s, true, 2);
	uint32_t pa = find_port(s, a, false, 0), pb = find_port(s, b, false, 0);
	struct fabric f;

	cut(s, pa);
	cut(s, pb);
	plug(s, pa, pb);
	fabric_open(&f, subnet_copy(s));
	fabric_route(&f);
	assert_sound(&f, "a cable between leaves", 8, 0);
	assert_int_equal(f.report->strays->len, 1);
	assert_int_equal(f.report->n_rescued, 0);
	assert_non_null(strstr(g_ptr_array_index(f.out.notes, 1), "rank 0"));
	fabric_clear(&f);

	while (find_port(s, a, true, 1) != SUBNET_NONE)
		cut(s, find_port(s, a, true, 0) == pa ?
		    find_port(s, a, true, 1) : find_port(s, a, true, 0));
	fabric_open(&f, s);
	fabric_route(&f);
	assert_int_equal(f.report->n_lost, 0);
	assert_int_equal(check_ways(&f), 0);
	assert_true(is_deadlock_free(&f));
	fabric_clear(&f);
}

static void
test_rings_are_refused_with_a_reason(void **state)
{
	const char *specs[] = { "ring(8;1)", "ring(5;2)", "hyperx(4,4;3)" };

	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		GError *error = NULL;
		struct fabric f;

		fabric_open(&f, generate(specs[i], 1, 0));
		assert_false(engine_ftree.compute(&f.in, &f.out, &error));
		assert_true(g_error_matches(error, ENGINE_ERROR,
					    ENGINE_ERROR_FABRIC));
		assert_non_null(strstr(error->message, "not a fat tree"));
		g_error_free(error);
		fabric_clear(&f);
	}
}

static void
test_no_switch_is_no_work(void **state)
{
	struct fabric f;

	fabric_make(&f, "pair()", 1, 0);
	assert_int_equal(f.g->n_switches, 0);
	assert_int_equal(f.out.notes->len, 0);
	fabric_clear(&f);
}

/* A leaf on its own: its hosts reach each other, the others theirs. */
static void
test_islands_are_routed_each(void **state)
{
	struct subnet *s = generate_to_edit("PGFT(4,4,8;1,4,4)", 2, 0);
	uint32_t leaf = find_switch(s, true, 3), i, n = 0;
	struct fabric f;

	drop_switch(s, leaf);
	fabric_open(&f, s);
	fabric_route(&f);
	assert_int_equal(f.report->n_lost, 0);
	for (i = 0; i < f.g->n_targets; i++)
		n += walk(&f, leaf, &f.g->targets[i]) == 0;
	assert_int_equal(n, 5);
	assert_true(is_deadlock_free(&f));
	fabric_clear(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_trees_are_routed_by_shortest_ways),
		cmocka_unit_test(test_full_bisection_shifts_without_congestion),
		cmocka_unit_test(test_slim_trees_shift_at_their_ratio),
		cmocka_unit_test(test_links_lost_leave_ways_for_all_data),
		cmocka_unit_test(test_ruins_are_safe_and_reported),
		cmocka_unit_test(test_switches_lost_leave_ways_for_all_data),
		cmocka_unit_test(test_swapped_cables_are_safe),
		cmocka_unit_test(test_little_damage_shifts_at_four_at_most),
		cmocka_unit_test(
			test_much_damage_spreads_over_all_that_is_left),
		cmocka_unit_test(
			test_planes_without_a_top_spread_over_the_others),
		cmocka_unit_test(test_parallel_cables_are_ways_of_their_own),
		cmocka_unit_test(test_hosts_above_the_leaves_are_reached),
		cmocka_unit_test(test_io_nodes_do_not_disturb_compute_nodes),
		cmocka_unit_test(test_leaf_that_hangs_on_a_leaf_is_reached),
		cmocka_unit_test(test_rings_are_refused_with_a_reason),
		cmocka_unit_test(test_no_switch_is_no_work),
		cmocka_unit_test(test_islands_are_routed_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
