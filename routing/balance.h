/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shortest paths, balanced: of the paths that an order permits, those that
 * spread the traffic of all CAs to all others best over the cables, by their
 * width and speed. Used by all engines. See balance.c.
 */
#ifndef MINISM_ROUTING_BALANCE_H
#define MINISM_ROUTING_BALANCE_H

#include "routing/turns.h"

/* Pairs of a switch and a LID with cables and without a path: CAs at both
 * ends, or at one. */
struct balance_lost {
	uint64_t hosts, mixed;
};

/*
 * Routes the LIDs of in->g. o, t: NULL for any shortest path, else only paths
 * up and then down, and with the turns of `t` where there is none.
 * held: NULL, or by switch: its LIDs have paths in `out` already, which is
 * kept but for what overloads a channel.
 * Returns what is lost of the LIDs that were not held.
 */
struct balance_lost balance_route(const struct engine_input *in,
				  const struct order *o, const struct turns *t,
				  const uint8_t *held, struct lft *out);

/*
 * Changes tables that were made anew back to those in force (in->previous)
 * where these are still right, if that saves a quarter of the blocks to be
 * written and the load is nearly as good. Not if a channel that could be used
 * would stay idle: a fabric that is whole again gets the tables that it had.
 */
void balance_keep(const struct engine_input *in, const struct order *o,
		  const struct turns *t, struct lft *out);

#endif
