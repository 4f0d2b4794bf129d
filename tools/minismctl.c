// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minismctl: sends requests to a running minism, and prints the answers.
 *
 * Flow: options -> the words as one line -> the answer (client.h), which goes to
 * standard output, or to standard error if the request was not valid. Of an
 * answer that was cut off nothing is printed. Commands are defined by the
 * manager, which also answers wrong ones; only `help` works without a manager.
 *
 * Exit status: that of the answer (enum control_code), 2 for wrong options, 3
 * if no manager answers, or its answer is cut off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/client.h"
#include "tools/dump.h"
#include "tools/page.h"
#include "tools/tool_options.h"
#include "tools/view.h"
#include "topology/text.h"

#define EXIT_USAGE	2
#define WATCH_US	2000000u
#define CLEAR_SCREEN	"\033[H\033[2J"

struct ctl_arguments {
	int mode;
	struct client_place place;
	bool json, force, why, wait, follow, watch;
	char *view;		/* a file instead of a manager; NULL: none */
	char **words;
};

static const char help_summary[] =
	"Asks a running minism. COMMAND is one of\n"
	"  status [--watch]              how the subnet is\n"
	"  path A B [--why]              the way from A to B, and why\n"
	"  who NAME|LID|GUID             a node: names, cables, partitions\n"
	"  nodes [TEXT|switch|host]      all nodes, or some\n"
	"  links [TEXT|slow|inactive]    all cables, or some\n"
	"  ports NAME|LID|GUID           the ports of a node\n"
	"  groups                        multicast groups\n"
	"  members [MGID|MLID]           members of all groups, or of one\n"
	"  services                      services that clients registered\n"
	"  subscriptions                 clients that get Reports\n"
	"  sms                           the subnet managers of the fabric\n"
	"  view [tables|lid N|node NAME] the fabric as a text for programs\n"
	"  report                        the fabric as a web page\n"
	"  dump FOLDER                   the fabric in OpenSM's dump files\n"
	"  metrics                       counters as OpenMetrics text\n"
	"  events [--follow]             what was logged lately\n"
	"  sweep [--wait]                sweep now, read everything again\n"
	"  accept [NODE|GUID]            what is missing or slow is to be so\n"
	"  reload                        read the site's files again\n"
	"  partitions [NAME|PKEY]        partitions and their members\n"
	"  partition add NAME|PKEY NODE|GUID[=full|limited|both]\n"
	"  partition set NAME|PKEY NODE|GUID full|limited|both\n"
	"  partition remove NAME|PKEY NODE|GUID\n"
	"  partition reset NAME|PKEY NODE|GUID\n"
	"  pause                         for maintenance: no sweeps\n"
	"  resume                        sweep and program again\n"
	"  priority [0-15]               SM priority, or change it\n"
	"  takeover                      become the master\n"
	"  config                        options, and where they come from\n"
	"  loglevel [LEVEL]              error, warning, info, verbose, debug\n"
	"  help                          what this manager understands";

static const char help_description[] =
	"Exit status: 0 done; 1 it could not be done; 2 wrong usage; 3 no "
	"manager answers, or it is cut off.\nOf status: 0 UP, 1 DEGRADED, 4 NOT UP, 5 STANDBY, "
	"6 FAILED.";

#define AT(member)	offsetof(struct ctl_arguments, member)

static const struct option options[] = {
	CLIENT_OPTIONS(AT(place)),
	{ NULL, "view", 0, &option_file, AT(view), 0, 0, NULL,
	  "FILE", "Of report, dump: this view instead of a manager's" },
	OPTION_SWITCH("json", 'j', &option_bool, AT(json), 0, "Print JSON"),
	OPTION_SWITCH("force", 0, &option_bool, AT(force), 0,
		      "Change the partitions of the manager's own port, even "
		      "if other ports lose it"),
	OPTION_SWITCH("why", 0, &option_bool, AT(why), 0,
		      "Of a path: why each port"),
	OPTION_SWITCH("wait", 0, &option_bool, AT(wait), 0,
		      "Of sweep: until it has ended"),
	OPTION_SWITCH("follow", 'f', &option_bool, AT(follow), 0,
		      "Of events: also those to come"),
	OPTION_SWITCH("watch", 'w', &option_bool, AT(watch), 0,
		      "Ask again every 2 s"),
	TOOL_OPTIONS(AT(mode)),
};

static const struct option_table table = {
	.options = options,
	.n = G_N_ELEMENTS(options),
	.usage = "COMMAND",
	.summary = help_summary,
	.description = help_description,
};

static GString *
make_line(const struct ctl_arguments *a)
{
	const struct {
		const char *text;
		bool given;
	} ends[] = {
		{ "--force", a->force }, { "--why", a->why },
		{ "--wait", a->wait }, { "--follow", a->follow },
	};
	GString *line = g_string_new(a->json ? "json" : NULL);

	for (guint i = 0; a->words[i]; i++) {
		g_autofree char *word = g_shell_quote(a->words[i]);

		g_string_append_printf(line, "%s%s", line->len ? " " : "",
				       word);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
		if (ends[i].given)
			g_string_append_printf(line, " %s", ends[i].text);
	/* the line ends at the first newline, and a word cannot have one */
	g_strdelimit(line->str, "\n", '?');
	g_string_append_c(line, '\n');
	return line;
}

/* Without a manager to ask, the word is compared with the commands of the
 * summary. */
static void
complain_of_word(const char *word)
{
	g_auto(GStrv) lines = g_strsplit(help_summary, "\n", -1);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *shown = text_one_line(word), *near = NULL;

	for (guint i = 1; lines[i]; i++) {
		char *name = lines[i] + strspn(lines[i], " ");

		name[strcspn(name, " ")] = '\0';
		if (strcmp(name, word) == 0)
			return;
		g_ptr_array_add(names, name);
	}
	near = text_nearest(shown, "", (const char *const *)names->pdata,
			    names->len);
	tool_options_complain("there is no command %s%s", shown, near);
}

/* One question and its answer; the exit status. CLIENT_AGAIN: the next request
 * is in `line`. */
static int
minismctl_ask(const struct ctl_arguments *a, GString *line)
{
	g_autoptr(GString) body = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	int code = client_ask(&a->place, CLIENT_PATIENCE_US, line, body, &error);

	if (code < 0) {
		tool_options_complain("%s", error->message);
		complain_of_word(a->words[0]);
		return error->code;
	}
	if (code == EXIT_USAGE) {
		fputs(body->str, stderr);
		return code;
	}
	fputs(body->str, stdout);
	if (fflush(stdout) == 0)
		return code;
	tool_options_complain("standard output: %s", g_strerror(errno));
	return EXIT_FAILURE;
}

/* The view with its tables: of a file, or of the manager. NULL after a message,
 * with an exit status. */
static struct tool_view *
get_view(const struct ctl_arguments *a, int *status)
{
	g_autoptr(GError) error = NULL;
	struct tool_view *v = tool_view_get(&a->place, a->view, "view tables\n",
					    &error);

	if (v)
		return v;
	tool_options_complain("%s", error->message);
	*status = error->domain == CLIENT_ERROR ? error->code : EXIT_FAILURE;
	return NULL;
}

/* report */
static int
run_report(const struct ctl_arguments *a)
{
	int status;
	struct tool_view *v = get_view(a, &status);
	g_autoptr(GString) html = g_string_new(NULL);

	if (!v)
		return status;
	page_write(v, html);
	tool_view_free(v);
	return tool_options_write(html) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* dump FOLDER */
static int
run_dump(const struct ctl_arguments *a)
{
	struct tool_view *v;
	g_autoptr(GError) error = NULL;
	int status = EXIT_SUCCESS;

	if (!a->words[1] || a->words[2]) {
		tool_options_complain("dump: one FOLDER is needed");
		return EXIT_USAGE;
	}
	v = get_view(a, &status);
	if (!v)
		return status;
	if (!v->lft)
		v->lft = lft_new(v->s->n_switches, v->lids->top);
	if (!dump_all(a->words[1], v->s, v->lids, v->lft, &error)) {
		tool_options_complain("%s", error->message);
		status = EXIT_FAILURE;
	}
	tool_view_free(v);
	return status;
}

static int
minismctl_run(const struct ctl_arguments *a)
{
	g_autoptr(GString) line = NULL;
	int status = 0;

	if (!a->words || !a->words[0]) {
		tool_options_complain("COMMAND is missing; see minismctl --help");
		return EXIT_USAGE;
	}
	if (!a->place.socket && !a->place.guid && !a->words[1] &&
	    strcmp(a->words[0], "help") == 0) {
		puts(help_summary);
		return EXIT_SUCCESS;
	}
	if (strcmp(a->words[0], "dump") == 0)
		return run_dump(a);
	if (strcmp(a->words[0], "report") == 0 && !a->words[1])
		return run_report(a);
	if (a->view) {
		tool_options_complain("--view is for report and dump; the "
				      "other commands ask a manager");
		return EXIT_USAGE;
	}
	line = make_line(a);
	/* until the user ends it, or the manager ends */
	while (a->watch && status != EXIT_USAGE &&
	       status != CLIENT_ERROR_SILENT) {
		if (isatty(STDOUT_FILENO))
			fputs(CLEAR_SCREEN, stdout);
		status = minismctl_ask(a, line);
		g_usleep(WATCH_US);
	}
	while (!a->watch && (status = minismctl_ask(a, line)) == CLIENT_AGAIN)
		g_usleep(CLIENT_AGAIN_US);
	return status;
}

int
main(int argc, char **argv)
{
	struct ctl_arguments a = { .mode = TOOL_RUN };
	int status = EXIT_USAGE;

	g_set_prgname("minismctl");
	if (tool_options_read(&table, &a, &a.mode, argc, argv, &a.words,
			      EXIT_USAGE, &status))
		status = minismctl_run(&a);
	option_free_texts(&table, &a);
	g_strfreev(a.words);
	return status;
}
