/*
 * A graph with ranks, seen as a tree: who is above whom, in which order, and
 * who can be reached by how many hops up. Built by ftree_tree.c, given its
 * slots by ftree_slot.c, read by all other parts of the ftree engine.
 */
#ifndef MINISM_ROUTING_FTREE_TREE_H
#define MINISM_ROUTING_FTREE_TREE_H

#include <glib.h>

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

/* Sets of n words, a multiple of TREE_UNROLL: by fours, which a compiler turns
 * into vectors. */
#define TREE_UNROLL	4u

static inline void
tree_unite(uint64_t *restrict to, const uint64_t *restrict from, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += TREE_UNROLL) {
		to[i] |= from[i];
		to[i + 1] |= from[i + 1];
		to[i + 2] |= from[i + 2];
		to[i + 3] |= from[i + 3];
	}
}

static inline void
tree_meet(uint64_t *restrict to, const uint64_t *restrict from, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += TREE_UNROLL) {
		to[i] &= from[i];
		to[i + 1] &= from[i + 1];
		to[i + 2] &= from[i + 2];
		to[i + 3] &= from[i + 3];
	}
}

/* Word w of all destinations that are reached from `sw`. */
static inline uint64_t
tree_reach(const struct tree *t, uint32_t sw, uint32_t w)
{
	const uint64_t *set = tree_set(t, sw, 0) + w;
	uint64_t word = 0;
	uint32_t k;

	for (k = 0; k < t->n_sets; k++, set += t->n_words)
		word |= *set;
	return word;
}

static inline bool
tree_has(const uint64_t *set, uint32_t dest)
{
	return set[dest / 64] >> dest % 64 & 1;
}

/* Finds the next run of ones in bits [*from, end): false if there is none,
 * else it is [*from, *to). */
static inline bool
tree_next_run(const uint64_t *set, uint32_t end, uint32_t *from, uint32_t *to)
{
	uint32_t i = *from;
	uint64_t word;

	while (i < end) {
		word = set[i / 64] >> i % 64;
		if (word) {
			i += (uint32_t)__builtin_ctzll(word);
			break;
		}
		i = (i / 64 + 1) * 64;
	}
	if (i >= end)
		return false;
	*from = i;
	while (i < end) {
		word = ~set[i / 64] >> i % 64;
		if (word) {
			i += (uint32_t)__builtin_ctzll(word);
			break;
		}
		i = (i / 64 + 1) * 64;
	}
	*to = MIN(i, end);
	return true;
}

/* Components: a forest whose roots are the lowest of their members. */
static inline uint32_t
tree_find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

static inline void
tree_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = tree_find(up, a);
	b = tree_find(up, b);
	up[MAX(a, b)] = MIN(a, b);
}

#endif
