/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A prompt on standard input, in the main loop: with line editing, history and
 * completion if it is a terminal.
 */
#ifndef MINISM_LAB_PROMPT_H
#define MINISM_LAB_PROMPT_H

#include <stdbool.h>

/* A line without its newline; NULL: end of input. */
typedef void (*prompt_line_fn)(const char *line, void *data);
/* Completions of the last word; g_strfreev(). */
typedef char **(*prompt_complete_fn)(const char *line, void *data);

/* There is one standard input, and one prompt. */
void prompt_open(const char *text, prompt_line_fn on_line,
		 prompt_complete_fn complete, void *data);
/* At an interrupt: drops what was typed of this line. False: this is no
 * terminal. */
bool prompt_clear(void);
void prompt_close(void);

#endif
