/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The simulated fabric as a server: sm/sim in real time, its devices, and the
 * clients of the socket. Runs in the default main context.
 */
#ifndef MINISM_LAB_SERVER_H
#define MINISM_LAB_SERVER_H

#include "sm/lab/console.h"
#include "sm/lab/device.h"

struct lab;

struct lab_options {
	struct sim_params params;
	struct kernel_limits limits;
	const char *socket;	/* NULL: in the lab's own folder */
};

/* Keeps a reference to fabric. */
struct lab *lab_new(struct snapshot *fabric, const struct lab_options *options,
		    GError **error);
void lab_free(struct lab *lab);

const char *lab_socket(const struct lab *lab);
struct sim *lab_sim(const struct lab *lab);
const struct snapshot *lab_fabric(const struct lab *lab);

/* Where programs run if nothing else is said: the first host. */
uint32_t lab_home(const struct lab *lab);

/* For commands; borrowed. */
const struct console *lab_console(const struct lab *lab);

/* The device goes away: files are closed under their programs, which see EIO;
 * and comes back with its first port as that umad. */
void lab_unplug_device(struct lab *lab, uint32_t node);
void lab_plug_device(struct lab *lab, uint32_t node, unsigned umad);
/* open() of the port's issm gives this errno from now on; 0: none. */
void lab_refuse_issm(struct lab *lab, uint32_t node, int error);

#endif
