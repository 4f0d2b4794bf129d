// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Turns from down to up.
 *
 * Method. Two switches have a path up and then down if and only if some top
 * switch is above both, so it is top switches that have to be joined. First those
 * above the root of an island, one with nearly as many tops above it as any: it and
 * all switches above it may forward from one switch above them to another, if
 * these share no top. In a fat tree these switches are a tree upside down, with
 * one path between any two of its tops. Tops that are not above the root are
 * joined one after the other, at a switch that has both joined tops and a new
 * one above it: a packet that came down from a joined top may go up to the new
 * one and back, but not from one joined top to another.
 *
 * Safety. In damaged trees, and in fabrics that are not trees, such turns may
 * close a cycle in the graph of all channels (channels_add). Such an addition is
 * undone as a whole, since a part of it would be in the way of other turns, and the
 * next candidate is tried, as long as an island has no joined tops as its root. Turns
 * that join nothing more are left out: they could close a cycle.
 *
 * Cost. A search for a loop for each turn that is against the order of the
 * channels so far.
 *
 * Reference. W. J. Dally and C. L. Seitz, 1987, for channel dependencies.
 */
#include "routing/turns.h"

#include "routing/scratch.h"
#include "routing/sets.h"

#define MAX_TRIES	64u	/* additions that may fail */

struct joining {
	struct channels *c;
	const struct graph *g;
	const struct order *o;
	uint32_t n_words;
	uint64_t *tops;		/* order_find_tops() */
	uint64_t *joined;	/* tops that are joined */
	uint8_t *tried;		/* by switch: an addition began there */
	uint8_t *rooted;	/* by island: it has joined tops */
	uint8_t *member;	/* by switch: an addition that began below it
				   came there */
	uint32_t *queue;	/* switches of this addition, */
	GArray *added;		/* and its turns: struct turn */
	uint32_t n_failed;	/* additions that closed a cycle */
};

static const uint64_t *
turns_tops(const struct joining *j, uint32_t sw)
{
	return j->tops + (size_t)sw * j->n_words;
}

static uint32_t
turns_count_new(const struct joining *j, uint32_t sw)
{
	const uint64_t *tops = turns_tops(j, sw);
	uint32_t w, n = 0;

	for (w = 0; w < j->n_words; w++)
		n += (uint32_t)__builtin_popcountll(tops[w] & ~j->joined[w]);
	return n;
}

static bool
turns_has_old(const struct joining *j, uint32_t sw)
{
	return set_meets(turns_tops(j, sw), j->joined, j->n_words);
}

/* Is there no path from one of these neighbours above to the other yet? */
static bool
turns_parts(const struct joining *j, uint32_t a, uint32_t b)
{
	return !set_meets(turns_tops(j, a), turns_tops(j, b), j->n_words) &&
		!(turns_has_old(j, a) && turns_has_old(j, b));
}

/* Are the tops of a neighbour above joined by turns between two others? */
static bool
turns_is_between(const struct joining *j, uint32_t sw, uint32_t peer)
{
	uint32_t near[GRAPH_PORTS], n = 0, e, k;

	for_each_edge(j->g, sw, e) {
		near[n] = j->g->edges[e].peer;
		if (!order_is_up(j->o, sw, near[n]) ||
		    !set_meets(turns_tops(j, near[n]), turns_tops(j, peer),
			       j->n_words))
			continue;
		for (k = 0; k < n; k++)
			if (turns_parts(j, near[k], near[n]))
				return true;
		n++;
	}
	return false;
}

/* Adds the turns at a switch between neighbours above. False: one closes a cycle. The
 * last edges first: the channel into them is mostly behind the others, so a channel
 * out moves behind all of them at once. *n: switches in the queue, to which neighbours
 * with new tops come. */
static bool
turns_permit(struct joining *j, uint32_t sw, uint32_t *n)
{
	const struct graph_edge *edges = j->g->edges;
	uint32_t open[GRAPH_PORTS], n_open = 0, e, out, in, peer;

	for_each_edge(j->g, sw, e) {
		peer = edges[e].peer;
		if (!order_is_up(j->o, sw, peer) ||
		    turns_is_between(j, sw, peer))
			continue;
		open[n_open++] = e;
		if (j->member[peer] || !turns_count_new(j, peer))
			continue;
		j->member[peer] = 1;
		j->queue[(*n)++] = peer;
	}
	for (out = 0; out < n_open; out++)
		for (in = n_open; in-- > 0;)
			if (turns_parts(j, edges[open[in]].peer,
					edges[open[out]].peer) &&
			    !channels_extend(j->c, edges[open[in]].back,
					     open[out], j->added))
				return false;
	return true;
}

/* Of the switches with joined and new tops above them, the one with the most new ones,
 * the lowest of several; another root if that of an island joins none. */
static uint32_t
turns_find_best(const struct joining *j)
{
	uint32_t best = SNAPSHOT_NONE, most = 0, i, sw, n;

	for (i = 0; i < j->g->n_switches; i++) {
		sw = j->o->climb[i];
		n = j->tried[sw] || (j->rooted[j->g->island[sw]] &&
				     !turns_has_old(j, sw)) ? 0 :
			turns_count_new(j, sw);
		if (n <= most)
			continue;
		most = n;
		best = sw;
	}
	return best;
}

/* Permits turns at a switch and at those above it with new tops, unless they close a
 * cycle. */
static void
turns_open(struct joining *j, uint32_t at)
{
	uint32_t i = 0, n = 1;

	g_array_set_size(j->added, 0);
	j->queue[0] = at;
	while (i < n && turns_permit(j, j->queue[i], &n))
		i++;
	j->tried[at] = 1;
	if (i == n) {
		j->rooted[j->g->island[at]] = 1;
		set_unite(j->joined, turns_tops(j, at), j->n_words);
		return;
	}
	channels_undo(j->c, j->added, 0);
	j->n_failed++;
	while (--n > 0)
		j->member[j->queue[n]] = 0;
}

void
turns_join(struct channels *c, const struct order *o, const uint32_t *depth)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	g_autoptr(GArray) added = g_array_new(FALSE, FALSE,
					      sizeof(struct turn));
	const struct graph *g = c->g;
	struct joining j = { .c = c, .g = g, .o = o, .added = added };
	uint32_t n = g->n_switches, sw;

	j.tops = order_find_tops(o, g, &j.n_words);
	g_ptr_array_add(scratch, j.tops);
	if (order_joins(g, j.tops, j.n_words, false))
		return;
	j.joined = SCRATCH(scratch, uint64_t, j.n_words);
	j.tried = SCRATCH(scratch, uint8_t, n);
	j.rooted = SCRATCH(scratch, uint8_t, n);
	j.member = SCRATCH(scratch, uint8_t, n);
	j.queue = SCRATCH(scratch, uint32_t, n);
	for (sw = 0; sw < n; sw++)
		if (depth[sw] == 0)
			turns_open(&j, sw);
	while (j.n_failed < MAX_TRIES &&
	       (sw = turns_find_best(&j)) != SNAPSHOT_NONE)
		turns_open(&j, sw);
}
