// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-health: which cables of a fabric are bad, by the counters of its ports.
 *
 * Flow. A round: the view of the manager has the cables, names and LIDs -> the
 * counters of each port with a cable, spread over the interval (port_counters.c) ->
 * which cables are bad, or good again (cables.c) -> lines, requests to the
 * manager. With --once two rounds, and the ranking.
 *
 * Errors within an hour are counted from the begin of the half hour before this
 * one: 30 to 60 minutes. What is known of a port is kept by NodeGUID and number
 * from one view to the next.
 *
 * Cost. One request is under way at a time. A node whose agent does not answer is
 * skipped for SKIP_ROUNDS rounds.
 *
 * Links that the manager was asked to avoid: it decides with its own limits, and
 * says in its log and view what came of it. It forgets requests when it starts again, so
 * they are repeated in each round; those of an earlier run of this program are
 * found in the view.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/client.h"
#include "tools/port_counters.h"
#include "tools/tool_options.h"
#include "tools/view.h"
#include "topology/each.h"

#define EXIT_BAD	1
#define EXIT_NOTHING	3	/* no manager, no port, no answer of any port */
#define SKIP_ROUNDS	15u
#define HALF_HOUR_US	(INT64_C(1800) * G_USEC_PER_SEC)
#define HOUR_US		(2 * HALF_HOUR_US)

struct health_arguments {
	int mode;
	struct client_place place;
	char *view;
	unsigned interval_s, limit;
	bool once, json, avoid;
};

#define AT(member)	offsetof(struct health_arguments, member)

static const struct option rows[] = {
	CLIENT_OPTIONS(AT(place)),
	{ NULL, "view", 0, &option_file, AT(view), 0, 0, NULL, "FILE",
	  "The fabric, instead of a manager's" },
	{ NULL, "interval", 'i', &option_number, AT(interval_s), 1, 86400,
	  "180", "SECONDS", "All ports are read once in this time (180)" },
	{ NULL, "limit", 'l', &option_number, AT(limit), 1, INT_MAX, "100",
	  "N", "A cable with more errors in an hour is bad (100)" },
	OPTION_SWITCH("once", '1', &option_bool, AT(once), 0,
		      "Read twice, print the cables with errors, and end"),
	OPTION_SWITCH("avoid", 0, &option_bool, AT(avoid), 0,
		      "Ask the manager to route around bad cables"),
	OPTION_SWITCH("json", 'j', &option_bool, AT(json), 0, "Print JSON"),
	TOOL_OPTIONS,
};

static const struct option_table table = {
	.options = rows,
	.n = G_N_ELEMENTS(rows),
	.summary = "Reads the counters of all ports and tells which cables are "
		"bad.",
	.description = "Exit status: 0 good; 1 a cable is bad, or the answer "
		"could not be written; 2 wrong usage; 3 no manager or no port.",
};

struct node {
	struct cables_agent agent;
	unsigned skip;		/* rounds */
};

/* By node and port of the view. */
struct known {
	struct tool_view *view;	/* NULL: there is none yet */
	struct node *nodes;
	struct cables_port *ports;
};

struct health_run {
	struct health_arguments a;	/* the first: options set it */
	struct known known;
	struct ibmad_port *reader;
	int64_t half_us;	/* begin of the half hour */
	unsigned n_read, n_silent;	/* ports of this round; the latter
					   skipped, too */
	char *trouble;		/* the complaint of the round before */
};

/* --- what is known --- */

static void
known_free(struct known *k)
{
	tool_view_free(k->view);
	g_free(k->nodes);
	g_free(k->ports);
}

/* Takes over the view. */
static void
take_view(struct health_run *h, struct tool_view *view)
{
	const struct snapshot *s = view->s;
	struct known k = {
		.view = view,
		.nodes = g_new0(struct node, s->n_nodes),
		.ports = g_new0(struct cables_port, s->n_ports),
	};

	for (uint32_t i = 0; h->known.view && i < s->n_nodes; i++) {
		const struct snapshot_node *n = &s->nodes[i], *old;
		uint32_t was = snapshot_find_node(h->known.view->s,
						  n->info.node_guid);
		size_t len;

		if (was == SNAPSHOT_NONE)
			continue;
		old = &h->known.view->s->nodes[was];
		len = MIN(n->info.num_ports, old->info.num_ports) + 1u;
		k.nodes[i] = h->known.nodes[was];
		memcpy(k.ports + n->first_port, h->known.ports +
		       old->first_port, len * sizeof(*k.ports));
	}
	known_free(&h->known);
	h->known = k;
}

/* Once for each trouble. */
static void
warn_user(struct health_run *h, const char *text)
{
	if (g_strcmp0(text, h->trouble))
		tool_options_complain("%s", text);
	g_free(h->trouble);
	h->trouble = g_strdup(text);
}

/* False: there is none, not even an old one. */
static bool
fetch_view(struct health_run *h)
{
	g_autoptr(GError) error = NULL;
	struct tool_view *v = tool_view_get(&h->a.place, h->a.view, "view\n",
					    &error);

	if (v) {
		g_clear_pointer(&h->trouble, g_free);
		take_view(h, v);
	} else {
		warn_user(h, error->message);
	}
	return h->known.view;
}

/* --- reading --- */

static void
read_counters(struct health_run *h, uint32_t port)
{
	const struct tool_view *v = h->known.view;
	struct cables_port *p = &h->known.ports[port];
	struct node *node = &h->known.nodes[v->s->ports[port].node];
	bool first = !p->now.us;
	uint16_t lid = v->lids->base[snapshot_holder_of(v->s, port)];
	enum counters_end end = counters_read(h->reader, lid,
		v->s->ports[port].num, &node->agent, p);

	if (end != COUNTERS_READ) {
		h->n_silent++;
		if (end == COUNTERS_SILENT || !node->agent.known)
			node->skip = SKIP_ROUNDS;
		return;
	}
	h->n_read++;
	if (first)
		p->hour = p->half = p->now;
}

/* Reads the ports within spread_us, evenly. */
static void
read_ports(struct health_run *h, int64_t spread_us)
{
	int64_t begin = g_get_monotonic_time();
	struct known *k = &h->known;
	const struct snapshot *s = k->view->s;

	h->n_read = h->n_silent = 0;
	if (begin - h->half_us >= HALF_HOUR_US) {
		h->half_us = begin;
		for (uint32_t port = 0; port < s->n_ports; port++) {
			k->ports[port].hour = k->ports[port].half;
			k->ports[port].half = k->ports[port].now;
		}
	}
	for (uint32_t port = 0; port < s->n_ports; port++) {
		int64_t due = begin + spread_us * port / s->n_ports;
		int64_t wait = due - g_get_monotonic_time();
		const struct snapshot_port *p = &s->ports[port];

		if (p->peer == SNAPSHOT_NONE ||
		    p->info.state < PORT_STATE_ACTIVE ||
		    k->view->lids->base[snapshot_holder_of(s, port)] == LID_NONE)
			continue;
		if (k->nodes[p->node].skip) {
			h->n_silent++;
			continue;
		}
		if (wait > 0)
			g_usleep((gulong)wait);
		read_counters(h, port);
	}
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (k->nodes[i].skip)
			k->nodes[i].skip--;
}

/* --- what is told --- */

static void
tell(struct health_run *h, const struct cable_change *c)
{
	static const char *const words[] = { "bad", "good" };
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out, .as_json = h->a.json };
	const struct tool_view *v = h->known.view;
	g_autofree char *name = cables_name(v, &c->cable);

	if (c->news == CABLE_MENDED)
		return;
	report_open(&r, NULL, '{');
	report_text(&r, "news", words[c->news], " cable: ");
	if (c->news == CABLE_BAD)
		cables_print(v, &c->cable, h->known.ports, "cable", &r);
	else
		report_text(&r, "link", name, ": its errors have become few\n");
	report_end(&r);
	tool_options_write(out);
}

/* --- links to be avoided --- */

/* errors 0: it has none any more. */
static void
ask_manager(struct health_run *h, const struct cables_entry *cable,
	    uint64_t errors)
{
	const struct snapshot *s = h->known.view->s;
	struct cables_port *told = &h->known.ports[cable->port];
	g_autofree char *name = cables_name(h->known.view, cable);
	g_autoptr(GString) line = g_string_new(NULL);
	g_autoptr(GString) body = g_string_new(NULL);
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out, .as_json = h->a.json };
	g_autoptr(GError) error = NULL;
	int code;

	/* by its GUID: the name may be that of several nodes */
	g_string_printf(line, "avoid 0x%016" G_GINT64_MODIFIER "x/%u %"
			G_GUINT64_FORMAT "\n",
			snapshot_node_of(s, cable->port)->info.node_guid,
			s->ports[cable->port].num, errors);
	code = client_ask(&h->a.place, CLIENT_PATIENCE_US, line, body, NULL, NULL,
			  &error);
	if (code < 0) {
		warn_user(h, error->message);
		return;
	}
	if (!errors || code + 1 != told->answer) {
		report_open(&r, NULL, '{');
		report_say(&r, "link ");
		report_text(&r, "link", name, ": ");
		report_text(&r, "manager", g_strchomp(body->str), "\n");
		report_end(&r);
		tool_options_write(out);
	}
	told->asked = errors && code == EXIT_SUCCESS;
	told->answer = errors ? code + 1 : 0;
}

/* Those that an earlier run of this program asked for: they are asked for no more
 * when they are good. */
static void
look_at_avoided(struct health_run *h, int64_t now)
{
	const struct known *k = &h->known;
	const struct snapshot *s = k->view->s;

	EACH_PTR(const struct view_text, l, k->view->lines->of[VIEW_AVOIDED]) {
		uint32_t port = tool_view_line_port(k->view, l->n);
		struct cables_port *p;

		if (port != SNAPSHOT_NONE)
			port = MIN(port, s->ports[port].peer);
		if (port == SNAPSHOT_NONE || !l->n[AVOIDED_ERRORS] ||
		    !snapshot_joins_switches(s, port))
			continue;
		p = &k->ports[port];
		if (!p->asked && !p->bad && !p->good_us)
			p->good_us = now;
		p->asked = true;
	}
}

static void
judge_counters(struct health_run *h)
{
	const struct known *k = &h->known;
	const struct snapshot *s = k->view->s;
	int64_t now = g_get_monotonic_time();
	g_autoptr(GArray) cables = cables_rank(s, k->ports, HOUR_US);
	g_autoptr(GArray) changes = NULL;

	if (h->a.avoid)
		look_at_avoided(h, now);
	changes = cables_judge(s, cables, h->a.limit, now, k->ports);
	EACH_ITEM(const struct cable_change, c, changes) {
		struct cables_port *p = &k->ports[c->cable.port];

		tell(h, c);
		if (c->news != CABLE_MENDED)
			continue;
		if (p->asked)
			ask_manager(h, &c->cable, 0);
		p->asked = false;
		p->answer = 0;
	}
	for (guint i = 0; h->a.avoid && i < cables->len; i++) {
		const struct cables_entry *c =
			&g_array_index(cables, struct cables_entry, i);

		if (k->ports[c->port].bad &&
		    snapshot_joins_switches(s, c->port))
			ask_manager(h, c, c->errors);
	}
}

/* --- runs --- */

static int
print_ranking(struct health_run *h, const struct known *k)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out, .as_json = h->a.json };
	g_autoptr(GArray) cables = cables_rank(k->view->s, k->ports, 1);
	unsigned n_bad = 0;

	report_open(&r, NULL, '{');
	report_open(&r, "cables", '[');
	EACH_ITEM(const struct cables_entry, c, cables) {
		n_bad += c->per_hour > h->a.limit;
		cables_print(k->view, c, k->ports, NULL, &r);
	}
	report_close(&r, ']');
	report_open(&r, "no_answer", '[');
	for (uint32_t i = 0; i < k->view->s->n_nodes; i++) {
		g_autofree char *name = k->nodes[i].skip ? snapshot_full_name(
			&k->view->s->nodes[i], k->view->shared) : NULL;

		if (name)
			report_say(&r, "no answer: ");
		if (name)
			report_text(&r, NULL, name, "\n");
	}
	report_close(&r, ']');
	report_count(&r, "bad", n_bad, "bad cable", "; ");
	report_count(&r, "read", h->n_read, "port", " read, ");
	report_number(&r, "silent", h->n_silent, " did not answer\n");
	report_end(&r);
	return !tool_options_write(out) || n_bad ? EXIT_BAD : EXIT_SUCCESS;
}

static int
run_once(struct health_run *h)
{
	int64_t begin = g_get_monotonic_time(), wait;

	read_ports(h, 0);
	if (!h->n_read) {
		tool_options_complain("no port answers");
		return EXIT_NOTHING;
	}
	wait = begin + h->a.interval_s * G_USEC_PER_SEC -
		g_get_monotonic_time();
	if (wait > 0)
		g_usleep((gulong)wait);
	read_ports(h, 0);
	return print_ranking(h, &h->known);
}

/* Ends only if no port answers at all: then it is this machine's own port that
 * has gone, which a new start opens again. */
static int
run_resident(struct health_run *h)
{
	int64_t round_us = h->a.interval_s * G_USEC_PER_SEC;

	for (int64_t next = g_get_monotonic_time(), wait;; next += round_us) {
		wait = next - g_get_monotonic_time();
		if (wait > 0)
			g_usleep((gulong)wait);
		read_ports(h, round_us);
		if (!h->n_read && h->n_silent) {
			tool_options_complain("no port answers");
			return EXIT_NOTHING;
		}
		judge_counters(h);
		/* what the manager has now, for the next round */
		fetch_view(h);
	}
}

static int
health_run(void *arguments, char **words)
{
	struct health_run *h = arguments;
	g_autoptr(GError) error = NULL;
	int status = EXIT_NOTHING;

	if (words[0]) {
		tool_options_complain("there is no argument %s; see "
				      "minism-health --help", words[0]);
		return EXIT_USAGE;
	}
	if (h->a.avoid && (h->a.once || h->a.view)) {
		tool_options_complain("--avoid asks a manager again and again: "
				      "not with --once or --view");
		return EXIT_USAGE;
	}
	while (!fetch_view(h)) {
		if (h->a.once || h->a.view)
			return status;
		g_usleep(h->a.interval_s * G_USEC_PER_SEC);
	}
	h->half_us = g_get_monotonic_time();
	h->reader = counters_open(view_lines_first(h->known.view->lines,
				VIEW_HEAD)->n[HEAD_PORT], &error);
	if (h->reader)
		status = h->a.once ? run_once(h) : run_resident(h);
	else
		tool_options_complain("%s", error->message);
	counters_close(h->reader);
	return status;
}

int
main(int argc, char **argv)
{
	struct health_run h = { .a = { .mode = TOOL_RUN } };
	int status = tool_main("minism-health", &table, &h, EXIT_USAGE, argc,
			       argv, health_run);

	known_free(&h.known);
	g_free(h.trouble);
	return status;
}
