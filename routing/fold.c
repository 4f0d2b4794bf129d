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
 * Why switches with parallel cables have no twins: which of the cables is
 * free is a matter of each single switch, so they must be free to decide.
 *
 * Source. Twins (vertices with the same open neighbourhood) are the simplest
 * case of modular decomposition (Habib, Paul 2010).
 */
#include "routing/fold.h"

#include <stdlib.h>

/* What makes a switch the twin of another. */
struct twin {
	uint32_t sw, n_edges;
	const struct graph_edge *edges;
	guint hash;
};

static guint
twin_hash(gconstpointer key)
{
	return ((const struct twin *)key)->hash;
}

static gboolean
twin_equal(gconstpointer a, gconstpointer b)
{
	const struct twin *x = a, *y = b;
	uint32_t i;

	if (x->hash != y->hash || x->n_edges != y->n_edges)
		return FALSE;
	for (i = 0; i < x->n_edges; i++) {
		if (x->edges[i].peer != y->edges[i].peer)
			return FALSE;
		/* Parallel cables: twin of nobody. */
		if (i > 0 && x->edges[i].peer == x->edges[i - 1].peer)
			return FALSE;
	}
	return TRUE;
}

static void
twin_init(struct twin *twin, const struct graph *g, uint32_t sw)
{
	uint64_t hash = 0;
	uint32_t i;

	twin->sw = sw;
	twin->edges = &g->edges[g->first_edge[sw]];
	twin->n_edges = g->first_edge[sw + 1] - g->first_edge[sw];
	for (i = 0; i < twin->n_edges; i++)
		hash = (hash ^ twin->edges[i].peer) * 0x9e3779b97f4a7c15u;
	twin->hash = (guint)(hash >> 32);
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

/* Gives every switch its group; groups are numbered by their first switch. */
static void
fold_find_twins(struct fold *fold, const struct graph *g,
		const uint32_t *order)
{
	g_autofree struct twin *twins = g_new(struct twin, g->n_switches);
	GHashTable *seen = g_hash_table_new(twin_hash, twin_equal);
	const struct twin *first;
	uint32_t i, sw;

	for (i = 0; i < g->n_switches; i++) {
		sw = order[i];
		twin_init(&twins[sw], g, sw);
		first = g_hash_table_lookup(seen, &twins[sw]);
		if (first) {
			fold->group_of[sw] = fold->group_of[first->sw];
			continue;
		}
		g_hash_table_add(seen, &twins[sw]);
		fold->group_of[sw] = fold->n_groups++;
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
fold_bundle_hops(struct fold *fold, struct group *group)
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
	}
	group->n_bundles = fold->n_bundles - group->first_bundle;
}

struct fold *
fold_new(const struct graph *g)
{
	g_autofree uint32_t *order = fold_order_switches(g);
	struct fold *fold = g_new0(struct fold, 1);
	uint32_t i;

	fold->n_slots = g->n_switches;
	fold->group_of = g_new(uint32_t, g->n_switches);
	fold->switches = g_new(uint32_t, g->n_switches);
	fold->slots = g_new(uint32_t, g->n_switches);
	fold_find_twins(fold, g, order);
	fold_number(fold, g, order);

	fold->peers = g_new(uint32_t, fold->n_hops);
	fold->bundles = g_new(struct bundle, fold->n_hops);
	fold->ports = g_new(uint8_t, fold->n_cables);
	for (i = 0; i < fold->n_groups; i++) {
		fold_order_hops(fold, g, &fold->groups[i]);
		fold_bundle_hops(fold, &fold->groups[i]);
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
