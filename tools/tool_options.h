/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The command lines of the small programs, whose options are a table
 * (sm/config/option.h).
 */
#ifndef MINISM_TOOLS_TOOL_OPTIONS_H
#define MINISM_TOOLS_TOOL_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sm/config/option.h"

/* One line on standard error, "PROGRAM: text" with the name of
 * g_set_prgname(); control characters, which a user may have typed, become
 * "?". */
void tool_options_complain(const char *format, ...) G_GNUC_PRINTF(1, 2);

#define EXIT_USAGE	2

enum tool_mode {
	TOOL_RUN,
	TOOL_HELP,
	TOOL_VERSION,
};

/* Options of all programs; what they set begins with an int, TOOL_RUN. */
#define TOOL_OPTIONS \
	OPTION_SWITCH("version", 0, &option_mode, 0, TOOL_VERSION, \
		      "Print the version"), \
	OPTION_SWITCH("help", 'h', &option_mode, 0, TOOL_HELP, \
		      "Print this text")

extern const struct option_kind option_percent;	/* unsigned, per mille */

/* Of those that make a fabric or take one apart: bool, uint64_t, unsigned. */
#define TOOL_FABRIC_OPTIONS(at_shuffle, at_seed, at_fail) \
	OPTION_SWITCH("shuffle", 0, &option_bool, at_shuffle, 0, \
		"Give the GUIDs to the nodes of SPEC in random order"), \
	{ NULL, "seed", 0, &option_number64, at_seed, 0, 0, "0", "N", \
	  "Decides all that is random (default 0)" }, \
	{ NULL, "fail", 0, &option_percent, at_fail, 0, 0, NULL, "PERCENT", \
	  "Take this share of the switch-to-switch cables away" }

/*
 * A program: sets the defaults, reads the command line and runs it; words are
 * the arguments that are no options. Returns the exit status: that of run(), or,
 * after a message, `usage` for a wrong command line. Frees what the options have
 * set.
 */
int tool_main(const char *name, const struct option_table *t, void *values,
	      int usage, int argc, char **argv,
	      int (*run)(void *values, char **words));

/* There must be one argument besides options, which messages call `what`. */
bool tool_options_one_word(char *const *words, const char *what);

/* To standard output. False after a message. */
bool tool_options_write(const GString *text);

#endif
