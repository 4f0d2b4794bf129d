// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * OpenMetrics text (version 1.0), for Prometheus' node_exporter (textfile) or
 * minism-web. Most samples are the manager's counters, under their own names; a
 * family is those that begin with its name, or what its function writes.
 */
#include <string.h>

#include "tools/show.h"
#include "topology/each.h"
#include "topology/expected.h"

#define NUMBER "%" G_GUINT64_FORMAT

struct family {
	const char *name, *type, *help;
	void (*put)(const struct view_lines *lines, const struct family *f,
		    GString *out);
	enum view_kind kind;	/* of put_word(): a word of the first line */
	unsigned word;
};

/* As the text of a label: UTF-8; backslash and quote are escaped. given NULL: "";
 * g_free. */
static char *
openmetrics_label(const char *given)
{
	g_autofree char *valid = g_utf8_make_valid(given ? given : "", -1);
	GString *out = g_string_new(NULL);

	for (const char *text = valid; *text; text++)
		if (*text == '\\' || *text == '"')
			g_string_append_printf(out, "\\%c", *text);
		else
			g_string_append_c(out, *text == '\n' ? ' ' : *text);
	return g_string_free(out, FALSE);
}

/* With a point, whatever the locale. */
static void
put_seconds(GString *out, const char *name, uint64_t us)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(out, "%s %s\n", name,
		g_ascii_formatd(text, sizeof(text), "%.6f",
				(double)us / G_USEC_PER_SEC));
}

static void
write_number(GString *out, const struct family *f, const char *labels,
	     uint64_t n)
{
	g_string_append_printf(out, "%s%s " NUMBER "\n", f->name, labels, n);
}

static void
put_counts(const struct view_lines *lines, const struct family *f,
	   GString *out)
{
	size_t len = strlen(f->name);

	EACH_PTR(const struct view_text, line, lines->of[VIEW_COUNT]) {
		const char *rest;

		if (!line->text || strncmp(line->text, f->name, len) != 0)
			continue;
		rest = line->text + len;
		if (g_str_has_prefix(rest, "_sum"))
			put_seconds(out, line->text, line->n[COUNT_VALUE]);
		else if (!*rest || *rest == '{' ||
			 g_str_has_prefix(rest, "_total") ||
			 g_str_has_prefix(rest, "_bucket") ||
			 g_str_has_prefix(rest, "_count"))
			g_string_append_printf(out, "%s " NUMBER "\n",
					       line->text,
					       line->n[COUNT_VALUE]);
	}
}

/* ---- families of which the samples are made here ---- */

static void
put_info(const struct view_lines *lines, const struct family *f, GString *out)
{
	const struct view_text *head = view_lines_first(lines, VIEW_HEAD);
	g_autofree char *port =
		openmetrics_label(view_lines_first(lines, VIEW_MANAGER)->text);
	const char *version = head->text ? strchr(head->text, ' ') : NULL;

	g_string_append_printf(out, "minism_info{port=\"%s\",guid=\"0x%016"
			       G_GINT64_MODIFIER "x\",version=\"%s\"} 1\n",
			       port, head->n[HEAD_PORT],
			       version ? version + 1 : "?");
}

static void
put_up(const struct view_lines *lines, const struct family *f, GString *out)
{
	const char *end = view_lines_first(lines, VIEW_SWEEP)->text;

	write_number(out, f, "", end && strcspn(end, ",") == strlen("up") &&
		     g_str_has_prefix(end, "up"));
}

static void
put_state(const struct view_lines *lines, const struct family *f,
	  GString *out)
{
	static const char *const verdicts[] = {
		"starting", "up", "degraded", "not up", "standby", "failed",
	};
	const char *is = view_lines_first(lines, VIEW_VERDICT)->text;

	for (size_t i = 0; i < G_N_ELEMENTS(verdicts); i++) {
		g_autofree char *labels = g_strdup_printf(
			"{minism_subnet_state=\"%s\"}", verdicts[i]);

		write_number(out, f, labels, !g_strcmp0(verdicts[i], is));
	}
}

static void
fault_metrics(const struct view_lines *lines, const struct family *f,
	      GString *out)
{
	unsigned n[EXPECTED_KINDS] = { 0 };

	EACH_PTR(const struct view_text, line, lines->of[VIEW_FAULT])
		if (line->n[FAULT_KIND] < EXPECTED_KINDS)
			n[line->n[FAULT_KIND]]++;
	for (unsigned kind = 0; kind < EXPECTED_KINDS; kind++) {
		g_autofree char *labels = g_strdup_printf("{kind=\"%s\"}",
			expected_kind_names[kind]);

		write_number(out, f, labels, n[kind]);
	}
}

/* One number of the first line of a kind. */
static void
put_word(const struct view_lines *lines, const struct family *f, GString *out)
{
	write_number(out, f, "", view_lines_first(lines, f->kind)->n[f->word]);
}

static void
put_age(const struct view_lines *lines, const struct family *f, GString *out)
{
	const uint64_t *n = view_lines_first(lines, VIEW_STANDBY)->n;

	if (n[STANDBY_WARM])
		put_seconds(out, f->name, n[STANDBY_AGE]);
}

static void
put_problems(const struct view_lines *lines, const struct family *f,
	     GString *out)
{
	write_number(out, f, "", lines->of[VIEW_COMPLAINT]->len);
}

static void
put_unsteady(const struct view_lines *lines, const struct family *f,
	     GString *out)
{
	static const struct {
		const char *labels;
		unsigned word;
	} kinds[] = {
		{ "{kind=\"flapping\"}", FLAP_FLAPS },
		{ "{kind=\"held\"}", FLAP_HELD },
		{ "{kind=\"babbling\"}", FLAP_BABBLES },
	};

	for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
		uint64_t n = 0;

		EACH_PTR(const struct view_text, flap, lines->of[VIEW_FLAP])
			n += flap->n[kinds[k].word];
		write_number(out, f, kinds[k].labels, n);
	}
}

static void
put_bad(const struct view_lines *lines, const struct family *f, GString *out)
{
	guint all = lines->of[VIEW_AVOIDED]->len, used = 0;

	EACH_PTR(const struct view_text, line, lines->of[VIEW_AVOIDED])
		used += line->n[AVOIDED_VERDICT] != 0;
	write_number(out, f, "{routing=\"avoided\"}", all - used);
	write_number(out, f, "{routing=\"used\"}", used);
}

static void
put_last(const struct view_lines *lines, const struct family *f, GString *out)
{
	if (lines->of[VIEW_SWEEP]->len)
		put_seconds(out, f->name, view_lines_first(lines,
					VIEW_SWEEP)->n[SWEEP_TOOK]);
}

/* ---- all ---- */

#define COUNTED(name, type, help)	{ name, type, help, put_counts, 0, 0 }
#define MADE(name, help, put)		{ name, "gauge", help, put, 0, 0 }
#define WORD(name, help, kind, word) \
	{ name, "gauge", help, put_word, kind, word }

static const struct family families[] = {
	{ "minism", "info", "Who runs where.", put_info, 0, 0 },
	MADE("minism_subnet_up",
	     "1: every reachable port is Active and routed.", put_up),
	{ "minism_subnet_state", "stateset", "The verdict of minismctl status.",
	  put_state, 0, 0 },
	MADE("minism_faults", "What is expected and missing (switch, host, "
	     "link), or slower than it was.", fault_metrics),
	WORD("minism_paused", "1: a person has paused sweeps.", VIEW_MANAGER,
	     MANAGER_PAUSED),
	COUNTED("minism_sm_state", "stateset", "SMState of this manager."),
	WORD("minism_sm_priority", "SM priority of this manager.",
	     VIEW_MANAGER, MANAGER_PRIORITY),
	COUNTED("minism_other_managers", "gauge", "Managers that answered in "
		"the last election, by SMState."),
	WORD("minism_standby_warm", "1: a standby that holds the master's "
	     "groups, services and subscriptions.", VIEW_STANDBY, STANDBY_WARM),
	MADE("minism_standby_age_seconds",
	     "How long ago the master's were so.", put_age),
	COUNTED("minism_nodes", "gauge", "Nodes of the last sweep."),
	COUNTED("minism_links", "gauge", "Cables of the last sweep by the "
		"state, width and speed of one end."),
	MADE("minism_problems", "What is not as it should be, as status lists "
	     "it.", put_problems),
	WORD("minism_credit_loop_channels", "Channels in credit loops of the "
	     "tables in force.", VIEW_ROUTE, ROUTE_LOOPED),
	COUNTED("minism_sweeps", "counter", "Heavy sweeps and repairs."),
	COUNTED("minism_repairs", "counter", "Repairs, which read a part only."),
	COUNTED("minism_link_downs", "counter",
		"Active links that went down."),
	MADE("minism_unsteady", "Links that flap or are held down, and ports "
	     "that send too many traps.", put_unsteady),
	MADE("minism_bad_links", "Links that are avoided, and those that "
	     "should be but are needed.", put_bad),
	COUNTED("minism_verified_tables", "counter", "Verdicts on tables that "
		"were computed: safe, only if the update goes in steps, with "
		"a credit loop, refused."),
	COUNTED("minism_host_pairs_without_path", "gauge",
		"Of the tables in force."),
	COUNTED("minism_lft_blocks_written", "counter",
		"LFT blocks that differed from what the switches held."),
	COUNTED("minism_lft_entries_changed", "counter", "Entries in them."),
	MADE("minism_last_sweep_seconds",
	     "How long the last heavy sweep took.", put_last),
	COUNTED("minism_phase_seconds", "histogram",
		"What sweeps spent their time on."),
	COUNTED("minism_mads", "counter",
		"MADs sent, by method and attribute, retries included."),
	COUNTED("minism_requests", "counter",
		"How requests ended, by class and attribute."),
	COUNTED("minism_mad_retries", "counter", "Requests sent again."),
	COUNTED("minism_mad_window", "gauge",
		"SMPs that may be under way now."),
	COUNTED("minism_sa_requests", "counter", "SA requests by outcome."),
	COUNTED("minism_sa_answers", "counter",
		"Answers of the SA by record."),
	COUNTED("minism_sa_seconds", "histogram",
		"From a request to the first MAD of its answer."),
	COUNTED("minism_sa_objects", "gauge", "What clients keep at the SA."),
};

int
show_metrics(struct show *q, GError **error)
{
	GString *out = q->out.out;

	for (size_t i = 0; i < G_N_ELEMENTS(families); i++) {
		const struct family *f = &families[i];

		g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n",
				       f->name, f->help, f->name, f->type);
		f->put(q->v->lines, f, out);
	}
	g_string_append(out, "# EOF\n");
	return 0;
}
