// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The prompt. libedit's readline calls are of file scope by their nature, so
 * there is one prompt at a time.
 */
#include "sm/lab/prompt.h"

#include "config.h"

#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBEDIT
#include <editline/readline.h>
#endif

struct prompt {
	const char *text;
	prompt_line_fn on_line;
	prompt_complete_fn complete;
	void *data;
	guint source;
	bool edits, ended;
	GString *rest;		/* read, and not a line yet */
};

static void
give_line(struct prompt *p, const char *line)
{
	if (!p->ended && !p->on_line(line, p->data))
		p->ended = true;
}

#ifdef HAVE_LIBEDIT
static struct prompt *current;

static char *
next_match(const char *word, int state)
{
	static char **matches;
	static unsigned at;

	if (!state) {
		g_autofree char *line = g_strndup(rl_line_buffer, rl_point);

		g_strfreev(matches);
		matches = current->complete(line, current->data);
		at = 0;
	}
	return matches && matches[at] ? strdup(matches[at++]) : NULL;
}

static char **
match(const char *word, int from, int to)
{
	rl_attempted_completion_over = 1;
	return rl_completion_matches(word, next_match);
}

static void
on_edited(char *line)
{
	if (line && *line)
		add_history(line);
	give_line(current, line);
	free(line);
}

static bool
edit_start(struct prompt *p)
{
	if (!isatty(STDIN_FILENO))
		return false;
	current = p;
	rl_readline_name = (char *)"minism-lab";
	rl_attempted_completion_function = match;
	rl_completer_word_break_characters = (char *)" ";
	rl_callback_handler_install(p->text, on_edited);
	return true;
}

static void
edit_read(void)
{
	rl_callback_read_char();
}

static void
edit_end(void)
{
	rl_callback_handler_remove();
	current = NULL;
}
#else
static bool
edit_start(struct prompt *p)
{
	return false;
}

static void
edit_read(void)
{
}

static void
edit_end(void)
{
}
#endif

static void
ask(const struct prompt *p)
{
	if (!p->ended && isatty(STDIN_FILENO)) {
		fputs(p->text, stdout);
		fflush(stdout);
	}
}

static void
take_lines(struct prompt *p)
{
	char *end;

	while (!p->ended && (end = strchr(p->rest->str, '\n'))) {
		*end = '\0';
		give_line(p, p->rest->str);
		g_string_erase(p->rest, 0, end + 1 - p->rest->str);
		ask(p);
	}
}

static gboolean
on_input(gint fd, GIOCondition condition, gpointer data)
{
	struct prompt *p = data;
	char part[1024];
	ssize_t n;

	if (p->edits) {
		edit_read();
	} else {
		n = read(fd, part, sizeof(part));
		if (n > 0)
			g_string_append_len(p->rest, part, n);
		take_lines(p);
		if (n <= 0)
			give_line(p, NULL);
		p->ended |= n <= 0;
	}
	if (!p->ended)
		return G_SOURCE_CONTINUE;
	p->source = 0;
	return G_SOURCE_REMOVE;
}

struct prompt *
prompt_new(const char *text, prompt_line_fn on_line,
	   prompt_complete_fn complete, void *data)
{
	struct prompt *p = g_new0(struct prompt, 1);

	p->text = text;
	p->on_line = on_line;
	p->complete = complete;
	p->data = data;
	p->rest = g_string_new(NULL);
	p->edits = edit_start(p);
	if (!p->edits)
		ask(p);
	p->source = g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP, on_input,
				  p);
	return p;
}

void
prompt_free(struct prompt *p)
{
	if (p->edits)
		edit_end();
	if (p->source)
		g_source_remove(p->source);
	g_string_free(p->rest, TRUE);
	g_free(p);
}
