// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Path lengths, and the entries that hosts use.
 *
 * Method. From each switch that has hosts to each host, once for all of the
 * switch's hosts.
 *
 * Cost. Switches times hosts times the length of a path. The hosts of a source
 * come in the order of LIDs, so that entries are read side by side.
 */
#include "lab/route_metrics.h"

#include "routing/metrics.h"
#include "routing/scratch.h"

static void
paths_sum(struct metrics_paths *p, uint32_t n)
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
	uint32_t *way = SCRATCH(scratch, uint32_t, g->n_switches + 2);

	g_assert(lft->n_switches == g->n_switches);
	*p = (struct metrics_paths){
		.pairs = g_new0(uint64_t, g->n_switches + 1),
	};
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		struct metrics_flow flow = { .from = g->first_target[sw] };

		if (g->n_hosts[sw])
			graph_hops(g, sw, hop, queue);
		for (; g->n_hosts[sw] && flow.to < g->n_targets; flow.to++) {
			const struct graph_target *to = &g->targets[flow.to];
			uint32_t n = g->n_hosts[sw] - (to->sw == sw), length;

			if (!to->is_host)
				continue;
			/* of which two are the cables of hosts */
			length = metrics_path(g, lft, &flow, way);
			if (!length) {
				p->lost += n;
				continue;
			}
			p->pairs[length - 2] += n;
			if (length - 2 > hop[to->sw])
				p->longer += n;
		}
	}
	paths_sum(p, g->n_switches);
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
