/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the command lines of the small programs have in common.
 */
#ifndef MINISM_TOOLS_TOOL_OPTIONS_H
#define MINISM_TOOLS_TOOL_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* One line on standard error, "PROGRAM: text". What a user typed may be in it;
 * it stays one line all the same. */
void tool_options_complain(const char *program, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/* The texts around the list of options in --help. */
GOptionContext *tool_options_new(const char *summary, const char *description);

/* Cuts the line; false: it was said what is wrong. Takes context over. */
bool tool_options_parse(const char *program, GOptionContext *context,
		   const GOptionEntry *entries, int *argc, char ***argv);

/* Of a program that makes a fabric or takes one apart. As text until they are
 * checked. */
struct tool_options_fabric {
	gboolean shuffle, version;
	char *seed, *fail;	/* NULL: not given */
};
void tool_options_add_fabric(GOptionContext *context,
			     struct tool_options_fabric *f);
void tool_options_clear_fabric(struct tool_options_fabric *f);

/* What is left of the line must be one word, `what` for people. */
bool tool_options_one_word(const char *program, char *const *words,
		      const char *what);

/* NULL leaves the number as it is. False: it was said what is wrong. */
bool tool_options_seed(const char *program, const char *text, uint64_t *seed);
/* "2.5" or "2.5%" to 25. */
bool tool_options_percent(const char *program, const char *option,
		     const char *text, unsigned *per_mille);

/* To standard output. False: it was said why not. */
bool tool_options_write(const char *program, const GString *text);
bool tool_options_write_version(const char *program);

#endif
