// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Min-hop: every path the shortest, the whole balanced, the result the same
 * however the fabric was found.
 *
 * Distances and numbers of paths are computed here by the plainest means, so
 * that nothing of the engine judges itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "routing/check.h"
#include "routing/quality.h"
#include "tests/lib/route_lab.h"
#include "topology/builder.h"
#include "topology/generate.h"
#include "topology/prng.h"

static void
fabric_make(struct fabric *f, const char *spec, uint64_t seed,
	    unsigned fail_per_mille, unsigned lmc)
{
	fabric_open(f, &engine_minhop,
		    lab_generate(spec, seed, fail_per_mille), lmc);
	fabric_route(f);
}

static void
test_every_path_is_shortest(void **state)
{
	const struct {
		const char *spec;
		unsigned lmc, fail_per_mille;
	} cases[] = {
		{ "single(5)", 0, 0 },
		{ "ring(3;2)", 0, 0 },
		{ "ring(9;3)", 2, 0 },
		{ "ring(8;1)", 0, 200 },
		{ "torus(4,5;3)", 0, 0 },
		{ "torus(4,4,4;2)", 1, 0 },
		{ "torus(5,5,3;2)", 0, 100 },
		{ "mesh(6,4;3)", 0, 0 },
		{ "random(60,5,4)", 0, 0 },
		{ "random(60,3,4)", 1, 300 },
		{ "rails(6;5,3)", 0, 0 },
		{ "PGFT(6,8;1,6)", 0, 0 },
		{ "PGFT(6,8;1,6)", 3, 100 },
		{ "PGFT(12,24;1,6;1,2)", 0, 50 },
		{ "PGFT(4,4,6;1,4,2;1,1,2)", 0, 0 },
		{ "PGFT(4,4,6;1,4,4)", 0, 10 },
		{ "PGFT(4,4,6;1,4,4)", 1, 50 },
		{ "PGFT(4,4,6;1,4,4)", 0, 300 },
		{ "PGFT(3,3,3,4;1,3,3,3)", 0, 0 },
		{ "PGFT(3,3,3,4;1,3,3,3)", 0, 100 },
		{ "PGFT(4,4,4;2,2,2)", 0, 0 },
	};

	for (uint64_t seed = 1; seed <= 3; seed++) {
		const uint64_t run = seed * 7919;

		print_message("seed %lu\n", (unsigned long)run);
		for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
			struct fabric f;

			fabric_make(&f, cases[i].spec, run,
				    cases[i].fail_per_mille, cases[i].lmc);
			fabric_assert_shortest(&f);
			fabric_clear(&f);
		}
	}
}

/* check_reachability() agrees. */
static void
test_tables_pass_the_check(void **state)
{
	struct check_result result;
	struct fabric f;

	fabric_make(&f, "PGFT(8,8,8;1,8,8)", 5, 20, 1);
	check_reachability(f.g, f.out.lft, &result);
	assert_int_equal(result.lid, LID_NONE);
	assert_int_equal(result.arrived, (uint64_t)f.g->n_switches *
			 (512 * 2 + f.g->n_switches));
	fabric_clear(&f);
}

/* Two islands: each is routed, and nothing in between. */
static void
test_islands_have_no_path_between(void **state)
{
	struct subnet *s = generate_fabric("PGFT(4,6;1,3)", NULL, NULL);
	struct subnet *cut = subnet_copy(s);
	uint32_t n = cut->n_switches, victim = cut->switches[0];
	struct check_result result;
	struct fabric f;
	uint64_t inside;

	for (unsigned i = 0; i <= cut->nodes[victim].info.num_ports; i++) {
		uint32_t p = cut->nodes[victim].first_port + i;
		uint32_t q = cut->ports[p].peer;

		if (q != SUBNET_NONE &&
		    subnet_is_switch(subnet_node_of(cut, q)))
			cut->ports[p].info.phys_state = PORT_PHYS_POLLING;
	}
	subnet_unref(s);
	fabric_open(&f, &engine_minhop, cut, 0);
	fabric_route(&f);
	fabric_assert_shortest(&f);
	check_reachability(f.g, f.out.lft, &result);
	inside = f.g->first_target[1] - f.g->first_target[0];
	assert_true(inside > 0);
	assert_int_equal(result.arrived, inside + (uint64_t)(n - 1) *
			 (f.g->n_targets - inside));
	assert_int_equal(result.unrouted, (uint64_t)n * f.g->n_targets -
			 result.arrived);
	fabric_clear(&f);
}

static void
test_no_switch_is_no_work(void **state)
{
	struct quality_load load;
	struct check_result result;
	struct fabric f;

	fabric_make(&f, "pair()", 0, 0, 0);
	assert_int_equal(f.g->n_switches, 0);
	check_reachability(f.g, f.out.lft, &result);
	assert_int_equal(result.arrived, 0);
	assert_int_equal(result.lid, LID_NONE);
	quality_all_to_all(f.g, f.out.lft, &load);
	assert_int_equal(load.max, 0);
	fabric_clear(&f);
}

/* All-to-all: the busiest channel against the mean. */
static void
assert_balanced(const char *spec, unsigned lmc, unsigned fail_per_mille,
		uint64_t seed, double bound)
{
	struct quality_load load;
	struct fabric f;

	fabric_make(&f, spec, seed, fail_per_mille, lmc);
	quality_all_to_all(f.g, f.out.lft, &load);
	print_message("%s lmc %u fail %u seed %lu: max %lu, %.3f x mean\n",
		      spec, lmc, fail_per_mille, (unsigned long)seed,
		      (unsigned long)load.max, (double)load.max / load.mean);
	assert_int_equal(load.lost, 0);
	assert_true((double)load.max <= bound * load.mean);
	fabric_clear(&f);
}

/* The least that is possible: as many destinations on each cable down as
 * there are hosts for each cable up. */
static void
test_intact_trees_are_balanced(void **state)
{
	for (uint64_t seed = 1; seed <= 2; seed++) {
		assert_balanced("PGFT(12,12,24;1,12,12)", 0, 0, seed, 1.02);
		assert_balanced("PGFT(18,36;1,18)", 0, 0, seed, 1.0);
		assert_balanced("PGFT(12,24;1,6;1,2)", 0, 0, seed, 1.0);
		assert_balanced("PGFT(5,6,8,4;1,5,6,8)", 0, 0, seed, 1.1);
	}
}

static void
test_base_lids_are_balanced_at_any_lmc(void **state)
{
	assert_balanced("PGFT(18,36;1,18)", 1, 0, 3, 1.0);
	assert_balanced("PGFT(18,36;1,18)", 3, 0, 4, 1.0);
	assert_balanced("PGFT(8,8,16;1,8,8)", 1, 0, 5, 1.05);
}

/* A leaf that lost a cable has a destination too many: two on one cable are
 * the least if a LID has one last hop. Not more than that. */
static void
test_damaged_trees_stay_near_the_least(void **state)
{
	assert_balanced("PGFT(12,12,24;1,12,12)", 0, 10, 1, 2.1);
	assert_balanced("PGFT(12,12,24;1,12,12)", 0, 50, 2, 2.1);
}

static void
test_meshes_are_balanced(void **state)
{
	assert_balanced("torus(16,16;6)", 0, 0, 1, 1.4);
	assert_balanced("torus(8,8,8;4)", 0, 0, 2, 1.4);
	assert_balanced("random(200,8,8)", 0, 0, 1, 1.5);
}

/* Ports 0 carry little, but not all of it by one cable: 35 leaves over 18
 * cables up are two each at most. */
static void
test_ports_0_are_spread(void **state)
{
	uint32_t count[GRAPH_PORTS];
	struct fabric f;

	fabric_make(&f, "PGFT(18,36;1,18)", 9, 0, 0);
	for (uint32_t sw = 0; sw < f.g->n_switches; sw++) {
		if (f.g->n_hosts[sw] == 0)
			continue;
		memset(count, 0, sizeof(count));
		for (uint32_t i = 0; i < f.g->n_targets; i++) {
			const struct graph_target *t = &f.g->targets[i];

			if (t->port == 0 && f.g->n_hosts[t->sw] > 0 &&
			    t->sw != sw)
				count[lft_row(f.out.lft, sw)[t->lid]]++;
		}
		for (unsigned port = 0; port < GRAPH_PORTS; port++)
			assert_true(count[port] <= 2);
	}
	fabric_clear(&f);
}

/* Ways by cables: how many shortest paths there are, 2 meaning more. */
static void
count_paths(const struct graph *g, const uint32_t *hops, uint8_t *paths)
{
	for (uint32_t level = 0, left = 1; left; level++) {
		left = 0;
		for (uint32_t sw = 0; sw < g->n_switches; sw++) {
			uint32_t n = level == 0;

			if (hops[sw] != level)
				continue;
			left = 1;
			for (uint32_t e = g->first_edge[sw];
			     e < g->first_edge[sw + 1]; e++)
				if (hops[g->edges[e].peer] + 1 == level)
					n += paths[g->edges[e].peer];
			paths[sw] = (uint8_t)MIN(n, 2);
		}
	}
}

static bool
same_path(const struct fabric *f, uint32_t sw, uint16_t a, uint16_t b)
{
	for (;;) {
		uint8_t port = lft_row(f->out.lft, sw)[a];
		uint32_t e = f->edge_of[sw * GRAPH_PORTS + port];

		if (port != lft_row(f->out.lft, sw)[b])
			return false;
		if (e == SUBNET_NONE)
			return true;
		sw = f->g->edges[e].peer;
	}
}

static void
assert_siblings_differ(const struct fabric *f)
{
	const struct graph *g = f->g;
	g_autofree uint32_t *hops = g_new(uint32_t, g->n_switches);
	g_autofree uint8_t *paths = g_new0(uint8_t, g->n_switches);
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];

		if (t->n_lids < 2)
			continue;
		lab_measure_hops(g, t->sw, hops);
		count_paths(g, hops, paths);
		for (uint32_t sw = 0; sw < g->n_switches; sw++) {
			if (sw == t->sw || hops[sw] == FAR || paths[sw] < 2)
				continue;
			assert_false(same_path(f, sw, t->lid,
					       (uint16_t)(t->lid + 1)));
			n++;
		}
	}
	assert_true(n > 0);
}

static void
test_lids_of_a_range_take_different_paths(void **state)
{
	const struct {
		const char *spec;
		unsigned lmc, fail_per_mille;
	} cases[] = {
		{ "PGFT(6,8;1,6)", 1, 0 },
		{ "PGFT(6,8;1,2)", 2, 0 },
		{ "PGFT(4,4,6;1,4,4)", 1, 0 },
		{ "PGFT(4,4,6;1,4,4)", 1, 100 },
		{ "PGFT(4,6;1,1;1,4)", 1, 0 },
		{ "torus(4,4,3;2)", 1, 0 },
		{ "random(50,4,3)", 1, 0 },
		{ "ring(8;2)", 1, 0 },
	};

	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		struct fabric f;

		fabric_make(&f, cases[i].spec, i + 1,
			    cases[i].fail_per_mille, cases[i].lmc);
		fabric_assert_shortest(&f);
		assert_siblings_differ(&f);
		fabric_clear(&f);
	}
}

static void
shuffle(uint32_t *order, uint32_t n, uint64_t *rng)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = prng_below(rng, i), swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
}

/* The same fabric, discovered in another order. */
static struct subnet *
rediscover(const struct subnet *s, uint64_t *rng)
{
	g_autofree uint32_t *nodes = g_new(uint32_t, s->n_nodes);
	g_autofree uint32_t *ports = g_new(uint32_t, s->n_ports);
	g_autofree uint32_t *now = g_new(uint32_t, s->n_ports);
	struct builder *b = builder_new();

	shuffle(nodes, s->n_nodes, rng);
	shuffle(ports, s->n_ports, rng);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct subnet_node *old = &s->nodes[nodes[i]];
		uint32_t node = builder_add(b, &old->info);

		builder_node_at(b, node)->sw = old->sw;
		builder_node_at(b, node)->sw_known = old->sw_known;
		for (unsigned p = 0; p <= old->info.num_ports; p++) {
			uint32_t from = old->first_port + p;
			struct subnet_port *port;

			now[from] = builder_port(b, node, p);
			port = builder_port_at(b, now[from]);
			port->guid = s->ports[from].guid;
			port->known = s->ports[from].known;
			port->info = s->ports[from].info;
		}
	}
	for (uint32_t i = 0; i < s->n_ports; i++) {
		uint32_t peer = s->ports[ports[i]].peer;

		if (peer != SUBNET_NONE && peer < ports[i])
			builder_link(b, now[ports[i]], now[peer]);
	}
	builder_set_local(b, now[s->local_port]);
	return builder_finish(b);
}

static void
test_order_of_discovery_does_not_matter(void **state)
{
	const struct {
		const char *spec;
		unsigned lmc, fail_per_mille;
	} cases[] = {
		{ "PGFT(4,4,6;1,4,4)", 0, 0 },
		{ "PGFT(4,4,6;1,4,4)", 1, 50 },
		{ "PGFT(12,24;1,6;1,2)", 0, 30 },
		{ "torus(4,4,3;2)", 0, 0 },
		{ "random(60,5,4)", 0, 0 },
	};
	uint64_t rng = 20260101;

	print_message("seed %lu\n", (unsigned long)rng);
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		struct fabric f, again;

		fabric_make(&f, cases[i].spec, i, cases[i].fail_per_mille,
			    cases[i].lmc);
		fabric_open(&again, &engine_minhop,
			    rediscover(f.s, &rng), cases[i].lmc);
		fabric_route(&again);
		assert_int_equal(f.out.lft->n_switches,
				 again.out.lft->n_switches);
		assert_int_equal(f.out.lft->stride, again.out.lft->stride);
		assert_memory_equal(f.out.lft->ports, again.out.lft->ports,
				    (size_t)f.out.lft->n_switches *
				    f.out.lft->stride);
		fabric_clear(&again);
		fabric_clear(&f);
	}
}

/* More LIDs than are looked at side by side, and rows whose LIDs are handed
 * out without gaps: nothing may get lost between. Behind one switch, and
 * behind many that are alike. */
static void
test_thousands_of_lids_behind_few_switches(void **state)
{
	struct fabric f;

	fabric_make(&f, "PGFT(40,2;1,3)", 0, 0, 6);
	assert_true(f.g->top > 5000);
	fabric_assert_shortest(&f);
	fabric_clear(&f);
	fabric_make(&f, "PGFT(40,32;1,3)", 0, 0, 0);
	assert_true(f.g->top > 1280);
	fabric_assert_shortest(&f);
	/* 40 LIDs by 3 cables, each from the hosts on 31 others. */
	assert_int_equal(fabric_max_load(&f, NULL), 14 * 31 * 40);
	fabric_clear(&f);
}

static void
test_threads_do_not_change_the_tables(void **state)
{
	static const char *const specs[] = {
		"PGFT(4,4,6;1,4,4)", "PGFT(18,36;1,18)", "random(60,5,4)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		struct fabric one, many;

		fabric_make(&one, specs[i], 11, 20, 0);
		fabric_open(&many, &engine_minhop, subnet_ref(one.s), 0);
		many.in.n_threads = 5;
		fabric_route(&many);
		assert_memory_equal(one.out.lft->ports, many.out.lft->ports,
				    (size_t)one.out.lft->n_switches *
				    one.out.lft->stride);
		fabric_clear(&many);
		fabric_clear(&one);
	}
}

static void
test_engine_is_found_by_name_only(void **state)
{
	GError *error = NULL;

	assert_ptr_equal(engine_by_name("minhop", &error), &engine_minhop);
	assert_null(error);

	assert_null(engine_by_name("min", &error));
	assert_true(g_error_matches(error, ENGINE_ERROR,
				    ENGINE_ERROR_UNKNOWN));
	assert_non_null(strstr(error->message, "\"min\""));
	assert_non_null(strstr(error->message, "minhop"));
	g_error_free(error);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_path_is_shortest),
		cmocka_unit_test(test_tables_pass_the_check),
		cmocka_unit_test(test_islands_have_no_path_between),
		cmocka_unit_test(test_no_switch_is_no_work),
		cmocka_unit_test(test_intact_trees_are_balanced),
		cmocka_unit_test(test_base_lids_are_balanced_at_any_lmc),
		cmocka_unit_test(test_damaged_trees_stay_near_the_least),
		cmocka_unit_test(test_meshes_are_balanced),
		cmocka_unit_test(test_ports_0_are_spread),
		cmocka_unit_test(test_lids_of_a_range_take_different_paths),
		cmocka_unit_test(test_order_of_discovery_does_not_matter),
		cmocka_unit_test(test_thousands_of_lids_behind_few_switches),
		cmocka_unit_test(test_threads_do_not_change_the_tables),
		cmocka_unit_test(test_engine_is_found_by_name_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
