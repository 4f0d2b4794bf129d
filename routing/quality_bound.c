// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the busiest channel carries at least under all-to-all traffic, with any
 * tables.
 *
 * Method. The flows that cross a cut go over its cables: cuts around each
 * switch; around all that is within some hops of a switch with hosts (a ball);
 * and around a set that grows from some switches by the one with the most
 * cables into it, after each step. And all flows together take at least as
 * many channels as shortest paths have. Cables count by their capacity.
 *
 * Cost. The cuts around single switches: the cables. Balls: that for each
 * switch with hosts; they are left out if that is too much.
 *
 * Reference. M.-C. Heydemann, J.-C. Meyer, D. Sotteau, 1989; M. Stoer, F.
 * Wagner, "A simple min-cut algorithm", 1997, for the order of growth.
 */
#include "routing/quality.h"

#include <string.h>

#define UNSEEN		UINT32_MAX
#define MAX_WORK	100000000u	/* cables looked at */
#define MAX_GROWN	4096u	/* switches: more, and no set is grown */
#define N_STARTS	4u

struct bounding {
	const struct graph *g;
	double *width;		/* by edge: in cables of the widest kind */
	uint32_t *hop, *queue, *place;	/* by switch */
	double *ties;		/* by switch */
	double best, hops;	/* hops: of all flows, by shortest paths */
};

/* Of `all` hosts, some are inside. */
static double
bound_of_cut(uint64_t inside, uint64_t all, double width)
{
	return width > 0 ? (double)inside * (double)(all - inside) / width : 0;
}

/* Cuts after the first switches of the queue, at the ends of levels, or after
 * each switch. */
static void
bound_by_queue(struct bounding *b, uint32_t n, bool by_level)
{
	const struct graph *g = b->g;
	uint64_t inside = 0, all = 0;
	uint32_t i, e, sw;
	double width = 0;

	for (i = 0; i < n; i++) {
		b->place[b->queue[i]] = i;
		all += g->n_hosts[b->queue[i]];
	}
	for (i = 0; i < n; i++) {
		sw = b->queue[i];
		inside += g->n_hosts[sw];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			width += b->place[g->edges[e].peer] > i ?
				b->width[e] : -b->width[e];
		if (i + 1 < n && (!by_level || b->hop[sw] !=
				  b->hop[b->queue[i + 1]]))
			b->best = MAX(b->best, bound_of_cut(inside, all,
							    width));
	}
}

static uint32_t
bound_search(struct bounding *b, uint32_t from)
{
	const struct graph *g = b->g;
	uint32_t head, tail = 0, e, sw, peer;

	memset(b->hop, 0xff, g->n_switches * sizeof(*b->hop));
	b->hop[from] = 0;
	b->queue[tail++] = from;
	for (head = 0; head < tail; head++) {
		sw = b->queue[head];
		b->hops += (double)b->hop[sw] * g->n_hosts[sw] *
			g->n_hosts[from];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (b->hop[peer] != UNSEEN)
				continue;
			b->hop[peer] = b->hop[sw] + 1;
			b->queue[tail++] = peer;
		}
	}
	return tail;
}

/* Of the queue, n switches, in the order of growth from the first. */
static void
bound_grow(struct bounding *b, uint32_t n)
{
	const struct graph *g = b->g;
	uint32_t i, k, best, sw, e;

	memset(b->ties, 0, g->n_switches * sizeof(*b->ties));
	for (i = 0; i < n; i++) {
		best = i;
		for (k = i + 1; i > 0 && k < n; k++)
			if (b->ties[b->queue[k]] > b->ties[b->queue[best]])
				best = k;
		sw = b->queue[best];
		b->queue[best] = b->queue[i];
		b->queue[i] = sw;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			b->ties[g->edges[e].peer] += b->width[e];
	}
}

static void
bound_globally(struct bounding *b)
{
	const struct graph *g = b->g;
	uint32_t sw, n, i, n_sources = 0;
	double width = 0;

	for (sw = 0; sw < g->n_switches; sw++)
		n_sources += g->n_hosts[sw] > 0;
	for (i = 0; i < N_STARTS && g->n_switches <= MAX_GROWN; i++) {
		n = bound_search(b, g->n_switches * i / N_STARTS);
		bound_grow(b, n);
		bound_by_queue(b, n, false);
	}
	if ((uint64_t)n_sources * g->n_edges > MAX_WORK)
		return;
	b->hops = 0;
	for (sw = 0; sw < g->n_switches; sw++)
		if (g->n_hosts[sw])
			bound_by_queue(b, bound_search(b, sw), true);
	for (i = 0; i < g->n_edges; i++)
		width += b->width[i];
	if (width > 0)
		b->best = MAX(b->best, b->hops / width);
}

double
quality_bound(const struct graph *g, bool quick)
{
	struct bounding b = { .g = g };
	g_autofree uint32_t *island = graph_find_islands(g);
	g_autofree uint64_t *hosts = g_new0(uint64_t, g->n_switches + 1);
	uint32_t sw, e, widest = quality_widest(g);
	double width;

	b.width = g_new(double, g->n_edges + 1);
	for (e = 0; e < g->n_edges; e++)
		b.width[e] = (double)g->edges[e].capacity / widest;
	for (sw = 0; sw < g->n_switches; sw++)
		hosts[island[sw]] += g->n_hosts[sw];
	for (sw = 0; sw < g->n_switches; sw++) {
		width = 0;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			width += b.width[e];
		b.best = MAX(b.best, bound_of_cut(g->n_hosts[sw],
						     hosts[island[sw]], width));
	}
	if (!quick && g->n_switches) {
		b.hop = g_new(uint32_t, g->n_switches);
		b.queue = g_new(uint32_t, g->n_switches);
		b.place = g_new(uint32_t, g->n_switches);
		b.ties = g_new(double, g->n_switches);
		bound_globally(&b);
		g_free(b.hop);
		g_free(b.queue);
		g_free(b.place);
		g_free(b.ties);
	}
	g_free(b.width);
	return b.best;
}

uint32_t
quality_widest(const struct graph *g)
{
	uint32_t widest = 1;

	for (uint32_t e = 0; e < g->n_edges; e++)
		widest = MAX(widest, g->edges[e].capacity);
	return widest;
}
