// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the hosts for shifts.
 *
 * Purpose. A shift is kind to a tree only if neighbours in the order are
 * neighbours in the tree, so the order has to come from the fabric. LIDs and
 * GUIDs say nothing about who stands next to whom.
 *
 * Order. A leaf is a switch with at least a quarter of the hosts of the
 * fullest; the level of a switch is its distance from the nearest leaf. By
 * level first, so that the few CAs above the leaves come last and move nobody
 * else. Then pod by pod: two switches are in the same pod of level r if
 * cables join them over switches of levels up to r, and the largest pods are
 * compared first. What is in one pod of level 0 (a ring, a torus: all are
 * leaves) is taken along the cables, depth first, by port. Pods, and leaves
 * that no difference tells apart, come as the graph numbers them. Hosts of a
 * switch: by port.
 *
 * Source. The order for which D-mod-k is free of contention: E. Zahavi,
 * "Fat-trees routing and node ordering providing contention free traffic for
 * MPI global collectives", 2011.
 */
#include "routing/quality_traffic.h"

#include <stdlib.h>
#include <string.h>

#define UNSEEN	UINT32_MAX

struct survey {
	const struct graph *g;
	uint32_t *level;	/* by switch */
	uint32_t n_levels;
	uint32_t *pods;		/* [level][switch]: lowest switch of the pod */
	uint32_t *place;	/* switch -> when it is met along the cables */
};

static void
order_find_levels(struct survey *s)
{
	const struct graph *g = s->g;
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t most = 0, head, tail = 0, sw, e, peer;

	for (sw = 0; sw < g->n_switches; sw++)
		most = MAX(most, g->n_hosts[sw]);
	for (sw = 0; sw < g->n_switches; sw++) {
		s->level[sw] = UNSEEN;
		if (g->n_hosts[sw] == 0 || g->n_hosts[sw] < most / 4)
			continue;
		s->level[sw] = 0;
		queue[tail++] = sw;
	}
	for (head = 0; head < tail; head++) {
		sw = queue[head];
		s->n_levels = s->level[sw] + 1;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (s->level[peer] != UNSEEN)
				continue;
			s->level[peer] = s->level[sw] + 1;
			queue[tail++] = peer;
		}
	}
}

static uint32_t
order_find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

/* The root of a pod is its lowest switch. */
static void
order_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = order_find(up, a);
	b = order_find(up, b);
	up[MAX(a, b)] = MIN(a, b);
}

static void
order_label_pods(struct survey *s)
{
	const struct graph *g = s->g;
	g_autofree uint32_t *up = g_new(uint32_t, g->n_switches);
	uint32_t r, sw, e, peer;

	for (sw = 0; sw < g->n_switches; sw++)
		up[sw] = sw;
	for (r = 0; r < s->n_levels; r++) {
		for (sw = 0; sw < g->n_switches; sw++)
			for (e = g->first_edge[sw];
			     e < g->first_edge[sw + 1]; e++) {
				peer = g->edges[e].peer;
				if (MAX(s->level[sw], s->level[peer]) == r)
					order_join(up, sw, peer);
			}
		for (sw = 0; sw < g->n_switches; sw++)
			s->pods[(size_t)r * g->n_switches + sw] =
				order_find(up, sw);
	}
}

static int
order_compare_edges(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	return (int)y->port - (int)x->port;
}

/* Depth first over switches of the same level. The stack may hold a switch
 * more than once: all but the last one are passed over. */
static void
order_walk(struct survey *s, uint32_t start, uint32_t *stack, uint32_t *place)
{
	const struct graph *g = s->g;
	struct graph_edge edges[GRAPH_PORTS];
	uint32_t depth = 0, sw, i, n;

	stack[depth++] = start;
	while (depth > 0) {
		sw = stack[--depth];
		if (s->place[sw] != UNSEEN)
			continue;
		s->place[sw] = (*place)++;
		n = g->first_edge[sw + 1] - g->first_edge[sw];
		if (n == 0)
			continue;
		memcpy(edges, g->edges + g->first_edge[sw],
		       n * sizeof(*edges));
		/* The lowest port last: that is taken first. */
		qsort(edges, n, sizeof(*edges), order_compare_edges);
		for (i = 0; i < n; i++)
			if (s->place[edges[i].peer] == UNSEEN &&
			    s->level[edges[i].peer] == s->level[sw])
				stack[depth++] = edges[i].peer;
	}
}

static void
order_find_places(struct survey *s)
{
	const struct graph *g = s->g;
	g_autofree uint32_t *stack = g_new(uint32_t, g->n_edges + 1u);
	uint32_t sw, place = 0;

	memset(s->place, 0xff, g->n_switches * sizeof(*s->place));
	for (sw = 0; sw < g->n_switches; sw++)
		if (s->place[sw] == UNSEEN)
			order_walk(s, sw, stack, &place);
}

static gint
order_compare(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct survey *s = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint32_t *pods;
	uint32_t r;

	if (s->level[x] != s->level[y])
		return s->level[x] < s->level[y] ? -1 : 1;
	for (r = s->n_levels; r > 0; r--) {
		pods = s->pods + (size_t)(r - 1) * s->g->n_switches;
		if (pods[x] != pods[y])
			return pods[x] < pods[y] ? -1 : 1;
	}
	return s->place[x] < s->place[y] ? -1 : s->place[x] > s->place[y];
}

static gint
order_compare_ports(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct graph *g = data;
	const struct graph_target *x = &g->targets[*(const uint32_t *)a];
	const struct graph_target *y = &g->targets[*(const uint32_t *)b];

	return (int)x->port - (int)y->port;
}

static uint32_t *
order_list_hosts(const struct graph *g, const uint32_t *switches, uint32_t *n)
{
	uint32_t *hosts = g_new(uint32_t, g->n_targets);
	uint32_t i, sw, t, first;

	*n = 0;
	for (i = 0; i < g->n_switches; i++) {
		sw = switches[i];
		first = *n;
		for (t = g->first_target[sw]; t < g->first_target[sw + 1]; t++)
			if (g->targets[t].port != 0)
				hosts[(*n)++] = t;
		g_qsort_with_data(hosts + first, (gint)(*n - first),
				  sizeof(*hosts), order_compare_ports,
				  (gpointer)g);
	}
	return hosts;
}

uint32_t *
quality_order(const struct graph *g, uint32_t *n)
{
	g_autofree uint32_t *switches = g_new(uint32_t, g->n_switches);
	struct survey s = { .g = g };
	uint32_t *hosts, sw;

	*n = 0;
	if (g->n_switches == 0)
		return NULL;
	s.level = g_new(uint32_t, g->n_switches);
	s.place = g_new(uint32_t, g->n_switches);
	order_find_levels(&s);
	s.pods = g_new(uint32_t, (size_t)s.n_levels * g->n_switches);
	order_label_pods(&s);
	order_find_places(&s);
	for (sw = 0; sw < g->n_switches; sw++)
		switches[sw] = sw;
	g_qsort_with_data(switches, (gint)g->n_switches, sizeof(*switches),
			  order_compare, &s);
	hosts = order_list_hosts(g, switches, n);
	g_free(s.level);
	g_free(s.pods);
	g_free(s.place);
	return hosts;
}
