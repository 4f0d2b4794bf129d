/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Balanced shortest paths: of the paths that an order permits, those that
 * spread the traffic of all CAs to all others best over the cables, by their
 * width and speed. Used by all engines.
 */
#ifndef MINISM_ROUTING_BALANCE_H
#define MINISM_ROUTING_BALANCE_H

#include "routing/order.h"

/*
 * Routes the LIDs of g, and relieves overloaded channels. o: NULL for any
 * shortest path; else only paths up and then down. Entries for LIDs without such
 * a path stay as they are.
 */
void balance_route(const struct graph *g, const struct order *o,
		   struct lft *out);

/* The same for tables that something else has made or changed: paths move away
 * from channels with more than `enough`, and than the busiest one must have. */
void balance_relieve(const struct graph *g, const struct order *o,
		     double enough, struct lft *out);

#endif
