// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stepping. The run stands still inside the callback that told of the line:
 * time is virtual, so that nothing times out meanwhile. What is no command of
 * stepping is one of minism-lab's console: it looks at what the devices hold
 * at this moment, or breaks something.
 */
#include "sm/step.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN	4096

struct stop {
	char *what, *where;	/* where NULL: anywhere */
};

struct step {
	struct console console;
	bool goes;		/* only stops count */
	GPtrArray *breaks;	/* struct stop */
	struct stop until;	/* what NULL: nothing; gone once it is met */
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
	s->breaks = g_ptr_array_new_with_free_func(stop_free);
	return s;
}

void
step_free(struct step *s)
{
	if (!s)
		return;
	g_ptr_array_unref(s->breaks);
	g_free(s->until.what);
	g_free(s->until.where);
	g_free(s);
}

/* ---------------------------------------------------------------- stopping */

/* What people call the moments of a sweep, by the line that begins it. */
static const char *
milestone(const char *word)
{
	static const struct {
		const char *word, *what;
	} names[] = {
		{ "discovered", "election" }, { "elected", "LID" },
		{ "routed", "verify" }, { "planned", "plan" },
		{ "up", "end" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(names[i].word, word) == 0)
			return names[i].what;
	return word;
}

static bool
is_at(const struct stop *stop, const struct explain_line *line)
{
	return strstr(line->what, stop->what) &&
		(!stop->where || strcmp(line->where, stop->where) == 0);
}

static bool
stops_at(struct step *s, const struct explain_line *line)
{
	if (s->until.what && is_at(&s->until, line)) {
		g_clear_pointer(&s->until.what, g_free);
		g_clear_pointer(&s->until.where, g_free);
		s->goes = false;
	}
	for (guint i = 0; i < s->breaks->len; i++)
		s->goes &= !is_at(s->breaks->pdata[i], line);
	return !s->goes;
}

/* ---------------------------------------------------------------- commands */

static void
help(void)
{
	fputs("Enter                the next MAD or decision\n"
	      "go                   on, to the next break or the end\n"
	      "until WORD [NODE]    until discovered, elected, routed, planned, "
	      "up;\n"
	      "                     or to what has WORD in it, as PortInfo\n"
	      "break WORD [NODE]    stop there each time; without WORD: forget "
	      "them\n"
	      "quit                 ends the run\n"
	      "and those of minism-lab, about the devices as they are now:\n",
	      stdout);
}

static void
set_break(struct step *s, char **words)
{
	struct stop *stop;

	if (!words[1]) {
		g_ptr_array_set_size(s->breaks, 0);
		return;
	}
	stop = g_new0(struct stop, 1);
	stop->what = g_strdup(milestone(words[1]));
	stop->where = g_strdup(words[2]);
	g_ptr_array_add(s->breaks, stop);
}

/* True: the run goes on. */
static bool
command(struct step *s, char **words, const char *line)
{
	g_autoptr(GString) out = g_string_new(NULL);

	if (!words[0])
		return true;
	s->goes = strcmp(words[0], "go") == 0;
	if (s->goes)
		return true;
	if (strcmp(words[0], "until") == 0 && words[1]) {
		s->until.what = g_strdup(milestone(words[1]));
		s->until.where = g_strdup(words[2]);
		return s->goes = true;
	}
	if (strcmp(words[0], "break") == 0) {
		set_break(s, words);
		return false;
	}
	if (strcmp(words[0], "help") == 0 && !words[1])
		help();
	console_command(&s->console, line, out);
	fputs(out->str, stdout);
	return false;
}

bool
step_wait(struct step *s, const struct explain_line *line)
{
	char text[LINE_MAX_LEN];

	if (!line->what || line->kind == EXPLAIN_REQUEST || !stops_at(s, line))
		return true;
	for (;;) {
		g_auto(GStrv) words = NULL;

		if (isatty(STDIN_FILENO))
			fputs("step> ", stdout);
		fflush(stdout);
		if (!fgets(text, sizeof(text), stdin)) {
			s->goes = true;
			g_ptr_array_set_size(s->breaks, 0);
			return true;
		}
		g_strstrip(text);
		if (strcmp(text, "quit") == 0)
			return false;
		if (*text && !g_shell_parse_argv(text, NULL, &words, NULL))
			continue;
		if (!words || command(s, words, text))
			return true;
	}
}
