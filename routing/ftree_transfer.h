/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ways that go down and up again, and still cannot stop the others.
 */
#ifndef MINISM_ROUTING_FTREE_TRANSFER_H
#define MINISM_ROUTING_FTREE_TRANSFER_H

#include "routing/ftree_detour.h"

#define TRANSFER_NO_CLASS	255u
#define TRANSFER_OUTSIDE	SUBNET_NONE

/* By ftree_transfer.c, for ftree_way.c; `clear` is the latter's. */
struct transfer {
	struct detour *d;
	const struct tree *t;
	const struct graph *g;
	uint32_t *edge_of;	/* graph_map_ports() */
	uint32_t n_top_words;
	uint64_t *tops;		/* switch -> tops above it */
	uint64_t *joined;	/* tops that members have, of all islands */
	uint32_t *parent;	/* member -> the next towards the root */
	uint32_t *child;	/* member -> its first one away from it */
	uint32_t *sibling;	/* member -> next child of its parent */
	uint32_t *members;	/* in the order in which they came */
	uint32_t n_members;
	uint8_t *class_of;	/* by group up: turns between classes */
	uint32_t *root;		/* by island */
	uint32_t *queue;	/* from here on: to put channels in order */
	uint32_t *n_below, *n_above;	/* channels to come from there */
	uint32_t *widest;	/* cables to one neighbour below, at most */
	uint8_t *done;		/* by edge: the channel out of its switch */
	uint8_t *waits;		/* switch is in the queue */
	uint8_t *open;		/* switch: all its parents are classes */
	const struct transfer_proof *proof;	/* NULL: none that holds */
	uint32_t n_sorted;	/* how often channels were put in order */
	uint64_t **clear;	/* by island: destinations to which all its
				   members have ways; NULL: no members */
};

/* Transfers known to leave no cycle, with all the cables of that graph. */
struct transfer_proof {
	struct graph *g;	/* both are references */
	GArray *sign;
};

/* Looks for switches at which traffic may turn from down to up. `d` stays
 * until transfer_free(), `proof` (which may be NULL) is only looked at now. */
struct transfer *transfer_new(struct detour *d,
			      const struct transfer_proof *proof);
void transfer_free(struct transfer *x);

/* Who the members are, by which ports they go to one another, which turns they
 * may take: with what is reached, all that their ways follow from. Of uint32_t,
 * member by member. */
GArray *transfer_sign(const struct transfer *x);

static inline uint64_t *
transfer_tops(const struct transfer *x, uint32_t sw)
{
	return x->tops + (size_t)sw * x->n_top_words;
}

/* Does a channel between these two go up? */
static inline bool
transfer_is_up(const struct transfer *x, uint32_t from, uint32_t to)
{
	return x->t->place[to] > x->t->place[from];
}

static inline bool
transfer_is_member(const struct transfer *x, uint32_t sw)
{
	return x->parent[sw] != TRANSFER_OUTSIDE;
}

/* Is a top above `sw` above a member? */
bool transfer_has_old(const struct transfer *x, uint32_t sw);
bool transfer_may_turn(const struct transfer *x, uint32_t from, uint32_t at,
		       uint32_t to);

/* Where those of this switch's island have their root, or SUBNET_NONE. */
uint32_t transfer_root(const struct transfer *x, uint32_t sw);
/* The first port to a neighbour. */
uint8_t transfer_port_to(const struct transfer *x, uint32_t sw,
			 uint32_t peer);

/* Gives members that d->reach says have no way to a destination one if there
 * is any, for all its LIDs; keeps d->reach. Their rows are in d->out. Only
 * for these destinations, NULL: for all. */
void transfer_route_members(struct transfer *x, const uint64_t *dests,
			    unsigned n_threads);

void transfer_find_clear(struct transfer *x);	/* fills x->clear */

/* The same for a switch that is no member, after them; `ports` is its row.
 * Calls for several switches may be made at the same time. */
void transfer_lift(const struct transfer *x, uint32_t sw, uint8_t *ports);

#endif
