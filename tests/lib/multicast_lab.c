// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics and groups for the tests of multicast trees; see the header.
 */
#include "routing/order.h"
#include "tests/lib/multicast_lab.h"
#include "topology/prng.h"

void
lab_index(struct fabric *f, struct snapshot *s)
{
	struct order *o;

	fabric_open(f, NULL, s, 0);
	o = order_compute(&f->in);
	f->out.ranks = order_ranks(o);
	order_destroy(o);
}

void
lab_init(struct fabric *f, const char *spec, unsigned fail, uint64_t seed)
{
	lab_index(f, lab_generate(spec, seed, fail));
}

void
plan_add_port(struct group_plan *p, uint32_t group, uint32_t sw, uint8_t port,
	   bool receives)
{
	struct multicast_group *gr = &p->groups[group];

	assert_true(gr->n_members < MAX_MEMBERS);
	p->members[group][gr->n_members++] = (struct multicast_member){
		.sw = sw, .port = port, .receives = receives,
	};
}

void
plan_add(struct group_plan *p, uint32_t group, const struct fabric *f,
	   uint32_t target, bool receives)
{
	plan_add_port(p, group, f->g->targets[target].sw,
		   f->g->targets[target].port, receives);
}

void
plan_init(struct group_plan *p, uint32_t n)
{
	memset(p, 0, sizeof(*p));
	p->n = n;
	for (uint32_t i = 0; i < n; i++) {
		p->groups[i].mlid = (uint16_t)(MLID + i);
		p->groups[i].members = p->members[i];
	}
}

bool
plan_has(const struct group_plan *p, uint32_t group, uint32_t sw, uint8_t port)
{
	for (uint32_t i = 0; i < p->groups[group].n_members; i++)
		if (p->members[group][i].sw == sw &&
		    p->members[group][i].port == port)
			return true;
	return false;
}

void
plan_fill(struct group_plan *p, const struct fabric *f, uint32_t n,
	  uint64_t *prng)
{
	plan_init(p, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = prng_below(prng, 20);

		while (size--) {
			uint32_t t = prng_below(prng, f->g->n_targets);

			if (!plan_has(p, i, f->g->targets[t].sw,
				      f->g->targets[t].port))
				plan_add(p, i, f, t, prng_below(prng, 5));
		}
	}
}

struct multicast_output
plan_route(const struct fabric *f, struct group_plan *p,
	   const struct mft *previous)
{
	struct multicast_input in = {
		.g = f->g,
		.channels = p->channels,
		.ranks = f->out.ranks,
		.groups = p->groups,
		.n_groups = p->n,
		.previous = previous,
	};
	struct multicast_output out;
	struct oracle_case c = {
		.s = f->s, .lids = f->lids, .n_groups = p->n,
		.lft = p->channels && !previous ? f->out.lft : NULL,
		.groups = p->groups,
	};

	multicast_route(&in, &out);
	c.mft = out.mft;
	c.lost = out.lost;
	oracle_judge(&c, &p->v);
	assert_int_equal(p->v.missed, 0);
	assert_int_equal(p->v.stray, 0);
	assert_int_equal(p->v.unused, 0);
	assert_int_equal(p->v.looped_all, 0);
	return out;
}

uint32_t
lost_switches(const struct multicast_output *out, uint16_t mlid)
{
	uint32_t last = SNAPSHOT_NONE;
	uint32_t n = 0;

	EACH_ITEM(const struct multicast_lost, l, out->lost) {
		if (l->mlid != mlid || l->sw == last)
			continue;
		last = l->sw;
		n++;
	}
	return n;
}

/* How many of a group's switches no cables join to the largest part of it. */
static uint32_t
count_cut_off(const struct fabric *f, const struct multicast_group *gr)
{
	const uint32_t *island = f->g->island;
	g_autofree uint32_t *size = g_new0(uint32_t, f->g->n_switches);
	g_autofree uint8_t *done = g_new0(uint8_t, f->g->n_switches);
	uint32_t most = 0, n = 0, sw;

	for (uint32_t i = 0; i < gr->n_members; i++) {
		sw = gr->members[i].sw;
		if (done[sw])
			continue;
		done[sw] = 1;
		n++;
		size[island[sw]]++;
		most = MAX(most, size[island[sw]]);
	}
	return n - most;
}

void
check_lost(const struct fabric *f, const struct group_plan *p,
	   const struct multicast_output *out)
{
	for (uint32_t i = 0; i < p->n; i++)
		assert_int_equal(lost_switches(out, p->groups[i].mlid),
				 count_cut_off(f, &p->groups[i]));
}

void
assert_same_masks(const struct mft *a, const struct mft *b)
{
	assert_int_equal(a->n_blocks, b->n_blocks);
	assert_memory_equal(a->masks, b->masks, (size_t)a->n_switches *
			    a->n_positions * a->n_blocks * MFT_BLOCK * 2);
}

bool
at_switch(const struct mft *mft, uint32_t sw, uint32_t group)
{
	for (unsigned port = 0; port < 16 * mft->n_positions; port++)
		if (mft_has(mft, sw, (uint16_t)(MLID + group), port))
			return true;
	return false;
}

bool
is_part(const struct mft *a, const struct mft *b, uint32_t group)
{
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (unsigned port = 0; port < 16 * a->n_positions; port++)
			if (mft_has(a, sw, (uint16_t)(MLID + group), port) &&
			    !mft_has(b, sw, (uint16_t)(MLID + group), port))
				return false;
	return true;
}

bool
same_group(const struct mft *a, const struct mft *b, uint32_t group)
{
	return is_part(a, b, group) && is_part(b, a, group);
}
