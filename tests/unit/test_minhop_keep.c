// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Min-hop on tables of before: what is right stays, what is lost is mended,
 * and what comes back is used again.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/route_lab.h"
#include "topology/prng.h"

static void
fabric_make(struct fabric *f, const char *spec, uint64_t seed,
	    unsigned fail_per_mille, unsigned lmc)
{
	fabric_open(f, &engine_minhop,
		    lab_generate(spec, seed, fail_per_mille), lmc);
	fabric_route(f);
}

/* Cuts the nth cable of a switch with hosts; or a host's. Returns what it
 * was plugged to. */
static uint32_t
cut(struct subnet *s, const struct graph *g, uint32_t nth, bool to_switch)
{
	const struct subnet_node *node;
	uint32_t sw, p, peer;

	for (sw = g->n_switches / 3; g->n_hosts[sw] == 0; sw++)
		;
	node = &s->nodes[s->switches[sw]];
	for (p = node->first_port + 1; ; p++) {
		assert_true(p <= node->first_port + node->info.num_ports);
		peer = s->ports[p].peer;
		if (peer != SUBNET_NONE && to_switch ==
		    subnet_is_switch(subnet_node_of(s, peer)) && nth-- == 0)
			break;
	}
	s->ports[p].peer = s->ports[peer].peer = SUBNET_NONE;
	return peer;
}

static void
assert_same_entries(const struct fabric *a, const struct fabric *b,
		    uint32_t but)
{
	for (uint32_t sw = 0; sw < a->g->n_switches; sw++)
		for (uint32_t lid = 0; lid <= a->out.lft->top; lid++)
			if (lid != but)
				assert_int_equal(lft_row(a->out.lft, sw)[lid],
						 lft_row(b->out.lft, sw)[lid]);
}

static const struct {
	const char *spec;
	unsigned lmc, fail_per_mille;
} held_cases[] = {
	{ "PGFT(6,12;1,6)", 0, 0 },
	{ "PGFT(6,12;1,6)", 2, 50 },
	{ "PGFT(12,24;1,6;1,2)", 0, 20 },
	{ "PGFT(4,4,8;1,4,4)", 0, 0 },
	{ "PGFT(4,4,8;1,4,4)", 1, 0 },
	{ "PGFT(4,4,8;1,4,4)", 0, 100 },
	{ "torus(4,4,3;2)", 0, 0 },
	{ "random(60,5,4)", 1, 0 },
	{ "dragonfly(4,2,2)", 0, 0 },
	{ "hyperx(4,4;3)", 0, 0 },
};

static void
test_what_is_right_is_kept(void **state)
{
	for (size_t i = 0; i < N_ELEMENTS(held_cases); i++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct fabric f, same, gone, back;
			struct subnet *s;
			uint32_t host;

			print_message("%s seed %lu\n", held_cases[i].spec,
				      (unsigned long)seed);
			fabric_make(&f, held_cases[i].spec, seed,
				    held_cases[i].fail_per_mille,
				    held_cases[i].lmc);
			fabric_follow(&same, subnet_ref(f.s), &f);
			assert_same_entries(&f, &same, 0);
			fabric_clear(&same);
			s = subnet_copy(f.s);
			host = cut(s, f.g, 0, false);
			fabric_follow(&gone, s, &f);
			for (uint32_t sw = 0; sw < f.g->n_switches; sw++)
				for (uint32_t k = 0; k < 1u <<
				     held_cases[i].lmc; k++)
					lft_row(gone.out.lft, sw)[
						f.lids->base[host] + k] =
						lft_row(f.out.lft, sw)[
						f.lids->base[host] + k];
			assert_same_entries(&f, &gone, 0);
			fabric_follow(&back, subnet_ref(f.s), &gone);
			assert_same_entries(&f, &back, 0);
			fabric_clear(&back);
			fabric_clear(&gone);
			fabric_clear(&f);
		}
}

/* All must be right whatever the tables of before say. */
static void
test_previous_tables_may_be_nonsense(void **state)
{
	for (size_t i = 0; i < N_ELEMENTS(held_cases); i++) {
		struct fabric f, next;
		uint64_t rng = 77 + i;

		fabric_make(&f, held_cases[i].spec, i, 0, held_cases[i].lmc);
		for (size_t k = 0; k < (size_t)f.out.lft->n_switches *
		     f.out.lft->stride; k++)
			if (prng_below(&rng, 3) == 0)
				f.out.lft->ports[k] = (uint8_t)prng_below(&rng,
								      256);
		fabric_follow(&next, subnet_ref(f.s), &f);
		fabric_assert_shortest(&next);
		fabric_clear(&next);
		fabric_clear(&f);
	}
}

/* Blocks with an entry that is no shortest way any more. */
static uint32_t
count_broken_blocks(const struct fabric *before, const struct fabric *after)
{
	const struct graph *g = after->g;
	uint32_t n_blocks = lft_n_blocks(after->out.lft), n = 0, e;
	g_autofree uint32_t *hops = g_new(uint32_t, g->n_switches);
	g_autofree uint8_t *broken = g_new0(uint8_t, g->n_switches * n_blocks);

	for (uint32_t i = 0; i < g->n_targets; i++) {
		uint16_t lid = g->targets[i].lid;

		lab_measure_hops(g, g->targets[i].sw, hops);
		for (uint32_t sw = 0; sw < g->n_switches; sw++) {
			e = after->edge_of[sw * GRAPH_PORTS +
					   lft_row(before->out.lft, sw)[lid]];
			if (hops[sw] && (e == SUBNET_NONE ||
			    hops[g->edges[e].peer] + 1 != hops[sw]))
				broken[sw * n_blocks + lid / LFT_BLOCK] = 1;
		}
	}
	for (uint32_t i = 0; i < g->n_switches * n_blocks; i++)
		n += broken[i];
	return n;
}

static uint64_t
max_load(const struct fabric *f)
{
	return fabric_max_load(f, NULL);
}

/* No more changes than must, and no more load than if all was routed anew;
 * when the cable is back, so are the tables. */
static void
test_lost_cable_changes_what_it_must(void **state)
{
	static const char *const specs[] = {
		"PGFT(18,36;1,18)", "PGFT(8,8,16;1,8,8)",
		"PGFT(12,12,24;1,12,12)",
	};

	for (size_t i = 0; i < N_ELEMENTS(specs); i++)
		for (uint32_t nth = 0; nth < 4; nth++) {
			struct fabric f, hurt, back;
			uint32_t changed, least;
			struct subnet *s;

			fabric_make(&f, specs[i], nth, 0, 0);
			s = subnet_copy(f.s);
			cut(s, f.g, nth, true);
			fabric_follow(&hurt, s, &f);
			fabric_assert_shortest(&hurt);
			changed = lab_count_blocks(f.out.lft, hurt.out.lft);
			least = count_broken_blocks(&f, &hurt);
			fabric_follow(&back, subnet_ref(f.s), &hurt);
			print_message("%s: %u blocks changed of %u, load %lu, "
				      "%lu\n", specs[i], changed, least,
				      (unsigned long)max_load(&f),
				      (unsigned long)max_load(&hurt));
			assert_true(changed > 0);
			assert_true(changed * 10 <= least * 11);
			assert_true(max_load(&hurt) * 10 <=
				    max_load(&f) * 21);
			assert_same_entries(&f, &back, 0);
			fabric_clear(&back);
			fabric_clear(&hurt);
			fabric_clear(&f);
		}
}

/* Some cables go, one by one, and come back in the same order: others than
 * the last one that went are the last to come. */
static void
test_mended_fabric_is_as_balanced_as_new(void **state)
{
	static const char *const specs[] = {
		"PGFT(12,24;1,6;1,2)", "PGFT(8,8,16;1,8,8)",
		"PGFT(8,8,8;1,8,4)", "torus(6,6;4)", "dragonfly(4,2,2)",
	};
	enum { N_LOST = 3 };

	for (size_t i = 0; i < N_ELEMENTS(specs); i++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			uint32_t lost[N_LOST], peer[N_LOST];
			struct fabric f[2 * N_LOST + 1];
			uint64_t rng = seed, worst = 0;
			struct subnet *s;
			uint32_t k, n = 0;

			fabric_make(&f[n], specs[i], seed, 0, 0);
			for (k = 0; k < N_LOST; n++) {
				s = subnet_copy(f[n].s);
				lost[k] = lab_find_port(s, prng_below(&rng,
						s->n_switches), true,
					prng_below(&rng, 4));
				peer[k] = s->ports[lost[k]].peer;
				lab_cut(s, lost[k++]);
				fabric_follow(&f[n + 1], s, &f[n]);
				worst = MAX(worst, max_load(&f[n + 1]));
			}
			for (k = 0; k < N_LOST; n++, k++) {
				s = subnet_copy(f[n].s);
				s->ports[lost[k]].peer = peer[k];
				s->ports[peer[k]].peer = lost[k];
				fabric_follow(&f[n + 1], s, &f[n]);
			}
			print_message("%s seed %lu: load %lu, %lu at most, "
				      "%lu; %u blocks changed by the last\n",
				      specs[i], (unsigned long)seed,
				      (unsigned long)max_load(&f[0]),
				      (unsigned long)worst,
				      (unsigned long)max_load(&f[n]),
				      lab_count_blocks(f[n - 1].out.lft,
						       f[n].out.lft));
			assert_true(worst > max_load(&f[0]));
			fabric_assert_shortest(&f[n]);
			assert_true(max_load(&f[n]) * 100 <=
				    max_load(&f[0]) * 101);
			do
				fabric_clear(&f[n]);
			while (n-- > 0);
		}
}

/* Valid, but all by the same few cables: not to be kept. */
static void
test_lopsided_tables_are_not_kept(void **state)
{
	struct fabric f, next;
	uint64_t max;

	fabric_make(&f, "PGFT(18,36;1,18)", 3, 0, 0);
	max = max_load(&f);
	for (uint32_t i = 0; i < f.g->n_targets; i++)
		for (uint32_t sw = 0; f.g->targets[i].port &&
		     sw < f.g->n_switches; sw++)
			if (f.g->n_hosts[sw] && sw != f.g->targets[i].sw)
				lft_row(f.out.lft, sw)[f.g->targets[i].lid] =
					f.g->edges[f.g->first_edge[sw]].port;
	assert_true(max_load(&f) > 10 * max);
	fabric_follow(&next, subnet_ref(f.s), &f);
	assert_int_equal(max_load(&next), max);
	fabric_clear(&next);
	fabric_clear(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_right_is_kept),
		cmocka_unit_test(test_previous_tables_may_be_nonsense),
		cmocka_unit_test(test_lost_cable_changes_what_it_must),
		cmocka_unit_test(test_mended_fabric_is_as_balanced_as_new),
		cmocka_unit_test(test_lopsided_tables_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
