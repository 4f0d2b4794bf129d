/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * From the tables that the switches hold to new ones, where both together have
 * a credit loop: tables between them, one after the other, each free of loops
 * together with the one before it.
 */
#ifndef MINISM_ROUTING_TRANSITION_H
#define MINISM_ROUTING_TRANSITION_H

#include "routing/credit_loops.h"

/* An entry that is not in the first tables as it is wanted. */
struct transition_entry {
	uint32_t sw;		/* switch index */
	uint16_t lid;
	uint16_t stage;		/* from 1 on: this entry becomes */
	uint8_t port;
};

/* ranks: an order in which the tables seem to be made, or NULL: it is sooner
 * done with it. looped: by edge, the channels that are in a loop of both together (struct
 * channels_result). Returns the first tables; entries: struct transition_entry
 * by stage, what changes then. After the last stage they are the wanted
 * ones. */
struct lft *transition_make(const struct graph *g, const struct lft *held,
			    const struct lft *wanted, const uint32_t *ranks,
			    const uint8_t *looped, GArray *entries);

/*
 * The same where the dependencies of both tables are known and have no loop
 * together, and few entries differ; c: these, sorted. *first NULL: all may
 * change at once. False: there is no such way, or `held` has entries that are
 * neither wanted nor of `before`, whose dependencies c has.
 */
bool transition_steps(const struct graph *g, const struct lft *held,
		      const struct lft *before, const struct lft *wanted,
		      const struct channels *c, struct lft **first,
		      GArray *entries);

/* Applies a stage; false: there is none such. */
bool transition_apply(struct lft *lft, const GArray *entries, unsigned stage);

#endif
