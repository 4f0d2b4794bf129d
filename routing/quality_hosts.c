// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The part of the tables that hosts use among themselves.
 *
 * Purpose. Verification counts all data, what a switch's port 0 sends or gets
 * included. Some engines promise no credit loop for hosts only. To tell one
 * from the other, take away the entries that no packet from host to host ever
 * meets, and look again.
 *
 * Flow. For each LID of a host, from each switch with hosts along the tables
 * until a switch that was met already: its entry is copied, and so are those
 * behind it. The rest stays LFT_NO_PATH. Costs switches times LIDs.
 */
#include "routing/quality.h"

#include <string.h>

static void
hosts_copy_ways(const struct graph *g, const struct lft *lft, struct lft *out,
		const uint32_t *edge_of, uint32_t lid)
{
	uint32_t start, sw, e;
	uint8_t port;

	for (start = 0; start < g->n_switches; start++) {
		if (g->n_hosts[start] == 0)
			continue;
		for (sw = start; sw != SNAPSHOT_NONE; ) {
			port = lft_row(lft, sw)[lid];
			/* Met before, or the way ends without an entry. */
			if (lft_row(out, sw)[lid] == port)
				break;
			lft_row(out, sw)[lid] = port;
			e = edge_of[(size_t)sw * GRAPH_PORTS + port];
			sw = e == SNAPSHOT_NONE ? SNAPSHOT_NONE :
				g->edges[e].peer;
		}
	}
}

struct lft *
quality_host_entries(const struct graph *g, const struct lft *lft)
{
	g_autofree uint32_t *edge_of = graph_map_ports(g);
	struct lft *out = lft_new(lft->n_switches, lft->top);
	const struct graph_target *t;
	uint32_t i, lid;

	g_assert(lft->n_switches == g->n_switches);

	for (i = 0; i < g->n_targets; i++) {
		t = &g->targets[i];
		if (t->port == 0)
			continue;
		for (lid = t->lid; lid < (uint32_t)t->lid + t->n_lids; lid++)
			if (lid <= lft->top)
				hosts_copy_ways(g, lft, out, edge_of, lid);
	}
	return out;
}
