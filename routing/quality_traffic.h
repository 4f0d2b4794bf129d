/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How good are the tables for traffic in patterns? See quality.h for hosts,
 * flows and channels.
 *
 * Random numbers come from the seed alone; results do not depend on the
 * number of threads.
 */
#ifndef MINISM_ROUTING_QUALITY_TRAFFIC_H
#define MINISM_ROUTING_QUALITY_TRAFFIC_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * All hosts in an order that follows the fabric: leaves of a pod side by
 * side, pods of a larger pod likewise; on a leaf by port. Of what looks the
 * same in the graph the lower switch index comes first. Indices of
 * g->targets, as many as *n says; g_free.
 */
uint32_t *quality_order(const struct graph *g, uint32_t *n);

/* Traffic in patterns in which no host sends more than one flow, nor gets. */
struct quality_sample {
	const uint32_t *hosts;	/* targets, see quality_order() */
	uint32_t n_hosts;
	uint32_t n;		/* so many patterns, at most */
	uint64_t seed;
	uint32_t max_hops;	/* a longer way does not arrive; see
				   quality_paths.max */
	unsigned n_threads;
};

/*
 * The congestion of a pattern is the most flows over one channel, at least 1,
 * the cable of a host, if any flow arrives. Flows that do not arrive load
 * nothing.
 */
struct quality_congestion {
	uint32_t n;		/* patterns judged */
	uint32_t n_all;		/* that there are: shifts; else 0 */
	uint32_t max;
	uint32_t worst;		/* the first pattern of that: distance of a
				   shift, number of a permutation */
	double mean;		/* over the patterns */
	uint64_t lost;		/* flows */
};

/* Random permutations, all with the same probability. */
void quality_permutations(const struct graph *g, const struct lft *lft,
			  const struct quality_sample *sample,
			  struct quality_congestion *result);

/* Shifts: host i sends to i + k in the order given, round about, for every k
 * from 1 to n_hosts - 1, or for a random choice of sample->n of them. */
void quality_shifts(const struct graph *g, const struct lft *lft,
		    const struct quality_sample *sample,
		    struct quality_congestion *result);

/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, "Multistage
 * switches are not crossbars", 2008): half of the hosts, picked at random,
 * send one flow each to the other half, in random pairs. A flow gets 1/c of a
 * link, c being the most flows over a channel on its way, and nothing if it
 * does not arrive. Result: the mean over all flows of sample->n such
 * patterns, 1 being full bandwidth for all; 0 if there are no two hosts.
 */
double quality_bisections(const struct graph *g, const struct lft *lft,
			  const struct quality_sample *sample);

#endif
