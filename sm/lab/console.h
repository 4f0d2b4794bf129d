/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of a lab: by name, as a person types them or a script has them.
 */
#ifndef MINISM_LAB_CONSOLE_H
#define MINISM_LAB_CONSOLE_H

#include "sm/sim/sim.h"

struct lab;

/* What commands do to the devices of a lab. */
struct console_devices {
	void (*unplug)(struct lab *lab, uint32_t node);
	void (*plug)(struct lab *lab, uint32_t node, unsigned umad);
	void (*refuse_issm)(struct lab *lab, uint32_t node, int error);
};

/* The fabric that a command is for; devices NULL: it has none. */
struct console {
	struct sim *sim;
	const struct snapshot *fabric;
	struct lab *lab;
	const struct console_devices *devices;
};

/* One line; appends what it says to out. 0, or an errno: out says why. */
int console_command(const struct console *console, const char *line,
		    GString *out);

/* What could follow: words that begin with the last one of line; NULL ends.
 * g_strfreev(). */
char **console_complete(const struct console *console, const char *line);

#endif
