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

enum tool_mode {
	TOOL_RUN,
	TOOL_HELP,
	TOOL_VERSION,
};

/* Options of all programs; at: place of an int, which is TOOL_RUN. */
#define TOOL_OPTIONS(at) \
	OPTION_SWITCH("version", 0, &option_mode, at, TOOL_VERSION, \
		      "Print the version"), \
	OPTION_SWITCH("help", 'h', &option_mode, at, TOOL_HELP, \
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
 * Sets the defaults and reads the command line; *words are the arguments that
 * are no options. False: the program ends with *status, after a message, --help
 * or --version. `usage` is the status of a wrong command line.
 */
bool tool_options_read(const struct option_table *t, void *values,
		       const int *mode, int argc, char **argv, char ***words,
		       int usage, int *status);

/* There must be one argument besides options, which messages call `what`. */
bool tool_options_one_word(char *const *words, const char *what);

/* To standard output. False after a message. */
bool tool_options_write(const GString *text);

#endif
