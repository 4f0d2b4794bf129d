/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rank of every switch: how far above the leaves it is. Found from the
 * fabric alone.
 */
#ifndef MINISM_ROUTING_FTREE_RANK_H
#define MINISM_ROUTING_FTREE_RANK_H

#include "routing/ftree_tree.h"

/* By switch, g_free. A graph without switches gives NULL. */
uint8_t *rank_guess(const struct graph *g);

/* The same counted down from the roots; islands without one have guesses. */
uint8_t *rank_from_roots(const struct graph *g, const uint8_t *is_root);

/* Those in force, if they fit the fabric as well as `rank` does, a new switch
 * standing to its neighbours as it does there; else NULL. No root may have
 * anybody above it (is_root may be NULL). */
uint8_t *rank_keep(const struct graph *g, const uint32_t *old,
		   const uint8_t *rank, const uint8_t *is_root);

/* Lowers, in `rank`, the switches on top of the tree that connect nothing and
 * look like leaves without CAs. True if there were any: the tree is to be
 * built anew. */
bool rank_settle(const struct tree *t, uint8_t *rank);

/* Cables that do not join adjacent ranks. */
uint32_t rank_count_strays(const struct graph *g, const uint8_t *rank);

#endif
