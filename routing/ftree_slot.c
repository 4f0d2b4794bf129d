// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Slots: which of a switch's parents is which, so that all switches mean the
 * same by "the third".
 *
 * Purpose. D-mod-k sends destination t from a switch of rank r - 1 up through
 * parent number (t / pi) mod w. It is free of congestion only if the number
 * names the same plane everywhere, and a tree that lost cables stays close to
 * that only if what is left keeps its number: the parents of a switch are not
 * counted, they have slots, some of which may be empty.
 *
 * Flow. From the top down, for each rank r: of all that is at least that
 * high, a component is a plane (in a healthy tree: the switches of rank r that
 * see the same tops). Planes get numbers as one colours a graph: the largest
 * first, each the lowest number that none of its children has met yet. So the
 * planes of different subtrees share their numbers, a switch that lost all
 * its cables up takes the number that is free where it is, and the width is
 * that of the widest subtree. If two parents of one switch are on the same
 * plane, it is no tree above; then each switch is a plane, and if even this
 * takes too many numbers, parents are counted child by child.
 *
 * Ghosts. Where a leaf has a few more CAs than ways up (a spine was lost, or
 * never bought), slots that nobody has are added until each CA has one: what
 * falls on an empty slot is dealt out over all the others, see ftree_fill.c,
 * while the surplus of a modulus would fall on the same few. Likewise for the
 * children of a switch higher up, where each plane lost a top.
 *
 * Source. E. Zahavi, "Fat-trees routing and node ordering providing contention
 * free traffic for MPI global collectives", 2011, for w, p and the divisors.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/ftree_tree.h"

#define N_SLOTS		254u	/* ports of a switch */
#define MASK_WORDS	4u
#define CA_SHARE	2u	/* see slot_add_ghosts() */
#define CHILD_SHARE	5u

/* A switch of the rank at hand, by its plane. */
struct member {
	uint32_t plane;		/* label of the component */
	uint32_t size;		/* members of the plane */
	uint32_t sw;
};

struct painter {
	struct tree *t;
	uint32_t n_hosts;	/* on a leaf */
	uint32_t rank;
	uint32_t n_members;
	struct member *members;
	uint32_t *up;		/* components of the ranks from here on */
	uint32_t *size;		/* label -> members */
	uint64_t *met;		/* switch -> mask of slots, MASK_WORDS each */
	uint32_t *seen_by;	/* switch -> last plane that asked + 1 */
	uint8_t *slot;		/* by switch */
};

static int
slot_compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->plane != y->plane)
		return x->plane < y->plane ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static int
slot_compare_groups(const void *a, const void *b)
{
	const struct tree_group *x = a, *y = b;

	if (x->slot != y->slot)
		return (int)x->slot - (int)y->slot;
	return x->peer < y->peer ? -1 : x->peer > y->peer;
}

/* The switches of a rank, plane by plane; each its own, if `up` is NULL. */
static void
slot_gather(struct painter *p, uint32_t *up)
{
	struct tree *t = p->t;
	struct member *member;
	uint32_t i, sw;

	p->n_members = 0;
	memset(p->size, 0, t->g->n_switches * sizeof(*p->size));
	for (i = 0; i < t->g->n_switches; i++) {
		sw = t->climb[i];
		if (t->rank[sw] != p->rank)
			continue;
		member = &p->members[p->n_members++];
		member->sw = sw;
		member->plane = up ? tree_find(up, sw) : sw;
		p->size[member->plane]++;
	}
	for (i = 0; i < p->n_members; i++)
		p->members[i].size = p->size[p->members[i].plane];
	qsort(p->members, p->n_members, sizeof(*p->members),
	      slot_compare_members);
}

/* The slots that the children of a plane have met. False if a child meets the
 * plane twice. */
static bool
slot_ask_children(struct painter *p, const struct member *first,
		  const struct member *end, uint64_t mask[MASK_WORDS])
{
	const struct tree *t = p->t;
	const struct member *member;
	uint32_t i, j, child;

	memset(mask, 0, MASK_WORDS * sizeof(*mask));
	for (member = first; member < end; member++)
		for (i = t->first_down[member->sw];
		     i < t->first_down[member->sw + 1]; i++) {
			child = t->downs[i].peer;
			if (p->seen_by[child] == first->plane + 1)
				return false;
			p->seen_by[child] = first->plane + 1;
			for (j = 0; j < MASK_WORDS; j++)
				mask[j] |= p->met[child * MASK_WORDS + j];
		}
	return true;
}

static void
slot_give(struct painter *p, const struct member *first,
	  const struct member *end, uint32_t slot)
{
	const struct tree *t = p->t;
	const struct member *member;
	uint32_t i;

	for (member = first; member < end; member++) {
		p->slot[member->sw] = (uint8_t)slot;
		for (i = t->first_down[member->sw];
		     i < t->first_down[member->sw + 1]; i++)
			p->met[t->downs[i].peer * MASK_WORDS + slot / 64] |=
				UINT64_C(1) << slot % 64;
	}
}

/* Numbers the planes; returns how many numbers that took, 0 if it cannot be
 * done. */
static uint32_t
slot_paint(struct painter *p)
{
	uint32_t n = p->t->g->n_switches, slot, width = 0;
	const struct member *first, *end, *last;
	uint64_t mask[MASK_WORDS];

	memset(p->met, 0, n * MASK_WORDS * sizeof(*p->met));
	memset(p->seen_by, 0, n * sizeof(*p->seen_by));
	last = p->members + p->n_members;
	for (first = p->members; first < last; first = end) {
		for (end = first + 1; end < last; end++)
			if (end->plane != first->plane)
				break;
		if (!slot_ask_children(p, first, end, mask))
			return 0;
		for (slot = 0; slot < N_SLOTS; slot++)
			if (!set_has(mask, slot))
				break;
		if (slot == N_SLOTS)
			return 0;
		slot_give(p, first, end, slot);
		width = MAX(width, slot + 1);
	}
	return width;
}

/* By slot; false if two have the same. */
static bool
slot_sort_groups(struct tree_group *ups, uint32_t n)
{
	struct tree_group by_slot[256];
	uint64_t used[MASK_WORDS] = { 0 }, bit;
	uint32_t i, w;

	for (i = 0; i < n; i++) {
		w = ups[i].slot / 64;
		bit = UINT64_C(1) << ups[i].slot % 64;
		if (used[w] & bit)
			return false;
		used[w] |= bit;
		by_slot[ups[i].slot] = ups[i];
	}
	for (w = 0; w < MASK_WORDS; w++)
		for (; used[w]; used[w] &= used[w] - 1)
			*ups++ = by_slot[w * 64 + (uint32_t)
					 __builtin_ctzll(used[w])];
	return true;
}

/* Writes the slots of the parents into the groups of a switch; the parents are
 * counted if they have none (`slot` NULL). */
static void
slot_set_groups(struct tree *t, uint32_t sw, const uint8_t *slot)
{
	struct tree_group *ups = t->ups + t->first_up[sw];
	uint32_t n = t->first_up[sw + 1] - t->first_up[sw], i;

	for (i = 0; i < n; i++)
		ups[i].slot = slot ? slot[ups[i].peer] : (uint8_t)i;
	if (!slot_sort_groups(ups, n))
		qsort(ups, n, sizeof(*ups), slot_compare_groups);
}

static uint32_t
slot_most_parents(const struct tree *t, uint32_t rank)
{
	uint32_t most = 0, sw;

	for (sw = 0; sw < t->g->n_switches; sw++)
		if (t->rank[sw] + 1u == rank)
			most = MAX(most,
				   t->first_up[sw + 1] - t->first_up[sw]);
	return most;
}

/* `width` with ghosts, for all that comes from below; as it is if what is
 * missing is a share of that or more: then it was built so. */
static uint32_t
slot_add_ghosts(uint32_t n_below, uint32_t width, uint32_t n_cables,
		uint32_t share)
{
	uint32_t n_ways = width * n_cables;

	if (n_below <= n_ways || (n_below - n_ways) * share >= n_below)
		return width;
	return MIN((n_below + n_cables - 1) / n_cables, N_SLOTS);
}

/* Of those that look up to the rank. */
static uint32_t
slot_most_children(const struct tree *t, uint32_t rank)
{
	uint32_t most = 0, sw;

	for (sw = 0; sw < t->g->n_switches; sw++)
		if (t->rank[sw] + 1u == rank)
			most = MAX(most,
				   t->first_down[sw + 1] - t->first_down[sw]);
	return most;
}

/* Numbers the switches of the rank within their planes, pod by pod. */
static void
slot_take_turns(struct painter *p)
{
	struct tree *t = p->t;
	uint32_t i, sw;

	memset(p->size, 0, t->g->n_switches * sizeof(*p->size));
	for (i = 0; i < t->g->n_switches; i++) {
		sw = t->climb[i];
		if (t->rank[sw] == p->rank)
			t->turn[sw] = p->size[tree_find(p->up, sw)]++;
	}
}

/* The slots of planes, for all that is on them. */
static void
slot_note_planes(struct painter *p)
{
	struct tree *t = p->t;
	uint32_t n = t->g->n_switches, i, sw;
	uint8_t *planes = t->planes + (size_t)p->rank * n;

	for (i = 0; i < p->n_members; i++) {
		sw = p->members[i].sw;
		p->size[tree_find(p->up, sw)] = p->slot[sw];
	}
	for (sw = 0; sw < n; sw++)
		if (t->rank[sw] >= p->rank)
			planes[sw] = (uint8_t)p->size[tree_find(p->up, sw)];
}

static void
slot_assign_rank(struct painter *p)
{
	struct tree *t = p->t;
	struct tree_level *level = &t->levels[p->rank];
	uint32_t most = slot_most_parents(t, p->rank), sw, i;

	slot_take_turns(p);
	slot_gather(p, p->up);
	level->width = slot_paint(p);
	if (level->width == 0) {
		slot_gather(p, NULL);
		level->width = slot_paint(p);
	}
	/* More slots empty than not: no order to be kept. */
	if (level->width > 2 * most)
		level->width = 0;
	level->n_cables = 1;
	if (level->width)
		slot_note_planes(p);
	for (sw = 0; sw < t->g->n_switches; sw++) {
		if (t->rank[sw] + 1u != p->rank)
			continue;
		slot_set_groups(t, sw, level->width ? p->slot : NULL);
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
			tree_join(p->up, sw, t->ups[i].peer);
			level->n_cables = MAX(level->n_cables,
					      t->ups[i].n_cables);
		}
	}
	level->width = MAX(level->width ? level->width : most, 1);
	if (p->rank == 1)
		level->width = slot_add_ghosts(p->n_hosts, level->width,
					       level->n_cables, CA_SHARE);
	else
		level->width = slot_add_ghosts(slot_most_children(t, p->rank),
					       level->width, level->n_cables,
					       CHILD_SHARE);
	level->n_cables = MIN(level->n_cables, TREE_MAX_WHEEL / level->width);
}

void
tree_assign_slots(struct tree *t, uint32_t n_hosts)
{
	uint32_t n = t->g->n_switches, r;
	uint64_t pi;
	struct painter p = {
		.t = t,
		.n_hosts = n_hosts,
		.members = g_new(struct member, n),
		.up = g_new(uint32_t, n),
		.size = g_new(uint32_t, n),
		.met = g_new(uint64_t, n * MASK_WORDS),
		.seen_by = g_new(uint32_t, n),
		.slot = g_new0(uint8_t, n),
	};

	for (r = 0; r < n; r++)
		p.up[r] = r;
	for (p.rank = t->n_ranks - 1; p.rank > 0; p.rank--)
		slot_assign_rank(&p);
	slot_take_turns(&p);
	t->levels[0] = (struct tree_level){ 1, 1, 1 };
	for (r = 1; r < t->n_ranks; r++) {
		pi = (uint64_t)t->levels[r - 1].pi * t->levels[r].width;
		t->levels[r].pi = (uint32_t)MIN(pi, INT32_MAX);
	}

	g_free(p.members);
	g_free(p.up);
	g_free(p.size);
	g_free(p.met);
	g_free(p.seen_by);
	g_free(p.slot);
}
