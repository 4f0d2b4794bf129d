// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * As much of the held tables as is still right.
 *
 * Purpose. After a start, or a change that is too large for a repair, the
 * engines route the whole fabric. Their tables may differ in most entries from
 * those on the switches although a few would do.
 *
 * Method. LID by LID, the held entries that still lead to the LID's owner stay,
 * and complete.c finds paths for the others. A LID of which no switch with
 * hosts holds an entry is new; its entries are taken from the new tables. If a
 * channel then has many more flows than with the new tables, as after a repair,
 * paths move away from it. All engines are served alike, and none needs to know
 * what the switches hold.
 *
 * Cost. The size of the tables, LIDs with another entry times switches, and the
 * paths that have to be found.
 */
#include "routing/keep.h"

#include <string.h>

#include "routing/balance.h"
#include "routing/complete.h"
#include "routing/metrics.h"
#include "routing/scratch.h"

#define LOAD		1.10	/* times the load of the new tables, at most */
#define FEW		2u	/* blocks changed for each that must be: new
				   tables are as good */
#define ENTRIES_MAX	65536u	/* to be found; the engines are faster */

struct keep {
	const struct graph *g;
	const struct lft *held, *anew;
	struct lft *kept;
	uint8_t *state;		/* by switch: enum arrives */
	uint32_t *queue;
	uint64_t n_ended;	/* entries whose path has ended */
};

enum arrives { ARRIVES_UNKNOWN, ARRIVES, ARRIVES_NOT };

/* Follows the kept entries from `sw` as far as they are unknown. */
static void
keep_follow(struct keep *k, uint32_t sw, uint32_t lid)
{
	uint32_t n = 0, e;
	uint8_t end;

	while (k->state[sw] == ARRIVES_UNKNOWN) {
		k->state[sw] = ARRIVES_NOT;	/* if it comes here again */
		k->queue[n++] = sw;
		e = graph_edge_at(k->g, sw, lft_row(k->kept, sw)[lid]);
		if (e == SNAPSHOT_NONE)
			break;
		sw = k->g->edges[e].peer;
	}
	end = k->state[sw];
	while (n-- > 0)
		k->state[k->queue[n]] = end;
}

static void
keep_lid(struct keep *k, const struct graph_target *t, uint32_t lid)
{
	const struct graph *g = k->g;
	uint32_t sw;
	bool is_new = true;
	uint8_t *port, wanted;

	for (sw = 0; sw < g->n_switches; sw++) {
		port = &lft_row(k->kept, sw)[lid];
		*port = lid > k->held->top ? (uint8_t)LFT_NO_PATH :
			lft_row(k->held, sw)[lid];
		is_new &= *port == LFT_NO_PATH || !g->n_hosts[sw] ||
			sw == t->sw;
	}
	lft_row(k->kept, t->sw)[lid] = t->port;
	memset(k->state, ARRIVES_UNKNOWN, g->n_switches);
	k->state[t->sw] = ARRIVES;
	for (sw = 0; sw < g->n_switches; sw++) {
		keep_follow(k, sw, lid);
		wanted = lft_row(k->anew, sw)[lid];
		if (is_new || k->state[sw] != ARRIVES)
			k->n_ended += wanted != LFT_NO_PATH;
		if (is_new)
			lft_row(k->kept, sw)[lid] = wanted;
	}
	/* only now, since entries are followed */
	for (sw = 0; sw < g->n_switches && !is_new; sw++)
		if (k->state[sw] != ARRIVES)
			lft_row(k->kept, sw)[lid] = LFT_NO_PATH;
}

/* By LID: some switch holds another entry than the new one. g_free. */
static uint8_t *
keep_find_changed(const struct keep *k)
{
	uint8_t *changed = g_new0(uint8_t, k->anew->stride);
	const uint8_t *held, *new;
	uint32_t sw, lid, i;

	for (sw = 0; sw < k->g->n_switches; sw++) {
		held = lft_row(k->held, sw);
		new = lft_row(k->anew, sw);
		for (lid = 0; lid < k->anew->stride; lid += LFT_BLOCK)
			if (lid >= k->held->stride)
				memset(changed + lid, 1, LFT_BLOCK);
			else if (memcmp(held + lid, new + lid, LFT_BLOCK))
				for (i = lid; i < lid + LFT_BLOCK; i++)
					changed[i] |= held[i] != new[i];
	}
	return changed;
}

/* Moves paths of the kept tables away from channels with more flows. False: the
 * tables have no order of up and down. */
static bool
keep_relieve(struct keep *k, const uint32_t *ranks, double most)
{
	struct order *o = ranks ? order_from_ranks(k->g, ranks) : NULL;

	if (o)
		balance_relieve(k->g, o, most, k->kept);
	order_destroy(o);
	return o != NULL;
}

/* Is the load near that of the new tables, if need be with other paths, and no
 * cable idle that they use? One direction may be idle: either choice of it can be
 * right. */
static bool
keep_balance(struct keep *k, const uint32_t *ranks)
{
	const struct graph *g = k->g;
	g_autofree uint64_t *new = g_new0(uint64_t, g->n_edges + 1);
	g_autofree uint64_t *kept = g_new(uint64_t, g->n_edges + 1);
	uint32_t busiest, e;
	bool is_last = false;
	double most;

	metrics_flows(g, k->anew, ranks, new);
	most = LOAD * metrics_worst(g, new, &busiest);
	for (;; is_last = true) {
		memset(kept, 0, g->n_edges * sizeof(*kept));
		metrics_flows(g, k->kept, ranks, kept);
		for (e = 0; e < g->n_edges; e++)
			if (new[e] && !kept[e] && !kept[g->edges[e].back])
				return false;
		if (metrics_worst(g, kept, &busiest) <= most)
			return true;
		if (is_last || !keep_relieve(k, ranks, most))
			return false;
	}
}

struct lft *
keep_tables(const struct graph *g, const struct lft *held,
	    const struct lft *anew, const uint32_t *ranks)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	const struct graph_target *t = g->targets, *end = t + g->n_targets;
	struct keep k = {
		.g = g, .held = held, .anew = anew,
		.state = SCRATCH(scratch, uint8_t, g->n_switches),
		.queue = SCRATCH(scratch, uint32_t, g->n_switches),
	};
	g_autofree uint8_t *changed = NULL;
	struct metrics_churn all, least, done;
	bool fits;

	if (held->n_switches != g->n_switches)
		return NULL;
	metrics_churn(held, anew, &all);
	if (!all.blocks)
		return NULL;
	k.kept = lft_copy(anew);
	changed = keep_find_changed(&k);
	for (; t < end; t++)
		for (uint32_t i = t->lid; i < (uint32_t)t->lid + t->n_lids; i++)
			if (changed[i])
				keep_lid(&k, t, i);
	metrics_churn(held, k.kept, &least);
	fits = k.n_ended <= ENTRIES_MAX && all.blocks > FEW * least.blocks;
	if (fits) {
		complete_hosts(g, k.kept, ranks);
		complete_tables(g, k.kept, ranks, false);
		fits = keep_balance(&k, ranks);
		metrics_churn(held, k.kept, &done);
		fits = fits && 3 * all.blocks > 4 * done.blocks;
	}
	if (!fits)
		lft_free(k.kept);
	return fits ? k.kept : NULL;
}
