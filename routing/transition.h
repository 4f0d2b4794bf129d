/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * From the tables that the switches hold to new ones, if both together have a
 * credit loop: a sequence of tables, each without a loop together with the one
 * before it.
 */
#ifndef MINISM_ROUTING_TRANSITION_H
#define MINISM_ROUTING_TRANSITION_H

#include "routing/credit_loops.h"

/* An entry that changes after the first tables. */
struct transition_entry {
	uint32_t sw;		/* switch index */
	uint16_t lid;
	uint16_t stage;		/* from 1; the entry changes in this stage */
	uint8_t port;
};

/* held: with others, if any. ranks: an order in which the tables were probably
 * made, which saves time; or NULL. looped: by edge, the channels in a loop of
 * both tables together (struct channels_result). Returns the tables of the first
 * step; entries: the changes of the following stages (struct transition_entry).
 * After the last stage the tables are the wanted ones. NULL, and no entries:
 * these have a loop themselves. */
struct lft *transition_make(const struct graph *g, const struct lft *held,
			    const struct lft *wanted, const uint32_t *ranks,
			    const uint8_t *looped, GArray *entries);

/*
 * The same for tables whose dependencies are known and have no loop together,
 * and that differ in few entries; c: these dependencies, sorted. *first NULL:
 * all entries may change at once. *together: with the dependencies of all steps,
 * sorted, to be freed by the caller; NULL: nothing changes. False: no such
 * sequence was found, or `held` has entries that are neither in `wanted` nor in
 * `before` or `home`, of which c has the dependencies.
 */
bool transition_steps(const struct graph *g, const struct lft *held,
		      const struct lft *before, const struct lft *home,
		      const struct lft *wanted, const struct channels *c,
		      struct channels **together, struct lft **first,
		      GArray *entries);

/* Makes the changes of a stage in `lft`. False: there is no such stage. */
bool transition_apply(struct lft *lft, const GArray *entries, unsigned stage);

#endif
