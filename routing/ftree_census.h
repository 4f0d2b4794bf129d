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
	/* Word w of what is reached from `sw`. */
	uint64_t (*reach)(const struct census *c, uint32_t sw, uint32_t w);
	uint8_t *cut_off;	/* destination: some CA has no way to its CAs */
	uint64_t n_missing;	/* pairs */
};

/* In the tree; by all ways that there are now. */
uint64_t census_reach_tree(const struct census *c, uint32_t sw, uint32_t w);
uint64_t census_reach_all(const struct census *c, uint32_t sw, uint32_t w);

/* Calls `what` for each switch and each destination that is missing, if there
 * are cables between them at all and data is concerned. */
void census_each(struct census *c, void (*what)(struct census *c, uint32_t sw,
						uint32_t dest));

/* In cut_off; in the lists of the report. */
void census_mark(struct census *c, uint32_t sw, uint32_t dest);
void census_lose(struct census *c, uint32_t sw, uint32_t dest);

#endif
