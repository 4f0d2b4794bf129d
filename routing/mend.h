/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Paths for pairs of a switch and a LID that have none, while the graph of
 * channel dependencies stays acyclic. Used by repairs, and to complete what an
 * engine leaves out (complete.h). Private to routing/. See mend.c.
 */
#ifndef MINISM_ROUTING_MEND_H
#define MINISM_ROUTING_MEND_H

#include "routing/credit_loops.h"

#define MEND_WORK	(UINT64_C(1) << 27)	/* about 2 s */

/* Tables that get paths. */
struct mend_path {
	uint32_t edge;		/* SNAPSHOT_NONE: no path */
	uint32_t hops;		/* with the costs of turns to be added */
	float load;		/* dealt[] of its channels, summed */
};

struct mend {
	const struct graph *g;
	struct channels *c;	/* all dependencies of the tables, sorted */
	struct lft *lft;
	const struct lft *home;	/* those of before; or NULL */
	uint8_t *is_lost;	/* by edge: not to be used */
	uint16_t lid;		/* being mended, */
	const struct graph_target *target;
	bool is_data;		/* false: port 0 to port 0, which makes no
				   channel dependencies */
	uint32_t *queue, n;	/* switches that lost their path, or whose entry
				   has changed for another one's, */
	uint8_t *is_queued;	/* by switch */
	uint32_t *senders;	/* by switch in the queue: CAs whose packets
				   passed it */
	uint8_t *is_open;	/* by switch: still without a path */
	struct mend_path *best;	/* by switch without a path: the best so far */
	float *dealt;		/* by edge: flows, those of the tables at the
				   start or 0, and those that were added */
	uint64_t *refused;	/* like c->turns: turns that close a loop */
	const uint32_t *depth;	/* by switch: new turns should be where it is
				   low; or NULL */
	/* Of a search. */
	GArray *added;		/* struct turn: to c, for one path */
	uint32_t *behind;	/* by switch: hosts whose paths pass it */
	const uint32_t *through;/* mend_detour(): by switch without a path,
				   hosts that send through it; NULL: any
				   channel will do */
	uint32_t flow;		/* those of the path, */
	float limit;		/* which no dealt[] of it may exceed with them */
	bool is_sure;		/* no turn against the order */
	uint16_t *cost;		/* by edge: of the cheapest path that ends with
				   it, */
	uint32_t *from;		/* and the edge before it */
	uint32_t least;		/* cost of a path to the target so far */
	GArray *offers;		/* struct offer */
	uint64_t work;		/* cables followed so far, */
	uint64_t most_work;	/* and with turns at most: see
				   mend_is_too_much() */
	uint64_t before;	/* work of channels_add() before this */
};

/* Borrows g and c; lft is set by the caller. */
void mend_init(struct mend *m, const struct graph *g, struct channels *c,
	       GPtrArray *scratch);
void mend_clear(struct mend *m);
/* Sets dealt[] to the flows of these tables, relative to the width. ranks: see
 * metrics_flows(). */
void mend_measure(struct mend *m, const struct lft *lft, const uint32_t *ranks);

/* Begins with a LID, all switches have a path to it. */
void mend_start(struct mend *m, uint16_t lid);
/* The switch lost its path to m->lid: it joins the queue. */
void mend_lose(struct mend *m, uint32_t sw);
/* The edge by which a switch forwards m->lid; SNAPSHOT_NONE. */
uint32_t mend_next(const struct mend *m, uint32_t sw);
/* Is it another block of a table to write, if the entry of the switch changes? */
bool mend_is_fresh(const struct mend *m, uint32_t sw);
/* Does the switch send data to the LID? Port 0 to port 0 is not data. Sets
 * m->is_data. */
bool mend_sends_data(struct mend *m, uint32_t sw);

/* Follows the path that begins with an edge to its destination. False: it does
 * not arrive, or has a turn that is not in the dependency graph. */
bool mend_follow(struct mend *m, uint32_t e, bool add, struct mend_path *path);
/* Keeps the entry of a switch if it leads around the fault by now, at most with
 * turns that agree with the order. */
bool mend_keep(struct mend *m, uint32_t sw);
/* The switch, which forwards packets of so many hosts, takes another edge. */
void mend_take(struct mend *m, uint32_t sw, uint32_t edge, uint32_t hosts);
/* Takes the path that costs least in turns and entries of other switches.
 * False: there is none. */
bool mend_search(struct mend *m, uint32_t sw);
/* The same for all that is sent through the switch, by channels with room for
 * it, if no path of at most so many hops is there. through: by switch without a
 * path, hosts. */
void mend_detour(struct mend *m, uint32_t sw, uint32_t hops,
		 const uint32_t *through, float limit);

/* Paths for switches in the queue by entries and turns that are there, the
 * shortest first. */
void mend_plainly(struct mend *m);
/* Paths for all others. False: one of them sends data and has no path. */
bool mend_others(struct mend *m);
bool mend_is_too_much(const struct mend *m);

#endif
