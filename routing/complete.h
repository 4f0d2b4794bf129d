/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Paths for pairs of a switch and a LID that have cables but no path in the
 * tables of an engine. Private to routing/. See complete.c.
 */
#ifndef MINISM_ROUTING_COMPLETE_H
#define MINISM_ROUTING_COMPLETE_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * Paths between hosts, with the turns that the order permits, and more where
 * two switches have no common ancestor. ranks: engine_output.ranks, or NULL. False:
 * nothing was to be done.
 */
bool complete_hosts(const struct graph *g, struct lft *lft,
		    const uint32_t *ranks);

/*
 * All other pairs, and those of hosts that are left, by any turns that keep the
 * channels acyclic, and with other entries where there is no other path. False:
 * hosts have no path to each other.
 */
bool complete_tables(const struct graph *g, struct lft *lft,
		     const uint32_t *ranks);

#endif
