/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nodes by their names, and the commands of the console (private to it) that
 * expect something of the fabric, as the course (doc/lab) does.
 */
#ifndef MINISM_LAB_CHECK_H
#define MINISM_LAB_CHECK_H

#include "lab/sim/sim.h"

/* A command of the console, as its words were read. */
struct call {
	const struct console *console;	/* see lab/console.h */
	struct sim *sim;
	const struct snapshot *fabric;
	GString *out;
	const char *name;		/* of the command */
	char **next;			/* word to read */
	char **wanted;			/* of the usage, from this word on */
	unsigned n_ids, n_numbers;
	uint32_t id[2];			/* nodes and ports, as they came */
	bool is_port;			/* WHERE was one */
	bool has_zero;			/* END: port 0 is one */
	double number[3];
	const char *word;		/* the last one of another kind */
};

/* Appends the reason of a failure; false. */
bool lab_fail(GString *why, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* By NodeDescription or NodeGUID: those of the net file, or else those that the
 * nodes have now. SNAPSHOT_NONE: there is no such node. */
uint32_t lab_find_node(const struct snapshot *fabric, const struct sim *sim,
		       const char *name);
/* Appends "no node is called leef-1; the nearest is leaf-1"; false. */
bool lab_no_node(const struct snapshot *fabric, const char *name, GString *why);
/* A name that finds this node and fits LAB_NAME_LEN: its NodeDescription, or
 * else its NodeGUID; g_free(). */
char *lab_name_node(const struct snapshot *fabric, uint32_t node);
/* The port with the LID of a node: its first one. */
uint32_t lab_end_port(const struct snapshot *fabric, uint32_t node);

/* Commands: false with what was found. */
bool check_active(struct call *c);	/* each cable that is up */
bool check_reach(struct call *c);	/* each host each other */
bool check_path(struct call *c);	/* or no-path, by some P_Key */
bool check_lid(struct call *c);	/* 0: it has none */
bool check_locked(struct call *c);	/* it has an M_Key */
bool check_managers(struct call *c);	/* ports that say they have one */
/* IPoIB's broadcasts of each come to all of these, once, and to no others. */
bool check_group(struct call *c);

#endif
