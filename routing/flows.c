// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The flows of all hosts along forwarding tables.
 *
 * Method. Stripes of LIDs move from switch to switch together, since rows of
 * tables are read faster than columns. A round visits the switches upwards and
 * sends on what goes up, then downwards and sends on what goes down: a path that
 * goes up and then down takes one round.
 *
 * Cost. LIDs times the switches with flows to them, for each round.
 */
#include "routing/flows.h"

#include <string.h>

#include "routing/sets.h"

#define UP	(UINT32_C(1) << 31)
#define STRIPE	64u	/* LIDs: bits of a word; the flows of 1,620 switches fit
			   in a cache */

struct flows {
	const struct graph *g;
	const struct lft *lft;
	uint32_t *climb;	/* the switches by place */
	uint32_t *to;		/* by edge: the peer, and UP */
	uint32_t first;		/* LID of the stripe */
	uint32_t *flow;		/* [switch][LID of the stripe]: flows there */
	uint64_t *has;		/* by switch: bits of LIDs with flows there */
	uint64_t *load;
	uint64_t arrived;
};

/* The flows of one LID at a switch that does not forward them. */
static void
flows_end(struct flows *f, uint32_t sw, uint32_t lid, uint8_t port,
	  uint32_t flow)
{
	const struct graph_target *target = graph_target_at(f->g, lid);

	if (target && target->sw == sw && target->port == port)
		f->arrived += flow;
}

/* Sends on the flows of a switch that go up, or those that go down. True: some
 * go the other way. */
static bool
flows_move_row(struct flows *f, uint32_t sw, bool up)
{
	const uint8_t *nth_edge = f->g->nth_edge + (size_t)sw * GRAPH_PORTS;
	uint32_t first = f->g->first_edge[sw];
	const uint8_t *row = lft_row(f->lft, sw) + f->first;
	uint32_t *flow = f->flow, *mine = flow + (size_t)sw * STRIPE;
	uint64_t here = f->has[sw], left = 0, *has = f->has, *load = f->load;
	uint32_t i, e, way = up ? UP : 0, peer;
	const uint32_t *to = f->to;

	for_each_bit(here, 0, i) {
		if (nth_edge[row[i]] == GRAPH_NO_EDGE) {
			flows_end(f, sw, f->first + i, row[i], mine[i]);
			mine[i] = 0;
			continue;
		}
		e = first + nth_edge[row[i]];
		peer = to[e] ^ way;
		if (peer & UP) {
			left |= UINT64_C(1) << i;
			continue;
		}
		load[e] += mine[i];
		flow[(size_t)peer * STRIPE + i] += mine[i];
		has[peer] |= UINT64_C(1) << i;
		mine[i] = 0;
	}
	f->has[sw] = left;
	return left != 0;
}

static bool
flows_move(struct flows *f, bool up)
{
	uint32_t n = f->g->n_switches, i;
	bool left = false;

	for (i = 0; i < n; i++) {
		if (i + 4 < n)
			__builtin_prefetch(lft_row(f->lft, f->climb[
				up ? i + 4 : n - 5 - i]) + f->first);
		left |= flows_move_row(f, f->climb[up ? i : n - 1 - i], up);
	}
	return left;
}

static int
compare_by_place(const void *a, const void *b, void *data)
{
	const uint32_t *x = a, *y = b, *place = data;

	return uint_compare(place[*x], place[*y]) ?: uint_compare(*x, *y);
}

/* Puts the switches in their order. */
static void
flows_arrange(struct flows *f, const uint32_t *place)
{
	uint32_t n = f->g->n_switches, sw, e, peer;

	for (sw = 0; sw < n; sw++) {
		f->climb[sw] = sw;
		for_each_edge(f->g, sw, e) {
			peer = f->g->edges[e].peer;
			f->to[e] = peer | ((place ? place[peer] > place[sw] :
					    peer > sw) ? UP : 0);
		}
	}
	if (place && n)
		g_qsort_with_data(f->climb, (gint)n, sizeof(*f->climb),
				  compare_by_place, (void *)place);
}

bool
flows_add(const struct graph *g, const struct lft *lft, const uint32_t *place,
	  const uint8_t *lids, uint32_t n_rounds, uint64_t *load,
	  uint64_t *arrived)
{
	g_autofree uint32_t *climb = g_new(uint32_t, g->n_switches + 1);
	g_autofree uint32_t *flow = g_new0(uint32_t, (size_t)g->n_switches *
					   STRIPE + 1);
	g_autofree uint64_t *has = g_new(uint64_t, g->n_switches + 1);
	g_autofree uint32_t *to = g_new(uint32_t, g->n_edges + 1);
	uint32_t end = MIN(g->top, lft->top) + 1u, sw, i, round;
	struct flows f = {
		.g = g, .lft = lft, .climb = climb, .flow = flow, .has = has,
		.to = to, .load = load,
	};
	bool left = false, all_end = true;
	uint64_t all;

	flows_arrange(&f, place);
	for (; f.first < end; f.first += STRIPE) {
		if (left)
			memset(flow, 0, (size_t)g->n_switches * STRIPE *
			       sizeof(*flow));
		for (all = 0, i = f.first; i < MIN(f.first + STRIPE, end); i++)
			all |= (uint64_t)(lids[i] != 0) << (i - f.first);
		for (sw = 0; sw < g->n_switches; sw++) {
			has[sw] = g->n_hosts[sw] ? all : 0;
			for (i = 0; has[sw] && i < STRIPE; i++)
				flow[(size_t)sw * STRIPE + i] =
					all >> i & 1 ? g->n_hosts[sw] : 0;
		}
		for (left = true, round = 0; left && round < n_rounds;
		     round++) {
			flows_move(&f, true);
			left = flows_move(&f, false);
		}
		all_end &= !left;
	}
	*arrived += f.arrived;
	return all_end;
}
