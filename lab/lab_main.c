// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-lab: a simulated fabric that every InfiniBand program can enter.
 *
 *	minism-lab NET			a prompt
 *	minism-lab NET -- COMMAND	runs it inside, ends with its status
 *	minism-lab -- COMMAND		in the lab around (MINISM_LAB), as another
 *					node with --on
 *	minism-lab --command=TEXT	a command of the console, there
 *
 * Exit status: that of COMMAND (128 and the signal's number if one ended it);
 * else 0, 1 if something does not work, 2 for wrong usage.
 */
#include "config.h"

#include <errno.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/check.h"
#include "lab/generate.h"
#include "lab/keeper.h"
#include "lab/prompt.h"
#include "lab/server.h"
#include "lab/step.h"
#include "tools/explain.h"
#include "tools/tool_options.h"
#include "topology/each.h"

#define PRELOAD		"libminism-lab-umad.so"

struct lab_arguments {
	int mode;
	char **words;
	char *node, *socket;	/* NULL: not given */
	unsigned kernel;	/* 1: Linux 6.17 */
	bool planes;
	uint64_t seed;
	GPtrArray *commands;	/* char * */
	char **run;		/* behind "--"; NULL: none */
};

struct session {
	struct lab *lab;
	const struct console *console;	/* of the lab */
	bool over;
	uint32_t node;		/* the one that programs run on */
	struct step *step;	/* NULL: the fabric goes by itself */
	struct explain *explain;
	struct keeper keeper;
	int status;
};

/* ------------------------------------------------------------- the command */

/* The library beside this program, or else the installed one. Libraries that
 * are preloaded already come first: a sanitizer requires that. */
static char **
environment(const char *socket, const char *node, const char *sys)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *dir = g_path_get_dirname(self ? self : "/");
	g_autofree char *beside = g_build_filename(dir, PRELOAD, NULL);
	const char *ours = g_file_test(beside, G_FILE_TEST_EXISTS) ? beside :
		MINISM_PKGLIBDIR "/" PRELOAD;
	g_autofree char *all = NULL;
	const char *before = g_getenv("LD_PRELOAD");
	char **env = g_get_environ();

	all = before && *before && !strstr(before, PRELOAD) ?
		g_strdup_printf("%s:%s", before, ours) :
		g_strdup(before && *before ? before : ours);
	env = g_environ_setenv(env, "LD_PRELOAD", all, TRUE);
	env = g_environ_setenv(env, LAB_ENV_SOCKET, socket, TRUE);
	env = g_environ_setenv(env, LAB_ENV_SYS, sys, TRUE);
	return g_environ_setenv(env, LAB_ENV_NODE, node, TRUE);
}

/* The lab goes on meanwhile, a prompt waits. */
static void
run_inside(struct session *s, uint32_t node, char **argv)
{
	g_autofree char *name = lab_name_node(s->console->fabric, node);
	g_auto(GStrv) env = environment(lab_socket(s->lab), name,
					lab_sys(s->lab, node));

	s->status = keeper_run(&s->keeper, argv, env);
}

/* ---------------------------------------------------------------- stepping */

static void
session_stop_stepping(struct session *s)
{
	sim_set_step(s->console->sim, NULL, NULL);
	g_clear_pointer(&s->step, step_free);
	g_clear_pointer(&s->explain, explain_free);
}

static void
session_on_line(const struct explain_line *line, void *data)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct session *s = data;

	explain_print(line, EXPLAIN_TEXT, out);
	fputs(out->str, stdout);
	fflush(stdout);
	if (!step_stops(s->step, line))
		sim_go_on(s->console->sim);
}

static void
session_on_step(struct sim *sim, uint32_t node, unsigned method,
		const uint8_t *answer, void *data)
{
	struct session *s = data;

	explain_answer(s->explain, sim_now(sim),
		       s->console->fabric->nodes[node].desc, method, answer);
}

/* True: the line was a command of stepping, or of the console meanwhile. */
static bool
session_step(struct session *s, const char *line, GString *out)
{
	if (!s->step && g_strcmp0(line, "step") == 0) {
		s->step = step_new(s->console);
		s->explain = explain_new(session_on_line, s);
		sim_set_step(s->console->sim, session_on_step, s);
		return true;
	}
	if (!s->step || !line || g_str_has_prefix(line, "on ") || *line == '!')
		return false;
	switch (step_command(s->step, line, out)) {
	case STEP_ON:
		sim_go_on(s->console->sim);
		return true;
	case STEP_END:
		session_stop_stepping(s);
		return true;
	case STEP_STAY:
		return true;
	case STEP_QUIT:
		break;
	}
	return false;
}

/* What stands behind n words, which may be in quotes. */
static const char *
behind_words(const char *line, int n)
{
	const char *at = line;

	for (int have = 0; have < n; at++) {
		g_autofree char *head = g_strndup(line, (gsize)(at - line));

		have = 0;
		if (strchr(" \t", *at))
			g_shell_parse_argv(head, &have, NULL, NULL);
	}
	return at;
}

/* quit, on NODE COMMAND .. and ! COMMAND .. are handled here, others by the
 * console. A COMMAND is the shell's. */
static void
on_prompt_line(const char *line, void *data)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_auto(GStrv) words = NULL;
	struct session *s = data;
	uint32_t node = s->node;
	bool shell, is_on;
	int n = 0;

	line += line ? strspn(line, " \t") : 0;
	shell = line && *line == '!';
	if (line)
		g_shell_parse_argv(line + shell, &n, &words, NULL);
	is_on = !shell && n > 2 && strcmp(words[0], "on") == 0;
	if (is_on)
		node = lab_find_node(s->console->fabric, s->console->sim,
				     words[1]);
	if (session_step(s, line, out)) {
		;
	} else if (node == SNAPSHOT_NONE) {
		lab_no_node(s->console->fabric, words[1], out);
	} else if ((shell && n) || is_on) {
		run_inside(s, node, (char *[]){
			(char *)"sh", (char *)"-c",
			(char *)behind_words(line + shell, is_on ? 2 : 0), NULL,
		});
		if (s->status)
			printf("exit status %d\n", s->status);
		s->status = EXIT_SUCCESS;
	} else if (!line || (n && (strcmp(words[0], "quit") == 0 ||
				   strcmp(words[0], "exit") == 0))) {
		s->over = true;
	} else {
		console_command(s->console, line, out);
	}
	fputs(out->str, stdout);
	fflush(stdout);
}

static char **
on_complete(const char *line, void *data)
{
	return console_complete(((struct session *)data)->console,
				line);
}

/* A running program gets the signal, and the lab ends with it; an interrupt
 * from the keyboard reaches it directly, and at the prompt it clears the line,
 * as in a shell. */
static gboolean
on_terminate(gpointer data)
{
	struct session *s = data;

	if (s->keeper.runs)
		keeper_terminate(&s->keeper);
	else
		s->status = 128 + SIGTERM;
	s->over |= !s->keeper.runs;
	return G_SOURCE_CONTINUE;
}

static gboolean
on_interrupt(gpointer data)
{
	struct session *s = data;

	s->over |= !s->keeper.runs && !prompt_clear();
	return G_SOURCE_CONTINUE;
}

/* --------------------------------------------------------------- the fabric */

/* The answer to a command of the command line. */
static bool
tell_user(const char *command, const char *answer, int error)
{
	if (error)
		fprintf(stderr, "%s: %s: %s", g_get_prgname(), command, answer);
	else
		fputs(answer, stdout);
	fflush(stdout);
	return !error;
}

static bool
run_commands(const struct session *s, const GPtrArray *commands)
{
	EACH_PTR(const char, line, commands) {
		g_autoptr(GString) out = g_string_new(NULL);
		int error = console_command(s->console, line, out);

		if (!tell_user(line, out->str, error))
			return false;
	}
	return true;
}

static int
run_lab(const struct lab_arguments *a)
{
	struct lab_options options = {
		.params = sim_params_default, .socket = a->socket,
		.limits = { .is_6_17 = a->kernel, .planes = a->planes },
	};
	const struct generate_options generate = { .seed = a->seed };
	struct session s = { .over = false };
	g_autoptr(GString) why = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct snapshot *fabric = NULL;
	g_autofree char *name = NULL, *dir = g_dir_make_tmp(LAB_FOLDER, &error);
	bool ok;

	options.dir = dir;
	options.params.seed = a->seed;
	if (dir && keeper_start(&s.keeper, dir, &error))
		fabric = generate_or_read(a->words[0], &generate, &error);
	if (fabric) {
		s.lab = lab_new(fabric, &options, &error);
		snapshot_unref(fabric);
	}
	if (!s.lab) {
		tool_options_complain("%s", error->message);
		if (dir)
			device_remove_files(dir, "");
		return EXIT_FAILURE;
	}
	s.console = lab_console(s.lab);
	s.node = a->node ? lab_find_node(s.console->fabric, s.console->sim,
					 a->node) : lab_home(s.lab);
	g_unix_signal_add(SIGTERM, on_terminate, &s);
	g_unix_signal_add(SIGHUP, on_terminate, &s);
	g_unix_signal_add(SIGINT, on_interrupt, &s);
	ok = s.node != SNAPSHOT_NONE || lab_no_node(s.console->fabric, a->node,
						    why);
	if (!ok)
		tool_options_complain("%s", g_strchomp(why->str));
	ok = ok && run_commands(&s, a->commands);
	if (!ok) {
		s.status = EXIT_FAILURE;
	} else if (a->run) {
		run_inside(&s, s.node, a->run);
	} else {
		name = lab_name_node(s.console->fabric, s.node);
		printf("%s=%s; programs run on %s; help lists the commands\n",
		       LAB_ENV_SOCKET, lab_socket(s.lab), name);
		fflush(stdout);
		prompt_open("lab> ", on_prompt_line, on_complete, &s);
		while (!s.over)
			g_main_context_iteration(NULL, TRUE);
		prompt_close();
	}
	session_stop_stepping(&s);
	keeper_stop(&s.keeper);
	lab_free(s.lab);
	return s.status;
}

/* --------------------------------------------------------- the lab around */

/* One frame, and what comes behind its result: a text; NULL without a lab. */
static char *
ask_lab(const char *socket, enum lab_type type, const void *data, size_t len,
	struct lab_result *r)
{
	g_autoptr(GSocketAddress) to = g_unix_socket_address_new(socket);
	g_autoptr(GSocketClient) client = g_socket_client_new();
	g_autoptr(GSocketConnection) c = NULL;
	g_autoptr(GError) error = NULL;
	struct lab_frame frame = { .length = len, .type = type };
	char *answer = NULL;
	GOutputStream *out;
	GInputStream *in;

	c = g_socket_client_connect(client, G_SOCKET_CONNECTABLE(to), NULL,
				    &error);
	if (c) {
		out = g_io_stream_get_output_stream(G_IO_STREAM(c));
		in = g_io_stream_get_input_stream(G_IO_STREAM(c));
		g_output_stream_write_all(out, &frame, sizeof(frame), NULL,
					  NULL, &error);
		g_output_stream_write_all(out, data, len, NULL, NULL, NULL);
		g_input_stream_read_all(in, &frame, sizeof(frame), NULL, NULL,
					NULL);
		g_input_stream_read_all(in, r, sizeof(*r), NULL, NULL, NULL);
		answer = g_malloc0(frame.length);
		g_input_stream_read_all(in, answer, frame.length - sizeof(*r),
					NULL, NULL, &error);
	}
	if (!error)
		return answer;
	tool_options_complain("%s: %s", socket, error->message);
	g_free(answer);
	return NULL;
}

static int
join_lab(const struct lab_arguments *a)
{
	const char *socket = g_getenv(LAB_ENV_SOCKET);
	const char *node = a->node ? a->node : g_getenv(LAB_ENV_NODE);
	struct lab_attach enter = { .port = 0 };
	struct lab_result r = { .error = EIO };
	g_autofree char *sys = NULL;
	g_auto(GStrv) env = NULL;

	if (!socket) {
		tool_options_complain("not inside a lab (%s is not set); to "
				      "start one: minism-lab NET", LAB_ENV_SOCKET);
		return EXIT_USAGE;
	}
	for (guint i = 0; i < a->commands->len; i++) {
		const char *text = a->commands->pdata[i];
		g_autofree char *answer = ask_lab(socket, LAB_COMMAND, text,
						  strlen(text), &r);

		if (!answer || !tell_user(text, answer, r.error))
			return EXIT_FAILURE;
	}
	if (!a->run)
		return EXIT_SUCCESS;
	g_strlcpy(enter.node, node ? node : "", sizeof(enter.node));
	sys = ask_lab(socket, LAB_ENTER, &enter, sizeof(enter), &r);
	if (!sys)
		return EXIT_FAILURE;
	if (r.error) {
		tool_options_complain("no node is called %s", enter.node);
		return EXIT_FAILURE;
	}
	env = environment(socket, enter.node, sys);
	execvpe(a->run[0], a->run, env);
	tool_options_complain("%s: %s", a->run[0], g_strerror(errno));
	return 127;
}

/* -------------------------------------------------------------- arguments */

static char *
add_command(const struct option *o, void *place, const char *value)
{
	GPtrArray **commands = place;

	g_ptr_array_add(*commands, g_strdup(value));
	return NULL;
}

static const char *const kernels[] = { "any", "6.17", NULL };
static const struct option_kind kind_kernel = {
	.accepts = "6.17", .words = kernels, .set = option_set_word,
};
static const struct option_kind kind_commands = {
	.accepts = "a command", .is_action = true, .set = add_command,
};

#define AT(member)	offsetof(struct lab_arguments, member)

static const struct option options[] = {
	{ NULL, "on", 0, &option_name, AT(node), 0, 0, NULL, "NODE",
	  "the node that COMMAND runs on (the first host)" },
	{ NULL, "command", 'c', &kind_commands, AT(commands), 0, 0, NULL,
	  "TEXT", "a command of the prompt, before COMMAND" },
	{ NULL, "kernel", 0, &kind_kernel, AT(kernel), 0, 0, "any", "VERSION",
	  "6.17: limits the MADs of an agent as that kernel does" },
	{ NULL, "planes", 0, &option_bool, AT(planes), 0, 0, NULL, NULL,
	  "each HCA is two devices, for SMPs and GMPs, as a ConnectX-8" },
	{ NULL, "socket", 0, &option_file, AT(socket), 0, 0, NULL, "PATH",
	  "where to listen" },
	{ NULL, "seed", 0, &option_number64, AT(seed), 0, 0, "0", "N",
	  "decides all that is random (0)" },
	TOOL_OPTIONS,
};

static const struct option_table table = {
	.options = options,
	.n = G_N_ELEMENTS(options),
	.usage = "[NET] [-- COMMAND]",
	.summary = "Runs a simulated fabric for every program that uses "
		"libibumad.",
	.description = "NET is a net file (ibnetdiscover's format) or a "
		"formula such as \"PGFT(4,4;1,4)\".\nWithout COMMAND there is "
		"a prompt; its commands: help.",
};

static int
lab_run(void *arguments, char **words)
{
	struct lab_arguments *a = arguments;

	a->words = words;
	if (!words[0])
		return join_lab(a);
	if (words[1])
		tool_options_complain("%s: a command stands behind --, and a "
				      "formula is quoted", words[1]);
	return words[1] ? EXIT_USAGE : run_lab(a);
}

int
main(int argc, char **argv)
{
	struct lab_arguments a = {
		.commands = g_ptr_array_new_with_free_func(g_free),
	};
	int status;

	/* COMMAND has options of its own */
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		a.run = i + 1 < argc ? argv + i + 1 : NULL;
		argv[i] = NULL;
		argc = i;
	}
	status = tool_main("minism-lab", &table, &a, EXIT_USAGE, argc, argv,
			   lab_run);
	g_ptr_array_unref(a.commands);
	return status;
}
