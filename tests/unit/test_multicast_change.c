// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * multicast.h promises that a tree which is still right is kept: members come
 * and go, cables fail, and only what must change does. What the switches hold
 * may also be rubbish.
 */
#include "tests/lib/multicast_lab.h"
#include "topology/prng.h"

GROUP_TEST(test_join_and_leave_touch_one_branch, "PGFT(4,4,4;1,4,4)", 30, 5)
{
	uint64_t prng = prng_stream(20260721, 0);
	struct multicast_output now;
	unsigned pruned = 0, grown = 0;

	plan_fill(p, f, 30, &prng);
	now = plan_route(f, p, NULL);
	for (unsigned n = 0; n < 70; n++) {
		uint32_t i = prng_below(&prng, p->n);
		struct multicast_group *gr = &p->groups[i];
		uint32_t t = prng_below(&prng, f->g->n_targets);
		bool join = !plan_has(p, i, f->g->targets[t].sw,
				      f->g->targets[t].port) &&
			gr->n_members < 30 && (n & 1 || !gr->n_members);
		struct multicast_output next;

		if (join) {
			plan_add(p, i, f, t, true);
		} else if (gr->n_members) {
			uint32_t k = prng_below(&prng, gr->n_members);

			p->members[i][k] = p->members[i][gr->n_members - 1];
			gr->n_members--;
		}
		next = plan_route(f, p, now.mft);
		for (uint32_t k = 0; k < p->n; k++)
			if (k != i)
				assert_true(same_group(now.mft, next.mft, k));
		/* With a member lost, another root may be the better one. */
		if (!join && !lost_switches(&now, gr->mlid)) {
			assert_true(is_part(next.mft, now.mft, i));
			pruned++;
		}
		if (join && !lost_switches(&next, gr->mlid)) {
			assert_true(is_part(now.mft, next.mft, i));
			grown++;
		}
		multicast_output_clear(&now);
		now = next;
	}
	assert_true(pruned > 10 && grown > 10);
	multicast_output_clear(&now);
}

GROUP_TEST(test_fault_moves_only_trees_on_the_cable, "PGFT(4,4,4;1,4,4)", 0, 11)
{
	uint64_t prng = prng_stream(9, 0);
	AUTO_OUTPUT before, after;
	AUTO_VALUE(fabric_clear) struct fabric broken;
	struct snapshot *s;
	uint32_t sw, edge;
	unsigned moved = 0;

	plan_fill(p, f, 60, &prng);
	before = plan_route(f, p, NULL);
	for (sw = 0; !f->g->n_hosts[sw]; sw++)
		;
	edge = f->g->first_edge[sw];
	assert_true(before.load[edge] > 0);
	s = snapshot_copy(f->s);
	lab_cut(s, snapshot_port_of(s, s->switches[sw], f->g->edges[edge].port));
	lab_index(&broken, s);
	after = plan_route(&broken, p, before.mft);
	for (uint32_t i = 0; i < p->n; i++) {
		uint16_t mlid = (uint16_t)(MLID + i);
		bool hit = mft_has(before.mft, sw, mlid,
				   f->g->edges[edge].port) ||
			mft_has(before.mft, f->g->edges[edge].peer, mlid,
				f->g->edges[f->g->edges[edge].back].port);

		moved += hit;
		if (!hit)
			assert_true(same_group(before.mft, after.mft, i));
	}
	assert_int_equal(moved, before.load[edge]);
}

GROUP_TEST(test_rubbish_of_before_does_no_harm, "torus(4,4;2)", 50, 5)
{
	uint64_t prng = prng_stream(20260722, 0);

	plan_fill(p, f, 40, &prng);
	for (unsigned n = 0; n < 40; n++) {
		AUTO(mft) *old = mft_new(f->g->n_switches + (n < 5), 1 + n % 3,
					  1 + n % 4);
		AUTO_OUTPUT out;

		for (unsigned k = 0; k < 20 * n; k++)
			mft_add(old, prng_below(&prng, old->n_switches),
				(uint16_t)(MLID + prng_below(&prng, 32)),
				prng_below(&prng, 16));
		out = plan_route(f, p, old);
		check_lost(f, p, &out);
	}
}

/* Switches at the top are members themselves, so the tree turns from down to
 * up; it does not change with the load of the others. */
GROUP_TEST(test_groups_with_turns_stay, "PGFT(4,4,4;1,4,4)", 0, 13)
{
	AUTO_OUTPUT before, alone, after;
	uint64_t prng = prng_stream(4, 0);
	uint32_t top = 0, highest = UINT32_MAX;

	plan_fill(p, f, 40, &prng);
	p->groups[39].n_members = 0;
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++)
		highest = MIN(highest, f->out.ranks[sw] >> 16);
	for (uint32_t sw = 0; sw < f->g->n_switches; sw++) {
		if (f->g->n_hosts[sw])
			plan_add(p, 39, f, f->g->first_target[sw + 1] - 1,
				 true);
		else if (f->out.ranks[sw] >> 16 == highest && top++ < 16)
			plan_add_port(p, 39, sw, 0, true);
	}
	before = plan_route(f, p, NULL);
	assert_int_equal(lost_switches(&before, MLID + 39), 0);
	/* Alone on the fabric, another root would be as good. */
	for (uint32_t i = 0; i < 39; i++)
		p->groups[i].n_members = 0;
	alone = plan_route(f, p, NULL);
	assert_false(same_group(before.mft, alone.mft, 39));
	after = plan_route(f, p, before.mft);
	assert_true(same_group(before.mft, after.mft, 39));
}

/* Where there is a choice of ways, a tree does not follow the load about. */
GROUP_TEST(test_trees_stay_when_others_go, "torus(4,4,3;2)", 0, 6)
{
	AUTO_OUTPUT before, alone, after;
	uint64_t prng = prng_stream(5, 0);
	unsigned moved = 0;

	plan_fill(p, f, 60, &prng);
	before = plan_route(f, p, NULL);
	for (uint32_t i = 0; i < 60; i += 2)
		p->groups[i].n_members = 0;
	alone = plan_route(f, p, NULL);
	for (uint32_t i = 1; i < 60; i += 2)
		moved += !same_group(before.mft, alone.mft, i);
	assert_true(moved > 10);	/* left to themselves they do */
	after = plan_route(f, p, before.mft);
	for (uint32_t i = 1; i < 60; i += 2)
		assert_true(same_group(before.mft, after.mft, i));
}
