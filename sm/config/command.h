/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of minismctl: one table for its help and completion, for the
 * check of what was typed, and for the manager, which checks it again.
 */
#ifndef MINISM_CONFIG_COMMAND_H
#define MINISM_CONFIG_COMMAND_H

#include <glib.h>

enum command_option {
	COMMAND_FORCE,
	COMMAND_WHY,
	COMMAND_WAIT,
	COMMAND_FOLLOW,
	COMMAND_ALL,
	COMMAND_OPTIONS
};
extern const char *const command_option_names[COMMAND_OPTIONS];

/* Where the answer is made: by the manager; by one that does not only observe,
 * which has no clients either; by minismctl of a view. */
enum command_place {
	COMMAND_OF_MANAGER,
	COMMAND_OF_MASTER,
	COMMAND_OF_VIEW,
};

struct command {
	const char *name;
	const char *rest;	/* what follows the name, for help */
	const char *summary;
	guint min, max;		/* words, the name included */
	unsigned takes;		/* 1 << enum command_option */
	enum command_place place;
};

/* By name; several with one name differ in `rest` and `summary` alone. */
extern const struct command commands[];
extern const size_t n_commands;

/* The command that the words call, with options as a mask. NULL, and *wrong:
 * they are none, in a line or more; g_free. */
const struct command *command_check(char *const *words, unsigned options,
				    char **wrong);
/* "NAME: wrong arguments; usage: .."; g_free. */
char *command_usage(const struct command *c, char *const *words);

#endif
