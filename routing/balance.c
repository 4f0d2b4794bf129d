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
 * the flows from the CAs of one switch to all others; and on large fabrics more
 * than a share of what the busiest one carries now, since little time is left for
 * those that are far from it. A pass without gain is undone.
 *
 * Loads are flows divided by the capacity of the cable. What a choice adds is not
 * known yet when it is made, and is the same for all cables of one width; a cable
 * that is narrower or slower costs from the start as if it carried the difference,
 * else an empty one would be taken first and had four times the load of the
 * others with its first LID. The LIDs of an LMC
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
#define MAX_PASSES	3u
#define ROOM		1.02f	/* times the bound: not overloaded */
#define LARGE		(WORK / 9)	/* hosts times switches: three passes are
					   more than WORK */
#define SHARE		0.6f	/* there, times the busiest channel: likewise */
#define GAIN		0.995f	/* the last pass is one that reduces less */
#define SIBLING		1e9f	/* cost of a cable on the path of a lower LID */
#define MAX_WALK	64u	/* hops along which costs are updated */

struct balance {
	const struct graph *g;
	const struct order *o;
	struct lft *out;
	struct paths p;		/* to the present destination */
	uint32_t base, lid;	/* of its LMC range; the present LID */
	uint32_t nth;		/* of each range, the LIDs whose load this is */
	uint32_t *next;		/* by switch: edge for the present LID */
	uint32_t *queue;	/* see balance_add_all() */
	struct paths_load l;
	float *path;		/* by switch: cost of its path */
	int32_t *flow;		/* by switch */
	uint8_t *port;		/* by edge */
	uint8_t *is_step;	/* by edge: it is one of p.steps */
	float limit;		/* load above which a channel is overloaded */
	uint64_t work, most_work;	/* steps so far; the limit */
	uint32_t *heavy, n_heavy;	/* switches with overloaded channels */
	/* See balance_find_bad(): by switch, and their places in p.queue. */
	uint8_t *is_bad;
	uint32_t *bad, n_bad;
	GArray *changes;	/* of this pass: struct former */
};

/* An entry that was another one. */
struct former {
	uint32_t sw;
	uint16_t lid;
	uint8_t port;
};

/* Adds the flows of all CAs to the present LID, along next[]. Shortest paths
 * lead to switches that were reached earlier. */
static void
balance_add_all(struct balance *b)
{
	const struct paths *p = &b->p;
	uint32_t n = p->n_reached, i;

	for (i = 0; i < n; i++)
		b->queue[i] = p->queue[n - 1 - i];
	paths_load_tree(&b->l, b->next, b->queue, n, 1, b->flow);
	b->work += b->g->n_switches;
}

/* Adds the flows of one switch's CAs, times `sign`, along its path. */
static void
balance_add(struct balance *b, uint32_t sw, int32_t sign)
{
	int32_t flow = sign * (int32_t)b->g->n_hosts[sw];
	const struct paths_channel *at = b->l.at;
	uint32_t walk[MAX_WALK], n = 0, e;

	for (; flow != 0 && sw != b->p.dest; sw = at[e].peer) {
		e = b->next[sw];
		paths_load_add(&b->l, e, flow);
		if (n < MAX_WALK)
			walk[n++] = sw;
	}
	while (n-- > 0) {
		e = b->next[walk[n]];
		b->path[walk[n]] = at[e].cost + b->path[at[e].peer];
	}
}

/* Has the path through this edge room for the flows of the switch? */
static bool
balance_has_room(const struct balance *b, uint32_t sw, uint32_t e)
{
	int32_t flow = (int32_t)b->g->n_hosts[sw];
	const struct paths_channel *c;

	for (;; e = b->next[c->peer]) {
		c = &b->l.at[e];
		if (paths_load(c, flow) > b->limit)
			return false;
		if (c->peer == b->p.dest)
			return true;
	}
}

static float
balance_cost_by(const struct balance *b, uint32_t sw, uint32_t e)
{
	const struct paths_channel *c = &b->l.at[e];
	float cost = c->cost;
	uint32_t lid;

	if (c->peer != b->p.dest) {	/* other switches have added flows
					   since */
		c = &b->l.at[b->next[c->peer]];
		cost += c->cost + b->path[c->peer];
	}
	for (lid = b->base; lid < b->lid; lid++)
		if (lft_row(b->out, sw)[lid] == b->port[e])
			cost += SIBLING;
	return cost;
}

/* Does the edge (or SNAPSHOT_NONE) continue a shortest path? */
static inline bool
balance_permits(const struct balance *b, uint32_t e)
{
	return e != SNAPSHOT_NONE && b->is_step[e];
}

/* The next hop of the i-th switch: the present one if it has room, else the
 * cheapest. */
static void
balance_choose(struct balance *b, uint32_t i, uint32_t held)
{
	const struct paths *p = &b->p;
	uint32_t sw = p->queue[i], best = SNAPSHOT_NONE, k;
	bool stays = balance_permits(b, held);
	float least = INFINITY, cost;

	if (stays) {
		best = held;
		least = balance_cost_by(b, sw, held);
		stays = balance_has_room(b, sw, held);
	}
	for (k = p->first[i]; !stays && k < p->first[i + 1]; k++) {
		cost = balance_cost_by(b, sw, p->steps[k].edge);
		if (cost < least || best == SNAPSHOT_NONE) {
			least = cost;
			best = p->steps[k].edge;
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

/* The next hops of all switches, before any flow is added and any lower LID of
 * the range has a path: then path[] is the cost of the rest of each path. */
static void
balance_choose_first(struct balance *b)
{
	const struct paths *p = &b->p;
	const struct paths_channel *at = b->l.at;
	const struct paths_step *s = p->steps, *best;
	float least, cost;

	for (uint32_t i = 1; i < p->n_reached; i++) {
		best = s;
		least = at[s->edge].cost + b->path[s->peer];
		while (++s < p->steps + p->first[i + 1]) {
			cost = at[s->edge].cost + b->path[s->peer];
			best = cost < least ? s : best;
			least = cost < least ? cost : least;
		}
		b->next[p->queue[i]] = best->edge;
		b->path[p->queue[i]] = least;
	}
}

/* Chooses next[] for the present LID. */
static void
balance_choose_all(struct balance *b)
{
	const struct paths *p = &b->p;

	b->path[p->dest] = 0;
	b->next[p->dest] = SNAPSHOT_NONE;
	if (b->lid == b->base)
		balance_choose_first(b);
	else
		for (uint32_t i = 1; i < p->n_reached; i++)
			balance_choose(b, i, SNAPSHOT_NONE);
	b->work += p->first[p->n_reached] + 2 * p->n_reached;
}

static void
balance_aim(struct balance *b, uint32_t dest)
{
	struct paths *p = &b->p;
	uint32_t k;

	if (p->dest == dest)
		return;
	for (k = 0; k < p->first[p->n_reached]; k++)
		b->is_step[p->steps[k].edge] = 0;
	paths_find(p, dest);
	for (k = 0; k < p->first[p->n_reached]; k++)
		b->is_step[p->steps[k].edge] = 1;
	b->work += b->g->n_edges;
}

/* A switch that was reached forwards: next[] is an edge. */
static void
balance_store(struct balance *b, uint32_t sw)
{
	lft_row(b->out, sw)[b->lid] = b->port[b->next[sw]];
}

/* Makes the nth LID of a target the present one. False: it has none. */
static bool
balance_take(struct balance *b, const struct graph_target *target, uint32_t nth)
{
	b->base = target->lid;
	b->lid = b->base + nth;
	return nth < target->n_lids;
}

/* Routes a LID of a target. LIDs inside switches take the least loaded paths;
 * they add no load. */
static void
balance_route_lid(struct balance *b, const struct graph_target *target,
		  uint32_t nth)
{
	uint32_t i;

	if (!balance_take(b, target, nth))
		return;
	balance_aim(b, target->sw);
	balance_choose_all(b);
	if (target->is_host)
		balance_add_all(b);
	for (i = 1; i < b->p.n_reached; i++)
		balance_store(b, b->p.queue[i]);
}

/* Stores a new choice; e: the edge before it, or SNAPSHOT_NONE. */
static void
balance_change(struct balance *b, uint32_t sw, uint32_t e)
{
	const struct former was = {
		sw, (uint16_t)b->lid, lft_row(b->out, sw)[b->lid],
	};

	if (b->next[sw] == e)
		return;
	g_array_append_val(b->changes, was);
	balance_store(b, sw);
}

/* Sets next[] by the tables. Marks and lists the switches whose path goes
 * through an overloaded channel, and those whose path a switch with a new choice
 * may not join; updates the costs. */
static void
balance_find_bad(struct balance *b)
{
	const struct paths *p = &b->p;
	const struct paths_channel *c;
	uint32_t i, sw, e;

	for (sw = 0; p->n_reached < b->g->n_switches &&
	     sw < b->g->n_switches; sw++)
		if (p->way[sw] == PATHS_NONE)
			b->next[sw] = balance_entry(b, b->out, sw);
	memset(b->is_bad, 0, b->g->n_switches);
	for (b->n_bad = 0, i = 1; i < p->n_reached; i++) {
		sw = p->queue[i];
		b->next[sw] = e = balance_entry(b, b->out, sw);
		if (balance_permits(b, e)) {
			c = &b->l.at[e];
			b->path[sw] = c->cost + b->path[c->peer];
			if (paths_load(c, 0) <= b->limit &&
			    !b->is_bad[c->peer])
				continue;
		}
		b->is_bad[sw] = 1;
		b->bad[b->n_bad++] = i;
	}
}

/* Does a path of another kind (mend.c) join a bad path? It may do so by a turn
 * from down to up, which was made for the entry that is there. */
static bool
balance_is_joined(const struct balance *b)
{
	const struct graph *g = b->g;
	uint32_t sw, at, e, hops;

	for (sw = 0; b->p.n_reached < g->n_switches && sw < g->n_switches;
	     sw++) {
		if (b->p.way[sw] != PATHS_NONE)
			continue;
		for (at = sw, hops = 0; at != SNAPSHOT_NONE && hops < MAX_WALK &&
		     b->p.way[at] == PATHS_NONE; hops++) {
			e = b->next[at];
			at = e == SNAPSHOT_NONE ? e : g->edges[e].peer;
		}
		if (at != SNAPSHOT_NONE && hops < MAX_WALK && b->is_bad[at])
			return true;
	}
	return false;
}

/* The switches with a bad path choose again, from the destination outwards,
 * each adding its flows after its choice. First all that may keep their paths
 * do. */
static void
balance_improve_lid(struct balance *b, uint32_t dest)
{
	const struct paths *p = &b->p;
	uint32_t i, k, sw, e, choose;

	balance_aim(b, dest);
	b->next[dest] = SNAPSHOT_NONE;
	b->path[dest] = 0;
	balance_find_bad(b);
	if (balance_is_joined(b))
		return;
	for (k = 0; k < b->n_bad; k++)
		if (b->next[p->queue[b->bad[k]]] != SNAPSHOT_NONE)
			balance_add(b, p->queue[b->bad[k]], -1);
	for (choose = 0; choose < 2; choose++)
		for (k = 0; k < b->n_bad; k++) {
			i = b->bad[k];
			sw = p->queue[i];
			e = b->next[sw];
			/* it stays if it has room now and joins no bad path */
			if (!b->is_bad[sw] || (!choose &&
			    (!balance_permits(b, e) ||
			     b->is_bad[b->l.at[e].peer] ||
			     !balance_has_room(b, sw, e))))
				continue;
			balance_choose(b, i, e);
			balance_add(b, sw, 1);
			balance_change(b, sw, e);
			b->is_bad[sw] = 0;
		}
	b->work += 3 * p->n_reached;
}

/* Has the present LID still an entry into an overloaded channel? The LIDs
 * before it may have made room. */
static bool
balance_is_heavy(const struct balance *b)
{
	uint32_t i, e;

	for (i = 0; i < b->n_heavy; i++) {
		e = balance_entry(b, b->out, b->heavy[i]);
		if (e != SNAPSHOT_NONE &&
		    paths_load(&b->l.at[e], 0) > b->limit)
			return true;
	}
	return false;
}

static void
balance_forget_loads(struct balance *b)
{
	for (uint32_t e = 0; e < b->g->n_edges; e++) {
		b->l.at[e].flows = 0;
		paths_load_add(&b->l, e, 0);
	}
}

/* Loads of the flows of CAs to all CAs: each sends to the nth LID. */
static void
balance_load_all(struct balance *b)
{
	const struct graph *g = b->g;
	g_autofree uint64_t *load = g_new0(uint64_t, g->n_edges + 1);
	g_autofree uint8_t *lids = g_new0(uint8_t, UINT16_MAX + 1);
	const struct graph_target *target;
	uint64_t arrived = 0;

	balance_forget_loads(b);
	for (target = g->targets; target < g->targets + g->n_targets; target++)
		if (target->is_host && b->nth < target->n_lids)
			lids[target->lid + b->nth] = 1;
	flows_add(g, b->out, b->o ? b->o->place : NULL, lids, g->n_switches,
		  load, &arrived);
	for (uint32_t e = 0; e < g->n_edges; e++)
		paths_load_add(&b->l, e, (int32_t)load[e]);
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
			is_heavy[b->port[e]] =
				paths_load(&b->l.at[e], 0) > b->limit;
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
			own += 1 / b->l.at[e].weight;
			sum += b->l.at[e].flows;
		}
		wide += own;
		if (own > 0)
			most = MAX(most, g->n_hosts[sw] *
				   (all - g->n_hosts[sw]) / own);
	}
	return (float)(wide > 0 ? MAX(most, sum / wide) : 0);
}

/* Runs passes as long as they help and can be finished, or until no channel has
 * more than `limit`. */
static void
balance_improve(struct balance *b, float limit)
{
	g_autoptr(GArray) changes = g_array_new(FALSE, FALSE,
						sizeof(struct former));
	float before, now = paths_load_most(&b->l);
	uint64_t start, last = 0;	/* steps of the last pass */
	bool is_large = (uint64_t)b->g->n_all_hosts * b->g->n_switches > LARGE;
	const struct former *x;
	uint32_t pass;

	b->changes = changes;
	for (pass = 0; pass < MAX_PASSES && now > limit &&
	     b->work + last < b->most_work; pass++, last = b->work - start) {
		start = b->work;
		before = now;
		b->limit = is_large ? MAX(limit, SHARE * now) : limit;
		g_array_set_size(changes, 0);
		balance_pass(b);
		now = paths_load_most(&b->l);
		for (guint i = changes->len; now >= before && i-- > 0;) {
			x = &g_array_index(changes, struct former, i);
			lft_row(b->out, x->sw)[x->lid] = x->port;
		}
		if (now > before * GAIN)
			return;
	}
}

static void
balance_init(struct balance *b, const struct graph *g, const struct order *o,
	     struct lft *out, GPtrArray *scratch)
{
	uint32_t n = g->n_switches;

	*b = (struct balance){
		.g = g, .o = o, .out = out,
		.next = SCRATCH(scratch, uint32_t, n),
		.queue = SCRATCH(scratch, uint32_t, n),
		.heavy = SCRATCH(scratch, uint32_t, n),
		.is_bad = SCRATCH(scratch, uint8_t, n),
		.bad = SCRATCH(scratch, uint32_t, n),
		.path = SCRATCH(scratch, float, n),
		.flow = SCRATCH(scratch, int32_t, n),
		.port = SCRATCH(scratch, uint8_t, g->n_edges),
		.is_step = SCRATCH(scratch, uint8_t, g->n_edges),
	};
	paths_init(&b->p, g, o ? o->place : NULL, scratch);
	paths_load_init(&b->l, g, scratch);
	for (uint32_t e = 0; e < g->n_edges; e++)
		b->port[e] = g->edges[e].port;
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
 * use the first one only. is_known: the loads are those of the tables. */
static void
balance_improve_all(struct balance *b, bool is_known, double enough)
{
	uint32_t n = balance_most_lids(b->g);

	for (b->nth = 0; b->nth < n; b->nth++) {
		if (!is_known || n > 1)
			balance_load_all(b);
		b->most_work = b->work + WORK;
		balance_improve(b, MAX(balance_find_bound(b) * ROOM,
				       (float)enough));
	}
}

void
balance_route(const struct graph *g, const struct order *o, struct lft *out)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	const struct graph_target *target;
	struct balance b;
	uint32_t i, k, sw;

	if (g->n_switches == 0)
		return;
	balance_init(&b, g, o, out, scratch);
	for (b.nth = 0; b.nth < balance_most_lids(g); b.nth++) {
		balance_forget_loads(&b);
		for (i = 0; i < g->n_switches; i++) {
			sw = o ? o->climb[i] : i;
			for (k = g->first_target[sw];
			     k < g->first_target[sw + 1]; k++)
				if (g->targets[k].is_host)
					balance_route_lid(&b, &g->targets[k],
							  b.nth);
		}
	}
	for (target = g->targets; target < g->targets + g->n_targets;
	     target++) {
		memset(lft_row(out, target->sw) + target->lid, target->port,
		       target->n_lids);
		for (i = 0; !target->is_host && i < target->n_lids; i++)
			balance_route_lid(&b, target, i);
	}
	balance_improve_all(&b, true, 0);
}

void
balance_relieve(const struct graph *g, const struct order *o, double enough,
		struct lft *out)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct balance b;

	if (g->n_switches == 0)
		return;
	balance_init(&b, g, o, out, scratch);
	balance_improve_all(&b, false, enough);
}
