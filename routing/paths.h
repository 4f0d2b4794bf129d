/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shortest paths from all switches to one, as far as an order of the switches
 * permits them and forwarding tables can hold them.
 *
 * A forwarding table does not depend on where a packet came from. So a switch
 * to which others come down goes on down, if that is the shortest way or others
 * need it; any other goes up to where the rest is shortest.
 */
#ifndef MINISM_ROUTING_PATHS_H
#define MINISM_ROUTING_PATHS_H

#include "routing/graph.h"
#include "routing/scratch.h"

#define PATHS_NONE	UINT16_MAX

enum paths_kind {
	PATHS_UNREACHED,
	PATHS_DOWN,		/* down only; or any, if there is no order */
	PATHS_UP,		/* up, and then perhaps down */
};

struct paths {
	const struct graph *g;
	const uint32_t *place;	/* by switch; up is towards the higher place.
				   NULL: any path */
	/* Edges by switch, those to lower places before those to higher
	 * ones: edges below low_end[] lead down, those from high_start[] on
	 * lead up. place NULL: all are both. */
	uint32_t *sorted, *low_end, *high_start;
	uint32_t *peers;	/* to which sorted[] lead */
	uint32_t dest;		/* of the last search; SNAPSHOT_NONE */
	uint16_t *hops;		/* by switch; PATHS_NONE: unreached */
	uint8_t *kind;		/* by switch: enum paths_kind */
	uint8_t *descends;	/* by switch: it may not go up */
	uint32_t n_reached;
	uint32_t *queue;	/* switches reached, the nearest first */
	uint32_t *first;	/* by place in the queue, n_reached + 1: */
	uint32_t *edges;	/* edges that continue a shortest path */
};

void paths_init(struct paths *p, const struct graph *g, const uint32_t *place,
		GPtrArray *scratch);
void paths_find(struct paths *p, uint32_t dest);

/* Does the edge from a switch (or SNAPSHOT_NONE) continue a shortest path? */
static inline bool
paths_permit(const struct paths *p, uint32_t sw, uint32_t e)
{
	uint32_t peer = e == SNAPSHOT_NONE ? sw : p->g->edges[e].peer;

	return p->hops[peer] + 1 == p->hops[sw] &&
		(!p->place || (p->kind[sw] == PATHS_UP ?
			       p->place[peer] > p->place[sw] :
			       p->place[peer] < p->place[sw] &&
			       p->kind[peer] == PATHS_DOWN));
}

/* A channel: what is read along a path is next to each other. */
struct paths_channel {
	float load;		/* flows over a channel of the widest kind */
	float cost;		/* of a path through it: a power of the load,
				   with more on it if it is narrow */
	float weight;		/* of one flow */
	uint32_t peer;
};

struct paths_load {
	const struct graph *g;
	struct paths_channel *at;	/* by edge */
	float scale;			/* 1 / mean load */
	float more;			/* flows that a choice is likely to add */
};

void paths_load_init(struct paths_load *l, const struct graph *g,
		     GPtrArray *scratch);

static inline void
paths_load_add(struct paths_load *l, uint32_t e, float flow)
{
	struct paths_channel *c = &l->at[e];
	float x;

	c->load += flow * c->weight;
	x = (c->load + l->more * (c->weight - 1)) * l->scale;
	c->cost = x * x * x * x + 1e-6f * x;
}

/* Adds the flows of all CAs along next[], times `sign`; queue: switches,
 * each before the one to which it forwards. flow: by switch, work space. */
void paths_load_tree(struct paths_load *l, const uint32_t *next,
		     const uint32_t *queue, uint32_t n, float sign,
		     float *flow);

/* The load of the busiest channel. */
float paths_load_most(const struct paths_load *l);

/*
 * The load of the busiest channel if every CA sends to every other and each
 * switch divides its flows evenly among all its shortest paths, in flows over a
 * channel of the widest kind. Adds the flows without a path to lost[], by the
 * switch of their destination. Looks at every step-th switch only.
 */
double paths_estimate(const struct graph *g, const uint32_t *place,
		      uint32_t step, uint64_t *lost);

#endif
