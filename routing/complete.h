/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Paths for pairs of a switch and a LID that have cables but no path in the
 * tables of an engine. Private to routing/. See complete.c.
 */
#ifndef MINISM_ROUTING_COMPLETE_H
#define MINISM_ROUTING_COMPLETE_H

#include "routing/graph.h"
#include "routing/tables.h"

/* Paths between hosts, with the turns that the order permits, and more where
 * two switches have no common ancestor. ranks: engine_output.ranks, or NULL. True:
 * hosts lacked no path to each other, and the tables are as they were. */
bool complete_hosts(const struct graph *g, struct lft *lft,
		    const uint32_t *ranks);

/* All other pairs, and those of hosts that are left, by any turns that keep the
 * channels acyclic, and with other entries where there is no other path.
 * in_order: all paths of the tables go up and then down by `ranks`. False: hosts
 * have no path to each other. */
bool complete_tables(const struct graph *g, struct lft *lft,
		     const uint32_t *ranks, bool in_order);

#endif
