// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands of minismctl to a running manager.
 *
 * Structs. A control_request is one line and the answer as far as it is made.
 *
 * Flow of control_answer(): the line is cut into words, the first names the
 * command, the command writes the answer's body and its code, and the head goes
 * before it. A request that is not valid is answered with the usage and the
 * nearest word, since most requests are typed by hand.
 *
 * Only the sweep, the level of the log and the hooks are changed, so this is a
 * function from a line to a text, which can be tested with any line.
 */
#include "sm/control/control.h"

#include <string.h>

#include "sm/control/request.h"
#include "topology/each.h"
#include "topology/report.h"
#include "topology/text.h"
#include "topology/partition.h"

#define VERSION		2

/* Goes on with the number of the one that was begun. */
static void
run_reload(struct control_request *r)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) text = g_string_new(NULL);
	enum control_code code = r->hooks->reload(&r->number, lines,
						  r->hooks->data);
	bool ok = code == CONTROL_DONE;

	if (code == CONTROL_AGAIN) {
		request_again(r, r->number);
		return;
	}
	if (ok)
		g_string_append(text, "read again; a heavy sweep begins");
	EACH_PTR(const char, line, lines)
		g_string_append_printf(text, ok ? "\n%s (warning)" : "%s\n",
				       line);
	if (!ok)
		g_string_append(text, "the present configuration stays in "
				"force");
	request_say(r, code, "%s", text->str);
}

/* "1 changed name" */
static void
count_ended(GString *out, unsigned n, const char *what)
{
	if (n)
		g_string_append_printf(out, "%s%u %s%s", out->len ? ", " : "",
				       n, what, text_plural(n));
}

static unsigned
count_names(const struct expected *e)
{
	unsigned n = 0;

	EACH_PTR(const struct expected_fault, f, e ? e->former : NULL)
		n += !f->link;
	return n;
}

static void
run_accept(struct control_request *r)
{
	const struct expected *e = r->v.expected;
	unsigned faults = e ? e->faults->len : 0, names = count_names(e);
	unsigned cables = e ? e->former->len - names : 0;
	const char *word = r->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	unsigned n = e ? r->hooks->accept(word, r->hooks->data) : 0;
	g_autoptr(GString) what = g_string_new(NULL);

	if (n) {
		count_ended(what, faults - e->faults->len, "fault");
		count_ended(what, cables + count_names(e) - e->former->len,
			    "changed cable");
		count_ended(what, names - count_names(e), "changed name");
	}
	if (!e)
		request_say(r, CONTROL_NOT_DONE, "only a master knows what is "
			    "expected of the fabric");
	else if (!n && !word)
		request_say(r, CONTROL_DONE, "nothing is missing or slow");
	else if (n)
		request_say(r, CONTROL_DONE, "%s %s accepted: the fabric is "
			    "expected to be so from now on", what->str,
			    n == 1 ? "is" : "are");
	else
		request_say(r, CONTROL_NOT_DONE, "nothing of %s is missing or "
			    "slow; status lists what is", shown);
}

static void
run_pause(struct control_request *r)
{
	bool pauses = strcmp(r->words[0], "pause") == 0;
	bool was = r->v.sweep->paused;

	sweep_set_paused(r->v.sweep, pauses);
	request_say(r, CONTROL_DONE, "%s", pauses == was ?
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
	unsigned was = r->v.sweep->self.priority;
	uint64_t n;

	if (!word) {
		request_say(r, CONTROL_DONE, "%u", was);
	} else if (!text_read_number(word, 0, SM_PRIORITY_MAX, &n)) {
		request_say(r, CONTROL_USAGE, "priority: %s is not 0 to %u",
			    shown, SM_PRIORITY_MAX);
	} else {
		sweep_set_priority(r->v.sweep, (unsigned)n);
		request_say(r, CONTROL_DONE, "%u -> %u, until a restart",
			    was, (unsigned)n);
	}
}

static void
run_takeover(struct control_request *r)
{
	bool is_master = r->v.sweep->self.state == SM_STATE_MASTER;

	if (!is_master)
		sweep_take_over(r->v.sweep);
	request_say(r, CONTROL_DONE, is_master ? "this manager is the master" :
		    "the master is asked to hand over; see minismctl status");
}

static void
run_loglevel(struct control_request *r)
{
	const char *const *names = log_level_names;
	const char *word = r->words[1];
	uint64_t n;

	if (!word) {
		request_say(r, CONTROL_DONE, "%s", names[r->v.log->level]);
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
	r->v.log->level = (enum log_level)n;
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
	struct text_report *r = &q->out;
	struct options_value v;
	size_t at = 0;

	report_open(r, NULL, '{');
	report_say(r, "# file: ");
	report_text(r, "file", q->v.conf->config_file, "\n");
	report_open(r, "config", '[');
	while (options_next(q->v.conf, &at, &v)) {
		bool quotes = !v.value || !*v.value ||
			strpbrk(v.value, " \t#");
		g_autofree char *text = v.secret ? g_strdup("(secret)") :
			!v.value && v.key ? g_strdup("(null)") :
			g_strdup_printf(quotes ? "\"%s\"" : "%s",
					v.value ? v.value : "");

		/* the file has no way to write a quote */
		report_open(r, NULL, '{');
		report_say(r, "%s%s%s %s", v.secret || !v.key ||
			   (v.value && strchr(v.value, '"')) ? "# " : "",
			   v.key ? "" : "--", v.key ? v.key : v.name,
			   text);
		report_say(r, "\t# %s\n", origins[v.from]);
		report_text(r, "key", v.key, NULL);
		report_text(r, "option", v.name, NULL);
		report_text(r, "value", v.secret ? text : v.value, NULL);
		report_text(r, "origin", origins[v.from], NULL);
		report_close(r, '}');
	}
	report_close_list(r, "options");
}

/* --- events and sweep ---
 *
 * With --follow and --wait the answer is CONTROL_AGAIN: its first line is the
 * same request again, with a number from which it goes on. So no connection stays
 * open, and a client that ended costs nothing. */

/* Of a list that is followed: an object a line. */
static void
end_object(struct control_request *q)
{
	if (!q->out.as_json)
		return;
	g_string_append_c(q->out.out, '\n');
	q->out.comma = false;
}

/* Goes on with the number of the first. When followed, JSON is an object a
 * line. */
static void
run_events(struct control_request *q)
{
	bool follow = q->options & 1 << COMMAND_FOLLOW;
	const struct log *log = q->v.log;
	struct text_report *r = &q->out;
	uint64_t end = log->n_events, first = end - MIN(end, LOG_EVENTS);

	if (q->number > end)	/* of a manager that ran before this one */
		q->number = 0;
	first = MAX(q->number, first);
	if (follow)
		request_again(q, end);
	else
		report_open_list(r, "events");
	if (follow && q->is_again && first > q->number) {
		report_open(r, NULL, '{');
		report_number(r, "lost", first - q->number,
			      " events are lost: they came too fast\n");
		report_close(r, '}');
		end_object(q);
	}
	for (; first < end; first++) {
		log_event_put(&log->events[first % LOG_EVENTS], r);
		if (follow)
			end_object(q);
	}
	if (!follow)
		report_close_list(r, "events");
}

/* Goes on with the number of sweeps that had ended when it was requested. */
static void
run_sweep(struct control_request *r)
{
	const struct control_view *v = &r->v;
	const struct status_sweep *sweep;
	bool waits = r->options & 1 << COMMAND_WAIT;
	enum control_code code;
	const char *name;

	if (v->sweep->paused) {
		request_say(r, CONTROL_NOT_DONE, "this manager is paused: "
			    "resume sweeps");
		return;
	}
	if (!r->is_again || !waits) {
		r->number = request_next_sweep(v);
		r->hooks->sweep(r->hooks->data);
	}
	if (!waits) {
		request_say(r, CONTROL_DONE, "a heavy sweep begins");
		return;
	}
	sweep = request_swept(r, r->number, "requested");
	if (!sweep)
		return;
	code = control_verdict(v, &name);
	request_say(r, CONTROL_DONE, "swept in %.1f %s: %s",
		    (double)sweep->took_us / 1000, v->ms, name);
	r->code = code;
}

/* --- words --- */

/* What the manager does for commands of the table. */
static const struct {
	const char *name;
	bool of_fabric;		/* needs control_request.db */
	void (*run)(struct control_request *r);
} runs[] = {
	{ "accept", false, run_accept },
	{ "avoid", true, control_avoid }, { "use", true, control_avoid },
	{ "services", true, control_services },
	{ "subscriptions", true, control_subscriptions },
	{ "view", false, control_view }, { "events", false, run_events },
	{ "sweep", false, run_sweep }, { "reload", false, run_reload },
	{ "partition", false, control_partition },
	{ "pause", false, run_pause }, { "resume", false, run_pause },
	{ "priority", false, run_priority },
	{ "takeover", false, run_takeover }, { "config", false, run_config },
	{ "loglevel", false, run_loglevel },
};

void
request_say_usage(struct control_request *r)
{
	g_autofree char *text = command_usage(r->command, r->words);

	request_say(r, CONTROL_USAGE, "%s", text);
}

/* The options at the end of the line; a mask. */
static unsigned
take_options(struct control_request *r)
{
	unsigned mask = 0, i;

	while (r->n_words > 1) {
		for (i = 0; i < COMMAND_OPTIONS; i++)
			if (!strcmp(r->words[r->n_words - 1],
				    command_option_names[i]))
				break;
		if (i == COMMAND_OPTIONS)
			break;
		mask |= 1u << i;
		g_clear_pointer(&r->words[--r->n_words], g_free);
	}
	return mask;
}

/* What goes before a request. */
static void
take_prefix(struct control_request *r, const char *line)
{
	r->line = text_skip_blanks(line);
	r->out.as_json = g_str_has_prefix(r->line, "json ");
	if (r->out.as_json)
		r->line += strlen("json ");
	if (!g_str_has_prefix(r->line, "again "))
		return;
	line = r->line + strlen("again ");
	r->is_again = text_take_digits(&line, 10, UINT64_MAX, &r->number) &&
		*line == ' ';
	if (r->is_again)
		r->line = line + 1;
}

static void
run_line(struct control_request *r, const char *line)
{
	g_autofree char *wrong = NULL;
	g_autoptr(GError) error = NULL;
	size_t i = 0;
	gint n;

	take_prefix(r, line);
	if (strlen(r->line) >= CONTROL_LINE_MAX ||
	    !g_shell_parse_argv(r->line, &n, &r->words, &error)) {
		request_say(r, CONTROL_USAGE, "%s", error ?
		    "a quote is not closed, or the line is empty" :
		    "the line is too long");
		return;
	}
	r->n_words = (guint)n;
	r->options = take_options(r);
	r->command = command_check(r->words, r->options, &wrong);
	if (!r->command) {
		request_say(r, CONTROL_USAGE, "%s", wrong);
		return;
	}
	while (i < G_N_ELEMENTS(runs) &&
	       strcmp(runs[i].name, r->command->name) != 0)
		i++;
	if (i == G_N_ELEMENTS(runs)) {
		request_say(r, CONTROL_USAGE, "%s is answered by minismctl",
			    r->command->name);
		return;
	}
	r->hooks->look(&r->v, r->hooks->data);
	r->db = r->v.sa ? r->v.sa->view : NULL;
	if (control_observes(&r->v) && r->command->place == COMMAND_OF_MASTER)
		request_say(r, CONTROL_NOT_DONE, "%s is not for a manager that "
			    "only observes", r->command->name);
	else if (runs[i].of_fabric && !r->db)
		request_say_no_fabric(r);
	else
		runs[i].run(r);
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
