// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as a tree.
 *
 * Sets. With cables between adjacent levels only, every path down from s to d
 * has level(s) - level(d) hops, hence
 *   set(s, 0) = s itself and the set(c, 0) of all children c
 *   set(s, k) = the set(p, k - 1) of all parents p, less all set(s, j), j < k
 * A hop to a parent p is on a shortest path to d in set(s, k) if and only if
 * d is in set(p, k - 1).
 *
 * Slots. D-mod-k sends number t up through parent (t / pi) mod w. It is free of
 * congestion only if this value means the same plane at all switches; and after
 * a loss of cables it stays nearly so only if the other cables keep their
 * values. So parents are not counted; they have slots, of which some may be
 * empty. A plane of a level is, from the top down, a component of the switches
 * of at least that level. Planes get their numbers like colours of a graph: each
 * the lowest number that no other parent of its children has. If two parents
 * of a switch are on one plane (a core switch with several spines in a pod),
 * each switch is a plane of its own; if even this takes too many numbers, the
 * parents of each child are counted.
 *
 * Reference. E. Zahavi, "Fat-trees routing and node ordering providing
 * contention free traffic for MPI global collectives", 2011; J. Gliksberg et
 * al., "High-Quality Fault-Resiliency in Fat-Tree Networks", arXiv 2211.11817.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/ftree.h"
#include "routing/sets.h"

#define MASK_WORDS	4u	/* a bit for each slot */

void
ftree_make_groups(struct ftree *t)
{
	const struct graph *g = t->g;
	const uint8_t *level = t->o->level;
	uint32_t n = g->n_switches, sw, e, next, last, n_ups = 0, n_downs = 0;
	struct ftree_group group = { 0 };

	t->first_up = SCRATCH(t->scratch, uint32_t, n);
	t->first_down = SCRATCH(t->scratch, uint32_t, n);
	t->ups = SCRATCH(t->scratch, struct ftree_group, g->n_edges);
	t->downs = SCRATCH(t->scratch, struct ftree_group, g->n_edges);
	for (sw = 0; sw < n; sw++) {
		t->first_up[sw] = n_ups;
		t->first_down[sw] = n_downs;
		last = g->first_edge[sw + 1];
		for (e = g->first_edge[sw]; e < last; e = next) {
			group.peer = g->edges[e].peer;
			for (next = e + 1; next < last &&
			     g->edges[next].peer == group.peer; next++)
				;
			group.first_edge = e;
			group.n_cables = (uint8_t)(next - e);
			if (level[group.peer] == level[sw] + 1)
				t->ups[n_ups++] = group;
			else if (level[group.peer] + 1 == level[sw])
				t->downs[n_downs++] = group;
		}
	}
	t->first_up[n] = n_ups;
	t->first_down[n] = n_downs;
}

static void
ftree_find_sets_up(struct ftree *t, uint32_t k)
{
	uint32_t n = t->g->n_switches, i, j, l, w, sw;
	uint64_t *mine;

	for (i = 0; i < n; i++) {
		sw = t->o->climb[i];
		mine = ftree_set(t, sw, k);
		for (j = t->first_up[sw]; j < t->first_up[sw + 1]; j++)
			set_unite(mine, ftree_set(t, t->ups[j].peer, k - 1),
				  t->n_words);
		for (l = 0; l < k; l++)
			for (w = 0; w < t->n_words; w++)
				mine[w] &= ~ftree_set(t, sw, l)[w];
	}
}

void
ftree_find_sets(struct ftree *t)
{
	uint32_t n = t->g->n_switches, i, j, k, sw;

	t->n_sets = t->o->n_levels;
	t->n_words = (n + 63) / 64;
	t->sets = SCRATCH(t->scratch, uint64_t, (size_t)n * t->n_sets *
			  t->n_words);
	for (i = 0; i < n; i++) {
		sw = t->o->climb[i];
		set_add(ftree_set(t, sw, 0), i);
		for (j = t->first_down[sw]; j < t->first_down[sw + 1]; j++)
			set_unite(ftree_set(t, sw, 0),
				  ftree_set(t, t->downs[j].peer, 0),
				  t->n_words);
	}
	for (k = 1; k < t->n_sets; k++)
		ftree_find_sets_up(t, k);
}

/* A switch of the present level, with its plane. */
struct member {
	uint32_t plane;		/* label of the component */
	uint32_t place;		/* of the switch */
};

struct painter {
	struct ftree *t;
	uint32_t level, n_members;
	struct member *members;
	uint32_t *up;		/* components of the levels from this one up */
	uint32_t *size;		/* label -> members */
	uint64_t *met;		/* [switch]: slots of its parents, MASK_WORDS
				   each */
	uint32_t *seen_by;	/* by switch: the last plane that visited it
				   + 1 */
	uint8_t *slot;		/* by switch */
};

static int
painter_compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return uint_compare(x->plane, y->plane) ?:
		uint_compare(x->place, y->place);
}

/* Lists the switches of the level, plane by plane; `alone`: each is a plane. */
static void
painter_gather(struct painter *p, bool alone)
{
	const struct order *o = p->t->o;
	uint32_t i, sw;

	p->n_members = 0;
	for (i = 0; i < o->n_switches; i++) {
		sw = o->climb[i];
		if (o->level[sw] != p->level)
			continue;
		p->members[p->n_members++] = (struct member){
			alone ? i : o->place[disjoint_find(p->up, sw)], i,
		};
	}
	qsort(p->members, p->n_members, sizeof(*p->members), painter_compare);
}

/* The slots that other parents of the plane's children have. False: a child
 * has two parents in the plane. */
static bool
painter_look_down(struct painter *p, const struct member *first,
		  const struct member *end, uint64_t mask[MASK_WORDS])
{
	const struct ftree *t = p->t;
	const struct member *member;
	uint32_t i, sw, child;

	memset(mask, 0, MASK_WORDS * sizeof(*mask));
	for (member = first; member < end; member++) {
		sw = t->o->climb[member->place];
		for (i = t->first_down[sw]; i < t->first_down[sw + 1]; i++) {
			child = t->downs[i].peer;
			if (p->seen_by[child] == first->plane + 1)
				return false;
			p->seen_by[child] = first->plane + 1;
			set_unite(mask, p->met + child * MASK_WORDS,
				  MASK_WORDS);
		}
	}
	return true;
}

/* Numbers the planes. Returns how many numbers it took; 0: it is not
 * possible. */
static uint32_t
painter_paint(struct painter *p)
{
	const struct ftree *t = p->t;
	uint32_t n = t->g->n_switches, slot, sw, i, width = 0;
	const struct member *first, *end, *last = p->members + p->n_members;
	uint64_t mask[MASK_WORDS];

	memset(p->met, 0, n * MASK_WORDS * sizeof(*p->met));
	memset(p->seen_by, 0, n * sizeof(*p->seen_by));
	for (first = p->members; first < last; first = end) {
		for (end = first + 1; end < last; end++)
			if (end->plane != first->plane)
				break;
		if (!painter_look_down(p, first, end, mask))
			return 0;
		for (slot = 0; slot < FTREE_MAX_SLOTS; slot++)
			if (!set_has(mask, slot))
				break;
		if (slot == FTREE_MAX_SLOTS)
			return 0;
		for (; first < end; first++) {
			sw = t->o->climb[first->place];
			p->slot[sw] = (uint8_t)slot;
			for (i = t->first_down[sw]; i < t->first_down[sw + 1];
			     i++)
				set_add(p->met + t->downs[i].peer * MASK_WORDS,
					slot);
		}
		width = MAX(width, slot + 1);
	}
	return width;
}

static int
ftree_compare_slots(const void *a, const void *b)
{
	const struct ftree_group *x = a, *y = b;

	return uint_compare(x->slot, y->slot) ?:
		uint_compare(x->peer, y->peer);
}

static void
painter_paint_level(struct painter *p)
{
	struct ftree *t = p->t;
	uint32_t most = 0, cables = 1, width, sw, i, r = p->level;

	for (sw = 0; sw < t->g->n_switches; sw++)
		if (t->o->level[sw] + 1u == r)
			most = MAX(most, t->first_up[sw + 1] - t->first_up[sw]);
	painter_gather(p, false);
	width = painter_paint(p);
	if (width == 0) {
		painter_gather(p, true);
		width = painter_paint(p);
	}
	for (sw = 0; sw < t->g->n_switches; sw++) {
		if (t->o->level[sw] + 1u != r)
			continue;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
			t->ups[i].slot = width ? p->slot[t->ups[i].peer] :
				(uint8_t)(i - t->first_up[sw]);
			disjoint_join(p->up, sw, t->ups[i].peer);
			cables = MAX(cables, t->ups[i].n_cables);
		}
		qsort(t->ups + t->first_up[sw],
		      t->first_up[sw + 1] - t->first_up[sw],
		      sizeof(*t->ups), ftree_compare_slots);
	}
	t->width[r] = MAX(width ? width : most, 1);
	t->n_cables[r] = MIN(cables, FTREE_MAX_SLOTS / t->width[r]);
}

/* Numbers the switches of the level within their planes. */
static void
painter_take_turns(struct painter *p)
{
	const struct order *o = p->t->o;
	uint32_t i, sw;

	memset(p->size, 0, o->n_switches * sizeof(*p->size));
	for (i = 0; i < o->n_switches; i++) {
		sw = o->climb[i];
		if (o->level[sw] == p->level)
			p->t->turn[sw] = p->size[disjoint_find(p->up, sw)]++;
	}
}

void
ftree_assign_slots(struct ftree *t)
{
	uint32_t n = t->g->n_switches, r;
	struct painter p = {
		.t = t,
		.members = SCRATCH(t->scratch, struct member, n),
		.up = SCRATCH(t->scratch, uint32_t, n),
		.size = SCRATCH(t->scratch, uint32_t, n),
		.met = SCRATCH(t->scratch, uint64_t, n * MASK_WORDS),
		.seen_by = SCRATCH(t->scratch, uint32_t, n),
		.slot = SCRATCH(t->scratch, uint8_t, n),
	};

	t->width = SCRATCH(t->scratch, uint32_t, t->o->n_levels);
	t->n_cables = SCRATCH(t->scratch, uint32_t, t->o->n_levels);
	t->pi = SCRATCH(t->scratch, uint32_t, t->o->n_levels);
	t->turn = SCRATCH(t->scratch, uint32_t, n);
	for (r = 0; r < n; r++)
		p.up[r] = r;
	for (p.level = t->o->n_levels - 1; p.level > 0; p.level--) {
		painter_take_turns(&p);
		painter_paint_level(&p);
	}
	painter_take_turns(&p);
	t->width[0] = t->n_cables[0] = t->pi[0] = 1;
	for (r = 1; r < t->o->n_levels; r++)
		t->pi[r] = (uint32_t)MIN((uint64_t)t->pi[r - 1] * t->width[r],
					 INT32_MAX);
}
