// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * multicast.h promises: from every member a packet reaches each receiver once,
 * and nothing is sent where no port listens; trees share the cables and stay
 * low; the order of the input does not matter. The oracle follows the masks.
 */
#include "tests/lib/multicast_lab.h"
#include "topology/prng.h"

GROUP_TEST(test_input_order_does_not_matter, "PGFT(4,4,4;1,4,4)", 100, 3)
{
	uint64_t prng = prng_stream(1, 0);
	AUTO_OUTPUT out, again;

	plan_fill(p, f, 30, &prng);
	/* One port twice: once it listens. */
	plan_add_port(p, 0, p->members[1][0].sw, p->members[1][0].port, false);
	plan_add_port(p, 0, p->members[1][0].sw, p->members[1][0].port, true);
	out = plan_route(f, p, NULL);
	assert_true(mft_has(out.mft, p->members[1][0].sw, MLID,
			    p->members[1][0].port) ||
		    is_lost(out.lost, MLID, &p->members[1][0]));
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t k = p->groups[i].n_members; k > 1; k--) {
			uint32_t j = prng_below(&prng, k);
			struct multicast_member m = p->members[i][j];

			p->members[i][j] = p->members[i][k - 1];
			p->members[i][k - 1] = m;
		}
	for (uint32_t k = p->n; k > 1; k--) {
		uint32_t j = prng_below(&prng, k);
		struct multicast_group gr = p->groups[j];

		p->groups[j] = p->groups[k - 1];
		p->groups[k - 1] = gr;
	}
	again = plan_route(f, p, NULL);
	assert_same_masks(out.mft, again.mft);
	assert_int_equal(out.lost->len, again.lost->len);
	if (out.lost->len)
		assert_memory_equal(out.lost->data, again.lost->data,
				    out.lost->len *
				    sizeof(struct multicast_lost));
}

static unsigned
level(const struct fabric *f, uint32_t sw)
{
	return f->out.ranks[sw] >> 16;
}

/* Group 0: two hosts of one leaf; 1: hosts of leaves with a common parent. */
GROUP_TEST(test_trees_stay_low, "PGFT(4,4,4;1,4,4)", 0, 1)
{
	AUTO_OUTPUT out;
	uint32_t leaf, parent, t, n = 0;

	leaf = f->g->targets[0].sw;
	for (t = 0; !f->g->n_hosts[leaf]; t++)
		leaf = f->g->targets[t].sw;
	parent = f->g->edges[f->g->first_edge[leaf]].peer;
	plan_init(p, 2);
	for (t = f->g->first_target[leaf]; t < f->g->first_target[leaf + 1];
	     t++)
		if (f->g->targets[t].port && n++ < 2)
			plan_add(p, 0, f, t, true);
	for (uint32_t e = f->g->first_edge[parent];
	     e < f->g->first_edge[parent + 1]; e++) {
		uint32_t sw = f->g->edges[e].peer;

		if (f->g->n_hosts[sw])
			plan_add(p, 1, f, f->g->first_target[sw + 1] - 1, true);
	}
	assert_int_equal(p->groups[1].n_members, 4);
	out = plan_route(f, p, NULL);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++) {
		assert_int_equal(at_switch(out.mft, sw, 0), sw == leaf);
		if (at_switch(out.mft, sw, 1))
			assert_true(level(f, sw) >= level(f, parent));
	}
}

/* n groups of a host of every `step`th leaf, group i from leaf i % step on. */
static void
plan_leaves(struct group_plan *p, const struct fabric *f, uint32_t n,
	    uint32_t step)
{
	uint32_t i, sw, leaf;

	plan_init(p, n);
	for (i = 0; i < n; i++)
		for (sw = leaf = 0; sw < f->g->n_switches; sw++)
			if (f->g->n_hosts[sw] && leaf++ % step == i % step)
				plan_add(p, i, f, f->g->first_target[sw + 1] - 1,
					 true);
}

/* Of 64 groups of one host of each leaf 16 go up by each cable of a leaf, and 4
 * by each of the 16 switches at the top; parallel cables take turns. On rails a
 * core meets a pod through four spines: the trees share these, too. */
TEST(test_groups_share_the_cables)
{
	static const struct {
		const char *spec;
		uint32_t n, step, most, least;	/* plan_leaves(); trees */
	} t[] = {
		{ "PGFT(4,4,4;1,4,4)", 64, 1, 16, 4 },
		{ "PGFT(3,4;1,1;1,3)", 30, 1, 10, 10 },
		{ "rails", 64, 5, 3, 0 },
	};
	g_autofree struct group_plan *p = g_new(struct group_plan, 1);

	for (uint64_t i = 0; i < 4 * G_N_ELEMENTS(t); i++) {
		AUTO_VALUE(fabric_clear) struct fabric f;
		AUTO_OUTPUT out;
		uint32_t most = 0, least = UINT32_MAX;

		lab_init(&f, t[i / 4].spec, 0, 1 + i % 4);
		plan_leaves(p, &f, t[i / 4].n, t[i / 4].step);
		out = plan_route(&f, p, NULL);
		for (uint32_t e = 0; e < f.g->n_edges; e++) {
			most = MAX(most, out.load[e]);
			least = MIN(least, out.load[e]);
			assert_int_equal(out.load[e],
					 out.load[f.g->edges[e].back]);
		}
		assert_int_equal(most, t[i / 4].most);
		assert_in_range(least, t[i / 4].least, most);
	}
}

/* Three trees of two leaves make both spines busy, but no cable of the other
 * two leaves, whose two trees take a spine each. */
GROUP_TEST(test_idle_cables_come_first, "PGFT(2,4;1,2)", 0, 2)
{
	AUTO_OUTPUT out;
	uint32_t e;

	plan_leaves(p, f, 6, 2);
	p->groups[1].n_members = 0;
	out = plan_route(f, p, NULL);
	for_each_edge(f->g, p->members[3][0].sw, e)
		assert_int_equal(out.load[e], 1);
}

/* The leaf's only cable leads to one of the spines, so the last 16 groups have to
 * use it. The first 16 of another leaf make room for them there. */
GROUP_TEST(test_trees_move_off_the_busiest_cable, "PGFT(2,4;1,2)", 0, 2)
{
	AUTO_OUTPUT out;
	uint32_t leaf[4], n = 0, sw, most = 0;

	for (sw = 0; sw < f->g->n_switches; sw++)
		if (f->g->n_hosts[sw])
			leaf[n++] = sw;
	lab_cut(f->s, lab_find_port(f->s, leaf[3], true, 0));
	graph_free(f->g);
	f->g = graph_new(f->s, f->lids);
	plan_init(p, 32);
	for (uint32_t i = 0; i < 32; i++) {
		plan_add(p, i, f, f->g->first_target[leaf[0] + 1] - 1, true);
		sw = leaf[i < 16 ? 1 : 3];
		plan_add(p, i, f, f->g->first_target[sw + 1] - 1, true);
	}
	out = plan_route(f, p, NULL);
	for (uint32_t e = 0; e < f->g->n_edges; e++)
		most = MAX(most, out.load[e]);
	assert_in_range(most, 16, 20);
}

/* A group of two leaves grows by a third one. The cable to it from its own spine
 * has 19 other trees, so the group moves to the idle spine, and no other does. */
GROUP_TEST(test_a_tree_does_not_grow_over_a_busy_cable, "PGFT(2,16;1,2)", 0, 2)
{
	AUTO_OUTPUT out, grown;
	uint32_t leaf[16], n = 0, sw, idle = SNAPSHOT_NONE;

	for (sw = 0; sw < f->g->n_switches; sw++)
		if (f->g->n_hosts[sw])
			leaf[n++] = sw;
		else
			idle = sw;
	f->s->nodes[f->s->switches[idle]].sw.multicast_fdb_cap = 0;
	plan_init(p, 26);
	for (uint32_t i = 0; i < 52; i++) {
		sw = leaf[i < 14 ? i : 14 + i % 2];
		plan_add(p, i / 2, f, f->g->first_target[sw + 1] - 1, true);
	}
	out = plan_route(f, p, NULL);
	f->s->nodes[f->s->switches[idle]].sw.multicast_fdb_cap = 64;
	plan_add(p, 0, f, f->g->first_target[leaf[15] + 1] - 1, true);
	grown = plan_route(f, p, out.mft);
	assert_true(at_switch(grown.mft, idle, 0));
	for (uint32_t i = 1; i < 26; i++)
		assert_true(same_group(out.mft, grown.mft, i));
}

GROUP_TEST(test_switches_that_cannot_hold_it_are_avoided,
	    "PGFT(4,4,4;1,4,4)", 0, 2)
{
	AUTO_OUTPUT out, less, round;
	uint32_t leaf = SNAPSHOT_NONE, spine = SNAPSHOT_NONE;

	plan_leaves(p, f, 8, 1);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++) {
		struct switch_info *info = &f->s->nodes[f->s->switches[sw]].sw;

		if (level(f, sw) == 0 && sw % 2)
			info->multicast_fdb_cap = 4;
		if (f->g->n_hosts[sw])
			leaf = sw;
	}
	f->s->nodes[f->s->switches[leaf]].sw.multicast_fdb_cap = 6;
	out = plan_route(f, p, NULL);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		for (uint32_t i = f->s->nodes[f->s->switches[sw]].sw
		     .multicast_fdb_cap; i < 8; i++)
			assert_false(at_switch(out.mft, sw, i));
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(lost_switches(&out, (uint16_t)(MLID + i)), 0);
	assert_int_equal(lost_switches(&out, MLID + 6), 1);

	/* a tree that loses a switch keeps the others where they are */
	f->s->nodes[f->s->switches[leaf]].sw.multicast_fdb_cap = 4;
	less = plan_route(f, p, out.mft);
	for (uint32_t i = 0; i < 8; i++) {
		assert_true(is_part(less.mft, out.mft, i));
		assert_int_equal(at_switch(less.mft, leaf, i), i < 4);
	}

	/* and one that leads over such a switch is led round it */
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		if (level(f, sw) != level(f, leaf) &&
		    at_switch(less.mft, sw, 5))
			spine = sw;
	f->s->nodes[f->s->switches[spine]].sw.multicast_fdb_cap = 5;
	round = plan_route(f, p, less.mft);
	assert_false(at_switch(round.mft, spine, 5));
	assert_int_equal(lost_switches(&round, MLID + 5), 1);
}

/* Switches at the top of a tree have no common switch above them: all are
 * joined by turns above one leaf. */
GROUP_TEST(test_a_group_of_all_switches_misses_none, "PGFT(8,8,8;1,8,8)", 0, 3)
{
	AUTO_OUTPUT out;

	plan_init(p, 1);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		plan_add_port(p, 0, sw, 0, true);
	out = plan_route(f, p, NULL);
	assert_int_equal(out.lost->len, 0);
}

/* Two trees without a cable between them: the larger part of a group. */
GROUP_TEST(test_a_group_in_two_parts_has_the_larger_one, "PGFT(2,4;1,2)", 0, 2)
{
	AUTO_OUTPUT out;
	uint32_t alone = 0;

	while (!f->g->n_hosts[alone])
		alone++;
	for (uint32_t i = 0; i < 2; i++)
		lab_cut(f->s, lab_find_port(f->s, alone, true, 0));
	graph_free(f->g);
	f->g = graph_new(f->s, f->lids);
	plan_leaves(p, f, 1, 1);
	assert_int_equal(p->groups[0].n_members, 4);
	out = plan_route(f, p, NULL);
	check_lost(f, p, &out);
	assert_int_equal(out.lost->len, 1);
	assert_int_equal(g_array_index(out.lost, struct multicast_lost, 0).sw,
			 alone);
	assert_false(g_array_index(out.lost, struct multicast_lost, 0).for_loop);
}

GROUP_TEST(test_without_subscribers_nothing_is_sent, "PGFT(4,4;1,4)", 0, 2)
{
	AUTO_OUTPUT out, none;

	plan_init(p, 2);
	for (uint32_t t = 0; t < f->g->n_targets; t++)
		if (f->g->targets[t].port)
			plan_add(p, 1, f, t, false);
	out = plan_route(f, p, NULL);
	assert_int_equal(out.lost->len, 0);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		assert_false(at_switch(out.mft, sw, 0) ||
			     at_switch(out.mft, sw, 1));
	for (uint32_t e = 0; e < f->g->n_edges; e++)
		assert_int_equal(out.load[e], 0);

	p->n = 0;
	none = plan_route(f, p, NULL);
	assert_int_equal(none.mft->n_blocks, 0);
}

/* The order of the fat-tree engine has equal ranks within a level. */
GROUP_TEST(test_levels_and_no_order_will_do, "PGFT(4,4,4;1,4,4)", 20, 5)
{
	uint64_t prng = prng_stream(12, 0);
	AUTO_OUTPUT none, levels;
	uint32_t *full;

	plan_fill(p, f, 40, &prng);
	full = f->out.ranks;
	f->out.ranks = NULL;
	none = plan_route(f, p, NULL);
	f->out.ranks = full;
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		f->out.ranks[sw] >>= 16;
	levels = plan_route(f, p, NULL);
	check_lost(f, p, &levels);
}
