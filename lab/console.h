/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of a lab, as typed at the prompt or given by -c.
 */
#ifndef MINISM_LAB_CONSOLE_H
#define MINISM_LAB_CONSOLE_H

#include "lab/sim/sim.h"

struct lab;

/* The fabric that a command is for. */
struct console {
	struct sim *sim;
	const struct snapshot *fabric;
	struct lab *lab;
	/* Does unplug-device, plug-device N. NULL: there are no devices. */
	void (*device)(struct lab *lab, const char *command, uint32_t node,
		       unsigned n);
};

/* One line; appends the output, lines, to `out`. 0, or an errno: `out` has the
 * reason. */
int console_command(const struct console *console, const char *line,
		    GString *out);

/* Completion: words that begin with the last one of line; NULL ends.
 * g_strfreev(). */
char **console_complete(const struct console *console, const char *line);

#endif
