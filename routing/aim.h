/*
 * The way to a destination through a folded graph: all shortest paths, laid
 * out for an engine that takes one of them after the other.
 *
 * If the switches have an order, only ways that go up and then down count, and
 * as tables know the destination only: who can go down all the way does that,
 * by a shortest such way; any other goes up to where the rest is shortest.
 * Without an order all go down, so to say.
 *
 * Groups with the same candidates for their next hop form a class, which
 * decides once for all its switches. Classes come in order of distance, thus
 * whoever decides in this order knows the rest of the way.
 */
#ifndef MINISM_ROUTING_AIM_H
#define MINISM_ROUTING_AIM_H

#include "routing/fold.h"

/* A group on its way to the destination. */
struct branch {
	uint32_t group, first_slot, n_slots;
	uint32_t first_hop, first_cable;
	uint32_t first_option;	/* candidate -> position, in aim.options */
	uint8_t hop;		/* position chosen for the LID at hand */
	uint8_t carries;	/* others go through its members */
};

struct candidate {
	uint64_t load;		/* of all the class's cables that lead there */
	uint32_t slot;
};

struct hop_class {
	uint32_t model;		/* the first of its groups */
	uint32_t first_branch, n_branches;
	uint32_t first_candidate, n_candidates;
	uint32_t n_slots;	/* switches that share the decision */
	uint32_t chosen;	/* candidate, for the LID at hand */
};

struct aim {
	uint32_t root;		/* group of the destination */
	uint32_t depth;		/* hops from the farthest group */
	uint32_t n_near;	/* classes one hop away: the first ones */
	uint32_t n_reached, n_classes;
	uint32_t *level;	/* group -> hops; twins of the root have 2, or
				   AIM_FAR as all that have no way */
	uint8_t *goes;		/* group -> enum fold_way of its next hop */
	uint32_t *reached;	/* groups, near to far */
	uint32_t *falling, *rising;	/* the same, by where they go */
	uint32_t *class_of;	/* by place in reached */
	uint8_t *carries;	/* by group */
	uint32_t *buckets;	/* hash of candidates -> class + 1 */
	uint32_t n_buckets;	/* a power of 2 */
	struct branch *branches;
	struct hop_class *classes;
	struct candidate *candidates;
	uint8_t *options;
};

#define AIM_FAR	UINT32_MAX

struct aim *aim_new(const struct fold *fold);
void aim_free(struct aim *aim);

/* Fills level, goes, reached and depth only. */
void aim_measure(struct aim *aim, const struct fold *fold, uint32_t root);

/* Aims at the first member of a group. sum: load by hop, see struct group. */
void aim_take(struct aim *aim, const struct fold *fold, uint32_t root,
	      const uint64_t *sum);

/* Turns to another member of the same group: only its neighbours' last hops
 * are others, and only their candidates are weighed anew. */
void aim_turn(struct aim *aim, const struct fold *fold, uint32_t member,
	      const uint64_t *sum);

/* Weighs all candidates anew: `sum` has changed in between. */
void aim_weigh(struct aim *aim, const struct fold *fold, const uint64_t *sum);

#endif
