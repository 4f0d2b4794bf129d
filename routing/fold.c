// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the twins of a graph and numbers what engines index by.
 *
 * Purpose. In an intact fat tree of three stages only the middle one has
 * switches without twins; 1,620 switches and 46,656 edges fold into 702 groups
 * and 2,592 bundles. Searches and decisions shrink as much. In a fabric
 * without symmetry every group is a switch, and nothing is lost.
 *
 * Flow. fold_new: fold_order_switches() (breadth first), fold_find_twins() (a
 * hash of the neighbours, compared in full), fold_number() (slots, hops,
 * cables), and for each group fold_order_hops() and fold_bundle_hops(). A
 * position is the n-th cable of a switch when cables are sorted by the slot
 * of the peer, then by port: the same for all members of a group, and
 * contiguous for a bundle.
 *
 * Why breadth first and not by GUID: the first leaf meets its second stage in
 * some order, this order carries over to the planes behind it, and from there
 * into all other pods. So the n-th way up means the same plane in each pod,
 * and who prefers low slots prefers the same plane everywhere.
 *
 * Held tables. Twins of today may have had different ways yesterday, when one
 * of them lacked a cable; to keep what each of them has they stay apart.
 * fold_agree() compares a newcomer with the first of a group, and where that
 * one is the destination itself, with the second: so any two agree.
 *
 * Why switches with parallel cables have no twins: which of the cables is
 * free is a matter of each single switch, so they must be free to decide.
 *
 * Source. Twins (vertices with the same open neighbourhood) are the simplest
 * case of modular decomposition (Habib, Paul 2010).
 */
#include "routing/fold.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY	UINT32_MAX

/* What twins are looked for in. */
struct nursery {
	const struct graph *g;
	const uint32_t *ranks;		/* or NULL */
	const struct lft *held;		/* or NULL */
	uint32_t *first, *second;	/* members by group, or NOBODY */
	uint32_t *next;			/* group with the same neighbours, or
					   NOBODY */
};

/* What makes a switch the twin of another. */
struct twin {
	const struct nursery *in;
	uint32_t sw, n_edges;
	const struct graph_edge *edges;
	guint hash;
};

static uint8_t
fold_ways(const uint32_t *ranks, uint32_t from, uint32_t to)
{
	if (!ranks)
		return FOLD_WAY_UP | FOLD_WAY_DOWN;
	return ranks[to] < ranks[from] ? FOLD_WAY_UP : FOLD_WAY_DOWN;
}

static guint
twin_hash(gconstpointer key)
{
	return ((const struct twin *)key)->hash;
}

static gboolean
twin_equal(gconstpointer a, gconstpointer b)
{
	const struct twin *x = a, *y = b;
	const uint32_t *ranks = x->in->ranks;
	uint32_t i, peer;

	if (x->hash != y->hash || x->n_edges != y->n_edges)
		return FALSE;
	for (i = 0; i < x->n_edges; i++) {
		peer = x->edges[i].peer;
		if (peer != y->edges[i].peer ||
		    fold_ways(ranks, x->sw, peer) !=
		    fold_ways(ranks, y->sw, peer))
			return FALSE;
		/* Parallel cables: twin of nobody. */
		if (i > 0 && peer == x->edges[i - 1].peer)
			return FALSE;
	}
	return TRUE;
}

static void
twin_init(struct twin *twin, const struct nursery *in, uint32_t sw)
{
	const struct graph *g = in->g;
	uint64_t hash = 0;
	uint32_t i, peer;

	twin->in = in;
	twin->sw = sw;
	twin->edges = &g->edges[g->first_edge[sw]];
	twin->n_edges = g->first_edge[sw + 1] - g->first_edge[sw];
	for (i = 0; i < twin->n_edges; i++) {
		peer = twin->edges[i].peer;
		hash = (hash ^ peer ^
			(uint64_t)fold_ways(in->ranks, sw, peer) << 32) *
			0x9e3779b97f4a7c15u;
	}
	twin->hash = (guint)(hash >> 32);
}

/* A row of the tables held, as far as it leads to switches. */
struct held_row {
	const uint8_t *ports;
	uint32_t peers[GRAPH_PORTS];	/* by port, or NOBODY */
};

static void
held_row_init(struct held_row *row, const struct nursery *in, uint32_t sw)
{
	const struct graph *g = in->g;
	uint32_t e;

	row->ports = lft_row(in->held, sw);
	memset(row->peers, 0xff, sizeof(row->peers));
	for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
		row->peers[g->edges[e].port] = g->edges[e].peer;
}

/* Do two switches send on to the same ones, for all LIDs of targets
 * from..to - 1? */
static bool
fold_rows_agree(const struct nursery *in, const struct held_row *a,
		const struct held_row *b, uint32_t from, uint32_t to)
{
	const struct graph_target *t = &in->g->targets[from];
	const struct graph_target *end = &in->g->targets[to];
	uint32_t lid, last;

	for (; t < end; t++) {
		last = MIN((uint32_t)t->lid + t->n_lids - 1u, in->held->top);
		for (lid = t->lid; lid <= last; lid++)
			if (a->peers[a->ports[lid]] != b->peers[b->ports[lid]])
				return false;
	}
	return true;
}

/* Does a switch agree with the members of a group, for all LIDs but its own
 * and theirs? */
static bool
fold_agree(const struct nursery *in, uint32_t group, uint32_t sw)
{
	const uint32_t *first_target = in->g->first_target;
	uint32_t model = in->first[group], second = in->second[group];
	uint32_t low = MIN(model, sw), high = MAX(model, sw);
	struct held_row mine, its;

	if (!in->held)
		return true;
	held_row_init(&mine, in, sw);
	held_row_init(&its, in, model);
	if (!fold_rows_agree(in, &mine, &its, 0, first_target[low]) ||
	    !fold_rows_agree(in, &mine, &its, first_target[low + 1],
			     first_target[high]) ||
	    !fold_rows_agree(in, &mine, &its, first_target[high + 1],
			     in->g->n_targets))
		return false;
	if (second == NOBODY)
		return true;
	held_row_init(&its, in, second);
	return fold_rows_agree(in, &mine, &its, first_target[model],
			       first_target[model + 1]);
}

/*
 * Breadth first from the first switch with hosts, then from the first that
 * is left, and so on. `order` lists the switches as they are met.
 */
static void
fold_walk(const struct graph *g, uint32_t *order, uint32_t n_hosts_min,
	  uint8_t *met, uint32_t *n_met)
{
	uint32_t start, i, e, peer;

	for (start = 0; start < g->n_switches; start++) {
		if (met[start] || g->n_hosts[start] < n_hosts_min)
			continue;
		met[start] = 1;
		i = *n_met;
		order[(*n_met)++] = start;
		for (; i < *n_met; i++) {
			for (e = g->first_edge[order[i]];
			     e < g->first_edge[order[i] + 1]; e++) {
				peer = g->edges[e].peer;
				if (met[peer])
					continue;
				met[peer] = 1;
				order[(*n_met)++] = peer;
			}
		}
	}
}

/* The order by which everything is numbered, see above: those with hosts
 * start first. */
static uint32_t *
fold_order_switches(const struct graph *g)
{
	g_autofree uint8_t *met = g_new0(uint8_t, g->n_switches);
	uint32_t *order = g_new(uint32_t, g->n_switches);
	uint32_t n_met = 0;

	fold_walk(g, order, 1, met, &n_met);
	fold_walk(g, order, 0, met, &n_met);
	return order;
}

static uint32_t
fold_add_group(struct fold *fold, const struct nursery *in, uint32_t sw)
{
	uint32_t group = fold->n_groups++;

	in->first[group] = sw;
	in->second[group] = in->next[group] = NOBODY;
	return group;
}

/* The group of a switch whose neighbours are those of `group`. */
static uint32_t
fold_join_group(struct fold *fold, const struct nursery *in, uint32_t group,
		uint32_t sw)
{
	while (!fold_agree(in, group, sw)) {
		if (in->next[group] == NOBODY) {
			in->next[group] = fold->n_groups;
			return fold_add_group(fold, in, sw);
		}
		group = in->next[group];
	}
	if (in->second[group] == NOBODY)
		in->second[group] = sw;
	return group;
}

/* Gives every switch its group; groups are numbered by their first switch. */
static void
fold_find_twins(struct fold *fold, const struct nursery *in,
		const uint32_t *order)
{
	uint32_t n = in->g->n_switches, i, sw;
	g_autofree struct twin *twins = g_new(struct twin, n);
	GHashTable *seen = g_hash_table_new(twin_hash, twin_equal);
	const struct twin *first;

	for (i = 0; i < n; i++) {
		sw = order[i];
		twin_init(&twins[sw], in, sw);
		first = g_hash_table_lookup(seen, &twins[sw]);
		if (first) {
			fold->group_of[sw] = fold_join_group(fold, in,
				fold->group_of[first->sw], sw);
			continue;
		}
		g_hash_table_add(seen, &twins[sw]);
		fold->group_of[sw] = fold_add_group(fold, in, sw);
	}
	g_hash_table_unref(seen);
}

/* Numbers slots, hops and cables. */
static void
fold_number(struct fold *fold, const struct graph *g, const uint32_t *order)
{
	struct group *group;
	uint32_t sw, i, slot = 0;

	fold->groups = g_new0(struct group, fold->n_groups);
	for (sw = 0; sw < g->n_switches; sw++) {
		group = &fold->groups[fold->group_of[sw]];
		group->n_slots++;
		group->n_hops = g->first_edge[sw + 1] - g->first_edge[sw];
		g_assert(group->n_hops <= FOLD_MAX_HOPS);
	}
	for (i = 0; i < fold->n_groups; i++) {
		group = &fold->groups[i];
		group->first_slot = slot;
		group->first_hop = fold->n_hops;
		group->first_cable = fold->n_cables;
		slot += group->n_slots;
		fold->n_hops += group->n_hops;
		fold->n_cables += group->n_hops * group->n_slots;
		group->n_slots = 0;	/* counted again below */
	}
	for (i = 0; i < g->n_switches; i++) {
		sw = order[i];
		group = &fold->groups[fold->group_of[sw]];
		slot = group->first_slot + group->n_slots++;
		fold->switches[slot] = sw;
		fold->slots[sw] = slot;
	}
}

/* An edge of a group's first member, to be sorted. */
struct hop_order {
	uint32_t slot;		/* at the other end: group by group */
	uint32_t index;		/* among the edges: by port if parallel */
};

static int
hop_order_compare(const void *a, const void *b)
{
	const struct hop_order *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* The edges of twins lead to the same switches in the same order, so the
 * order that is found for the first member holds for all. */
static void
fold_order_hops(struct fold *fold, const struct graph *g, struct group *group)
{
	struct hop_order order[FOLD_MAX_HOPS];
	const struct graph_edge *edges;
	uint8_t *ports = &fold->ports[group->first_cable];
	uint32_t i, p;

	edges = &g->edges[g->first_edge[fold->switches[group->first_slot]]];
	for (p = 0; p < group->n_hops; p++) {
		order[p].slot = fold->slots[edges[p].peer];
		order[p].index = p;
	}
	qsort(order, group->n_hops, sizeof(order[0]), hop_order_compare);
	for (p = 0; p < group->n_hops; p++)
		fold->peers[group->first_hop + p] = order[p].slot;
	for (i = 0; i < group->n_slots; i++) {
		edges = &g->edges[g->first_edge[
			fold->switches[group->first_slot + i]]];
		for (p = 0; p < group->n_hops; p++)
			*ports++ = edges[order[p].index].port;
	}
}

/* Twins of a neighbour are neighbours, so a bundle covers its peer group. */
static void
fold_bundle_hops(struct fold *fold, struct group *group,
		 const uint32_t *ranks)
{
	const uint32_t *peers = &fold->peers[group->first_hop];
	struct bundle *bundle;
	uint32_t p, width, peer;

	group->first_bundle = fold->n_bundles;
	for (p = 0; p < group->n_hops;
	     p += width * fold->groups[peer].n_slots) {
		peer = fold->group_of[fold->switches[peers[p]]];
		for (width = 1; p + width < group->n_hops; width++)
			if (peers[p + width] != peers[p])
				break;
		bundle = &fold->bundles[fold->n_bundles++];
		bundle->peer = peer;
		bundle->first = (uint8_t)p;
		bundle->width = (uint8_t)width;
		bundle->ways = fold_ways(ranks,
			fold->switches[group->first_slot],
			fold->switches[peers[p]]);
	}
	group->n_bundles = fold->n_bundles - group->first_bundle;
}

struct fold *
fold_new(const struct graph *g, const uint32_t *ranks, const struct lft *held)
{
	g_autofree uint32_t *order = fold_order_switches(g);
	g_autofree uint32_t *members = g_new(uint32_t, 3u * g->n_switches);
	struct fold *fold = g_new0(struct fold, 1);
	const struct nursery in = {
		.g = g, .ranks = ranks, .held = held, .first = members,
		.second = members + g->n_switches,
		.next = members + 2u * g->n_switches,
	};
	uint32_t i;

	fold->n_slots = g->n_switches;
	fold->group_of = g_new(uint32_t, g->n_switches);
	fold->switches = g_new(uint32_t, g->n_switches);
	fold->slots = g_new(uint32_t, g->n_switches);
	fold_find_twins(fold, &in, order);
	fold_number(fold, g, order);

	fold->peers = g_new(uint32_t, fold->n_hops);
	fold->bundles = g_new(struct bundle, fold->n_hops);
	fold->ports = g_new(uint8_t, fold->n_cables);
	for (i = 0; i < fold->n_groups; i++) {
		fold_order_hops(fold, g, &fold->groups[i]);
		fold_bundle_hops(fold, &fold->groups[i], ranks);
	}
	return fold;
}

void
fold_free(struct fold *fold)
{
	g_free(fold->groups);
	g_free(fold->bundles);
	g_free(fold->group_of);
	g_free(fold->switches);
	g_free(fold->slots);
	g_free(fold->peers);
	g_free(fold->ports);
	g_free(fold);
}
