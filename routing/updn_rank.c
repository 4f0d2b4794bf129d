// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches.
 *
 * Purpose. Any total order makes ways that go up and then down free of credit
 * loops; which one decides whether everybody is reached, and by how long a
 * way.
 *
 * Flow. updn_rank: the ranks that are held are kept as they are. Without any:
 * given roots are level 0, and the rest is as far below as it is away. Else,
 * if the fabric is layered, that is if each cable joins switches whose
 * distances from the nearest CAs differ by one, levels are the layers, the
 * farthest on top: a tree comes out as a tree. Else the root is the switch in
 * the middle: least distance to the farthest other, then most cables, then
 * lowest index.
 *   updn_rank_single: the middle of each island as its only root. A layered
 * fabric may have two tops whose switches have no legal way to each other;
 * with one root there are none.
 *
 * Places. Within a level the lower index is the higher one: by NodeGUID, since
 * graphs number switches so. A newcomer comes after all that are on its level.
 */
#include <string.h>

#include "routing/updn.h"

#define FAR		UINT32_MAX
#define LEVEL_MAX	0x7fffu

/* Breadth first from all that have distance 0 and stand in the queue. Returns
 * the number reached. */
static uint32_t
rank_spread(const struct graph *g, uint32_t *distance, uint32_t *queue,
	    uint32_t n)
{
	uint32_t head, sw, peer, e;

	for (head = 0; head < n; head++) {
		sw = queue[head];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (distance[peer] != FAR)
				continue;
			distance[peer] = distance[sw] + 1;
			queue[n++] = peer;
		}
	}
	return n;
}

static void
rank_clear(const struct graph *g, uint32_t *distance)
{
	memset(distance, 0xff, g->n_switches * sizeof(*distance));
}

/* Gives the island of `start` its distances from its middle. */
static void
rank_from_middle(const struct graph *g, uint32_t start, uint32_t *distance)
{
	uint32_t n = g->n_switches, size, i, far, best_far = FAR, best = start;
	g_autofree uint32_t *members = g_new(uint32_t, n);
	g_autofree uint32_t *queue = g_new(uint32_t, n);
	g_autofree uint32_t *hops = g_new(uint32_t, n);
	uint32_t sw, cables, best_cables = 0;

	rank_clear(g, hops);
	hops[start] = 0;
	members[0] = start;
	size = rank_spread(g, hops, members, 1);
	for (i = 0; i < size; i++) {
		sw = members[i];
		rank_clear(g, hops);
		hops[sw] = 0;
		queue[0] = sw;
		rank_spread(g, hops, queue, 1);
		far = hops[queue[size - 1]];
		cables = g->first_edge[sw + 1] - g->first_edge[sw];
		if (far > best_far || (far == best_far &&
		    (cables < best_cables ||
		     (cables == best_cables && sw > best))))
			continue;
		best = sw;
		best_far = far;
		best_cables = cables;
	}
	distance[best] = 0;
	queue[0] = best;
	rank_spread(g, distance, queue, 1);
}

/* Levels by distance from the roots that are given; an island without one has
 * its middle. */
static void
rank_from_roots(const struct graph *g, const uint8_t *is_root,
		uint32_t *level)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t sw, n = 0;

	rank_clear(g, level);
	for (sw = 0; is_root && sw < g->n_switches; sw++)
		if (is_root[sw]) {
			level[sw] = 0;
			queue[n++] = sw;
		}
	rank_spread(g, level, queue, n);
	for (sw = 0; sw < g->n_switches; sw++)
		if (level[sw] == FAR)
			rank_from_middle(g, sw, level);
}

/* Distances from CAs; an island without any counts from one of its own. */
static void
rank_measure_layers(const struct graph *g, uint32_t *level)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t sw, n = 0;

	rank_clear(g, level);
	for (sw = 0; sw < g->n_switches; sw++)
		if (g->n_hosts[sw]) {
			level[sw] = 0;
			queue[n++] = sw;
		}
	rank_spread(g, level, queue, n);
	for (sw = 0; sw < g->n_switches; sw++)
		if (level[sw] == FAR) {
			level[sw] = 0;
			queue[0] = sw;
			rank_spread(g, level, queue, 1);
		}
}

/* Layers by distance from CAs, turned round. False if it is not layered, or if
 * there is only one layer of several switches. */
static bool
rank_from_layers(const struct graph *g, uint32_t *level)
{
	uint32_t sw, e, top = 0;

	rank_measure_layers(g, level);
	for (sw = 0; sw < g->n_switches; sw++) {
		top = MAX(top, level[sw]);
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			if (ABS((int)level[sw] -
				(int)level[g->edges[e].peer]) != 1)
				return false;
	}
	for (sw = 0; sw < g->n_switches; sw++)
		level[sw] = top - level[sw];
	return top > 0;
}

/* From levels to ranks; `next` is the first place of each level that is
 * free. */
static void
rank_place(uint32_t *rank, uint32_t level, uint32_t *next)
{
	level = MIN(level, LEVEL_MAX);
	g_assert(next[level] <= 0xffff);
	*rank = level << UPDN_LEVEL_SHIFT | next[level]++;
}

static uint32_t *
rank_number(const struct graph *g, const uint32_t *level)
{
	g_autofree uint32_t *next = g_new0(uint32_t, LEVEL_MAX + 1);
	uint32_t *ranks = g_new(uint32_t, g->n_switches), sw;

	for (sw = 0; sw < g->n_switches; sw++)
		rank_place(&ranks[sw], level[sw], next);
	return ranks;
}

static uint32_t *
rank_anew(const struct graph *g, const uint8_t *is_root)
{
	g_autofree uint32_t *level = g_new(uint32_t, g->n_switches);

	if (is_root || !rank_from_layers(g, level))
		rank_from_roots(g, is_root, level);
	return rank_number(g, level);
}

uint32_t *
updn_rank_single(const struct graph *g)
{
	g_autofree uint32_t *level = g_new(uint32_t, g->n_switches);

	rank_from_roots(g, NULL, level);
	return rank_number(g, level);
}

/* Newcomers, in the order in which they are met from those of before: each one
 * level below its highest neighbour. One island of newcomers only: below
 * nobody, as it would be by itself. */
static void
rank_add_newcomers(const struct graph *g, uint32_t *ranks, uint32_t *next)
{
	uint32_t sw, e, level;
	bool again = true, any;

	while (again) {
		again = any = false;
		for (sw = 0; sw < g->n_switches; sw++) {
			if (ranks[sw] != ENGINE_NO_RANK)
				continue;
			level = FAR;
			for (e = g->first_edge[sw];
			     e < g->first_edge[sw + 1]; e++)
				if (ranks[g->edges[e].peer] != ENGINE_NO_RANK)
					level = MIN(level,
						ranks[g->edges[e].peer] >>
						UPDN_LEVEL_SHIFT);
			any = true;
			if (level == FAR)
				continue;
			rank_place(&ranks[sw], level + 1, next);
			again = true;
		}
		for (sw = 0; any && !again && sw < g->n_switches; sw++)
			if (ranks[sw] == ENGINE_NO_RANK) {
				rank_place(&ranks[sw], 0, next);
				again = true;
			}
	}
}

/* Ranks that were remembered may come from a file that somebody wrote: no two
 * alike, and room for all newcomers on each level. */
static bool
rank_can_hold(const struct graph *g, const uint32_t *held)
{
	g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);

	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		if (held[sw] == ENGINE_NO_RANK)
			continue;
		if (held[sw] >> UPDN_LEVEL_SHIFT > LEVEL_MAX ||
		    (held[sw] & 0xffff) + g->n_switches > 0xffff ||
		    !g_hash_table_add(met, GUINT_TO_POINTER(held[sw] + 1)))
			return false;
	}
	return true;
}

/* The levels that a layered fabric would give its newcomers, if those that are
 * held are the same: a spine that comes late is a spine. */
static void
rank_place_layers(const struct graph *g, const uint32_t *held,
		  uint32_t *ranks, uint32_t *next)
{
	g_autofree uint32_t *level = g_new(uint32_t, g->n_switches);
	uint32_t sw;

	if (!rank_from_layers(g, level))
		return;
	for (sw = 0; sw < g->n_switches; sw++)
		if (held[sw] != ENGINE_NO_RANK &&
		    held[sw] >> UPDN_LEVEL_SHIFT != level[sw])
			return;
	for (sw = 0; sw < g->n_switches; sw++)
		if (ranks[sw] == ENGINE_NO_RANK)
			rank_place(&ranks[sw], level[sw], next);
}

uint32_t *
updn_rank(const struct graph *g, const uint32_t *held, const uint8_t *is_root)
{
	g_autofree uint32_t *next = NULL;
	uint32_t *ranks, sw, n_held = 0, level;

	for (sw = 0; held && sw < g->n_switches; sw++)
		n_held += held[sw] != ENGINE_NO_RANK;
	if (!n_held || !rank_can_hold(g, held))
		return rank_anew(g, is_root);
	ranks = g_memdup2(held, g->n_switches * sizeof(*held));
	next = g_new0(uint32_t, LEVEL_MAX + 1);
	for (sw = 0; sw < g->n_switches; sw++) {
		if (ranks[sw] == ENGINE_NO_RANK)
			continue;
		level = MIN(ranks[sw] >> UPDN_LEVEL_SHIFT, LEVEL_MAX);
		next[level] = MAX(next[level], (ranks[sw] & 0xffff) + 1);
	}
	rank_place_layers(g, held, ranks, next);
	rank_add_newcomers(g, ranks, next);
	return ranks;
}

/* ------------------------------------------------ who has a way to whom */

static int
rank_compare(gconstpointer a, gconstpointer b, gpointer ranks)
{
	uint32_t x = ((const uint32_t *)ranks)[*(const uint32_t *)a];
	uint32_t y = ((const uint32_t *)ranks)[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

static void
rank_unite(uint64_t *sets, uint32_t words, uint32_t to, uint32_t from)
{
	uint32_t w;

	for (w = 0; w < words; w++)
		sets[(size_t)to * words + w] |= sets[(size_t)from * words + w];
}

/* Sets of switches, by switch: who is reached by a way up and then down. */
static uint64_t *
rank_find_reach(const struct graph *g, const uint32_t *ranks, uint32_t words)
{
	uint32_t n = g->n_switches, i, e, sw;
	g_autofree uint32_t *order = g_new(uint32_t, n);
	uint64_t *reach = g_new0(uint64_t, (size_t)n * words);

	for (i = 0; i < n; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)n, sizeof(*order), rank_compare,
			  (gpointer)ranks);
	/* By going down; lowest first. */
	for (i = n; i-- > 0;) {
		sw = order[i];
		reach[(size_t)sw * words + sw / 64] |= UINT64_C(1) << sw % 64;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			if (ranks[g->edges[e].peer] > ranks[sw])
				rank_unite(reach, words, sw,
					   g->edges[e].peer);
	}
	/* By going up first; highest first, so that who is above has his. */
	for (i = 0; i < n; i++) {
		sw = order[i];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			if (ranks[g->edges[e].peer] < ranks[sw])
				rank_unite(reach, words, sw,
					   g->edges[e].peer);
	}
	return reach;
}

bool
updn_joins_all(const struct graph *g, const uint32_t *ranks)
{
	uint32_t words = (g->n_switches + 63) / 64, sw, i;
	g_autofree uint64_t *reach = rank_find_reach(g, ranks, words);
	g_autofree uint32_t *island = graph_find_islands(g);

	for (sw = 0; sw < g->n_switches; sw++)
		for (i = 0; g->n_hosts[sw] && i < g->n_switches; i++)
			if (island[sw] == island[i] &&
			    !(reach[(size_t)sw * words + i / 64] >> i % 64 &
			      1))
				return false;
	return true;
}
