// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Up/down: everybody is reached by ways that the order of the switches
 * permits, whatever the fabric; and the order stays when the fabric changes.
 *
 * Which ways the order permits is computed here from the ranks by the plainest
 * means, so that nothing of the engine judges itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "routing/updn.h"
#include "routing/verify.h"
#include "tests/lib/route_lab.h"
#include "topology/prng.h"

static void
fabric_make(struct fabric *f, const char *spec, uint64_t seed,
	    unsigned fail_per_mille)
{
	fabric_open(f, &engine_updn, lab_generate(spec, seed, fail_per_mille),
		    0);
	fabric_route(f);
}

static void
cut_all(struct subnet *s, uint32_t sw)
{
	uint32_t port;

	while ((port = lab_find_port(s, sw, true, 0)) != SUBNET_NONE)
		lab_cut(s, port);
}

/*
 * Least hops to `to`, until nothing gets less: [sw] by going down only;
 * [n + sw] by going up to whoever has a way, for who cannot go down only.
 */
static void
measure_ways(const struct fabric *f, uint32_t to, uint32_t *hops)
{
	const struct graph *g = f->g;
	const uint32_t *ranks = f->out.ranks;
	uint32_t n = g->n_switches, sw, e, peer, least;
	bool again = true;

	for (sw = 0; sw < 2 * n; sw++)
		hops[sw] = FAR;
	hops[to] = 0;
	for (; again; )
		for (again = false, sw = 0; sw < n; sw++)
			for (e = g->first_edge[sw]; e < g->first_edge[sw + 1];
			     e++) {
				peer = g->edges[e].peer;
				if (ranks[peer] > ranks[sw] &&
				    hops[peer] != FAR &&
				    hops[peer] + 1 < hops[sw]) {
					hops[sw] = hops[peer] + 1;
					again = true;
				}
			}
	for (again = true; again; )
		for (again = false, sw = 0; sw < n; sw++)
			for (e = g->first_edge[sw]; hops[sw] == FAR &&
			     e < g->first_edge[sw + 1]; e++) {
				peer = g->edges[e].peer;
				least = MIN(hops[peer], hops[n + peer]);
				if (ranks[peer] < ranks[sw] && least != FAR &&
				    least + 1 < hops[n + sw]) {
					hops[n + sw] = least + 1;
					again = true;
				}
			}
}

static bool
has_note(const struct fabric *f, const char *words)
{
	for (uint32_t i = 0; i < f->out.notes->len; i++)
		if (strstr(f->out.notes->pdata[i], words))
			return true;
	return false;
}

static bool
has_detours(const struct fabric *f)
{
	return has_note(f, "goes down and up again");
}

/* Every entry is one hop closer, in the direction that the order permits: by
 * induction over the distance, up and then down. No way, no entry, unless it
 * is management or one of the detours that were told of. */
static void
assert_legal(const struct fabric *f)
{
	const struct graph *g = f->g;
	const uint32_t *ranks = f->out.ranks;
	uint32_t n = g->n_switches, i, lid, sw, e, peer;
	g_autofree uint32_t *hops = g_new(uint32_t, 2 * n);

	for (i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];

		if (i == 0 || t->sw != t[-1].sw)
			measure_ways(f, t->sw, hops);
		for (lid = t->lid; lid < t->lid + (uint32_t)t->n_lids; lid++)
			for (sw = 0; sw < n; sw++) {
				e = fabric_edge_to(f, sw, lid);
				if (sw == t->sw) {
					assert_int_equal(
						lft_row(f->out.lft, sw)[lid],
						t->port);
					continue;
				}
				if (MIN(hops[sw], hops[n + sw]) == FAR) {
					assert_true(e == SUBNET_NONE ||
						    t->port == 0 ||
						    has_detours(f));
					continue;
				}
				assert_int_not_equal(e, SUBNET_NONE);
				peer = g->edges[e].peer;
				if (hops[sw] != FAR) {
					assert_int_equal(hops[peer] + 1,
							 hops[sw]);
					assert_true(ranks[peer] > ranks[sw]);
					continue;
				}
				assert_int_equal(MIN(hops[peer],
						     hops[n + peer]) + 1,
						 hops[n + sw]);
				assert_true(ranks[peer] < ranks[sw]);
			}
	}
}

/* No CA is lost that has cables, nothing goes round or astray, no loop. Of the
 * pairs of a CA and a switch without CAs few may be lost, and it is said. */
static void
assert_sound(const struct fabric *f, const char *what, uint64_t seed)
{
	struct verify_result r;
	uint64_t n_hosts = 0, n_apart;
	bool told = has_note(f, "pairs of a switch");

	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		n_hosts += f->g->n_hosts[sw];
	verify_tables(f->g, f->out.lft, NULL, &r);
	n_apart = r.reach.lost_mixed;
	if (!verify_is_sound(&r) || r.reach.lost_hosts ||
	    n_apart * 25 > n_hosts * f->g->n_switches ||
	    told != (n_apart > 0))
		fail_msg("%s seed %lu: %lu looping, %lu astray, %lu pairs of "
			 "hosts lost, %lu mixed, %u channels in loops", what,
			 (unsigned long)seed, (unsigned long)r.reach.looping,
			 (unsigned long)r.reach.astray,
			 (unsigned long)r.reach.lost_hosts,
			 (unsigned long)n_apart, r.channels.n_looped);
	verify_result_clear(&r);
}

/* Has everybody on the island of a switch a legal way to it? */
static bool
is_joined(const struct fabric *f, uint32_t to)
{
	uint32_t n = f->g->n_switches, sw;
	g_autofree uint32_t *ways = g_new(uint32_t, 2 * n);
	g_autofree uint32_t *hops = g_new(uint32_t, n);

	measure_ways(f, to, ways);
	lab_measure_hops(f->g, to, hops);
	for (sw = 0; sw < n; sw++)
		if (hops[sw] != FAR && MIN(ways[sw], ways[n + sw]) == FAR)
			return false;
	return true;
}

/*
 * Old and new on the fabric together have no loop, in trees, as far as they
 * are for CAs that all reach by legal ways before and after. Who gets a detour
 * turns up where entries of before lead down. Elsewhere a switch that could go
 * down only and now has to go up may get packets that come down by entries of
 * before; in a tree of three stages such a switch has no legal way left.
 */
static void
assert_acyclic_together(const char *spec, const struct fabric *f,
			const struct fabric *before)
{
	struct lft *old = lft_new(f->g->n_switches, f->out.lft->top);
	struct lft *new = lft_new(f->g->n_switches, f->out.lft->top);
	struct channels_result r;
	uint32_t i, sw, lid, n = 0;

	for (i = 0; i < f->g->n_targets; i++) {
		if (f->g->targets[i].port == 0 ||
		    !is_joined(f, f->g->targets[i].sw) ||
		    !is_joined(before, f->g->targets[i].sw))
			continue;
		n++;
		lid = f->g->targets[i].lid;
		for (sw = 0; sw < f->g->n_switches; sw++) {
			lft_row(old, sw)[lid] =
				lft_row(before->out.lft, sw)[lid];
			lft_row(new, sw)[lid] = lft_row(f->out.lft, sw)[lid];
		}
	}
	channels_check(f->g, new, old, &r);
	assert_true(n == 0 || r.n_channels > 0);
	if (g_str_has_prefix(spec, "PGFT"))
		assert_int_equal(r.n_looped, 0);
	channels_clear(&r);
	lft_free(old);
	lft_free(new);
}

static void
test_any_fabric_is_joined_without_loops(void **state)
{
	const struct {
		const char *spec;
		unsigned lmc, fail_per_mille;
	} cases[] = {
		{ "ring(3;2)", 0, 0 },
		{ "ring(9;3)", 2, 0 },
		{ "ring(12;2)", 0, 80 },
		{ "torus(4,5;3)", 0, 0 },
		{ "torus(4,4,4;2)", 1, 0 },
		{ "torus(5,5,3;2)", 0, 100 },
		{ "mesh(6,4;3)", 0, 0 },
		{ "mesh(3,3,3;2)", 0, 50 },
		{ "dragonfly(4,2,2)", 0, 0 },
		{ "dragonfly(4,2,2)", 0, 100 },
		{ "hyperx(4,4;3)", 0, 0 },
		{ "hyperx(3,3,3;2)", 1, 100 },
		{ "random(60,5,4)", 0, 0 },
		{ "random(60,3,4)", 1, 200 },
		{ "rails(6;5,3)", 0, 0 },
		{ "PGFT(6,8;1,6)", 2, 0 },
		{ "PGFT(12,24;1,6;1,2)", 0, 50 },
		{ "PGFT(4,4,6;1,4,2;1,1,2)", 0, 0 },
		{ "PGFT(3,3,3,4;1,3,3,3)", 0, 0 },
		{ "PGFT(4,4,4;2,2,2)", 0, 0 },
	};

	for (uint64_t seed = 1; seed <= 3; seed++)
		for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
			struct fabric f;

			print_message("%s seed %lu\n", cases[i].spec,
				      (unsigned long)seed);
			fabric_open(&f, &engine_updn, lab_generate(
					cases[i].spec, seed,
					cases[i].fail_per_mille),
				    cases[i].lmc);
			fabric_route(&f);
			assert_sound(&f, cases[i].spec, seed);
			assert_legal(&f);
			fabric_clear(&f);
		}
}

static void
test_damaged_trees_are_joined_without_loops(void **state)
{
	const unsigned damage[] = { 1, 10, 50, 100, 300 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fabric f;

		print_message("seed %lu\n", (unsigned long)seed);
		fabric_open(&f, &engine_updn, lab_generate(
				"PGFT(3,3,4;1,3,3)", seed,
				damage[seed % N_ELEMENTS(damage)]), 2);
		fabric_route(&f);
		assert_sound(&f, "PGFT(3,3,4;1,3,3) LMC 2", seed);
		assert_legal(&f);
		fabric_clear(&f);
		fabric_make(&f, "PGFT(4,4,8;1,4,4)", seed,
			    damage[seed % N_ELEMENTS(damage)]);
		assert_sound(&f, "PGFT(4,4,8;1,4,4)", seed);
		assert_legal(&f);
		fabric_clear(&f);
		fabric_make(&f, "PGFT(6,12;1,6)", seed,
			    damage[seed % N_ELEMENTS(damage)]);
		assert_sound(&f, "PGFT(6,12;1,6)", seed);
		assert_legal(&f);
		fabric_clear(&f);
	}
}

/* Do all cables that are there lead up in the same direction? */
static void
assert_same_order(const struct fabric *a, const struct fabric *b)
{
	const struct graph *g = a->g;
	const uint32_t *x = a->out.ranks, *y = b->out.ranks;
	uint32_t sw, e, peer;

	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			assert_int_equal(x[sw] < x[peer], y[sw] < y[peer]);
		}
}

/*
 * In a tree that lost some percent of its cables many a CA has no way up and
 * then down to a spine. That is no reason to send all traffic through one
 * root: they get detours, and the rest stays balanced. Twice the load of the
 * whole tree is the least where two LIDs have to share a last hop.
 */
static void
test_much_damage_leaves_the_load_spread(void **state)
{
	static const struct {
		const char *spec;
		unsigned fail_per_mille;
	} cases[] = {
		{ "PGFT(12,12,24;1,12,12)", 50 },
		{ "PGFT(8,8,8;1,8,8)", 50 },
		{ "PGFT(8,8,16;1,8,8)", 100 },
		{ "PGFT(8,8,8;1,8,4)", 70 },
	};
	struct fabric whole, f, next;
	double mean;

	for (size_t i = 0; i < N_ELEMENTS(cases); i++)
		for (uint64_t seed = 7; seed < 10; seed++) {
			struct verify_result r;
			struct subnet *s;
			uint64_t load;

			fabric_make(&whole, cases[i].spec, seed, 0);
			fabric_make(&f, cases[i].spec, seed,
				    cases[i].fail_per_mille);
			load = fabric_max_load(&f, &mean);
			print_message("%s seed %lu: max %lu, %.3f x mean, "
				      "intact %lu\n", cases[i].spec,
				      (unsigned long)seed, (unsigned long)load,
				      (double)load / mean, (unsigned long)
				      fabric_max_load(&whole, &mean));
			assert_true(has_detours(&f));
			assert_sound(&f, cases[i].spec, seed);
			assert_legal(&f);
			verify_tables(f.g, f.out.lft, NULL, &r);
			assert_int_equal(r.reach.lost_mixed, 0);
			verify_result_clear(&r);
			assert_true(load * 2 <=
				    5 * fabric_max_load(&whole, &mean));
			/* Once more changes nothing. */
			fabric_follow(&next, subnet_ref(f.s), &f);
			assert_int_equal(lab_count_blocks(next.out.lft,
							  f.out.lft), 0);
			fabric_clear(&next);
			/* And on with one cable less. */
			s = subnet_copy(f.s);
			lab_cut(s, lab_find_port(s, 0, true, 0));
			fabric_follow(&next, s, &f);
			assert_same_order(&next, &f);
			assert_sound(&next, cases[i].spec, seed);
			assert_legal(&next);
			fabric_clear(&next);
			fabric_clear(&f);
			fabric_clear(&whole);
		}
}

/* A spine without cables is no reason for another order. */
static void
test_lonely_switch_changes_no_order(void **state)
{
	struct subnet *s = lab_generate("PGFT(8,8,8;1,8,8)", 5, 0);
	struct fabric f;
	uint32_t sw;

	for (sw = 0; lab_find_port(s, sw, false, 0) != SUBNET_NONE; sw++)
		;
	cut_all(s, sw);
	fabric_open(&f, &engine_updn, s, 0);
	fabric_route(&f);
	assert_sound(&f, "lonely switch", 5);
	assert_legal(&f);
	assert_true(fabric_max_load(&f, NULL) < 3 * 504);
	fabric_clear(&f);
}

static void
test_intact_trees_are_balanced_whatever_the_guids(void **state)
{
	const struct {
		const char *spec;
		double bound;	/* x mean */
	} cases[] = {
		{ "PGFT(12,12,24;1,12,12)", 1.25 },
		{ "PGFT(18,36;1,18)", 1.0 },
		{ "PGFT(12,24;1,6;1,2)", 1.0 },
	};

	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		uint64_t max, first = 0;

		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct verify_result r;
			struct fabric f;
			double mean;

			fabric_make(&f, cases[i].spec, seed, 0);
			verify_tables(f.g, f.out.lft, NULL, &r);
			assert_int_equal(r.reach.unrouted, 0);
			verify_result_clear(&r);
			max = fabric_max_load(&f, &mean);
			print_message("%s seed %lu: max %lu, %.3f x mean\n",
				      cases[i].spec, (unsigned long)seed,
				      (unsigned long)max, (double)max / mean);
			assert_true((double)max <= cases[i].bound * mean);
			assert_int_equal(max, first ? first : max);
			first = max;
			fabric_clear(&f);
		}
	}
}

/* A tree needs no detour, and no line that tells of one. */
static void
test_longer_ways_are_reported(void **state)
{
	struct fabric f;

	fabric_make(&f, "PGFT(4,4,8;1,4,4)", 1, 0);
	assert_int_equal(f.out.notes->len, 0);
	fabric_clear(&f);
	/* The lowest of 5 in a ring may not be gone through: its neighbours,
	 * 2 of 20 pairs, go the other way round, 3 hops for 2. */
	fabric_make(&f, "ring(5;1)", 1, 0);
	assert_int_equal(f.out.notes->len, 1);
	assert_string_equal(f.out.notes->pdata[0],
		"10.0% of the ways between hosts are longer than the "
		"shortest, by 1 hops at most");
	fabric_clear(&f);
}

/* Was the order given up? Only if it does not join what cables join. */
static bool
is_ordered_anew(const struct fabric *f)
{
	g_autofree uint32_t *held = updn_rank(f->g, f->in.ranks, NULL);

	for (uint32_t i = 0; i < f->out.notes->len; i++)
		if (strstr(f->out.notes->pdata[i], "ordered anew")) {
			assert_false(updn_joins_all(f->g, held));
			return true;
		}
	return false;
}

static const char *const changing[] = {
	"ring(8;2)", "torus(4,4;2)", "torus(3,3,3;2)", "mesh(5,4;2)",
	"dragonfly(4,2,2)", "hyperx(4,4;2)", "random(30,4,3)",
	"PGFT(6,12;1,6)", "PGFT(4,4,6;1,4,4)",
};

static void
test_order_survives_a_lost_cable(void **state)
{
	uint32_t n_kept = 0;

	for (size_t i = 0; i < N_ELEMENTS(changing); i++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			struct fabric before, after, again;
			struct subnet *s;
			uint64_t rng = seed;
			uint32_t port;
			bool anew;

			print_message("%s seed %lu\n", changing[i],
				      (unsigned long)seed);
			fabric_make(&before, changing[i], seed, 0);
			s = subnet_copy(before.s);
			port = lab_find_port(s, prng_below(&rng,
							s->n_switches),
					     true, prng_below(&rng, 2));
			lab_cut(s, port);
			fabric_follow(&after, s, &before);
			anew = is_ordered_anew(&after);
			n_kept += !anew;
			if (!anew) {
				assert_same_order(&after, &before);
				assert_acyclic_together(changing[i], &after,
						&before);
			}
			assert_sound(&after, changing[i], seed);
			assert_legal(&after);

			fabric_follow(&again, subnet_ref(before.s), &after);
			assert_same_order(&again, &after);
			assert_sound(&again, changing[i], seed);
			assert_legal(&again);
			assert_acyclic_together(changing[i], &again,
						&after);
			fabric_clear(&again);
			fabric_clear(&after);
			fabric_clear(&before);
		}
	print_message("kept %u times\n", n_kept);
	assert_true(n_kept >= 25);
}

/* It has no cables for a while, and no rank, as if it were another one that
 * comes: those of before keep their order all the time. */
static void
test_order_survives_a_switch_that_goes_and_comes(void **state)
{
	uint32_t n_kept = 0;

	for (size_t i = 0; i < N_ELEMENTS(changing); i++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			struct fabric before, after, again;
			uint64_t rng = seed * 31;
			struct subnet *s;
			uint32_t sw;
			bool anew;

			print_message("%s seed %lu\n", changing[i],
				      (unsigned long)seed);
			fabric_make(&before, changing[i], seed, 0);
			s = subnet_copy(before.s);
			sw = prng_below(&rng, s->n_switches);
			cut_all(s, sw);
			fabric_follow(&after, s, &before);
			anew = is_ordered_anew(&after);
			n_kept += !anew;
			if (!anew) {
				assert_same_order(&after, &before);
				assert_acyclic_together(changing[i], &after,
						&before);
			}
			assert_sound(&after, changing[i], seed);

			after.out.ranks[sw] = ENGINE_NO_RANK;
			fabric_follow(&again, subnet_ref(before.s), &after);
			assert_int_not_equal(again.out.ranks[sw],
					     ENGINE_NO_RANK);
			for (uint32_t k = 0; k < s->n_switches; k++)
				if (k != sw)
					assert_int_equal(again.out.ranks[k],
							 after.out.ranks[k]);
			assert_sound(&again, changing[i], seed);
			assert_legal(&again);
			assert_acyclic_together(changing[i], &again,
						&after);
			fabric_clear(&again);
			fabric_clear(&after);
			fabric_clear(&before);
		}
	print_message("kept %u times\n", n_kept);
	assert_true(n_kept >= 25);
}

/* Levels count from the roots that are given, and no cable leads up from
 * one to what is no root. */
static void
test_roots_that_are_given_are_on_top(void **state)
{
	static const char *const specs[] = {
		"torus(4,4;2)", "random(30,4,3)", "PGFT(6,12;1,6)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++)
		for (uint32_t root = 0; root < 12; root++) {
			g_autofree uint8_t *is_root = NULL;
			struct fabric f;

			fabric_open(&f, &engine_updn,
				    lab_generate(specs[i], 4, 0), 0);
			is_root = g_new0(uint8_t, f.g->n_switches);
			is_root[root] = 1;
			f.in.is_root = is_root;
			fabric_route(&f);
			for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
				if (sw != root)
					assert_true(f.out.ranks[sw] >
						    f.out.ranks[root]);
			assert_int_equal(f.out.notes->len > 1, 0);
			assert_sound(&f, specs[i], root);
			assert_legal(&f);
			fabric_clear(&f);
		}
}

/* Roots at opposite ends of a line of switches would leave the middle a
 * valley that nobody may cross: one root is taken, and it is said. */
static void
test_roots_that_do_not_join_are_not_taken(void **state)
{
	g_autofree uint8_t *is_root = NULL;
	struct fabric f;
	uint32_t sw;

	fabric_open(&f, &engine_updn, lab_generate("mesh(7,1;2)", 4, 0), 0);
	is_root = g_new0(uint8_t, f.g->n_switches);
	for (sw = 0; sw < f.g->n_switches; sw++)
		is_root[sw] = f.g->first_edge[sw + 1] -
			f.g->first_edge[sw] == 1;
	f.in.is_root = is_root;
	fabric_route(&f);
	assert_int_equal(f.out.notes->len, 1);
	assert_non_null(strstr(f.out.notes->pdata[0], "roots"));
	assert_sound(&f, "mesh(7,1;2)", 4);
	assert_legal(&f);
	fabric_clear(&f);
}

/* Each island is routed, and nothing in between. */
static void
test_islands_have_no_path_between(void **state)
{
	struct subnet *s = lab_generate("torus(4,4;2)", 2, 0);
	struct verify_result r;
	struct fabric f;
	uint32_t i, here = 0, sw;

	fabric_open(&f, &engine_updn, subnet_ref(s), 0);
	sw = 5;
	for (i = 0; i < 4; i++)
		cut_all(s, (sw + i) % s->n_switches);
	fabric_clear(&f);
	fabric_open(&f, &engine_updn, s, 0);
	fabric_route(&f);
	assert_legal(&f);
	assert_sound(&f, "cut torus", 2);
	verify_tables(f.g, f.out.lft, NULL, &r);
	for (i = 0; i < f.g->n_targets; i++)
		here += f.g->targets[i].sw == sw;
	assert_int_equal(here, 3);
	assert_true(r.reach.cut_off > 0);
	assert_int_equal(r.reach.unrouted, r.reach.cut_off);
	verify_result_clear(&r);
	fabric_clear(&f);
}

static void
test_one_switch_or_none_is_no_work(void **state)
{
	struct fabric f;

	fabric_make(&f, "single(5)", 1, 0);
	assert_sound(&f, "single(5)", 1);
	for (uint32_t i = 0; i < f.g->n_targets; i++)
		assert_int_equal(lft_row(f.out.lft, 0)[f.g->targets[i].lid],
				 f.g->targets[i].port);
	fabric_clear(&f);
	fabric_make(&f, "pair()", 1, 0);
	assert_int_equal(f.g->n_switches, 0);
	fabric_clear(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_fabric_is_joined_without_loops),
		cmocka_unit_test(test_damaged_trees_are_joined_without_loops),
		cmocka_unit_test(test_much_damage_leaves_the_load_spread),
		cmocka_unit_test(test_lonely_switch_changes_no_order),
		cmocka_unit_test(
			test_intact_trees_are_balanced_whatever_the_guids),
		cmocka_unit_test(test_longer_ways_are_reported),
		cmocka_unit_test(test_order_survives_a_lost_cable),
		cmocka_unit_test(
			test_order_survives_a_switch_that_goes_and_comes),
		cmocka_unit_test(test_roots_that_are_given_are_on_top),
		cmocka_unit_test(test_roots_that_do_not_join_are_not_taken),
		cmocka_unit_test(test_islands_have_no_path_between),
		cmocka_unit_test(test_one_switch_or_none_is_no_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
