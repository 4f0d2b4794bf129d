// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands of minismctl to a running manager.
 *
 * Structs. A `command` is a word and its function; a control_request is one
 * line and the answer as far as it is made.
 *
 * Flow of control_answer(): the line is cut into words, the first names the
 * command, the command writes the answer's body and its code, and the head goes
 * before it. A request that is not valid is answered with the usage and the
 * nearest word, since most requests are typed by hand.
 *
 * Only the hooks act on the manager, so this is a function from a line to a
 * text, which can be tested with any line.
 */
#include "sm/control/control.h"

#include <string.h>

#include "sm/control/request.h"
#include "topology/report.h"
#include "topology/text.h"
#include "topology/partition.h"

#define VERSION		2
#define OF_FABRIC	(1u << 8)	/* needs control_request.db */

struct command {
	const char *name;
	const char *rest;	/* what follows the name, for help */
	const char *summary;
	guint min, max;		/* words, the name included */
	unsigned takes;		/* 1 << enum request_option; OF_FABRIC */
	void (*run)(struct control_request *r);
};

static void
run_reload(struct control_request *r)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	bool ok = r->hooks->reload(lines, r->hooks->data);
	g_autoptr(GString) text = g_string_new(ok ?
		"read again; a heavy sweep begins" : NULL);

	for (guint i = 0; i < lines->len; i++)
		g_string_append_printf(text, ok ? "\n%s (warning)" : "%s\n",
				       (char *)lines->pdata[i]);
	if (!ok)
		g_string_append(text, "the present configuration stays in "
				"force");
	request_say(r, ok ? CONTROL_DONE : CONTROL_NOT_DONE, "%s", text->str);
}

static void
run_accept(struct control_request *r)
{
	const char *word = r->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	unsigned n = r->hooks->accept(word, r->hooks->data);

	if (n || !word)
		request_say(r, CONTROL_DONE, "%u %s accepted: the fabric is "
			    "expected without %s from now on", n,
			    n == 1 ? "fault is" : "faults are",
			    n == 1 ? "it" : "them");
	else
		request_say(r, CONTROL_NOT_DONE, "nothing of %s is missing or "
			    "slow; status lists what is", shown);
}

static void
run_pause(struct control_request *r)
{
	bool pauses = strcmp(r->words[0], "pause") == 0;

	r->hooks->set(CONTROL_PAUSED, pauses, r->hooks->data);
	request_say(r, CONTROL_DONE, "%s", pauses == r->v.paused ?
		    pauses ? "it is paused already" : "it was not paused" :
		    pauses ? "no sweeps, and nothing is programmed, until "
		    "minismctl resume or a restart" :
		    "sweeps are resumed; a heavy one begins");
}

static void
run_priority(struct control_request *r)
{
	const char *word = r->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	uint64_t n;

	if (!word) {
		request_say(r, CONTROL_DONE, "%u", r->v.self.priority);
	} else if (!text_read_number(word, 0, SM_PRIORITY_MAX, &n)) {
		request_say(r, CONTROL_USAGE, "priority: %s is not 0 to %u",
			    shown, SM_PRIORITY_MAX);
	} else {
		r->hooks->set(CONTROL_PRIORITY, (unsigned)n, r->hooks->data);
		request_say(r, CONTROL_DONE, "%u -> %u, until a restart",
			    r->v.self.priority, (unsigned)n);
	}
}

static void
run_takeover(struct control_request *r)
{
	if (r->v.self.state == SM_STATE_MASTER) {
		request_say(r, CONTROL_DONE, "this manager is the master");
		return;
	}
	r->hooks->set(CONTROL_TAKEOVER, 0, r->hooks->data);
	request_say(r, CONTROL_DONE, "the master is asked to hand over; see "
		    "minismctl status");
}

static void
run_loglevel(struct control_request *r)
{
	const char *const *names = log_level_names;
	const char *word = r->words[1];
	uint64_t n;

	if (!word) {
		request_say(r, CONTROL_DONE, "%s", names[r->v.level]);
		return;
	}
	if (!text_read_number(word, 0, LOG_DEBUG, &n))
		for (n = 0; n <= LOG_DEBUG; n++)
			if (strcmp(names[n], word) == 0)
				break;
	if (n > LOG_DEBUG) {
		request_say_wrong(r, "loglevel: ", word, " is not 0 to 4, "
				  "error, warning, info, verbose or debug",
				  names, LOG_DEBUG + 1);
		return;
	}
	r->hooks->set(CONTROL_LOG_LEVEL, (unsigned)n, r->hooks->data);
	request_say(r, CONTROL_DONE, "%s", names[n]);
}

static const char *const origins[] = {
	[OPTIONS_DEFAULT] = "default",
	[OPTIONS_FILE] = "file",
	[OPTIONS_COMMAND_LINE] = "command line",
};

/* The options that are in force, as a file with these values. An option that is
 * no key of the file is a comment. */
static void
run_config(struct control_request *q)
{
	g_autoptr(GArray) list = options_list(q->v.conf);
	struct text_report *r = &q->out;

	report_open(r, NULL, '{');
	report_say(r, "# file: ");
	report_text(r, "file", q->v.conf->config_file, "\n");
	report_open(r, "config", '[');
	for (guint i = 0; i < list->len; i++) {
		const struct options_value *v =
			&g_array_index(list, struct options_value, i);
		bool quotes = !v->value || !*v->value ||
			strpbrk(v->value, " \t#");
		g_autofree char *text = v->secret ? g_strdup("(secret)") :
			!v->value && v->key ? g_strdup("(null)") :
			g_strdup_printf(quotes ? "\"%s\"" : "%s",
					v->value ? v->value : "");

		/* the file has no way to write a quote */
		report_open(r, NULL, '{');
		report_say(r, "%s%s%s %s", v->secret || !v->key ||
			   (v->value && strchr(v->value, '"')) ? "# " : "",
			   v->key ? "" : "--", v->key ? v->key : v->name,
			   text);
		report_say(r, "\t# %s\n", origins[v->from]);
		report_text(r, "key", v->key, NULL);
		report_text(r, "option", v->name, NULL);
		report_text(r, "value", v->secret ? text : v->value, NULL);
		report_text(r, "origin", origins[v->from], NULL);
		report_close(r, '}');
	}
	request_close_list(q);
}

/* --- events and sweep ---
 *
 * With --follow and --wait the answer is CONTROL_AGAIN: its first line is the
 * next request, for the events since this one. So no connection stays open, and
 * a client that ended costs nothing. */

static void
go_on(struct control_request *r, const char *word, uint64_t from,
      const char *option)
{
	r->code = CONTROL_AGAIN;
	g_string_append_printf(r->out.out, "%s%s %" G_GUINT64_FORMAT
			       " %s\n", r->out.as_json ? "json " : "", word,
			       from, option);
}

/* Of a list that is followed: an object a line. */
static void
end_object(struct control_request *q)
{
	if (!q->out.as_json)
		return;
	g_string_append_c(q->out.out, '\n');
	q->out.comma = false;
}

/* events [NUMBER of the first]. When followed, JSON is an object a line. */
static void
run_events(struct control_request *q)
{
	bool follow = q->options[REQUEST_FOLLOW];
	const struct log *log = q->v.log;
	struct text_report *r = &q->out;
	uint64_t asked = 0, first, end;

	if (q->words[1] &&
	    !text_read_number(q->words[1], 0, UINT64_MAX, &asked)) {
		request_say_usage(q);
		return;
	}
	end = log ? log->n_events : 0;
	first = MAX(asked, end - MIN(end, LOG_EVENTS));
	if (follow)
		go_on(q, "events", end, "--follow");
	else
		request_open_list(q, "events");
	if (follow && q->words[1] && first > asked) {
		report_open(r, NULL, '{');
		report_number(r, "lost", first - asked,
			      " events are lost: they came too fast\n");
		report_close(r, '}');
		end_object(q);
	}
	for (; first < end; first++) {
		const struct log_event *e = &log->events[first % LOG_EVENTS];
		g_autoptr(GDateTime) second = g_date_time_new_from_unix_local(
			e->when / G_USEC_PER_SEC);
		g_autoptr(GDateTime) then = second ? g_date_time_add(second,
			e->when % G_USEC_PER_SEC) : NULL;
		g_autofree char *iso = then ?
			g_date_time_format_iso8601(then) : NULL;
		g_autofree char *text = then ?
			g_date_time_format(then, "%Y-%m-%d %H:%M:%S") : NULL;

		report_open(r, NULL, '{');
		if (text)
			report_say(r, "%s.%03d ", text,
				   (int)(e->when % G_USEC_PER_SEC / 1000));
		report_text(r, "time", iso, NULL);
		report_number(r, "gen", e->generation, NULL);
		report_text(r, "level", log_level_names[e->level], " ");
		report_text(r, "subsystem", e->subsystem, ": ");
		report_text(r, "message", e->text, "\n");
		report_close(r, '}');
		if (follow)
			end_object(q);
	}
	if (!follow)
		request_close_list(q);
}

/* sweep [NUMBER of sweeps that had ended when it was requested] */
static void
run_sweep(struct control_request *r)
{
	const struct control_view *v = &r->v;
	const struct status_sweep *sweep = NULL;
	enum control_code code;
	const char *name;
	uint64_t first;

	if (v->paused) {
		request_say(r, CONTROL_NOT_DONE, "this manager is paused: "
			    "resume sweeps");
		return;
	}
	if (!r->words[1]) {
		first = v->status->n_sweeps + (v->doing >= SWEEP_DISCOVERING &&
					       v->doing <= SWEEP_PROGRAMMING);
		r->hooks->sweep(r->hooks->data);
	} else if (!r->options[REQUEST_WAIT] ||
		   !text_read_number(r->words[1], 0, UINT64_MAX, &first)) {
		request_say_usage(r);
		return;
	}
	if (!r->options[REQUEST_WAIT]) {
		request_say(r, CONTROL_DONE, "a heavy sweep begins");
		return;
	}
	/* The requested sweep is the first with this cause after the `first`
	 * that had ended by then. */
	for (uint64_t n = first; !sweep && n < v->status->n_sweeps; n++) {
		sweep = status_last(v->status, (unsigned)(v->status->n_sweeps -
							  1 - n));
		if (sweep && !strstr(sweep->causes, "signal"))
			sweep = NULL;
	}
	if (!sweep) {
		go_on(r, "sweep", first, "--wait");
		return;
	}
	code = control_verdict(v, &name);
	request_say(r, CONTROL_DONE, "swept in %.1f %s: %s",
		    (double)sweep->took_us / 1000, v->ms, name);
	r->code = code;
}

/* --- words --- */

static void run_help(struct control_request *r);

static const struct command commands[] = {
	{ "status", "", "how the subnet is, and what was done lately", 1, 1, 0,
	  control_status },
	{ "accept", "[NODE|GUID]", "what is missing or slow, or of one node, "
	  "is so from now on", 1, 2, 0, run_accept },
	{ "path", "A B [--why]", "the way from A to B, what a path there has, "
	  "and why", 3, 3, OF_FABRIC | 1 << REQUEST_WHY, control_path },
	{ "who", "NAME|LID|GUID", "a node: its names, cables, partitions", 2,
	  2, OF_FABRIC, control_who },
	{ "nodes", "[TEXT|switch|host]", "all nodes, or some", 1, 2, OF_FABRIC,
	  control_nodes },
	{ "links", "[TEXT|slow|inactive|avoided]", "all cables, or some", 1, 2,
	  OF_FABRIC, control_links },
	{ "avoid", "[NAME/PORT [ERRORS]]", "leave the link at a switch's port "
	  "out of routing (it has so many errors), or list those that are", 1,
	  3, OF_FABRIC, control_avoid },
	{ "use", "NAME/PORT", "take it into routing again", 2, 2, OF_FABRIC,
	  control_avoid },
	{ "ports", "NAME|LID|GUID", "the ports of a node", 2, 2, OF_FABRIC,
	  control_ports },
	{ "groups", "", "multicast groups", 1, 1, OF_FABRIC, control_groups },
	{ "members", "[MGID|MLID]", "members of all groups, or of one", 1, 2,
	  OF_FABRIC, control_members },
	{ "services", "", "services that clients registered", 1, 1, OF_FABRIC,
	  control_services },
	{ "subscriptions", "", "clients that get Reports, and about what", 1,
	  1, OF_FABRIC, control_subscriptions },
	{ "sms", "", "the subnet managers of the fabric", 1, 1, 0,
	  control_sms },
	{ "view", "[tables|lid LID|node NAME|LID|GUID]", "the fabric as a text "
	  "for programs, see minism-view(5)", 1, 3, OF_FABRIC, control_view },
	{ "metrics", "", "counters and states as OpenMetrics text", 1, 1, 0,
	  control_metrics },
	{ "events", "[--follow]", "what was logged lately, of level info and "
	  "above", 1, 2, 1 << REQUEST_FOLLOW, run_events },
	{ "sweep", "[--wait]", "sweep now, and read everything again", 1, 2,
	  1 << REQUEST_WAIT, run_sweep },
	{ "reload", "", "read partitions, lists of GUIDs and names of nodes "
	  "again, then sweep", 1, 1, 0, run_reload },
	{ "partitions", "[NAME|PKEY]", "partitions and their members", 1, 2, 0,
	  control_partitions },
	{ "partition", "add NAME|PKEY NODE|GUID[=full|limited|both]",
	  "let a port in, as defmember of the file says; never lowers", 4, 5,
	  1 << REQUEST_FORCE, control_partition },
	{ "partition", "set NAME|PKEY NODE|GUID full|limited|both [--force]",
	  "make it this member, also less than it is", 4, 5,
	  1 << REQUEST_FORCE, control_partition },
	{ "partition", "remove NAME|PKEY NODE|GUID [--force]",
	  "take a port out", 4, 5, 1 << REQUEST_FORCE, control_partition },
	{ "partition", "reset NAME|PKEY NODE|GUID [--force]",
	  "forget what was changed: the file holds again", 4, 5,
	  1 << REQUEST_FORCE, control_partition },
	{ "pause", "", "for maintenance: no sweeps, nothing is programmed", 1,
	  1, 0, run_pause },
	{ "resume", "", "sweep and program again", 1, 1, 0, run_pause },
	{ "priority", "[0-15]", "SM priority, or change it; the highest is "
	  "the master", 1, 2, 0, run_priority },
	{ "takeover", "", "become the master, with a priority above its own",
	  1, 1, 0, run_takeover },
	{ "config", "", "all options, and where their values come from", 1, 1,
	  0, run_config },
	{ "loglevel", "[LEVEL]",
	  "what is logged: error, warning, info, verbose, debug", 1, 2, 0,
	  run_loglevel },
	{ "help", "", "these words", 1, 1, 0, run_help },
};

static void
append_usage(GString *text, const struct command *c)
{
	g_string_append_printf(text, "%s%s%s%s", text->len ? "\n" : "",
			       c->name, *c->rest ? " " : "", c->rest);
}

static void
run_help(struct control_request *r)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		append_usage(text, &commands[i]);
		g_string_append_printf(text, "\n    %s", commands[i].summary);
	}
	request_say(r, CONTROL_DONE, "%s", text->str);
}

void
request_say_usage(struct control_request *r)
{
	const struct command *command = r->command;
	bool is_short = r->n_words < command->min ||
		(r->n_words == 4 && command->max == 5);
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, command->name) == 0)
			append_usage(text, &commands[i]);
	request_say(r, CONTROL_USAGE, "%s: %s; usage:\n%s", command->name,
		    is_short ? "an argument is missing" : "too many arguments",
		    text->str);
}

/* The options at the end of the line; a mask. */
static unsigned
take_options(struct control_request *r)
{
	static const char *const names[] = {
		[REQUEST_FORCE] = "--force", [REQUEST_WHY] = "--why",
		[REQUEST_WAIT] = "--wait", [REQUEST_FOLLOW] = "--follow",
	};
	unsigned mask = 0, i;

	while (r->n_words > 1) {
		for (i = 0; i < G_N_ELEMENTS(names); i++)
			if (!strcmp(r->words[r->n_words - 1], names[i]))
				break;
		if (i == G_N_ELEMENTS(names))
			break;
		r->options[i] = true;
		mask |= 1u << i;
		g_clear_pointer(&r->words[--r->n_words], g_free);
	}
	return mask;
}

static void
run_line(struct control_request *r, const char *line)
{
	const char *names[G_N_ELEMENTS(commands)];
	const struct command *command;
	g_autofree char *shown = NULL, *near = NULL;
	g_autoptr(GError) error = NULL;
	unsigned given;
	gint n;

	if (strlen(line) >= CONTROL_LINE_MAX ||
	    !g_shell_parse_argv(line, &n, &r->words, &error)) {
		request_say(r, CONTROL_USAGE, "%s", error ?
		    "a quote is not closed, or the line is empty" :
		    "the line is too long");
		return;
	}
	r->n_words = (guint)n;
	if (n > 1 && strcmp(r->words[0], "json") == 0) {
		r->out.as_json = true;
		g_free(r->words[0]);
		memmove(r->words, r->words + 1, (size_t)n * sizeof(*r->words));
		r->n_words--;
	}
	given = take_options(r);
	for (size_t i = 0; !r->command && i < G_N_ELEMENTS(commands); i++) {
		names[i] = commands[i].name;
		if (strcmp(names[i], r->words[0]) == 0)
			r->command = &commands[i];
	}
	command = r->command;
	if (!command) {
		shown = text_one_line(r->words[0]);
		near = text_nearest(shown, "", names, G_N_ELEMENTS(names));
		request_say(r, CONTROL_USAGE, "there is no command %s%s; see "
			    "help", *shown ? shown : "\"\"", near);
		return;
	}
	if (given & ~command->takes) {
		request_say(r, CONTROL_USAGE, "%s does not take that option",
			    command->name);
		return;
	}
	if (r->n_words < command->min || r->n_words > command->max) {
		request_say_usage(r);
		return;
	}
	r->hooks->look(&r->v, r->hooks->data);
	r->db = r->v.sa ? r->v.sa->view : NULL;
	if ((command->takes & OF_FABRIC) && !r->db)
		request_say(r, CONTROL_NOT_DONE,
			    "no sweep has read the fabric yet");
	else
		command->run(r);
}

void
control_put_head(enum control_code code, size_t len, GString *out)
{
	g_string_append_printf(out, "minism %d %d %zu\n", VERSION, (int)code,
			       len);
}

GBytes *
control_answer(const struct control_hooks *hooks, const char *line,
	       GString *out)
{
	g_autoptr(GString) body = g_string_new(NULL);
	struct control_request r = { .hooks = hooks,
				     .out = { .out = body } };

	run_line(&r, line);
	g_strfreev(r.words);
	control_put_head(r.code, body->len + (r.rest ?
			 g_bytes_get_size(r.rest) : 0), out);
	g_string_append_len(out, body->str, (gssize)body->len);
	return r.rest;
}
