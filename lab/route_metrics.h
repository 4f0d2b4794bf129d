/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Figures of tables that minism-route prints and no choice depends on.
 */
#ifndef MINISM_LAB_ROUTE_METRICS_H
#define MINISM_LAB_ROUTE_METRICS_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * Path lengths: pairs of hosts by the number of channels between them, 0 on the
 * same switch. A path is too long if a breadth-first search over the cables
 * finds a shorter one.
 */
struct metrics_paths {
	uint64_t *pairs;	/* by length, max + 1 entries */
	uint32_t max;
	double mean;
	uint64_t arrived, lost, longer;	/* pairs */
};

void metrics_paths(const struct graph *g, const struct lft *lft,
		   struct metrics_paths *paths);
void metrics_paths_clear(struct metrics_paths *paths);

/* A copy with only those entries that packets from host to host use,
 * LFT_NO_PATH elsewhere. lft_free. */
struct lft *metrics_host_entries(const struct graph *g, const struct lft *lft);

#endif
