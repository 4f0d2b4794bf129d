// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Path lengths, and the entries that hosts use.
 *
 * Method. LID by LID, each switch's entries are followed to a switch whose path
 * is known, or to one of the same path, which is a forwarding loop.
 *
 * Cost. Switches times hosts.
 */
#include "lab/route_metrics.h"

#include <string.h>

#include "routing/scratch.h"

#define UNKNOWN		(GRAPH_FAR - 1)

struct ways {
	const struct graph *g;
	uint32_t *length;	/* by switch; GRAPH_FAR: it does not arrive */
	uint32_t *trail;
	uint8_t *columns;	/* lft_read_columns() */
};

/* Sets the lengths of the paths from `sw` on; column: of the LID. */
static void
ways_follow(struct ways *w, uint32_t sw, const uint8_t *column)
{
	uint32_t n = 0, e, length;

	while (w->length[sw] == UNKNOWN) {
		w->length[sw] = GRAPH_FAR;	/* if it comes here again */
		w->trail[n++] = sw;
		e = graph_edge_at(w->g, sw, column[sw]);
		if (e == SNAPSHOT_NONE)
			break;
		sw = w->g->edges[e].peer;
	}
	length = w->length[sw];
	while (n-- > 0)
		w->length[w->trail[n]] = length == GRAPH_FAR ? length :
			++length;
}

/* Counts the pairs of one destination by path length. */
static void
ways_count(struct ways *w, const struct graph_target *t, const uint8_t *column,
	   const uint32_t *hop, struct metrics_paths *p)
{
	uint32_t sw, n;

	for (sw = 0; sw < w->g->n_switches; sw++)
		w->length[sw] = UNKNOWN;
	if (column[t->sw] == t->port)
		w->length[t->sw] = 0;
	for (sw = 0; sw < w->g->n_switches; sw++) {
		n = w->g->n_hosts[sw] - (sw == t->sw);
		ways_follow(w, sw, column);
		if (w->length[sw] == GRAPH_FAR) {
			p->lost += n;
			continue;
		}
		p->pairs[w->length[sw]] += n;
		if (w->length[sw] > hop[sw])
			p->longer += n;
	}
}

static void
ways_sum(struct metrics_paths *p, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (p->pairs[i] == 0)
			continue;
		p->max = i;
		p->arrived += p->pairs[i];
		sum += p->pairs[i] * i;
	}
	if (p->arrived > 0)
		p->mean = (double)sum / (double)p->arrived;
}

void
metrics_paths(const struct graph *g, const struct lft *lft,
	      struct metrics_paths *p)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t *hop = SCRATCH(scratch, uint32_t, g->n_switches);
	uint32_t *queue = SCRATCH(scratch, uint32_t, g->n_switches);
	uint16_t lids[LFT_COLUMNS];
	uint32_t sw, t, end, k;
	struct ways w = {
		.g = g,
		.length = SCRATCH(scratch, uint32_t, g->n_switches),
		.trail = SCRATCH(scratch, uint32_t, g->n_switches),
		.columns = SCRATCH(scratch, uint8_t, (size_t)g->n_switches *
				   LFT_COLUMNS),
	};

	g_assert(lft->n_switches == g->n_switches);
	*p = (struct metrics_paths){
		.pairs = g_new0(uint64_t, g->n_switches + 1),
	};
	for (sw = 0; sw < g->n_switches; sw++) {
		if (g->n_hosts[sw])
			graph_hops(g, sw, hop, queue);
		for (t = g->first_target[sw]; g->n_hosts[sw] &&
		     t < g->first_target[sw + 1]; t = end) {
			end = MIN(t + LFT_COLUMNS, g->first_target[sw + 1]);
			for (k = t; k < end; k++)
				lids[k - t] = g->targets[k].lid;
			lft_read_columns(lft, lids, end - t, w.columns);
			for (k = t; k < end; k++)
				if (g->targets[k].is_host)
					ways_count(&w, &g->targets[k],
						   w.columns + (size_t)(k - t) *
						   g->n_switches, hop, p);
		}
	}
	ways_sum(p, g->n_switches);
}

void
metrics_paths_clear(struct metrics_paths *paths)
{
	g_free(paths->pairs);
	*paths = (struct metrics_paths){ 0 };
}

/*
 * The entries that packets from host to host use.
 *
 * Purpose. Verification counts all data, including that of the port 0 of
 * switches. Some engines promise only that there is no credit loop among hosts.
 * To tell the two apart, the other entries are removed and the rest is
 * verified.
 *
 * Flow. For each LID of a host, from each switch with hosts along the tables up
 * to a switch that was visited already; the entries on the way are copied. All
 * others stay LFT_NO_PATH. Cost: switches times LIDs.
 */

static void
hosts_copy_ways(const struct graph *g, const struct lft *lft, struct lft *out,
		uint32_t lid)
{
	uint32_t start, sw, e;
	uint8_t port;

	for (start = 0; start < g->n_switches; start++) {
		if (g->n_hosts[start] == 0)
			continue;
		for (sw = start; sw != SNAPSHOT_NONE; ) {
			port = lft_row(lft, sw)[lid];
			/* visited before, or the path ends without an entry */
			if (lft_row(out, sw)[lid] == port)
				break;
			lft_row(out, sw)[lid] = port;
			e = graph_edge_at(g, sw, port);
			sw = e == SNAPSHOT_NONE ? SNAPSHOT_NONE :
				g->edges[e].peer;
		}
	}
}

struct lft *
metrics_host_entries(const struct graph *g, const struct lft *lft)
{
	struct lft *out = lft_new(lft->n_switches, lft->top);
	const struct graph_target *t;
	uint32_t i, lid;

	g_assert(lft->n_switches == g->n_switches);

	for (i = 0; i < g->n_targets; i++) {
		t = &g->targets[i];
		if (!t->is_host)
			continue;
		for (lid = t->lid; lid < (uint32_t)t->lid + t->n_lids; lid++)
			if (lid <= lft->top)
				hosts_copy_ways(g, lft, out, lid);
	}
	return out;
}
