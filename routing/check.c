// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Follows every entry of the tables and says where it ends.
 *
 * Purpose. The one judge between an engine and the hardware. It believes
 * nobody: it reads bytes, asks the graph where that port leads, and goes on.
 *
 * Structs. For one LID the tables are a function from switches to switches
 * (IBA 14.2.5.10: one output port for a LID). struct walk holds that function
 * as next[], with an end added for each way in which a walk can stop: the
 * ends are numbered behind the switches and carry their verdict from the
 * start.
 *
 * Flow. For each LID that somebody owns: walk_load() turns a column of the
 * tables into next[]; walk_judge() goes from each switch until it meets a
 * switch or an end whose verdict is known, or its own trail, which is a loop,
 * and hands the verdict to all on the trail. Every switch is judged once for
 * a LID, so the whole costs switches times LIDs. LIDs go up, thus 64 of them
 * share each cache line that is read.
 */
#include "routing/check.h"

#include <string.h>

enum health {
	VERDICT_OPEN,		/* not met yet */
	VERDICT_TRAIL,		/* on the walk at hand */
	VERDICT_ARRIVED,
	VERDICT_UNROUTED,
	VERDICT_LOOPING,
	VERDICT_ASTRAY,
	N_VERDICTS,
};

/* Ends, counted from the number of switches. */
#define END_ARRIVED	0u
#define END_UNROUTED	1u
#define END_ASTRAY	2u
#define N_ENDS		3u

struct walk {
	const struct graph *g;
	const struct lft *lft;
	uint32_t *edge_of;	/* see graph_map_ports() */
	uint32_t *next;		/* switch -> switch or end */
	uint32_t *trail;
	uint8_t *verdict;	/* of switches and ends */
	uint32_t *island;	/* by switch */
	uint64_t count[N_VERDICTS];
};

static void
walk_load(struct walk *w, const struct graph_target *target, uint16_t lid)
{
	const struct graph *g = w->g;
	const uint8_t *entry = w->lft->ports + lid;
	const uint32_t *edge_of = w->edge_of;
	uint32_t sw, edge;

	for (sw = 0; sw < g->n_switches; sw++) {
		edge = edge_of[*entry];
		if (edge != SNAPSHOT_NONE)
			w->next[sw] = g->edges[edge].peer;
		else if (*entry == LFT_NO_PATH)
			w->next[sw] = g->n_switches + END_UNROUTED;
		else if (sw == target->sw && *entry == target->port)
			w->next[sw] = g->n_switches + END_ARRIVED;
		else
			w->next[sw] = g->n_switches + END_ASTRAY;
		entry += w->lft->stride;
		edge_of += GRAPH_PORTS;
	}
}

static void
walk_judge(struct walk *w)
{
	uint32_t n = w->g->n_switches, start, sw, length;
	uint8_t verdict;

	memset(w->verdict, VERDICT_OPEN, n);
	for (start = 0; start < n; start++) {
		length = 0;
		for (sw = start; w->verdict[sw] == VERDICT_OPEN;
		     sw = w->next[sw]) {
			w->verdict[sw] = VERDICT_TRAIL;
			w->trail[length++] = sw;
		}
		verdict = w->verdict[sw];
		if (verdict == VERDICT_TRAIL)
			verdict = VERDICT_LOOPING;
		w->count[verdict] += length;
		while (length > 0)
			w->verdict[w->trail[--length]] = verdict;
	}
}

/* What the sources at a switch lose with a LID. A CA does not send to itself
 * over the fabric. */
static void
walk_count_lost(const struct walk *w, uint32_t sw,
		const struct graph_target *target,
		struct check_result *result)
{
	uint32_t n_hosts = w->g->n_hosts[sw];

	if (target->port == 0) {
		result->lost_mixed += n_hosts;
		return;
	}
	result->lost_hosts += n_hosts - (sw == target->sw);
	result->lost_mixed++;
}

/* A LID that not all switches reach. */
static void
walk_report(const struct walk *w, const struct graph_target *target,
	    uint16_t lid, struct check_result *result)
{
	uint32_t sw;

	for (sw = 0; sw < w->g->n_switches; sw++) {
		if (w->verdict[sw] == VERDICT_ARRIVED)
			continue;
		if (w->island[sw] != w->island[target->sw]) {
			result->cut_off +=
				w->verdict[sw] == VERDICT_UNROUTED;
			if (w->verdict[sw] == VERDICT_UNROUTED)
				continue;
		}
		walk_count_lost(w, sw, target, result);
		if (result->lid == LID_NONE) {
			result->sw = sw;
			result->lid = lid;
		}
	}
}

static void
walk_init(struct walk *w, const struct graph *g, const struct lft *lft)
{
	uint32_t n = g->n_switches;

	memset(w, 0, sizeof(*w));
	w->g = g;
	w->lft = lft;
	w->edge_of = graph_map_ports(g);
	w->next = g_new(uint32_t, n);
	w->trail = g_new(uint32_t, n);
	w->verdict = g_new(uint8_t, n + N_ENDS);
	w->island = graph_find_islands(g);
	w->verdict[n + END_ARRIVED] = VERDICT_ARRIVED;
	w->verdict[n + END_UNROUTED] = VERDICT_UNROUTED;
	w->verdict[n + END_ASTRAY] = VERDICT_ASTRAY;
}

static void
walk_clear(struct walk *w)
{
	g_free(w->edge_of);
	g_free(w->next);
	g_free(w->trail);
	g_free(w->verdict);
	g_free(w->island);
}

void
check_reachability(const struct graph *g, const struct lft *lft,
		   const uint8_t *whole, struct check_result *result)
{
	g_autofree uint32_t *target_of = graph_map_lids(g);
	const struct graph_target *target;
	struct walk walk;
	uint64_t arrived;
	uint32_t lid;

	g_assert(lft->n_switches == g->n_switches);
	memset(result, 0, sizeof(*result));
	walk_init(&walk, g, lft);
	for (lid = LID_UNICAST_MIN; lid <= g->top; lid++) {
		if (target_of[lid] == SNAPSHOT_NONE)
			continue;
		if (whole && whole[lid] && lid <= lft->top) {
			walk.count[VERDICT_ARRIVED] += g->n_switches;
			continue;
		}
		target = &g->targets[target_of[lid]];
		arrived = walk.count[VERDICT_ARRIVED];
		if (lid <= lft->top) {
			walk_load(&walk, target, (uint16_t)lid);
			walk_judge(&walk);
		} else {
			/* Past the end of the tables: IBA drops it. */
			memset(walk.verdict, VERDICT_UNROUTED,
			       g->n_switches);
			walk.count[VERDICT_UNROUTED] += g->n_switches;
		}
		if (walk.count[VERDICT_ARRIVED] - arrived < g->n_switches)
			walk_report(&walk, target, (uint16_t)lid, result);
	}
	walk_clear(&walk);

	result->arrived = walk.count[VERDICT_ARRIVED];
	result->unrouted = walk.count[VERDICT_UNROUTED];
	result->looping = walk.count[VERDICT_LOOPING];
	result->astray = walk.count[VERDICT_ASTRAY];
}
