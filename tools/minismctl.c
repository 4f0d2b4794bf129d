// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minismctl: sends requests to a running minism, and prints the answers.
 *
 * Flow: options -> the words, by the table of commands -> what minismctl makes
 * of a view, live or from a file; the other words as one line to the manager
 * (client.h). The answer goes to standard output, or to standard error if the
 * request was not valid. Of an answer that was cut off nothing is printed.
 *
 * Exit status: that of the answer (enum control_code), 2 for wrong options or
 * words, 3 if no manager answers, or its answer is cut off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/config/command.h"
#include "tools/client.h"
#include "tools/compare.h"
#include "tools/show.h"
#include "tools/support.h"
#include "tools/tool_options.h"
#include "tools/view.h"
#include "topology/text.h"

#define SHOW_TRIES	5u	/* while the fabric changes */
#define SUPPORT_FILE	"minism-support.tar.gz"
#define HELP_HEAD	"Asks a running minism. COMMAND is one of"

struct ctl_arguments {
	int mode;
	struct client_place place;
	bool json;
	bool options[COMMAND_OPTIONS];
	char *view;		/* a file instead of a manager; NULL: none */
	char **words;
};

static const char help_description[] =
	"Exit status: 0 done; 1 it could not be done; 2 wrong usage; 3 no "
	"manager answers, or it is cut off.\nOf status: 0 UP, 1 DEGRADED, 4 NOT UP, 5 STANDBY, "
	"6 FAILED. Of doctor: 0 nothing found, 1 findings, 2 it cannot be read.";

#define AT(member)	offsetof(struct ctl_arguments, member)

static const struct option options[] = {
	CLIENT_OPTIONS(AT(place)),
	{ NULL, "view", 0, &option_file, AT(view), 0, 0, NULL,
	  "FILE", "This view instead of a manager's" },
	OPTION_SWITCH("json", 'j', &option_bool, AT(json), 0, "Print JSON"),
	OPTION_SWITCH("all", 0, &option_bool, AT(options[COMMAND_ALL]), 0,
		      "Of status: a line for all that is missing or unstable"),
	OPTION_SWITCH("force", 0, &option_bool, AT(options[COMMAND_FORCE]), 0,
		      "Change the partitions of the manager's own port, even "
		      "if other ports lose it"),
	OPTION_SWITCH("why", 0, &option_bool, AT(options[COMMAND_WHY]), 0,
		      "Of a path: why each port"),
	OPTION_SWITCH("wait", 0, &option_bool, AT(options[COMMAND_WAIT]), 0,
		      "Of sweep: until it has ended"),
	OPTION_SWITCH("follow", 'f', &option_bool, AT(options[COMMAND_FOLLOW]),
		      0, "Of events: also those to come"),
	TOOL_OPTIONS,
};

/* The answer goes where the manager's would. */
static int
put_answer(const GString *text, int status)
{
	if (status == EXIT_USAGE)
		fputs(text->str, stderr);
	else if (!tool_options_write(text))
		return EXIT_FAILURE;
	return status;
}

static int
put_line(const struct ctl_arguments *a, const char *line, int status)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct text_report r = { .out = text, .as_json = a->json };

	report_done(&r, false, line);
	return put_answer(text, status);
}

/* Prints a part of the answer as soon as it is there. */
static bool
print_part(GString *body, void *data)
{
	bool ok = tool_options_write(body);

	g_string_truncate(body, 0);
	return ok;
}

/* Why the name in a request that failed means nothing, which the view of the fabric
 * tells; NULL: it means something, or there is none. g_free. */
static char *
explain_name(const struct ctl_arguments *a, bool *missing)
{
	bool is_port = strcmp(a->words[0], "partition") == 0;
	bool names = is_port || !strcmp(a->words[0], "accept") ||
		!strcmp(a->words[0], "avoid") || !strcmp(a->words[0], "use");
	guint at = is_port ? 3 : 1;
	struct tool_view *v = names && g_strv_length(a->words) > at ?
		tool_view_get(&a->place, NULL, "view\n", NULL) : NULL;
	g_autofree char *word = v ? g_strdup(a->words[at]) : NULL;
	char *why = NULL;
	uint64_t guid;

	if (!v)
		return NULL;
	if (is_port && !strcmp(a->words[1], "add") && strchr(word, '='))
		*strrchr(word, '=') = '\0';
	tool_view_find(v, word, is_port ? FIND_END_PORT : FIND_CABLE_END,
		       missing, &why);
	if (!why && !is_port) {	/* the port is there, its link is not */
		why = tool_view_missing(v, word);
		*missing = why != NULL;
	}
	/* of a number the manager knows more: it may be that of a port that is away */
	if (!*missing && text_read_number(word, 16, UINT64_MAX, &guid))
		g_clear_pointer(&why, g_free);
	tool_view_free(v);
	return why;
}

/* One question, its answer to the end; the exit status. */
static int
run_question(const struct ctl_arguments *a)
{
	g_autoptr(GString) line = g_string_new(a->json ? "json" : NULL);
	g_autoptr(GString) body = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *why = NULL;
	bool missing = false;
	int code;

	for (guint i = 0; a->words[i]; i++) {
		g_autofree char *word = g_shell_quote(a->words[i]);

		g_string_append_printf(line, "%s%s", line->len ? " " : "",
				       word);
	}
	for (size_t i = 0; i < COMMAND_OPTIONS; i++)
		if (a->options[i])
			g_string_append_printf(line, " %s",
					       command_option_names[i]);
	/* the line ends at the first newline, and a word cannot have one */
	g_strdelimit(line->str, "\n", '?');
	g_string_append_c(line, '\n');
	code = client_ask(&a->place, CLIENT_PATIENCE_US, line, body,
			     print_part, NULL, &error);
	if (code < 0) {
		tool_options_complain("%s", error->message);
		return error->code;
	}
	if (code == EXIT_FAILURE || code == EXIT_USAGE)
		why = explain_name(a, &missing);
	if (why && (missing || code == EXIT_USAGE))
		return put_line(a, why, missing ? EXIT_FAILURE : code);
	return code == CLIENT_AGAIN ? EXIT_FAILURE : put_answer(body, code);
}

static int
tell_error(const struct ctl_arguments *a, const GError *error)
{
	if (error->domain == TOOL_VIEW_ERROR)
		return put_line(a, error->message, error->code);
	tool_options_complain("%s", error->message);
	return error->domain == CLIENT_ERROR ? error->code : EXIT_FAILURE;
}

/* support [FILE [MORE ..]] */
static int
run_support(const struct ctl_arguments *a)
{
	const char *path = a->words[1] ? a->words[1] : SUPPORT_FILE;
	g_autoptr(GError) error = NULL;

	if (!support_pack(&a->place, path, a->words[1] ? a->words + 2 : NULL,
			  &error))
		return tell_error(a, error);
	printf("%s is written: the fabric with names and GUIDs, events, and "
	       "the configuration without keys%s\n", path,
	       a->words[1] && a->words[2] ? "; your files are in it as they "
	       "are, and may hold keys" : "");
	return EXIT_SUCCESS;
}

/* diff, expect: wrong usage is also a file that cannot be read */
static int
run_compare(const struct ctl_arguments *a)
{
	bool is_diff = strcmp(a->words[0], "diff") == 0;
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report r = { .out = out, .as_json = a->json };
	struct tool_view *old = NULL, *new;
	struct snapshot *was = NULL;
	g_autofree char *text = NULL;
	int status = EXIT_USAGE;

	if (a->view && a->words[1] && a->words[2]) {
		tool_options_complain("diff of two files takes no --view");
		return status;
	}
	new = tool_view_get(&a->place, is_diff && a->words[2] ? a->words[2] :
			    a->view, "view\n", &error);
	if (new && is_diff)
		old = tool_view_get(NULL, a->words[1], "view\n", &error);
	else if (new && (text = text_read_file(a->words[1], &error)))
		was = design_parse(text, a->words[1], new->s, &error);
	if (old || was)
		status = compare_fabrics(was ? was : old->s, new->s, old,
					 old ? new : NULL, &r);
	else if (tell_error(a, error) == CLIENT_ERROR_SILENT)
		status = CLIENT_ERROR_SILENT;
	g_clear_pointer(&was, snapshot_unref);
	tool_view_free(old);
	tool_view_free(new);
	return out->len ? put_answer(out, status) : status;
}

/* All commands, or those of that name; a line each and one for what it does.
 * Returns the whole text. */
static const char *
put_commands(GString *text, const char *name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (!name || !strcmp(commands[i].name, name))
			g_string_append_printf(text, "%s  %s%s%s\n      %s",
				text->len ? "\n" : "", commands[i].name,
				*commands[i].rest ? " " : "", commands[i].rest,
				commands[i].summary);
	return text->str;
}

/* Words of OpenSM's console, programs of infiniband-diags and others that are
 * tried, and what answers the question here. */
static const char *const other_words[][2] = {
	{ "counters", "the program minism-health" },
	{ "dump_conf", "config" }, { "dump_fts", "lft NODE, dump FOLDER" },
	{ "dump_portguid", "nodes TEXT" },
	{ "errors", "the program minism-health" },
	{ "health", "status, and the program minism-health" },
	{ "ibhosts", "nodes host" }, { "iblinkinfo", "links, ports NODE" },
	{ "ibnetdiscover", "view, nodes, links" },
	{ "ibqueryerrors", "the program minism-health" },
	{ "ibroute", "lft NODE" }, { "ibswitches", "nodes switch" },
	{ "ibtracert", "path A B" }, { "kill", "whatif kill NODE" },
	{ "lid", "who LID" },
	{ "lidbalance", "path A B --why, and minism-route on a view" },
	{ "list", "nodes, links, groups, partitions" },
	{ "logflush", "loglevel; each line of the log is written at once" },
	{ "perfmgr", "the program minism-health" },
	{ "pm", "the program minism-health" },
	{ "portstatus", "status, links and ports NODE" },
	{ "querylid", "who LID" },
	{ "reroute", "reload, which computes all routes anew" },
	{ "resweep", "sweep" },
	{ "restart", "systemctl restart minism" },
	{ "route", "path A B, and lft NODE" },
	{ "show", "status, who NODE, nodes, links" },
	{ "sminfo", "sms" }, { "smpquery", "who NODE, ports NODE, lft NODE" },
	{ "stop", "systemctl stop minism" },
	{ "switchbalance", "minism-route on a view" },
	{ "topology", "nodes, links, and report for a map" },
	{ "unplug", "whatif unplug NAME/PORT; and avoid NAME/PORT before it is" },
	{ "update_desc", "sweep, which reads all names" },
	{ "version", "--version" },
};

/* wrong, or what to type in place of such a word. */
static const char *
find_hint(const char *word, const char *wrong, char **hint)
{
	for (size_t i = 0; i < G_N_ELEMENTS(other_words); i++)
		if (strcmp(word, other_words[i][0]) == 0)
			return *hint = g_strdup_printf("there is no command "
				"%s; here it is: %s", word, other_words[i][1]);
	return wrong;
}

static int
run_help(const struct ctl_arguments *a)
{
	g_autoptr(GString) text = g_string_new(a->words[1] ? NULL : HELP_HEAD);
	g_autofree char *wrong = NULL, *hint = NULL;

	if (!*put_commands(text, a->words[1])) {
		command_check(a->words + 1, 0, &wrong);
		return put_line(a, find_hint(a->words[1], wrong, &hint),
				EXIT_USAGE);
	}
	puts(text->str);
	return EXIT_SUCCESS;
}

/* What is answered by a view: path, nodes, .. */
static int
run_show(const struct ctl_arguments *a)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	struct show q = {
		.place = a->view ? NULL : &a->place, .words = a->words,
		.why = a->options[COMMAND_WHY], .all = a->options[COMMAND_ALL],
	};
	g_autofree char *request = show_request(a->words), *since = NULL;
	bool is_dated = show_find_command(a->words)->is_dated, is_old;
	unsigned tries = SHOW_TRIES;
	int64_t at;
	int status;

	do {
		g_clear_error(&error);
		q.v = tool_view_get(&a->place, a->view, request, &error);
		if (!q.v) {
			status = tell_error(a, error);
			/* 1 is an answer: DEGRADED of status, .. */
			return status == EXIT_FAILURE ? EXIT_USAGE : status;
		}
		at = (int64_t)view_lines_first(q.v->lines, VIEW_HEAD)->n[HEAD_AT];
		is_old = a->view || (!is_dated && view_lines_first(q.v->lines,
						VIEW_SUBNET)->n[SUBNET_AGE]);
		g_string_truncate(text, 0);
		q.out = (struct text_report){ .out = text, .as_json = a->json };
		status = show_run(&q, &error);
		tool_view_free(q.v);
	} while (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN) &&
		 --tries);
	if (error) {
		status = tell_error(a, error);
		return error->domain == TEXT_ERROR ? EXIT_USAGE : status;
	}
	/* not to standard output, which is for programs; a net file has no time */
	since = expected_since_text(at / 1000);
	if (at && is_old)
		tool_options_complain("the fabric as of %s", since);
	return put_answer(text, status);
}

/* What minismctl makes itself. */
static const struct ctl_run {
	const char *name;
	int (*run)(const struct ctl_arguments *a);
	bool is_plain;		/* takes no --json */
	bool is_live;		/* needs a manager */
} runs[] = {
	{ "diff", run_compare, false, false },
	{ "expect", run_compare, false, false },
	{ "help", run_help, true, false },
	{ "support", run_support, true, true },
}, show = { NULL, run_show, false, false },
   question = { NULL, run_question, false, true };

static int
minismctl_run(void *arguments, char **words)
{
	struct ctl_arguments *a = arguments;
	g_autofree char *wrong = NULL, *hint = NULL;
	const struct command *command;
	const struct ctl_run *run;
	unsigned given = 0;

	a->words = words;
	if (!words[0]) {
		tool_options_complain("COMMAND is missing; see minismctl --help");
		return EXIT_USAGE;
	}
	for (unsigned i = 0; i < COMMAND_OPTIONS; i++)
		given |= a->options[i] ? 1u << i : 0;
	command = command_check(a->words, given, &wrong);
	if (!command)
		return put_line(a, find_hint(a->words[0], wrong, &hint),
				EXIT_USAGE);
	run = show_find_command(words) ? &show : &question;
	for (size_t i = 0; i < G_N_ELEMENTS(runs); i++)
		if (!strcmp(runs[i].name, words[0]))
			run = &runs[i];
	if (a->view && run->is_live) {
		tool_options_complain("%s needs a manager: --view is not for "
				      "it", command->name);
		return EXIT_USAGE;
	}
	if (a->json && (run->is_plain || (run == &show &&
	    show_find_command(a->words)->is_plain))) {
		tool_options_complain("%s takes no --json", command->name);
		return EXIT_USAGE;
	}
	return run->run(a);
}

int
main(int argc, char **argv)
{
	g_autoptr(GString) help = g_string_new(HELP_HEAD);
	const struct option_table table = {
		.options = options, .n = G_N_ELEMENTS(options),
		.usage = "COMMAND",
		.summary = put_commands(help, NULL),
		.description = help_description,
	};
	struct ctl_arguments a = { .mode = TOOL_RUN };

	return tool_main("minismctl", &table, &a, EXIT_USAGE, argc, argv,
			 minismctl_run);
}
