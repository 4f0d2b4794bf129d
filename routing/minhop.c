// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Min-hop: every switch reaches every LID by a shortest path, and the traffic
 * of all hosts to all hosts is spread over those paths.
 *
 * Purpose. The engine for any fabric. Shortest paths are simple; which of
 * them is what matters. A choice that looks at one switch at a time cannot see
 * that the link behind the next switch is full. Here the unit is the
 * destination: one LID after the other gets a tree, each switch takes the hop
 * with the least load summed up over the whole way, and the load that the
 * finished tree brings (host flows, from far to near) counts for the next
 * LID. On an intact fat tree this ends as D-mod-k (Zahavi), whatever the
 * order of GUIDs; on others it is a descent on the sum of squared loads.
 *
 * Why it is fast. Most switches of a large fabric are alike. Twins decide as
 * one (fold.h), groups with the same choice decide as one (aim.h), and what
 * all destinations behind twins have in common is found once. To agree is
 * good in itself: traffic to one LID that meets early does not meet others.
 * A damaged fabric has smaller groups and classes: slower, never wrong.
 *
 * Flow. minhop_fill: fold_new(); without tables of before spread_all()
 * (minhop_spread.c), else keep_all() (minhop_keep.c), both over the LIDs as
 * tally_pass_all() (minhop_tally.c) gives them, group by group of the fold;
 * fold_finish() for the rows of all switches.
 *
 * What is kept. Entries that still lead closer. Kept tables that are half as
 * bad again as new ones would be are given up. So are they when a cable came
 * back and to route anew changes hardly more: new tables depend on nothing but
 * the fabric, so a fabric that is whole again has the tables that it had
 * before it was hurt, however often it was mended in between.
 *
 * Total order. Destinations by slot and base LID. Of candidates with the same
 * load the first wins: by slot of the next switch, then port. Slots follow
 * the fabric and not the GUIDs (fold.c), so that all pods of a fat tree
 * settle a tie for the same plane. No clocks, no chance; threads only where
 * rows are copied.
 *
 * Source. E. Zahavi, "Fat-trees routing and node ordering providing contention
 * free traffic for MPI global collectives", 2011, for what to expect; the
 * greedy is the usual one for minimising a convex sum of loads.
 */
#include "routing/minhop.h"

#include <string.h>

#include "routing/minhop_keep.h"
#include "routing/minhop_spread.h"

#define SUSPECT		2u	/* x mean: are kept tables that good? */
#define HOMESICK	2u	/* x blocks that keeping changes */

/* All anew. */
static struct burden
minhop_fill_anew(const struct engine_input *in, const uint32_t *ranks,
		 struct lft *out)
{
	struct fold *fold = fold_new(in->g, ranks, NULL);
	struct tally *t = tally_new(in->g, fold, out);
	struct burden burden;

	spread_all(t);
	fold_finish(fold, out, in->n_threads);
	burden = tally_weigh_burden(t);
	tally_free(t);
	fold_free(fold);
	return burden;
}

/* n_idle: hops that were not used before. */
static struct burden
minhop_fill_kept(const struct engine_input *in, const uint32_t *ranks,
		 struct lft *out, uint32_t *n_idle)
{
	struct fold *fold = fold_new(in->g, ranks, in->previous);
	struct tally *t = tally_new(in->g, fold, out);
	struct burden burden;

	*n_idle = keep_all(t, in->previous);
	fold_finish(fold, out, in->n_threads);
	burden = tally_weigh_burden(t);
	tally_free(t);
	fold_free(fold);
	return burden;
}

/* Blocks that differ, as far as both are there. */
static uint64_t
minhop_count_changes(const struct lft *a, const struct lft *b)
{
	uint32_t stride = MIN(a->stride, b->stride), sw, i;
	uint64_t n = 0;

	for (sw = 0; sw < MIN(a->n_switches, b->n_switches); sw++)
		for (i = 0; i < stride; i += LFT_BLOCK)
			n += memcmp(lft_row(a, sw) + i, lft_row(b, sw) + i,
				    LFT_BLOCK) != 0;
	return n;
}

static void
minhop_fill_after(const struct engine_input *in, const uint32_t *ranks,
		  struct lft *out)
{
	struct burden kept, anew;
	struct lft *other;
	uint32_t n_idle;

	kept = minhop_fill_kept(in, ranks, out, &n_idle);
	if (n_idle == 0 && kept.max * kept.n_cables <= SUSPECT * kept.sum)
		return;
	other = lft_new(out->n_switches, out->top);
	anew = minhop_fill_anew(in, ranks, other);
	if (2 * kept.max > 3 * anew.max ||
	    (n_idle && minhop_count_changes(in->previous, other) <=
	     HOMESICK * minhop_count_changes(in->previous, out)))
		memcpy(out->ports, other->ports,
		       (size_t)out->n_switches * out->stride);
	lft_free(other);
}

void
minhop_fill(const struct engine_input *in, const uint32_t *ranks,
	    struct lft *out)
{
	if (in->g->n_edges == 0)
		return;
	if (!in->previous || in->previous->n_switches < in->g->n_switches)
		minhop_fill_anew(in, ranks, out);
	else
		minhop_fill_after(in, ranks, out);
}

static bool
minhop_compute(const struct engine_input *in, struct engine_output *output,
	       GError **error)
{
	const struct graph *g = in->g;
	struct lft *out = output->lft;
	const struct graph_target *target;

	g_assert(out->n_switches == g->n_switches && out->top >= g->top);
	minhop_fill(in, NULL, out);
	for (target = g->targets; target < g->targets + g->n_targets;
	     target++)
		memset(lft_row(out, target->sw) + target->lid, target->port,
		       target->n_lids);
	return true;
}

const struct engine engine_minhop = {
	.name = "minhop",
	.summary = "shortest paths, balanced over the whole fabric; "
		   "any topology, not free of credit loops",
	.compute = minhop_compute,
};
