/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables that the switches hold as the base of an update. Pure.
 */
#ifndef MINISM_ROUTING_KEEP_H
#define MINISM_ROUTING_KEEP_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * The held tables with new entries only where a path has ended, if that saves a
 * quarter of the blocks that `anew` would change and the busiest channel
 * carries nearly as little. ranks: engine_output.ranks of `anew`, or NULL. The
 * caller verifies the result, and lft_free()s it. NULL: new tables are better.
 *
 * Also NULL if a cable that `anew` uses would stay idle: it is new, or is back,
 * so a fabric that is complete again gets its original tables.
 */
struct lft *keep_tables(const struct graph *g, const struct lft *held,
			const struct lft *anew, const uint32_t *ranks);

#endif
