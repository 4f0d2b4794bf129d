/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Figures of tables that minism-route prints and no choice depends on: congestion
 * under patterns of traffic, path lengths. Results do not depend on the number of
 * threads.
 */
#ifndef MINISM_LAB_TRAFFIC_H
#define MINISM_LAB_TRAFFIC_H

#include "routing/metrics.h"

/*
 * Rails: in clusters with several HCAs a node, jobs send from an HCA to the same
 * HCA of other nodes. The name of a CA is that of its node, a blank and that of
 * the HCA ("node-07 mlx5_3"). Where names do not tell, since they have no blank
 * or several CAs have the same, CAs with one SystemImageGUID are a node, and
 * their cabled ports its rails in the order of GUID and port. Nodes are in the
 * order of their first hosts.
 */
enum traffic_kind {
	/* Each host sends one flow and gets one, at random; all permutations
	 * have the same probability. */
	TRAFFIC_PERMUTATIONS,
	/* Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine,
	 * "Multistage switches are not crossbars", 2008): a random half of the
	 * hosts sends one flow each to the other half, in random pairs. A flow
	 * gets 1/c of the bandwidth, c being the largest number of flows over a
	 * channel of its path, and nothing if it does not arrive. Its mean is
	 * that of all flows, 1 being full bandwidth; it has no max. */
	TRAFFIC_BISECTIONS,
	TRAFFIC_SHIFTS,		/* metrics_shifts() */
	/* In each rail node i sends to i + k modulo the rail's nodes. */
	TRAFFIC_RAILS,
	TRAFFIC_RING,		/* the shift by 1 on each rail */
	/* Two binary trees a rail, of which each reduces and broadcasts half of
	 * the data: flows of half a flow, both ways on each branch. A node in
	 * the middle sends 4. */
	TRAFFIC_TREES,
	N_TRAFFIC
};

struct traffic {
	uint32_t n_nodes, n_rails;
	struct metrics_congestion of[N_TRAFFIC];
};

/* sample->n random patterns, and at most n_shifts shifts. */
void traffic_measure(const struct graph *g, const struct lft *lft,
		     const struct metrics_sample *sample, uint32_t n_shifts,
		     unsigned n_threads, struct traffic *result);

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
