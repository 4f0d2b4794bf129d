/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How good are the tables? Figures by which engines and fabrics are compared.
 *
 * A channel is one direction of a switch-to-switch cable. Hosts are CA and
 * router ports, each known by its base LID. A flow is what one host sends to
 * another. Results do not depend on the number of threads.
 */
#ifndef MINISM_ROUTING_METRICS_H
#define MINISM_ROUTING_METRICS_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * All-to-all: every host sends one flow to every other. The load of a channel
 * is the number of flows over it; its maximum is the edge forwarding index
 * (Heydemann et al. 1989). Channels without a flow count in the mean.
 */
struct metrics_load {
	uint64_t max;
	double mean;
	uint32_t channels;
	uint64_t lost;		/* flows that do not arrive */
	/* The most over capacity, in flows over a channel of the widest kind:
	 * max if all are alike. */
	double worst;
	uint32_t busiest; /* the edge of it; SNAPSHOT_NONE without edges */
};

void metrics_all_to_all(const struct graph *g, const struct lft *lft,
			struct metrics_load *load);

/* A lower bound of metrics_load.worst for any tables. quick: by single switches
 * only. */
double metrics_bound(const struct graph *g, bool quick);

/*
 * Path lengths: pairs of hosts by the channels between them, 0 on the same
 * switch. A way is longer than need be if a breadth first search over the
 * cables finds one with fewer channels.
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

/* Only those entries that a packet from host to host meets, to any LID of a
 * host; LFT_NO_PATH elsewhere. A copy, which the caller frees. */
struct lft *metrics_host_entries(const struct graph *g, const struct lft *lft);

/* What it costs to get from one table to the other: entries that differ, and
 * the blocks of 64 with such an entry. Same numbering; what lies past the end
 * of one counts as LFT_NO_PATH. */
struct metrics_churn {
	uint64_t entries, blocks;
	uint64_t all_blocks;	/* that the longer one has */
};

void metrics_churn(const struct lft *before, const struct lft *after,
		   struct metrics_churn *churn);

/*
 * How good are the tables for traffic in patterns? See quality.h for hosts,
 * flows and channels.
 *
 * Random numbers come from the seed alone; results do not depend on the
 * number of threads.
 */

/* Traffic in patterns in which no host sends more than one flow, nor gets. */
struct metrics_sample {
	const uint32_t *hosts;	/* targets, see order_hosts() */
	uint32_t n_hosts;
	uint32_t n;		/* so many patterns, at most */
	uint64_t seed;
	uint32_t max_hops;	/* a longer way does not arrive; see
				   metrics_paths.max */
	unsigned n_threads;
};

/*
 * The congestion of a pattern is the most flows over one channel, at least 1,
 * the cable of a host, if any flow arrives. Flows that do not arrive load
 * nothing.
 */
struct metrics_congestion {
	uint32_t n;		/* patterns judged */
	uint32_t n_all;		/* that there are: shifts; else 0 */
	uint32_t max;
	uint32_t worst;		/* the first pattern of that: distance of a
				   shift, number of a permutation */
	double mean;		/* over the patterns */
	uint64_t lost;		/* flows */
};

/* Random permutations, all with the same probability. */
void metrics_permutations(const struct graph *g, const struct lft *lft,
			  const struct metrics_sample *sample,
			  struct metrics_congestion *result);

/* Shifts: host i sends to i + k in the order given, round about, for every k
 * from 1 to n_hosts - 1, or for a random choice of sample->n of them. */
void metrics_shifts(const struct graph *g, const struct lft *lft,
		    const struct metrics_sample *sample,
		    struct metrics_congestion *result);

/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, "Multistage
 * switches are not crossbars", 2008): half of the hosts, picked at random,
 * send one flow each to the other half, in random pairs. A flow gets 1/c of a
 * link, c being the most flows over a channel on its way, and nothing if it
 * does not arrive. Result: the mean over all flows of sample->n such
 * patterns, 1 being full bandwidth for all; 0 if there are no two hosts.
 */
double metrics_bisections(const struct graph *g, const struct lft *lft,
			  const struct metrics_sample *sample);

#endif
