// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The flows of all hosts along forwarding tables.
 *
 * Method. Stripes of LIDs move from switch to switch together, since rows of
 * tables are read faster than columns. First all flows leave the switches of their
 * hosts; switches that are cabled alike and have the same entries send together.
 * Then a round visits the switches upwards and sends on what goes up, then
 * downwards and sends on what goes down: a path that goes up and then down takes
 * one round.
 *
 * Cost. LIDs times the switches with flows to them, for each round.
 */
#include "routing/flows.h"

#include <string.h>

#include "routing/scratch.h"
#include "routing/sets.h"

#define UP	(UINT32_C(1) << 31)
#define STRIPE	64u	/* LIDs: bits of a word; the flows of 1,620 switches fit
			   in a cache */

#define AHEAD	32u	/* rows that are prefetched */

struct flows {
	const struct graph *g;
	const struct lft *lft;
	uint32_t *climb;	/* the switches by place */
	uint32_t *to;		/* by edge: the peer, and UP */
	/* The switches with hosts; those cabled alike follow each other. */
	uint32_t *sources, n_sources;
	uint8_t *is_alike;	/* by source: it is cabled as the one before */
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

/* What the hosts of sources that are cabled alike, and have the same entries for
 * the LIDs in `all`, send to these. */
static void
flows_start_some(struct flows *f, const uint32_t *sources, uint32_t n,
		 uint64_t all)
{
	const struct graph *g = f->g;
	const uint8_t *nth_edge = g->nth_edge +
		(size_t)sources[0] * GRAPH_PORTS;
	const uint8_t *row = lft_row(f->lft, sources[0]) + f->first;
	const uint32_t *to = f->to + g->first_edge[sources[0]];
	uint32_t n_edges = g->first_edge[sources[0] + 1] -
		g->first_edge[sources[0]];
	uint64_t bits[GRAPH_PORTS], ends = 0;	/* by edge */
	uint32_t n_lids[GRAPH_PORTS], n_hosts = 0, i, k, e;

	memset(bits, 0, n_edges * sizeof(*bits));
	memset(n_lids, 0, n_edges * sizeof(*n_lids));
	for (i = 0; i < n; i++)
		n_hosts += g->n_hosts[sources[i]];
	for_each_bit(all, 0, i) {
		k = nth_edge[row[i]];
		if (k == GRAPH_NO_EDGE) {
			ends |= UINT64_C(1) << i;
			continue;
		}
		bits[k] |= UINT64_C(1) << i;
		n_lids[k]++;
		f->flow[(size_t)(to[k] & ~UP) * STRIPE + i] += n_hosts;
	}
	for (i = 0; i < n; i++) {
		e = g->first_edge[sources[i]];
		for (k = 0; k < n_edges; k++) {
			f->has[to[k] & ~UP] |= bits[k];
			f->load[e + k] += (uint64_t)n_lids[k] *
				g->n_hosts[sources[i]];
		}
		all = ends;
		for_each_bit(all, 0, k)
			flows_end(f, sources[i], f->first + k, row[k],
				  g->n_hosts[sources[i]]);
	}
}

/* Bits of the LIDs of the stripe for which all these switches have the same
 * entry. */
static uint64_t
flows_agree(const struct flows *f, const uint32_t *sources, uint32_t n)
{
	const uint8_t *row = lft_row(f->lft, sources[0]) + f->first, *other;
	uint8_t differ[STRIPE] = { 0 };
	uint64_t bits = 0;
	uint32_t i, k;

	for (k = 1; k < n; k++) {
		other = lft_row(f->lft, sources[k]) + f->first;
		for (i = 0; i < STRIPE; i++)
			differ[i] |= row[i] ^ other[i];
	}
	for (i = 0; i < STRIPE; i++)
		bits |= (uint64_t)!differ[i] << i;
	return bits;
}

static void
flows_start(struct flows *f, uint64_t all)
{
	const uint32_t *sources = f->sources;
	uint64_t common;
	uint32_t i, k, end;

	for (i = 0; i < f->n_sources && all; i = end) {
		for (end = i + 1; end < f->n_sources && f->is_alike[end];)
			end++;
		for (k = i; k < end; k++)
			__builtin_prefetch(lft_row(f->lft, sources[
				MIN(k + AHEAD, f->n_sources - 1)]) + f->first);
		common = flows_agree(f, sources + i, end - i);
		flows_start_some(f, sources + i, end - i, all & common);
		for (; all & ~common && i < end; i++)
			flows_start_some(f, sources + i, 1, all & ~common);
	}
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

/* By the ports and peers of a switch's cables. */
static int
compare_by_cables(const void *a, const void *b, void *data)
{
	const uint32_t *x = a, *y = b;
	const struct graph *g = data;
	const struct graph_edge *p = g->edges + g->first_edge[*x];
	const struct graph_edge *q = g->edges + g->first_edge[*y];
	uint32_t n = g->first_edge[*x + 1] - g->first_edge[*x];
	int order = uint_compare(n, g->first_edge[*y + 1] - g->first_edge[*y]);

	for (; !order && n > 0; n--, p++, q++)
		order = uint_compare(p->peer, q->peer) ?:
			uint_compare(p->port, q->port);
	return order;
}

static void
flows_find_sources(struct flows *f)
{
	uint32_t *s = f->sources, n = 0, i;

	for (i = 0; i < f->g->n_switches; i++)
		if (f->g->n_hosts[i])
			s[n++] = i;
	f->n_sources = n;
	if (n)
		g_qsort_with_data(s, (gint)n, sizeof(*s), compare_by_cables,
				  (void *)f->g);
	for (i = 1; i < n; i++)
		f->is_alike[i] = !compare_by_cables(&s[i - 1], &s[i],
						    (void *)f->g);
}

bool
flows_add(const struct graph *g, const struct lft *lft, const uint32_t *place,
	  const uint8_t *lids, uint32_t n_rounds, uint64_t *load,
	  uint64_t *arrived)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t end = MIN(g->top, lft->top) + 1u, n = g->n_switches, i, round;
	struct flows f = {
		.g = g, .lft = lft, .load = load,
		.climb = SCRATCH(scratch, uint32_t, n),
		.to = SCRATCH(scratch, uint32_t, g->n_edges),
		.sources = SCRATCH(scratch, uint32_t, n),
		.is_alike = SCRATCH(scratch, uint8_t, n),
		.flow = SCRATCH(scratch, uint32_t, (size_t)n * STRIPE),
		.has = SCRATCH(scratch, uint64_t, n),
	};
	bool left = false, all_end = true;
	uint64_t all;

	flows_arrange(&f, place);
	flows_find_sources(&f);
	for (; f.first < end; f.first += STRIPE) {
		if (left) {
			memset(f.flow, 0, (size_t)n * STRIPE * sizeof(*f.flow));
			memset(f.has, 0, n * sizeof(*f.has));
		}
		for (all = 0, i = f.first; i < MIN(f.first + STRIPE, end); i++)
			all |= (uint64_t)(lids[i] != 0) << (i - f.first);
		flows_start(&f, all);
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
