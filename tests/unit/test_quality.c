// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Figures that were counted by hand, or are counted again by the plainest
 * means.
 */
#include <math.h>

#include "lab/traffic.h"
#include "routing/order.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/seed.h"
#include "tools/net_file_parse.h"

/* x87 keeps more digits in a register than in memory. */
static bool
is_close(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

/*
 * All ways go round in one sense. To each of 4 hosts come flows over 1, 2 and 3 channels of the ring: 24
 * channel uses, spread over 4 channels of one sense; the other 4 idle. Of more
 * hosts on a switch each pair counts, and those within it use no channel; of
 * several LIDs only the base. Then one entry for the host on `at` is wrong:
 * a hole drops what comes through, but not before; tables with a loop have no
 * load that one could name. An order of the switches changes nothing. Paths over
 * three channels are longer than the way back over one.
 */
TEST(test_load_of_a_ring)
{
	static const uint32_t orders[][4] = { { 0, 1, 2, 3 }, { 3, 0, 9, 0 } };
	const uint32_t *const ranks[] = { NULL, orders[0], orders[1] };
	static const struct {
		const char *spec;
		unsigned lmc;
		int sw;		/* with the wrong entry; -1: none */
		uint32_t at;
		int entry;	/* -1: on to the next switch */
		uint64_t lost, max, longer;
		double mean, hops;
	} cases[] = {
		{ "ring(4;1)", 0, -1, 0, 0, 0, 6, 4, 3.0, 24.0 / 12 },
		{ "ring(4;3)", 0, -1, 0, 0, 0, 54, 36, 27.0, 216.0 / 132 },
		{ "ring(4;1)", 2, -1, 0, 0, 0, 6, 4, 3.0, 24.0 / 12 },
		{ "ring(4;1)", 0, 1, 3, LFT_NO_PATH, 2, 6, 3, 20.0 / 8,
		  19.0 / 10 },
		{ "ring(4;1)", 0, 3, 3, -1, 3, 0, 3, 0, 18.0 / 9 },
		{ "ring(4;2)", 0, 2, 2, 0, 7, 24, 14, 12.0, 84.0 / 49 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(metrics_paths_clear) struct metrics_paths paths;
		AUTO_VALUE(fabric_clear) struct fabric f;
		struct metrics_load load;
		int sw = cases[i].sw;

		fabric_open(&f, NULL, lab_generate(cases[i].spec, 0, 0),
			    cases[i].lmc);
		lab_go_round(f.g, f.out.lft);
		lab_deliver(f.g, f.out.lft);
		if (sw >= 0)
			lft_row(f.out.lft, sw)
				[lab_target(f.g, cases[i].at, true)->lid] =
				cases[i].entry < 0 ?
				lab_port_to(f.g, sw, (sw + 1) % 4) :
				(uint8_t)cases[i].entry;
		for (size_t k = 0; k < G_N_ELEMENTS(ranks); k++) {
			metrics_all_to_all(f.g, f.out.lft, ranks[k], &load);
			assert_int_equal(load.channels, 8);
			assert_int_equal(load.lost, cases[i].lost);
			assert_true(load.worst == (double)cases[i].max);
			assert_true(load.mean == cases[i].mean);
		}
		metrics_paths(f.g, f.out.lft, &paths);
		assert_int_equal(paths.lost, cases[i].lost);
		assert_int_equal(paths.longer, cases[i].longer);
		assert_int_equal(paths.max, 3);
		assert_true(is_close(paths.mean, cases[i].hops));
	}
}

/* --- a fabric of any kind --- */

struct lab {
	struct fabric f;
	struct metrics_sample sample;
	uint32_t n_shifts;
	unsigned n_threads;
	struct traffic traffic;
	uint32_t *hosts;
};

static void
lab_open(struct lab *lab, struct snapshot *s)
{
	*lab = (struct lab){ .sample.n = 1000, .n_shifts = 1000 };
	assert_non_null(s);
	fabric_open(&lab->f, &engine_minhop, s, 0);
	lab->hosts = order_hosts(lab->f.g, &lab->sample.n_hosts);
	lab->sample.hosts = lab->hosts;
}

static void
lab_init(struct lab *lab, const char *spec, uint64_t seed,
	 unsigned fail_per_mille)
{
	lab_open(lab, lab_generate(spec, seed, fail_per_mille));
}

static const struct metrics_congestion *
lab_measure(struct lab *lab)
{
	traffic_measure(lab->f.g, lab->f.out.lft, &lab->sample, lab->n_shifts,
			lab->n_threads, &lab->traffic);
	return lab->traffic.of;
}

static void
lab_clear(struct lab *lab)
{
	g_free(lab->hosts);
	fabric_clear(&lab->f);
}

static const struct graph_target *
lab_host(const struct lab *lab, uint32_t i)
{
	return &lab->f.g->targets[lab->hosts[i]];
}

static unsigned
index_of(const struct lab *lab, uint32_t sw)
{
	unsigned level, index;

	assert_int_equal(sscanf(lab->f.s->nodes[lab->f.s->switches[sw]].desc,
				"S-%u-%u", &level, &index), 2);
	return index;
}

/* D-mod-k on two levels: host i of the order goes up by plane i mod n, that
 * is to the spine of that number. Spines know one way down. */
static void
lab_route_planes(struct lab *lab, uint32_t n_planes)
{
	const struct graph *g = lab->f.g;
	const struct graph_target *t;
	uint32_t i, sw, e;

	for (i = 0; i < lab->sample.n_hosts; i++) {
		t = lab_host(lab, i);
		for (sw = 0; sw < g->n_switches; sw++)
			for (e = g->first_edge[sw]; e < g->first_edge[sw + 1];
			     e++)
				if (g->n_hosts[sw] ?
				    index_of(lab, g->edges[e].peer) ==
				    i % n_planes : g->edges[e].peer == t->sw)
					lft_row(lab->f.out.lft, sw)[t->lid] =
						g->edges[e].port;
		lft_row(lab->f.out.lft, t->sw)[t->lid] = t->port;
	}
}

#define LAB_TEST(name, args...) \
	TEST_ON(name, struct lab, lab, lab_init, lab_clear, ##args)

LAB_TEST(test_fabric_without_switches_has_no_figures, "pair()", 0, 0)
{
	AUTO_VALUE(metrics_paths_clear) struct metrics_paths p;

	lab->n_threads = 2;
	assert_int_equal(lab->sample.n_hosts, 0);
	metrics_paths(lab->f.g, lab->f.out.lft, &p);
	assert_int_equal(p.arrived + p.lost + p.max, 0);
	lab_measure(lab);
	for (unsigned i = 0; i < N_TRAFFIC; i++)
		assert_int_equal(lab->traffic.of[i].n +
				 lab->traffic.of[i].n_all, 0);
}

/* --- order --- */

/* @: the node, !: its HCA, *: one of all HCAs. */
static void
put_numbers(GString *to, const char *text, unsigned node, unsigned hca)
{
	for (; *text; text++)
		g_string_append_c(to, *text == '@' ? (char)('1' + node) :
				  *text == '!' ? (char)('0' + hca) :
				  *text == '*' ? (char)('1' + 2 * node + hca) :
				  *text);
}

/*
 * Two switches, one cable, two nodes of two HCAs on each. Of a shift by 1, 2, 3
 * on each rail 1, 2 and 1 flows cross, of the ring's one as well; of four nodes
 * in two trees, 4 half flows. Names in two words tell, whatever they are, and
 * so does the order of GUIDs in a system. If nothing tells, eight nodes have
 * one rail each: of a shift by k min(k, 8 - k) flows cross.
 */
TEST(test_rails_are_told_by_names_or_systems)
{
	static const struct {
		const char *name, *image;	/* see put_numbers() */
		uint32_t n_nodes, n_rails;
		double mean;
		uint32_t max, ring, trees;
	} cases[] = {
		{ "node-1@ HCA-!", "0", 4, 2, 8.0 / 3, 4, 2, 8 },
		{ "a node@ mlx5_! ", "9*", 4, 2, 8.0 / 3, 4, 2, 8 },
		{ "dgx*", "9@", 4, 2, 8.0 / 3, 4, 2, 8 },
		{ "MT4123  Technologies", "9@", 4, 2, 8.0 / 3, 4, 2, 8 },
		{ "MT4123  Technologies", "9*", 8, 1, 16.0 / 7, 4, 1, 4 },
		{ "dgx*", "0", 8, 1, 16.0 / 7, 4, 1, 4 },
	};
	static const unsigned numbers[8][2] = {	/* in the order of ports */
		{ 0, 0 }, { 1, 1 }, { 0, 1 }, { 1, 0 },
		{ 3, 0 }, { 2, 0 }, { 3, 1 }, { 2, 1 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) net = g_string_new(NULL);
		AUTO_VALUE(lab_clear) struct lab lab = { .sample.n = 1000 };
		const struct metrics_congestion *t;

		for (unsigned k = 0; k < 8; k++) {
			unsigned node = numbers[k][0], hca = numbers[k][1];
			unsigned sw = k / 4, port = k % 4 + 1;

			if (port == 1)
				g_string_append_printf(net, "Switch 5 \"S-%u\""
					"\n[5] \"S-%u\"[5]\n", sw, 1 - sw);
			g_string_append_printf(net, "[%u] ", port);
			put_numbers(net, "\"H-5*\"[1]\n", node, hca);
		}
		for (unsigned k = 0; k < 8; k++) {
			unsigned node = numbers[k][0], hca = numbers[k][1];

			put_numbers(net, "\nsysimgguid=0x", node, hca);
			put_numbers(net, cases[i].image, node, hca);
			put_numbers(net, "\ncaguid=0x5*\nCa 1 \"H-5*\" # \"",
				    node, hca);
			put_numbers(net, cases[i].name, node, hca);
			g_string_append_printf(net, "\"\n[1] \"S-%u\"[%u]\n",
					       k / 4, k % 4 + 1);
		}
		lab_open(&lab, net_file_parse(net->str, "rails", NULL));
		fabric_route(&lab.f);
		t = lab_measure(&lab);
		assert_int_equal(lab.traffic.n_nodes, cases[i].n_nodes);
		assert_int_equal(lab.traffic.n_rails, cases[i].n_rails);
		assert_true(is_close(t[TRAFFIC_RAILS].mean, cases[i].mean));
		assert_int_equal(t[TRAFFIC_RAILS].max, cases[i].max);
		assert_int_equal(t[TRAFFIC_RAILS].worst, cases[i].n_nodes / 2);
		assert_int_equal(t[TRAFFIC_RING].max, cases[i].ring);
		assert_int_equal(t[TRAFFIC_TREES].max, cases[i].trees);
		assert_int_equal(t[TRAFFIC_RAILS].lost + t[TRAFFIC_TREES].lost,
				 0);
	}
}

/* A rail has 2 leaves of 3 nodes, so of 6 nodes in a row 3 are on each. All up
 * to one spine: of a shift by k min(k, 6 - k) flows leave a leaf, of the ring
 * one, of the first tree, 1-2, 3-2, 2-4, 5-4, 4-0, the branches 3-2, 2-4 and
 * 4-0, of the second as many. With a spine for every third host no shift shares
 * a cable; node 3 gets 3 half flows from the other leaf, node 2 sends 4. */
LAB_TEST(test_rails_do_not_share_leaves, "rails(4;6,2;3)", 0, 0)
{
	const struct metrics_congestion *t;

	lab_route_planes(lab, 1);
	t = lab_measure(lab);
	assert_int_equal(lab->traffic.n_nodes, 6);
	assert_int_equal(lab->traffic.n_rails, 2);
	assert_int_equal(t[TRAFFIC_RAILS].n_all - t[TRAFFIC_RING].n_all, 5);
	assert_true(is_close(t[TRAFFIC_RAILS].mean,
			     (1 + 2 + 3 + 2 + 1) / 5.0));
	assert_int_equal(t[TRAFFIC_RING].max, 1);
	assert_int_equal(t[TRAFFIC_TREES].max, 6);
	lab_route_planes(lab, 3);
	lab_measure(lab);
	assert_true(t[TRAFFIC_RAILS].mean == 1);
	assert_int_equal(t[TRAFFIC_TREES].max, 4);
}

/* Two switches, one cable, 8 hosts on each: the flows that cross one way are
 * 4 on average, 8 at most, and as many cross the other way. */
LAB_TEST(test_permutations_cross_a_cable_evenly, "ring(2;8)", 0, 0)
{
	struct metrics_congestion c;

	assert_int_equal(lab->f.g->n_edges, 2);
	fabric_route(&lab->f);
	lab->sample.n = 4000;
	lab->sample.seed = 11;
	c = lab_measure(lab)[TRAFFIC_PERMUTATIONS];
	assert_int_equal(c.n, 4000);
	assert_int_equal(c.n_all, 0);
	assert_true(c.mean > 3.9 && c.mean < 4.1);
	assert_true(c.max >= 7 && c.max <= 8);
	assert_int_equal(c.lost, 0);
}

/* Two and two: with a chance of 1/3 both senders are on one side and share the
 * cable, else none does: 1/3 * 1/2 + 2/3. */
TEST(test_bisection_shares_a_cable)
{
	struct lab lab;
	double share;

	lab_init(&lab, "ring(2;2)", 0, 0);
	fabric_route(&lab.f);
	lab.sample.n = 4000;
	share = lab_measure(&lab)[TRAFFIC_BISECTIONS].mean;
	assert_true(share > 0.815 && share < 0.852);

	/* to one of the four no flow arrives: it is asked half of the time */
	lab_clear(&lab);
	lab_init(&lab, "single(4)", 0, 0);
	fabric_route(&lab.f);
	lft_row(lab.f.out.lft, 0)[lab_host(&lab, 1)->lid] = LFT_NO_PATH;
	lab.sample.n = 4000;
	share = lab_measure(&lab)[TRAFFIC_BISECTIONS].mean;
	assert_true(share > 0.73 && share < 0.77);
	lab_clear(&lab);
}

LAB_TEST(test_chance_depends_on_the_seed_only, "torus(3,3;3)", 0, 0)
{
	struct traffic a;

	fabric_route(&lab->f);
	lab->sample.n = 101;
	lab->sample.seed = 5;
	lab->n_threads = 1;
	lab_measure(lab);
	a = lab->traffic;
	assert_int_equal(a.of[TRAFFIC_TREES].max, 5);	/* of 27 */
	lab->n_threads = 3;
	lab_measure(lab);
	for (unsigned i = 0; i < N_TRAFFIC; i++) {
		assert_true(a.of[i].mean == lab->traffic.of[i].mean);
		assert_int_equal(a.of[i].worst, lab->traffic.of[i].worst);
	}
	lab->sample.seed = 6;
	lab_measure(lab);
	for (unsigned i = 0; i < TRAFFIC_SHIFTS; i++)
		assert_true(a.of[i].mean != lab->traffic.of[i].mean);
}

/* All up to one spine: of a shift by 1 and by 14 one of a leaf's three hosts
 * leaves it, by 2 and by 13 two, else all. A sample is between the extremes. */
LAB_TEST(test_sample_of_shifts_is_a_sample, "PGFT(3,5;1,3)", 0, 0)
{
	AUTO_VALUE(metrics_paths_clear) struct metrics_paths p;
	struct metrics_congestion c;
	uint32_t n_differ = 0;
	double first = 0;

	lab_route_planes(lab, 1);
	lab->sample.n = 5;
	for (lab->sample.seed = 0; lab->sample.seed < 40; lab->sample.seed++) {
		metrics_shifts(lab->f.g, lab->f.out.lft, &lab->sample, &c);
		assert_int_equal(c.n, 5);
		assert_int_equal(c.n_all, 14);
		/* two of each of 1 and 2: five cannot all be these */
		assert_int_equal(c.max, 3);
		assert_true(c.mean >= 9 / 5.0 && c.mean <= 3);
		if (lab->sample.seed == 0)
			first = c.mean;
		n_differ += c.mean != first;
	}
	assert_true(n_differ > 0);
	/* all of them; and the flows of all, where no table has an entry */
	lab->sample.n = 100;
	metrics_shifts(lab->f.g, lab->f.out.lft, &lab->sample, &c);
	assert_true(is_close(c.mean, 36 / 14.0));
	assert_int_equal(c.worst, 3);
	memset(lab->f.out.lft->ports, LFT_NO_PATH, lft_size(lab->f.out.lft));
	metrics_shifts(lab->f.g, lab->f.out.lft, &lab->sample, &c);
	assert_int_equal(c.lost, 15 * 14);
	metrics_paths(lab->f.g, lab->f.out.lft, &p);
	assert_int_equal(p.max, 0);
}

/* --- the entries that hosts use among themselves --- */

/* Follows one way, entry by entry, until it ends or is as long as can be. */
static void
copy_path(const struct fabric *f, struct lft *plain, uint32_t sw, uint32_t lid)
{
	const struct graph *g = f->g;
	uint32_t hops, e;

	for (hops = 0; hops <= g->n_switches; hops++) {
		lft_row(plain, sw)[lid] = lft_row(f->out.lft, sw)[lid];
		e = fabric_edge_to(f, sw, lid);
		if (e == SNAPSHOT_NONE)
			return;
		sw = g->edges[e].peer;
	}
}

static void
recount_host_entries(const struct fabric *f)
{
	const struct graph *g = f->g;
	AUTO(lft) *plain = lft_new(f->out.lft->n_switches, f->out.lft->top);
	AUTO(lft) *found = metrics_host_entries(g, f->out.lft);
	uint32_t i, j, k;

	for (i = 0; i < g->n_targets; i++)
		for (j = 0; j < g->n_targets; j++)
			for (k = 0; k < g->targets[j].n_lids; k++)
				if (g->targets[i].port && g->targets[j].port)
					copy_path(f, plain,
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

	for (unsigned round = 0; round < 40; round++) {
		AUTO_VALUE(fabric_clear) struct fabric f;
		const char *spec = specs[round % G_N_ELEMENTS(specs)];

		fabric_build(&f, &engine_minhop, lab_generate(spec, 0, 0),
			     prng_below(&rng, 3));
		lab_spoil(f.g, f.out.lft, prng_below(&rng, 30), &rng);
		recount_host_entries(&f);
	}
}

/* --- churn --- */

TEST(test_churn_counts_entries_and_blocks)
{
	AUTO(lft) *a = lft_new(2, 100), *b = lft_new(2, 200);
	struct metrics_churn churn;

	metrics_churn(a, b, &churn);
	assert_int_equal(churn.entries, 0);
	assert_int_equal(churn.blocks, 0);
	assert_int_equal(churn.all_blocks, 8);

	lft_row(a, 0)[1] = 3;	/* another port */
	lft_row(b, 0)[1] = 4;
	lft_row(a, 0)[63] = 3;	/* taken away, same block */
	lft_row(b, 1)[64] = 9;	/* new */
	lft_row(b, 1)[200] = 9;	/* past the end of the old table */
	metrics_churn(a, b, &churn);
	assert_int_equal(churn.entries, 4);
	assert_int_equal(churn.blocks, 3);
	metrics_churn(b, a, &churn);
	assert_int_equal(churn.entries, 4);
	assert_int_equal(churn.blocks, 3);
	assert_int_equal(churn.all_blocks, 8);
}

/* 12 hops on average, over six channels of each switch. */
TEST(test_bound_of_a_large_torus_is_that_of_its_paths)
{
	AUTO_VALUE(fabric_clear) struct fabric f;
	double bound;

	fabric_open(&f, NULL, lab_generate("torus(16,16,16;1)", 0, 0), 0);
	bound = metrics_bound(f.g, false);
	assert_true(bound > 8191 && bound < 8193);
}

/* Two hosts, and six cables from switch to switch. */
TEST(test_bound_does_not_divide_a_flow)
{
	AUTO_VALUE(fabric_clear) struct fabric f;

	fabric_open(&f, NULL, lab_generate("PGFT(1,2;1,6)", 0, 0), 0);
	assert_true(metrics_bound(f.g, true) == 1);
	fabric_clear(&f);
	/* two of the three entries lead into one cable, with three flows each */
	fabric_open(&f, NULL, lab_generate("PGFT(3,2;1,1;1,2)", 0, 0), 0);
	assert_true(metrics_bound(f.g, true) == 6);
}
