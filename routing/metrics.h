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
 * channel is the number of flows over it. Channels without a flow count in the
 * mean.
 */
struct metrics_load {
	double mean;
	uint32_t channels;
	uint64_t lost;		/* flows that do not arrive */
	/* The highest load relative to capacity, in flows over a channel of
	 * the widest kind: if all have the same width, the edge forwarding
	 * index (Heydemann et al. 1989). */
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
 * Traffic in patterns. The congestion of a pattern is the largest number of its
 * flows over one channel or over the cable of a host, one way. Flows that do not
 * arrive load none.
 */
struct metrics_flow {
	uint32_t from, to;	/* targets: hosts */
};

/* Writes the channels of a path: edges, and above them the cables of the hosts,
 * n_targets out and as many in; at most n_switches + 2. Returns how many; 0: it
 * does not arrive. */
uint32_t metrics_path(const struct graph *g, const struct lft *lft,
		      const struct metrics_flow *flow, uint32_t *way);

/* The congestion of one pattern. load: METRICS_WORK numbers, first those of all
 * channels. Adds to *lost the flows that do not arrive. */
#define METRICS_WORK(g)	\
	((size_t)(g)->n_edges + 2 * (g)->n_targets + (g)->n_switches + 2)
uint32_t metrics_congest(const struct graph *g, const struct lft *lft,
			 const struct metrics_flow *flows, uint32_t n,
			 uint32_t *load, uint64_t *lost);

struct metrics_congestion {
	uint32_t n;		/* patterns evaluated */
	uint32_t n_all;		/* all that exist, of shifts; else 0 */
	uint32_t max;
	uint32_t worst;		/* the first pattern with the maximum:
				   distance of a shift, number of another */
	double mean;		/* over the patterns */
	uint64_t lost;		/* flows */
};

struct metrics_sample {
	const uint32_t *hosts;	/* targets, see order_hosts() */
	uint32_t n_hosts;
	uint32_t n;		/* the largest number of patterns */
	uint64_t seed;		/* decides all that is random */
};

/* A random choice of n numbers from 1 to n_all, ascending; all sets have the
 * same probability. n is at most n_all. g_free. */
uint32_t *metrics_choose(uint32_t n_all, uint32_t n, uint64_t seed);

/* Shifts: host i sends to host i + k modulo n_hosts, in the given order, for
 * every k from 1 to n_hosts - 1, or for a random choice of sample->n of
 * them. */
void metrics_shifts(const struct graph *g, const struct lft *lft,
		    const struct metrics_sample *sample,
		    struct metrics_congestion *result);

#endif
