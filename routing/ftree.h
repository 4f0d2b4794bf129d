/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the parts of the ftree engine: the fabric as a tree, and the
 * formula. Private to ftree*.c; see ftree.c.
 */
#ifndef MINISM_ROUTING_FTREE_H
#define MINISM_ROUTING_FTREE_H

#include "routing/order.h"
#include "routing/scratch.h"

#define FTREE_MAX_SLOTS	254u	/* slots of a switch times their cables */

/* The cables from a switch to another one, one level up or down. */
struct ftree_group {
	uint32_t peer;
	uint32_t first_edge;	/* consecutive in the graph */
	uint8_t n_cables;
	uint8_t slot;		/* of a group that leads up: its plane */
};

/*
 * Destinations are switches by their place in the order. For each switch s and
 * number k there is the set of destinations to which the shortest path is k
 * hops up and then down.
 */
struct ftree {
	const struct engine_input *in;
	const struct graph *g;
	const struct order *o;
	GPtrArray *scratch;	/* owns all arrays */
	uint32_t *first_up, *first_down;	/* n_switches + 1 */
	struct ftree_group *ups;	/* by switch, by slot */
	struct ftree_group *downs;	/* by switch, by place of the peer */
	uint32_t n_sets, n_words;
	uint64_t *sets;		/* see ftree_set() */
	/* By level, of the cables that lead up to it: slots, parallel cables
	 * of a slot, and the product of the slots up to here. */
	uint32_t *width, *n_cables, *pi;
	uint32_t *turn;		/* switch -> number in its plane */
	/* LIDs by destination: those of the CAs by port, then port 0. */
	uint32_t *first_entry;	/* n_switches + 1; without any after that */
	uint32_t n_entries;
	uint16_t *lid;
	uint8_t *exit;		/* port of the destination */
	uint32_t *number;	/* the t of D-mod-k */
	uint32_t *base;		/* by destination: its first number */
	uint32_t usual;		/* numbers of a usual leaf */
	uint32_t n_dealt;	/* pairs (switch, destination) beyond D-mod-k */
};

static inline uint64_t *
ftree_set(const struct ftree *t, uint32_t sw, uint32_t n_ups)
{
	return t->sets + ((size_t)sw * t->n_sets + n_ups) * t->n_words;
}

/* ftree_tree.c: groups, then sets, then slots. */
void ftree_make_groups(struct ftree *t);
void ftree_find_sets(struct ftree *t);
void ftree_assign_slots(struct ftree *t);

/* ftree_fill.c: numbers of the LIDs; then all rows: sets each entry whose
 * path goes up and then down over cables between adjacent levels. */
void ftree_number_lids(struct ftree *t);
void ftree_fill(struct ftree *t, struct lft *out);

#endif
