/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Figures by which tables, engines and fabrics are compared.
 *
 * A channel is one direction of a cable between switches. Hosts are CA and
 * router ports, each with its base LID. A flow is what one host sends to
 * another. Results do not depend on the number of threads.
 */
#ifndef MINISM_ROUTING_METRICS_H
#define MINISM_ROUTING_METRICS_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * All-to-all: every host sends one flow to every other host. The load of a
 * channel is the number of flows over it; its maximum is the edge forwarding
 * index (Heydemann et al. 1989). Channels without a flow count in the mean.
 */
struct metrics_load {
	uint64_t max;
	double mean;
	uint32_t channels;
	uint64_t lost;		/* flows that do not arrive */
	/* The highest load relative to capacity, in flows over a channel of
	 * the widest kind; max, if all have the same width. */
	double worst;
	uint32_t busiest; /* its edge; SNAPSHOT_NONE if there are none */
};

/* ranks: as engine_output.ranks, which makes it faster, or NULL. */
void metrics_all_to_all(const struct graph *g, const struct lft *lft,
			const uint32_t *ranks, struct metrics_load *load);

/* Adds the flows of all-to-all traffic to load[], by edge; returns how many
 * arrive. */
uint64_t metrics_flows(const struct graph *g, const struct lft *lft,
		       const uint32_t *ranks, uint64_t *load);
/* The highest load relative to capacity, see metrics_load.worst, and its
 * edge. */
double metrics_worst(const struct graph *g, const uint64_t *load,
		     uint32_t *busiest);

/* A lower bound of metrics_load.worst for any tables. quick: from cuts
 * around single switches only. */
double metrics_bound(const struct graph *g, bool quick);

/* The cost of an update from one set of tables to another: entries that
 * differ, and blocks of 64 with such an entry. Same numbering; above the end
 * of one, entries count as LFT_NO_PATH. */
struct metrics_churn {
	uint64_t entries, blocks;
	uint64_t all_blocks;	/* of the longer one */
};

void metrics_churn(const struct lft *before, const struct lft *after,
		   struct metrics_churn *churn);

/*
 * Traffic in patterns. Random numbers depend on the seed only, results not on
 * the number of threads.
 */

/* Patterns in which each host sends at most one flow, and receives at most
 * one. */
struct metrics_sample {
	const uint32_t *hosts;	/* targets, see order_hosts() */
	uint32_t n_hosts;
	uint32_t n;		/* the largest number of patterns */
	uint64_t seed;
	uint32_t max_hops;	/* longer paths count as not arriving */
	unsigned n_threads;
};

/*
 * The congestion of a pattern is the largest number of flows over one channel
 * or over the cable of a host, one way. Flows that do not arrive load none.
 */
struct metrics_congestion {
	uint32_t n;		/* patterns evaluated */
	uint32_t n_all;		/* all that exist, of shifts; else 0 */
	uint32_t max;
	uint32_t worst;		/* the first pattern with the maximum:
				   distance of a shift, number of a
				   permutation */
	double mean;		/* over the patterns */
	uint64_t lost;		/* flows */
};

/* Random permutations, all with the same probability. */
void metrics_permutations(const struct graph *g, const struct lft *lft,
			  const struct metrics_sample *sample,
			  struct metrics_congestion *result);

/* Shifts: host i sends to host i + k modulo n_hosts, in the given order, for
 * every k from 1 to n_hosts - 1, or for a random choice of sample->n of
 * them. */
void metrics_shifts(const struct graph *g, const struct lft *lft,
		    const struct metrics_sample *sample,
		    struct metrics_congestion *result);

/*
 * Rails. In clusters with several HCAs a node, jobs send from an HCA to the
 * same HCA of other nodes. The name of a CA is that of its node, a blank and
 * that of the HCA ("node-07 mlx5_3"). Where names do not tell, since they have
 * no blank or several CAs have the same, CAs with one SystemImageGUID are a
 * node, and their cabled ports its rails in the order of GUID and port. Nodes
 * are in the order of their first hosts.
 */
struct metrics_rails {
	uint32_t n_nodes, n_rails;
	/* In each rail node i sends to i + k modulo the rail's nodes. */
	struct metrics_congestion shifts;
	struct metrics_congestion ring;		/* the shift by 1 */
	/* Two binary trees a rail, of which each reduces and broadcasts half of
	 * the data: flows of half a flow, both ways on each branch. A node in
	 * the middle sends 4. */
	struct metrics_congestion trees;
};

/* Are there rails? */
bool metrics_has_rails(const struct graph *g);
void metrics_rails(const struct graph *g, const struct lft *lft,
		   const struct metrics_sample *sample,
		   struct metrics_rails *result);

/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, "Multistage
 * switches are not crossbars", 2008): a random half of the hosts sends one flow
 * each to the other half, in random pairs. A flow gets 1/c of the bandwidth, c
 * being the largest number of flows over a channel of its path, and nothing if
 * it does not arrive. Result: the mean over all flows of sample->n such
 * patterns, 1 being full bandwidth for all; 0 with fewer than two hosts.
 */
double metrics_bisections(const struct graph *g, const struct lft *lft,
			  const struct metrics_sample *sample);

#endif
