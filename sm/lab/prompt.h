/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lines from standard input in the main loop: with history and completion
 * where libedit is there and the input is a terminal, else as they come.
 */
#ifndef MINISM_LAB_PROMPT_H
#define MINISM_LAB_PROMPT_H

#include <stdbool.h>

struct prompt;

/* line NULL: the end of the input. False: no more lines, please. */
typedef bool (*prompt_line_fn)(const char *line, void *data);
/* What the last word of the line may become; NULL ends, g_strfreev(). */
typedef char **(*prompt_complete_fn)(const char *line, void *data);

struct prompt *prompt_new(const char *text, prompt_line_fn on_line,
			  prompt_complete_fn complete, void *data);
void prompt_free(struct prompt *p);

#endif
