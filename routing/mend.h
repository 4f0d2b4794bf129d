/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Paths for pairs of a switch and a LID that have none, while the graph of
 * channel dependencies stays acyclic. Used by repairs, and to complete what an
 * engine leaves out. Private to routing/. See mend.c.
 */
#ifndef MINISM_ROUTING_MEND_H
#define MINISM_ROUTING_MEND_H

#include "routing/credit_loops.h"

/* Tables that get paths. */
struct mend {
	const struct graph *g;
	struct channels *c;	/* all dependencies of the tables, sorted */
	struct lft *lft;
	uint8_t *is_lost;	/* by edge: not to be used */
	uint16_t lid;		/* being mended, */
	const struct graph_target *target;
	bool is_data;		/* false: port 0 to port 0, which makes no
				   channel dependencies */
	uint32_t *queue, n;	/* switches that lost their path, */
	uint8_t *is_open;	/* by switch: still without a path */
	float *dealt;		/* by edge: flows that were added */
	GArray *added;		/* struct turn: to c, for one path */
	uint64_t *refused;	/* like c->turns: turns that close a loop */
	uint64_t work;		/* cables followed so far */
	uint64_t before;	/* work of channels_add() before this */
};

struct mend_path {
	uint32_t edge;		/* SNAPSHOT_NONE: no path */
	uint32_t hops;
	float most;		/* the largest dealt[] of its channels */
};

/* Borrows g and c; lft is set by the caller. */
void mend_init(struct mend *m, const struct graph *g, struct channels *c,
	       GPtrArray *scratch);
void mend_clear(struct mend *m);

/* The switch lost its path to m->lid: it joins the queue. */
void mend_lose(struct mend *m, uint32_t sw);
/* The edge by which a switch forwards m->lid; SNAPSHOT_NONE. */
uint32_t mend_next(const struct mend *m, uint32_t sw);
/* Does the switch send data to the LID? Port 0 to port 0 is not data. Sets
 * m->is_data. */
bool mend_sends_data(struct mend *m, uint32_t sw);

/*
 * Follows the path that begins with an edge to its destination. False: it does
 * not arrive, or has a turn that is not in the dependency graph. With `add`,
 * such turns are added while the graph stays acyclic.
 */
bool mend_follow(struct mend *m, uint32_t e, bool add, struct mend_path *path);
/* The best path of a switch to the LID. With `add`, the first path found,
 * with new turns. */
struct mend_path mend_find(struct mend *m, uint32_t sw, bool add);
void mend_take(struct mend *m, uint32_t sw, uint32_t edge);

/* Paths for switches in the queue: those with CAs, the nearest first; then all
 * others. False: one of them sends data and has no path. */
void mend_hosts(struct mend *m);
bool mend_others(struct mend *m);
bool mend_is_too_much(const struct mend *m);

/*
 * Gives paths to pairs in the tables of an engine that have cables but no
 * path, as far as the channels, with all turns that its order permits, stay
 * acyclic. Entries that are there change only if no other path is possible.
 * ranks: engine_output.ranks.
 */
void mend_complete(const struct graph *g, struct lft *lft,
		   const uint32_t *ranks);

#endif
