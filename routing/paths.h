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

#define PATHS_NONE	UINT32_MAX

/* An edge and the switch to which it leads. */
struct paths_step {
	uint32_t edge, peer;
};

struct paths {
	const struct graph *g;
	const uint32_t *place;	/* by switch; up is towards the higher place.
				   NULL: any path */
	/* Edges by switch, those to lower places before those to higher
	 * ones: edges below low_end[] lead down, those from high_start[] on
	 * lead up. place NULL: all are both. */
	struct paths_step *sorted;
	uint32_t *low_end, *high_start;
	uint32_t dest;		/* of the last search; SNAPSHOT_NONE */
	/* By switch: twice its hops, and 1 if it goes up, and then perhaps
	 * down; PATHS_NONE: unreached. Else it goes down only, or any way if
	 * there is no order. */
	uint32_t *way;
	uint8_t *descends;	/* by switch: it may not go up */
	uint32_t n_reached;
	uint32_t *queue;	/* switches reached, the nearest first */
	uint32_t *first;	/* by place in the queue, n_reached + 1: */
	struct paths_step *steps;	/* that continue a shortest path */
};

void paths_init(struct paths *p, const struct graph *g, const uint32_t *place,
		GPtrArray *scratch);
void paths_find(struct paths *p, uint32_t dest);

/* A channel: what is read along a path is next to each other. */
struct paths_channel {
	int32_t flows;		/* at most a quarter of 49,151 LIDs squared */
	float weight;		/* flows over a channel of the widest kind that
				   are as much as one */
	float cost;		/* of a path through it: a power of the load,
				   with more on it if it is narrow */
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

/* The load of a channel with so many more flows. */
static inline float
paths_load(const struct paths_channel *c, int32_t flows)
{
	return (float)(c->flows + flows) * c->weight;
}

static inline void
paths_load_add(struct paths_load *l, uint32_t e, int32_t flows)
{
	struct paths_channel *c = &l->at[e];
	float x;

	c->flows += flows;
	x = (paths_load(c, 0) + l->more * (c->weight - 1)) * l->scale;
	c->cost = x * x * x * x + 1e-6f * x;
}

/* Adds the flows of all CAs along next[], times `sign`; queue: switches,
 * each before the one to which it forwards. flow: by switch, work space. */
void paths_load_tree(struct paths_load *l, const uint32_t *next,
		     const uint32_t *queue, uint32_t n, int32_t sign,
		     int32_t *flow);

/* The load of the busiest channel. */
float paths_load_most(const struct paths_load *l);

/*
 * The load of the busiest channel if every CA sends to every other and each
 * switch divides its flows evenly among all its shortest paths, in flows over a
 * channel of the widest kind. load: by edge, zeros, gets that of each channel;
 * lost: by switch, to which the flows without a path there are added; each may be
 * NULL. Looks at every step-th switch only.
 */
double paths_estimate(const struct graph *g, const uint32_t *place,
		      uint32_t step, double *load, uint64_t *lost);

#endif
