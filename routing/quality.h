/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How good are the tables? Figures by which engines and fabrics are compared.
 *
 * A channel is one direction of a switch-to-switch cable. Hosts are CA and
 * router ports, each known by its base LID. A flow is what one host sends to
 * another. Results do not depend on the number of threads. Patterns of
 * traffic are in quality_traffic.h.
 */
#ifndef MINISM_ROUTING_QUALITY_H
#define MINISM_ROUTING_QUALITY_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * All-to-all: every host sends one flow to every other. The load of a channel
 * is the number of flows over it; its maximum is the edge forwarding index
 * (Heydemann et al. 1989). Channels without a flow count in the mean.
 */
struct quality_load {
	uint64_t max;
	double mean;
	uint32_t channels;
	uint64_t lost;		/* flows that do not arrive */
	/* The most over capacity, in flows over a channel of the widest kind:
	 * max if all are alike. */
	double worst;
	uint32_t busiest; /* the edge of it; SNAPSHOT_NONE without edges */
};

void quality_all_to_all(const struct graph *g, const struct lft *lft,
			struct quality_load *load);

/* A lower bound of quality_load.worst for any tables. quick: by single switches
 * only. */
double quality_bound(const struct graph *g, bool quick);

/* The capacity of the widest cable, at least 1. */
uint32_t quality_widest(const struct graph *g);

/*
 * Path lengths: pairs of hosts by the channels between them, 0 on the same
 * switch. A way is longer than need be if a breadth first search over the
 * cables finds one with fewer channels.
 */
struct quality_paths {
	uint64_t *pairs;	/* by length, max + 1 entries */
	uint32_t max;
	double mean;
	uint64_t arrived, lost, longer;	/* pairs */
};

void quality_paths(const struct graph *g, const struct lft *lft,
		   unsigned n_threads, struct quality_paths *paths);
void quality_paths_clear(struct quality_paths *paths);

/* Only those entries that a packet from host to host meets, to any LID of a
 * host; LFT_NO_PATH elsewhere. A copy, which the caller frees. */
struct lft *quality_host_entries(const struct graph *g, const struct lft *lft);

/* What it costs to get from one table to the other: entries that differ, and
 * the blocks of 64 with such an entry. Same numbering; what lies past the end
 * of one counts as LFT_NO_PATH. */
struct quality_churn {
	uint64_t entries, blocks;
	uint64_t all_blocks;	/* that the longer one has */
};

void quality_churn(const struct lft *before, const struct lft *after,
		   struct quality_churn *churn);

#endif
