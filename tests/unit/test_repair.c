// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repairs of tables, judged by the oracle: many fabrics, cables and a switch
 * that are lost and come back one after the other. What a repair gives out
 * loses no pair and has no credit loop, nor has any step from the tables of
 * before; and a whole fabric has the tables that the engine made, to the byte.
 *
 * MINISM_TEST_SEED sets the seed.
 */
#include "routing/metrics.h"
#include "routing/repair.h"
#include "tests/lib/route_lab.h"
#include "tests/lib/seed.h"

#define AWAY	3u	/* the LID of a host that is away */
#define HIGHEST	60u	/* that of a switch */
#define ROUNDS	6u	/* repairs of a fabric, one after the other */

struct lab {
	struct snapshot *s;
	struct lid_map *lids;	/* of s, and of all that is left of it */
	struct choice whole;
	struct repair *repair;
	struct lft *held;	/* by switch of s */
	uint64_t max;		/* flows on the busiest channel */
};

/* What is left of it, which has fewer switches than the whole, perhaps. */
struct rest {
	struct snapshot *s;
	struct lid_map *lids;
	struct graph *g;
	struct lft *held;
	uint32_t *whole;	/* by switch: its index in the whole */
};

/* s is consumed. */
static void
lab_open(struct lab *lab, struct snapshot *s)
{
	const struct choice_wish wish = { 0 };
	struct lid_range fixed[] = {
		{ .guid = 1, .min = AWAY, .max = AWAY },
		{ .min = HIGHEST, .max = HIGHEST },
	};
	struct engine_input in = { .n_threads = 1 };
	g_autoptr(GError) error = NULL;
	struct oracle_verdict v;
	struct oracle_case c;
	struct graph *g;

	*lab = (struct lab){ .s = s };
	assert_non_null(s);
	fixed[1].guid = s->ports[s->nodes[s->switches[0]].first_port].guid;
	lab->lids = lid_assign(lab->s, 0, fixed, 2, NULL, NULL);
	in.g = g = graph_new(lab->s, lab->lids);
	assert_true(choose_tables(&wish, &in, &lab->whole, &error));
	lab->held = lft_copy(lab->whole.lft);
	lab->repair = repair_new(g, &lab->whole);
	assert_non_null(lab->repair);
	assert_int_equal(s->ref, 1);	/* it is by far the largest part */
	c = (struct oracle_case){
		.s = lab->s, .lids = lab->lids, .lft = lab->held,
	};
	oracle_judge(&c, &v);
	lab->max = v.max;
}

static void
lab_close(struct lab *lab)
{
	repair_free(lab->repair);
	choice_clear(&lab->whole);
	lft_free(lab->held);
	lid_map_free(lab->lids);
	snapshot_unref(lab->s);
}

/* The LIDs of before, for the ports that are there. */
static struct lid_map *
keep_lids(const struct lab *lab, const struct snapshot *s)
{
	g_autoptr(GArray) kept = lid_remember(lab->s, lab->lids, NULL, 0);
	struct lid_map *lids = lid_assign(s, 0, (void *)kept->data, kept->len,
					  NULL, NULL);

	assert_non_null(lids);
	return lids;
}

static void
rest_open(struct rest *r, const struct lab *lab, struct snapshot *s)
{
	*r = (struct rest){ .s = s, .lids = keep_lids(lab, s) };
	r->g = graph_new(s, r->lids);
	r->held = lft_new(s->n_switches, lab->held->top);
	r->whole = g_new(uint32_t, s->n_switches);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		uint32_t node = snapshot_find_node(lab->s,
			s->nodes[s->switches[sw]].info.node_guid);

		r->whole[sw] = lab->s->nodes[node].sw_index;
		memcpy(lft_row(r->held, sw), lft_row(lab->held, r->whole[sw]),
		       r->held->stride);
	}
}

static void
rest_close(struct rest *r)
{
	graph_free(r->g);
	g_free(r->whole);
	lft_free(r->held);
	lid_map_free(r->lids);
	snapshot_unref(r->s);
}

/* From the held tables to the new ones. Entries for LIDs without a port may have
 * had a loop already. */
static void
expect_way(const struct lab *lab, const struct rest *r, const struct choice *c)
{
	AUTO(lft) *held = lft_copy(r->held);
	g_autofree bool *was_switch = g_new0(bool, held->top + 1u);
	const struct oracle_case of = {
		.s = r->s, .lids = r->lids, .is_ordered = true,
		.was_switch = was_switch,
	};

	for (uint32_t lid = 1; lid <= held->top; lid++) {
		uint32_t port = lid_map_owner(lab->lids, (uint16_t)lid);

		was_switch[lid] = port != SNAPSHOT_NONE &&
			snapshot_is_switch(snapshot_node_of(lab->s, port));
		for (uint32_t sw = 0; sw < held->n_switches; sw++)
			if (!graph_target_at(r->g, lid))
				lft_row(held, sw)[lid] = LFT_NO_PATH;
	}
	assert_true((c->safety == CHOICE_DRAIN) == (c->bridge != NULL));
	lab_judge_update(&of, held, c);
}

/* Of a tree with all ports of all switches. */
static void
expect_trees(const struct rest *r, const struct repair *repair,
	     const struct choice *made)
{
	struct choice bare = *made;	/* any turn but of a loop may stay */
	AUTO(mft) *trees = mft_new(r->s->n_switches, MFT_POSITIONS, 1);

	bare.ranks = NULL;
	for (uint32_t sw = 0; sw < r->s->n_switches; sw++)
		for (uint32_t p = 0; p < MFT_POSITIONS; p++)
			*mft_block(trees, sw, p, 0) = 0xffff;
	assert_true(repair_cut_trees(repair, trees) > 0);
	assert_int_equal(choose_cut_trees(r->g, r->held, &bare, trees), 0);
}

/* True: it was repaired; what is whole again has the tables that were made. s
 * is consumed. */
static bool
lab_change(struct lab *lab, struct snapshot *s, double *worst)
{
	struct engine_input in;
	struct oracle_verdict v;
	struct choice c;
	struct rest r;
	bool ok;

	rest_open(&r, lab, s);
	in = (struct engine_input){ .g = r.g, .previous = r.held };
	ok = repair_tables(lab->repair, &in, &c);
	if (ok) {
		expect_way(lab, &r, &c);
		expect_trees(&r, lab->repair, &c);
		oracle_judge(&(struct oracle_case){ .s = r.s, .lids = r.lids,
			     .lft = c.lft }, &v);
		assert_int_equal(v.lost_hosts, 0);
		assert_true(v.lost_mixed <= lab->whole.alone.reach.lost_mixed);
		assert_true(!c.alone.reach.lid ||
			    c.alone.reach.sw < r.s->n_switches);
		*worst = MAX(*worst, (double)v.max / (double)lab->max);
		assert_int_equal(c.is_mended, s != lab->s);
		for (uint32_t sw = 0; sw < r.s->n_switches; sw++)
			memcpy(lft_row(lab->held, r.whole[sw]),
			       lft_row(c.lft, sw), c.lft->stride);
		if (s == lab->s)
			assert_memory_equal(lab->held->ports,
					    lab->whole.lft->ports,
					    lft_size(lab->held));
	}
	choice_clear(&c);
	rest_close(&r);
	return ok;
}

/* Without n cables by chance, or of n = 0 without a switch that has no host. */
static struct snapshot *
damage(const struct snapshot *whole, unsigned n, uint64_t seed)
{
	const struct link_failures d = {
		.seed = seed, .switches_per_mille = n ? 0 :
			1000 / whole->n_switches + 1,
	};
	struct snapshot *s = snapshot_copy(whole);
	uint64_t random = seed;
	uint32_t port;

	if (!n) {
		snapshot_unref(s);
		return snapshot_fail_links(whole, &d);
	}
	while (n) {
		port = prng_below(&random, s->n_ports);
		if (s->ports[port].peer == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, port)) ||
		    !snapshot_is_switch(snapshot_node_of(s,
						s->ports[port].peer)))
			continue;
		lab_cut(s, port);
		n--;
	}
	return s;
}

/* The repair ends in the middle of a stage: each switch has written it, or not. */
static void
lab_interrupt(struct lab *lab, const struct snapshot *s, uint64_t random)
{
	AUTO(graph) *g = graph_new(s, lab->lids);
	const struct engine_input in = { .g = g, .previous = lab->held };
	unsigned stage = 0;
	struct choice c;

	assert_true(repair_tables(lab->repair, &in, &c) && c.bridge);
	while (prng_below(&random, 3)) {
		memcpy(lab->held->ports, c.bridge->ports, lft_size(lab->held));
		transition_apply(c.bridge, c.later, ++stage);
	}
	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		if (prng_below(&random, 3))
			memcpy(lft_row(lab->held, sw), lft_row(c.bridge, sw),
			       c.bridge->stride);
	choice_clear(&c);
}

static const char *const specs[] = {
	"PGFT(6,6;1,6)", "PGFT(4,4,4;1,4,4)", "PGFT(4,6,3;1,3,2)",
	"PGFT(8,8;1,4;1,2)", "PGFT(3,3,6;1,3,3)", "PGFT(4,4,6;1,4,4)",
	"torus(4,4;2)", "torus(4,4,3;1)", "hyperx(4,4;3)",
	"dragonfly(4,2,2)", "random(24,5,3)",
};

TEST(test_each_repair_is_safe_and_loses_nothing)
{
	uint64_t seed = seed_take(1);
	unsigned n_repaired = 0, n = 0, n_whole = 0;
	double worst = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(specs); i++) {
		AUTO_VALUE(lab_close) struct lab lab;

		lab_open(&lab, generate_fabric(specs[i], NULL, NULL));
		for (unsigned k = 0; k < ROUNDS; k++, n++)
			n_repaired += lab_change(&lab,
				damage(lab.s, k % 3, seed + k), &worst);
		n_whole += lab_change(&lab, snapshot_ref(lab.s), &worst);
	}
	print_message("# %u of %u repaired, %u of %zu whole again; the busiest "
		      "channel has up to %.2f times what it had\n", n_repaired,
		      n, n_whole, G_N_ELEMENTS(specs), worst);
	assert_true(n_repaired >= n / 3 && n_whole > G_N_ELEMENTS(specs) / 3);
}

/* Entries of two stages stand side by side, as a repair was not finished; a cable
 * more is lost, and all are back. Of 2,000 such cases one had a loop. */
TEST(test_a_repair_of_an_unfinished_one_is_safe)
{
	AUTO_VALUE(lab_close) struct lab lab;
	AUTO(snapshot) *less = NULL;
	double worst = 0;

	lab_open(&lab, generate_fabric("PGFT(3,3,6;1,3,3)", NULL, NULL));
	less = damage(lab.s, 1, 4140530633);
	lab_interrupt(&lab, less, UINT64_C(5760605674488346292));
	lab_change(&lab, damage(less, 1, 2609436194), &worst);
	lab_change(&lab, snapshot_ref(lab.s), &worst);
}

TEST(test_what_was_not_there_before_needs_an_engine)
{
	struct snapshot *s = generate_fabric("PGFT(4,4;1,4)", NULL, NULL);
	AUTO_VALUE(lab_close) struct lab lab;
	double worst;

	lab_open(&lab, damage(s, 1, 1));
	assert_false(lab_change(&lab, s, &worst));
}

/* No LID was left for a switch, which is the last one then. */
TEST(test_another_order_of_the_switches_needs_an_engine)
{
	AUTO_VALUE(lab_close) struct lab lab;
	AUTO(snapshot) *s = NULL;
	AUTO(lid_map) *lids = NULL;
	AUTO(graph) *g = NULL;
	struct engine_input in = { 0 };
	struct choice c;
	uint32_t port;

	lab_open(&lab, generate_fabric("PGFT(4,4;1,4)", NULL, NULL));
	s = snapshot_copy(lab.s);
	lids = keep_lids(&lab, s);
	port = s->nodes[s->switches[1]].first_port;
	lids->owner[lids->base[port]] = SNAPSHOT_NONE;
	lids->base[port] = 0;
	snapshot_sort_switches(s, lids->base);
	in.g = g = graph_new(s, lids);
	assert_false(repair_tables(lab.repair, &in, &c));
}

/* Entries that no tables of ours have may have any dependencies. */
TEST(test_foreign_entries_need_an_engine)
{
	AUTO_VALUE(lab_close) struct lab lab;
	double worst;

	lab_open(&lab, generate_fabric("PGFT(4,4;1,4)", NULL, NULL));
	lft_row(lab.held, 0)[lab.whole.lft->top] ^= 1;
	assert_false(lab_change(&lab, snapshot_ref(lab.s), &worst));
	memset(lft_row(lab.held, 0), LFT_NO_PATH, lab.held->stride);
	assert_true(lab_change(&lab, snapshot_ref(lab.s), &worst));
}

/* The owner of the LID is away, and the link to be avoided has come back. */
TEST(test_entries_into_avoided_links_need_an_engine)
{
	AUTO(snapshot) *s = generate_fabric("ring(6;2)", NULL, NULL);
	struct snapshot *less = damage(s, 1, 1);
	struct engine_input in = { 0 };
	struct choice c;
	AUTO_VALUE(lab_close) struct lab lab;
	AUTO(graph) *g;
	uint32_t port = 0, sw;

	lab_open(&lab, less);
	while (s->ports[port].peer == less->ports[port].peer)
		port++;
	s->ports[port].avoided = s->ports[s->ports[port].peer].avoided = true;
	g = graph_new(s, lab.lids);
	in = (struct engine_input){ .g = g, .previous = lab.held };
	assert_true(repair_tables(lab.repair, &in, &c));
	choice_clear(&c);
	sw = snapshot_node_of(s, port)->sw_index;
	lft_row(lab.held, sw)[AWAY] = s->ports[port].num;
	/* as if it had been there when they were made */
	lft_row(lab.whole.lft, sw)[AWAY] = s->ports[port].num;
	assert_false(repair_tables(lab.repair, &in, &c));
}

/* A switch whose table ends below the highest LID gets no entry above its end,
 * as it could not hold it. Hosts that lack a path for that may have one when a
 * cable is lost: a repair loses no pair of hosts that new tables join. */
TEST(test_a_repair_sees_where_a_table_ends)
{
	const struct choice_wish wish = { 0 };
	unsigned n_repaired = 0;

	for (uint32_t nth = 0; nth < 36; nth++) {
		struct snapshot *s = generate_fabric(nth % 4 < 2 ?
			"torus(3,3;1)" : "PGFT(3,3;1,2)", NULL, NULL);
		uint32_t sw = nth / 4 % s->n_switches, lid;
		uint32_t cap = nth % 2 ? HIGHEST : 10 + sw;
		AUTO_VALUE(lab_close) struct lab lab;

		s->nodes[s->switches[sw]].sw.linear_fdb_cap = (uint16_t)cap;
		lab_open(&lab, s);
		for (uint32_t seed = 1; seed <= 18; seed++) {
			AUTO(snapshot) *less = damage(lab.s, 1, seed);
			AUTO(graph) *g = graph_new(less, lab.lids);
			const struct engine_input in = {
				.g = g, .previous = lab.held, .n_threads = 1,
			};
			struct verify_reach reach;
			struct choice c, new;

			if (!repair_tables(lab.repair, &in, &c))
				continue;
			n_repaired++;
			for (lid = cap; lid <= c.lft->top; lid++)
				assert_int_equal(lft_row(c.lft, sw)[lid],
						 LFT_NO_PATH);
			verify_reachability(g, c.lft, NULL, &reach);
			assert_true(choose_tables(&wish, &in, &new, NULL));
			assert_in_range(reach.lost_hosts, 0,
					new.alone.reach.lost_hosts);
			choice_clear(&c);
			choice_clear(&new);
		}
	}
	assert_true(n_repaired > 20);
}

/* Turns that were added for cables which are back are not in the way. */
TEST(test_a_repair_does_not_depend_on_those_before)
{
	AUTO_VALUE(lab_close) struct lab lab;
	struct lft *first[20];
	double worst = 0;
	uint32_t i;

	lab_open(&lab, generate_fabric("PGFT(3,3,6;1,3,3)", NULL, NULL));
	for (i = 0; i < 3 * G_N_ELEMENTS(first); i++) {
		uint32_t nth = i % G_N_ELEMENTS(first);

		assert_true(lab_change(&lab, damage(lab.s, 1, nth + 1),
				       &worst));
		if (i < G_N_ELEMENTS(first))
			first[nth] = lft_copy(lab.held);
		assert_memory_equal(lab.held->ports, first[nth]->ports,
				    lft_size(first[nth]));
		assert_true(lab_change(&lab, snapshot_ref(lab.s), &worst));
	}
	for (i = 0; i < G_N_ELEMENTS(first); i++)
		lft_free(first[i]);
}

enum gone { LOST, AVOIDED, SILENT };	/* its far end is, so it may carry packets */

/* Would it be repaired without the nth cable of a switch to another one? */
static bool
repair_without(struct lab *lab, uint32_t sw, uint32_t nth, enum gone how)
{
	AUTO(snapshot) *s = snapshot_copy(lab->s);
	AUTO(graph) *g = NULL, *all = NULL;
	uint32_t port = lab_find_port(s, sw, true, nth);
	struct engine_input in = { .previous = lab->held };
	struct choice c;
	bool ok;

	if (how == AVOIDED)
		s->ports[port].avoided =
			s->ports[s->ports[port].peer].avoided = true;
	else
		lab_cut(s, port);
	if (how == SILENT)
		s->ports[port].info.state = PORT_STATE_ACTIVE;
	in.g = g = graph_new(s, lab->lids);
	in.whole = all = graph_new_whole(s, lab->lids);
	ok = repair_tables(lab->repair, &in, &c);
	choice_clear(&c);
	return ok;
}

/* A core that lost its cable to the root gets there by another core, over which
 * others came to it by that cable: nothing passes it any more. It is another
 * thing if it is there, but to be avoided or without an answer, also later, as long
 * as a switch has entries into it. Other cables may come and go. */
TEST(test_a_lost_cable_is_not_in_the_way_of_its_detour)
{
	AUTO_VALUE(lab_close) struct lab lab;
	double worst = 0;
	uint32_t port, nth, sw;

	lab_open(&lab, generate_fabric("PGFT(4,4,4;1,4,4)+an", NULL, NULL));
	port = lab_find_port(lab.s, 0, true, 0);
	sw = snapshot_node_of(lab.s, lab.s->ports[port].peer)->sw_index;
	for (nth = 4; nth < 8; nth++) {
		struct snapshot *s = snapshot_copy(lab.s), *less;

		lab_cut(s, lab_find_port(s, sw, true, nth));
		less = snapshot_copy(s);
		lab_cut(less, lab_find_port(less, 1, true, 0));
		assert_false(repair_without(&lab, sw, nth, AVOIDED));
		assert_false(repair_without(&lab, sw, nth, SILENT));
		assert_true(repair_without(&lab, sw, nth, LOST));
		assert_true(lab_change(&lab, snapshot_ref(s), &worst));
		assert_true(lab_change(&lab, less, &worst));
		assert_true(lab_change(&lab, snapshot_ref(s), &worst));
		assert_false(repair_without(&lab, sw, nth, AVOIDED));
		memcpy(lab.held->ports, lab.whole.lft->ports,
		       lft_size(lab.held));
		assert_true(lab_change(&lab, s, &worst));
		/* its turns and those of the detour have a loop */
		assert_false(lab_change(&lab, snapshot_ref(lab.s), &worst));
		memcpy(lab.held->ports, lab.whole.lft->ports,
		       lft_size(lab.held));
	}
}

/* A cable between switches is lost: for each block that held it at most two
 * change, by detours near the fault, and few entries, of switches that hosts
 * send through. The busiest channel has at most what a single detour gives it,
 * the flows of two. Ports 0 and aggregation nodes have no flows to speak of.
 * Turns that the order permits but no entry needs are not in the way: each cable
 * is repaired. A core that lost its cable to a pod gets there by another pod, and
 * is reached from there the same way back: other ways close loops. */
TEST(test_a_lost_cable_changes_few_blocks)
{
	static const struct {
		const char *spec;
		uint32_t stride;	/* each so manyth port */
		uint32_t blocks, entries;	/* at most */
		double load;	/* times that of before, at most */
	} t[] = {
		{ "PGFT(4,4;1,4)", 1, 4, 15, 2.01 },
		{ "PGFT(3,3,3;1,2,2)", 1, 6, 50, 2.01 },
		{ "PGFT(3,3,3;1,3,3)", 1, 4, 60, 2.13 },
		{ "PGFT(6,6;1,6)", 1, 4, 24, 2.01 },
		{ "PGFT(12,12;1,6)", 5, 8, 50, 1.51 },
		{ "PGFT(8,8;1,4;1,2)", 1, 8, 40, 1.72 },
		{ "PGFT(6,6,18;1,6,6)", 139, 40, 350, 2.01 },
		{ "dragonfly(4,2,2)", 1, 20, 110, 2.01 },
		{ "PGFT(6,12;1,3;1,2)+an", 1, 8, 32, 2.01 },
		{ "hyperx(4,4;3)", 3, 6, 40, 1.7 },
		{ "PGFT(3,3,3,3;1,3,3,3)", 11, 14, 300, 2.01 },
		{ "PGFT(2,2,4;1,2,2)", 1, 6, 60, 2.01 },
		/* with GUIDs in random order: of some cables a repair with
		 * more room is not safe */
		{ "PGFT(4,4,4;1,4,4)", 1, 8, 200, 2.01 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(t); i++) {
		const struct generate_options options = {
			.seed = 1,
			.shuffle_guids = i == G_N_ELEMENTS(t) - 1,
		};
		AUTO_VALUE(lab_close) struct lab lab;
		double worst = 0;

		lab_open(&lab, generate_fabric(t[i].spec, &options, NULL));
		for (uint32_t port = 0; port < lab.s->n_ports;
		     port += t[i].stride) {
			uint32_t peer = lab.s->ports[port].peer;
			struct metrics_churn churn;
			struct snapshot *s;

			if (peer == SNAPSHOT_NONE ||
			    !snapshot_is_switch(snapshot_node_of(lab.s, port)) ||
			    !snapshot_is_switch(snapshot_node_of(lab.s, peer)))
				continue;
			s = snapshot_copy(lab.s);
			lab_cut(s, port);
			assert_true(lab_change(&lab, s, &worst));
			metrics_churn(lab.whole.lft, lab.held, &churn);
			assert_in_range(churn.blocks, 1, t[i].blocks);
			assert_in_range(churn.entries, 1, t[i].entries);
			lab_change(&lab, snapshot_ref(lab.s), &worst);
		}
		assert_true(worst < t[i].load);
	}
}

/* A cable is lost, and the next one when it is back: it is repaired as if it alone had
 * been lost. */
TEST(test_a_lost_cable_after_another_one_is_repaired_as_the_first)
{
	AUTO_VALUE(lab_close) struct lab lab;
	double worst = 0;

	lab_open(&lab, generate_fabric("PGFT(4,4,4;1,4,4)+an", NULL, NULL));
	for (unsigned i = 1; i <= 20; i++) {
		AUTO(snapshot) *one = damage(lab.s, 1, i);
		AUTO(snapshot) *next = damage(lab.s, 1, i + 20);
		struct metrics_churn after, alone;

		if (!lab_change(&lab, snapshot_ref(one), &worst) ||
		    !lab_change(&lab, snapshot_ref(next), &worst))
			continue;
		metrics_churn(lab.whole.lft, lab.held, &after);
		lab_change(&lab, snapshot_ref(lab.s), &worst);
		lab_change(&lab, snapshot_ref(next), &worst);
		metrics_churn(lab.whole.lft, lab.held, &alone);
		assert_int_equal(after.blocks, alone.blocks);
		lab_change(&lab, snapshot_ref(lab.s), &worst);
	}
}

/* Cables are lost one after the other, and come back. Each costs blocks for itself
 * alone: what is changed for the others stays. */
TEST(test_a_further_lost_cable_changes_few_blocks)
{
	AUTO_VALUE(lab_close) struct lab lab;
	struct snapshot *left[7];
	struct metrics_churn churn;
	uint64_t n_blocks = 0;
	double worst = 0;

	lab_open(&lab, generate_fabric("PGFT(6,6,6;1,6,6)", NULL, NULL));
	left[0] = snapshot_ref(lab.s);
	for (unsigned i = 1; i < G_N_ELEMENTS(left); i++) {
		AUTO(lft) *held = lft_copy(lab.held);

		left[i] = damage(left[i - 1], 1, i);
		assert_true(lab_change(&lab, snapshot_ref(left[i]), &worst));
		metrics_churn(held, lab.held, &churn);
		n_blocks += churn.blocks;
	}
	for (unsigned i = G_N_ELEMENTS(left); i-- > 0;)
		assert_true(lab_change(&lab, left[i], &worst));
	assert_in_range(n_blocks, 1, 100);
	assert_true(worst < 2.3);
}

/* Blocks that change if all routes are computed after the repair; s is consumed. */
static uint64_t
blocks_of_all_routes(const struct lab *lab, struct snapshot *s)
{
	struct metrics_churn churn;
	struct choice c;
	struct rest r;

	rest_open(&r, lab, s);
	assert_true(choose_tables(&(struct choice_wish){ 0 }, &(struct engine_input){
		.g = r.g, .previous = r.held }, &c, NULL));
	metrics_churn(r.held, c.lft, &churn);
	choice_clear(&c);
	rest_close(&r);
	return churn.blocks;
}

/* What a repair has written stays if all routes are computed (SIGHUP), as far as the
 * busiest channel allows: few paths leave it. A start with a lost cable is a repair
 * as well: paths that were found one by one made 552 blocks. */
TEST(test_all_routes_are_nearly_those_that_the_switches_hold)
{
	AUTO_VALUE(lab_close) struct lab lab, start;
	uint64_t n_blocks = 0, n_start = 0;
	double worst = 0;

	lab_open(&start, generate_fabric("PGFT(8,8,8;1,8,4)", NULL, NULL));
	lab_open(&lab, generate_fabric("PGFT(6,12;1,3;1,2)+an", NULL, NULL));
	for (unsigned seed = 0; seed < 20; seed++) {
		struct snapshot *s = damage(lab.s, 1, seed);

		assert_true(lab_change(&lab, snapshot_ref(s), &worst));
		n_blocks += blocks_of_all_routes(&lab, s);
		lab_change(&lab, snapshot_ref(lab.s), &worst);
		n_start += seed % 4 ? 0 : blocks_of_all_routes(&start,
			damage(start.s, 1, seed / 4));
	}
	assert_in_range(n_blocks, 1, 120);
	assert_in_range(n_start, 1, 150);
}
