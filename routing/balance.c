// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Load-balanced choice among shortest paths.
 *
 * Method. First each destination LID gets a tree: from the destination
 * outwards, each switch takes the next hop with the least cost of the whole
 * path, where the cost of a channel is a power of its load; then the flows of
 * all CAs along this tree are added to the load. So the flows to one LID tend
 * to share a tree, and stay away from the flows to other LIDs. LIDs that have
 * paths already only add their load.
 *
 * Then, in several passes, each LID with a path over an overloaded channel is
 * routed again: the flows through such channels are removed and their switches
 * choose again, from the destination outwards, each adding its flows after its
 * choice, so that the tree is split where that helps. A channel is overloaded
 * if it carries more than the busiest channel must carry at least: the mean, or
 * the flows from the CAs of one switch to all others. A pass without gain is
 * undone.
 *
 * Loads are flows divided by the capacity of the cable. The LIDs of an LMC
 * range are there to have different paths, so cables used by a lower LID of the
 * range are the last choice.
 *
 * Cost. LIDs times switches times their candidates, and switches times cables,
 * in each pass; after the first, only for overloaded channels.
 *
 * Reference. T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized routing for
 * large-scale InfiniBand networks", 2009, for weights by load.
 */
#include "routing/balance.h"

#include <math.h>
#include <string.h>

#include "routing/flows.h"
#include "routing/paths.h"

#define WORK		200000000u	/* steps of all passes */
#define WORK_HELD	200000000u	/* likewise, if there are held tables */
#define MAX_PASSES	8u
#define ROOM		1.02f	/* times the bound: not overloaded */
#define GAIN		0.995f	/* the last pass is one that reduces less */
#define SIBLING		1e9f	/* cost of a cable on the path of a lower LID */
#define KEEP		1.1f	/* times the load of new tables: held ones
				   stay */
#define KEEP_BLOCKS	2u	/* changes for each dead block: new tables */
#define KEEP_LARGE	60000u	/* with more blocks, one in KEEP_FEW must */
#define KEEP_FEW	10u	/* differ: else keeping takes too long */
#define MAX_WALK	64u	/* hops along which costs are updated */

struct hop {
	uint32_t edge, peer;
};

struct balance {
	const struct graph *g;
	const struct order *o;
	const struct turns *t;
	struct lft *out;
	struct paths p;		/* to the present destination */
	struct hop *hops;	/* p.edges and where they lead */
	uint32_t base, lid;	/* of its LMC range; the present LID */
	uint32_t nth;		/* of each range, the LIDs whose load this is */
	uint32_t *rest;		/* switches without a shortest path; */
	uint32_t n_rest, n_extended;	/* the first n_extended have one with
					   turns */
	uint32_t *next;		/* by switch: edge for the present LID */
	uint32_t *waiting, *queue;	/* by switch; see balance_add_all() */
	struct paths_load l;
	float *path;		/* by switch: cost of its path */
	float *flow;		/* by switch */
	float limit;		/* load above which a channel is overloaded */
	uint64_t work, most_work;	/* steps so far; the limit */
	uint32_t *heavy, n_heavy;	/* switches with overloaded channels */
	uint8_t *is_bad;	/* by switch; see balance_find_bad() */
	bool keeps;		/* see balance_improve_lid() */
	struct balance_lost lost;
};

/* Adds the flows of all CAs to the present LID, along next[]. Shortest paths
 * lead to switches that were reached earlier. */
static void
balance_add_all(struct balance *b)
{
	const struct paths *p = &b->p;
	uint32_t n = p->n_reached, i;

	if (b->n_rest)
		n = graph_sort(b->g, b->next, b->waiting, b->queue);
	else
		for (i = 0; i < n; i++)
			b->queue[i] = p->queue[n - 1 - i];
	paths_load_tree(&b->l, b->next, b->queue, n, 1, b->flow);
	b->work += b->g->n_switches;
}

/* Adds the flows of one switch's CAs, times `sign`, along its path. */
static void
balance_add(struct balance *b, uint32_t sw, float sign)
{
	const struct graph *g = b->g;
	float flow = sign * (float)g->n_hosts[sw];
	uint32_t walk[MAX_WALK], n = 0, e;

	for (; flow != 0 && sw != b->p.dest; sw = g->edges[e].peer) {
		e = b->next[sw];
		paths_load_add(&b->l, e, flow);
		if (n < MAX_WALK)
			walk[n++] = sw;
	}
	while (n-- > 0) {
		e = b->next[walk[n]];
		b->path[walk[n]] = b->l.cost[e] + b->path[g->edges[e].peer];
	}
}

/* Has the path through this edge room for the flows of the switch? */
static bool
balance_has_room(const struct balance *b, uint32_t sw, uint32_t e)
{
	float flow = (float)b->g->n_hosts[sw];

	for (;; e = b->next[sw]) {
		if (b->l.load[e] + flow * b->l.weight[e] > b->limit)
			return false;
		sw = b->g->edges[e].peer;
		if (sw == b->p.dest)
			return true;
	}
}

static float
balance_cost_by(const struct balance *b, uint32_t sw, uint32_t e)
{
	uint32_t peer = b->g->edges[e].peer, lid;
	float cost = b->l.cost[e];

	if (peer != b->p.dest)	/* other switches have added flows since */
		cost += b->l.cost[b->next[peer]] +
			b->path[b->g->edges[b->next[peer]].peer];
	for (lid = b->base; lid < b->lid; lid++)
		if (lft_row(b->out, sw)[lid] == b->g->edges[e].port)
			cost += SIBLING;
	return cost;
}

/* May the i-th switch forward by this edge? */
static bool
balance_permits(const struct balance *b, uint32_t i, uint32_t e)
{
	uint32_t k;

	for (k = b->p.first[i]; k < b->p.first[i + 1]; k++)
		if (b->p.edges[k] == e)
			return true;
	return false;
}

/* The next hop of the i-th switch: the present one if it has room, else the
 * cheapest. */
static void
balance_choose(struct balance *b, uint32_t i, uint32_t held)
{
	const struct paths *p = &b->p;
	uint32_t sw = p->queue[i], best = SNAPSHOT_NONE, k;
	bool stays = balance_permits(b, i, held);
	float least = INFINITY, cost;

	if (stays) {
		best = held;
		least = balance_cost_by(b, sw, held);
		stays = balance_has_room(b, sw, held);
	}
	for (k = p->first[i]; !stays && k < p->first[i + 1]; k++) {
		cost = balance_cost_by(b, sw, p->edges[k]);
		if (cost < least || best == SNAPSHOT_NONE) {
			least = cost;
			best = p->edges[k];
		}
	}
	b->next[sw] = best;
	b->path[sw] = least;
}

/* The edge of an entry for the present LID. */
static uint32_t
balance_entry(const struct balance *b, const struct lft *lft, uint32_t sw)
{
	return graph_edge_at(b->g, sw, lft_row(lft, sw)[b->lid]);
}

/* The same in the held tables, if there are any. */
static uint32_t
balance_held(const struct balance *b, const struct lft *held, uint32_t sw)
{
	return !held || b->lid > held->top ? SNAPSHOT_NONE :
		balance_entry(b, held, sw);
}

/* Gives paths with turns to switches without a shortest path; among paths of
 * equal length those of the held tables (or NULL) are preferred. */
static void
balance_extend(struct balance *b, const struct lft *held)
{
	g_autofree float *cost = NULL;	/* saved, of held edges */
	uint32_t i, e;

	b->n_extended = 0;
	for (i = 0; i < b->n_rest; i++)
		b->next[b->rest[i]] = SNAPSHOT_NONE;
	if (!b->t || !b->n_rest)
		return;
	cost = g_new(float, b->g->n_switches);
	for (i = 0; i < b->n_rest; i++) {
		e = balance_held(b, held, b->rest[i]);
		if (e == SNAPSHOT_NONE)
			continue;
		cost[b->rest[i]] = b->l.cost[e];
		b->l.cost[e] = -1;
	}
	b->n_extended = turns_extend(b->t, b->p.dest, b->next, b->p.hops,
				     b->rest, b->n_rest, b->l.cost);
	for (i = 0; i < b->n_rest; i++) {
		e = balance_held(b, held, b->rest[i]);
		if (e != SNAPSHOT_NONE)
			b->l.cost[e] = cost[b->rest[i]];
	}
}

/* Switches without CAs that have no path to the LID of another such switch:
 * neither sends data, so the path may go by any neighbour that has one;
 * preferably as in the held tables. */
static void
balance_manage(struct balance *b, const struct lft *held)
{
	const struct graph *g = b->g;
	uint32_t i, e, last, sw, peer, n_before;

	if (g->n_senders[b->p.dest])
		return;
	do {
		n_before = b->n_extended;
		for (i = n_before; i < b->n_rest; i++) {
			sw = b->rest[i];
			last = balance_held(b, held, sw);
			for (e = g->first_edge[sw]; !g->n_senders[sw] &&
			     e < g->first_edge[sw + 1]; e++) {
				peer = g->edges[e].peer;
				if ((peer == b->p.dest ||
				     b->next[peer] != SNAPSHOT_NONE) &&
				    (b->next[sw] == SNAPSHOT_NONE || e == last))
					b->next[sw] = e;
			}
			if (b->next[sw] == SNAPSHOT_NONE)
				continue;
			b->rest[i] = b->rest[b->n_extended];
			b->rest[b->n_extended++] = sw;
		}
	} while (b->n_extended > n_before);
}

/* The next hops of all switches, before any flow is added and any lower LID of
 * the range has a path: then path[] is the cost of the rest of each path. */
static void
balance_choose_first(struct balance *b)
{
	const struct paths *p = &b->p;
	const struct hop *hop, *end;
	float least, cost;
	uint32_t i, best;

	for (i = 1; i < p->n_reached; i++) {
		best = SNAPSHOT_NONE;
		least = INFINITY;
		end = b->hops + p->first[i + 1];
		for (hop = b->hops + p->first[i]; hop < end; hop++) {
			cost = b->l.cost[hop->edge] + b->path[hop->peer];
			if (cost < least || best == SNAPSHOT_NONE) {
				least = cost;
				best = hop->edge;
			}
		}
		b->next[p->queue[i]] = best;
		b->path[p->queue[i]] = least;
	}
}

/* Chooses next[] for the present LID. held: NULL, or tables some of whose
 * entries next[] has already, which stay where there is room; then each switch
 * adds its flows after its choice. */
static void
balance_choose_all(struct balance *b, const struct lft *held)
{
	const struct paths *p = &b->p;
	uint32_t i;

	b->path[p->dest] = 0;
	b->next[p->dest] = SNAPSHOT_NONE;
	if (!held && b->lid == b->base)
		balance_choose_first(b);
	else
		for (i = 1; i < p->n_reached; i++) {
			balance_choose(b, i, held ? b->next[p->queue[i]] :
				       SNAPSHOT_NONE);
			if (held)
				balance_add(b, p->queue[i], 1);
		}
	b->work += p->first[p->n_reached] + 2 * p->n_reached;
	balance_extend(b, held);
	for (i = 0; held && i < b->n_extended; i++)
		balance_add(b, b->rest[i], 1);
}

static void
balance_aim(struct balance *b, uint32_t dest)
{
	uint32_t sw, k, e;

	if (b->p.dest == dest)
		return;
	paths_find(&b->p, dest);
	for (k = 0; k < b->p.first[b->p.n_reached]; k++) {
		e = b->p.edges[k];
		b->hops[k] = (struct hop){ e, b->g->edges[e].peer };
	}
	b->n_rest = 0;
	for (sw = 0; sw < b->g->n_switches; sw++)
		if (b->p.kind[sw] == PATHS_UNREACHED)
			b->rest[b->n_rest++] = sw;
	b->work += b->g->n_edges;
}

/* Also clears the entries of switches without a path: they may be of a path
 * that the others no longer continue. */
static void
balance_store(struct balance *b)
{
	uint32_t i, sw, n = b->p.n_reached + b->n_rest;

	for (i = 1; i < n; i++) {
		sw = i < b->p.n_reached ? b->p.queue[i] :
			b->rest[i - b->p.n_reached];
		lft_row(b->out, sw)[b->lid] = (uint8_t)
			(b->next[sw] == SNAPSHOT_NONE ? LFT_NO_PATH :
			 b->g->edges[b->next[sw]].port);
	}
}

/* Makes the nth LID of a target the present one. False: it has none. */
static bool
balance_take(struct balance *b, const struct graph_target *target, uint32_t nth)
{
	b->base = target->lid;
	b->lid = b->base + nth;
	return nth < target->n_lids;
}

/* Routes a LID of a target, and counts the switches of its island that have no
 * path to it. LIDs of switches take the least loaded paths; they add no load. */
static void
balance_route_lid(struct balance *b, const struct graph_target *target,
		  uint32_t nth)
{
	const struct graph *g = b->g;
	uint32_t i, sw, dest = target->sw;

	if (!balance_take(b, target, nth))
		return;
	balance_aim(b, dest);
	balance_choose_all(b, NULL);
	balance_manage(b, NULL);
	for (i = b->n_extended; i < b->n_rest; i++) {
		sw = b->rest[i];
		if (g->island[sw] != g->island[dest])
			continue;
		if (!g->n_hosts[sw] || !g->n_hosts[dest])
			b->lost.mixed++;
		else
			b->lost.hosts++;
	}
	if (target->is_host)
		balance_add_all(b);
	balance_store(b);
}

/* Marks the switches in is_bad[] whose path goes through an overloaded
 * channel, and those whose path a switch with a new choice may not join;
 * updates the costs. True: a switch in b->rest has such a path. */
static bool
balance_find_bad(struct balance *b)
{
	const struct paths *p = &b->p;
	uint32_t i, n, sw, e, peer;
	bool any = false;

	memset(b->is_bad, 0, b->g->n_switches);
	b->path[p->dest] = 0;
	for (i = 1; i < p->n_reached; i++) {
		sw = p->queue[i];
		e = b->next[sw];
		b->is_bad[sw] = !balance_permits(b, i, e);
		if (b->is_bad[sw])
			continue;
		peer = b->g->edges[e].peer;
		b->is_bad[sw] = b->l.load[e] > b->limit || b->is_bad[peer];
		b->path[sw] = b->l.cost[e] + b->path[peer];
	}
	for (i = 0; i < b->n_rest && !any; i++) {
		e = b->next[b->rest[i]];
		for (n = 0; e != SNAPSHOT_NONE && n < MAX_WALK && !any; n++) {
			peer = b->g->edges[e].peer;
			any = b->l.load[e] > b->limit || b->is_bad[peer];
			e = b->next[peer];
		}
	}
	return any;
}

/* Would a switch lose its entry for the present LID, since it has no new
 * path? */
static bool
balance_loses(const struct balance *b)
{
	uint32_t i;

	for (i = b->n_extended; i < b->n_rest; i++)
		if (lft_row(b->out, b->rest[i])[b->lid] != LFT_NO_PATH)
			return true;
	return false;
}

/* The switches with a bad path choose again, from the destination outwards,
 * each adding its flows after its choice. If b->keeps, all paths that may
 * stay do: fewer entries change, at the price of a little worse balance. If
 * a switch with a path by turns is bad, all of these choose again; if one of
 * them finds no path, nothing changes. */
static void
balance_improve_lid(struct balance *b, uint32_t dest)
{
	size_t size = b->g->n_edges * sizeof(*b->l.load);
	g_autofree float *load = NULL, *cost = NULL;
	const struct paths *p = &b->p;
	uint32_t i, sw, e, choose;
	bool extend;

	balance_aim(b, dest);
	for (sw = 0; sw < b->g->n_switches; sw++)
		b->next[sw] = balance_entry(b, b->out, sw);
	b->next[dest] = SNAPSHOT_NONE;
	extend = balance_find_bad(b);
	if (extend) {
		load = g_memdup2(b->l.load, size);
		cost = g_memdup2(b->l.cost, size);
	}
	for (i = 1; i < p->n_reached; i++)
		if (b->is_bad[p->queue[i]] &&
		    b->next[p->queue[i]] != SNAPSHOT_NONE)
			balance_add(b, p->queue[i], -1);
	for (i = 0; extend && i < b->n_rest; i++)
		if (b->next[b->rest[i]] != SNAPSHOT_NONE)
			balance_add(b, b->rest[i], -1);
	for (choose = b->keeps ? 0 : 1; choose < 2; choose++)
		for (i = 1; i < p->n_reached; i++) {
			sw = p->queue[i];
			e = b->next[sw];
			/* it stays if it has room now and joins no bad path */
			if (!b->is_bad[sw] || (!choose &&
			    (!balance_permits(b, i, e) ||
			     b->is_bad[b->g->edges[e].peer] ||
			     !balance_has_room(b, sw, e))))
				continue;
			balance_choose(b, i, e);
			balance_add(b, sw, 1);
			b->is_bad[sw] = 0;
		}
	b->work += 3 * p->n_reached;
	b->n_extended = 0;
	if (extend)
		balance_extend(b, NULL);
	if (extend && balance_loses(b)) {
		memcpy(b->l.load, load, size);
		memcpy(b->l.cost, cost, size);
		return;
	}
	for (i = 0; i < b->n_extended; i++)
		balance_add(b, b->rest[i], 1);
	balance_store(b);
}

/* Has the present LID still an entry into an overloaded channel? The LIDs
 * before it may have made room. */
static bool
balance_is_heavy(const struct balance *b)
{
	uint32_t i, e;

	for (i = 0; i < b->n_heavy; i++) {
		e = balance_entry(b, b->out, b->heavy[i]);
		if (e != SNAPSHOT_NONE && b->l.load[e] > b->limit)
			return true;
	}
	return false;
}

static void
balance_forget_loads(struct balance *b)
{
	memset(b->l.load, 0, b->g->n_edges * sizeof(*b->l.load));
	memset(b->l.cost, 0, b->g->n_edges * sizeof(*b->l.cost));
}

/* Loads of the flows of CAs to the CAs of all switches, or of those marked:
 * each sends to the nth LID. */
static void
balance_load_all(struct balance *b, const uint8_t *marks)
{
	const struct graph *g = b->g;
	g_autofree uint64_t *load = g_new0(uint64_t, g->n_edges + 1);
	g_autofree uint8_t *lids = g_new0(uint8_t, UINT16_MAX + 1);
	const struct graph_target *target;
	uint64_t arrived = 0;

	balance_forget_loads(b);
	for (target = g->targets; target < g->targets + g->n_targets; target++)
		if (target->is_host && (!marks || marks[target->sw]) &&
		    b->nth < target->n_lids)
			lids[target->lid + b->nth] = 1;
	flows_add(g, b->out, b->o ? b->o->place : NULL, lids, g->n_switches,
		  load, &arrived);
	for (uint32_t e = 0; e < g->n_edges; e++)
		paths_load_add(&b->l, e, (float)load[e]);
}

/* Routes the LIDs of CAs again that have an entry into an overloaded channel,
 * switch by switch. */
static void
balance_pass(struct balance *b)
{
	const struct graph *g = b->g;
	g_autofree uint8_t *heavy = g_malloc0(g->top + 1u);
	const struct graph_target *target;
	uint8_t is_heavy[GRAPH_PORTS];
	uint32_t i, sw, e, lid;
	const uint8_t *row;

	b->n_heavy = 0;
	for (sw = 0; sw < g->n_switches; sw++) {
		memset(is_heavy, 0, sizeof(is_heavy));
		for_each_edge(g, sw, e)
			is_heavy[g->edges[e].port] = b->l.load[e] > b->limit;
		if (!memchr(is_heavy, 1, sizeof(is_heavy)))
			continue;
		b->heavy[b->n_heavy++] = sw;
		row = lft_row(b->out, sw);
		for (lid = 0; lid <= g->top; lid++)
			heavy[lid] |= is_heavy[row[lid]];
	}
	for (i = 0; i < g->n_switches; i++) {
		sw = b->o ? b->o->climb[i] : i;
		for (target = g->targets + g->first_target[sw];
		     target < g->targets + g->first_target[sw + 1]; target++)
			if (target->is_host &&
			    balance_take(b, target, b->nth) && heavy[b->lid] &&
			    b->work < b->most_work && balance_is_heavy(b))
				balance_improve_lid(b, sw);
	}
}

/* The least that the busiest channel must carry. */
static float
balance_find_bound(const struct balance *b)
{
	const struct graph *g = b->g;
	double all = g->n_all_hosts, sum = 0, wide = 0, own, most = 0;
	uint32_t sw, e;

	for (sw = 0; sw < g->n_switches; sw++) {
		for (own = 0, e = g->first_edge[sw];
		     e < g->first_edge[sw + 1]; e++) {
			own += 1 / b->l.weight[e];
			sum += b->l.load[e] / b->l.weight[e];
		}
		wide += own;
		if (own > 0)
			most = MAX(most, g->n_hosts[sw] *
				   (all - g->n_hosts[sw]) / own);
	}
	return (float)(wide > 0 ? MAX(most, sum / wide) : 0);
}

/* Runs passes as long as they help, or until no channel has more than
 * `limit`. */
static void
balance_improve(struct balance *b, float limit)
{
	size_t size = lft_size(b->out);
	g_autofree uint8_t *best = NULL;
	float before, now = paths_load_most(&b->l);
	uint32_t pass;

	b->limit = limit;
	for (pass = 0; pass < MAX_PASSES && now > b->limit &&
	     b->work < b->most_work; pass++) {
		before = now;
		if (!best)
			best = g_malloc(size);
		memcpy(best, b->out->ports, size);
		balance_pass(b);
		now = paths_load_most(&b->l);
		if (now >= before)
			memcpy(b->out->ports, best, size);
		if (now > before * GAIN)
			return;
	}
}

static void
balance_init(struct balance *b, const struct graph *g, const struct order *o,
	     const struct turns *t, struct lft *out, GPtrArray *scratch)
{
	uint32_t n = g->n_switches;

	*b = (struct balance){
		.g = g, .o = o, .t = t, .out = out,
		.rest = SCRATCH(scratch, uint32_t, n),
		.hops = SCRATCH(scratch, struct hop, g->n_edges),
		.next = SCRATCH(scratch, uint32_t, n),
		.waiting = SCRATCH(scratch, uint32_t, n),
		.queue = SCRATCH(scratch, uint32_t, n),
		.heavy = SCRATCH(scratch, uint32_t, n),
		.is_bad = SCRATCH(scratch, uint8_t, n),
		.path = SCRATCH(scratch, float, n),
		.flow = SCRATCH(scratch, float, n),
	};
	paths_init(&b->p, g, o ? o->place : NULL, scratch);
	paths_load_init(&b->l, g, scratch);
}

/* LIDs of the target with the most. */
static uint32_t
balance_most_lids(const struct graph *g)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < g->n_targets; i++)
		most = MAX(most, g->targets[i].n_lids);
	return most;
}

/* The paths to the nth LIDs of hosts are balanced by themselves: most programs
 * use the first one only. */
static void
balance_route_nth(struct balance *b, const uint8_t *held)
{
	const struct graph *g = b->g;
	uint32_t i, k, sw;

	if (held)
		balance_load_all(b, held);
	else
		balance_forget_loads(b);
	for (i = 0; i < g->n_switches; i++) {
		sw = b->o ? b->o->climb[i] : i;
		if (held && held[sw])
			continue;
		for (k = g->first_target[sw]; k < g->first_target[sw + 1]; k++)
			if (g->targets[k].is_host)
				balance_route_lid(b, &g->targets[k], b->nth);
	}
	b->keeps = !held;
	b->most_work = b->work + (held ? WORK_HELD : WORK);
	balance_improve(b, balance_find_bound(b) * ROOM);
}

struct balance_lost
balance_route(const struct engine_input *in, const struct order *o,
	      const struct turns *t, const uint8_t *held, struct lft *out)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	const struct graph *g = in->g;
	const struct graph_target *target;
	struct balance b;
	uint32_t i;

	if (g->n_switches == 0)
		return (struct balance_lost){ 0 };
	balance_init(&b, g, o, t, out, scratch);
	for (b.nth = 0; b.nth < balance_most_lids(g); b.nth++)
		balance_route_nth(&b, held);
	for (target = g->targets; target < g->targets + g->n_targets;
	     target++) {
		memset(lft_row(out, target->sw) + target->lid, target->port,
		       target->n_lids);
		for (i = 0; !target->is_host && i < target->n_lids &&
		     !(held && held[target->sw]); i++)
			balance_route_lid(&b, target, i);
	}
	return b.lost;
}

/* ---- tables in force ---- */

/* Counts blocks that differ, up to the lower top of both tables. */
static uint64_t
keep_count_changes(const struct lft *a, const struct lft *b)
{
	uint32_t stride = MIN(a->stride, b->stride), sw, i;
	uint64_t n = 0;

	for (sw = 0; sw < MIN(a->n_switches, b->n_switches); sw++)
		for (i = 0; i < stride; i += LFT_BLOCK)
			n += memcmp(lft_row(a, sw) + i, lft_row(b, sw) + i,
				    LFT_BLOCK) != 0;
	return n;
}

/* Counts blocks with an entry of an owned LID through a port without a
 * working link. */
static uint64_t
keep_count_dead(const struct graph *g, const struct lft *held)
{
	uint8_t leads[GRAPH_PORTS];
	uint32_t sw, lid, i, top = MIN(g->top, held->top);
	uint64_t n = 0;
	bool dead;

	for (sw = 0; sw < g->n_switches; sw++) {
		for (i = 0; i < GRAPH_PORTS; i++)
			leads[i] = graph_edge_at(g, sw, (uint8_t)i) !=
				SNAPSHOT_NONE;
		for (i = g->first_target[sw]; i < g->first_target[sw + 1]; i++)
			leads[g->targets[i].port] = 1;
		leads[LFT_NO_PATH] = 1;
		for (dead = false, lid = 0; lid <= top; lid++) {
			dead |= !leads[lft_row(held, sw)[lid]] &&
				graph_target_at(g, lid) != NULL;
			if (lid % LFT_BLOCK != LFT_BLOCK - 1 && lid < top)
				continue;
			n += dead;
			dead = false;
		}
	}
	return n;
}

/* Sets next[] of the present LID to the held entries that are on a shortest
 * path. True: all are. */
static bool
keep_read(struct balance *b, const struct lft *held)
{
	const struct paths *p = &b->p;
	uint32_t i, sw, e;
	bool fits = b->n_rest == 0;

	for (i = 0; i < b->n_rest; i++)
		b->next[b->rest[i]] = SNAPSHOT_NONE;
	for (i = 1; i < p->n_reached; i++) {
		sw = p->queue[i];
		e = balance_held(b, held, sw);
		b->next[sw] = balance_permits(b, i, e) ? e : SNAPSHOT_NONE;
		fits &= b->next[sw] != SNAPSHOT_NONE;
	}
	b->next[p->dest] = SNAPSHOT_NONE;
	return fits;
}

/* Stores the paths in b->out, which has those of the new tables before. */
static void
keep_store(struct balance *b)
{
	uint32_t i, sw;

	for (i = b->n_extended; i < b->n_rest; i++) {
		sw = b->rest[i];
		b->lost.mixed += lft_row(b->out, sw)[b->lid] != LFT_NO_PATH;
		b->next[sw] = SNAPSHOT_NONE;
	}
	balance_store(b);
}

/* LIDs of a switch: entries that are not on a shortest path are taken from
 * the new tables. */
static void
keep_own_lid(struct balance *b, const struct lft *held)
{
	const struct paths *p = &b->p;
	uint32_t i, sw;

	keep_read(b, held);
	for (i = 1; i < p->n_reached; i++) {
		sw = p->queue[i];
		if (b->next[sw] == SNAPSHOT_NONE)
			b->next[sw] = balance_entry(b, b->out, sw);
	}
	balance_extend(b, held);
	balance_manage(b, held);
	keep_store(b);
}

/* First the LIDs all of whose held entries are on shortest paths; then the
 * others, whose missing entries are chosen by load. */
static void
keep_all(struct balance *b, const struct lft *held)
{
	const struct graph *g = b->g;
	const struct graph_target *target;
	uint32_t round;
	bool fits;

	b->limit = INFINITY;
	balance_forget_loads(b);
	for (round = 0; round < 2; round++)
		for (target = g->targets; target < g->targets + g->n_targets;
		     target++) {
			if (!balance_take(b, target, b->nth))
				continue;
			balance_aim(b, target->sw);
			if (!target->is_host && round == 0)
				keep_own_lid(b, held);
			if (!target->is_host)
				continue;
			fits = keep_read(b, held);
			if (fits != (round == 0))
				continue;
			if (fits)
				balance_add_all(b);
			else
				balance_choose_all(b, held);
			b->n_extended = fits ? 0 : b->n_extended;
			keep_store(b);
		}
}

/* Does any channel that the new tables use carry no held entry of a CA's
 * LID? Then it is new or was repaired. (Entries of a switch that was away
 * are kept.) */
static bool
keep_is_idle(const struct balance *anew, const struct lft *held)
{
	const struct graph *g = anew->g;
	uint8_t used[GRAPH_PORTS];
	uint32_t sw, i, lid, e;

	for (sw = 0; sw < g->n_switches; sw++) {
		memset(used, 0, sizeof(used));
		for (i = 0; i < g->n_targets; i++) {
			lid = g->targets[i].lid;
			if (g->targets[i].is_host && lid <= held->top)
				used[lft_row(held, sw)[lid]] = 1;
		}
		for_each_edge(g, sw, e)
			if (anew->l.load[e] > 0 && !used[g->edges[e].port])
				return true;
	}
	return false;
}

/* Does a channel that the new tables use carry nothing in those that are kept?
 * Their held entries led elsewhere; the next time it would be taken for new. */
static bool
keep_leaves_idle(const struct balance *anew, const struct balance *kept)
{
	for (uint32_t e = 0; e < anew->g->n_edges; e++)
		if (anew->l.load[e] > 0 && !(kept->l.load[e] > 0))
			return true;
	return false;
}

void
balance_keep(const struct engine_input *in, const struct order *o,
	     const struct turns *t, struct lft *out)
{
	const struct lft *held = in->previous;
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct balance anew, kept;
	uint64_t n_changes, n_blocks;
	bool fits = true;
	float limit;

	if (!held || held->n_switches < in->g->n_switches)
		return;
	n_changes = keep_count_changes(held, out);
	n_blocks = (uint64_t)out->n_switches * out->stride / LFT_BLOCK;
	if (n_blocks > KEEP_LARGE && n_changes * KEEP_FEW < n_blocks)
		return;
	if (n_changes <= KEEP_BLOCKS * keep_count_dead(in->g, held))
		return;
	balance_init(&anew, in->g, o, t, out, scratch);
	balance_load_all(&anew, NULL);
	if (keep_is_idle(&anew, held))
		return;
	balance_init(&kept, in->g, o, t, lft_copy(out), scratch);
	for (kept.nth = 0; fits && kept.nth < balance_most_lids(in->g);
	     kept.nth++) {
		anew.nth = kept.nth;
		if (anew.nth)	/* that of the first ones is known */
			balance_load_all(&anew, NULL);
		limit = KEEP * paths_load_most(&anew.l);
		keep_all(&kept, held);
		kept.most_work = kept.work + WORK_HELD;
		kept.keeps = true;
		if (!kept.lost.mixed)
			balance_improve(&kept, limit);
		fits = !kept.lost.mixed &&
			paths_load_most(&kept.l) <= limit &&
			!keep_leaves_idle(&anew, &kept);
	}
	if (fits && 3 * n_changes > 4 * keep_count_changes(held, kept.out))
		memcpy(out->ports, kept.out->ports, lft_size(out));
	lft_free(kept.out);
}
