// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The dimensions of a grid.
 *
 * Method. Opposite sides of a square have the same dimension, and so have the
 * sides of a triangle (a line of HyperX is a clique). Edges joined in this way
 * are classes of parallel cables: for example all those between the planes x =
 * 3 and x = 4. Two classes that meet at some switch, but nowhere as two sides
 * of a square, have the same dimension: in a line, one begins where the other
 * ends. A ring of four is a square and counts as two dimensions, which does no
 * harm. Lost cables remove squares, but not all squares of two classes.
 *
 * Cost. Switches times the cube of their cables.
 */
#include "routing/grid.h"

#include <string.h>

#include "routing/scratch.h"
#include "routing/sets.h"

#define MAX_CLASSES	512u
#define MAX_DIMENSIONS	16u

struct grid {
	const struct graph *g;
	uint32_t *class;	/* by edge: its class (disjoint sets) */
	uint32_t *number;	/* by edge: number of the class of which it
				   is the first */
	uint32_t n_classes;
	uint8_t *meet, *square;	/* [class][class] */
};

/* The first edge from `a` to `b`, or SNAPSHOT_NONE. */
static uint32_t
grid_edge(const struct graph *g, uint32_t a, uint32_t b)
{
	uint32_t low = g->first_edge[a], high = g->first_edge[a + 1], mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (g->edges[mid].peer < b)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->first_edge[a + 1] && g->edges[low].peer == b ? low :
		SNAPSHOT_NONE;
}

static void
grid_join(struct grid *d, uint32_t e, uint32_t f)
{
	disjoint_join(d->class, e, f);
	disjoint_join(d->class, d->g->edges[e].back, d->g->edges[f].back);
	disjoint_join(d->class, e, d->g->edges[e].back);
}

/* Looks at two edges of one switch: joins their classes if they are sides of
 * a triangle, or with the opposite sides of a square; once the classes have
 * numbers, notes whether they meet with or without a square. */
static void
grid_look(struct grid *d, uint32_t e, uint32_t f)
{
	const struct graph *g = d->g;
	uint32_t b = g->edges[e].peer, c = g->edges[f].peer, i, at, to;
	uint32_t a = graph_owner(g, e);
	bool is_square = false;

	if (grid_edge(g, b, c) != SNAPSHOT_NONE) {
		grid_join(d, e, f);
		return;
	}
	for_each_edge(g, b, i) {
		at = g->edges[i].peer;
		to = at == a ? SNAPSHOT_NONE : grid_edge(g, at, c);
		if (to == SNAPSHOT_NONE || grid_edge(g, at, a) != SNAPSHOT_NONE)
			continue;
		is_square = true;
		if (!d->square) {
			grid_join(d, e, to);
			grid_join(d, f, i);
		}
	}
	if (!d->square)
		return;
	e = d->number[disjoint_find(d->class, e)];
	f = d->number[disjoint_find(d->class, f)];
	d->meet[e * d->n_classes + f] = d->meet[f * d->n_classes + e] = 1;
	if (is_square)
		d->square[e * d->n_classes + f] =
			d->square[f * d->n_classes + e] = 1;
}

static void
grid_look_all(struct grid *d)
{
	const struct graph *g = d->g;
	uint32_t sw, e, f;

	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e)
			for (f = e + 1; f < g->first_edge[sw + 1]; f++)
				if (g->edges[e].peer == g->edges[f].peer)
					grid_join(d, e, f);
				else
					grid_look(d, e, f);
}

uint8_t *
grid_find(const struct graph *g)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct grid d = { .g = g,
			  .class = SCRATCH(scratch, uint32_t, g->n_edges),
			  .number = SCRATCH(scratch, uint32_t, g->n_edges) };
	uint32_t *joined, *number, n_dimensions = 0, i, k, e, n;
	uint8_t *by_edge;

	for (e = 0; e < g->n_edges; e++)
		d.class[e] = e;
	for (e = 0; e < g->n_edges; e++)
		disjoint_join(d.class, e, g->edges[e].back);
	grid_look_all(&d);
	for (e = 0; e < g->n_edges; e++)
		if (disjoint_find(d.class, e) == e)
			d.number[e] = d.n_classes++;
	n = d.n_classes;
	if (n <= 1 || n > MAX_CLASSES)
		return NULL;
	d.meet = SCRATCH(scratch, uint8_t, n * n);
	d.square = SCRATCH(scratch, uint8_t, n * n);
	grid_look_all(&d);
	/* Classes that meet without a square have the same dimension. */
	joined = SCRATCH(scratch, uint32_t, n);
	for (i = 0; i < n; i++)
		joined[i] = i;
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			if (d.meet[i * n + k] && !d.square[i * n + k])
				disjoint_join(joined, i, k);
	number = SCRATCH(scratch, uint32_t, n);
	for (i = 0; i < n; i++)
		if (disjoint_find(joined, i) == i)
			number[i] = n_dimensions++;
	if (n_dimensions <= 1 || n_dimensions > MAX_DIMENSIONS)
		return NULL;
	by_edge = g_malloc(g->n_edges + 1);
	for (e = 0; e < g->n_edges; e++) {
		k = d.number[disjoint_find(d.class, e)];
		by_edge[e] = (uint8_t)number[disjoint_find(joined, k)];
	}
	return by_edge;
}
