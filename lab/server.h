/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The simulated fabric as a server: sm/sim in real time, its devices, and the
 * clients of the socket. Runs in the default main context.
 */
#ifndef MINISM_LAB_SERVER_H
#define MINISM_LAB_SERVER_H

#include "lab/console.h"
#include "lab/device.h"

struct lab;

struct lab_options {
	struct sim_params params;
	struct kernel_limits limits;
	const char *dir;	/* is removed with it; NULL: a new one */
	const char *socket;	/* NULL: in that folder */
};
#define LAB_FOLDER	"minism-lab.XXXXXX"	/* as of g_dir_make_tmp() */

/* Keeps a reference to fabric. */
struct lab *lab_new(struct snapshot *fabric, const struct lab_options *options,
		    GError **error);
void lab_free(struct lab *lab);

const char *lab_socket(const struct lab *lab);
/* The folder in place of a node's /sys. */
const char *lab_sys(struct lab *lab, uint32_t node);

/* The default node of programs: the first host. */
uint32_t lab_home(const struct lab *lab);

/* The fabric, and for commands; borrowed. */
const struct console *lab_console(const struct lab *lab);

#endif
