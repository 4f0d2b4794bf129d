// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The report of the laboratory. As text: one row is a report with a line of
 * explanation to each figure, several rows are a table with a legend. As JSON:
 * the keys are described in minism-route(1), and keep their names.
 */
#include <inttypes.h>
#include <math.h>

#include "lab/route_lab.h"
#include "topology/report.h"
#include "topology/text.h"

#define MAX_NOTES	20u
#define LABEL		"%-18s "
#define INDENT		"\n     "

static double
percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void
report_notes(struct text_report *r, const char *label, const GPtrArray *notes)
{
	guint n = notes ? notes->len : 0;

	report_open(r, "notes", '[');
	for (guint i = 0; i < n && (r->as_json || i < MAX_NOTES); i++) {
		report_say(r, LABEL, i ? "" : label);
		report_utf8(r, NULL, notes->pdata[i], "\n");
	}
	if (n > MAX_NOTES)
		report_say(r, LABEL "... and %u more\n", "", n - MAX_NOTES);
	report_close(r, ']');
}

static void
report_fabric(struct text_report *r, const struct route_lab *lab)
{
	const struct lab_wish *w = lab->wish;
	double links = w->fail_links / 10.0, switches = w->fail_switches / 10.0;

	r->gap = "\n  ";
	report_open(r, "fabric", '{');
	report_say(r, LABEL, "fabric");
	report_utf8(r, "name", w->fabric, "\n");
	if (w->fail_links || w->fail_switches)
		report_say(r, LABEL "taken away: %.1f%% of the cables between "
			   "switches, %.1f%% of the switches\n", "", links,
			   switches);
	report_say(r, LABEL, "");
	report_count(r, "switches", lab->g->n_switches, "switch", ", ");
	report_count(r, "ca_ports", lab->n_hosts, "CA port", ", ");
	report_count(r, "cables", lab->g->n_edges / 2, "cable",
		     " between switches, LIDs up to ");
	report_number(r, "top_lid", lab->lids->top, "\n");
	report_real(r, "failed_links_percent", links, 1, NULL);
	report_real(r, "failed_switches_percent", switches, 1, NULL);
	report_say(r, LABEL "seed ", "");
	report_number(r, "seed", w->seed, ", ");
	report_count(r, "threads", w->threads, "thread", "\n");
	report_notes(r, "note", lab->notes);
	report_close(r, '}');
}

/* --- problems, in words --- */

static void
say_loop(struct text_report *r, const struct route_lab *lab,
	 const struct channels_result *loop, const char *of)
{
	g_autofree char *cycle = channels_print(lab->g, loop);

	if (!loop->n_looped)
		return;
	report_say(r, LABEL "CREDIT LOOP%s: %u of %u channels are in cyclic "
		   "dependencies; traffic can deadlock\n", "", of, loop->n_looped,
		   loop->n_channels);
	report_say(r, LABEL "for example %s\n", "", cycle);
}

static void
say_reach(struct text_report *r, const struct route_lab *lab,
	  const struct verify_reach *reach)
{
	g_autofree char *name = NULL;

	if (reach->looping || reach->astray)
		report_say(r,
			   LABEL "ASTRAY: of all ways from a switch to a LID "
			   "%" PRIu64 " go round and %" PRIu64 " end "
			   "elsewhere\n", "", reach->looping, reach->astray);
	if (reach->lost_hosts || reach->lost_mixed)
		report_say(r, LABEL "UNREACHABLE: %" PRIu64 " pair%s of CA "
			   "ports, %" PRIu64 " of a CA port and a switch\n",
			   "", reach->lost_hosts,
			   text_plural(reach->lost_hosts), reach->lost_mixed);
	if (reach->lid != LID_NONE) {
		name = graph_switch_name(lab->g, reach->sw);
		report_say(r, LABEL "the first: from %s to LID %u\n", "", name,
			   reach->lid);
	}
	if (reach->cut_off)
		report_say(r, LABEL "no cables lead from %" PRIu64 " switches "
			   "to LIDs: not counted as unreachable\n", "",
			   reach->cut_off);
}

/* And whether the traffic of hosts alone has credit loops. */
static void
say_verdict(struct text_report *r, const struct route_lab *lab,
	    const struct lab_row *row, const char *label, const char *verdict)
{
	const struct channels_result *channels = &row->verified.channels;

	report_say(r, LABEL "%s\n", label, verdict);
	say_loop(r, lab, channels, "");
	if (channels->n_looped)
		report_say(r, LABEL "of traffic between CA ports alone: %u "
			   "channels\n", "", row->looped_hosts);
	else
		say_loop(r, lab, &row->together,
			 " of old and new tables together");
	say_reach(r, lab, &row->verified.reach);
}

/* --- a row --- */

static void
json_cycle(struct text_report *j, const struct route_lab *lab, const char *key,
	   const struct channels_result *channels)
{
	const struct graph *g = lab->g;
	const GArray *cycle = channels->cycle;

	report_open(j, key, '[');
	for (guint i = 0; cycle && i < cycle->len; i++) {
		const struct channel_turn *turn =
			&g_array_index(cycle, struct channel_turn, i);
		const struct graph_edge *edge = &g->edges[turn->edge];
		g_autofree char *from =
			graph_switch_name(g, g->edges[edge->back].peer);
		g_autofree char *to = graph_switch_name(g, edge->peer);

		report_open(j, NULL, '{');
		report_utf8(j, "from", from, NULL);
		report_number(j, "port", edge->port, NULL);
		report_utf8(j, "to", to, NULL);
		report_number(j, "lid", turn->lid, NULL);
		report_close(j, '}');
	}
	report_close(j, ']');
}

static void
json_verified(struct text_report *j, const struct route_lab *lab,
	      const struct lab_row *row)
{
	const struct verify_reach *reach = &row->verified.reach;
	const struct channels_result *channels = &row->verified.channels;

	j->gap = INDENT;
	report_real(j, "verify_ms", row->verify_ms, 0, NULL);
	report_number(j, "lost_ca_pairs", reach->lost_hosts, NULL);
	report_number(j, "lost_mixed_pairs", reach->lost_mixed, NULL);
	report_number(j, "looping", reach->looping, NULL);
	report_number(j, "astray", reach->astray, NULL);
	report_number(j, "cut_off", reach->cut_off, NULL);
	j->gap = INDENT;
	report_number(j, "channels", channels->n_channels, NULL);
	report_number(j, "dependencies", channels->n_dependencies, NULL);
	report_number(j, "looped_channels", channels->n_looped, NULL);
	report_number(j, "looped_channels_ca_only", row->looped_hosts, NULL);
	json_cycle(j, lab, "cycle", channels);
}

/* The mean and the max, or one figure, followed by `after` and of shifts by how
 * many they were; nothing in text if there is none. */
static void
put_congestion(struct text_report *r, const char *key, const char *label,
	       const struct metrics_congestion *c, const char *after)
{
	r->gap = INDENT;
	report_open(r, key, '{');
	if (c->n > 0)
		report_say(r, c->n > 1 ? LABEL "mean " : LABEL, label);
	report_real(r, "mean", c->mean, 3, c->n > 1 ? ", max " : NULL);
	report_number(r, "max", c->max, c->n ? after : NULL);
	if (c->n > 0 && c->n_all > 0)
		report_say(r, "%u of %u shifts, the worst k = %u\n", c->n,
			   c->n_all, c->worst);
	report_number(r, "n", c->n, NULL);
	report_number(r, "n_all", c->n_all, NULL);
	report_number(r, "worst", c->worst, NULL);
	report_number(r, "lost", c->lost, NULL);
	report_close(r, '}');
}

static void
put_rails(struct text_report *r, const struct traffic *t)
{
	r->gap = INDENT;
	report_open(r, "rails", '{');
	report_say(r, LABEL, "rails");
	report_number(r, "rails", t->n_rails, " of ");
	report_number(r, "nodes", t->n_nodes, " nodes\n");
	put_congestion(r, "shifts", "  shifts", &t->of[TRAFFIC_RAILS],
		       "   flows on the busiest channel if node i sends to i + "
		       "k on each rail; ");
	put_congestion(r, "ring", "  ring", &t->of[TRAFFIC_RING],
		       "   the same if each sends to the next one\n");
	put_congestion(r, "trees", "  trees", &t->of[TRAFFIC_TREES],
		       "   half flows of two trees on each rail; 4 on a "
		       "node's cable\n");
	report_close(r, '}');
}

static void
put_patterns(struct text_report *r, const struct traffic *t)
{
	const struct metrics_congestion *p = &t->of[TRAFFIC_PERMUTATIONS];
	double bisection = t->of[TRAFFIC_BISECTIONS].mean;

	put_congestion(r, "permutations", "permutations", p,
		       "   flows on the busiest channel; ");
	if (p->n > 0)
		report_say(r, "%u random permutations\n" LABEL "%.1f%%   of "
			   "full bandwidth when a random half sends to the "
			   "other; %u times\n", p->n, "bisection",
			   100 * bisection, p->n);
	report_real(r, "bisection", bisection, 3, NULL);
	put_congestion(r, "shifts", "shifts", &t->of[TRAFFIC_SHIFTS],
		       "   the same if CA port i sends to i + k, in the order of "
		       "the fabric; ");
	put_rails(r, t);
}

static void
put_paths(struct text_report *r, const struct metrics_paths *p)
{
	r->gap = INDENT;
	report_open(r, "paths", '{');
	report_say(r, LABEL "mean ", "path length");
	report_real(r, "mean", p->mean, 3, ", max ");
	report_number(r, "max", p->max, "   channels from CA port to CA port, "
		      "0 on one switch\n");
	report_number(r, "arrived", p->arrived, NULL);
	report_number(r, "lost", p->lost, NULL);
	report_open(r, "pairs", '[');
	for (uint32_t i = 0; i <= p->max; i++) {
		const char *after = p->pairs[i] ? " pairs (" : NULL;

		if (after)
			report_say(r, LABEL "%6u: ", "", i);
		report_number(r, NULL, p->pairs[i], after);
		if (after)
			report_say(r, "%.1f%%)\n", percent(p->pairs[i],
							   p->arrived));
	}
	report_close(r, ']');
	report_say(r, LABEL "%.3f%% (", "not minimal",
		   percent(p->longer, p->arrived));
	report_number(r, "longer", p->longer,
		      " pairs)   longer than the cables would allow\n");
	report_close(r, '}');
}

static void
put_figures(struct text_report *r, const struct route_lab *lab,
	    const struct lab_row *row)
{
	bool groups = row->mean_trees > 0 || row->missed;

	r->gap = INDENT;
	report_open(r, "all_to_all", '{');
	report_say(r, LABEL "max ", "all-to-all load");
	report_real(r, "max", row->load.worst, 0, ", mean ");
	report_real(r, "mean", row->load.mean, 1, "   flows on a channel if "
		    "every CA port sends to every other (max: on a cable of "
		    "half the rate one is two); with any tables the max is at "
		    "least ");
	report_say(r, "%.0f\n", MAX(ceil(lab->bound - 1e-6), 0.0));
	report_number(r, "lost", row->load.lost, NULL);
	report_real(r, "bound", lab->bound, 0, NULL);
	report_close(r, '}');
	report_open(r, "multicast", '{');
	if (groups)
		report_say(r, LABEL, "multicast members");
	report_number(r, "missed", row->missed,
		      groups ? " missed; max " : NULL);
	report_number(r, "max", row->max_trees, groups ? ", mean " : NULL);
	report_real(r, "mean", row->mean_trees, 2, groups ? "   trees on a "
		    "cable; a group of all CA ports and " : NULL);
	if (groups)
		report_say(r, "%u of %u\n", LAB_GROUPS, LAB_MEMBERS);
	report_close(r, '}');
	put_patterns(r, &row->traffic);
	put_paths(r, &row->paths);
	if (!lab->before)
		return;
	r->gap = INDENT;
	report_open(r, "churn", '{');
	report_say(r, LABEL, "churn");
	report_number(r, "entries", row->churn.entries, " entries in ");
	report_number(r, "blocks", row->churn.blocks, " of ");
	report_number(r, "all_blocks", row->churn.all_blocks,
		      " blocks of 64 differ from the tables of before\n");
	report_close(r, '}');
	report_number(r, "together_looped_channels", row->together.n_looped,
		      NULL);
	if (r->as_json)
		json_cycle(r, lab, "together_cycle", &row->together);
}

static void
put_row(struct text_report *r, const struct route_lab *lab,
	const struct lab_row *row)
{
	r->gap = "\n    ";
	report_open(r, NULL, '{');
	report_say(r, LABEL, "tables");
	report_utf8(r, "tables", row->name, "");
	report_say(r, "%s%s\n", row->summary ? ": " : "",
		   row->summary ? row->summary : "");
	report_text(r, "verdict", lab_verdict_name(row->verdict), NULL);
	if (row->refused) {
		report_say(r, LABEL "REFUSED: ", "verdict");
		report_utf8(r, "refused", row->refused, "\n");
		report_close(r, '}');
		return;
	}
	if (row->compute_ms >= 0) {
		report_say(r, LABEL, "time");
		report_real(r, "compute_ms", row->compute_ms, 2,
			    " ms of CPU to compute, ");
		report_say(r, "%.2f ms to verify\n", row->verify_ms);
	}
	report_notes(r, "remarks", row->notes);
	say_verdict(r, lab, row, "verdict", row->verdict == LAB_GOOD ?
		    "GOOD: all pairs are reached, no credit loop" :
		    lab_verdict_name(row->verdict));
	if (r->as_json)
		json_verified(r, lab, row);
	put_figures(r, lab, row);
	report_close(r, '}');
}

/* --- several rows, as text --- */

static const char legend[] =
	"ms       of CPU to compute the tables\n"
	"lost     pairs that have cables but no way: CA port to CA port, CA "
	"port to switch\n"
	"         or back\n"
	"looped   channels (directions of cables) in credit loops: traffic can "
	"stop there;\n"
	"         data to and from switches (port 0) counts, all on one VL\n"
	"a2a      flows on a channel if every CA port sends to every other; max: "
	"on a\n"
	"         cable of half the rate one is two\n"
	"perm     flows on the busiest channel, random permutations\n"
	"shift    the same if CA port i sends to i + k, in the order of the "
	"fabric\n"
	"rails    the same if node i sends to i + k on each rail (mean), or "
	"to the next\n"
	"ring     one; tree: half flows of two trees on each rail, 4 on a "
	"node's cable\n"
	"bis%     share of full bandwidth when a random half sends to the "
	"other\n"
	"hops     mean channels from CA port to CA port\n"
	"long%    pairs whose way is longer than the cables would allow\n";

static void
say_line(struct text_report *r, const struct route_lab *lab,
	 const struct lab_row *row)
{
	const struct verify_reach *reach = &row->verified.reach;
	const struct metrics_congestion *t = row->traffic.of;
	char ms[32] = "-";

	if (row->refused) {
		report_say(r, "%-10.10s refused: %s\n", row->name,
			   row->refused);
		return;
	}
	if (row->compute_ms >= 0)
		g_snprintf(ms, sizeof(ms), "%.2f", row->compute_ms);
	report_say(r, "%-10.10s %8s %-11s %7" PRIu64 " %6u %7.0f %8.1f "
		   "%6.2f %6.2f %4u %6.2f %4u %4u %5.1f %6.3f %6.2f",
		   row->name, ms,
		   lab_verdict_name(row->verdict),
		   reach->lost_hosts + reach->lost_mixed,
		   row->verified.channels.n_looped, row->load.worst,
		   row->load.mean, t[TRAFFIC_PERMUTATIONS].mean,
		   t[TRAFFIC_SHIFTS].mean, t[TRAFFIC_SHIFTS].max,
		   t[TRAFFIC_RAILS].mean, t[TRAFFIC_RING].max,
		   t[TRAFFIC_TREES].max, 100 * t[TRAFFIC_BISECTIONS].mean,
		   row->paths.mean,
		   percent(row->paths.longer, row->paths.arrived));
	if (lab->before)
		report_say(r, " %8" PRIu64, row->churn.blocks);
	report_say(r, "\n");
}

static void
say_table(struct text_report *r, const struct route_lab *lab,
	  const GPtrArray *rows)
{
	const struct lab_row *row, *good = NULL;

	static const char line[] = "%-10s %8s %-11s %7s %6s %7s %8s %6s %6s "
		"%4s %6s %4s %4s %5s %6s %6s%s\n";

	report_say(r, "\n");
	report_say(r, line, "tables", "ms", "verdict", "lost", "looped",
		   "a2a", "a2a", "perm", "shift", "", "rails", "ring", "tree",
		   "bis%", "hops", "long%", lab->before ? "   blocks" : "");
	report_say(r, line, "", "", "", "", "", "max", "mean", "mean",
		   "mean", "max", "mean", "", "", "", "mean", "",
		   lab->before ? "  changed" : "");
	for (guint i = 0; i < rows->len; i++)
		say_line(r, lab, rows->pdata[i]);
	report_say(r, "\n");
	for (guint i = 0; i < rows->len; i++) {
		row = rows->pdata[i];
		if (row->refused)
			continue;
		if (!good)
			good = row;
		if (row->verdict != LAB_GOOD)
			say_verdict(r, lab, row, row->name,
				    lab_verdict_name(row->verdict));
	}
	report_say(r, "\n%s", legend);
	if (good)
		report_say(r, "         %u permutations and bisections, %u of "
			   "%u shifts\n",
			   good->traffic.of[TRAFFIC_PERMUTATIONS].n,
			   good->traffic.of[TRAFFIC_SHIFTS].n,
			   good->traffic.of[TRAFFIC_SHIFTS].n_all);
}

void
lab_print(const struct route_lab *lab, const GPtrArray *rows, bool as_json,
	  GString *out)
{
	struct text_report r = {
		.out = out, .space = " ", .as_json = as_json,
	};

	report_open(&r, NULL, '{');
	report_fabric(&r, lab);
	if (!as_json && rows->len != 1) {
		say_table(&r, lab, rows);
		return;
	}
	r.gap = "\n  ";
	report_open(&r, "results", '[');
	for (guint i = 0; i < rows->len; i++)
		put_row(&r, lab, rows->pdata[i]);
	if (!as_json)
		return;
	g_string_append(out, "\n  ");
	report_close(&r, ']');
	g_string_append_c(out, '\n');
	report_close(&r, '}');
	g_string_append_c(out, '\n');
}
