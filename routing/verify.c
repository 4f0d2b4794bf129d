// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verification of forwarding tables: reachability and credit loops.
 *
 * Reachability. For one LID the tables are a function from switches to switches
 * (IBA 14.2.5.10: one output port for a LID), with an end for each way in which
 * a path can stop. From each switch the path is followed to a switch or an end
 * whose verdict is known, or to a switch of the same path, which is a
 * forwarding loop; the verdict is that of all switches on the path. Only LIDs
 * that may not arrive from everywhere are walked. Cost: switches times these
 * LIDs.
 *
 * Credit loops. An order of the switches is a witness: if all entries lead up,
 * or up and then down, there is no loop, and a path that stops nowhere but at
 * its owner arrives. One pass over the tables finds the entries that do not
 * fit, which are few; their turns are added to all turns that the order
 * permits. Only for the channels in loops of these, or for all channels if
 * there is no order, each entry is combined with the next one. If old and new
 * tables together have no loop, the new ones have none either.
 */
#include "routing/verify.h"

#include <string.h>

#include "routing/scratch.h"

enum verdict {
	VERDICT_OPEN,		/* not visited */
	VERDICT_TRAIL,		/* on the present path */
	VERDICT_ARRIVED,
	VERDICT_UNROUTED,
	VERDICT_LOOPING,
	VERDICT_ASTRAY,
	N_VERDICTS,
};

struct walk {
	const struct graph *g;
	const struct lft *lft;
	uint32_t *next;		/* switch -> switch, or an end: n_switches and
				   its verdict */
	uint32_t *trail;
	uint8_t *verdict;	/* of switches and ends */
	uint8_t *columns;	/* lft_read_columns() */
	uint64_t count[N_VERDICTS];
};

/* Finds the verdict of each switch; entry: of the LID, by switch. */
static void
walk_lid(struct walk *w, const struct graph_target *target,
	 const uint8_t *entry)
{
	const struct graph *g = w->g;
	uint32_t n = g->n_switches, start, sw, edge, length;
	uint8_t verdict;

	for (sw = 0; sw < n; sw++, entry++) {
		edge = graph_edge_at(g, sw, *entry);
		if (edge != SNAPSHOT_NONE)
			w->next[sw] = g->edges[edge].peer;
		else if (*entry == LFT_NO_PATH)
			w->next[sw] = n + VERDICT_UNROUTED;
		else if (sw == target->sw && *entry == target->port)
			w->next[sw] = n + VERDICT_ARRIVED;
		else
			w->next[sw] = n + VERDICT_ASTRAY;
	}
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

/* Counts a LID that not all switches reach. */
static void
walk_report(const struct walk *w, const struct graph_target *target,
	    uint16_t lid, struct verify_reach *result)
{
	uint32_t sw, n_hosts;

	for (sw = 0; sw < w->g->n_switches; sw++) {
		if (w->verdict[sw] == VERDICT_ARRIVED)
			continue;
		if (w->g->island[sw] != w->g->island[target->sw]) {
			result->cut_off +=
				w->verdict[sw] == VERDICT_UNROUTED;
			if (w->verdict[sw] == VERDICT_UNROUTED)
				continue;
		}
		/* A CA does not send to itself over the fabric. */
		n_hosts = w->g->n_hosts[sw];
		if (target->is_host)
			result->lost_hosts += n_hosts - (sw == target->sw);
		result->lost_mixed += w->g->n_senders[sw] - n_hosts +
			(target->is_host ? 1 : n_hosts);
		if (result->lid == LID_NONE) {
			result->sw = sw;
			result->lid = lid;
		}
	}
}

static void
walk_lids(struct walk *w, const uint16_t *lids, uint32_t n,
	  struct verify_reach *result)
{
	const struct graph_target *target;
	uint64_t arrived;
	uint32_t i;

	lft_read_columns(w->lft, lids, n, w->columns);
	for (i = 0; i < n; i++) {
		target = graph_target_at(w->g, lids[i]);
		arrived = w->count[VERDICT_ARRIVED];
		walk_lid(w, target, w->columns + (size_t)i *
			 w->g->n_switches);
		if (w->count[VERDICT_ARRIVED] - arrived < w->g->n_switches)
			walk_report(w, target, lids[i], result);
	}
}

void
verify_reachability(const struct graph *g, const struct lft *lft,
		   const uint8_t *whole, struct verify_reach *result)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint16_t lids[LFT_COLUMNS];
	uint32_t lid, n = 0, end = g->n_switches;
	struct walk walk = {
		.g = g, .lft = lft,
		.next = SCRATCH(scratch, uint32_t, end),
		.trail = SCRATCH(scratch, uint32_t, end),
		.verdict = SCRATCH(scratch, uint8_t, end + N_VERDICTS),
		.columns = SCRATCH(scratch, uint8_t,
				   (size_t)end * LFT_COLUMNS),
	};

	g_assert(lft->n_switches == g->n_switches);
	*result = (struct verify_reach){ 0 };
	for (uint8_t v = 0; v < N_VERDICTS; v++)
		walk.verdict[end + v] = v;
	for (lid = LID_UNICAST_MIN; lid <= g->top; lid++) {
		if (!graph_target_at(g, lid))
			;
		else if (whole && whole[lid] && lid <= lft->top)
			walk.count[VERDICT_ARRIVED] += g->n_switches;
		else
			lids[n++] = (uint16_t)lid;
		if (n == LFT_COLUMNS || lid == g->top) {
			walk_lids(&walk, lids, n, result);
			n = 0;
		}
	}
	result->arrived = walk.count[VERDICT_ARRIVED];
	result->unrouted = walk.count[VERDICT_UNROUTED];
	result->looping = walk.count[VERDICT_LOOPING];
	result->astray = walk.count[VERDICT_ASTRAY];
}

uint32_t
verify_follow(const struct graph *g, const struct lft *lft, uint32_t lid,
	      uint32_t *sw)
{
	uint32_t hops, e;

	for (hops = 0; hops < VERIFY_HOPS_MAX; hops++) {
		e = graph_edge_at(g, *sw, lft_row(lft, *sw)[lid]);
		if (e == SNAPSHOT_NONE)
			break;
		*sw = g->edges[e].peer;
	}
	return hops;
}

void
verify_tables(const struct graph *g, const struct lft *lft,
	      const struct lft *before, const uint32_t *ranks,
	      struct verify_result *result)
{
	g_autofree uint8_t *whole = g_malloc(g->top + 1u);

	*result = (struct verify_result){ 0 };
	memset(whole, 1, g->top + 1u);
	channels_check_ordered(g, lft, before, ranks, whole,
			       &result->channels);
	verify_reachability(g, lft, whole, &result->reach);
}

void
verify_result_clear(struct verify_result *result)
{
	channels_clear(&result->channels);
	*result = (struct verify_result){ 0 };
}

bool
verify_is_sound(const struct verify_result *result)
{
	return !result->reach.looping && !result->reach.astray &&
		!result->channels.n_looped;
}
