/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The process between a lab and the programs in it.
 */
#ifndef MINISM_LAB_KEEPER_H
#define MINISM_LAB_KEEPER_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

struct keeper {
	pid_t pid;
	int fd;
	bool runs;		/* a program that is waited for */
	int status;		/* of the last one, as of wait(2) */
};

/* Before the process has threads or files that programs are not to keep. dir: is
 * removed if this process ends without keeper_stop(). */
bool keeper_start(struct keeper *k, const char *dir, GError **error);
/* Iterates the main context until the program ends. Its exit status, or 128
 * and the number of the signal that ended it; 127: it cannot be run. */
int keeper_run(struct keeper *k, char **argv, char **env);
/* SIGTERM to the program that runs. */
void keeper_terminate(const struct keeper *k);
/* Ends all that programs have left, and iterates the main context meanwhile. */
void keeper_stop(struct keeper *k);

#endif
