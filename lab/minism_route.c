// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-route: the routing laboratory. Engines, and other managers' tables,
 * verified and measured without a fabric.
 *
 * Flow: options -> lab_open() -> a row for each engine or file -> text or
 * JSON on standard output. An error is one line on standard error. The exit
 * status is the worst verdict, see enum lab_verdict; 1 is for a wrong option or
 * file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routing/select.h"
#include "tools/dump.h"
#include "routing/work.h"
#include "tools/tool_options.h"
#include "lab/route_lab.h"
#include "topology/state_file.h"
#include "topology/net_file.h"

#define DEFAULT_PATTERNS	"1000"
#define MAX_PATTERNS		1000000

struct route_arguments {
	int mode;
	struct lab_wish wish;
	char *engine;		/* NULL: auto, unless there is a file */
	char *dump, *net;	/* files to write */
	bool all, json;
	bool path;		/* between the words behind the fabric */
	char **ends;
};

static const char help_summary[] =
	"Routes a fabric that need not exist, verifies the tables and measures "
	"them.\n\n"
	"FILE is what ibnetdiscover or minism-fabric writes or ibsim reads; "
	"SPEC a formula,\nas 'PGFT(18,36;1,18)' (see minism-fabric --help).";

static const char help_description[] =
	"Exit status: 0 all pairs are reached and no credit loop; 1 wrong "
	"usage or file;\n"
	"2 the engine refuses the fabric; 3 pairs without a path; 4 paths that "
	"loop or\n"
	"end elsewhere; 5 a credit loop. With several tables the highest.";

/* Options that contradict each other. */
static bool
is_fabric(const char *word)
{
	return strchr(word, '(') || g_file_test(word, G_FILE_TEST_EXISTS);
}

static bool
check_arguments(struct route_arguments *a, char *const *words)
{
	bool is_last;

	if (a->path && g_strv_length((char **)words) != 3) {
		tool_options_complain("--path needs the fabric and two ports: "
				      "names, GUIDs or LIDs");
		return false;
	}
	if (!a->path && !tool_options_one_word(words, "FILE or SPEC"))
		return false;
	/* FABRIC A B, or A B FABRIC; a file may be called like a node */
	is_last = a->path && !is_fabric(words[0]) && is_fabric(words[2]);
	a->wish.fabric = words[is_last ? 2 : 0];
	a->wish.no_figures = a->path;
	a->ends = (char **)words + !is_last;
	if (!a->wish.threads)
		a->wish.threads = MIN(g_get_num_processors(), WORK_MAX_THREADS);
	if (a->all && a->engine) {
		tool_options_complain("--all and --engine do not go together");
		return false;
	}
	if (a->dump && (a->all || (a->engine && a->wish.lfts))) {
		tool_options_complain("--dump writes one set of tables: "
				      "name one engine");
		return false;
	}
	return true;
}

#define AT(member)	offsetof(struct route_arguments, member)

static const struct option options[] = {
	{ NULL, "engine", 'e', &option_name, AT(engine), 0, 0, NULL, "NAME",
	  "Route with this engine (auto: the one that minism would take)" },
	OPTION_SWITCH("all", 'a', &option_bool, AT(all), 0,
		      "Compare all engines"),
	{ NULL, "lfts", 'l', &option_file, AT(wish.lfts), 0, 0, NULL, "FILE",
	  "Judge these tables: opensm-lfts.dump, or the output of dump_fts" },
	{ NULL, "before", 'b', &option_file, AT(wish.before), 0, 0, NULL,
	  "FILE", "Tables that the switches hold: what changes, and is old "
	  "next to new safe?" },
	TOOL_FABRIC_OPTIONS(AT(wish.shuffle), AT(wish.seed),
			    AT(wish.fail_links)),
	{ NULL, "fail-switches", 0, &option_percent, AT(wish.fail_switches),
	  0, 0, NULL, "PERCENT", "Take this share of the switches away" },
	{ NULL, "roots", 0, &option_file, AT(wish.roots), 0, 0, NULL, "FILE",
	  "GUIDs of the switches that are roots, one a line" },
	{ NULL, "io", 0, &option_file, AT(wish.io), 0, 0, NULL, "FILE",
	  "GUIDs of the CA ports of I/O nodes, one a line" },
	{ NULL, "permutations", 0, &option_number, AT(wish.permutations), 0,
	  MAX_PATTERNS, DEFAULT_PATTERNS, "N",
	  "Random permutations, and bisections, to measure (1000)" },
	{ NULL, "shifts", 0, &option_number, AT(wish.shifts), 0, MAX_PATTERNS,
	  DEFAULT_PATTERNS, "N", "Shifts to measure at most (1000)" },
	{ NULL, "threads", 0, &option_number, AT(wish.threads), 1,
	  WORK_MAX_THREADS, NULL, "N",
	  "Threads to use (default: one a processor)" },
	OPTION_SWITCH("path", 0, &option_bool, AT(path), 0,
		      "Print the paths between A and B (names, GUIDs or LIDs "
		      "of ports), to and fro"),
	{ NULL, "dump", 'd', &option_file, AT(dump), 0, 0, NULL, "FILE",
	  "Write the tables there, as opensm-lfts.dump" },
	{ NULL, "net", 'n', &option_file, AT(net), 0, 0, NULL, "FILE",
	  "Write the fabric, with its failures, there" },
	OPTION_SWITCH("json", 'j', &option_bool, AT(json), 0, "Write JSON"),
	TOOL_OPTIONS,
};

static const struct option_table table = {
	.options = options,
	.n = G_N_ELEMENTS(options),
	.usage = "FILE|SPEC [A B]",
	.summary = help_summary,
	.description = help_description,
};

static bool
is_stdout(const char *path)
{
	return path && (strcmp(path, "-") == 0 ||
			strcmp(path, "/dev/stdout") == 0);
}

static bool
route_write_file(const char *path, const GString *text)
{
	g_autoptr(GError) error = NULL;

	if (is_stdout(path))
		return tool_options_write(text);
	if (state_file_is_stream(path)) {
		FILE *out = fopen(path, "we");
		bool good = out &&
			fwrite(text->str, 1, text->len, out) == text->len;

		if (out && fclose(out) != 0)
			good = false;
		if (!good)
			tool_options_complain("%s: %s", path, g_strerror(errno));
		return good;
	}
	if (state_file_is_ours(path, &error) &&
	    g_file_set_contents(path, text->str, (gssize)text->len, &error))
		return true;
	tool_options_complain("%s", error->message);
	return false;
}

/* The rows that the options name; NULL if an engine is not known. */
static GPtrArray *
try_all(struct route_lab *lab, const struct route_arguments *a)
{
	g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(
		(GDestroyNotify)lab_row_free);
	g_autoptr(GError) error = NULL;
	const struct engine *engine;
	bool is_auto = a->engine ? strcmp(a->engine, "auto") == 0 :
		!a->all && !a->wish.lfts;
	size_t i;

	for (i = 0; a->all && engines[i]; i++)
		g_ptr_array_add(rows, lab_try_engine(lab, engines[i]));
	if (is_auto) {
		g_ptr_array_add(rows, lab_try_auto(lab));
	} else if (a->engine) {
		engine = engine_by_name(a->engine, &error);
		if (!engine) {
			tool_options_complain("%s", error->message);
			return NULL;
		}
		g_ptr_array_add(rows, lab_try_engine(lab, engine));
	}
	if (a->wish.lfts)
		g_ptr_array_add(rows, lab_try_file(lab));
	return g_steal_pointer(&rows);
}

static int
report(const struct route_lab *lab, const struct route_arguments *a,
       const GPtrArray *rows)
{
	const struct lab_row *row = g_ptr_array_index(rows, 0);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) tables = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	int status = LAB_GOOD;

	if (a->dump && !row->refused) {
		dump_tables(lab->subnet, lab->lids, row->lft, tables);
		if (!route_write_file(a->dump, tables))
			return EXIT_FAILURE;
	}
	if (a->path && row->refused) {
		tool_options_complain("%s", row->refused);
		return row->verdict;
	}
	if (a->path && !lab_print_path(lab, row, a->ends, text, &error)) {
		tool_options_complain("%s", error->message);
		return EXIT_FAILURE;
	}
	if (!a->path)
		lab_print(lab, rows, a->json, text);
	/* standard output is for the tables then */
	if (is_stdout(a->dump) || is_stdout(a->net))
		fputs(text->str, stderr);
	else if (!tool_options_write(text))
		return EXIT_FAILURE;
	for (guint i = 0; i < rows->len; i++) {
		row = g_ptr_array_index(rows, i);
		status = MAX(status, (int)row->verdict);
	}
	return status;
}

static int
route_run(void *arguments, char **words)
{
	struct route_arguments *a = arguments;
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) rows = NULL;
	g_autoptr(GString) net = g_string_new(NULL);
	int status = EXIT_FAILURE;
	struct route_lab lab;

	if (!check_arguments(a, words))
		return status;
	if (!lab_open(&lab, &a->wish, &error)) {
		tool_options_complain("%s", error->message);
	} else {
		if (a->net)
			net_file_write(lab.subnet, net);
		if (!a->net || route_write_file(a->net, net))
			rows = try_all(&lab, a);
	}
	if (rows)
		status = report(&lab, a, rows);
	lab_close(&lab);
	return status;
}

int
main(int argc, char **argv)
{
	struct route_arguments a = { .mode = TOOL_RUN };

	return tool_main("minism-route", &table, &a, EXIT_FAILURE, argc, argv,
			 route_run);
}
