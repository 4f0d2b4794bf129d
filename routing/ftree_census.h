/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who has no way for data to whom.
 */
#ifndef MINISM_ROUTING_FTREE_CENSUS_H
#define MINISM_ROUTING_FTREE_CENSUS_H

#include "routing/ftree.h"
#include "routing/ftree_detour.h"

struct census {
	const struct tree *t;
	const struct detour *detour;
	struct ftree_report *report;
	/* What is reached from `sw`, a set. */
	const uint64_t *(*reach)(const struct census *c, uint32_t sw);
	uint64_t *scratch;	/* a set */
	uint8_t *cut_off;	/* destination: some CA has no way to its CAs */
	uint64_t n_missing;	/* pairs */
};

/* Of which all is NULL or 0 at first, and reach in the tree. */
void census_init(struct census *c, const struct tree *t,
		 struct ftree_report *report);
void census_clear(struct census *c);

/* In the tree; by all ways that there are now. */
const uint64_t *census_reach_tree(const struct census *c, uint32_t sw);
const uint64_t *census_reach_all(const struct census *c, uint32_t sw);

/* Calls `what` for each switch and each destination that is missing, if there
 * are cables between them at all and data is concerned. */
void census_each(struct census *c, void (*what)(struct census *c, uint32_t sw,
						uint32_t dest));

/* In cut_off; in the lists of the report. */
void census_mark(struct census *c, uint32_t sw, uint32_t dest);
void census_lose(struct census *c, uint32_t sw, uint32_t dest);

#endif
