/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The manager as a program: main() of minism, and of minism-sim, which puts a
 * simulated fabric in place of a port of this machine.
 */
#ifndef MINISM_SM_DAEMON_H
#define MINISM_SM_DAEMON_H

#include "sm/backend.h"
#include "topology/snapshot.h"

struct daemon_kind {
	struct backend *(*open)(const struct options *conf,
				const struct backend_hooks *hooks,
				GError **error);
	/* For --check-config, the caller gives up the reference; NULL: there
	 * is no fabric to look at. */
	struct snapshot *(*fabric)(const struct options *conf, GError **error);
	const struct option_table *simulator;	/* see struct options */
};

/* Returns the exit status. */
int daemon_main(const struct daemon_kind *kind, int argc, char **argv);

#endif
