/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of the switches: which direction of a cable leads up. Each switch
 * has a level (0: a leaf) and a place; places are a total order that follows
 * the levels. Up is towards the higher place, so paths that go up and then down
 * have no credit loop (M. D. Schroeder et al., "Autonet", 1991). The ftree and
 * updn engines and multicast use the same order. See order.c for how it is
 * found.
 */
#ifndef MINISM_ROUTING_ORDER_H
#define MINISM_ROUTING_ORDER_H

#include "routing/engine.h"

struct order {
	gint ref;
	uint32_t n_switches, n_levels;
	uint8_t *level;		/* by switch */
	uint32_t *place;	/* switch -> place */
	uint32_t *climb;	/* place -> switch */
	uint32_t *pods;		/* [level][switch]: the lowest switch of its
				   component over the levels up to this one */
	uint32_t n_strays;	/* cables that do not join adjacent levels */
};

/*
 * From in->is_root, if there are any, else from the fabric; the order of
 * in->ranks is kept if it is nearly as good. The same fabric has the same
 * order, however it was discovered.
 */
struct order *order_compute(const struct engine_input *in);
/* With one root in each island: every switch has a path up to it, so all
 * switches reach each other. */
struct order *order_with_root(const struct graph *g);
void order_destroy(struct order *o);	/* drops a reference */

/* An estimate of the load of the busiest channel. */
double order_estimate(const struct graph *g, const struct order *o);

/* For engine_output.ranks: all different, up is towards the lower rank.
 * g_free. */
uint32_t *order_ranks(const struct order *o);

/* The order of engine_output.ranks; NULL if a switch has no rank. */
struct order *order_from_ranks(const struct graph *g, const uint32_t *ranks);

/* By switch: the set of top switches (those without a cable up) above it;
 * itself, if it is one. n_words: of a set. g_free. */
uint64_t *order_find_tops(const struct order *o, const struct graph *g,
			  uint32_t *n_words);

/* Has each CA a path up and then down to each other CA and, unless
 * hosts_only, to and from each switch? */
bool order_joins(const struct graph *g, const uint64_t *tops,
		 uint32_t n_words, bool hosts_only);

/*
 * All hosts in an order that follows the fabric: leaves of a pod side by side,
 * pods of a larger pod likewise; on a leaf by port. If all switches are leaves,
 * along the cables. Indices of g->targets, *n of them; g_free.
 */
uint32_t *order_hosts(const struct graph *g, uint32_t *n);

static inline bool
order_is_up(const struct order *o, uint32_t from, uint32_t to)
{
	return o->place[to] > o->place[from];
}

#endif
