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

/* before: see channels_check(). */
void verify_tables(const struct graph *g, const struct lft *lft,
		   const struct lft *before, struct verify_result *result);
void verify_result_clear(struct verify_result *result);

/* Nothing goes round, nothing goes astray, no credit loop. Pairs without a way
 * are no danger and do not count: see result->reach. */
bool verify_is_sound(const struct verify_result *result);

#endif
