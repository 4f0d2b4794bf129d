// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A spanning tree over the switches for each multicast group.
 *
 * Method. The tree of a group grows from one switch, breadth first, over the
 * cables that the fewest trees use, until it reaches the switches of all
 * members; branches without a member are cut off. It starts with the cables of
 * the group's former tree that still exist, or else at the switch above most
 * members from which it is lowest. If it does not reach all members, it starts
 * at one of them, and at last with its part of the backbone: a tree over all
 * switches with hosts or members of an island, which is made first.
 *
 * Busy channels. A former tree that has to grow over a channel with far more trees
 * than usual is laid anew from above most members, if such a tree has none. In the
 * end each new tree moves off its busiest channel, if another one has only channels
 * with fewer trees, until none does. The tables are written when all trees are laid.
 *
 * Safety. Any member may send, so at each switch of a tree a packet may arrive
 * by any of its cables and leave by any other. A cable joins the tree only if
 * none of these turns closes a loop in the graph of the dependencies of unicast
 * and of all trees so far (channels_add). Turns up, and up and then down in the
 * order of unicast, are in the graph from the start, and most trees have no
 * others. The turns of the backbone stay, so a group can always have the part of
 * the backbone that it needs. Few trees try turns from down to up: the backbone,
 * and from the switch above most members, within little work for all groups.
 *
 * The backbone. From the highest switch it has turns of the order only. Where
 * switches at the top are members, or have no common way down, it starts at the
 * lowest switch and goes up to all above it: in a fat tree these are a tree
 * upside down, whose turns close no loop with the order (see turns.c). Sparse
 * fabrics that are no trees may need another start: 24 of 30,475 tables.
 *
 * Port masks. A port is in the mask only if there are receivers behind it. If
 * there are only senders behind a cable, it is in the mask of their side only;
 * a switch accepts a packet by any port.
 *
 * Cost. For each group linear in the cables, times the logarithm of those of a
 * switch, and the search for loops where a turn is new: turns from down to up and
 * trees that move off busy channels are bounded by work. Ties go to the lower edge,
 * so the order of the input does not matter. Switches that cannot hold the MLID are
 * in no tree.
 */
#include "routing/multicast.h"

#include <stdlib.h>
#include <string.h>

#include "routing/order.h"
#include "routing/scratch.h"
#include "topology/each.h"

#define MLID_MIN	0xc000u
/* Turns looked at in searches for loops, after which no further turn from down
 * to up is tried for a backbone: at first, and if that is not enough (about 10 ms
 * and 1 s); little for all groups together. After some (about 0.1 s) no tree moves
 * off a busy channel. */
#define LITTLE_WORK	4000000u
#define SOME_WORK	20000000u
#define MUCH_WORK	500000000u
#define LOOKS		8u	/* at each channel, to move a tree: about */
#define STARTS		16u	/* of a backbone that misses a switch otherwise */
#define TURNS		16u	/* of a tree's own, at most */
#define ITEM(array, i)	g_array_index(array, uint32_t, i)

/* Where a tree starts: each is tried if the one before misses a member. */
enum tree_kind {
	TREE_KEPT,		/* the former tree as it is, */
	TREE_CALM,		/* with other channels that are not busy, */
	TREE_TOP,
	TREE_HELD,		/* with any */
	TREE_MEMBER,
	TREE_BACKBONE,
};

static bool
kind_is_held(enum tree_kind kind)
{
	return kind == TREE_KEPT || kind == TREE_CALM || kind == TREE_HELD;
}

struct tree_group {
	uint16_t mlid;
	struct multicast_member *members;	/* sorted, no port twice */
	uint32_t n_members;
	GArray *ups;		/* the new tree: edges, each from a switch towards
				   the root, those near it first; NULL: not laid */
	bool stays;		/* it does not move: it had a former one, or
				   misses a member */
};

/* A cable that may join the tree. */
struct offer {
	uint64_t cost;
	uint32_t edge;
};

/* The cost for the members of a group to go up to a switch. */
struct climb {
	uint32_t n;		/* switches of members below it */
	uint32_t peak;		/* trees on the busiest channel of their paths, */
	uint32_t hops, load;	/* and of the path of the present one;
				   UINT32_MAX: it has none */
};

struct forest {
	const struct graph *g;
	const uint32_t *ranks;
	const struct mft *previous;
	struct channels *c;	/* with the turns of the backbone */
	uint64_t work;		/* c->work at the end of this backbone, or of
				   turns of groups */
	uint32_t *backbone;	/* by switch: edge; SNAPSHOT_NONE: it is the
				   root of its island, or not in the backbone */
	uint32_t *roots;	/* by island: of the backbone; SNAPSHOT_NONE */
	uint32_t *cap;		/* by switch: MLIDs that it can hold */
	uint32_t *load;		/* by edge: trees that use it */
	uint32_t *uses;		/* by switch: cables of trees down from it */
	uint32_t n_load, n_used;	/* sum of load; cables with any load */
	/* The present tree. */
	uint32_t mlid;		/* 0xc000 for the backbone */
	uint32_t home;		/* the island with the most of its switches */
	uint32_t *n_wanted;	/* by island: switches with members */
	uint8_t *is_wanted;	/* by switch: has members, in this island */
	uint32_t n_missing;	/* switches of members that are not in the
				   tree */
	uint8_t *is_in;		/* by switch */
	uint32_t *parent;	/* by switch: edge; SNAPSHOT_NONE: the root */
	uint32_t *below;	/* by switch: work space */
	uint32_t limit;		/* channels with so many trees are avoided */
	uint32_t ceiling;	/* of limit */
	GArray *tree;		/* switches, the root first */
	GArray *turns;		/* struct turn: added for this tree */
	GArray *lost;		/* struct multicast_lost */
};

/* ---- members ---- */

static int
compare_members(const void *a, const void *b)
{
	const struct multicast_member *x = a, *y = b;

	return uint_compare(x->sw, y->sw) ?: uint_compare(x->port, y->port);
}

static void
group_init(struct tree_group *group, const struct multicast_group *in)
{
	struct multicast_member *m;
	uint32_t i, n = 0;

	m = g_memdup2(in->members, in->n_members * sizeof(*in->members));
	if (in->n_members)
		qsort(m, in->n_members, sizeof(*m), compare_members);
	for (i = 0; i < in->n_members; i++)
		if (n && compare_members(&m[n - 1], &m[i]) == 0)
			m[n - 1].receives |= m[i].receives;
		else
			m[n++] = m[i];
	*group = (struct tree_group){
		.mlid = in->mlid, .members = m, .n_members = n,
	};
}

static int
compare_groups(const void *a, const void *b)
{
	const struct tree_group *x = a;
	const struct tree_group *y = b;

	return (int)x->mlid - (int)y->mlid;
}

/* ---- the tree ---- */

static bool
tree_fits(const struct forest *f, uint32_t sw)
{
	return f->mlid - MLID_MIN < f->cap[sw];
}

static void
tree_take(struct forest *f, uint32_t sw, uint32_t parent)
{
	f->is_in[sw] = 1;
	f->parent[sw] = parent;
	f->n_missing -= f->is_wanted[sw];
	g_array_append_val(f->tree, sw);
}

/* Empties the tree. `undo`: its turns are removed from the graph as well. */
static void
tree_forget(struct forest *f, bool undo)
{
	uint32_t sw;

	for (guint i = 0; i < f->tree->len; i++) {
		sw = ITEM(f->tree, i);
		f->n_missing += f->is_wanted[sw];
		f->is_in[sw] = 0;
		f->parent[sw] = SNAPSHOT_NONE;
	}
	if (undo)
		channels_undo(f->c, f->turns, 0);
	g_array_set_size(f->turns, 0);
	g_array_set_size(f->tree, 0);
}

static bool
tree_uses(const struct forest *f, uint32_t e)
{
	const struct graph_edge *edge = &f->g->edges[e];

	return f->parent[edge->peer] == edge->back ||
		f->parent[f->g->edges[edge->back].peer] == e;
}

/* The cable of `e`, from a switch in the tree, joins it if the switch at its
 * other end is not in the tree and no turn closes a loop. any: also turns
 * from down to up that no packet makes yet. */
static bool
tree_join(struct forest *f, uint32_t e, bool any)
{
	const struct graph *g = f->g;
	uint32_t back = g->edges[e].back, sw = g->edges[back].peer, x;
	uint32_t peer = g->edges[e].peer;

	if (f->is_in[peer] || !tree_fits(f, peer))
		return false;
	any |= !channels_is_up(f->ranks, sw, peer);
	for (x = g->first_edge[sw]; !any && x < g->first_edge[sw + 1]; x++)
		if (tree_uses(f, x) &&
		    channels_is_up(f->ranks, sw, g->edges[x].peer) &&
		    !(channels_has(f->c, g->edges[x].back, e) &&
		      channels_has(f->c, back, x)))
			return false;
	if (!channels_hang(f->c, f->parent, back, f->turns))
		return false;
	tree_take(f, peer, back);
	return true;
}

static void
tree_offer(const struct forest *f, uint32_t sw, GArray *front)
{
	struct offer offer;
	uint32_t e, peer;

	for_each_edge(f->g, sw, e) {
		peer = f->g->edges[e].peer;
		if (f->is_in[peer] || f->load[e] >= f->limit)
			continue;
		offer.edge = e;
		offer.cost = f->load[e];
		g_array_append_val(front, offer);
	}
}

static int
compare_offers(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;

	return uint_compare(x->cost, y->cost) ?:
		uint_compare(x->edge, y->edge);
}

/* Those of the whole tree. free. */
static GArray *
tree_offers(const struct forest *f)
{
	GArray *front = g_array_new(FALSE, FALSE, sizeof(struct offer));

	for (guint i = 0; i < f->tree->len; i++)
		tree_offer(f, ITEM(f->tree, i), front);
	return front;
}

/* Grows breadth first from the whole tree. */
static void
tree_spread(struct forest *f)
{
	GArray *front = tree_offers(f), *next;
	uint32_t e;

	while (front->len && f->n_missing) {
		g_array_sort(front, compare_offers);
		next = g_array_new(FALSE, FALSE, sizeof(struct offer));
		for (guint i = 0; i < front->len && f->n_missing; i++) {
			e = g_array_index(front, struct offer, i).edge;
			if (tree_join(f, e, false))
				tree_offer(f, f->g->edges[e].peer, next);
		}
		g_array_unref(front);
		front = next;
	}
	g_array_unref(front);
}

/* One cable joins, with any turn. */
static bool
tree_turn(struct forest *f)
{
	g_autoptr(GArray) front = tree_offers(f);

	g_array_sort(front, compare_offers);
	for (guint i = 0; i < front->len && f->c->work < f->work; i++)
		if (tree_join(f, g_array_index(front, struct offer, i).edge,
			      true))
			return true;
	return false;
}

/* Cuts off branches without a member, and a root that is not needed, and removes
 * turns that are no longer made. */
static void
tree_prune(struct forest *f)
{
	uint32_t sw, i, n = 0;
	struct turn turn;

	memset(f->below, 0, f->g->n_switches * sizeof(*f->below));
	for (i = f->tree->len; i-- > 1;) {
		sw = ITEM(f->tree, i);
		if (f->is_wanted[sw] || f->below[sw])
			f->below[f->g->edges[f->parent[sw]].peer]++;
		else
			f->is_in[sw] = 0;
	}
	for (i = 0; i < f->tree->len; i++) {
		sw = ITEM(f->tree, i);
		if (n == 0 && f->below[sw] == 1 && !f->is_wanted[sw])
			f->is_in[sw] = 0;
		if (n == 0 || !f->is_in[sw])
			f->parent[sw] = SNAPSHOT_NONE;
		if (f->is_in[sw])
			ITEM(f->tree, n++) = sw;
	}
	g_array_set_size(f->tree, n);
	for (i = n = 0; i < f->turns->len; i++) {
		turn = g_array_index(f->turns, struct turn, i);
		if (!tree_uses(f, turn.in) || !tree_uses(f, turn.out))
			continue;
		g_array_index(f->turns, struct turn, i) =
			g_array_index(f->turns, struct turn, n);
		g_array_index(f->turns, struct turn, n++) = turn;
	}
	channels_undo(f->c, f->turns, n);
}

/* ---- where a tree starts ---- */

/* Is the cable in the former tables of the present group? */
static bool
cable_was_in(const struct forest *f, uint32_t e)
{
	const struct graph_edge *edge = &f->g->edges[e];
	const struct graph_edge *back = &f->g->edges[edge->back];

	return mft_has(f->previous, back->peer, (uint16_t)f->mlid,
		       edge->port) ||
		mft_has(f->previous, edge->peer, (uint16_t)f->mlid, back->port);
}

/* Adds the cost for the members at `from` to go up to each switch: by the
 * shortest path, and of several by that whose busiest channel has the fewest
 * trees. */
static void
climb_from(const struct forest *f, uint32_t from, struct climb *climbs)
{
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	const struct graph *g = f->g;
	struct climb *c, *up;
	uint32_t i, e, sw, load;

	g_array_append_val(queue, from);
	climbs[from].hops = climbs[from].load = 0;
	for (i = 0; i < queue->len; i++) {
		sw = ITEM(queue, i);
		c = &climbs[sw];
		for_each_edge(g, sw, e) {
			up = &climbs[g->edges[e].peer];
			if (f->ranks[g->edges[e].peer] >= f->ranks[sw] ||
			    !tree_fits(f, g->edges[e].peer))
				continue;
			load = MAX(c->load, f->load[e]);
			if (up->hops == UINT32_MAX) {
				up->hops = c->hops + 1;
				up->load = load;
				g_array_append_val(queue, g->edges[e].peer);
			} else if (up->hops == c->hops + 1) {
				up->load = MIN(up->load, load);
			}
		}
	}
	for (i = 0; i < queue->len; i++) {
		c = &climbs[ITEM(queue, i)];
		c->n++;
		c->peak = MAX(c->peak, c->load);
		c->hops = UINT32_MAX;
	}
}

/* Is `a` a better root than `b`? */
static bool
climb_is_better(const struct forest *f, const struct climb *climbs, uint32_t a,
		uint32_t b)
{
	uint32_t level_a = f->ranks[a] >> 16, level_b = f->ranks[b] >> 16;

	if (climbs[a].n != climbs[b].n)
		return climbs[a].n > climbs[b].n;
	if (level_a != level_b)
		return level_a > level_b;
	if (climbs[a].peak != climbs[b].peak)
		return climbs[a].peak < climbs[b].peak;
	return f->uses[a] < f->uses[b];
}

/* The switch above all members, or most of them, from which the tree is low and
 * the busiest channel has the fewest trees: *peak. */
static uint32_t
group_find_top(const struct forest *f, const struct tree_group *group,
	       uint32_t *peak)
{
	uint32_t i, sw, n = f->g->n_switches, last = SNAPSHOT_NONE;
	g_autofree struct climb *climbs = g_new0(struct climb, n);
	uint32_t best = SNAPSHOT_NONE;

	for (sw = 0; sw < n; sw++)
		climbs[sw].hops = UINT32_MAX;
	for (i = 0; i < group->n_members; i++) {
		sw = group->members[i].sw;
		if (sw == last || !f->is_wanted[sw])
			continue;
		climb_from(f, sw, climbs);
		last = sw;
	}
	for (sw = 0; sw < n; sw++)
		if (climbs[sw].n && (best == SNAPSHOT_NONE ||
				     climb_is_better(f, climbs, sw, best)))
			best = sw;
	if (best != SNAPSHOT_NONE)
		*peak = climbs[best].peak;
	return best;
}

/* The first switch of a member; held: of those with a former tree, or the only one,
 * which is one. SNAPSHOT_NONE: there is none. */
static uint32_t
group_find_first(const struct forest *f, const struct tree_group *group,
		 bool held)
{
	uint32_t i, e, sw;

	for (i = 0; i < group->n_members; i++) {
		sw = group->members[i].sw;
		if (!f->is_wanted[sw])
			continue;
		if (!held || f->n_wanted[f->home] == 1)
			return sw;
		for_each_edge(f->g, sw, e)
			if (cable_was_in(f, e))
				return sw;
	}
	return SNAPSHOT_NONE;
}

/* Does a tree with nothing of its own yet start with this cable? */
static bool
tree_has(const struct forest *f, enum tree_kind kind, uint32_t e)
{
	uint32_t back = f->g->edges[e].back;

	return kind_is_held(kind) ? cable_was_in(f, e) :
		kind == TREE_BACKBONE &&
		(f->backbone[f->g->edges[back].peer] == e ||
		 f->backbone[f->g->edges[e].peer] == back);
}

/* A load that no channel has to exceed. */
static uint32_t
tree_usual(const struct forest *f)
{
	return 1 + 3 * f->n_load / MAX(2 * f->n_used, 1);
}

/* False: it misses members. */
static bool
tree_lay(struct forest *f, struct tree_group *group, enum tree_kind kind)
{
	uint32_t i, e, sw, n, peak = 0, usual = tree_usual(f);

	if (kind_is_held(kind) && !f->previous)
		return false;
	sw = kind == TREE_TOP ? group_find_top(f, group, &peak) :
		group_find_first(f, group, kind_is_held(kind));
	if (sw == SNAPSHOT_NONE)
		return false;
	group->stays |= kind_is_held(kind);
	f->limit = f->ceiling;
	if (kind == TREE_KEPT)
		f->limit = 0;
	if (kind == TREE_TOP && f->ceiling == UINT32_MAX)
		f->limit = MAX(peak + 1, usual);
	if (kind == TREE_CALM || (kind == TREE_TOP && group->stays))
		f->limit = MIN(f->limit, 2 * usual);
	tree_forget(f, true);
	tree_take(f, sw, SNAPSHOT_NONE);
	for (i = 0; i < f->tree->len; i++) {
		sw = ITEM(f->tree, i);
		for_each_edge(f->g, sw, e)
			if (tree_has(f, kind, e))
				tree_join(f, e, true);
	}
	tree_spread(f);
	for (n = 0; kind == TREE_TOP && n < TURNS && f->n_missing &&
	     tree_turn(f); n++)
		tree_spread(f);
	return !f->n_missing;
}

/* ---- groups ---- */

/* Adds the tree of a group to those on its channels, or with -1 takes it away. */
static void
group_count(struct forest *f, const struct tree_group *group, int by)
{
	const struct graph_edge *edges = f->g->edges;

	EACH_ITEM(const uint32_t, e, group->ups) {
		f->n_used -= f->load[*e] > 0;
		f->load[*e] += (uint32_t)by;
		f->load[edges[*e].back] = f->load[*e];
		f->n_used += f->load[*e] > 0;
		f->n_load += (uint32_t)by;
		f->uses[edges[*e].peer] += (uint32_t)by;
	}
}

/* The group gets the present tree, if any member listens; its members are those in
 * it. */
static void
group_settle(struct forest *f, struct tree_group *group)
{
	const struct multicast_member *m;
	struct multicast_lost lost;
	uint32_t i, n = 0;
	bool listens = false;

	for (i = 0; i < group->n_members; i++) {
		m = &group->members[i];
		if (f->is_in[m->sw]) {
			listens |= m->receives;
			group->members[n++] = *m;
			continue;
		}
		lost = (struct multicast_lost){
			group->mlid, m->sw, m->port,
			f->tree->len && tree_fits(f, m->sw) &&
				f->g->island[m->sw] == f->home,
		};
		g_array_append_val(f->lost, lost);
	}
	group->stays |= n < group->n_members;
	group->n_members = n;
	if (group->ups)
		g_array_unref(group->ups);
	group->ups = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (i = 1; i < f->tree->len && listens; i++)
		g_array_append_val(group->ups,
				   f->parent[ITEM(f->tree, i)]);
}

/* Lays the tree of a group, by the first of these kinds that reaches all members;
 * if none does, as far as the backbone does. False: there is no new one. */
static bool
group_lay(struct forest *f, struct tree_group *group, enum tree_kind kind,
	  enum tree_kind last)
{
	uint32_t i, sw;

	f->mlid = group->mlid;
	f->home = SNAPSHOT_NONE;
	memset(f->is_wanted, 0, f->g->n_switches);
	memset(f->n_wanted, 0, f->g->n_switches * sizeof(*f->n_wanted));
	for (i = 0; i < group->n_members; i++) {
		sw = group->members[i].sw;
		if (f->is_wanted[sw] || !tree_fits(f, sw))
			continue;
		f->is_wanted[sw] = 1;
		sw = f->g->island[sw];
		f->n_wanted[sw]++;
		if (f->home == SNAPSHOT_NONE ||
		    f->n_wanted[sw] > f->n_wanted[f->home])
			f->home = sw;
	}
	for (i = 0; i < group->n_members; i++) {
		sw = group->members[i].sw;
		f->is_wanted[sw] &= f->g->island[sw] == f->home;
	}
	f->n_missing = f->home == SNAPSHOT_NONE ? 0 : f->n_wanted[f->home];
	while (f->n_missing && !tree_lay(f, group, kind) && kind < last)
		kind++;
	if (f->n_missing && last != TREE_BACKBONE) {
		tree_forget(f, true);
		return false;
	}
	tree_prune(f);
	group_settle(f, group);
	group_count(f, group, 1);
	tree_forget(f, false);
	return true;
}

/* The ports by which each switch sends on what comes to a group. */
static void
group_write(struct forest *f, const struct tree_group *group, struct mft *mft)
{
	const struct multicast_member *m;
	const struct graph_edge *up;
	uint32_t i, sw, all = 0;

	memset(f->below, 0, f->g->n_switches * sizeof(*f->below));
	for (i = 0; i < group->n_members; i++) {
		m = &group->members[i];
		if (m->receives)
			mft_add(mft, m->sw, group->mlid, m->port);
		f->below[m->sw] += m->receives;
		all += m->receives;
	}
	for (i = group->ups->len; i-- > 0;) {
		sw = graph_owner(f->g, ITEM(group->ups, i));
		up = &f->g->edges[ITEM(group->ups, i)];
		if (f->below[sw] < all)
			mft_add(mft, sw, group->mlid, up->port);
		if (f->below[sw])
			mft_add(mft, up->peer, group->mlid,
				f->g->edges[up->back].port);
		f->below[up->peer] += f->below[sw];
	}
}

/* ---- busy channels ---- */

/* Each group moves off its busiest channel, if another tree has only channels with
 * fewer trees; as long as any does, within some work. */
static void
forest_relieve(struct forest *f, struct tree_group *groups, uint32_t n)
{
	uint64_t end = f->c->work + SOME_WORK, looks = 0;
	uint32_t i, peak;
	bool moved;

	do {
		moved = false;
		for (i = 0; i < n && f->c->work + looks < end; i++) {
			peak = 0;
			EACH_ITEM(const uint32_t, e, groups[i].ups)
				peak = MAX(peak, f->load[*e]);
			if (groups[i].stays || peak <= tree_usual(f))
				continue;
			looks += LOOKS * f->g->n_edges;
			f->ceiling = peak - 1;
			group_count(f, &groups[i], -1);
			if (group_lay(f, &groups[i], TREE_TOP, TREE_MEMBER))
				moved = true;
			else
				group_count(f, &groups[i], 1);
		}
	} while (moved);
}

/* ---- the backbone ---- */

static int
compare_by_rank(const void *a, const void *b, void *data)
{
	const uint32_t *x = a, *y = b, *ranks = data;

	return uint_compare(ranks[*x], ranks[*y]) ?: uint_compare(*x, *y);
}

/* Joins a switch to the highest one of the backbone that is possible. */
static void
backbone_hang(struct forest *f, uint32_t sw)
{
	g_autoptr(GArray) front = g_array_new(FALSE, FALSE,
					      sizeof(struct offer));
	struct offer offer;
	uint32_t e;

	for_each_edge(f->g, sw, e) {
		offer.cost = f->ranks[f->g->edges[e].peer];
		offer.edge = f->g->edges[e].back;
		if (f->is_in[f->g->edges[e].peer])
			g_array_append_val(front, offer);
	}
	g_array_sort(front, compare_offers);
	for (guint i = 0; i < front->len; i++)
		if (tree_join(f, g_array_index(front, struct offer, i).edge,
			      true))
			return;
}

/* The backbone starts at the highest switch; or at the lowest one, with all
 * switches above it; or at the highest one, and each joins in the order of the
 * ranks, since an engine may have left room for this tree; or, from this number
 * on, at others, since the cables by which the first switches join decide whether
 * the last ones can. */
enum backbone_kind { BACKBONE_TOP, BACKBONE_BOTTOM, BACKBONE_CLIMB,
		     BACKBONE_OTHER };

/* island: n switches, the highest first. */
static void
backbone_grow(struct forest *f, const uint32_t *island, uint32_t n,
	      uint32_t kind)
{
	bool is_short = kind == BACKBONE_TOP || kind >= BACKBONE_OTHER;
	uint32_t i, e, sw = 0;

	if (kind == BACKBONE_BOTTOM)
		sw = n - 1;
	else if (kind >= BACKBONE_OTHER)
		sw = (kind - BACKBONE_OTHER) * n / MIN(n, STARTS);
	f->limit = UINT32_MAX;
	f->work = f->c->work + (is_short ? LITTLE_WORK : MUCH_WORK);
	tree_forget(f, true);
	tree_take(f, island[sw], SNAPSHOT_NONE);
	for (i = 0; i < f->tree->len && kind == BACKBONE_BOTTOM; i++) {
		sw = ITEM(f->tree, i);
		for_each_edge(f->g, sw, e)
			if (channels_is_up(f->ranks, sw, f->g->edges[e].peer))
				tree_join(f, e, true);
	}
	for (i = 1; i < n && kind == BACKBONE_CLIMB; i++)
		backbone_hang(f, island[i]);
	do
		tree_spread(f);
	while (f->n_missing && tree_turn(f));
}

/* The backbone of an island: of these trees, the one that misses the fewest
 * switches. */
static void
backbone_choose(struct forest *f, const uint32_t *by_rank, uint32_t at)
{
	const struct graph *g = f->g;
	g_autofree uint32_t *island = g_new(uint32_t, g->n_switches);
	uint32_t i, n = 0, least = UINT32_MAX, kind, n_kinds, best = 0;

	for (i = 0; i < g->n_switches; i++)
		if (g->island[by_rank[i]] == at && f->cap[by_rank[i]])
			island[n++] = by_rank[i];
	f->n_missing = f->n_wanted[at];
	n_kinds = BACKBONE_OTHER + MIN(n, STARTS);
	for (kind = 0; kind < n_kinds && n && least; kind++) {
		backbone_grow(f, island, n, kind);
		if (f->n_missing < least) {
			least = f->n_missing;
			best = kind;
		}
	}
	if (n && f->n_missing > least)
		backbone_grow(f, island, n, best);
	tree_prune(f);
	f->roots[at] = f->tree->len ? ITEM(f->tree, 0) : SNAPSHOT_NONE;
	for (i = 0; i < f->tree->len; i++)
		f->backbone[ITEM(f->tree, i)] = f->parent[ITEM(f->tree, i)];
	tree_forget(f, false);
}

static void
backbone_make(struct forest *f, const struct tree_group *groups, uint32_t n)
{
	const struct graph *g = f->g;
	g_autofree uint32_t *by_rank = g_new(uint32_t, g->n_switches + 1);
	uint32_t i, k, sw;

	memset(f->backbone, 0xff, g->n_switches * sizeof(*f->backbone));
	for (i = 0; i < g->n_switches; i++) {
		by_rank[i] = i;
		f->is_wanted[i] = g->n_hosts[i] > 0 && f->cap[i] > 0;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < groups[i].n_members; k++) {
			sw = groups[i].members[k].sw;
			f->is_wanted[sw] = f->cap[sw] > 0;
		}
	for (i = 0; i < g->n_switches; i++)
		f->n_wanted[g->island[i]] += f->is_wanted[i];
	if (g->n_switches)
		g_qsort_with_data(by_rank, (gint)g->n_switches,
				  sizeof(*by_rank), compare_by_rank,
				  (void *)f->ranks);
	f->mlid = MLID_MIN;
	for (i = 0; i < g->n_switches; i++)
		if (g->island[i] == i)
			backbone_choose(f, by_rank, i);
}

/* ---- the forest ---- */

static void
forest_init(struct forest *f, const struct multicast_input *in,
	    GPtrArray *scratch)
{
	uint32_t n = in->g->n_switches;

	*f = (struct forest){
		.g = in->g, .ranks = in->ranks, .ceiling = UINT32_MAX,
		.cap = SCRATCH(scratch, uint32_t, n),
		.uses = SCRATCH(scratch, uint32_t, n),
		.load = SCRATCH(scratch, uint32_t, in->g->n_edges),
		.is_wanted = SCRATCH(scratch, uint8_t, n),
		.n_wanted = SCRATCH(scratch, uint32_t, n),
		.backbone = SCRATCH(scratch, uint32_t, n),
		.roots = SCRATCH(scratch, uint32_t, n),
		.is_in = SCRATCH(scratch, uint8_t, n),
		.parent = SCRATCH(scratch, uint32_t, n),
		.below = SCRATCH(scratch, uint32_t, n),
		.tree = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.turns = g_array_new(FALSE, FALSE, sizeof(struct turn)),
	};
	if (in->previous && in->previous->n_switches == n)
		f->previous = in->previous;
	memset(f->parent, 0xff, n * sizeof(*f->parent));
	for (uint32_t sw = 0; sw < n; sw++)
		f->cap[sw] = in->g->subnet->nodes[in->g->subnet->switches[sw]]
			.sw.multicast_fdb_cap;
}

static void
forest_clear(struct forest *f)
{
	g_array_unref(f->tree);
	g_array_unref(f->turns);
	channels_free(f->c);
}

uint32_t *
multicast_ranks(const struct graph *g)
{
	struct order *o;
	uint32_t *ranks;

	if (!g->n_switches)
		return g_new0(uint32_t, 1);
	o = order_compute(&(const struct engine_input){ .g = g });
	ranks = order_ranks(o);
	order_destroy(o);
	return ranks;
}

struct channels *
multicast_channels(const struct graph *g, const struct lft *lft,
		   const struct lft *before, const uint32_t *ranks)
{
	struct channels *c = NULL;

	if (!lft) {
		c = channels_new(g);
		channels_add_order(c, ranks);
		channels_sort(c);
	} else if (!channels_load(&c, g, lft, before, ranks)) {
		g_clear_pointer(&c, channels_free);
	}
	return c;
}

/* Makes the backbone, but no trees of groups. */
static void
forest_start(struct forest *f, const struct multicast_input *in,
	     struct tree_group *groups, GPtrArray *scratch)
{
	for (uint32_t i = 0; i < in->n_groups; i++)
		group_init(&groups[i], &in->groups[i]);
	if (in->n_groups)
		qsort(groups, in->n_groups, sizeof(*groups), compare_groups);
	forest_init(f, in, scratch);
	if (!f->ranks) {
		f->ranks = multicast_ranks(in->g);
		g_ptr_array_add(scratch, (void *)f->ranks);
	}
	f->c = in->channels ? channels_copy(in->channels) :
		multicast_channels(in->g, NULL, NULL, f->ranks);
	backbone_make(f, groups, in->n_groups);
}

/* Empty tables with room for these groups and the former ones. */
static struct mft *
tables_new(const struct forest *f, const struct tree_group *groups, uint32_t n)
{
	const struct snapshot *s = f->g->subnet;
	uint32_t n_positions = 1, n_blocks = 0, sw;

	for (sw = 0; sw < f->g->n_switches; sw++)
		n_positions = MAX(n_positions, mft_positions(
				s->nodes[s->switches[sw]].info.num_ports));
	if (n)
		n_blocks = (groups[n - 1].mlid - MLID_MIN) / MFT_BLOCK + 1;
	if (f->previous) {
		n_positions = MAX(n_positions, f->previous->n_positions);
		n_blocks = MAX(n_blocks, f->previous->n_blocks);
	}
	return mft_new(f->g->n_switches, n_positions, n_blocks);
}

void
multicast_route(const struct multicast_input *in,
		struct multicast_output *out)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	g_autofree struct tree_group *groups = g_new(struct tree_group,
						     in->n_groups);
	struct forest f;
	uint32_t i;

	forest_start(&f, in, groups, scratch);
	f.work = f.c->work + LITTLE_WORK;
	f.lost = g_array_new(FALSE, FALSE, sizeof(struct multicast_lost));
	/* Former trees first: new ones then see their load, and those that have
	 * to grow see that of the others. */
	for (i = 0; f.previous && i < in->n_groups; i++)
		group_lay(&f, &groups[i], TREE_KEPT, TREE_KEPT);
	for (i = 0; i < in->n_groups; i++)
		if (!groups[i].ups)
			group_lay(&f, &groups[i], TREE_CALM, TREE_BACKBONE);
	forest_relieve(&f, groups, in->n_groups);
	out->mft = tables_new(&f, groups, in->n_groups);
	out->lost = f.lost;
	out->load = g_memdup2(f.load, (in->g->n_edges + 1) * sizeof(*f.load));
	for (i = 0; i < in->n_groups; i++) {
		group_write(&f, &groups[i], out->mft);
		g_array_unref(groups[i].ups);
		g_free(groups[i].members);
	}
	forest_clear(&f);
}

void
multicast_output_clear(struct multicast_output *out)
{
	mft_free(out->mft);
	g_array_unref(out->lost);
	g_free(out->load);
}

struct channels *
multicast_reserve(const struct graph *g, const struct lft *lft,
		  const uint32_t *ranks, uint32_t *parent, uint32_t *root)
{
	struct channels *c = multicast_channels(g, lft, NULL, NULL);
	const struct multicast_input in = {
		.g = g, .ranks = ranks, .channels = c,
	};
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t sw, most = 0;
	struct forest f;

	*root = SNAPSHOT_NONE;
	if (!c)
		return NULL;
	forest_start(&f, &in, NULL, scratch);
	channels_free(c);
	for (sw = 0; sw < g->n_switches; sw++)
		if (f.n_wanted[sw] > most && f.roots[sw] != SNAPSHOT_NONE) {
			most = f.n_wanted[sw];
			*root = f.roots[sw];
		}
	for (sw = 0; sw < g->n_switches; sw++)
		parent[sw] = *root != SNAPSHOT_NONE &&
			g->island[sw] == g->island[*root] ? f.backbone[sw] :
			SNAPSHOT_NONE;
	c = g_steal_pointer(&f.c);
	forest_clear(&f);
	return c;
}

/* A packet comes by any cable whose other end has it in the mask. */
static bool
add_copies(struct channels *c, const struct mft *mft, uint16_t mlid,
	   uint32_t sw, uint32_t out)
{
	const struct graph *g = c->g;
	uint32_t e, in;

	for_each_edge(g, sw, e) {
		in = g->edges[e].back;
		if (e != out && mft_has(mft, g->edges[e].peer, mlid,
					g->edges[in].port) &&
		    !channels_add(c, in, out))
			return false;
	}
	return true;
}

uint32_t
multicast_cut(struct channels *c, struct mft *mft)
{
	const struct graph *g = c->g;
	uint32_t sw, e, i, n = 0;
	uint16_t *masks, bit;

	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e) {
			if (g->edges[e].port / 16 >= mft->n_positions)
				continue;
			masks = mft_block(mft, sw, g->edges[e].port / 16, 0);
			bit = (uint16_t)(1u << g->edges[e].port % 16);
			for (i = 0; i < mft->n_blocks * MFT_BLOCK; i++) {
				if (!(masks[i] & bit) ||
				    add_copies(c, mft, (uint16_t)(MLID_MIN + i),
					       sw, e))
					continue;
				n++;
				masks[i] &= (uint16_t)~bit;
			}
		}
	return n;
}
