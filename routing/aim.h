/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
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
	uint32_t first_seat;	/* counted from that of its class */
	uint8_t hop;		/* position chosen for the LID at hand */
	uint8_t carries;	/* others go through its members */
};

/*
 * Switches that others go through have a seat, those of a class side by side,
 * so that what is known of them can be one array; the destination has seat 0.
 * Way (candidate, seat) of a class is at first_way + candidate * n_seats +
 * seat - first_seat.
 */
struct hop_class {
	uint32_t model;		/* place of the first of its groups */
	uint32_t first_branch, n_branches;
	uint32_t first_candidate, n_candidates;
	uint32_t first_seat, n_seats;	/* n_seats 0: nobody goes through it */
	uint32_t first_way;
	uint32_t n_slots;	/* switches that share the decision */
};

struct aim {
	uint32_t root;		/* group of the destination */
	uint32_t depth;		/* hops from the farthest group */
	uint32_t n_near;	/* classes one hop away: the first ones */
	uint32_t twins;		/* the class of the root itself, or AIM_FAR */
	uint32_t n_reached, n_classes;
	uint32_t *level;	/* group -> hops; twins of the root have 2, or
				   AIM_FAR as all that have no way */
	uint8_t *goes;		/* group -> enum fold_way of its next hop */
	uint32_t *reached;	/* groups, near to far */
	uint32_t *falling, *rising;	/* the same, by where they go */
	uint32_t *class_of;	/* by place in reached */
	uint32_t *place_of;	/* by group, if reached */
	uint32_t *first_step;	/* by place, and one more */
	uint32_t *steps;	/* bundles that lead closer */
	uint8_t *carries;	/* by group */
	uint32_t *buckets;	/* hash of candidates -> class + 1 */
	uint32_t n_buckets;	/* a power of 2 */
	struct branch *branches;
	struct hop_class *classes;
	uint8_t *options;
	uint8_t count[FOLD_MAX_HOPS];	/* 0, 1, 2.. to copy from */
	uint32_t *seats;	/* slot -> seat, of those that have one */
};

#define AIM_FAR	UINT32_MAX

struct aim *aim_new(const struct fold *fold);
void aim_free(struct aim *aim);

/* Fills level, goes, reached and depth only. */
void aim_measure(struct aim *aim, const struct fold *fold, uint32_t root);

/* Aims at the first member of a group. */
void aim_take(struct aim *aim, const struct fold *fold, uint32_t root);

/* Turns to another member of the same group: only its neighbours' last hops
 * are others. */
void aim_turn(struct aim *aim, const struct fold *fold, uint32_t member);

/* What a candidate of a class leads to. */
static inline uint32_t
aim_candidate_slot(const struct aim *aim, const struct fold *fold,
		   const struct hop_class *class, uint32_t candidate)
{
	const struct branch *branch = &aim->branches[class->first_branch];

	return fold->peers[branch->first_hop +
			   aim->options[branch->first_option + candidate]];
}

#endif
