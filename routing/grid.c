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
 * harm. Lost cables remove squares, so classes of different dimensions may meet
 * without one: those that meet at most switches are joined first, and none that
 * have a square with each other by then.
 *
 * Cost. Switches times the cube of their cables.
 */
#include "routing/grid.h"

#include <stdlib.h>
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
	/* By switch: is it next to the one that is looked at? Its first edge
	 * to a neighbour of that one, or SNAPSHOT_NONE. */
	uint8_t *is_near;
	uint32_t *to;
	/* [class][class]: pairs of edges at one switch; there is a square */
	uint32_t *meet;
	uint8_t *square;
};

/* Two classes that meet without a square. */
struct meeting {
	uint32_t n, a, b;
};

static void
grid_join(struct grid *d, uint32_t e, uint32_t f)
{
	disjoint_join(d->class, e, f);
	disjoint_join(d->class, d->g->edges[e].back, d->g->edges[f].back);
	disjoint_join(d->class, e, d->g->edges[e].back);
}

/* Looks at two edges of one switch, with d->to for the neighbour of the second:
 * joins their classes if they are parallel or sides of a triangle, or with the
 * opposite sides of a square; once the classes have numbers, notes whether they
 * meet with or without a square. */
static void
grid_look(struct grid *d, uint32_t e, uint32_t f)
{
	const struct graph *g = d->g;
	uint32_t a = graph_owner(g, e), b = g->edges[e].peer, i, at;
	bool is_square = false;

	if (g->edges[f].peer == b || d->to[b] != SNAPSHOT_NONE) {
		grid_join(d, e, f);
		return;
	}
	for_each_edge(g, b, i) {
		at = g->edges[i].peer;
		if (at == a || d->is_near[at] || d->to[at] == SNAPSHOT_NONE)
			continue;
		is_square = true;
		if (!d->square) {
			grid_join(d, e, d->to[at]);
			grid_join(d, f, i);
		}
	}
	if (!d->square)
		return;
	e = d->number[disjoint_find(d->class, e)];
	f = d->number[disjoint_find(d->class, f)];
	d->meet[MAX(e, f) * d->n_classes + MIN(e, f)]++;
	if (is_square)
		d->square[e * d->n_classes + f] =
			d->square[f * d->n_classes + e] = 1;
}

static void
grid_look_all(struct grid *d)
{
	const struct graph *g = d->g;
	uint32_t sw, e, f, i, c;

	for (sw = 0; sw < g->n_switches; sw++) {
		for_each_edge(g, sw, e)
			d->is_near[g->edges[e].peer] = 1;
		for_each_edge(g, sw, f) {
			c = g->edges[f].peer;
			for_each_edge(g, c, i)
				d->to[g->edges[i].peer] = MIN(g->edges[i].back,
					d->to[g->edges[i].peer]);
			for (e = g->first_edge[sw]; e < f; e++)
				grid_look(d, e, f);
			for_each_edge(g, c, i)
				d->to[g->edges[i].peer] = SNAPSHOT_NONE;
		}
		for_each_edge(g, sw, e)
			d->is_near[g->edges[e].peer] = 0;
	}
}

static int
meeting_compare(const void *a, const void *b)
{
	const struct meeting *x = a, *y = b;

	return uint_compare(y->n, x->n) ?: uint_compare(x->a, y->a) ?:
		uint_compare(x->b, y->b);
}

/* Joins the classes of one dimension; returns the sets. */
static uint32_t *
grid_join_classes(struct grid *d, GPtrArray *scratch)
{
	uint32_t n = d->n_classes, n_meetings = 0, i, k, a, b;
	uint32_t *joined = SCRATCH(scratch, uint32_t, n);
	struct meeting *m = SCRATCH(scratch, struct meeting, n * n / 2);

	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			if (d->meet[i * n + k] && !d->square[i * n + k])
				m[n_meetings++] = (struct meeting){
					d->meet[i * n + k], i, k };
	qsort(m, n_meetings, sizeof(*m), meeting_compare);
	for (i = 0; i < n; i++)
		joined[i] = i;
	for (i = 0; i < n_meetings; i++) {
		a = disjoint_find(joined, m[i].a);
		b = disjoint_find(joined, m[i].b);
		if (a == b || d->square[a * n + b])
			continue;
		disjoint_join(joined, a, b);
		for (k = 0; k < n; k++)
			d->square[a * n + k] = d->square[b * n + k] =
				d->square[k * n + a] = d->square[k * n + b] =
				d->square[a * n + k] | d->square[b * n + k];
	}
	return joined;
}

uint8_t *
grid_find(const struct graph *g)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct grid d = { .g = g,
			  .class = SCRATCH(scratch, uint32_t, g->n_edges),
			  .number = SCRATCH(scratch, uint32_t, g->n_edges),
			  .is_near = SCRATCH(scratch, uint8_t, g->n_switches),
			  .to = SCRATCH(scratch, uint32_t, g->n_switches) };
	uint32_t *joined, *number, n_dimensions = 0, i, k, e, n;
	uint8_t *by_edge;

	if (!g->n_edges)	/* a single switch */
		return g_malloc0(1);
	memset(d.to, 0xff, g->n_switches * sizeof(*d.to)); /* SNAPSHOT_NONE */
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
	d.meet = SCRATCH(scratch, uint32_t, n * n);
	d.square = SCRATCH(scratch, uint8_t, n * n);
	grid_look_all(&d);
	joined = grid_join_classes(&d, scratch);
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
