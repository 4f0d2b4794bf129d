/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A graph folded along its symmetry, for engines that decide alike for
 * switches that are alike.
 *
 * Twins are switches with exactly the same neighbours, one cable to each: the
 * leaves of a pod, the tops of a plane of a fat tree. A group is a set of
 * twins, or a single switch; a switch with parallel cables is always single.
 * Between two neighbouring groups every switch is cabled to every other, so
 * the groups are the nodes of a smaller graph whose edges are bundles.
 * Members of a group are as far from any other switch, and from each other
 * two hops.
 *
 * If the switches have an order, twins have the same neighbours above them and
 * the same below, and all cables of a bundle lead the same way.
 */
#ifndef MINISM_ROUTING_FOLD_H
#define MINISM_ROUTING_FOLD_H

#include "routing/graph.h"
#include "routing/tables.h"

#define FOLD_MAX_HOPS	254u	/* cables of a switch: ports 1 to 254 */
#define FOLD_NO_HOP	255u	/* a position that no switch has */

/* Where a cable leads in the order of the switches; both if there is none. */
enum fold_way {
	FOLD_WAY_UP = 1,
	FOLD_WAY_DOWN = 2,
};

/* The cables between the members of one group and those of another. */
struct bundle {
	uint32_t peer;		/* group */
	uint8_t first;		/* position of the first cable */
	uint8_t width;		/* parallel cables to each member of peer */
	uint8_t ways;		/* enum fold_way, or'ed */
};

/*
 * Switches are numbered anew, group by group: slots. Position p of a member
 * leads to slot peers[first_hop + p]; the i-th member goes there through
 * ports[first_cable + i * n_hops + p], which carries
 * load[first_cable + p * n_slots + i].
 */
struct group {
	uint32_t first_slot, n_slots;
	uint32_t first_bundle, n_bundles;
	uint32_t first_hop, n_hops;
	uint32_t first_cable;
};

/* A LID, when several are looked at side by side. */
struct fold_column {
	uint32_t slot;		/* of the switch that it hangs on */
	uint16_t base, lid;	/* base: of its LMC range */
};

struct fold {
	uint32_t n_groups, n_slots, n_hops, n_bundles, n_cables;
	struct group *groups;
	struct bundle *bundles;
	uint32_t *group_of;	/* switch -> group */
	uint32_t *switches;	/* slot -> switch */
	uint32_t *slots;	/* switch -> slot */
	uint32_t *peers;	/* hop -> slot */
	uint8_t *ports;		/* cable -> port */
};

/*
 * ranks: NULL, or by switch, no two alike, the highest is the lowest number.
 * held: NULL, or tables by which twins have to agree: an engine that keeps
 * what they say can do so for a group as one. May say anything.
 */
struct fold *fold_new(const struct graph *g, const uint32_t *ranks,
		      const struct lft *held);
void fold_free(struct fold *fold);

#endif
