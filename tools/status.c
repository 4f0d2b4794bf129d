// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The first lines say whether an operator has to act. All problems follow in
 * full, a credit loop channel by channel; counters come last. The JSON has the
 * same facts under keys that are stable: minismctl(8) lists them.
 */
#include "tools/show.h"

#include <inttypes.h>
#include <string.h>

#include "topology/each.h"
#include "topology/expected.h"
#include "topology/text.h"

#define INDENT	"           "
#define FAULTS_SHOWN	40u
#define DOWNS_SHOWN	8u	/* links that are told by faults, or are up again */

static const char *
text_of(const struct view_lines *lines, enum view_kind kind)
{
	return view_lines_first(lines, kind)->text;
}

static void
print_count(const struct view_lines *lines, struct text_report *r,
	    const char *key, const char *name, const char *noun,
	    const char *after)
{
	uint64_t n = 0;

	EACH_PTR(const struct view_text, line, lines->of[VIEW_COUNT])
		if (!g_strcmp0(line->text, name))
			n = line->n[COUNT_VALUE];
	if (noun)
		report_count(r, key, n, noun, after);
	else
		report_number(r, key, n, after);
}

static void
put_lines(const struct view_lines *lines, struct text_report *r,
	  const char *key, enum view_kind kind, const char *before)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new();

	EACH_PTR(const struct view_text, line, lines->of[kind])
		g_ptr_array_add(texts, line->text ? line->text : (char *)"");
	report_lines(r, key, texts, before);
}

/* The first bytes of a text. */
static void
put_begin(struct text_report *r, const char *key, const char *text,
	  uint64_t len, const char *after)
{
	const char *all = text ? text : "";
	g_autofree char *begin = g_strndup(all, MIN(strlen(all), len));

	report_text(r, key, begin, after);
}

static void
put_span(struct text_report *r, const char *key, uint64_t us,
	 const char *after)
{
	int64_t s = MAX((int64_t)us, 0) / G_USEC_PER_SEC;

	if (r->as_json) {
		report_ms(r, key, (int64_t)us);
		return;
	}
	if (s >= 86400)
		report_say(r, "%" PRId64 " d ", s / 86400);
	if (s >= 3600)
		report_say(r, "%" PRId64 " h ", s / 3600 % 24);
	if (s >= 60)
		report_say(r, "%" PRId64 " min ", s / 60 % 60);
	report_say(r, "%" PRId64 " s%s", s % 60, after);
}

/* The SA state that this standby holds for a takeover. */
static void
put_standby(const struct view_lines *lines, struct text_report *r)
{
	const struct view_text *b = view_lines_first(lines, VIEW_STANDBY);
	const uint64_t *n = b->n;
	bool is_guest = view_lines_first(lines,
					 VIEW_MANAGER)->n[MANAGER_GUEST];

	report_open(r, "standby", '{');
	report_bool(r, "warm", n[STANDBY_WARM]);
	if (n[STANDBY_WARM]) {
		report_say(r, "warm:      ");
		report_count(r, "groups", n[STANDBY_GROUPS], "group", " with ");
		report_count(r, "members", n[STANDBY_MEMBERS], "member", ", ");
		report_count(r, "services", n[STANDBY_SERVICES], "service",
			     ", ");
		report_count(r, "subscriptions", n[STANDBY_SUBSCRIPTIONS],
			     "subscription", ", as of ");
		put_span(r, "as_of_ms", n[STANDBY_AGE], " ago\n");
	}
	if (n[STANDBY_FOLLOWS] && (b->text || !n[STANDBY_WARM]))
		report_say(r, "%s", n[STANDBY_WARM] ? INDENT "WARNING: not "
			   "read since: " : "NOT WARM:  ");
	report_text(r, "why", n[STANDBY_FOLLOWS] && is_guest ? "a guest is given "
		    "no state: set a priority in both managers" : b->text ?
		    b->text : n[STANDBY_FOLLOWS] && !n[STANDBY_WARM] ?
		    "nothing is read yet" : NULL, "\n");
	report_close(r, '}');
}

static void
print_head(const struct view_lines *lines, struct text_report *r)
{
	const struct view_text *manager = view_lines_first(lines,
							   VIEW_MANAGER);
	const uint64_t *n = manager->n;
	const char *master = text_of(lines, VIEW_MASTER);
	bool stands_by = !g_strcmp0(text_of(lines, VIEW_ROLE), "standby");

	report_say(r, "minism on ");
	report_text(r, "port", manager->text, " (");
	report_hex(r, "guid", view_lines_first(lines, VIEW_HEAD)->n[HEAD_PORT],
		   16, "), running for ");
	put_span(r, "running_ms", n[MANAGER_RUNNING], "\nrole:      ");
	report_text(r, "role", text_of(lines, VIEW_ROLE), ", priority ");
	report_number(r, "priority", n[MANAGER_PRIORITY],
		      master ? "; the master is on " : "");
	report_text(r, "master", master, "");
	report_say(r, "\n");
	if (n[MANAGER_GUEST] && stands_by)
		report_say(r, "guest:     no priority is configured, so the "
			   "fabric is left to that master while it lives; "
			   "minismctl takeover\n");
	report_bool(r, "guest", n[MANAGER_GUEST]);
	put_standby(lines, r);
	if (n[MANAGER_PAUSED])
		report_say(r, "PAUSED:    no sweeps, and nothing is "
			   "programmed, until minismctl resume\n");
	report_bool(r, "paused", n[MANAGER_PAUSED]);
}

/* How many a list leaves out, in text. */
static void
put_more(struct text_report *r, guint n)
{
	if (n)
		report_say(r, INDENT "and %u more: status --all\n", n);
}

/* Nodes and links that are missing or slow; in text without those whose cause is
 * another one, unless `all`. */
static void
print_faults(const struct view_lines *lines, bool all, struct text_report *r)
{
	const GPtrArray *faults = lines->expected->faults;
	guint left = 0, n = 0;

	report_open(r, "faults", '[');
	EACH_PTR(const struct expected_fault, f, faults) {
		g_autofree char *since = expected_since_text(f->since);
		bool whole = all || r->as_json;

		if (!whole && f->cause)
			continue;
		if (!whole && n++ >= FAULTS_SHOWN) {
			left++;
			continue;
		}
		report_open(r, NULL, '{');
		report_say(r, INDENT "%s", expected_is_missing(f->kind) ?
			   "missing " : "");
		report_text(r, "kind", expected_kind_names[f->kind], " ");
		report_text(r, "name", f->name, *f->text ? ", " : "");
		report_text(r, "text", f->text, "");
		report_hex(r, "guid", f->guid, 16, NULL);
		report_say(r, ", since %s\n", since);
		report_number(r, "since", (uint64_t)f->since, NULL);
		if (f->cause)
			report_hex(r, "cause", f->cause, 16, NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
	put_more(r, left);
}

static void
print_former(const struct view_lines *lines, bool all, struct text_report *r)
{
	guint n = 0;

	report_open(r, "changed", '[');
	EACH_PTR(const struct view_text, line, lines->of[VIEW_FORMER]) {
		int64_t at = (int64_t)line->n[FORMER_SINCE];
		g_autofree char *since = expected_since_text(at);

		if (!all && !r->as_json && n++ >= DOWNS_SHOWN)
			continue;
		report_open(r, NULL, '{');
		report_say(r, "changed:   ");
		report_text(r, "text", line->text, ", since ");
		report_say(r, "%s\n", since);
		report_hex(r, "guid", line->n[FORMER_GUID], 16, NULL);
		report_number(r, "since", (uint64_t)at, NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
	put_more(r, n - MIN(n, DOWNS_SHOWN));
}

static bool
is_unsteady(const uint64_t *n)
{
	return n[FLAP_HELD] || n[FLAP_FLAPS] || n[FLAP_BABBLES];
}

/* The worst first: at a limit, then by downs, traps and name. */
static int
compare_worst(gconstpointer a, gconstpointer b)
{
	const struct view_text *p = *(struct view_text *const *)a;
	const struct view_text *q = *(struct view_text *const *)b;

	if (is_unsteady(p->n) != is_unsteady(q->n))
		return is_unsteady(p->n) ? -1 : 1;
	for (unsigned i = FLAP_DOWNS; i <= FLAP_TRAPS; i++)
		if (p->n[i] != q->n[i])
			return p->n[i] > q->n[i] ? -1 : 1;
	return g_strcmp0(p->text, q->text);
}

/* Links that went down within the hour, and babbling ports: those that did so again,
 * or are at a limit, or the others; in JSON all are one list. */
static void
print_flaps(const struct view_lines *lines, bool all, bool again,
	    struct text_report *r)
{
	static const char *const kinds[][2] = {
		{ "held", "held down: " }, { "flapping", "flapping:  " },
		{ "babbling", "babbling:  " }, { "went down", "went down: " },
	};
	GPtrArray *list = lines->of[VIEW_FLAP];
	guint shown[2] = { 0, 0 }, left = 0;

	if (r->as_json && !again)
		return;
	g_ptr_array_sort(list, compare_worst);
	print_count(lines, r, "link_downs", "minism_link_downs_total", NULL,
		    NULL);
	report_open(r, "flaps", '[');
	EACH_PTR(const struct view_text, line, list) {
		const uint64_t *n = line->n;
		const char *const *kind = kinds[n[FLAP_HELD] ? 0 :
			n[FLAP_FLAPS] ? 1 : n[FLAP_BABBLES] ? 2 : 3];

		if (!r->as_json &&
		    (is_unsteady(n) || n[FLAP_DOWNS] > 1) != again)
			continue;
		if (!all && !r->as_json && shown[is_unsteady(n)]++ >=
		    (is_unsteady(n) ? FAULTS_SHOWN : DOWNS_SHOWN)) {
			left++;
			continue;
		}
		report_open(r, NULL, '{');
		report_text(r, "kind", kind[0], NULL);
		report_say(r, "%s", kind[1]);
		report_text(r, "name", line->text, "; down ");
		report_count(r, "downs", n[FLAP_DOWNS], "time", "");
		report_say(r, "%s", n[FLAP_TRAPS] ? " and " : "");
		if (n[FLAP_TRAPS] || r->as_json)
			report_count(r, "traps", n[FLAP_TRAPS], "trap", "");
		report_say(r, " within an hour, the last ");
		put_span(r, "last_ms", n[FLAP_AGE], " ago");
		if (n[FLAP_HELD]) {
			report_say(r, "; used again in ");
			put_span(r, "held_ms", n[FLAP_LEFT], "");
		}
		report_say(r, "\n");
		report_close(r, '}');
	}
	report_close(r, ']');
	put_more(r, left);
}

static void
print_avoided(const struct view_lines *lines, struct text_report *r)
{
	static const char *const routing[] = {
		"avoided", "needed", "too many",
	};

	EACH_PTR(const struct view_text, line, lines->of[VIEW_AVOIDED]) {
		const uint64_t *n = line->n;

		if (!line->text)	/* of an older manager */
			continue;
		report_open(r, NULL, '{');
		report_say(r, "avoided:   link %s\n", line->text);
		put_begin(r, "link", line->text, n[AVOIDED_NAME], NULL);
		report_text(r, "routing", routing[MIN(n[AVOIDED_VERDICT],
				G_N_ELEMENTS(routing) - 1)], NULL);
		report_text(r, "why", view_text_rest(line->text, n[AVOIDED_WHY]),
			    NULL);
		report_number(r, "errors_in_hour", n[AVOIDED_ERRORS], NULL);
		report_close(r, '}');
	}
}

int
show_avoid(struct show *q, GError **error)
{
	report_open_list(&q->out, "avoided");
	print_avoided(q->v->lines, &q->out);
	report_close_list(&q->out, "avoided links");
	return 0;
}

static void
print_verdict(const struct view_lines *lines, struct text_report *r)
{
	const char *name = text_of(lines, VIEW_VERDICT);
	g_autofree char *verdict = g_ascii_strup(name ? name : "?", -1);
	const uint64_t *all = view_lines_first(lines, VIEW_VERDICT)->n;
	const uint64_t *n = view_lines_first(lines, VIEW_SUBNET)->n;
	g_autofree char *line = view_verdict_text(verdict, all);

	report_text(r, "verdict", name, NULL);
	report_say(r, "subnet:    ");
	if (lines->of[VIEW_SUBNET]->len) {
		report_open(r, "subnet", '{');
		report_say(r, "%s, LIDs to ", line);
		report_number(r, "switches", n[SUBNET_SWITCHES], NULL);
		report_number(r, "hosts", n[SUBNET_HOSTS], NULL);
		report_number(r, "active", n[SUBNET_ACTIVE], NULL);
		report_number(r, "links", n[SUBNET_LINKS], NULL);
		report_number(r, "expected_switches",
			      all[VERDICT_ALL_SWITCHES], NULL);
		report_number(r, "expected_hosts", all[VERDICT_ALL_HOSTS],
			      NULL);
		report_number(r, "expected_links", all[VERDICT_ALL_LINKS],
			      NULL);
		report_number(r, "top_lid", n[SUBNET_TOP],
			      n[SUBNET_AGE] ? ", as of " : "");
		if (n[SUBNET_AGE] || r->as_json)
			put_span(r, "as_of_ms", n[SUBNET_AGE], " ago");
		report_close(r, '}');
	} else {
		report_say(r, "%s", verdict);
	}
	report_say(r, "\n%s", lines->of[VIEW_ERROR]->len ? INDENT : "");
	report_text(r, "error", text_of(lines, VIEW_ERROR),
		    "; the fabric was left as it was\n");
}

static void
put_routing(const struct view_lines *lines, struct text_report *r)
{
	const struct view_text *route = view_lines_first(lines, VIEW_ROUTE);
	guint n_loop = lines->of[VIEW_LOOP]->len;

	if (!lines->of[VIEW_ROUTE]->len)
		return;
	report_open(r, "routing", '{');
	report_say(r, "routing:   ");
	report_text(r, "engine", route->text, ": ");
	report_text(r, "reason", text_of(lines, VIEW_REASON), "\n");
	report_text(r, "safety", route->n[ROUTE_UNSAFE] ? "credit loop" :
		    "safe", NULL);
	put_lines(lines, r, "candidates", VIEW_CANDIDATE, INDENT);
	put_lines(lines, r, "notes", VIEW_NOTE, INDENT);
	if (n_loop)
		report_say(r, "WARNING:   CREDIT LOOP: traffic can stop for "
			   "good; ");
	report_number(r, "looped", route->n[ROUTE_LOOPED], n_loop ?
		      " channels are in loops, here is one:\n" : NULL);
	report_open(r, "loop", '[');
	EACH_PTR(const struct view_text, line, lines->of[VIEW_LOOP]) {
		const uint64_t *n = line->n;

		report_open(r, NULL, '{');
		report_say(r, INDENT "'");
		report_text(r, "switch", line->text, "' (");
		report_hex(r, "guid", n[LOOP_GUID], 16, ") port ");
		report_number(r, "port", n[LOOP_PORT],
			      ", with packets to LID ");
		report_number(r, "lid", n[LOOP_LID], ", waits for\n");
		report_close(r, '}');
	}
	report_close(r, ']');
	if (n_loop)
		report_say(r, INDENT "the first\n");
	report_close(r, '}');
}

static void
print_sweeps(const struct view_lines *lines, struct text_report *r)
{
	const char *unit = view_text_rest(text_of(lines, VIEW_UNIT), 0);
	/* a view that was published is of the end of a sweep */
	bool is_live = lines->of[VIEW_COUNT]->len;

	report_say(r, "sweeps:    %s", is_live ? "now " : "the last one first");
	report_text(r, "doing", is_live ? text_of(lines, VIEW_DOING) : NULL,
		    "; ");
	if (is_live) {
		print_count(lines, r, "n_sweeps", "minism_sweeps_total", NULL,
			    " in all, of them repairs ");
		print_count(lines, r, "n_repairs", "minism_repairs_total",
			    NULL, "");
	}
	report_say(r, "\n");
	report_open(r, "sweeps", '[');
	EACH_PTR(const struct view_text, line, lines->of[VIEW_SWEEP]) {
		const uint64_t *n = line->n;
		size_t end = line->text ? strcspn(line->text, ",") : 0;
		const char *causes = view_text_rest(line->text, end + 2);

		report_open(r, NULL, '{');
		report_say(r, INDENT);
		put_span(r, "ago_ms", n[SWEEP_AGE], " ago: ");
		report_say(r, "%.*s, took %.1f %s (%s)\n", (int)end,
			   view_text_rest(line->text, 0),
			   (double)n[SWEEP_TOOK] / 1000,
			   unit, *causes ? causes : "?");
		report_ms(r, "took_ms", (int64_t)n[SWEEP_TOOK]);
		report_text(r, "causes", *causes ? causes : NULL, NULL);
		put_begin(r, "end", line->text, end, NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
}

static void
put_counters(const struct view_lines *lines, struct text_report *r)
{
	static const char *const counters[][5] = {
		{ "mads", "sent", "sent", NULL, " sent (" },
		{ "mads", "sets", "sets", "Set", "), " },
		{ "mads", "repeated", "minism_mad_retries_total",
		  NULL, " repeated, " },
		{ "mads", "unanswered", "unanswered",
		  NULL, " without an answer; in flight at most " },
		{ "mads", "window", "minism_mad_window", NULL, "\n" },
		{ "sa", "requests", "taken", "request", ", " },
		{ "sa", "answered", "minism_sa_requests_total{outcome="
		  "\"answered\"}", NULL, " answered, " },
		{ "sa", "busy", "minism_sa_requests_total{outcome=\"busy\"}",
		  NULL, " rejected, " },
		{ "sa", "dropped", "minism_sa_requests_total{outcome="
		  "\"dropped\"}", NULL, " dropped; " },
		{ "sa", "waiting", "waiting", NULL, " waiting\n" INDENT },
		{ "sa", "groups", "minism_sa_objects{kind=\"group\"}",
		  "group", " with " },
		{ "sa", "members", "minism_sa_objects{kind=\"member\"}",
		  "member", ", " },
		{ "sa", "services", "minism_sa_objects{kind=\"service\"}",
		  "service", ", " },
		{ "sa", "subscriptions", "minism_sa_objects{kind="
		  "\"subscription\"}", "subscription", "; " },
		{ "sa", "reports", "reports", "Report", ", " },
		{ "sa", "notices_dropped", "notices_dropped", "Notice",
		  " dropped\n" },
		{ "multicast", "computed", "computed", "time", ", " },
		{ "multicast", "written", "written", "block", " written, " },
		{ "multicast", "failed", "failed", NULL, " failed\n" },
	};
	static const char *const heads[][2] = {
		{ "mads", "MADs:      " }, { "sa", "SA:        " },
		{ "multicast", "multicast: computed " },
	};

	for (size_t k = 0; k < G_N_ELEMENTS(heads); k++) {
		report_open(r, heads[k][0], '{');
		report_say(r, "%s", heads[k][1]);
		for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
			if (!strcmp(counters[i][0], heads[k][0]))
				print_count(lines, r, counters[i][1],
					    counters[i][2], counters[i][3],
					    counters[i][4]);
		report_close(r, '}');
	}
}

static void
print_partitions(const struct view_lines *lines, struct text_report *r)
{
	const char *source = text_of(lines, VIEW_SOURCE);
	guint n_away = lines->of[VIEW_AWAY]->len;

	report_open(r, "partitions", '{');
	report_say(r, "partitions: ");
	print_count(lines, r, "count", "partitions", NULL,
		    source ? ", from " : "");
	report_text(r, "source", source, "");
	report_say(r, "%s%s", source ? "" : ", built in (no partitions.conf)",
		   n_away ? "; not on the fabric: " : "");
	if (n_away || r->as_json)
		report_count(r, "away", n_away, "member", "");
	report_say(r, "\n");
	report_close(r, '}');
}

void
status_put_causes(const struct view_lines *lines, bool all,
		  struct text_report *r)
{
	/* why it is not up comes before what leaves it degraded */
	put_lines(lines, r, "complaints", VIEW_COMPLAINT, INDENT);
	put_lines(lines, r, "multicast_unreached", VIEW_UNREACHED, INDENT);
	print_faults(lines, all, r);
	print_former(lines, all, r);
	put_lines(lines, r, "other_managers", VIEW_RIVAL, INDENT "WARNING: ");
	put_lines(lines, r, "warnings", VIEW_WARNING, INDENT "WARNING: ");
	print_flaps(lines, all, true, r);
	report_open(r, "avoided", '[');
	print_avoided(lines, r);
	report_close(r, ']');
}

int
show_status(struct show *q, GError **error)
{
	static const struct {
		const char *verdict;
		int code;	/* see enum control_code */
	} codes[] = {
		{ "up", 0 }, { "planned", 0 }, { "degraded", 1 },
		{ "standby", 5 }, { "failed", 6 },
	};
	const struct view_lines *lines = q->v->lines;
	struct text_report *r = &q->out;

	report_open(r, NULL, '{');
	print_verdict(lines, r);
	status_put_causes(lines, q->all, r);
	print_head(lines, r);
	report_text(r, "log_level", text_of(lines, VIEW_LEVEL), NULL);
	print_flaps(lines, q->all, false, r);
	put_routing(lines, r);
	print_sweeps(lines, r);
	if (lines->of[VIEW_COUNT]->len) {
		put_counters(lines, r);
		print_partitions(lines, r);
	}
	report_end(r);
	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
		if (!g_strcmp0(codes[i].verdict, text_of(lines, VIEW_VERDICT)))
			return codes[i].code;
	return 4;
}
