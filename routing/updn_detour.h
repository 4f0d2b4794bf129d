/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up/down in a damaged tree: ways for pairs that the order does not join.
 */
#ifndef MINISM_ROUTING_UPDN_DETOUR_H
#define MINISM_ROUTING_UPDN_DETOUR_H

#include "routing/engine.h"

struct updn_detours {
	uint64_t n_made;	/* pairs of switches, one or both with CAs,
				   that have a detour now */
	uint64_t n_hosts_left;	/* pairs that have none: both with CAs */
	uint64_t n_mixed_left;	/* one with, one without, in this direction
				   or the other */
	uint32_t root;		/* where detours turn first, a switch, or
				   SUBNET_NONE */
};

/* Is it a tree by the levels in `ranks`: does each cable join neighbouring
 * levels, and are all CAs on the lowest one? */
bool updn_is_tree(const struct graph *g, const uint32_t *ranks);

/*
 * Gives `lft`, which holds all ways up and then down in such a tree and no
 * others, detours that turn from down to up; then what management between
 * switches without CAs still lacks. The channels of all ways that go up and
 * then down, and of the detours, have no circle of dependencies.
 */
void updn_detour(const struct engine_input *in, const uint32_t *ranks,
		 struct lft *lft, struct updn_detours *found);

#endif
