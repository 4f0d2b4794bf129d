// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * As much of the held tables as is still right.
 *
 * Purpose. After a start, or a change that is too large for a repair, the
 * engines route the whole fabric. Their tables may differ in most entries from
 * those on the switches although a few would do.
 *
 * Method. LID by LID, the held entries are followed. Where they lead to no
 * switch, or in a circle, a repair finds a path (repair_ends()), so most switches
 * before that end keep their entries; or all of these get new paths, if they close a
 * loop. A LID of which no switch with hosts holds an entry is new; its entries are
 * taken from the new tables. If a channel then has many more flows than with the new
 * tables, paths move away from it. All engines are served alike, and none needs to
 * know what the switches hold.
 *
 * Cost. The size of the tables, LIDs with another entry times switches, and the
 * paths that have to be found.
 */
#include "routing/keep.h"

#include <string.h>

#include "routing/balance.h"
#include "routing/metrics.h"
#include "routing/repair.h"
#include "routing/scratch.h"

#define LOAD		1.10	/* times the load of the new tables, at most */
#define FEW		2u	/* blocks changed for each that must be: new
				   tables are as good */

static const double rooms[] = { LOAD, 1 };	/* likewise, of a detour */

struct keep {
	const struct graph *g;
	const struct lft *held, *anew;
	uint64_t *flows;	/* by edge, of the new tables; NULL: not measured
				   yet */
	struct lft *kept;
	uint8_t *state;		/* by switch: enum arrives */
	uint32_t *queue;
	bool clears;		/* all entries whose path does not arrive */
	GArray *ends;		/* struct repair_end */
	uint64_t n_ended;	/* entries whose path leads there */
};

enum arrives { ARRIVES_UNKNOWN, ARRIVES, ARRIVES_NOT, ARRIVES_HERE };

/* Follows the kept entries from `sw` as far as they are unknown. If they do not
 * arrive, removes the one that leads to no switch, or back to one on the way. */
static void
keep_follow(struct keep *k, uint32_t sw, uint32_t lid)
{
	struct repair_end end = { sw, (uint16_t)lid };
	bool has_ended;
	uint32_t n = 0, e;

	while (k->state[sw] == ARRIVES_UNKNOWN) {
		k->state[sw] = ARRIVES_HERE;
		k->queue[n++] = sw;
		e = graph_edge_at(k->g, sw, lft_row(k->kept, sw)[lid]);
		if (e != SNAPSHOT_NONE)
			sw = k->g->edges[e].peer;
	}
	has_ended = k->state[sw] == ARRIVES_HERE;
	if (has_ended)
		k->state[sw] = ARRIVES_NOT;
	for (; n-- > 0; has_ended = false) {
		end.sw = k->queue[n];
		k->state[end.sw] = k->state[sw];
		if (!has_ended && !(k->clears && k->state[sw] == ARRIVES_NOT))
			continue;
		g_array_append_val(k->ends, end);
		lft_row(k->kept, end.sw)[lid] = LFT_NO_PATH;
	}
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
		wanted = lft_row(k->anew, sw)[lid];
		if (is_new || g->island[sw] != g->island[t->sw])
			lft_row(k->kept, sw)[lid] = wanted;
		else
			keep_follow(k, sw, lid);
		k->n_ended += wanted != LFT_NO_PATH &&
			k->state[sw] != ARRIVES;
	}
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
 * tables have no order of up and down, or turns against it that close a loop with
 * the new ones. */
static bool
keep_relieve(struct keep *k, const uint32_t *ranks, double most)
{
	struct order *o = ranks ? order_from_ranks(k->g, ranks) : NULL;
	struct channels *c = NULL;
	bool ok;

	if (!o)
		return false;
	balance_relieve(k->g, o, most, k->kept);
	order_destroy(o);
	ok = channels_load(&c, k->g, k->kept, NULL, ranks);
	channels_free(c);
	return ok;
}

/* Is the load near that of the new tables, if need be with other paths, and no
 * cable idle that they use? One direction may be idle: either choice of it can be
 * right. */
static bool
keep_balance(struct keep *k, const uint32_t *ranks, double most)
{
	const struct graph *g = k->g;
	g_autofree uint64_t *kept = g_new(uint64_t, g->n_edges + 1);
	uint32_t busiest, e;
	bool is_last = false;

	for (;; is_last = true) {
		memset(kept, 0, g->n_edges * sizeof(*kept));
		metrics_flows(g, k->kept, ranks, kept);
		for (e = 0; e < g->n_edges; e++)
			if (k->flows[e] && !kept[e] && !kept[g->edges[e].back])
				return false;
		if (metrics_worst(g, kept, &busiest) <= most)
			return true;
		if (is_last || !keep_relieve(k, ranks, most))
			return false;
	}
}

/* Paths from the ends. If a channel then has too many flows, detours get less
 * room. n_all: blocks of the new tables. */
static bool
keep_repair(struct keep *k, const uint32_t *ranks, uint64_t n_all)
{
	const struct graph *g = k->g;
	struct lft *ended = k->kept;
	struct metrics_churn churn;
	uint32_t busiest, i;
	bool ok = false;
	double least;

	if (!k->flows) {
		k->flows = g_new0(uint64_t, g->n_edges + 1);
		metrics_flows(g, k->anew, ranks, k->flows);
	}
	least = metrics_worst(g, k->flows, &busiest);
	for (i = 0; i < G_N_ELEMENTS(rooms) && !ok && k->kept; i++) {
		if (k->kept != ended)
			lft_free(k->kept);
		k->kept = repair_ends(g, ended, k->ends, k->anew,
				      (float)(rooms[i] * least), ranks);
		ok = k->kept && keep_balance(k, ranks, LOAD * least);
		if (ok) {
			metrics_churn(k->held, k->kept, &churn);
			ok = 4 * churn.blocks < 3 * n_all;
		}
	}
	lft_free(ended);
	return ok;
}

/* False: new tables are better; without kept ones, no paths were found. */
static bool
keep_try(struct keep *k, const uint8_t *changed, const uint32_t *ranks,
	 uint64_t n_all)
{
	const struct graph_target *t = k->g->targets, *end = t + k->g->n_targets;
	struct metrics_churn least;

	k->kept = lft_copy(k->anew);
	k->n_ended = 0;
	g_array_set_size(k->ends, 0);
	for (; t < end; t++)
		for (uint32_t i = t->lid; i < (uint32_t)t->lid + t->n_lids; i++)
			if (changed[i])
				keep_lid(k, t, i);
	metrics_churn(k->held, k->kept, &least);
	return k->n_ended <= REPAIR_MAX && n_all > FEW * least.blocks &&
		keep_repair(k, ranks, n_all);
}

struct lft *
keep_tables(const struct graph *g, const struct lft *held,
	    const struct lft *anew, const uint32_t *ranks)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	g_autoptr(GArray) ends = g_array_new(FALSE, FALSE,
					     sizeof(struct repair_end));
	struct keep k = {
		.g = g, .held = held, .anew = anew, .ends = ends,
		.state = SCRATCH(scratch, uint8_t, g->n_switches),
		.queue = SCRATCH(scratch, uint32_t, g->n_switches),
	};
	g_autofree uint8_t *changed = NULL;
	struct metrics_churn all;
	bool ok;

	if (held->n_switches != g->n_switches)
		return NULL;
	metrics_churn(held, anew, &all);
	if (!all.blocks)
		return NULL;
	changed = keep_find_changed(&k);
	ok = keep_try(&k, changed, ranks, all.blocks);
	if (!k.kept) {
		k.clears = true;
		ok = keep_try(&k, changed, ranks, all.blocks);
	}
	g_free(k.flows);
	if (!ok)
		lft_free(k.kept);
	return ok ? k.kept : NULL;
}
