// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shortest paths that an order permits. See paths.h.
 *
 * Method. Backwards from the destination, breadth first. Of the switches at a
 * distance, first those are found that go down to a switch which goes down, then
 * those that go up. A switch that goes up early may be the last on all paths down
 * from a top switch, which would have no path then. So the switches of one
 * shortest path from each top switch down may not go up.
 *
 * Cost. Linear in the cables.
 */
#include "routing/paths.h"

#include <string.h>

#define FLOWS	2	/* times the hosts of a leaf: about what a choice adds */

void
paths_init(struct paths *p, const struct graph *g, const uint32_t *place,
	   GPtrArray *scratch)
{
	uint32_t sw, e, n = 0;

	*p = (struct paths){
		.g = g, .place = place, .dest = SNAPSHOT_NONE,
		.way = SCRATCH(scratch, uint32_t, g->n_switches),
		.descends = SCRATCH(scratch, uint8_t, g->n_switches),
		.queue = SCRATCH(scratch, uint32_t, g->n_switches),
		.first = SCRATCH(scratch, uint32_t, g->n_switches),
		.steps = SCRATCH(scratch, struct paths_step, g->n_edges),
		.sorted = SCRATCH(scratch, struct paths_step, g->n_edges),
		.low_end = SCRATCH(scratch, uint32_t, g->n_switches),
		.high_start = SCRATCH(scratch, uint32_t, g->n_switches),
	};
	for (sw = 0; sw < g->n_switches; sw++) {
		for_each_edge(g, sw, e)
			if (!place || place[g->edges[e].peer] < place[sw])
				p->sorted[n++].edge = e;
		p->low_end[sw] = n;
		p->high_start[sw] = place ? n : g->first_edge[sw];
		for_each_edge(g, sw, e)
			if (place && place[g->edges[e].peer] > place[sw])
				p->sorted[n++].edge = e;
	}
	for (n = 0; n < g->n_edges; n++)
		p->sorted[n].peer = g->edges[p->sorted[n].edge].peer;
}

/* Queues the unreached neighbours of `sw` from which the cable leads down to
 * it, or, with `up`, up to it. */
static void
paths_relax(struct paths *p, uint32_t sw, bool up, uint32_t *tail)
{
	const struct graph *g = p->g;
	uint32_t k = up ? g->first_edge[sw] : p->high_start[sw], peer;
	uint32_t end = up ? p->low_end[sw] : g->first_edge[sw + 1];

	for (; k < end; k++) {
		peer = p->sorted[k].peer;
		if (p->way[peer] != PATHS_NONE || (up && p->descends[peer]))
			continue;
		p->way[peer] = ((p->way[sw] | 1) ^ !up) + 2;
		p->queue[(*tail)++] = peer;
	}
}

/* Finds the switches of a shortest path down from each top switch that is above
 * the destination. */
static void
paths_mark_descents(struct paths *p)
{
	uint32_t *via = p->first, head, tail = 1, sw, k, peer;

	for (head = 0; head < tail; head++) {
		sw = p->queue[head];
		for (k = p->high_start[sw]; k < p->g->first_edge[sw + 1]; k++) {
			peer = p->sorted[k].peer;
			if (p->way[peer] != PATHS_NONE)
				continue;
			p->way[peer] = 0;
			via[peer] = sw;
			p->queue[tail++] = peer;
		}
	}
	memset(p->descends, 0, p->g->n_switches);
	p->descends[p->dest] = 1;
	while (--tail > 0) {
		sw = p->queue[tail];
		p->way[sw] = PATHS_NONE;
		if (p->high_start[sw] == p->g->first_edge[sw + 1])
			for (; !p->descends[sw]; sw = via[sw])
				p->descends[sw] = 1;
	}
}

void
paths_find(struct paths *p, uint32_t dest)
{
	const struct graph *g = p->g;
	uint32_t head, tail = 1, level, i, sw, k, end, up, want, n = 0;

	memset(p->way, 0xff, g->n_switches * sizeof(*p->way));
	p->dest = dest;
	p->way[dest] = 0;
	p->queue[0] = dest;
	if (p->place)
		paths_mark_descents(p);
	for (head = 0; head < tail; head = level) {
		level = tail;
		for (i = head; i < level; i++)
			if (!(p->way[p->queue[i]] & 1))
				paths_relax(p, p->queue[i], false, &tail);
		for (i = head; p->place && i < level; i++)
			paths_relax(p, p->queue[i], true, &tail);
	}
	p->n_reached = tail;
	p->first[0] = 0;
	for (i = 1; i < p->n_reached; i++) {
		sw = p->queue[i];
		p->first[i] = n;
		up = p->way[sw] & 1;
		want = p->way[sw] - 2;
		k = up ? p->high_start[sw] : g->first_edge[sw];
		end = up ? g->first_edge[sw + 1] : p->low_end[sw];
		/* No branch: it goes either way. The place behind the last step
		 * is there, since of a cable's two edges one is a step at most. */
		for (; k < end; k++) {
			p->steps[n] = p->sorted[k];
			n += (p->way[p->sorted[k].peer] | up) == want;
		}
	}
	p->first[i] = n;
}

void
paths_load_init(struct paths_load *l, const struct graph *g,
		GPtrArray *scratch)
{
	double n_hosts = g->n_all_hosts;
	uint32_t n_leaves = 0;

	l->g = g;
	l->at = SCRATCH(scratch, struct paths_channel, g->n_edges);
	l->scale = (float)(g->n_edges / (3 * n_hosts * n_hosts + 1));
	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		n_leaves += g->n_hosts[sw] > 0;
	l->more = FLOWS * g->n_all_hosts / MAX(n_leaves, 1);
	for (uint32_t e = 0; e < g->n_edges; e++) {
		l->at[e].weight = (float)g->widest / g->edges[e].capacity;
		l->at[e].peer = g->edges[e].peer;
		paths_load_add(l, e, 0);
	}
}

void
paths_load_tree(struct paths_load *l, const uint32_t *next,
		const uint32_t *queue, uint32_t n, int32_t sign, int32_t *flow)
{
	const struct graph *g = l->g;
	uint32_t i, sw;

	memcpy(flow, g->n_hosts, g->n_switches * sizeof(*flow));
	for (i = 0; i < n; i++) {
		sw = queue[i];
		if (next[sw] == SNAPSHOT_NONE)
			continue;
		if (flow[sw] > 0)
			paths_load_add(l, next[sw], sign * flow[sw]);
		flow[l->at[next[sw]].peer] += flow[sw];
	}
}

float
paths_load_most(const struct paths_load *l)
{
	float most = 0;

	for (uint32_t e = 0; e < l->g->n_edges; e++)
		most = MAX(most, paths_load(&l->at[e], 0));
	return most;
}

/* Adds what all CAs send to those at p->dest: `times` as much on all
 * channels but the last, since destinations that were not sampled share only
 * these. */
static void
paths_split(const struct paths *p, uint32_t times, double *flow, double *load)
{
	const struct graph *g = p->g;
	uint32_t i, k, sw, n_here = g->n_hosts[p->dest], peer;
	double wide, share;

	for (i = p->n_reached; i-- > 1; flow[sw] = 0) {
		sw = p->queue[i];
		flow[sw] += (double)g->n_hosts[sw] * n_here;
		for (wide = 0, k = p->first[i]; k < p->first[i + 1]; k++)
			wide += g->edges[p->steps[k].edge].capacity;
		for (share = flow[sw] / wide, k = p->first[i];
		     k < p->first[i + 1]; k++) {
			peer = p->steps[k].peer;
			load[p->steps[k].edge] += peer == p->dest ? share :
				share * times;
			flow[peer] += share *
				g->edges[p->steps[k].edge].capacity;
		}
	}
	flow[p->dest] = 0;
}

double
paths_estimate(const struct graph *g, const uint32_t *place, uint32_t step,
	       double *load, uint64_t *lost)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	double *flow = SCRATCH(scratch, double, g->n_switches), most = 0;
	uint32_t i, sw, e, n_reached;
	struct paths p;

	load = load ?: SCRATCH(scratch, double, g->n_edges);
	paths_init(&p, g, place, scratch);
	for (sw = 0; sw < g->n_switches; sw += step) {
		if (!g->n_hosts[sw])
			continue;
		paths_find(&p, sw);
		for (n_reached = 0, i = 0; i < p.n_reached; i++)
			n_reached += g->n_hosts[p.queue[i]];
		if (lost)
			lost[sw] += (uint64_t)(g->n_all_hosts - n_reached) *
				g->n_hosts[sw] * step;
		paths_split(&p, step, flow, load);
	}
	for (e = 0; e < g->n_edges; e++) {
		load[e] *= g->widest;
		most = MAX(most, load[e]);
	}
	return most;
}
