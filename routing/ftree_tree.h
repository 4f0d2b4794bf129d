/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A graph with ranks, seen as a tree: who is above whom, in which order, and
 * who can be reached by how many hops up. Built by ftree_tree.c, given its
 * slots by ftree_slot.c, read by all other parts of the ftree engine.
 */
#ifndef MINISM_ROUTING_FTREE_TREE_H
#define MINISM_ROUTING_FTREE_TREE_H

#include <glib.h>

#include "routing/ftree_set.h"
#include "routing/graph.h"

#define TREE_MAX_UPS	15u	/* hops up that a way may have */
#define TREE_NO_SLOT	255u
#define TREE_MAX_WHEEL	254u	/* slots times parallel cables */

/* The cables from a switch to one other, which is one rank up or down. */
struct tree_group {
	uint32_t peer;
	uint32_t first_edge;	/* they are consecutive in the graph */
	uint8_t n_cables;
	uint8_t slot;		/* plane, of a group that leads up */
};

/* Between rank r - 1 and rank r. */
struct tree_level {
	uint32_t width;		/* slots */
	uint32_t n_cables;	/* parallel, those that are told apart */
	uint32_t pi;		/* product of the widths up to here */
};

/*
 * Destinations are switches in the order of the tree: first the leaves, then
 * the others that have CAs, then the rest; each by rank, pod by pod. A set is
 * one bit a destination.
 */
struct tree {
	const struct graph *g;
	uint32_t n_ranks;
	uint32_t n_strays;	/* cables that are in no group */
	uint8_t *rank;		/* by switch */
	uint32_t *first_up;	/* n_switches + 1 */
	uint32_t *first_down;
	struct tree_group *ups;	/* by switch, by slot once there are slots */
	struct tree_group *downs;	/* by switch, by peer */
	uint32_t *pods;		/* rank * n_switches + switch: lowest switch
				   of the component, of ranks up to this */
	uint32_t *island;	/* switch -> lowest switch of its component */
	uint32_t n_bottom;	/* destinations of rank 0 */
	uint32_t n_leaves;	/* and those with CAs above */
	uint32_t *dest_of;	/* switch -> destination */
	uint32_t *switch_of;	/* destination -> switch */
	uint32_t *climb;	/* all switches, by rank, pod by pod */
	uint32_t *place;	/* switch -> place in climb */
	uint32_t *turn;		/* switch -> number in its plane, given with
				   the slots */
	uint8_t *planes;	/* rank * n_switches + switch: slot of the
				   component, of ranks from this on; likewise */
	uint32_t n_sets, n_words;
	uint64_t *sets;		/* see tree_set() */
	struct tree_level *levels;	/* by rank; [0].pi = 1 */
};

struct tree *tree_new(const struct graph *g, const uint8_t *rank);
void tree_free(struct tree *t);

/* Gives `t` the groups of another graph of the same switches and ranks; the
 * graph and the groups of before are moved to `was`. False if what is next to
 * what is another than before, then `t` is only to be freed. Sets are as they
 * were. */
bool tree_regroup(struct tree *t, const struct graph *g, struct tree *was);
void tree_clear_groups(struct tree *was);

/* Word w of what tree_set() should be, by those of the neighbours and those
 * of less hops. */
uint64_t tree_find_word(const struct tree *t, uint32_t sw, uint32_t n_ups,
			uint32_t w);

/* ftree_slot.c: fills levels, turns and the slots of the groups; n_hosts are
 * on a leaf, usually. */
void tree_assign_slots(struct tree *t, uint32_t n_hosts);

/* Destinations whose shortest way from `sw` goes up n_ups hops and then down;
 * n_ups < n_sets. */
static inline uint64_t *
tree_set(const struct tree *t, uint32_t sw, uint32_t n_ups)
{
	return t->sets + ((size_t)sw * t->n_sets + n_ups) * t->n_words;
}

/* Word w of all destinations that are reached from `sw`. */
uint64_t tree_reach(const struct tree *t, uint32_t sw, uint32_t w);

#endif
