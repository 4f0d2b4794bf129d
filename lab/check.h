/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Expectations about a fabric as text: the checks of the course (doc/lab), and
 * of any script of the console.
 */
#ifndef MINISM_LAB_CHECK_H
#define MINISM_LAB_CHECK_H

#include "lab/sim/sim.h"

struct lab_check {
	const struct snapshot *fabric;
	struct sim *sim;
};

/* Appends the reason of a failure; false. */
bool lab_fail(GString *why, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* By NodeDescription or NodeGUID: those of the net file, or else those that the
 * nodes have now. SNAPSHOT_NONE: there is no such node. */
uint32_t lab_find_node(const struct snapshot *fabric, const struct sim *sim,
		       const char *name);
/* "no node is called leef-1; the nearest is leaf-1"; g_free(). */
char *lab_no_node(const struct snapshot *fabric, const char *name);
/* A name that finds this node and fits LAB_NAME_LEN: its NodeDescription, or
 * else its NodeGUID; g_free(). */
char *lab_name_node(const struct snapshot *fabric, uint32_t node);

/*
 * words, up to NULL:
 *	active			each cable that is up is Active at both ends
 *	reach			each host reaches each other, by some P_Key
 *	path A B, no-path A B	one does, does not
 *	lid NODE N		0: it has none
 *	locked NODE		it has an M_Key
 *	managers N		ports that say they have a subnet manager
 *	group A B ..		IPoIB's broadcasts of each come to all of these,
 *				once, and to no others
 * False: `why` has what was found.
 */
bool check_expect(const struct lab_check *c, char **words, GString *why);

/* Exercise n of the course, from 1. False: `out` has what is missing. */
bool check_exercise(const struct lab_check *c, unsigned n, GString *out);

#endif
