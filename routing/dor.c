// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dimension-order routing, for meshes, tori, hypercubes and HyperX, also
 * damaged ones.
 *
 * Method. The cables have dimensions (grid.c). A packet may turn from one
 * dimension to a later one, and within a line up, that is towards its first
 * switch, and then down. These turns close no cycle. A spanning tree is added,
 * so that multicast has room. LID by LID, breadth first from its switch, each
 * switch takes the next hop with the least loaded of its shortest paths by turns
 * of dimension order; further passes remove the flows of a LID and route it
 * again. If lost cables leave a switch without such a path, all switches may make
 * the turns of the tree and others for this LID, as long as they close no cycle.
 * The rest is left to complete.c.
 *
 * Cost. LIDs times cables for each pass, and the sort of added turns.
 *
 * Reference. W. J. Dally, C. L. Seitz, "Deadlock-free message routing in
 * multiprocessor interconnection networks", 1987; J. Domke, T. Hoefler, S.
 * Matsuoka, "Routing on the dependency graph", 2016, for turns one by one.
 */
#include <math.h>
#include <string.h>

#include "routing/complete.h"
#include "routing/credit_loops.h"
#include "routing/engine.h"
#include "routing/grid.h"
#include "routing/paths.h"
#include "routing/sets.h"
#include "topology/each.h"

#define WORK		500000000u	/* steps of all passes */
#define MAX_PASSES	6u
#define SIBLING		1e9f	/* cost of a cable that a lower LID uses */

struct dor {
	const struct graph *g;
	struct lft *out;
	struct channels *c;	/* permitted turns */
	bool adds;		/* all of them, and others that close no
				   cycle */
	uint64_t *refused;	/* as c->turns: they closed one, or are turns
				   of the spanning tree alone */
	GArray *added;		/* struct turn: of the spanning tree */
	uint32_t *n_in;		/* by island: number of switches */
	uint32_t *ranks;	/* by switch: of the spanning tree */
	uint32_t *nearest;	/* all switches, the lowest in the last
				   dimension first */
	uint32_t *parent;	/* by switch: the edge up; SNAPSHOT_NONE */
	struct paths_load l;
	float *path;		/* by switch */
	int32_t *flow;		/* by switch */
	uint32_t *next;		/* by switch: edge */
	uint32_t *queue;	/* reached switches, the nearest first */
	uint32_t *waiting;	/* by switch; see graph_sort() */
	uint16_t *hops;
	uint32_t n_reached, base, lid;
	uint64_t work;
};

/* May a packet that arrived by `in` leave by `out`? */
static bool
dor_may_turn(struct dor *x, uint32_t in, uint32_t out)
{
	uint64_t *refused = channels_mask(x->g, x->refused, in);
	uint8_t port = x->g->edges[out].port;

	if (channels_has(x->c, in, out))
		return x->adds || !set_has(refused, port);
	if (!x->adds || set_has(refused, port))
		return false;
	if (channels_add(x->c, in, out))
		return true;
	set_add(refused, port);
	return false;
}

/* Gives `sw` the best next hop of those at `hops` - 1. */
static void
dor_choose(struct dor *x, uint32_t sw, uint16_t hops)
{
	const struct graph *g = x->g;
	const uint8_t *row = lft_row(x->out, sw);
	uint64_t tried[CHANNELS_WORDS] = { 0 };
	uint32_t e, best, peer, lid;
	float least, cost;
	uint8_t port;

	do {
		best = SNAPSHOT_NONE;
		least = INFINITY;
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			port = g->edges[e].port;
			if (x->hops[peer] + 1 != hops || set_has(tried, port))
				continue;
			for (lid = x->base; lid < x->lid && row[lid] != port;)
				lid++;
			cost = x->l.at[e].cost + x->path[peer] +
				(lid < x->lid ? SIBLING : 0);
			if (best == SNAPSHOT_NONE || cost < least) {
				best = e;
				least = cost;
			}
		}
		if (best == SNAPSHOT_NONE)
			return;
		set_add(tried, g->edges[best].port);
		peer = g->edges[best].peer;
	} while (hops > 1 && !dor_may_turn(x, best, x->next[peer]));
	x->next[sw] = best;
	x->path[sw] = least;
	x->hops[sw] = hops;
	x->queue[x->n_reached++] = sw;
}

static void
dor_search(struct dor *x, uint32_t dest)
{
	const struct graph *g = x->g;
	uint32_t head, sw, e, peer;

	memset(x->hops, 0xff, g->n_switches * sizeof(*x->hops));
	memset(x->next, 0xff, g->n_switches * sizeof(*x->next));
	x->hops[dest] = 0;
	x->path[dest] = 0;
	x->queue[0] = dest;
	x->n_reached = 1;
	for (head = 0; head < x->n_reached; head++) {
		sw = x->queue[head];
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			if (x->hops[peer] == UINT16_MAX)
				dor_choose(x, peer, (uint16_t)(x->hops[sw] + 1));
		}
	}
	x->work += g->n_edges;
}

/* Adds the flows of all CAs to the present LID, times `sign`. */
static void
dor_add_flows(struct dor *x, int32_t sign)
{
	uint32_t n = graph_sort(x->g, x->next, x->waiting, x->queue);

	paths_load_tree(&x->l, x->next, x->queue, n, sign, x->flow);
}

static void
dor_route_target(struct dor *x, const struct graph_target *target, bool again)
{
	uint32_t dest = target->sw, island = x->g->island[dest], sw;

	x->base = target->lid;
	for (x->lid = x->base; x->lid < x->base + target->n_lids; x->lid++) {
		for (sw = 0; again && sw < x->g->n_switches; sw++)
			x->next[sw] = graph_edge_at(x->g, sw,
				lft_row(x->out, sw)[x->lid]);
		if (again)
			dor_add_flows(x, -1);
		for (x->adds = false;; x->adds = true) {
			dor_search(x, dest);
			if (x->adds || x->n_reached == x->n_in[island])
				break;
		}
		/* which switches are reached depends on the choices */
		for (sw = 0; sw < x->g->n_switches; sw++)
			lft_row(x->out, sw)[x->lid] = (uint8_t)
				(x->next[sw] == SNAPSHOT_NONE ? LFT_NO_PATH :
				 x->g->edges[x->next[sw]].port);
		dor_add_flows(x, 1);
		lft_row(x->out, dest)[x->lid] = target->port;
	}
}

/* ---- the turns that are there from the start ---- */

/* Does the edge lead towards the first switch of the line? */
static bool
dor_is_up(const struct dor *x, const uint16_t *far, uint32_t e)
{
	uint32_t to = x->g->edges[e].peer;
	uint32_t from = graph_owner(x->g, e);

	return far[to] < far[from] || (far[to] == far[from] && to < from);
}

/* Permits the turns of dimension order out of one dimension; sorts the list of
 * switches, stably, by their distance from the first switch of their line. */
static void
dor_add_dimension(struct dor *x, const uint8_t *dimension, uint32_t which,
		  uint32_t *list)
{
	const struct graph *g = x->g;
	uint32_t n = g->n_switches, i, k, e, f, head, tail, sw, peer, at;
	g_autofree uint16_t *far = g_new(uint16_t, n);
	g_autofree uint32_t *old = g_memdup2(list, n * sizeof(*list));

	/* far[]: hops over edges of this dimension from the line's first
	 * switch, which is the first in the list without a distance */
	memset(far, 0xff, n * sizeof(*far));
	for (i = 0; i < n; i++) {
		if (far[x->nearest[i]] != UINT16_MAX)
			continue;
		far[x->nearest[i]] = 0;
		x->queue[0] = x->nearest[i];
		for (head = 0, tail = 1; head < tail; head++)
			for_each_edge(g, x->queue[head], e) {
				peer = g->edges[e].peer;
				if (dimension[e] != which ||
				    far[peer] != UINT16_MAX)
					continue;
				far[peer] = far[x->queue[head]] + 1;
				x->queue[tail++] = peer;
			}
	}
	for (e = 0; e < g->n_edges; e++) {
		if (dimension[e] != which)
			continue;
		sw = g->edges[e].peer;
		for_each_edge(g, sw, f)
			if (dimension[f] > which || (dimension[f] == which &&
			    g->edges[f].peer != graph_owner(g, e) &&
			    (dor_is_up(x, far, e) || !dor_is_up(x, far, f))))
				channels_turn(x->c, e, g->edges[f].port);
	}
	for (at = 0, k = 0; k < n; at++)
		for (i = 0; i < n; i++)
			if (far[old[i]] == at)
				list[k++] = old[i];
}

/* Joins `sw` to the lowest neighbour in the tree that is possible. */
static bool
dor_hang_low(struct dor *x, uint32_t sw)
{
	const struct graph *g = x->g;
	uint32_t e, best, rank, below = 0;

	do {
		for (best = SNAPSHOT_NONE, e = g->first_edge[sw];
		     e < g->first_edge[sw + 1]; e++) {
			rank = x->ranks[g->edges[e].peer];
			if (rank >= below && rank != ENGINE_NO_RANK &&
			    (best == SNAPSHOT_NONE ||
			     rank < x->ranks[g->edges[best].peer]))
				best = e;
		}
		if (best == SNAPSHOT_NONE)
			return false;
		below = x->ranks[g->edges[best].peer] + 1;
	} while (!channels_hang(x->c, x->parent, best, x->added));
	return true;
}

/* Switches join the tree, the nearest first, or later; ranks are in the order
 * of joining. False: some cannot join. */
static bool
dor_add_tree(struct dor *x)
{
	uint32_t i, sw, n = 0, n_before;

	for (i = 0; i < x->g->n_switches; i++) {
		x->ranks[i] = ENGINE_NO_RANK;
		x->parent[i] = SNAPSHOT_NONE;
	}
	do {
		n_before = n;
		for (i = 0; i < x->g->n_switches; i++) {
			sw = x->nearest[i];
			if (x->ranks[sw] == ENGINE_NO_RANK &&
			    (x->g->island[sw] == sw || dor_hang_low(x, sw)))
				x->ranks[sw] = n++;
		}
	} while (n > n_before && n < x->g->n_switches);
	return n == x->g->n_switches;
}

/* ---- the engine ---- */

/* LIDs of a switch and of CAs inside it get the paths of its first host or, if
 * it has none, their own. */
static void
dor_route_switch(struct dor *x, uint32_t dest)
{
	const struct graph *g = x->g;
	const struct graph_target *end = g->targets + g->first_target[dest + 1];
	const struct graph_target *first = g->targets + g->first_target[dest];
	const struct graph_target *own, *host;
	uint32_t sw;

	for (host = first; host < end && !host->is_host; host++)
		;
	for (own = first; own < end; own++) {
		if (own->is_host)
			continue;
		if (host == end)
			dor_route_target(x, own, false);
		for (sw = 0; sw < g->n_switches && host < end; sw++)
			memset(lft_row(x->out, sw) + own->lid, sw == dest ?
			       own->port : lft_row(x->out, sw)[host->lid],
			       own->n_lids);
	}
}

static void
dor_init(struct dor *x, const struct graph *g, struct lft *out,
	 GPtrArray *scratch)
{
	uint32_t n = g->n_switches, n_listed = 0, sw;
	uint32_t *hops = SCRATCH(scratch, uint32_t, n);

	*x = (struct dor){
		.g = g, .out = out,
		.c = channels_new(g),
		.added = g_array_new(FALSE, FALSE, sizeof(struct turn)),
		.refused = SCRATCH(scratch, uint64_t, (size_t)g->n_edges *
				   g->n_words),
		.n_in = SCRATCH(scratch, uint32_t, n),
		.ranks = g_new(uint32_t, n),
		.nearest = SCRATCH(scratch, uint32_t, n),
		.parent = SCRATCH(scratch, uint32_t, n),
		.waiting = SCRATCH(scratch, uint32_t, n),
		.path = SCRATCH(scratch, float, n),
		.flow = SCRATCH(scratch, int32_t, n),
		.next = SCRATCH(scratch, uint32_t, n),
		.queue = SCRATCH(scratch, uint32_t, n),
		.hops = SCRATCH(scratch, uint16_t, n),
	};
	paths_load_init(&x->l, g, scratch);
	memset(hops, 0xff, n * sizeof(*hops));
	for (sw = 0; sw < n; sw++) {
		x->n_in[g->island[sw]]++;
		if (g->island[sw] != sw)
			continue;
		hops[sw] = 0;
		x->nearest[n_listed] = sw;
		n_listed += graph_search(g, hops, x->nearest + n_listed, 1);
	}
}

/* Starts again with the tree, and adds those of the other turns that close
 * no cycle with it. The order of the channels stays, so that few have to
 * move. */
static void
dor_add_tree_first(struct dor *x)
{
	struct channels *all = channels_copy(x->c);
	uint32_t e, next[GRAPH_PORTS], n, k;

	memset(x->c->turns, 0, channels_size(x->g));
	dor_add_tree(x);
	for (e = 0; e < x->g->n_edges; e++)
		for (n = channels_list(all, e, next), k = 0; k < n; k++)
			channels_add(x->c, e, next[k]);
	channels_free(all);
}

/* Permits the turns; the tree goes up in the last dimension first. */
static void
dor_add_turns(struct dor *x, const uint8_t *dimension)
{
	size_t size = x->g->n_switches * sizeof(*x->nearest);
	g_autofree uint32_t *list = g_memdup2(x->nearest, size);
	uint32_t e, which, n = 0;

	for (e = 0; e < x->g->n_edges; e++)
		n = MAX(n, dimension[e] + 1u);
	for (which = 0; which < n; which++)
		dor_add_dimension(x, dimension, which, list);
	memcpy(x->nearest, list, size);
	channels_sort(x->c);
	if (!dor_add_tree(x)) {
		dor_add_tree_first(x);
		return;
	}
	EACH_ITEM(const struct turn, turn, x->added)
		set_add(channels_mask(x->g, x->refused, turn->in),
			x->g->edges[turn->out].port);
}

/* Trees have switches without CAs, and better engines. */
static bool
dor_accept(const struct graph *g, GError **error)
{
	uint32_t n_bare = 0, sw;

	for (sw = 0; sw < g->n_switches; sw++)
		n_bare += g->n_hosts[sw] == 0;
	if (n_bare * 10 <= g->n_switches)
		return true;
	g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
		    "%u of %u switches have no CA, as in a tree", n_bare,
		    g->n_switches);
	return false;
}

static bool
dor_compute(const struct engine_input *in, struct engine_output *out,
	    GError **error)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	g_autofree uint8_t *dimension = NULL;
	const struct graph *g = in->g;
	uint32_t pass, i;
	struct dor x;

	if (!dor_accept(g, error))
		return false;
	if (g->n_switches == 0)
		return true;
	dimension = grid_find(g);
	if (!dimension) {
		g_set_error_literal(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
				    "no mesh, torus, hypercube or HyperX");
		return false;
	}
	dor_init(&x, g, out->lft, scratch);
	dor_add_turns(&x, dimension);
	for (pass = 0; pass < MAX_PASSES && x.work < WORK / MAX_PASSES; pass++)
		for (i = 0; i < g->n_targets; i++)
			if (g->targets[i].is_host)
				dor_route_target(&x, &g->targets[i], pass > 0);
	for (i = 0; i < g->n_switches; i++)
		dor_route_switch(&x, i);
	channels_free(x.c);
	g_array_unref(x.added);
	out->ranks = x.ranks;
	complete_hosts(g, out->lft, out->ranks);
	complete_tables(g, out->lft, out->ranks, false);
	return true;
}

const struct engine engine_dor = {
	.name = "dor",
	.summary = "meshes, tori, hypercubes, HyperX, also damaged: dimension "
		   "order, free of credit loops",
	.deadlock_free = true,
	.compute = dor_compute,
};
