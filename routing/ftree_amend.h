/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of before, made those of a tree that changed a little.
 */
#ifndef MINISM_ROUTING_FTREE_AMEND_H
#define MINISM_ROUTING_FTREE_AMEND_H

#include "routing/ftree_change.h"
#include "routing/ftree_transfer.h"

/* What to do, and of which. */
struct amend {
	const struct change *c;
	const struct fill *f;	/* of today, like all others */
	struct detour *d;	/* reach is that of before, and out holds what
				   `last` does; both are made those of today */
	struct transfer *x;
	const struct lft *last;	/* the tables of before */
	bool same_members;	/* transfer_sign() is that of before */
	const uint8_t *lifts;	/* by switch: transfer_has_old() of before */
	GArray *changed;	/* blocks, as in struct engine_output */
};

/* No way of before may have been a rescue or management's, and none of today
 * must be. */
void amend_tables(struct amend *a);

#endif
