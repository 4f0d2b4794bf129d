// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * For fabrics that are not trees: shortest paths in a growing, acyclic channel
 * dependency graph.
 *
 * Method. An order of the switches forbids about as many turns as it permits,
 * and its root gets most of the traffic. Here turns are permitted one by one.
 * LID by LID, breadth first from its switch, each switch takes the next hop
 * with the least loaded of its shortest paths, if the turn to the hop after it
 * is permitted already or closes no cycle (channels_add). If a switch finds
 * none, all switches use a spanning tree for this LID, whose turns were
 * permitted first. Further passes remove the flows of a LID and route it again.
 *
 * Grids. The cables of meshes, tori, hypercubes and HyperX have dimensions, see
 * grid.c. In these, the turns from one dimension to a later one, and those up
 * and then down within a line, are permitted first instead of a tree: this is
 * dimension-order routing; a damaged grid gets the additional turns that it
 * needs.
 *
 * Cost. LIDs times cables for each pass, and the maintenance of the order of
 * the channels.
 *
 * Reference. J. Domke, T. Hoefler, S. Matsuoka, "Routing on the dependency
 * graph: a new approach to deadlock-free high-performance routing", 2016.
 */
#include <math.h>
#include <string.h>

#include "routing/credit_loops.h"
#include "routing/engine.h"
#include "routing/grid.h"
#include "routing/paths.h"
#include "routing/sets.h"

#define MAX_TURNS	400000u	/* of a fabric that is not a grid */
#define SMALL		10000000u	/* LIDs times channels: both orders
					   are tried */
#define WORK		500000000u	/* steps of all passes */
#define MAX_PASSES	6u
#define SIBLING		1e9f	/* cost of a cable that a lower LID uses */
#define MAX_SPINES	8u	/* attempts for a LID before all use the tree */

/* Which turns a path may make. */
enum cdg_turns {
	TURNS_HAVE,		/* permitted ones */
	TURNS_ADD,		/* also others that close no cycle */
};

struct cdg {
	const struct graph *g;
	struct lft *out;
	struct channels *c;
	uint64_t *refused;	/* as c->turns: they closed a cycle */
	uint32_t *ranks;	/* by switch: of the spanning tree */
	uint32_t *nearest;	/* switches by distance from the first one of
				   their island; of grids see cdg_route() */
	uint32_t *parent;	/* by switch: the edge up; SNAPSHOT_NONE */
	uint32_t *n_in;		/* by island: number of switches */
	struct paths_load l;
	float *path, *flow;	/* by switch */
	uint32_t *next, *queue;	/* next: by switch, edge; queue: nearest
				   first */
	uint32_t *ready;	/* switches with a path, the nearest first */
	uint32_t *spine;	/* switches that use the tree, destination
				   first */
	uint8_t *on_spine;	/* by switch */
	uint16_t *hops;
	uint32_t n_reached, n_ready, n_spine, base, lid;
	uint32_t n_extra;	/* LIDs that needed additional turns */
	uint64_t work;
	bool is_grid;
};

/* May a packet that arrived by `in` leave by `out`? */
static bool
cdg_may_turn(struct cdg *x, uint32_t in, uint32_t out, enum cdg_turns turns)
{
	uint64_t *refused = x->refused + (size_t)in * CHANNELS_WORDS;
	uint8_t port = x->g->edges[out].port;

	if (channels_has(x->c, in, out))
		return true;
	if (turns == TURNS_HAVE || set_has(refused, port))
		return false;
	if (channels_add(x->c, in, out))
		return true;
	set_add(refused, port);
	return false;
}

/* Gives `sw` the best next hop of those at `hops` - 1. */
static void
cdg_choose(struct cdg *x, uint32_t sw, uint16_t hops, enum cdg_turns turns)
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
			cost = x->l.cost[e] + x->path[peer] +
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
	} while (hops > 1 && !cdg_may_turn(x, best, x->next[peer], turns));
	x->next[sw] = best;
	x->path[sw] = least;
	x->hops[sw] = hops;
	x->ready[x->n_ready++] = sw;
}

/* Finds paths: of the switches on the spine along the tree, then of the others
 * breadth first, from all switches that have one. */
static void
cdg_search(struct cdg *x, uint32_t dest, enum cdg_turns turns)
{
	const struct graph *g = x->g;
	uint32_t head = 0, at = 0, i, sw, e, back, peer;

	memset(x->hops, 0xff, g->n_switches * sizeof(*x->hops));
	memset(x->next, 0xff, g->n_switches * sizeof(*x->next));
	x->n_reached = x->n_ready = 0;
	x->spine[0] = dest;
	x->n_spine = 1;
	x->hops[dest] = 0;
	x->path[dest] = 0;
	for (i = 0; i < x->n_spine; i++) {
		sw = x->spine[i];
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			back = g->edges[e].back;
			if (!x->on_spine[peer] ||
			    x->hops[peer] != UINT16_MAX ||
			    (x->parent[peer] != back && x->parent[sw] != e))
				continue;
			x->next[peer] = back;
			x->hops[peer] = x->hops[sw] + 1;
			x->path[peer] = x->path[sw] + x->l.cost[back];
			x->spine[x->n_spine++] = peer;
		}
	}
	while (head < x->n_ready || at < x->n_spine) {
		if (at < x->n_spine && (head == x->n_ready ||
		    x->hops[x->spine[at]] <= x->hops[x->ready[head]]))
			sw = x->spine[at++];
		else
			sw = x->ready[head++];
		x->queue[x->n_reached++] = sw;
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			if (x->hops[peer] == UINT16_MAX)
				cdg_choose(x, peer, (uint16_t)
					   (x->hops[sw] + 1), turns);
		}
	}
	x->work += g->n_edges;
}

/* Puts the switches of the island without a path on the spine, with all
 * switches between them and the spine. */
static void
cdg_extend_spine(struct cdg *x, uint32_t dest)
{
	uint32_t sw, at, to;

	for (sw = 0; sw < x->g->n_switches; sw++) {
		if (x->hops[sw] != UINT16_MAX ||
		    x->g->island[sw] != x->g->island[dest])
			continue;
		for (at = sw, to = dest; at != to;) {	/* to where their
							   ways up the tree
							   meet */
			uint32_t *low = x->ranks[at] > x->ranks[to] ? &at :
				&to;

			x->on_spine[*low] = 1;
			*low = x->g->edges[x->parent[*low]].peer;
		}
		x->on_spine[at] = 1;
	}
}

/* Adds the flows of all CAs to the present LID, times `sign`. */
static void
cdg_add_flows(struct cdg *x, float sign)
{
	uint32_t n = graph_sort(x->g, x->next, x->ready, x->queue);

	paths_load_tree(&x->l, x->next, x->queue, n, sign, x->flow);
}

static void
cdg_route_target(struct cdg *x, const struct graph_target *target, bool again)
{
	uint32_t dest = target->sw, n = x->n_in[x->g->island[dest]], tries, sw;
	bool has_turns = again || x->is_grid;

	x->base = target->lid;
	for (x->lid = x->base; x->lid < x->base + target->n_lids; x->lid++) {
		for (sw = 0; again && sw < x->g->n_switches; sw++)
			x->next[sw] = graph_edge_at(x->g, sw,
				lft_row(x->out, sw)[x->lid]);
		if (again)
			cdg_add_flows(x, -1);
		memset(x->on_spine, 0, x->g->n_switches);
		x->on_spine[dest] = 1;
		if (has_turns)
			cdg_search(x, dest, TURNS_HAVE);
		if (!has_turns || x->n_reached < n) {
			cdg_search(x, dest, TURNS_ADD);
			x->n_extra++;
		}
		for (tries = 0; x->n_reached < n; tries++) {
			if (tries == MAX_SPINES)
				memset(x->on_spine, 1, x->g->n_switches);
			cdg_extend_spine(x, dest);
			cdg_search(x, dest, TURNS_ADD);
		}
		for (sw = 0; sw < x->g->n_switches; sw++)
			if (x->next[sw] != SNAPSHOT_NONE)
				lft_row(x->out, sw)[x->lid] =
					x->g->edges[x->next[sw]].port;
		cdg_add_flows(x, 1);
		lft_row(x->out, dest)[x->lid] = target->port;
	}
}

/* ---- the turns that are there from the start ---- */

/* Does the edge lead towards the first switch of the line? */
static bool
cdg_is_up(const struct cdg *x, const uint16_t *far, uint32_t e)
{
	uint32_t to = x->g->edges[e].peer;
	uint32_t from = graph_owner(x->g, e);

	return far[to] < far[from] || (far[to] == far[from] && to < from);
}

/* Permits the turns of dimension order out of one dimension; sorts the list of
 * switches, stably, by their distance from the first switch of their line. */
static void
cdg_add_dimension(struct cdg *x, const uint8_t *dimension, uint32_t which,
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
			    (cdg_is_up(x, far, e) || !cdg_is_up(x, far, f))))
				channels_turn(x->c, e, g->edges[f].port);
	}
	for (at = 0, k = 0; k < n; at++)
		for (i = 0; i < n; i++)
			if (far[old[i]] == at)
				list[k++] = old[i];
}

/* Joins `sw` to the tree by `e`, if the turns between this cable and those
 * of the tree at the other end close no cycle. */
static bool
cdg_hang(struct cdg *x, uint32_t sw, uint32_t e)
{
	const struct graph *g = x->g;
	uint32_t to = g->edges[e].peer, f;

	for_each_edge(g, to, f)
		if ((x->parent[to] == f ||
		     x->parent[g->edges[f].peer] == g->edges[f].back) &&
		    (!cdg_may_turn(x, e, f, TURNS_ADD) ||
		     !cdg_may_turn(x, g->edges[f].back, g->edges[e].back,
				   TURNS_ADD)))
			return false;
	x->parent[sw] = e;
	return true;
}

/* Joins `sw` to the lowest neighbour in the tree that is possible. */
static bool
cdg_hang_low(struct cdg *x, uint32_t sw)
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
	} while (!cdg_hang(x, sw, best));
	return true;
}

/* Switches join the tree, the nearest first, or later; ranks are in the order
 * of joining. False: some cannot join. */
static bool
cdg_add_tree(struct cdg *x)
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
			    (x->g->island[sw] == sw || cdg_hang_low(x, sw)))
				x->ranks[sw] = n++;
		}
	} while (n > n_before && n < x->g->n_switches);
	return n == x->g->n_switches;
}

/* ---- the engine ---- */

/* LIDs of a switch and of CAs inside it get the paths of its first host or, if
 * it has none, their own. */
static void
cdg_route_switch(struct cdg *x, uint32_t dest)
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
			cdg_route_target(x, own, false);
		for (sw = 0; sw < g->n_switches && host < end; sw++)
			memset(lft_row(x->out, sw) + own->lid, sw == dest ?
			       own->port : lft_row(x->out, sw)[host->lid],
			       own->n_lids);
	}
}

/* Trees have switches without CAs, and better engines. */
static bool
cdg_accept(const struct graph *g, GError **error)
{
	uint64_t n_turns = 0;
	uint32_t n_bare = 0, e, sw;

	for (e = 0; e < g->n_edges; e++)
		n_turns += g->first_edge[g->edges[e].peer + 1] -
			g->first_edge[g->edges[e].peer] - 1;
	for (sw = 0; sw < g->n_switches; sw++)
		n_bare += g->n_hosts[sw] == 0;
	if (n_turns > MAX_TURNS)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "too large: more than %u turns between channels",
			    MAX_TURNS);
	else if (n_bare * 10 > g->n_switches)
		g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_FABRIC,
			    "%u of %u switches have no CA, as in a tree",
			    n_bare, g->n_switches);
	else
		return true;
	return false;
}

static void
cdg_init(struct cdg *x, const struct graph *g, struct lft *out,
	 GPtrArray *scratch)
{
	uint32_t n = g->n_switches, n_listed = 0, sw;
	uint32_t *hops = SCRATCH(scratch, uint32_t, n);

	*x = (struct cdg){
		.g = g, .out = out,
		.c = channels_new(g),
		.refused = SCRATCH(scratch, uint64_t, (size_t)g->n_edges *
				   CHANNELS_WORDS),
		.ranks = g_new(uint32_t, n),
		.nearest = SCRATCH(scratch, uint32_t, n),
		.parent = SCRATCH(scratch, uint32_t, n),
		.ready = SCRATCH(scratch, uint32_t, n),
		.spine = SCRATCH(scratch, uint32_t, n),
		.on_spine = SCRATCH(scratch, uint8_t, n),
		.n_in = SCRATCH(scratch, uint32_t, n),
		.path = SCRATCH(scratch, float, n),
		.flow = SCRATCH(scratch, float, n),
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
cdg_add_tree_first(struct cdg *x)
{
	size_t size = (size_t)x->g->n_edges * CHANNELS_WORDS *
		sizeof(*x->c->turns);
	struct channels *all = channels_copy(x->c);
	uint32_t e, next, port;

	memset(x->c->turns, 0, size);
	memset(x->refused, 0, size);
	cdg_add_tree(x);
	for (e = 0; e < x->g->n_edges; e++)
		for (port = 0; (next = channels_next(all, e, &port)) !=
		     SNAPSHOT_NONE;)
			cdg_may_turn(x, e, next, TURNS_ADD);
	channels_free(all);
}

/* Returns the load of the busiest channel; *extra: LIDs for which the
 * initial turns were not enough. */
static float
cdg_route(const struct graph *g, const uint8_t *dimension,
	  struct engine_output *out, uint32_t *extra)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t pass, i, which, n_dimensions = 0, *list;
	struct cdg x;

	cdg_init(&x, g, out->lft, scratch);
	x.is_grid = dimension != NULL;
	if (dimension) {	/* the tree goes up in the last one first */
		list = g_memdup2(x.nearest, g->n_switches * sizeof(*list));
		g_ptr_array_add(scratch, list);
		for (i = 0; i < g->n_edges; i++)
			n_dimensions = MAX(n_dimensions, dimension[i] + 1u);
		for (which = 0; which < n_dimensions; which++)
			cdg_add_dimension(&x, dimension, which, list);
		x.nearest = list;
		channels_sort(x.c);
	}
	if (!cdg_add_tree(&x))
		cdg_add_tree_first(&x);
	for (pass = 0; pass < MAX_PASSES && x.work < WORK / MAX_PASSES; pass++)
		for (i = 0; i < g->n_targets; i++)
			if (g->targets[i].is_host)
				cdg_route_target(&x, &g->targets[i], pass > 0);
	for (i = 0; i < g->n_switches; i++)
		cdg_route_switch(&x, i);
	*extra = x.n_extra;
	out->ranks = x.ranks;
	channels_free(x.c);
	return paths_load_most(&x.l);
}

static bool
cdg_compute(const struct engine_input *in, struct engine_output *out,
	    GError **error)
{
	g_autofree uint8_t *dimension = NULL;
	g_autofree uint32_t *ranks = NULL;
	struct lft *first;
	uint32_t extra;
	float load;

	if (!cdg_accept(in->g, error))
		return false;
	if (in->g->n_switches == 0)
		return true;
	dimension = grid_find(in->g);
	load = cdg_route(in->g, dimension, out, &extra);
	if (!dimension || (!extra &&
			   (uint64_t)in->g->n_edges * in->g->top >= SMALL))
		return true;
	first = lft_copy(out->lft);
	ranks = g_steal_pointer(&out->ranks);
	if (cdg_route(in->g, NULL, out, &extra) > load) {
		memcpy(out->lft->ports, first->ports, lft_size(first));
		g_free(out->ranks);
		out->ranks = g_steal_pointer(&ranks);
	}
	lft_free(first);
	return true;
}

const struct engine engine_cdg = {
	.name = "cdg",
	.summary = "fabrics that are not trees: dimension order, or turns "
		   "permitted one by one; free of credit loops",
	.deadlock_free = true,
	.compute = cdg_compute,
};
