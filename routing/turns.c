// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Turns from down to up.
 *
 * Method. Two switches have a path up and then down if and only if some top
 * switch is above both, so it is top switches that have to be joined. First one
 * switch becomes the root, one with nearly as many tops above it as any: it and
 * all switches above it may forward from one switch above them to another, if
 * these share no top. In a fat tree these switches are a tree upside down, with
 * one path between any two of its tops. Tops that are not above the root are
 * joined one after the other, at a switch that has both joined tops and a new
 * one above it: a packet that came down from a joined top may go up to the new
 * one and back, but not from one joined top to another.
 *
 * Safety. In damaged trees, and in fabrics that are not trees, such turns may
 * close a cycle in the graph of all channels (channels_add). Such an addition is
 * undone, and the next candidate is tried.
 *
 * Cost. A search for a loop for each turn that is against the order of the
 * channels so far.
 *
 * Reference. W. J. Dally and C. L. Seitz, 1987, for channel dependencies.
 */
#include "routing/turns.h"

#include <stdlib.h>
#include <string.h>

#include "routing/scratch.h"
#include "routing/sets.h"
#include "topology/each.h"

#define MAX_TRIES	16u	/* additions that may fail in an island */

struct joining {
	struct channels *c;
	const struct graph *g;
	const struct order *o;
	uint32_t n_words;
	uint64_t *tops;		/* order_find_tops() */
	uint64_t *joined;	/* tops that are joined */
	uint8_t *tried;		/* by switch: closed a cycle */
	uint8_t *member;	/* by switch: it is the root, or above it */
	/* By edge that leads up: a packet that came down by a cable of one
	 * class may go up by one of another class. 0: it may not. */
	uint8_t *class_of;
	/* Of this addition: */
	GArray *members;
	GArray *opened;		/* edges that got a class */
	GArray *added;		/* struct turn */
};

static uint32_t
turns_count_new(const struct joining *j, uint32_t sw)
{
	const uint64_t *tops = j->tops + (size_t)sw * j->n_words;
	uint32_t w, n = 0;

	for (w = 0; w < j->n_words; w++)
		n += (uint32_t)__builtin_popcountll(tops[w] & ~j->joined[w]);
	return n;
}

static bool
turns_has_old(const struct joining *j, uint32_t sw)
{
	return set_meets(j->tops + (size_t)sw * j->n_words, j->joined,
			 j->n_words);
}

/* The edges to one neighbour above. */
struct above {
	uint32_t first_edge, end, n_tops;
};

static int
turns_compare_above(const void *a, const void *b)
{
	const struct above *x = a, *y = b;

	return uint_compare(x->n_tops, y->n_tops) ?:
		uint_compare(x->first_edge, y->first_edge);
}

/* Lists the neighbours above, those with few tops first; returns how many. */
static uint32_t
turns_list_above(const struct joining *j, uint32_t sw,
		 struct above above[GRAPH_PORTS])
{
	const struct graph *g = j->g;
	uint32_t e, end, w, n = 0, last = g->first_edge[sw + 1];
	const uint64_t *tops;

	for (e = g->first_edge[sw]; e < last; e = end) {
		for (end = e + 1; end < last &&
		     g->edges[end].peer == g->edges[e].peer; end++)
			;
		if (!order_is_up(j->o, sw, g->edges[e].peer))
			continue;
		above[n] = (struct above){ e, end, 0 };
		tops = j->tops + (size_t)g->edges[e].peer * j->n_words;
		for (w = 0; w < j->n_words; w++)
			above[n].n_tops += (uint32_t)
				__builtin_popcountll(tops[w]);
		n++;
	}
	qsort(above, n, sizeof(*above), turns_compare_above);
	return n;
}

/* The class of a neighbour above: the class with which it shares tops, or a
 * new one; 0 if it shares tops with several. masks: the tops of each class. */
static uint32_t
turns_find_class(const struct joining *j, uint32_t peer, uint64_t *masks,
		 uint32_t *n_classes)
{
	const uint64_t *tops = j->tops + (size_t)peer * j->n_words;
	uint32_t class, found = 0;

	for (class = 2; class < *n_classes; class++)
		if (set_meets(masks + class * j->n_words, tops, j->n_words)) {
			if (found)
				return 0;
			found = class;
		}
	if (!found)
		found = (*n_classes)++;
	set_unite(masks + found * j->n_words, tops, j->n_words);
	return found;
}

/* Adds the turns at a switch from each class of edges to the others. False: one
 * closes a cycle. The last edges first: the channel into them is mostly behind the
 * others, so a channel out moves behind all of them at once. */
static bool
turns_permit(struct joining *j, uint32_t sw)
{
	uint32_t e, out;

	for_each_edge(j->g, sw, out)
		for (e = j->g->first_edge[sw + 1]; e-- > j->g->first_edge[sw];)
			if (j->class_of[e] && j->class_of[out] &&
			    j->class_of[e] != j->class_of[out] &&
			    !channels_extend(j->c, j->g->edges[e].back, out,
					     j->added))
				return false;
	return true;
}

/*
 * Gives classes to the edges up from `sw`, and adds the switches to which they
 * lead to the members: class 1 to those without a new top above them, if `sw`
 * joins new tops to joined ones; none to those that are members already, since
 * there is another path to them. False: a turn between them closes a cycle.
 */
static bool
turns_open(struct joining *j, uint32_t sw, bool joins)
{
	struct above above[GRAPH_PORTS];
	uint32_t n = turns_list_above(j, sw, above), n_classes = 2, i, e;
	uint32_t class, peer;
	g_autofree uint64_t *masks = g_new0(uint64_t, (size_t)GRAPH_PORTS *
					    j->n_words);

	for (i = 0; i < n; i++) {
		e = above[i].first_edge;
		peer = j->g->edges[e].peer;
		if (j->class_of[e] || n_classes + 1 == GRAPH_PORTS)
			continue;
		class = 0;
		if (joins && !turns_count_new(j, peer))
			class = 1;
		else if (!j->member[peer])
			class = turns_find_class(j, peer, masks, &n_classes);
		if (class > 1) {
			j->member[peer] = 1;
			g_array_append_val(j->members, peer);
		}
		for (; e < above[i].end; e++) {
			j->class_of[e] = (uint8_t)class;
			g_array_append_val(j->opened, e);
		}
	}
	return turns_permit(j, sw);
}

/* The highest switch from here up that has both joined and new tops above
 * it. */
static uint32_t
turns_climb(const struct joining *j, uint32_t sw)
{
	const struct graph *g = j->g;
	uint32_t e, peer;

	for_each_edge(g, sw, e) {
		peer = g->edges[e].peer;
		if (!order_is_up(j->o, sw, peer) || !turns_has_old(j, peer) ||
		    !turns_count_new(j, peer))
			continue;
		sw = peer;
		e = g->first_edge[sw] - 1;
	}
	return sw;
}

/* The switch with the most new tops above it, the lowest of several; as the
 * root, the lowest with nearly as many, so that a single cable does not move
 * the root. */
static uint32_t
turns_find_best(const struct joining *j, uint32_t island, bool is_first)
{
	uint32_t best = SNAPSHOT_NONE, most = 0, i, sw, n;
	g_autofree uint32_t *weight = g_new0(uint32_t, j->g->n_switches);

	for (i = 0; i < j->g->n_switches; i++) {
		sw = j->o->climb[i];
		if (j->g->island[sw] != island || j->tried[sw])
			continue;
		n = turns_count_new(j, sw);
		if (n == 0 || (is_first ? n < 2 : !turns_has_old(j, sw)))
			continue;
		weight[sw] = n;
		if (n > most) {
			most = n;
			best = sw;
		}
	}
	for (i = 0; is_first && i < j->g->n_switches; i++) {
		sw = j->o->climb[i];
		if (weight[sw] && weight[sw] * 4 >= most * 3)
			return sw;
	}
	return best;
}

/* Takes back an addition that closes a cycle. */
static void
turns_undo(struct joining *j)
{
	channels_undo(j->c, j->added, 0);
	EACH_ITEM(const uint32_t, e, j->opened) {
		j->member[j->g->edges[*e].peer] &= j->class_of[*e] <= 1;
		j->class_of[*e] = 0;
	}
}

/* Joins the tops of an island as far as possible: permits turns at the root or
 * at a joining switch, and at the members above it. */
static void
turns_join_island(struct joining *j, uint32_t island)
{
	uint32_t tries = 0, sw, at;
	bool is_first = true, ok;
	guint i;

	while (tries < MAX_TRIES) {
		sw = turns_find_best(j, island, is_first);
		if (sw == SNAPSHOT_NONE)
			break;
		at = is_first ? sw : turns_climb(j, sw);
		g_array_set_size(j->opened, 0);
		g_array_set_size(j->added, 0);
		g_array_set_size(j->members, 0);
		g_array_append_val(j->members, at);
		j->member[at] = 1;
		for (ok = true, i = 0; ok && i < j->members->len; i++)
			ok = turns_open(j, g_array_index(j->members, uint32_t,
							 i),
					!is_first && i == 0);
		if (!ok) {
			turns_undo(j);
			j->tried[sw] = 1;
			tries++;
			continue;
		}
		is_first = false;
		set_unite(j->joined, j->tops + (size_t)at * j->n_words,
			  j->n_words);
	}
}

void
turns_join(struct channels *c, const struct order *o)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) opened = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) added = g_array_new(FALSE, FALSE,
					      sizeof(struct turn));
	const struct graph *g = c->g;
	struct joining j = { .c = c, .g = g, .o = o, .members = members,
			     .opened = opened, .added = added };
	uint32_t n = g->n_switches, sw;

	j.tops = order_find_tops(o, g, &j.n_words);
	g_ptr_array_add(scratch, j.tops);
	if (order_joins(g, j.tops, j.n_words, false))
		return;
	j.joined = SCRATCH(scratch, uint64_t, j.n_words);
	j.tried = SCRATCH(scratch, uint8_t, n);
	j.member = SCRATCH(scratch, uint8_t, n);
	j.class_of = SCRATCH(scratch, uint8_t, g->n_edges);
	for (sw = 0; sw < n; sw++)
		if (g->island[sw] == sw)
			turns_join_island(&j, sw);
}
