// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the laboratory found, for people: one row as a report with a line of
 * explanation to each figure, several as a table with a legend.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sm/tools/route_lab.h"

#define MAX_NOTES	20u
#define LABEL		"%-18s "

static double
percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void
put_notes(const char *label, const GPtrArray *notes, GString *out)
{
	for (guint i = 0; notes && i < notes->len; i++) {
		if (i == MAX_NOTES) {
			g_string_append_printf(out, LABEL "... and %u more\n",
					       "", notes->len - i);
			return;
		}
		g_string_append_printf(out, LABEL "%s\n", label,
				       (const char *)notes->pdata[i]);
		label = "";
	}
}

static void
put_fabric(const struct lab *lab, GString *out)
{
	const struct lab_wish *w = lab->wish;

	g_string_append_printf(out, LABEL "%s\n", "fabric", w->fabric);
	if (w->fail_links || w->fail_switches)
		g_string_append_printf(out, LABEL "taken away: %.1f%% of the "
				       "cables between switches, %.1f%% of "
				       "the switches\n", "",
				       w->fail_links / 10.0,
				       w->fail_switches / 10.0);
	g_string_append_printf(out, LABEL "%u switches, %u CA ports, %u "
			       "cables between switches, LIDs up to %u\n", "",
			       lab->g->n_switches, lab->n_hosts,
			       lab->g->n_edges / 2, lab->lids->top);
	g_string_append_printf(out, LABEL "seed %" PRIu64 ", %u thread%s\n",
			       "", w->seed, w->threads,
			       w->threads == 1 ? "" : "s");
	put_notes("note", lab->notes, out);
}

static void
put_loop(const struct lab *lab, const struct channels_result *loop,
	 const char *of, GString *out)
{
	g_autofree char *cycle = channels_print(lab->g, loop);

	if (!loop->n_looped)
		return;
	g_string_append_printf(out, LABEL "CREDIT LOOP%s: %u of %u channels "
			       "wait in circles, traffic can stop for good\n",
			       "", of, loop->n_looped, loop->n_channels);
	g_string_append_printf(out, LABEL "for example %s\n", "", cycle);
}

/* Which traffic closes the circles: that of hosts, or only with that of the
 * switches. */
static void
put_loop_share(const struct lab_row *row, GString *out)
{
	if (row->verified.channels.n_looped)
		g_string_append_printf(out, LABEL "of traffic between CA "
				       "ports alone: %u channels\n", "",
				       row->looped_hosts);
}

static void
put_first_bad(const struct lab *lab, const struct verify_reach *reach,
	      GString *out)
{
	g_autofree char *name = NULL;

	if (reach->lid == LID_NONE)
		return;
	name = graph_switch_name(lab->g, reach->sw);
	g_string_append_printf(out, LABEL "the first: from %s to LID %u\n", "",
			       name, reach->lid);
}

static void
put_reach(const struct lab *lab, const struct verify_reach *reach,
	  GString *out)
{
	if (reach->looping || reach->astray)
		g_string_append_printf(out, LABEL "ASTRAY: of all ways from a "
				       "switch to a LID %" PRIu64 " go round "
				       "and %" PRIu64 " end elsewhere\n", "",
				       reach->looping, reach->astray);
	if (reach->lost_hosts || reach->lost_mixed)
		g_string_append_printf(out, LABEL "UNREACHABLE: %" PRIu64
				       " pairs of CA ports, %" PRIu64 " of a "
				       "CA port and a switch\n", "",
				       reach->lost_hosts, reach->lost_mixed);
	put_first_bad(lab, reach, out);
	if (reach->cut_off)
		g_string_append_printf(out, LABEL "no cables lead from %"
				       PRIu64 " switches to LIDs: not counted "
				       "as unreachable\n", "",
				       reach->cut_off);
}

static void
put_verdict(const struct lab *lab, const struct lab_row *row, GString *out)
{
	g_string_append_printf(out, LABEL "%s\n", "verdict",
			       row->verdict == LAB_GOOD ? "GOOD: all pairs are "
			       "reached, no credit loop" :
			       lab_verdict_name(row->verdict));
	put_loop(lab, &row->verified.channels, "", out);
	put_loop_share(row, out);
	if (!row->verified.channels.n_looped)
		put_loop(lab, &row->together, " of old and new tables together",
			 out);
	put_reach(lab, &row->verified.reach, out);
}

static void
put_paths(const struct metrics_paths *p, GString *out)
{
	g_string_append_printf(out, LABEL "mean %.3f, max %u   channels from "
			       "CA port to CA port, 0 on one switch\n",
			       "path length", p->mean, p->max);
	for (uint32_t i = 0; i <= p->max; i++)
		if (p->pairs[i])
			g_string_append_printf(out, LABEL "%6u: %" PRIu64
					       " pairs (%.1f%%)\n", "", i,
					       p->pairs[i],
					       percent(p->pairs[i],
						       p->arrived));
	g_string_append_printf(out, LABEL "%.3f%% (%" PRIu64 " pairs)   longer "
			       "than the cables would allow\n", "not minimal",
			       percent(p->longer, p->arrived), p->longer);
}

static void
put_figures(const struct lab *lab, const struct lab_row *row, GString *out)
{
	const struct metrics_congestion *c = &row->permutations;

	g_string_append_printf(out, LABEL "max %" PRIu64 ", mean %.1f   flows "
			       "on a channel if every CA port sends to every "
			       "other; with any tables the max is at least "
			       "%.0f\n", "all-to-all load", row->load.max,
			       row->load.mean, ceil(lab->bound - 1e-6));
	if (row->mean_trees > 0 || row->missed)
		g_string_append_printf(out, LABEL "%u missed; max %u, mean "
			       "%.2f   trees on a cable; a group of all CA "
			       "ports and %u of %u\n", "multicast members",
			       row->missed, row->max_trees, row->mean_trees,
			       LAB_GROUPS, LAB_MEMBERS);
	if (c->n > 0)
		g_string_append_printf(out,
				       LABEL
				       "mean %.3f, max %u   flows "
				       "on the busiest channel; %u random "
				       "permutations\n" LABEL
				       "%.1f%%   of full "
				       "bandwidth when a random half sends to "
				       "the other; %u times\n",
				       "permutations", c->mean, c->max, c->n,
				       "bisection", 100 * row->bisection, c->n);
	c = &row->shifts;
	if (c->n > 0)
		g_string_append_printf(out, LABEL "mean %.3f, max %u   the "
				       "same if CA port i sends to i + k, in "
				       "the order of the fabric; %u of %u "
				       "shifts, the worst k = %u\n", "shifts",
				       c->mean, c->max, c->n, c->n_all,
				       c->worst);
	put_paths(&row->paths, out);
	if (lab->before)
		g_string_append_printf(out, LABEL "%" PRIu64 " entries in %"
				       PRIu64 " of %" PRIu64 " blocks of 64 "
				       "differ from the tables of before\n",
				       "churn", row->churn.entries,
				       row->churn.blocks,
				       row->churn.all_blocks);
}

static void
put_report(const struct lab *lab, const struct lab_row *row, GString *out)
{
	put_fabric(lab, out);
	g_string_append_printf(out, LABEL "%s%s%s\n", "tables", row->name,
			       row->summary ? ": " : "",
			       row->summary ? row->summary : "");
	if (row->refused) {
		g_string_append_printf(out, LABEL "REFUSED: %s\n", "verdict",
				       row->refused);
		return;
	}
	if (row->compute_ms >= 0)
		g_string_append_printf(out, LABEL "%.2f ms to compute, %.2f "
				       "ms to verify\n", "time",
				       row->compute_ms, row->verify_ms);
	put_notes("remarks", row->notes, out);
	put_verdict(lab, row, out);
	put_figures(lab, row, out);
}

static void
put_line(const struct lab *lab, const struct lab_row *row, GString *out)
{
	const struct verify_reach *reach = &row->verified.reach;

	if (row->refused) {
		g_string_append_printf(out, "%-10.10s refused: %s\n",
				       row->name, row->refused);
		return;
	}
	g_string_append_printf(out, "%-10.10s ", row->name);
	if (row->compute_ms >= 0)
		g_string_append_printf(out, "%8.2f", row->compute_ms);
	else
		g_string_append_printf(out, "%8s", "-");
	g_string_append_printf(out, " %-11s %7" PRIu64 " %6u %7" PRIu64
			       " %8.1f %6.2f %6.2f %4u %5.1f %6.3f %6.2f",
			       lab_verdict_name(row->verdict),
			       reach->lost_hosts + reach->lost_mixed,
			       row->verified.channels.n_looped, row->load.max,
			       row->load.mean, row->permutations.mean,
			       row->shifts.mean, row->shifts.max,
			       100 * row->bisection, row->paths.mean,
			       percent(row->paths.longer,
				       row->paths.arrived));
	if (lab->before)
		g_string_append_printf(out, " %8" PRIu64, row->churn.blocks);
	g_string_append_c(out, '\n');
}

static const char legend[] =
	"ms       to compute the tables\n"
	"lost     pairs that have cables but no way: CA port to CA port, CA "
	"port to switch\n"
	"         or back\n"
	"looped   channels (directions of cables) in credit loops: traffic can "
	"stop there;\n"
	"         data to and from switches (port 0) counts, all on one VL\n"
	"a2a      flows on a channel if every CA port sends to every other\n"
	"perm     flows on the busiest channel, random permutations\n"
	"shift    the same if CA port i sends to i + k, in the order of the "
	"fabric\n"
	"bis%     share of full bandwidth when a random half sends to the "
	"other\n"
	"hops     mean channels from CA port to CA port\n"
	"long%    pairs whose way is longer than the cables would allow\n";

static void
put_table(const struct lab *lab, const GPtrArray *rows, GString *out)
{
	const struct lab_row *row;
	guint i;

	put_fabric(lab, out);
	g_string_append_printf(out, "\n%-10s %8s %-11s %7s %6s %7s %8s %6s "
			       "%6s %4s %5s %6s %6s%s\n", "tables", "ms",
			       "verdict", "lost", "looped", "a2a", "a2a",
			       "perm", "shift", "", "bis%", "hops", "long%",
			       lab->before ? "   blocks" : "");
	g_string_append_printf(out, "%-10s %8s %-11s %7s %6s %7s %8s %6s %6s "
			       "%4s %5s %6s %6s%s\n", "", "", "", "", "", "max",
			       "mean", "mean", "mean", "max", "", "mean", "",
			       lab->before ? "  changed" : "");
	for (i = 0; i < rows->len; i++)
		put_line(lab, g_ptr_array_index(rows, i), out);
	g_string_append_c(out, '\n');
	for (i = 0; i < rows->len; i++) {
		row = g_ptr_array_index(rows, i);
		if (row->refused || row->verdict == LAB_GOOD)
			continue;
		g_string_append_printf(out, LABEL "%s\n", row->name,
				       lab_verdict_name(row->verdict));
		put_loop(lab, &row->verified.channels, "", out);
		put_loop_share(row, out);
		if (!row->verified.channels.n_looped)
			put_loop(lab, &row->together,
				 " of old and new tables together", out);
		put_reach(lab, &row->verified.reach, out);
	}
	g_string_append_printf(out, "\n%s", legend);
	for (i = 0; i < rows->len; i++) {
		row = g_ptr_array_index(rows, i);
		if (row->refused)
			continue;
		g_string_append_printf(out, "         %u permutations and "
				       "bisections, %u of %u shifts\n",
				       row->permutations.n, row->shifts.n,
				       row->shifts.n_all);
		break;
	}
}

void
lab_print_text(const struct lab *lab, const GPtrArray *rows, GString *out)
{
	if (rows->len == 1)
		put_report(lab, g_ptr_array_index(rows, 0), out);
	else
		put_table(lab, rows, out);
}
