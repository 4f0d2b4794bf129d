/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ways that the tree has not: along cables that are no part of it, and for
 * management between switches.
 */
#ifndef MINISM_ROUTING_FTREE_DETOUR_H
#define MINISM_ROUTING_FTREE_DETOUR_H

#include "routing/ftree_fill.h"

/* All ways that there are by now, those for data and at the end the others. */
struct detour {
	const struct fill *f;
	const struct tree *t;
	struct lft *out;
	uint32_t *hops;		/* to the destination at hand */
	uint8_t *falls;		/* the way goes down only */
	uint64_t *reach;	/* switch -> set, who has a way by now */
	uint32_t n_rescued;	/* destinations */
};

static inline uint64_t *
detour_set(const struct detour *d, uint32_t sw)
{
	return d->reach + (size_t)sw * d->t->n_words;
}

/* `reach` is taken over; NULL: what is reached in the tree. */
struct detour *detour_new(const struct fill *fill, struct lft *out,
			  uint64_t *reach);
void detour_free(struct detour *d);

/* Routes anew all LIDs of CAs on `dest`, with all cables. */
void detour_rescue(struct detour *d, uint32_t dest);

/* From switches without CAs to the ports 0 that they do not reach: any way,
 * for management only. Last of all. False if there was nothing to be done. */
bool detour_manage(struct detour *d);

#endif
