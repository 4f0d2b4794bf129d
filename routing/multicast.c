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
 * end new trees move off the busiest channel, one after the other, until each that
 * is on it has no other way with fewer trees.
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

struct tree_group {
	uint16_t mlid;
	struct multicast_member *members;	/* sorted, no port twice */
	uint32_t n_members;
	bool held;		/* it has a former tree */
	bool is_laid;		/* it has a new one, */
	bool stays;		/* which does not move: it had a former one, or
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
	uint32_t peak;		/* the busiest channel of the paths */
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
	uint32_t *uses;		/* by switch: trees that use it */
	uint32_t n_load, n_used;	/* sum of load; edges with any load */
	/* The present tree. */
	uint32_t mlid;		/* 0xc000 for the backbone */
	uint32_t home;		/* the island with the most of its switches */
	uint32_t *n_wanted;	/* by island: switches with members */
	uint8_t *is_wanted;	/* by switch: has members, in this island */
	uint32_t n_missing;	/* switches of members that are not in the
				   tree */
	uint8_t *is_in;		/* by switch */
	uint32_t *parent;	/* by switch: edge; SNAPSHOT_NONE: the root */
	uint32_t *children;	/* by switch: their number */
	uint32_t *receivers;	/* by switch: receivers at it and behind it */
	uint32_t limit;		/* channels with so many trees are avoided */
	uint32_t ceiling;	/* of limit */
	GArray *tree;		/* switches, the root first */
	GArray *turns;		/* struct turn: added for this tree */
	GArray *front, *next;	/* struct offer */
	struct climb *climbs;	/* by switch */
	GArray *queue;
	uint32_t *hops, *peak;	/* by switch: up from a member; UINT32_MAX:
				   not reached */
	struct mft *mft;
	GArray *lost;
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
	f->children[sw] = 0;
	f->n_missing -= f->is_wanted[sw];
	g_array_append_val(f->tree, sw);
	if (parent != SNAPSHOT_NONE)
		f->children[f->g->edges[parent].peer]++;
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

/* Grows breadth first from the whole tree. */
static void
tree_spread(struct forest *f)
{
	GArray *swap;
	uint32_t i, e;

	g_array_set_size(f->front, 0);
	for (i = 0; i < f->tree->len; i++)
		tree_offer(f, ITEM(f->tree, i), f->front);
	while (f->front->len && f->n_missing) {
		qsort(f->front->data, f->front->len, sizeof(struct offer),
		      compare_offers);
		g_array_set_size(f->next, 0);
		for (i = 0; i < f->front->len && f->n_missing; i++) {
			e = g_array_index(f->front, struct offer, i).edge;
			if (tree_join(f, e, false))
				tree_offer(f, f->g->edges[e].peer, f->next);
		}
		swap = f->front;
		f->front = f->next;
		f->next = swap;
	}
}

/* One cable joins, with any turn. */
static bool
tree_turn(struct forest *f)
{
	uint32_t i;

	g_array_set_size(f->front, 0);
	for (i = 0; i < f->tree->len && f->c->work < f->work; i++)
		tree_offer(f, ITEM(f->tree, i), f->front);
	g_array_sort(f->front, compare_offers);
	for (i = 0; i < f->front->len && f->c->work < f->work; i++)
		if (tree_join(f, g_array_index(f->front, struct offer, i).edge,
			      true))
			return true;
	return false;
}

/* Cuts off branches without a member, and removes turns that are no longer
 * made. */
static void
tree_prune(struct forest *f)
{
	uint32_t sw, i, n = 0;
	struct turn turn;

	for (i = f->tree->len; i-- > 0;) {
		sw = ITEM(f->tree, i);
		if (f->is_wanted[sw] || f->children[sw] ||
		    f->parent[sw] == SNAPSHOT_NONE)
			continue;
		f->is_in[sw] = 0;
		f->children[f->g->edges[f->parent[sw]].peer]--;
		f->parent[sw] = SNAPSHOT_NONE;
	}
	for (i = 0; i < f->tree->len; i++) {
		sw = ITEM(f->tree, i);
		if (!f->is_in[sw])
			continue;
		/* A root that has one child and no member is not needed. */
		if (n == 1 && f->children[ITEM(f->tree, 0)] == 1 &&
		    !f->is_wanted[ITEM(f->tree, 0)]) {
			f->is_in[ITEM(f->tree, 0)] = 0;
			f->parent[sw] = SNAPSHOT_NONE;
			n = 0;
		}
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

static void
tree_write(struct forest *f, const struct tree_group *group)
{
	const struct multicast_member *m;
	const struct graph_edge *up;
	struct multicast_lost lost;
	uint32_t i, sw, all = 0;

	for (i = 0; i < f->tree->len; i++)
		f->receivers[ITEM(f->tree, i)] = 0;
	for (i = 0; i < group->n_members; i++) {
		m = &group->members[i];
		if (!f->is_in[m->sw]) {
			lost = (struct multicast_lost){
				group->mlid, m->sw, m->port,
				f->tree->len && tree_fits(f, m->sw) &&
				f->g->island[m->sw] == f->home,
			};
			g_array_append_val(f->lost, lost);
		} else if (m->receives) {
			mft_add(f->mft, m->sw, group->mlid, m->port);
			f->receivers[m->sw]++;
			all++;
		}
	}
	for (i = f->tree->len; all && i-- > 0;) {
		sw = ITEM(f->tree, i);
		f->uses[sw]++;
		if (f->parent[sw] == SNAPSHOT_NONE)
			continue;
		up = &f->g->edges[f->parent[sw]];
		if (f->receivers[sw] < all)
			mft_add(f->mft, sw, group->mlid, up->port);
		if (f->receivers[sw])
			mft_add(f->mft, up->peer, group->mlid,
				f->g->edges[up->back].port);
		f->receivers[up->peer] += f->receivers[sw];
		f->n_used += f->load[f->parent[sw]] == 0;
		f->n_load++;
		f->load[f->parent[sw]]++;
		f->load[up->back]++;
	}
}

/* ---- where a tree starts ---- */

/* Is the cable in these tables of the present group? */
static bool
cable_is_in(const struct forest *f, const struct mft *mft, uint32_t e)
{
	const struct graph_edge *edge = &f->g->edges[e];

	return mft_has(mft, f->g->edges[edge->back].peer, (uint16_t)f->mlid,
		       edge->port) ||
		mft_has(mft, edge->peer, (uint16_t)f->mlid,
			f->g->edges[edge->back].port);
}

/* Adds the cost for the members at `from` to go up to each switch: by the
 * shortest path, and of several by that whose busiest channel has the fewest
 * trees. */
static void
climb_from(struct forest *f, uint32_t from)
{
	const struct graph *g = f->g;
	uint32_t i, e, sw, peer, peak;

	g_array_set_size(f->queue, 0);
	g_array_append_val(f->queue, from);
	f->hops[from] = f->peak[from] = 0;
	for (i = 0; i < f->queue->len; i++) {
		sw = ITEM(f->queue, i);
		for_each_edge(g, sw, e) {
			peer = g->edges[e].peer;
			if (f->ranks[peer] >= f->ranks[sw] ||
			    !tree_fits(f, peer))
				continue;
			peak = MAX(f->peak[sw], f->load[e]);
			if (f->hops[peer] == UINT32_MAX) {
				f->hops[peer] = f->hops[sw] + 1;
				f->peak[peer] = peak;
				g_array_append_val(f->queue, peer);
			} else if (f->hops[peer] == f->hops[sw] + 1) {
				f->peak[peer] = MIN(f->peak[peer], peak);
			}
		}
	}
	for (i = 0; i < f->queue->len; i++) {
		sw = ITEM(f->queue, i);
		f->climbs[sw].n++;
		f->climbs[sw].peak = MAX(f->climbs[sw].peak, f->peak[sw]);
		f->hops[sw] = UINT32_MAX;
	}
}

/* Is `a` a better root than `b`? */
static bool
climb_is_better(const struct forest *f, uint32_t a, uint32_t b)
{
	const struct climb *x = &f->climbs[a], *y = &f->climbs[b];
	uint32_t level_a = f->ranks[a] >> 16, level_b = f->ranks[b] >> 16;

	if (x->n != y->n)
		return x->n > y->n;
	if (level_a != level_b)
		return level_a > level_b;
	if (x->peak != y->peak)
		return x->peak < y->peak;
	return f->uses[a] < f->uses[b];
}

/* The switch above all members, or most of them, from which the tree is low and
 * the busiest channel has the fewest trees. */
static uint32_t
group_find_root(struct forest *f, const struct tree_group *group)
{
	uint32_t i, sw, last = SNAPSHOT_NONE, best = SNAPSHOT_NONE;

	memset(f->climbs, 0, f->g->n_switches * sizeof(*f->climbs));
	for (i = 0; i < group->n_members; i++) {
		sw = group->members[i].sw;
		if (sw == last || !f->is_wanted[sw])
			continue;
		climb_from(f, sw);
		last = sw;
	}
	for (sw = 0; sw < f->g->n_switches; sw++)
		if (f->climbs[sw].n && (best == SNAPSHOT_NONE ||
					climb_is_better(f, sw, best)))
			best = sw;
	return best;
}

static bool
kind_is_held(enum tree_kind kind)
{
	return kind == TREE_KEPT || kind == TREE_CALM || kind == TREE_HELD;
}

/* Does the tree start with this cable? */
static bool
tree_has(const struct forest *f, enum tree_kind kind, uint32_t e)
{
	uint32_t back = f->g->edges[e].back;

	return kind_is_held(kind) ? cable_is_in(f, f->previous, e) :
		kind == TREE_BACKBONE &&
		(f->backbone[f->g->edges[back].peer] == e ||
		 f->backbone[f->g->edges[e].peer] == back);
}

/* The switch at which it starts; SNAPSHOT_NONE: there is no such tree. */
static uint32_t
tree_find_start(struct forest *f, const struct tree_group *group,
		enum tree_kind kind)
{
	uint32_t i, e, sw;

	if (kind == TREE_TOP)
		return group_find_root(f, group);
	for (i = 0; i < group->n_members; i++) {
		sw = group->members[i].sw;
		if (f->is_wanted[sw] && !kind_is_held(kind))
			return sw;
		for_each_edge(f->g, sw, e)
			if (f->is_wanted[sw] && cable_is_in(f, f->previous, e))
				return sw;
	}
	return SNAPSHOT_NONE;
}

/* From a switch, over channels with less than f->limit trees. False: it misses
 * members. */
static bool
tree_grow(struct forest *f, uint32_t start, enum tree_kind kind)
{
	uint32_t i, e, sw, n;

	tree_forget(f, true);
	tree_take(f, start, SNAPSHOT_NONE);
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

/* A load that no channel has to exceed. */
static uint32_t
tree_usual(const struct forest *f)
{
	return f->n_used ? 1 + 3 * f->n_load / (2 * f->n_used) : 1;
}

/* False: it misses members. */
static bool
tree_lay(struct forest *f, struct tree_group *group, enum tree_kind kind)
{
	uint32_t start, usual = tree_usual(f);

	if (!f->previous && kind_is_held(kind))
		return false;
	f->limit = f->ceiling;
	start = tree_find_start(f, group, kind);
	if (start == SNAPSHOT_NONE)
		return false;
	group->held |= kind_is_held(kind);
	if (kind == TREE_KEPT)
		f->limit = 0;
	if (kind == TREE_TOP && f->ceiling == UINT32_MAX)
		f->limit = MAX(f->climbs[start].peak + 1, usual);
	if (kind == TREE_CALM || (kind == TREE_TOP && group->held))
		f->limit = MIN(f->limit, 2 * usual);
	return tree_grow(f, start, kind);
}

/* Takes the tree of the present group out of the new tables. */
static void
group_erase(struct forest *f)
{
	uint32_t sw, p;

	for (sw = 0; sw < f->g->n_switches; sw++)
		for (p = 0; p < f->mft->n_positions; p++)
			mft_block(f->mft, sw, p, 0)[f->mlid - MLID_MIN] = 0;
}

/* Lays the tree of a group, by the first of these kinds that reaches all members;
 * if none does, as far as the backbone does. False: there is no new one. */
static bool
group_lay(struct forest *f, struct tree_group *group, enum tree_kind kind,
	  enum tree_kind last)
{
	uint32_t i, sw, n_lost = f->lost->len;

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
	for (sw = 0; sw < f->g->n_switches; sw++)
		f->is_wanted[sw] &= f->g->island[sw] == f->home;
	f->n_missing = f->home == SNAPSHOT_NONE ? 0 : f->n_wanted[f->home];
	while (f->n_missing && !tree_lay(f, group, kind) && kind < last)
		kind++;
	if (f->n_missing && last != TREE_BACKBONE) {
		tree_forget(f, true);
		return false;
	}
	if (group->is_laid)
		group_erase(f);
	tree_prune(f);
	tree_write(f, group);
	tree_forget(f, false);
	group->is_laid = true;
	group->stays = group->held || f->lost->len > n_lost;
	return true;
}

/* ---- busy channels ---- */

/* Lays another tree for the present group, over channels with less than
 * f->ceiling trees. False: there is none. */
static bool
group_move(struct forest *f, struct tree_group *group, GArray *channels)
{
	uint32_t e;
	guint i;

	g_array_set_size(channels, 0);
	for (e = 0; e < f->g->n_edges; e++) {
		if (!f->load[e] || !cable_is_in(f, f->mft, e))
			continue;
		f->load[e]--;
		g_array_append_val(channels, e);
	}
	if (group_lay(f, group, TREE_TOP, TREE_MEMBER))
		return true;
	for (i = 0; i < channels->len; i++)
		f->load[ITEM(channels, i)]++;
	return false;
}

/* Moves new trees off the busiest channel, as long as that makes none as busy. */
static void
forest_relieve(struct forest *f, struct tree_group *groups, uint32_t n)
{
	g_autoptr(GArray) channels = g_array_new(FALSE, FALSE,
						 sizeof(uint32_t));
	uint32_t e, i, busiest, usual = tree_usual(f);
	uint64_t end = f->c->work + SOME_WORK;
	bool moved;

	do {
		for (busiest = e = 0; e < f->g->n_edges; e++)
			if (f->load[e] > f->load[busiest])
				busiest = e;
		moved = false;
		for (i = 0; i < n && !moved && f->load[busiest] > usual; i++) {
			f->mlid = groups[i].mlid;
			if (groups[i].stays || f->c->work > end ||
			    !cable_is_in(f, f->mft, busiest))
				continue;
			f->ceiling = f->load[busiest] - 1;
			moved = group_move(f, &groups[i], channels);
			end -= MIN(end, LOOKS * f->g->n_edges);
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
	struct offer offer;
	uint32_t e;
	guint i;

	g_array_set_size(f->front, 0);
	for_each_edge(f->g, sw, e) {
		offer.cost = f->ranks[f->g->edges[e].peer];
		offer.edge = f->g->edges[e].back;
		if (f->is_in[f->g->edges[e].peer])
			g_array_append_val(f->front, offer);
	}
	g_array_sort(f->front, compare_offers);
	for (i = 0; i < f->front->len; i++)
		if (tree_join(f, g_array_index(f->front, struct offer, i).edge,
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
	    uint32_t n_mlids, GPtrArray *scratch)
{
	const struct graph *g = in->g;
	const struct snapshot_node *node;
	uint32_t n_positions = 1, n_blocks, n = g->n_switches;

	*f = (struct forest){ .g = g, .ranks = in->ranks,
			      .ceiling = UINT32_MAX };
	if (in->previous && in->previous->n_switches == g->n_switches)
		f->previous = in->previous;
	f->cap = SCRATCH(scratch, uint32_t, n);
	f->uses = SCRATCH(scratch, uint32_t, n);
	f->is_wanted = SCRATCH(scratch, uint8_t, n);
	f->n_wanted = SCRATCH(scratch, uint32_t, n);
	f->backbone = SCRATCH(scratch, uint32_t, n);
	f->roots = SCRATCH(scratch, uint32_t, n);
	f->is_in = SCRATCH(scratch, uint8_t, n);
	f->parent = SCRATCH(scratch, uint32_t, n);
	memset(f->parent, 0xff, n * sizeof(*f->parent));
	f->children = SCRATCH(scratch, uint32_t, n);
	f->receivers = SCRATCH(scratch, uint32_t, n);
	f->climbs = SCRATCH(scratch, struct climb, n);
	f->peak = SCRATCH(scratch, uint32_t, n);
	f->hops = SCRATCH(scratch, uint32_t, n);
	memset(f->hops, 0xff, n * sizeof(*f->hops));
	f->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->load = g_new0(uint32_t, g->n_edges + 1);
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		node = &g->subnet->nodes[g->subnet->switches[sw]];
		f->cap[sw] = node->sw.multicast_fdb_cap;
		n_positions = MAX(n_positions,
				  mft_positions(node->info.num_ports));
	}
	f->tree = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->turns = g_array_new(FALSE, FALSE, sizeof(struct turn));
	f->front = g_array_new(FALSE, FALSE, sizeof(struct offer));
	f->next = g_array_new(FALSE, FALSE, sizeof(struct offer));
	n_blocks = (n_mlids + MFT_BLOCK - 1) / MFT_BLOCK;
	if (f->previous) {
		n_positions = MAX(n_positions, f->previous->n_positions);
		n_blocks = MAX(n_blocks, f->previous->n_blocks);
	}
	f->mft = mft_new(g->n_switches, n_positions, n_blocks);
	f->lost = g_array_new(FALSE, FALSE, sizeof(struct multicast_lost));
}

/* The caller owns what was taken out of it. */
static void
forest_clear(struct forest *f)
{
	g_array_unref(f->queue);
	g_array_unref(f->tree);
	g_array_unref(f->turns);
	g_array_unref(f->front);
	g_array_unref(f->next);
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
	uint32_t n_mlids = 0, i;

	for (i = 0; i < in->n_groups; i++) {
		g_assert(in->groups[i].mlid >= MLID_MIN);
		n_mlids = MAX(n_mlids, in->groups[i].mlid - MLID_MIN + 1);
		group_init(&groups[i], &in->groups[i]);
	}
	if (in->n_groups)
		qsort(groups, in->n_groups, sizeof(*groups), compare_groups);
	forest_init(f, in, n_mlids, scratch);
	if (!f->ranks) {
		f->ranks = multicast_ranks(in->g);
		g_ptr_array_add(scratch, (void *)f->ranks);
	}
	f->c = in->channels ? channels_copy(in->channels) :
		multicast_channels(in->g, NULL, NULL, f->ranks);
	backbone_make(f, groups, in->n_groups);
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
	/* Former trees first: new ones then see their load, and those that have
	 * to grow see that of the others. */
	for (i = 0; f.previous && i < in->n_groups; i++)
		group_lay(&f, &groups[i], TREE_KEPT, TREE_KEPT);
	for (i = 0; i < in->n_groups; i++)
		if (!groups[i].is_laid)
			group_lay(&f, &groups[i], TREE_CALM, TREE_BACKBONE);
	forest_relieve(&f, groups, in->n_groups);
	out->mft = f.mft;
	out->lost = f.lost;
	out->load = f.load;
	for (i = 0; i < in->n_groups; i++)
		g_free(groups[i].members);
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
	multicast_output_clear(&(struct multicast_output){ f.mft, f.lost,
							   f.load });
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
