// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Figures of tables under all-to-all traffic, and lower bounds for any tables.
 *
 * Method. Loads are added up by routing/flows.c. Tables with a forwarding loop
 * have no load.
 *
 * Cost. Switches times hosts.
 *
 * Reference. M.-C. Heydemann, J.-C. Meyer, D. Sotteau, "On forwarding indices
 * of networks", 1989.
 */
#include "routing/metrics.h"

#include <string.h>

#include "routing/flows.h"
#include "topology/prng.h"

uint64_t
metrics_flows(const struct graph *g, const struct lft *lft,
	      const uint32_t *ranks, uint64_t *load)
{
	g_autofree uint8_t *lids = g_new0(uint8_t, g->top + 1u);
	g_autofree uint32_t *place = ranks ?
		g_new(uint32_t, g->n_switches + 1) : NULL;
	const struct graph_target *t;
	uint64_t arrived = 0;

	g_assert(lft->n_switches == g->n_switches);
	for (t = g->targets; t < g->targets + g->n_targets; t++) {
		if (!t->is_host)
			continue;
		lids[t->lid] = 1;
		/* to itself */
		arrived -= t->lid <= lft->top &&
			lft_row(lft, t->sw)[t->lid] == t->port;
	}
	for (uint32_t sw = 0; ranks && sw < g->n_switches; sw++)
		place[sw] = UINT32_MAX - ranks[sw];
	if (!flows_add(g, lft, place, lids, g->n_switches + 1, load, &arrived))
		memset(load, 0, g->n_edges * sizeof(*load));
	return arrived;
}

double
metrics_worst(const struct graph *g, const uint64_t *load, uint32_t *busiest)
{
	double worst = 0, x;

	*busiest = SNAPSHOT_NONE;
	for (uint32_t e = 0; e < g->n_edges; e++) {
		x = (double)load[e] * g->widest / MAX(g->edges[e].capacity, 1);
		if (e > 0 && x <= worst)
			continue;
		worst = x;
		*busiest = e;
	}
	return worst;
}

void
metrics_all_to_all(const struct graph *g, const struct lft *lft,
		   const uint32_t *ranks, struct metrics_load *result)
{
	g_autofree uint64_t *load = g_new0(uint64_t, g->n_edges + 1);
	uint64_t sum = 0;

	*result = (struct metrics_load){ .channels = g->n_edges };
	for (uint32_t i = 0; i < g->n_targets; i++)
		result->lost += g->targets[i].is_host ? g->n_all_hosts - 1 : 0;
	result->lost -= metrics_flows(g, lft, ranks, load);
	for (uint32_t e = 0; e < g->n_edges; e++)
		sum += load[e];
	result->worst = metrics_worst(g, load, &result->busiest);
	if (g->n_edges > 0)
		result->mean = (double)sum / g->n_edges;
}

/*
 * The least that the busiest channel carries under all-to-all traffic, with any
 * tables.
 *
 * Method. The flows across a cut use its cables. Cuts are tried around each
 * switch, and around a set that grows from a switch by the one with the most
 * cables into the set, after each step. Moreover, all flows together take at
 * least as many channels as the shortest paths have. Cables count by capacity. A
 * flow is not divided, so where there is one, the bound is one; and cables from one
 * switch to one other divide the LIDs behind them, not the flows.
 *
 * Cost. Cuts around single switches: linear in the cables. A set: the square of
 * the switches. Up to 200 switches one grows from each, so the bound does not
 * depend on how they are numbered; then from fewer. Shortest paths: the cables
 * for each switch with hosts; they are left out if that is too much.
 *
 * Reference. M.-C. Heydemann, J.-C. Meyer, D. Sotteau, 1989; M. Stoer, F.
 * Wagner, "A simple min-cut algorithm", 1997, for the order of growth.
 */

#define MAX_WORK	2000000000u	/* cables looked at */
#define MAX_GROWN	10000u	/* on larger fabrics no set is grown */
#define N_STARTS	4u	/* sets that are grown, at least */
#define GROW_WORK	8000000u	/* for more of them: switches compared */

struct bounding {
	const struct graph *g;
	uint32_t *hop, *queue, *place;	/* by switch */
	uint64_t *hosts;	/* by island */
	double best;
};

/* A cut with some of the hosts of a switch's island inside. */
static void
bound_by_cut(struct bounding *b, uint64_t inside, uint32_t sw, int64_t width)
{
	uint64_t all = b->hosts[b->g->island[sw]];

	if (width > 0)
		b->best = MAX(b->best, (double)(inside * (all - inside)) *
			      b->g->widest / (double)width);
}

/* A switch whose cables all lead to one other switch: that has one entry for each
 * host behind them. */
static void
bound_by_entries(struct bounding *b, uint32_t sw)
{
	const struct graph *g = b->g;
	uint32_t e = g->first_edge[sw], n = g->first_edge[sw + 1] - e, hosts;
	int64_t most = 0;

	for (; e < g->first_edge[sw + 1]; e++) {
		if (g->edges[e].peer != g->edges[g->first_edge[sw]].peer)
			return;
		most = MAX(most, g->edges[e].capacity);
	}
	hosts = n > 0 ? (g->n_hosts[sw] + n - 1) / n : 0;
	if (hosts > 0)
		b->best = MAX(b->best, (double)hosts *
			      (double)(b->hosts[g->island[sw]] - g->n_hosts[sw]) *
			      g->widest / (double)most);
}

/* Cuts around the first switches of the queue, after each switch. */
static void
bound_by_queue(struct bounding *b, uint32_t n)
{
	const struct graph *g = b->g;
	uint64_t inside = 0;
	int64_t width = 0;
	uint32_t i, e, sw;

	for (i = 0; i < n; i++)
		b->place[b->queue[i]] = i;
	for (i = 0; i < n; i++) {
		sw = b->queue[i];
		inside += g->n_hosts[sw];
		for_each_edge(g, sw, e)
			width += b->place[g->edges[e].peer] > i ?
				g->edges[e].capacity : -g->edges[e].capacity;
		if (i + 1 < n)
			bound_by_cut(b, inside, sw, width);
	}
}

static void
bound_globally(struct bounding *b)
{
	const struct graph *g = b->g;
	uint32_t n_starts = MIN(GROW_WORK / g->n_switches / g->n_switches,
				g->n_switches);
	uint32_t sw, n, i, n_sources = 0;
	double width = 0, hops = 0;

	n_starts = MAX(n_starts, N_STARTS);
	for (sw = 0; sw < g->n_switches; sw++)
		n_sources += g->n_hosts[sw] > 0;
	for (i = 0; i < n_starts && g->n_switches <= MAX_GROWN; i++) {
		n = graph_hops(g, g->n_switches * i / n_starts, b->hop,
			       b->queue);
		graph_grow(g, b->queue, n, false);
		bound_by_queue(b, n);
	}
	if ((uint64_t)n_sources * g->n_edges > MAX_WORK)
		return;
	for (sw = 0; sw < g->n_switches; sw++) {
		n = g->n_hosts[sw] ? graph_hops(g, sw, b->hop, b->queue) : 0;
		for (i = 0; i < n; i++)
			hops += (double)g->n_hosts[sw] *
				g->n_hosts[b->queue[i]] * b->hop[b->queue[i]];
	}
	for (i = 0; i < g->n_edges; i++)
		width += g->edges[i].capacity;
	if (width > 0)
		b->best = MAX(b->best, hops * g->widest / width);
}

double
metrics_bound(const struct graph *g, bool quick)
{
	uint32_t n = g->n_switches + 1, sw, e;
	g_autofree uint64_t *hosts = g_new0(uint64_t, n);
	g_autofree uint32_t *work = g_new(uint32_t, 3 * (size_t)n);
	struct bounding b = {
		g, work, work + n, work + 2 * (size_t)n, hosts, 0,
	};
	int64_t width;

	for (sw = 0; sw < g->n_switches; sw++)
		hosts[g->island[sw]] += g->n_hosts[sw];
	for (sw = 0; sw < g->n_switches; sw++) {
		width = 0;
		for_each_edge(g, sw, e)
			width += g->edges[e].capacity;
		bound_by_cut(&b, g->n_hosts[sw], sw, width);
		bound_by_entries(&b, sw);
	}
	if (!quick && g->n_switches)
		bound_globally(&b);
	return b.best > 0 ? MAX(b.best, 1) : 0;
}

/* ---- patterns ---- */

uint32_t
metrics_path(const struct graph *g, const struct lft *lft,
	     const struct metrics_flow *flow, uint32_t *way)
{
	const struct graph_target *target = &g->targets[flow->to];
	uint32_t sw = g->targets[flow->from].sw, n = 0, edge;
	uint8_t port;

	if (target->lid > lft->top)
		return 0;
	way[n++] = g->n_edges + flow->from;
	for (;;) {
		port = lft_row(lft, sw)[target->lid];
		edge = graph_edge_at(g, sw, port);
		if (edge == SNAPSHOT_NONE)
			break;
		if (n > g->n_switches)
			return 0;
		way[n++] = edge;
		sw = g->edges[edge].peer;
	}
	way[n++] = g->n_edges + g->n_targets + flow->to;
	return sw == target->sw && port == target->port ? n : 0;
}

uint32_t
metrics_congest(const struct graph *g, const struct lft *lft,
		const struct metrics_flow *flows, uint32_t n, uint32_t *load,
		uint64_t *lost)
{
	uint32_t n_loads = g->n_edges + 2 * g->n_targets, most = 0, length;
	uint32_t *way = load + n_loads;

	memset(load, 0, n_loads * sizeof(*load));
	for (uint32_t i = 0; i < n; i++) {
		length = metrics_path(g, lft, &flows[i], way);
		*lost += !length;
		for (; length > 0; length--) {
			load[way[length - 1]]++;
			most = MAX(most, load[way[length - 1]]);
		}
	}
	return most;
}

uint32_t *
metrics_choose(uint32_t n_all, uint32_t n, uint64_t seed)
{
	uint32_t *numbers = g_new(uint32_t, n + 1), left, i = 0;
	uint64_t rng = prng_stream(seed, 0);

	for (left = n_all; left > 0; left--)
		if (prng_below(&rng, left) < n - i)
			numbers[i++] = n_all + 1 - left;
	return numbers;
}

void
metrics_shifts(const struct graph *g, const struct lft *lft,
	       const struct metrics_sample *sample,
	       struct metrics_congestion *result)
{
	uint32_t n = sample->n_hosts, n_all = MAX(n, 1) - 1, i, k, most;
	g_autofree struct metrics_flow *flows = g_new(struct metrics_flow,
						      n + 1);
	g_autofree uint32_t *load = g_new(uint32_t, METRICS_WORK(g));
	g_autofree uint32_t *shifts = NULL;
	double sum = 0;

	*result = (struct metrics_congestion){
		.n = MIN(n_all, sample->n), .n_all = n_all,
	};
	shifts = metrics_choose(n_all, result->n, sample->seed);
	for (k = 0; k < result->n; k++) {
		for (i = 0; i < n; i++)
			flows[i] = (struct metrics_flow){ sample->hosts[i],
				sample->hosts[(i + shifts[k]) % n] };
		most = metrics_congest(g, lft, flows, n, load, &result->lost);
		sum += most;
		if (most <= result->max)
			continue;
		result->max = most;
		result->worst = shifts[k];
	}
	if (k)
		result->mean = sum / k;
}

/*
 * Churn: what an update has to write.
 *
 * Purpose. On hardware a block is a MAD to a switch, which takes longer than
 * computing the whole table, so the blocks count; the entries say how much of
 * the traffic moves.
 *
 * Flow. Block by block: most are equal, which memcmp finds; the entries of the
 * others are counted.
 */

/* The 64 bytes, or none past the end. */
static const uint8_t *
churn_block(const struct lft *lft, uint32_t sw, uint32_t block)
{
	return block < lft_n_blocks(lft) ?
		lft_row(lft, sw) + block * LFT_BLOCK : lft_no_paths;
}

void
metrics_churn(const struct lft *before, const struct lft *after,
	      struct metrics_churn *churn)
{
	uint32_t n_blocks = MAX(lft_n_blocks(before), lft_n_blocks(after));
	const uint8_t *a, *b;
	uint32_t sw, block, i;

	g_assert(before->n_switches == after->n_switches);

	memset(churn, 0, sizeof(*churn));
	churn->all_blocks = (uint64_t)n_blocks * after->n_switches;
	for (sw = 0; sw < after->n_switches; sw++)
		for (block = 0; block < n_blocks; block++) {
			a = churn_block(before, sw, block);
			b = churn_block(after, sw, block);
			if (memcmp(a, b, LFT_BLOCK) == 0)
				continue;
			churn->blocks++;
			for (i = 0; i < LFT_BLOCK; i++)
				churn->entries += a[i] != b[i];
		}
}
