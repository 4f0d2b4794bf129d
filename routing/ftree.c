// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engine for fat trees: healthy, slimmed, with parallel cables, damaged.
 *
 * Purpose. Tables that follow from the shape of the fabric alone, by a formula
 * and not by a search: every shift is free of congestion where the tree allows
 * it, a loss moves only what went through it, and there is no cycle of
 * dependencies on one VL, since every way goes up and then down.
 *
 * Parts.
 *   ftree_rank.c	who is a leaf, how high is everybody else
 *   ftree_tree.c	parents and children, order, who reaches whom
 *   ftree_hosts.c	the number of each LID
 *   ftree_slot.c	which of the parents is which
 *   ftree_wheel.c	the formula, tabulated
 *   ftree_fill.c	the formula, row by row
 *   ftree_good.c	which parents lead on well
 *   ftree_detour.c	cables that fit into no tree, management between spines
 *   ftree_transfer.c	ways that go down and up again, for data
 *   ftree_note.c	the report in words
 *   ftree_census.c	who has no way to whom
 *   ftree_way.c		what ways the transfers make
 * and for a run that knows the last one:
 *   ftree_memo.c	what is kept
 *   ftree_change.c	what of the tree is another than before
 *   ftree_amend.c	which entries are, and their making
 * This file puts them in order, refuses what is no tree, and counts who is
 * left out.
 *
 * Flow. ftree_route: ranks (those in force if they still fit, or from the
 * roots that were given, or guessed, and then the tree of them until no leaf
 * is taken for a spine any more); numbers; slots; rows, each for itself;
 * rescue, for leaves that some CA reaches only by a cable that is no part of
 * the tree; transfers, for data that still has no way; management.
 *   With a memory (ftree_run_again): the tree of the last run becomes that of
 * today, if switches, ranks, pods, LIDs and numbers are the same and few cables
 * are others; then its tables do, entry by entry. Rescue and management are
 * for full runs only. What comes out is the same either way.
 *
 * Data is what starts at a CA or ends at one. Left out is what has no way that
 * is safe. Its entries stay LFT_NO_PATH: no way is better than one that can
 * stop all others. It is in the report, CAs by their switches.
 *
 * Deadlock. In the order (rank, place) all ways of data go up and then down,
 * and no channel is used in both directions; what goes down and up again does
 * so by turns that leave the graph of dependencies without a cycle, see
 * ftree_transfer.c. Management between switches that does not keep to this
 * starts at no CA and rides VL 15.
 *
 * Source. J. Gliksberg et al., arXiv 2211.11817; E. Zahavi 2011.
 */
#include "routing/ftree.h"

#include <string.h>

#include "routing/ftree_amend.h"
#include "routing/ftree_census.h"
#include "routing/ftree_memo.h"
#include "routing/ftree_rank.h"
#include "routing/work.h"

/* Engines' orders lead up to lower numbers, ranks of a tree to higher ones:
 * one is the other, counted from the top of the range. */
#define ORDER_LEAF	255u

static uint32_t *
ftree_turn_order(const struct graph *g, const uint32_t *order)
{
	uint32_t *ranks = g_new(uint32_t, g->n_switches), sw;

	for (sw = 0; sw < g->n_switches; sw++)
		ranks[sw] = order[sw] > ORDER_LEAF ? ENGINE_NO_RANK :
			ORDER_LEAF - order[sw];
	return ranks;
}

static uint8_t *
ftree_guess_ranks(const struct engine_input *in)
{
	uint32_t sw;

	for (sw = 0; in->is_root && sw < in->g->n_switches; sw++)
		if (in->is_root[sw])
			return rank_from_roots(in->g, in->is_root);
	return rank_guess(in->g);
}

/* The ranks in force, NULL if they are not to be kept. */
static uint8_t *
ftree_keep_ranks(const struct engine_input *in, const uint8_t *rank)
{
	g_autofree uint32_t *held = NULL;

	if (!in->ranks)
		return NULL;
	held = ftree_turn_order(in->g, in->ranks);
	return rank_keep(in->g, held, rank, in->is_root);
}

/* The tree, and whether its ranks are those in force. */
static struct tree *
ftree_grow(const struct engine_input *in, bool *kept)
{
	g_autofree uint8_t *rank = ftree_guess_ranks(in), *old = NULL;
	struct tree *t = tree_new(in->g, rank);
	/* A round for each rank of an empty pod, and there might be more. */
	uint32_t rounds = t->n_ranks + 2;

	while (rounds-- > 0 && rank_settle(t, rank)) {
		tree_free(t);
		t = tree_new(in->g, rank);
	}
	old = ftree_keep_ranks(in, rank);
	*kept = old != NULL;
	if (!old || memcmp(old, rank, in->g->n_switches) == 0)
		return t;
	tree_free(t);
	return tree_new(in->g, old);
}

static struct ftree_report *
ftree_report_new(void)
{
	struct ftree_report *report = g_new0(struct ftree_report, 1);

	report->levels = g_array_new(FALSE, TRUE, sizeof(struct ftree_level));
	report->strays = g_array_new(FALSE, TRUE, sizeof(struct ftree_stray));
	report->lost = g_array_new(FALSE, TRUE, sizeof(struct ftree_pair));
	report->mute = g_array_new(FALSE, TRUE, sizeof(struct ftree_pair));
	report->transfer = SUBNET_NONE;
	return report;
}

void
ftree_report_free(struct ftree_report *report)
{
	if (!report)
		return;
	g_free(report->rank);
	g_free(report->order);
	g_array_unref(report->levels);
	g_array_unref(report->strays);
	g_array_unref(report->lost);
	g_array_unref(report->mute);
	g_free(report);
}

/* Cables that do not join adjacent ranks, each once. */
static void
ftree_report_strays(struct ftree_report *report, const struct tree *t)
{
	const struct graph *g = t->g;
	const struct graph_edge *edge;
	struct ftree_stray stray;
	uint32_t sw, e;

	if (t->n_strays == 0)
		return;
	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			edge = &g->edges[e];
			if (t->place[edge->peer] < t->place[sw] ||
			    t->rank[edge->peer] == t->rank[sw] + 1)
				continue;
			stray.lower = sw;
			stray.upper = edge->peer;
			stray.lower_port = edge->port;
			stray.upper_port = g->edges[edge->back].port;
			g_array_append_val(report->strays, stray);
		}
}

static void
ftree_report_tree(struct ftree_report *report, const struct tree *t)
{
	uint32_t n = t->g->n_switches, sw, r;
	struct ftree_level *level;

	report->n_switches = n;
	report->rank = g_memdup2(t->rank, n);
	report->order = g_memdup2(t->place, n * sizeof(*t->place));
	g_array_set_size(report->levels, t->n_ranks);
	level = (struct ftree_level *)(void *)report->levels->data;
	for (r = 0; r < t->n_ranks; r++) {
		level[r].width = t->levels[r].width;
		level[r].n_cables = t->levels[r].n_cables;
	}
	for (sw = 0; sw < n; sw++) {
		level[t->rank[sw]].n_switches++;
		level[t->rank[sw]].n_hosts += t->g->n_hosts[sw];
	}
	ftree_report_strays(report, t);
}

/* Half of the cables and more are strays, or there is no CA at all. */
static bool
ftree_accept(const struct tree *t, GError **error)
{
	uint32_t n_cables = t->g->n_edges / 2, n_hosts = 0, sw;

	for (sw = 0; sw < t->g->n_switches; sw++)
		n_hosts += t->g->n_hosts[sw];
	if (n_hosts == 0) {
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "not a fat tree: no switch has a CA, so that "
			    "there is nothing to count ranks from");
		return false;
	}
	if (t->n_strays * 2 < n_cables || n_cables == 0)
		return true;
	g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
		    "not a fat tree: %u of %u cables between switches do not "
		    "join a rank to the next, counted from the switches with "
		    "CAs (%u ranks)", t->n_strays, n_cables, t->n_ranks);
	return false;
}

/* Rows, and how far they are. */
struct filling {
	const struct fill *fill;
	struct detour *detour;
	struct transfer *transfer;
	struct engine_memo *memo;	/* NULL: none */
	unsigned n_threads;
	bool all;	/* the rows of all are there, not only the members' */
};

/* Some of the switches. */
struct batch {
	const struct filling *filling;
	const uint32_t *switches;
};

static void
ftree_fill_batch(void *data, uint32_t from, uint32_t to)
{
	const struct batch *batch = data;
	struct row *row = row_new(batch->filling->fill);

	for (; from < to; from++) {
		row_fill(row, batch->switches[from]);
		row_store(row, batch->filling->detour->out);
	}
	row_free(row);
}

static void
ftree_fill_rows(const struct filling *filling, const uint32_t *switches,
		uint32_t n)
{
	struct batch batch = { filling, switches };

	work_share(filling->n_threads, n, ftree_fill_batch, &batch);
}

/* Those who are no members: ways by transfers while the row is at hand. */
static void
ftree_lift_batch(void *data, uint32_t from, uint32_t to)
{
	const struct filling *filling = data;
	const struct transfer *x = filling->transfer;
	struct lft *out = filling->detour->out;
	struct row *row = row_new(filling->fill);
	uint32_t sw;

	for (; from < to; from++) {
		sw = filling->fill->t->climb[from];
		if (transfer_is_member(x, sw))
			continue;
		if (filling->all) {
			transfer_lift(x, sw, lft_row(out, sw));
			continue;
		}
		transfer_lift(x, sw, row_fill(row, sw));
		row_store(row, out);
	}
	row_free(row);
}

/* By cables that are no part of the tree, which takes all rows as they are
 * without. */
static void
ftree_rescue(struct census *c, struct filling *filling)
{
	const struct tree *t = c->t;
	uint32_t dest;

	if (c->report->strays->len == 0)
		return;
	for (dest = 0; dest < t->n_leaves; dest++) {
		if (!c->cut_off[dest])
			continue;
		if (!filling->all)
			ftree_fill_rows(filling, t->climb, t->g->n_switches);
		filling->all = true;
		detour_rescue(filling->detour, dest);
		c->report->n_rescued++;
	}
	if (c->report->n_rescued > 0) {	/* count what is left */
		c->reach = census_reach_all;
		census_each(c, census_mark);
	}
}

/* What is left when all ways are there; so many pairs were missing before. */
static void
ftree_count_rest(struct census *c, const struct transfer *x, uint64_t n_before)
{
	uint32_t n = c->t->g->n_switches, sw;

	if (n_before == 0)
		return;
	c->reach = census_reach_all;
	census_each(c, census_lose);
	c->report->n_detours = n_before - c->n_missing;
	for (sw = 0; sw < n; sw++)
		if (c->report->transfer == SUBNET_NONE)
			c->report->transfer = transfer_root(x, sw);
}

static void
ftree_transfer(struct census *c, struct filling *filling)
{
	struct transfer *x = transfer_new(filling->detour, NULL);
	uint64_t n_before = c->n_missing;

	filling->transfer = x;
	if (!filling->all)
		ftree_fill_rows(filling, x->members, x->n_members);
	transfer_route_members(x, NULL, filling->n_threads);
	work_share(filling->n_threads, c->t->g->n_switches, ftree_lift_batch,
		   filling);
	ftree_count_rest(c, x, n_before);
	if (filling->memo)
		memo_keep_transfers(filling->memo, x);
	transfer_free(x);
}

/* Fills all rows. False if there are ways that ftree_amend.c knows nothing
 * of. */
static bool
ftree_make_tables(struct ftree_report *report, struct filling *filling)
{
	struct detour *detour = filling->detour;
	struct census c;
	bool managed;

	census_init(&c, detour->t, report);
	c.detour = detour;
	census_each(&c, census_mark);
	ftree_rescue(&c, filling);
	ftree_transfer(&c, filling);
	managed = detour_manage(detour);
	census_clear(&c);
	return !managed && report->n_rescued == 0;
}

/* From nothing but what is put in. */
static bool
ftree_run_full(const struct engine_input *in, struct engine_output *out,
	       struct ftree_report *report, GError **error)
{
	struct filling filling = {
		.memo = in->memo, .n_threads = in->n_threads,
	};
	struct tree *t = ftree_grow(in, &report->kept);
	struct hosts *hosts = hosts_new(t, in);
	struct lft *lft = out->lft;
	struct fill *fill;

	tree_assign_slots(t, hosts->usual);
	ftree_report_tree(report, t);
	if (!ftree_accept(t, error)) {
		hosts_free(hosts);
		tree_free(t);
		return false;
	}
	if (in->memo)
		lft = memo_take_arena(in->memo, in->g);
	fill = fill_new(t, hosts);
	filling.fill = fill;
	filling.detour = detour_new(fill, lft, NULL);
	if (ftree_make_tables(report, &filling) && in->memo) {
		memo_keep_tree(in->memo, t, hosts, fill, filling.detour);
	} else {
		fill_free(fill);
		hosts_free(hosts);
		tree_free(t);
	}
	detour_free(filling.detour);
	if (in->memo)
		memo_keep_tables(in->memo, lft, NULL, out);
	return true;
}

/* Makes the tree of the memo that of today; NULL if it is another. */
static struct change *
ftree_regrow(const struct engine_input *in, struct ftree_report *report)
{
	struct engine_memo *m = in->memo;
	g_autofree uint8_t *rank = NULL, *old = NULL;
	uint32_t n = in->g->n_switches;
	struct change *c;

	if (!m || !m->ready || n != m->g->n_switches)
		return NULL;
	rank = ftree_guess_ranks(in);
	if (memcmp(rank, m->t->rank, n) != 0)
		return NULL;
	old = ftree_keep_ranks(in, rank);
	report->kept = old != NULL;
	if (old && memcmp(old, rank, n) != 0)
		return NULL;
	c = change_new(m->t, in->g);
	if (c && rank_settle(m->t, rank))
		g_clear_pointer(&c, change_free);
	return c;
}

/* The same LIDs by the same numbers, and the same slots. */
static bool
ftree_refill(const struct engine_input *in, struct ftree_report *report,
	     struct change *c)
{
	struct engine_memo *m = in->memo;
	struct hosts *h = hosts_new(m->t, in);
	bool same = hosts_equal(h, m->h, in->g->n_switches);

	hosts_free(h);
	if (!same || !change_slots(c, m->t, m->h->usual))
		return false;
	change_good(c, m->f);
	ftree_report_tree(report, m->t);
	return ftree_accept(m->t, NULL);
}

/* The tables of the memo become those of today. False: they cannot. */
static bool
ftree_amend(const struct engine_input *in, struct engine_output *out,
	    struct census *c, const struct change *change)
{
	struct engine_memo *m = in->memo;
	struct lft *lft = memo_copy_last(m);
	struct detour *d = detour_new(m->f, lft, g_steal_pointer(&m->reach));
	struct transfer *x = transfer_new(d, &m->proof);
	struct amend a = {
		.c = change, .f = m->f, .d = d, .x = x, .last = m->last,
		.same_members = memo_knows_transfers(m, x),
		.lifts = m->lifts,
		.changed = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	bool ok;

	amend_tables(&a);
	c->detour = d;
	ftree_count_rest(c, x, c->n_missing);
	ok = !detour_manage(d);
	if (ok) {
		memo_keep_transfers(m, x);
		m->reach = g_steal_pointer(&d->reach);
		memo_keep_tables(m, lft, a.changed, out);
	} else {
		g_array_unref(a.changed);
		m->spare = lft;
	}
	transfer_free(x);
	detour_free(d);
	return ok;
}

/* By the memo. False if it is of no use, then it holds nothing but arenas. */
static bool
ftree_run_again(const struct engine_input *in, struct engine_output *out,
		struct ftree_report *report)
{
	struct engine_memo *m = in->memo;
	struct change *change = ftree_regrow(in, report);
	bool ok = change && ftree_refill(in, report, change);
	struct census c;

	if (ok) {
		census_init(&c, m->t, report);
		census_each(&c, census_mark);
		ok = (report->strays->len == 0 ||
		      !memchr(c.cut_off, 1, m->t->n_leaves)) &&
			ftree_amend(in, out, &c, change);
		census_clear(&c);
	}
	change_free(change);
	if (ok) {
		graph_free(m->g);
		m->g = graph_ref(in->g);
	} else if (m) {
		memo_forget(m);
	}
	return ok;
}

static void
ftree_finish(const struct graph *g, struct engine_output *out,
	     const struct ftree_report *report)
{
	uint32_t sw;

	out->ranks = g_new(uint32_t, g->n_switches);
	for (sw = 0; sw < g->n_switches; sw++)
		out->ranks[sw] = ORDER_LEAF - report->rank[sw];
	if (g->n_edges)
		out->fit = 1 - (double)report->strays->len /
			(g->n_edges / 2);
	ftree_note_report(g, report, out->notes);
}

static bool
ftree_run(const struct engine_input *in, struct engine_output *out,
	  struct ftree_report **report, GError **error)
{
	(*report)->amended = ftree_run_again(in, out, *report);
	if ((*report)->amended)
		return true;
	ftree_report_free(*report);
	*report = ftree_report_new();
	return ftree_run_full(in, out, *report, error);
}

bool
ftree_route(const struct engine_input *in, struct engine_output *out,
	    struct ftree_report **report, GError **error)
{
	struct ftree_report *found = ftree_report_new();
	const struct graph *g = in->g;
	bool ok = true;

	g_assert(in->memo ? !out->lft :
		 out->lft->n_switches == g->n_switches &&
		 out->lft->top >= g->top);
	/* Two CAs back to back: nothing to route. */
	if (g->n_switches > 0) {
		ok = ftree_run(in, out, &found, error);
		if (ok)
			ftree_finish(g, out, found);
	} else if (in->memo) {
		out->lft = lft_new(0, g->top);
	}
	if (report)
		*report = found;
	else
		ftree_report_free(found);
	return ok;
}

static bool
ftree_compute(const struct engine_input *in, struct engine_output *out,
	      GError **error)
{
	return ftree_route(in, out, NULL, error);
}

const struct engine engine_ftree = {
	.name = "ftree",
	.summary = "fat trees, also damaged: by formula, free of credit "
		   "loops, all shifts without congestion",
	.deadlock_free = true,
	.compute = ftree_compute,
	.memo_new = memo_new,
	.memo_free = memo_free,
};
