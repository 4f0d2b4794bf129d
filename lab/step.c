// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stepping. The virtual clock is stopped, so that nothing times out meanwhile.
 * Other commands are those of the console: they show the present state of the
 * devices, or inject faults.
 */
#include "lab/step.h"

#include <string.h>

struct stop {
	char *what, *where;	/* where NULL: anywhere */
	bool once;		/* until, and no break */
};

struct step {
	struct console console;
	bool goes;		/* only stops count */
	GPtrArray *stops;	/* struct stop */
};

static void
stop_free(gpointer data)
{
	struct stop *s = data;

	g_free(s->what);
	g_free(s->where);
	g_free(s);
}

struct step *
step_new(const struct console *console)
{
	struct step *s = g_new0(struct step, 1);

	s->console = *console;
	s->stops = g_ptr_array_new_with_free_func(stop_free);
	return s;
}

void
step_free(struct step *s)
{
	if (!s)
		return;
	g_ptr_array_unref(s->stops);
	g_free(s);
}

/* ---------------------------------------------------------------- stopping */

bool
step_stops(struct step *s, const struct explain_line *line)
{
	if (!line->what || line->kind == EXPLAIN_REQUEST)
		return false;
	for (guint i = s->stops->len; i-- > 0;) {
		const struct stop *stop = s->stops->pdata[i];

		if (!strstr(line->what, stop->what) ||
		    (stop->where && strcmp(line->where, stop->where) != 0))
			continue;
		s->goes = false;
		if (stop->once)
			g_ptr_array_remove_index(s->stops, i);
	}
	return !s->goes;
}

/* ---------------------------------------------------------------- commands */

static const char help[] =
	"Enter                the next MAD or decision\n"
	"go                   on, to the next break or the end\n"
	"until WORD [NODE]    until discovered, elected, routed, planned, up;\n"
	"                     or to what has WORD in it, as PortInfo\n"
	"break WORD [NODE]    stop there each time; without WORD: forget all\n"
	"quit                 ends the run\n"
	"and those of minism-lab, about the devices as they are now:\n";

enum step_next
step_command(struct step *s, const char *line, GString *out)
{
	/* the stages of a sweep, by the line that begins them */
	static const struct {
		const char *word, *what;
	} stages[] = {
		{ "discovered", "election" }, { "elected", "LID" },
		{ "routed", "verify" }, { "planned", "plan" },
		{ "up", "end" },
	};
	g_auto(GStrv) words = NULL;
	const char *first, *what;
	struct stop *stop;
	bool is_break;

	if (!line) {
		/* At the end of input the run continues to its end. */
		s->goes = true;
		g_ptr_array_set_size(s->stops, 0);
		return STEP_ON;
	}
	if (!line[strspn(line, " \t")])
		return STEP_ON;
	if (!g_shell_parse_argv(line, NULL, &words, NULL))
		return STEP_STAY;
	first = words[0];
	what = words[1];
	for (size_t i = 0; words[1] && i < G_N_ELEMENTS(stages); i++)
		if (strcmp(stages[i].word, words[1]) == 0)
			what = stages[i].what;
	if (strcmp(first, "quit") == 0)
		return STEP_QUIT;
	s->goes = strcmp(first, "go") == 0 ||
		(strcmp(first, "until") == 0 && what);
	is_break = strcmp(first, "break") == 0;
	if ((s->goes || is_break) && what) {
		stop = g_new0(struct stop, 1);
		stop->what = g_strdup(what);
		stop->where = g_strdup(words[2]);
		stop->once = s->goes;
		g_ptr_array_add(s->stops, stop);
	}
	if (s->goes)
		return s->stops->len ? STEP_ON : STEP_END;
	if (is_break) {
		if (!what)
			g_ptr_array_set_size(s->stops, 0);
		return STEP_STAY;
	}
	if (strcmp(first, "help") == 0 && !what)
		g_string_append(out, help);
	console_command(&s->console, line, out);
	return STEP_STAY;
}
