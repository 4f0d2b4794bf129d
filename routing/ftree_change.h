/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tree that lost or got a few cables: what of it is another than before.
 */
#ifndef MINISM_ROUTING_FTREE_CHANGE_H
#define MINISM_ROUTING_FTREE_CHANGE_H

#include "routing/ftree_fill.h"

/*
 * `whole` are switches whose own cables are others, or what these are called
 * by. Of the rest a row can only differ in destinations that have a bit at the
 * switch or at one next to it.
 */
struct change {
	uint32_t n_whole;
	uint8_t *whole;		/* by switch */
	uint8_t *any;		/* by switch: there are bits */
	uint64_t *bits;		/* by switch, a set: sets or goodness differ */
	uint32_t n_words;	/* of sets, in which there are bits at all */
	uint32_t *words;
	uint8_t *listed;	/* by word: it is in `words` */
	struct tree was;	/* the groups of before, and their graph */
};

/* Makes `t`, with all sets, that of `g`. NULL if too much is different: other
 * switches, pods, or switches with CAs, or many cables. Then `t` is only to be
 * freed. The graph of before stays until change_free(). */
struct change *change_new(struct tree *t, const struct graph *g);
void change_free(struct change *c);

/* Gives the slots anew. False if a number would mean another way at some
 * rank; then, too, `t` is only to be freed. */
bool change_slots(struct change *c, struct tree *t, uint32_t n_hosts);

/* Makes `good` that of the tree. */
void change_good(struct change *c, struct fill *f);

/* Destinations in whose entries the row of `sw` may differ from before, with
 * 0s for those that have not changed; false if there are none. The switch
 * itself is not among them. */
bool change_find_dests(const struct change *c, const struct tree *t,
		       uint32_t sw, uint64_t *dests);

#endif
