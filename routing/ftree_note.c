// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the fat-tree engine has to tell, in words.
 *
 * Purpose. Who reads the log should learn what of his fabric is no fat tree,
 * by names that he can walk to, and what came of it. A whole tree is no news:
 * then there is not a line.
 *
 * Flow. One line a matter, then the first few cases one by one.
 */
#include "routing/ftree.h"

#define MAX_NAMED	10u

static void
note_strays(const struct graph *g, const struct ftree_report *report,
	    GPtrArray *notes)
{
	const struct ftree_stray *stray;
	uint32_t i;

	if (report->strays->len == 0)
		return;
	g_ptr_array_add(notes, g_strdup_printf(
		"%u of %u cables between switches do not join a rank to the "
		"next; they are used only where there is no other way",
		report->strays->len, g->n_edges / 2));
	for (i = 0; i < report->strays->len && i < MAX_NAMED; i++) {
		stray = &g_array_index(report->strays, struct ftree_stray, i);
		g_autofree char *a = graph_switch_name(g, stray->lower);
		g_autofree char *b = graph_switch_name(g, stray->upper);

		g_ptr_array_add(notes, g_strdup_printf(
			"no part of the tree: %s port %u (rank %u) to %s "
			"port %u (rank %u)", a, stray->lower_port,
			report->rank[stray->lower], b, stray->upper_port,
			report->rank[stray->upper]));
	}
}

static void
note_help(const struct graph *g, const struct ftree_report *report,
	  GPtrArray *notes)
{
	g_autofree char *name = NULL;

	if (report->n_rescued > 0)
		g_ptr_array_add(notes, g_strdup_printf(
			"%u switches with CAs are routed over cables that are "
			"no part of the tree", report->n_rescued));
	if (report->n_detours == 0)
		return;
	name = graph_switch_name(g, report->transfer);
	g_ptr_array_add(notes, g_strdup_printf(
		"%" G_GUINT64_FORMAT " pairs of switches have no way up and "
		"then down; what CAs send or get between them goes down and "
		"up again, at %s and above first", report->n_detours, name));
}

static void
note_pairs(const struct graph *g, const GArray *pairs, GPtrArray *notes)
{
	const struct ftree_pair *pair;
	uint32_t i;

	for (i = 0; i < pairs->len && i < MAX_NAMED; i++) {
		pair = &g_array_index(pairs, struct ftree_pair, i);
		g_autofree char *from = graph_switch_name(g, pair->from);
		g_autofree char *to = graph_switch_name(g, pair->to);

		g_ptr_array_add(notes, g_strdup_printf(
			"no safe way from %s to %s", from, to));
	}
}

void
ftree_note_report(const struct graph *g, const struct ftree_report *report,
		  GPtrArray *notes)
{
	note_strays(g, report, notes);
	note_help(g, report, notes);
	if (report->n_lost > 0)
		g_ptr_array_add(notes, g_strdup_printf(
			"%" G_GUINT64_FORMAT " pairs of CA ports have no way "
			"that is safe from deadlock", report->n_lost));
	note_pairs(g, report->lost, notes);
	if (report->n_mute > 0)
		g_ptr_array_add(notes, g_strdup_printf(
			"%" G_GUINT64_FORMAT " pairs of a CA port and a "
			"switch's port 0 have no way that is safe from "
			"deadlock", report->n_mute));
	note_pairs(g, report->mute, notes);
}
