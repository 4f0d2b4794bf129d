// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which switch is a leaf?
 *
 * Purpose. Everything in a fat tree follows from the ranks, and the ranks
 * follow from the leaves: a switch is as high as it is far from the nearest
 * one. A leaf is a switch with CAs, but not every switch with CAs is a leaf
 * (storage on a spine), and a leaf whose hosts are off has none.
 *
 * Flow. rank_guess() takes as leaves the switches with more than half as many
 * CAs as the median has: few CAs prove nothing. If that leaves cables between
 * equals, it tries what a tree would be: its links are a bipartite graph, all
 * leaves of equal height have the same colour. If the CAs on the other colour
 * are few and without them fewer cables are left over, those switches are
 * above the leaves. In a ring every second switch would do, hence "few".
 *   rank_settle() looks at the top of the tree that came out: a switch that
 * joins only what is joined further down is a leaf without CAs, or with few,
 * that hangs on spines and seems to be above them. It goes down to where its
 * neighbours want it. An empty pod takes a round for each of its ranks.
 *
 *   Roots that are given are believed: ranks count down from them. A switch
 * without CAs that this puts below the lowest leaf (it lost its cables up) is
 * put above its neighbours.
 *   Ranks in force stay in force as long as they leave no more cables over
 * than new ones would, and no more CAs above the leaves than a guess may:
 * tables of before and after must be safe together.
 *
 * Ties. Nothing here chooses among equals, but the start of an island without
 * any CA: its lowest switch.
 */
#include <string.h>

#include "routing/engine.h"
#include "routing/ftree_rank.h"

#define RANK_NONE	255u
#define RANK_MAX	200u	/* all that is further away */

/* A quarter of all: the CAs above the leaves, at most. */
#define FEW_SHARE	4u

static int
rank_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* CA ports on a switch that has any, the median. 0 if none has. */
static uint32_t
rank_median(const struct graph *g)
{
	g_autofree uint32_t *counts = g_new(uint32_t, g->n_switches);
	uint32_t n = 0, sw;

	for (sw = 0; sw < g->n_switches; sw++)
		if (g->n_hosts[sw] > 0)
			counts[n++] = g->n_hosts[sw];
	if (n == 0)
		return 0;
	qsort(counts, n, sizeof(*counts), rank_compare);
	return counts[n / 2];
}

/* Breadth first from all switches whose rank is 0 and which are in the queue
 * already. */
static void
rank_spread(const struct graph *g, uint8_t *rank, uint32_t *queue, uint32_t n)
{
	uint32_t head, sw, peer, e;

	for (head = 0; head < n; head++) {
		sw = queue[head];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (rank[peer] != RANK_NONE)
				continue;
			rank[peer] = (uint8_t)MIN(rank[sw] + 1u, RANK_MAX);
			queue[n++] = peer;
		}
	}
}

/* Ranks by distance from the switches marked in `seed`; islands that have none
 * start at all their CAs, or at their lowest switch. */
static void
rank_from(const struct graph *g, const uint8_t *seed, uint8_t *rank)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t n = 0, sw;

	memset(rank, (int)RANK_NONE, g->n_switches);
	for (sw = 0; sw < g->n_switches; sw++)
		if (seed[sw]) {
			rank[sw] = 0;
			queue[n++] = sw;
		}
	rank_spread(g, rank, queue, n);

	for (n = 0, sw = 0; sw < g->n_switches; sw++)
		if (rank[sw] == RANK_NONE && g->n_hosts[sw] > 0) {
			rank[sw] = 0;
			queue[n++] = sw;
		}
	rank_spread(g, rank, queue, n);

	for (sw = 0; sw < g->n_switches; sw++) {
		if (rank[sw] != RANK_NONE)
			continue;
		rank[sw] = 0;
		queue[0] = sw;
		rank_spread(g, rank, queue, 1);
	}
}

uint32_t
rank_count_strays(const struct graph *g, const uint8_t *rank)
{
	uint32_t sw, e, n = 0;

	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			if (g->edges[e].peer > sw &&
			    ABS((int)rank[sw] - (int)rank[g->edges[e].peer])
			    != 1)
				n++;
	return n;
}

/* Two colours, alternating with the distance from the first switch of an
 * island; `island` gets that switch. */
static void
rank_colour(const struct graph *g, uint8_t *colour, uint32_t *island)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t start, head, tail, sw, peer, e;

	memset(colour, (int)RANK_NONE, g->n_switches);
	for (start = 0; start < g->n_switches; start++) {
		if (colour[start] != RANK_NONE)
			continue;
		colour[start] = 0;
		queue[0] = start;
		for (head = 0, tail = 1; head < tail; head++) {
			sw = queue[head];
			island[sw] = start;
			for (e = g->first_edge[sw]; e < g->first_edge[sw + 1];
			     e++) {
				peer = g->edges[e].peer;
				if (colour[peer] != RANK_NONE)
					continue;
				colour[peer] = !colour[sw];
				queue[tail++] = peer;
			}
		}
	}
}

/* Takes the seeds of the rarer colour out. */
static void
rank_filter_seeds(const struct graph *g, uint8_t *seed)
{
	g_autofree uint8_t *colour = g_new(uint8_t, g->n_switches);
	g_autofree uint32_t *island = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *count = g_new0(uint32_t, 2 * g->n_switches);
	uint32_t sw, *mine, *other;

	rank_colour(g, colour, island);
	for (sw = 0; sw < g->n_switches; sw++)
		count[2 * island[sw] + colour[sw]] += g->n_hosts[sw];
	for (sw = 0; sw < g->n_switches; sw++) {
		mine = &count[2 * island[sw] + colour[sw]];
		other = &count[2 * island[sw] + !colour[sw]];
		if (*mine * FEW_SHARE <= *mine + *other)
			seed[sw] = 0;
	}
}

uint8_t *
rank_guess(const struct graph *g)
{
	g_autofree uint8_t *seed = g_new0(uint8_t, g->n_switches);
	g_autofree uint8_t *other = g_new0(uint8_t, g->n_switches);
	uint8_t *rank = g_new0(uint8_t, g->n_switches);
	uint32_t median = rank_median(g), sw, n_strays;

	for (sw = 0; sw < g->n_switches; sw++)
		seed[sw] = g->n_hosts[sw] * 2 > median;
	rank_from(g, seed, rank);
	n_strays = rank_count_strays(g, rank);
	if (n_strays == 0)
		return rank;

	rank_filter_seeds(g, seed);
	rank_from(g, seed, other);
	if (rank_count_strays(g, other) < n_strays)
		memcpy(rank, other, g->n_switches);
	return rank;
}

/* Does `a` reach all the CAs below `top`, other than those on `top` itself,
 * without going as high as that? */
static bool
rank_meets_below(const struct tree *t, uint32_t top, uint32_t a)
{
	const uint64_t *below = tree_set(t, top, 0);
	uint32_t n = t->rank[top] - t->rank[a], last, i, k;
	uint64_t want;

	n = MIN(n, t->n_sets);
	last = (t->n_leaves + 63) / 64;
	for (i = 0; i < last; i++) {
		want = below[i];
		if (i == t->n_leaves / 64)
			want &= (UINT64_C(1) << t->n_leaves % 64) - 1;
		if (t->dest_of[top] / 64 == i)
			want &= ~(UINT64_C(1) << t->dest_of[top] % 64);
		for (k = 0; k < n; k++)
			want &= ~tree_set(t, a, k)[i];
		if (want)
			return false;
	}
	return true;
}

/* Of no use at the top: all below it that has CAs meets further down. */
static bool
rank_is_idle(const struct tree *t, uint32_t sw)
{
	const uint64_t *below = tree_set(t, sw, 0);
	uint32_t from = 0, to, dest;

	if (t->rank[sw] == 0 || t->first_up[sw] != t->first_up[sw + 1])
		return false;
	for (; set_next_run(below, t->n_leaves, &from, &to); from = to)
		for (dest = from; dest < to; dest++)
			if (t->switch_of[dest] != sw &&
			    !rank_meets_below(t, sw, t->switch_of[dest]))
				return false;
	return true;
}

/* The rank that most of the neighbours have, the lowest of those. */
static uint32_t
rank_of_neighbours(const struct graph *g, const uint8_t *rank, uint32_t sw)
{
	uint32_t count[256] = { 0 }, best = 0, i, e;

	for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
		count[rank[g->edges[e].peer]]++;
	for (i = 1; i < G_N_ELEMENTS(count); i++)
		if (count[i] > count[best])
			best = i;
	return best;
}

bool
rank_settle(const struct tree *t, uint8_t *rank)
{
	bool changed = false;
	uint32_t i, sw, near;

	for (i = t->g->n_switches; i > 0; i--) {
		sw = t->climb[i - 1];
		if (!rank_is_idle(t, sw))
			continue;
		near = rank_of_neighbours(t->g, rank, sw);
		if (near == 0 || near - 1 >= rank[sw])
			continue;
		rank[sw] = (uint8_t)(near - 1);
		changed = true;
	}
	return changed;
}

/* How far from the nearest root, RANK_NONE where there is none. */
static uint8_t *
rank_measure_depth(const struct graph *g, const uint8_t *is_root)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint8_t *depth = g_malloc(g->n_switches);
	uint32_t n = 0, sw;

	memset(depth, (int)RANK_NONE, g->n_switches);
	for (sw = 0; sw < g->n_switches; sw++)
		if (is_root[sw]) {
			depth[sw] = 0;
			queue[n++] = sw;
		}
	rank_spread(g, depth, queue, n);
	return depth;
}

/* Above its neighbours: who has no CAs and is deeper than all who have. */
static void
rank_lift(const struct graph *g, uint8_t *depth, uint32_t deepest)
{
	uint32_t sw, e, least;

	for (sw = 0; sw < g->n_switches; sw++) {
		if (depth[sw] == RANK_NONE || depth[sw] <= deepest)
			continue;
		least = RANK_NONE;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			least = MIN(least, depth[g->edges[e].peer]);
		depth[sw] = (uint8_t)(least > 0 ? least - 1 : deepest);
	}
}

uint8_t *
rank_from_roots(const struct graph *g, const uint8_t *is_root)
{
	uint8_t *rank = rank_guess(g);
	g_autofree uint8_t *depth = NULL;
	uint32_t sw, deepest = 0, n_hosts = 0;

	if (!rank)
		return NULL;
	depth = rank_measure_depth(g, is_root);
	for (sw = 0; sw < g->n_switches; sw++)
		if (depth[sw] != RANK_NONE && g->n_hosts[sw] > 0) {
			deepest = MAX(deepest, depth[sw]);
			n_hosts++;
		}
	if (n_hosts == 0)
		return rank;
	rank_lift(g, depth, deepest);
	for (sw = 0; sw < g->n_switches; sw++)
		if (depth[sw] != RANK_NONE)
			rank[sw] = (uint8_t)(deepest - depth[sw]);
	return rank;
}

/* Gives a rank to switches that had none, next to one that has. True if there
 * was any. */
static bool
rank_extend(const struct graph *g, uint32_t *kept, const uint8_t *rank)
{
	bool any = false;
	uint32_t sw, e, peer;

	for (sw = 0; sw < g->n_switches; sw++) {
		if (kept[sw] != ENGINE_NO_RANK)
			continue;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (kept[peer] == ENGINE_NO_RANK ||
			    kept[peer] + rank[sw] < rank[peer])
				continue;
			kept[sw] = kept[peer] + rank[sw] - rank[peer];
			any = true;
			break;
		}
	}
	return any;
}

static bool
rank_tops_roots(const struct graph *g, const uint32_t *kept,
		const uint8_t *is_root)
{
	uint32_t sw, e;

	for (sw = 0; is_root && sw < g->n_switches; sw++)
		for (e = g->first_edge[sw];
		     is_root[sw] && e < g->first_edge[sw + 1]; e++)
			if (kept[g->edges[e].peer] > kept[sw])
				return false;
	return true;
}

static uint32_t
rank_count_lifted(const struct graph *g, const uint8_t *rank)
{
	uint32_t n = 0, sw;

	for (sw = 0; sw < g->n_switches; sw++)
		n += rank[sw] > 0 ? g->n_hosts[sw] : 0;
	return n;
}

/* More CAs above the leaves than a guess would leave there: these are ranks
 * of a time when they were off, such as every second switch of a ring. */
static bool
rank_lifts_many(const struct graph *g, const uint8_t *old, const uint8_t *rank)
{
	uint32_t lifted = rank_count_lifted(g, old), n_hosts = 0, sw;

	for (sw = 0; sw < g->n_switches; sw++)
		n_hosts += g->n_hosts[sw];
	return lifted * FEW_SHARE > n_hosts &&
		lifted > rank_count_lifted(g, rank);
}

uint8_t *
rank_keep(const struct graph *g, const uint32_t *old, const uint8_t *rank,
	  const uint8_t *is_root)
{
	g_autofree uint32_t *kept = g_memdup2(old, g->n_switches *
					      sizeof(*old));
	g_autofree uint8_t *result = g_malloc(g->n_switches);
	uint32_t sw, n_lowest = 0;

	while (rank_extend(g, kept, rank))
		;
	for (sw = 0; sw < g->n_switches; sw++) {
		if (kept[sw] == ENGINE_NO_RANK)	/* an island of its own */
			kept[sw] = rank[sw];
		if (kept[sw] > RANK_MAX)
			return NULL;
		result[sw] = (uint8_t)kept[sw];
		n_lowest += kept[sw] == 0 && g->n_hosts[sw] > 0;
	}
	if (n_lowest == 0 || !rank_tops_roots(g, kept, is_root) ||
	    rank_lifts_many(g, result, rank) ||
	    rank_count_strays(g, result) > rank_count_strays(g, rank))
		return NULL;
	return g_steal_pointer(&result);
}
