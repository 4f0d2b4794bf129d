/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shortest ways, balanced: the part of min-hop that up/down shares. See
 * minhop.c.
 */
#ifndef MINISM_ROUTING_MINHOP_H
#define MINISM_ROUTING_MINHOP_H

#include "routing/engine.h"

/*
 * Fills `out` for in->g: all LIDs, at all switches that have a way. ranks:
 * NULL, or an order of the switches, no two alike, the highest the lowest
 * number: then ways go up and then down, see aim.h. What in->previous says is
 * kept where it is still right, unless that leaves the fabric lopsided.
 */
void minhop_fill(const struct engine_input *in, const uint32_t *ranks,
		 struct lft *out);

#endif
