/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * May these tables be programmed? Knows the graph and the tables, not the
 * engine that made them.
 */
#ifndef MINISM_ROUTING_VERIFY_H
#define MINISM_ROUTING_VERIFY_H

#include "routing/channels.h"
#include "routing/check.h"

struct verify_result {
	struct check_result reach;	/* of the new tables */
	struct channels_result channels;
};

/* before: see channels_check(). ranks: an order in which the tables seem to be
 * made (engine_output.ranks), right or wrong: the verdict is the same, much
 * sooner if it is right, but without a loop the channels and dependencies are
 * not counted. NULL: none. */
void verify_tables(const struct graph *g, const struct lft *lft,
		   const struct lft *before, const uint32_t *ranks,
		   struct verify_result *result);
void verify_result_clear(struct verify_result *result);

/* Nothing goes round, nothing goes astray, no credit loop. Pairs without a way
 * are no danger and do not count: see result->reach. */
bool verify_is_sound(const struct verify_result *result);

#endif
