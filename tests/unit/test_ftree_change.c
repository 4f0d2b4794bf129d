// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fat trees over time: what a host, a cable, a thread, another order of
 * discovery may change in the tables, and what they may not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routing/work.h"
#include "tests/lib/ftree_fabric.h"
#include "topology/builder.h"
#include "topology/prng.h"

static void
test_threads_do_not_change_the_tables(void **state)
{
	const unsigned damage[] = { 0, 10, 100 };

	for (size_t i = 0; i < N_ELEMENTS(damage); i++) {
		struct fabric f, other;

		fabric_make(&f, "PGFT(6,6,12;1,6,6)", 5, damage[i]);
		for (unsigned n = 1; n <= 4; n *= 2) {
			fabric_open(&other, subnet_ref(f.s));
			other.in.n_threads = n;
			fabric_route(&other);
			assert_same_tables(f.out.lft, other.out.lft);
			fabric_clear(&other);
		}
		fabric_clear(&f);
	}
}

struct tally {
	uint32_t n;
	uint8_t *count;
};

static void
count_items(void *data, uint32_t from, uint32_t to)
{
	struct tally *tally = data;

	assert_true(from < to && to <= tally->n);
	for (; from < to; from++)
		tally->count[from]++;
}

static void
test_work_is_done_once(void **state)
{
	const uint32_t sizes[] = { 0, 1, 2, 3, 17, 1000 };

	for (size_t i = 0; i < N_ELEMENTS(sizes); i++)
		for (unsigned n = 0; n <= 9; n += 3) {
			struct tally tally = {
				sizes[i], g_new0(uint8_t, sizes[i] + 1),
			};

			work_share(n, sizes[i], count_items, &tally);
			for (uint32_t k = 0; k < sizes[i]; k++)
				assert_int_equal(tally.count[k], 1);
			g_free(tally.count);
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
	g_autofree uint32_t *now = g_new(uint32_t, s->n_ports);
	struct builder *b = builder_new();

	shuffle(nodes, s->n_nodes, rng);
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
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].peer != SUBNET_NONE && s->ports[i].peer < i)
			builder_link(b, now[i], now[s->ports[i].peer]);
	builder_set_local(b, now[s->local_port]);
	return builder_finish(b);
}

static void
test_order_of_discovery_does_not_matter(void **state)
{
	const unsigned damage[] = { 0, 20, 100 };
	uint64_t rng = 20260202;

	print_message("seed %lu\n", (unsigned long)rng);
	for (size_t i = 0; i < N_ELEMENTS(damage); i++) {
		struct fabric f, again;

		fabric_make(&f, "PGFT(4,4,8;1,4,4)", i + 1, damage[i]);
		fabric_open(&again, rediscover(f.s, &rng));
		fabric_route(&again);
		assert_same_tables(f.out.lft, again.out.lft);
		fabric_clear(&again);
		fabric_clear(&f);
	}
}

/* A host that goes away leaves all other LIDs alone, on a full tree and on
 * one where hosts are missing here and there; if the tables of before are
 * known, its own as well; and when it comes back all is as it was. */
static void
test_host_that_goes_changes_no_other_entry(void **state)
{
	for (uint32_t run = 0; run < 24; run++) {
		uint64_t rng = 1000 + run;
		struct subnet *s = generate_to_edit("PGFT(6,6,8;1,6,6)", run,
						    run % 2 ? 30 : 0);
		uint32_t n_gone = run % 3 * 40, leaf, sw, lid, i;
		struct fabric before, after, told;

		for (i = 0; i < n_gone; i++) {
			leaf = find_switch(s, true, prng_below(&rng, 40));
			cut(s, find_port(s, leaf, false, find_port(s, leaf,
				false, 1) != SUBNET_NONE && i % 2));
		}
		fabric_open(&before, s);
		fabric_route(&before);
		leaf = find_switch(s, true, prng_below(&rng, 40));
		s = subnet_copy(s);
		i = find_port(s, leaf, false, 0);
		lid = before.lids->base[s->ports[i].peer];
		cut(s, i);
		fabric_open(&after, subnet_ref(s));
		fabric_route(&after);
		fabric_open(&told, s);
		told.in.previous = before.out.lft;
		told.in.ranks = before.out.ranks;
		fabric_route(&told);
		for (sw = 0; sw < before.g->n_switches; sw++)
			for (i = 0; i <= after.g->top; i++)
				if (i != lid)
					assert_int_equal(
					  lft_row(before.out.lft, sw)[i],
					  lft_row(after.out.lft, sw)[i]);
		if (told.g->top == before.g->top)
			assert_same_tables(told.out.lft, before.out.lft);
		fabric_clear(&told);
		fabric_clear(&after);
		fabric_clear(&before);
	}
}

/* Tables of another manager, or of noise, are no reason to do anything else
 * for those who are there. */
static void
test_previous_tables_may_be_nonsense(void **state)
{
	struct subnet *s = generate_to_edit("PGFT(4,4,8;1,4,4)", 3, 50);
	struct fabric plain, f;
	uint64_t rng = 77;
	struct lft *noise;
	uint32_t i;

	for (i = 0; i < 5; i++)
		cut(s, find_port(s, find_switch(s, true, i * 3), false, 1));
	fabric_open(&plain, s);
	fabric_route(&plain);
	fabric_open(&f, subnet_ref(s));
	noise = lft_new(f.g->n_switches + 3, (uint16_t)(f.g->top + 70));
	for (i = 0; i < noise->n_switches * noise->stride; i++)
		noise->ports[i] = (uint8_t)prng_below(&rng, 12);
	f.in.previous = noise;
	fabric_route(&f);
	assert_int_equal(check_ways(&f), 0);
	assert_true(is_deadlock_free(&f));
	lft_free(noise);
	fabric_clear(&f);
	fabric_clear(&plain);
}

static uint32_t
count_changed_blocks(const struct lft *a, const struct lft *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < (size_t)a->n_switches * a->stride;
	     i += LFT_BLOCK)
		n += memcmp(a->ports + i, b->ports + i, LFT_BLOCK) != 0;
	return n;
}

/* Blocks with an entry whose next switch has no way left in the tree. */
static uint32_t
count_broken_blocks(const struct fabric *before, const struct fabric *after)
{
	const struct graph *g = after->g;
	uint32_t n = g->n_switches, i, sw, peer, e, n_broken = 0;
	g_autofree uint32_t *tree = g_new(uint32_t, 2 * n);
	uint32_t n_blocks = lft_n_blocks(after->out.lft);
	g_autofree uint8_t *broken = g_new0(uint8_t, n * n_blocks);
	uint16_t lid;

	for (i = 0; i < g->n_targets; i++) {
		measure_tree(after, g->targets[i].sw, tree);
		lid = g->targets[i].lid;
		for (sw = 0; sw < n; sw++) {
			if (!is_data(after, sw, &g->targets[i]) ||
			    sw == g->targets[i].sw)
				continue;
			e = edge_to(before, sw, lid);
			peer = before->g->edges[e].peer;
			e = after->edge_of[sw * GRAPH_PORTS +
					   lft_row(before->out.lft, sw)[lid]];
			if (e == SUBNET_NONE ||
			    MIN(tree[peer], tree[n + peer]) == FAR)
				broken[sw * n_blocks + lid / LFT_BLOCK] = 1;
		}
	}
	for (i = 0; i < n * n_blocks; i++)
		n_broken += broken[i];
	return n_broken;
}

static void
assert_little_churn(const char *spec, uint64_t seed, bool at_leaf)
{
	struct fabric before, after, again;
	struct subnet *s;
	uint32_t changed, least, sw, nth = 0;

	fabric_make(&before, spec, seed, 0);
	s = subnet_copy(before.s);
	do
		sw = find_switch(s, at_leaf, nth++);
	while (before.report->rank[sw] + 2u != before.report->levels->len &&
	       !at_leaf);
	cut(s, find_port(s, sw, true, 0));
	fabric_open(&after, s);
	after.in.previous = before.out.lft;
	after.in.ranks = before.out.ranks;
	fabric_route(&after);
	changed = count_changed_blocks(before.out.lft, after.out.lft);
	least = count_broken_blocks(&before, &after);
	print_message("%s %s: %u of %u blocks, %u broken\n", spec,
		      at_leaf ? "leaf" : "top", changed,
		      before.g->n_switches * lft_n_blocks(before.out.lft),
		      least);
	assert_true(changed > 0);
	assert_true(changed * 10 <= least * 11);

	fabric_open(&again, subnet_ref(before.s));
	again.in.previous = after.out.lft;
	again.in.ranks = after.out.ranks;
	fabric_route(&again);
	assert_same_tables(before.out.lft, again.out.lft);
	fabric_clear(&again);
	fabric_clear(&after);
	fabric_clear(&before);
}

static void
test_lost_cable_changes_what_it_must(void **state)
{
	assert_little_churn("PGFT(12,12,24;1,12,12)", 1, true);
	assert_little_churn("PGFT(12,12,24;1,12,12)", 2, false);
	assert_little_churn("PGFT(18,36;1,18)", 3, true);
}

/* Ranks count down from the roots, and are in force afterwards. */
static void
test_roots_that_are_given_are_on_top(void **state)
{
	g_autofree uint8_t *is_root = NULL, *rank = NULL;
	struct fabric f, g;
	uint32_t sw;

	fabric_make(&f, "PGFT(4,4,8;1,4,4)", 6, 30);
	rank = g_memdup2(f.report->rank, f.g->n_switches);
	is_root = g_new0(uint8_t, f.g->n_switches);
	for (sw = 0; sw < f.g->n_switches; sw++)
		is_root[sw] = rank[sw] == 2;
	fabric_open(&g, subnet_ref(f.s));
	g.in.is_root = is_root;
	fabric_route(&g);
	assert_memory_equal(g.report->rank, rank, f.g->n_switches);
	assert_same_tables(f.out.lft, g.out.lft);
	for (sw = 0; sw < f.g->n_switches; sw++)
		assert_int_equal(g.out.ranks[sw], 255 - rank[sw]);
	fabric_clear(&g);
	fabric_clear(&f);
}

/* A switch of the middle rank that lost its cables up is below all leaves,
 * counted from the roots; it does not make them the second rank. */
static void
test_lost_spine_does_not_lift_the_leaves(void **state)
{
	struct subnet *s = generate_to_edit("PGFT(4,4,8;1,4,4)", 6, 0);
	g_autofree uint8_t *is_root = NULL;
	struct fabric whole, f;
	uint32_t sw, spine, port, i;

	fabric_open(&whole, s);
	fabric_route(&whole);
	is_root = g_new0(uint8_t, whole.g->n_switches);
	for (sw = 0; sw < whole.g->n_switches; sw++)
		is_root[sw] = whole.report->rank[sw] == 2;
	for (spine = 0; whole.report->rank[spine] != 1; spine++)
		;
	s = subnet_copy(whole.s);
	for (i = 0; (port = find_port(s, spine, true, i)) != SUBNET_NONE; )
		if (is_root[subnet_node_of(s, s->ports[port].peer)->sw_index])
			cut(s, port);
		else
			i++;
	fabric_open(&f, s);
	f.in.is_root = is_root;
	fabric_route(&f);
	assert_memory_equal(f.report->rank, whole.report->rank,
			    f.g->n_switches);
	assert_sound(&f, "a spine without tops", 6, 0);
	fabric_clear(&f);
	fabric_clear(&whole);
}

/* A leaf whose hosts are all off would be taken for a spine; ranks in force
 * stay. Ranks that make no tree, or none, do not. */
static void
test_ranks_in_force_stay_if_they_fit(void **state)
{
	g_autofree uint32_t *ranks = NULL;
	struct fabric f, g;
	uint32_t sw;

	fabric_make(&f, "PGFT(4,4,8;1,4,4)", 6, 30);
	ranks = g_memdup2(f.out.ranks, f.g->n_switches * sizeof(*ranks));
	for (sw = 0; sw < f.g->n_switches; sw += 5)
		ranks[sw] = ENGINE_NO_RANK;
	fabric_open(&g, subnet_ref(f.s));
	g.in.ranks = ranks;
	fabric_route(&g);
	assert_true(g.report->kept);
	assert_same_tables(f.out.lft, g.out.lft);
	fabric_clear(&g);

	for (sw = 0; sw < f.g->n_switches; sw++)
		ranks[sw] = sw;
	fabric_open(&g, subnet_ref(f.s));
	g.in.ranks = ranks;
	fabric_route(&g);
	assert_false(g.report->kept);
	assert_same_tables(f.out.lft, g.out.lft);
	fabric_clear(&g);
	fabric_clear(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_do_not_change_the_tables),
		cmocka_unit_test(test_work_is_done_once),
		cmocka_unit_test(test_order_of_discovery_does_not_matter),
		cmocka_unit_test(test_host_that_goes_changes_no_other_entry),
		cmocka_unit_test(test_previous_tables_may_be_nonsense),
		cmocka_unit_test(test_lost_cable_changes_what_it_must),
		cmocka_unit_test(test_roots_that_are_given_are_on_top),
		cmocka_unit_test(test_lost_spine_does_not_lift_the_leaves),
		cmocka_unit_test(test_ranks_in_force_stay_if_they_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
