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
 */
#ifndef MINISM_ROUTING_FOLD_H
#define MINISM_ROUTING_FOLD_H

#include "routing/graph.h"

#define FOLD_MAX_HOPS	254u	/* cables of a switch: ports 1 to 254 */

/* The cables between the members of one group and those of another. */
struct bundle {
	uint32_t peer;		/* group */
	uint8_t first;		/* position of the first cable */
	uint8_t width;		/* parallel cables to each member of peer */
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

struct fold *fold_new(const struct graph *g);
void fold_free(struct fold *fold);

#endif
