// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The prompt. libedit's readline calls are of file scope by their nature, and
 * so is it.
 */
#include "lab/prompt.h"

#include <editline/readline.h>
#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *text;
	prompt_line_fn on_line;
	prompt_complete_fn complete;
	void *data;
	bool edits;
	guint source;
} prompt;

static char *
next_match(const char *word, int state)
{
	static char **matches;
	static unsigned at;

	if (!state) {
		g_autofree char *line = g_strndup(rl_line_buffer, rl_point);

		g_strfreev(matches);
		matches = prompt.complete(line, prompt.data);
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

/* libedit gives the terminal back when a line is complete, so that a command
 * can use it; for the next line it is to be taken again. */
static void
on_edited(char *line)
{
	if (line && *line)
		add_history(line);
	prompt.on_line(line, prompt.data);
	if (line && prompt.edits)
		rl_callback_handler_install(prompt.text, on_edited);
	free(line);
}

static gboolean
on_key(gint fd, GIOCondition condition, gpointer data)
{
	rl_callback_read_char();
	return G_SOURCE_CONTINUE;
}

static gboolean
prompt_on_input(GIOChannel *channel, GIOCondition condition, gpointer data)
{
	g_autofree char *line = NULL;
	gsize end = 0;

	switch (g_io_channel_read_line(channel, &line, NULL, &end, NULL)) {
	case G_IO_STATUS_AGAIN:
		return G_SOURCE_CONTINUE;
	case G_IO_STATUS_NORMAL:
		line[end] = '\0';
		prompt.on_line(line, prompt.data);
		return G_SOURCE_CONTINUE;
	case G_IO_STATUS_EOF:
	case G_IO_STATUS_ERROR:
		break;
	}
	prompt.source = 0;
	prompt.on_line(NULL, prompt.data);
	return G_SOURCE_REMOVE;
}

void
prompt_open(const char *text, prompt_line_fn on_line,
	    prompt_complete_fn complete, void *data)
{
	GIOChannel *channel;

	prompt.text = text;
	prompt.on_line = on_line;
	prompt.complete = complete;
	prompt.data = data;
	prompt.edits = isatty(STDIN_FILENO);
	if (prompt.edits) {
		rl_readline_name = (char *)"minism-lab";
		rl_attempted_completion_function = match;
		rl_completer_word_break_characters = (char *)" ";
		rl_callback_handler_install(text, on_edited);
		prompt.source = g_unix_fd_add(STDIN_FILENO,
					      G_IO_IN | G_IO_HUP, on_key, NULL);
		return;
	}
	channel = g_io_channel_unix_new(STDIN_FILENO);
	g_io_channel_set_encoding(channel, NULL, NULL);
	prompt.source = g_io_add_watch(channel, G_IO_IN | G_IO_HUP,
				       prompt_on_input, NULL);
	g_io_channel_unref(channel);
}

bool
prompt_clear(void)
{
	if (!prompt.edits)
		return false;
	putchar('\n');
	rl_callback_handler_remove();
	rl_callback_handler_install(prompt.text, on_edited);
	return true;
}

void
prompt_close(void)
{
	if (prompt.edits)
		rl_callback_handler_remove();
	prompt.edits = false;
	if (prompt.source)
		g_source_remove(prompt.source);
}
