/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the two halves of multicast.c share: multicast_rise.c finds who may be
 * the root of a tree, multicast.c lays it. For these two only.
 */
#ifndef MINISM_ROUTING_MULTICAST_FOREST_H
#define MINISM_ROUTING_MULTICAST_FOREST_H

#include "routing/multicast.h"

#define MLID_MIN	0xc000u
#define FAR		UINT32_MAX

/* What the work space knows of a switch, for the group at hand. */
struct node {
	uint32_t hop;		/* down from the root; FAR: not below it */
	uint32_t parent;	/* edge up, or SUBNET_NONE */
	uint32_t held;		/* the same in the tree of before */
	uint32_t receivers;	/* at it and below */
	bool in_tree;
};

struct group {
	uint16_t mlid;
	struct multicast_member *members;	/* sorted, no port twice */
	uint32_t n_members;
	uint32_t *switches;			/* of the members, ascending */
	uint32_t n_switches;
	bool kept;
};

/* Sets of the member switches of one group, by switch: how far they rose. */
struct rise {
	uint32_t n_words;	/* of 64 members */
	uint64_t *has, *gained, *coming;	/* [switch][word] */
	GArray *touched;	/* switches whose `has` is not empty */
	GArray *front, *next;	/* those that gained, or are about to */
};

struct forest {
	const struct graph *g;
	const uint32_t *ranks;
	const struct mft *previous;
	uint32_t *cap;		/* MLIDs that a switch holds */
	uint32_t *load;		/* by edge */
	uint32_t *uses;		/* by switch: trees that it is in */
	struct node *nodes;
	GArray *below;		/* switches whose hop is not FAR, by hop */
	GArray *tree;		/* switches in the tree, root last */
	GArray *candidates;
	struct mft *mft;
	GArray *lost;
};

#define ITEM(array, i)	g_array_index(array, uint32_t, i)

static inline bool
leads_up(const struct forest *f, uint32_t sw, uint32_t edge)
{
	return f->ranks[f->g->edges[edge].peer] < f->ranks[sw];
}

static inline bool
leads_down(const struct forest *f, uint32_t sw, uint32_t edge)
{
	return f->ranks[f->g->edges[edge].peer] > f->ranks[sw];
}

static inline bool
can_hold(const struct forest *f, uint32_t sw, uint16_t mlid)
{
	return mlid - MLID_MIN < f->cap[sw];
}

void rise_init(struct rise *r, uint32_t n_switches, uint32_t n_members);
void rise_clear(struct rise *r);
/* Leaves in f->candidates who may be the root. */
void rise_search(struct rise *r, struct forest *f, const struct group *group);
/* Of the candidates: the root of before or one above it, so that its tree goes
 * on; then the least loaded. SUBNET_NONE: there is no candidate. */
uint32_t rise_choose(const struct rise *r, const struct forest *f,
		     uint32_t held_root);
/* Has the switch members at it or below it? */
bool rise_reached(const struct rise *r, uint32_t sw);

#endif
