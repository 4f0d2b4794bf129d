/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Balanced shortest paths: of the paths that an order permits, those that
 * spread the traffic of all CAs to all others best over the cables, by their
 * width and speed. Used by all engines.
 */
#ifndef MINISM_ROUTING_BALANCE_H
#define MINISM_ROUTING_BALANCE_H

#include "routing/turns.h"

/* Cabled pairs of a switch and a LID without a path: with CAs at both ends,
 * or at one. */
struct balance_lost {
	uint64_t hosts, mixed;
};

/*
 * Routes the LIDs of in->g. o, t: NULL for any shortest path; else only paths
 * up and then down, and with the turns of `t` where there is no such path.
 * held: NULL, or by switch: `out` has paths for its LIDs already, which change
 * only where a channel is overloaded. Returns the missing pairs of LIDs that
 * were not held.
 */
struct balance_lost balance_route(const struct engine_input *in,
				  const struct order *o, const struct turns *t,
				  const uint8_t *held, struct lft *out);

/*
 * Replaces new entries by those of the held tables (in->previous) where these
 * are still right, if that saves a quarter of the blocks to be written and the
 * load is nearly as good. Not if a usable channel would stay idle: a fabric
 * that is complete again gets its original tables.
 */
void balance_keep(const struct engine_input *in, const struct order *o,
		  const struct turns *t, struct lft *out);

#endif
