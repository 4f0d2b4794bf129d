// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A tree over the switches for each multicast group.
 *
 * Purpose. Members of a group hang on some switches; those are to be joined by
 * a tree that is small, shares cables evenly with the trees of other groups,
 * cannot deadlock together with unicast, and stays as it is while its members
 * come and go.
 *
 * Structs. A `forest` is the state of one computation: the load of each cable
 * and switch so far, and work space by switch. A `group` is one group's
 * members, sorted, and the switches that they hang on.
 *
 * What a tree is. Its switches hang on one root, and each cable in it leads up
 * to the parent. So the root must be a common ancestor of all members in the
 * order that unicast obeys; the nearest ones are candidates (multicast_rise.c).
 * In a fat tree a group within a pod stays there. If nobody is above all (the
 * fabric is damaged, or in pieces, or two switches at the top are members
 * themselves), those above the most are candidates and the others are lost: a
 * tree with a turn from down to up could deadlock.
 *
 * Flow of multicast_route():
 *	1. groups whose tree of before has a root that still reaches all
 *	   members are laid again under this root (group_keep)
 *	2. the others, by MLID: the candidate whose cables down are the least
 *	   used becomes the root (group_search)
 *	3. each tree is laid from the root: distances down from it, then, from
 *	   the farthest switches up, a parent for each: the one of before, else
 *	   one that is in the tree, else by load (tree_lay)
 *	4. masks: a port leads down only to receivers, and up only if there are
 *	   receivers elsewhere. Where only senders are below, the parent's mask
 *	   has no port for them; a switch takes a packet in by any port. So
 *	   nothing is sent where nobody listens (tree_write).
 * Groups of before come first, so that new ones see their load.
 *
 * Ties end with the lower edge or switch, so the order of the input does not
 * matter. Switches that cannot hold the MLID are in no tree.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/multicast_forest.h"
#include "routing/order.h"

/* --- members --- */

static int
compare_members(const void *a, const void *b)
{
	const struct multicast_member *x = a;
	const struct multicast_member *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (int)x->port - (int)y->port;
}

static void
group_init(struct group *group, const struct multicast_group *in)
{
	uint32_t n = 0;

	group->mlid = in->mlid;
	group->kept = false;
	group->members = g_memdup2(in->members, in->n_members *
				   sizeof(*in->members));
	group->switches = g_new(uint32_t, in->n_members);
	group->n_switches = 0;
	if (in->n_members)
		qsort(group->members, in->n_members, sizeof(*group->members),
		      compare_members);
	for (uint32_t i = 0; i < in->n_members; i++) {
		const struct multicast_member *m = &group->members[i];

		if (n && compare_members(&group->members[n - 1], m) == 0) {
			group->members[n - 1].receives |= m->receives;
			continue;
		}
		if (!n || group->members[n - 1].sw != m->sw)
			group->switches[group->n_switches++] = m->sw;
		group->members[n++] = *m;
	}
	group->n_members = n;
}

static void
group_clear(struct group *group)
{
	g_free(group->members);
	g_free(group->switches);
}

static int
compare_groups(const void *a, const void *b)
{
	const struct group *x = a;
	const struct group *y = b;

	return (int)x->mlid - (int)y->mlid;
}

/* --- laying a tree --- */

/* Distances down from the root, only over switches that have members below
 * (`r`), or over all (NULL). Returns how many of the members' switches are
 * there. */
static uint32_t
tree_measure(struct forest *f, const struct group *group, uint32_t root,
	     const struct rise *r)
{
	const struct graph *g = f->g;
	uint32_t n = 0;

	g_array_set_size(f->below, 0);
	g_array_append_val(f->below, root);
	f->nodes[root].hop = 0;
	for (guint i = 0; i < f->below->len; i++) {
		uint32_t sw = ITEM(f->below, i);

		for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1];
		     e++) {
			uint32_t peer = g->edges[e].peer;

			if (f->nodes[peer].hop != FAR ||
			    !leads_down(f, sw, e) ||
			    !can_hold(f, peer, group->mlid))
				continue;
			if (r && !rise_reached(r, peer))
				continue;
			f->nodes[peer].hop = f->nodes[sw].hop + 1;
			g_array_append_val(f->below, peer);
		}
	}
	for (uint32_t i = 0; i < group->n_switches; i++)
		n += f->nodes[group->switches[i]].hop != FAR;
	return n;
}

static void
tree_forget(struct forest *f)
{
	for (guint i = 0; i < f->below->len; i++) {
		struct node *node = &f->nodes[ITEM(f->below, i)];

		node->hop = FAR;
		node->parent = SUBNET_NONE;
		node->receivers = 0;
		node->in_tree = false;
	}
	g_array_set_size(f->below, 0);
	g_array_set_size(f->tree, 0);
}

/* Is edge a a better way to a parent than b? */
static bool
parent_is_better(const struct forest *f, uint32_t held, uint32_t a, uint32_t b)
{
	uint32_t x = f->g->edges[a].peer;
	uint32_t y = f->g->edges[b].peer;
	uint64_t load_a, load_b;

	if ((a == held) != (b == held))
		return a == held;
	if (f->nodes[x].in_tree != f->nodes[y].in_tree)
		return f->nodes[x].in_tree;
	load_a = (uint64_t)f->load[a] + f->uses[x];
	load_b = (uint64_t)f->load[b] + f->uses[y];
	if (load_a != load_b)
		return load_a < load_b;
	return a < b;
}

static void
tree_choose_parent(struct forest *f, uint32_t sw)
{
	const struct graph *g = f->g;
	struct node *node = &f->nodes[sw];

	for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
		uint32_t hop = f->nodes[g->edges[e].peer].hop;

		if (hop == FAR || hop + 1 != node->hop || !leads_up(f, sw, e))
			continue;
		if (node->parent == SUBNET_NONE ||
		    parent_is_better(f, node->held, e, node->parent))
			node->parent = e;
	}
}

/* f->below is in the order of hops, so backwards every switch comes after all
 * that may hang on it. */
static void
tree_lay(struct forest *f, const struct group *group)
{
	for (uint32_t i = 0; i < group->n_switches; i++)
		f->nodes[group->switches[i]].in_tree =
			f->nodes[group->switches[i]].hop != FAR;
	for (guint i = f->below->len; i-- > 0;) {
		uint32_t sw = ITEM(f->below, i);
		struct node *node = &f->nodes[sw];

		if (!node->in_tree)
			continue;
		g_array_append_val(f->tree, sw);
		if (node->hop == 0)
			continue;
		tree_choose_parent(f, sw);
		f->nodes[f->g->edges[node->parent].peer].in_tree = true;
	}
}

static void
tree_count_receivers(struct forest *f, const struct group *group)
{
	for (uint32_t i = 0; i < group->n_members; i++) {
		const struct multicast_member *m = &group->members[i];

		if (f->nodes[m->sw].in_tree && m->receives)
			f->nodes[m->sw].receivers++;
	}
	for (guint i = 0; i < f->tree->len; i++) {
		const struct node *node = &f->nodes[ITEM(f->tree, i)];

		if (node->parent != SUBNET_NONE)
			f->nodes[f->g->edges[node->parent].peer].receivers +=
				node->receivers;
	}
}

/* A root with one child and no member of its own carries nothing: what comes
 * up to it could only go down again the same way. Its child is the root then.
 * f->tree is sorted by hops, farthest first, hence the child is next. */
static void
tree_trim(struct forest *f, const struct group *group)
{
	g_autoptr(GHashTable) own = g_hash_table_new(NULL, NULL);

	for (uint32_t i = 0; i < group->n_switches; i++)
		g_hash_table_add(own, GUINT_TO_POINTER(group->switches[i]));
	while (f->tree->len > 1) {
		uint32_t root = ITEM(f->tree, f->tree->len - 1);
		uint32_t child = ITEM(f->tree, f->tree->len - 2);

		if (g_hash_table_contains(own, GUINT_TO_POINTER(root)))
			return;
		if (f->tree->len > 2 &&
		    f->nodes[ITEM(f->tree, f->tree->len - 3)].hop ==
		    f->nodes[child].hop)
			return;
		f->nodes[child].parent = SUBNET_NONE;
		f->nodes[root].in_tree = false;
		g_array_set_size(f->tree, f->tree->len - 1);
	}
}

static void
tree_write_cables(struct forest *f, const struct group *group)
{
	const struct graph *g = f->g;
	uint32_t all = f->nodes[ITEM(f->tree, f->tree->len - 1)].receivers;

	for (guint i = 0; i < f->tree->len; i++) {
		uint32_t sw = ITEM(f->tree, i);
		const struct node *node = &f->nodes[sw];
		const struct graph_edge *up;

		if (node->parent == SUBNET_NONE || !all)
			continue;
		up = &g->edges[node->parent];
		if (node->receivers < all)
			mft_add(f->mft, sw, group->mlid, up->port);
		if (node->receivers > 0)
			mft_add(f->mft, up->peer, group->mlid,
				g->edges[up->back].port);
		f->load[node->parent]++;
		f->load[up->back]++;
		f->uses[sw]++;
	}
	f->uses[ITEM(f->tree, f->tree->len - 1)]++;
}

static void
tree_write(struct forest *f, const struct group *group)
{
	tree_count_receivers(f, group);
	if (f->tree->len)
		tree_write_cables(f, group);
	for (uint32_t i = 0; i < group->n_members; i++) {
		const struct multicast_member *m = &group->members[i];

		if (f->nodes[m->sw].in_tree) {
			if (m->receives)
				mft_add(f->mft, m->sw, group->mlid, m->port);
		} else {
			struct multicast_lost lost = {
				.mlid = group->mlid,
				.sw = m->sw,
				.port = m->port,
			};

			g_array_append_val(f->lost, lost);
		}
	}
}

/* --- the trees of before --- */

/* A cable of a tree of before: the way up of switch `sw`. */
struct held {
	uint32_t sw, edge;
};

static void
held_add(const struct forest *f, GArray *held, uint32_t sw, uint32_t edge)
{
	const struct graph_edge *e = &f->g->edges[edge];
	struct held up = { .sw = sw, .edge = edge };

	if (leads_down(f, sw, edge))
		up = (struct held){ .sw = e->peer, .edge = e->back };
	else if (!leads_up(f, sw, edge))
		return;
	g_array_append_val(held, up);
}

static void
held_read_block(const struct forest *f, GArray **by_mlid, uint32_t n_mlids,
		const uint32_t *edge_of, uint32_t sw, uint32_t position,
		uint32_t block)
{
	const uint16_t *masks = mft_block(f->previous, sw, position, block);

	for (uint32_t i = 0; i < MFT_BLOCK; i++) {
		uint32_t index = block * MFT_BLOCK + i;
		unsigned mask = masks[i];

		if (index >= n_mlids)
			return;
		if (!by_mlid[index])
			continue;
		for (; mask; mask &= mask - 1) {
			uint32_t port = position * 16 +
				(uint32_t)__builtin_ctz(mask);
			uint32_t edge = edge_of[(size_t)sw * GRAPH_PORTS +
						port];

			if (edge != SUBNET_NONE)
				held_add(f, by_mlid[index], sw, edge);
		}
	}
}

/* All of them in one pass, in the order of memory. */
static void
held_read(const struct forest *f, GArray **by_mlid, uint32_t n_mlids)
{
	g_autofree uint32_t *edge_of = NULL;
	const struct mft *mft = f->previous;

	if (!mft || mft->n_switches != f->g->n_switches)
		return;
	edge_of = graph_map_ports(f->g);
	for (uint32_t sw = 0; sw < mft->n_switches; sw++)
		for (uint32_t p = 0; p < mft->n_positions; p++)
			for (uint32_t b = 0; b < mft->n_blocks; b++)
				held_read_block(f, by_mlid, n_mlids, edge_of,
						sw, p, b);
}

static void
held_forget(struct forest *f, const GArray *held)
{
	for (guint i = 0; i < held->len; i++)
		f->nodes[g_array_index(held, struct held, i).sw].held =
			SUBNET_NONE;
}

/* Puts it into the nodes. Returns the root, or SUBNET_NONE if it is no tree;
 * nothing is held then. */
static uint32_t
held_apply(struct forest *f, const GArray *held)
{
	uint32_t root = SUBNET_NONE;

	for (guint i = 0; i < held->len; i++) {
		const struct held *h = &g_array_index(held, struct held, i);
		struct node *node = &f->nodes[h->sw];

		if (node->held != SUBNET_NONE && node->held != h->edge) {
			held_forget(f, held);
			return SUBNET_NONE;
		}
		node->held = h->edge;
	}
	for (guint i = 0; i < held->len; i++) {
		uint32_t up = f->g->edges[g_array_index(held, struct held,
							i).edge].peer;

		if (f->nodes[up].held != SUBNET_NONE || up == root)
			continue;
		if (root != SUBNET_NONE) {
			held_forget(f, held);
			return SUBNET_NONE;
		}
		root = up;
	}
	return root;
}

/* --- groups --- */

static void
group_lay(struct forest *f, const struct group *group)
{
	tree_lay(f, group);
	tree_trim(f, group);
	tree_write(f, group);
	tree_forget(f);
}

/* Under the root of before, if it reaches everybody. */
static bool
group_keep(struct forest *f, const struct group *group, const GArray *held)
{
	uint32_t root = held_apply(f, held);
	bool reaches = false;

	if (root != SUBNET_NONE && can_hold(f, root, group->mlid))
		reaches = tree_measure(f, group, root, NULL) ==
			group->n_switches;
	if (reaches)
		group_lay(f, group);
	else
		tree_forget(f);
	held_forget(f, held);
	return reaches;
}

static void
group_search(struct forest *f, const struct group *group, const GArray *held)
{
	uint32_t held_root = held_apply(f, held);
	uint32_t root;
	struct rise r;

	rise_init(&r, f->g->n_switches, group->n_switches);
	rise_search(&r, f, group);
	root = rise_choose(&r, f, held_root);
	if (root != SUBNET_NONE)
		tree_measure(f, group, root, &r);
	rise_clear(&r);
	if (root != SUBNET_NONE)
		group_lay(f, group);
	else
		tree_write(f, group);	/* all are lost */
	held_forget(f, held);
}

/* --- the forest --- */

static void
forest_init(struct forest *f, const struct multicast_input *in,
	    uint32_t n_mlids)
{
	const struct graph *g = in->g;
	const struct subnet *s = g->subnet;
	uint32_t n_positions = 1;

	*f = (struct forest){
		.g = g,
		.ranks = in->ranks,
		.previous = in->previous,
	};
	f->cap = g_new(uint32_t, g->n_switches);
	f->load = g_new0(uint32_t, g->n_edges);
	f->uses = g_new0(uint32_t, g->n_switches);
	f->nodes = g_new(struct node, g->n_switches);
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		const struct subnet_node *node = &s->nodes[s->switches[sw]];

		f->cap[sw] = node->sw.multicast_fdb_cap;
		f->nodes[sw] = (struct node){
			.hop = FAR,
			.parent = SUBNET_NONE,
			.held = SUBNET_NONE,
		};
		n_positions = MAX(n_positions, node->info.num_ports / 16u + 1);
	}
	f->below = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->tree = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->candidates = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->mft = mft_new(g->n_switches, n_positions,
			 (n_mlids + MFT_BLOCK - 1) / MFT_BLOCK);
	f->lost = g_array_new(FALSE, FALSE, sizeof(struct multicast_lost));
}

/* Its results belong to somebody else by now. */
static void
forest_clear(struct forest *f)
{
	g_free(f->cap);
	g_free(f->uses);
	g_free(f->nodes);
	g_array_unref(f->below);
	g_array_unref(f->tree);
	g_array_unref(f->candidates);
}

/* Kept groups first, so that new ones see their load; only the others can have
 * lost anybody. Returns how many were kept. */
static uint32_t
forest_grow(struct forest *f, struct group *groups, uint32_t n,
	    GArray **by_mlid)
{
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		groups[i].kept = group_keep(f, &groups[i],
					    by_mlid[groups[i].mlid -
						    MLID_MIN]);
		n_kept += groups[i].kept;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!groups[i].kept)
			group_search(f, &groups[i],
				     by_mlid[groups[i].mlid - MLID_MIN]);
	return n_kept;
}

void
multicast_route(const struct multicast_input *in,
		struct multicast_output *out)
{
	g_autofree uint32_t *own_ranks = NULL;
	g_autofree struct group *groups = g_new(struct group, in->n_groups);
	g_autofree GArray **by_mlid = NULL;
	uint32_t n_mlids = 0;
	struct order *o;
	struct forest f;

	for (uint32_t i = 0; i < in->n_groups; i++) {
		g_assert(in->groups[i].mlid >= MLID_MIN);
		n_mlids = MAX(n_mlids, in->groups[i].mlid - MLID_MIN + 1);
		group_init(&groups[i], &in->groups[i]);
	}
	if (in->n_groups)
		qsort(groups, in->n_groups, sizeof(*groups), compare_groups);
	forest_init(&f, in, n_mlids);
	if (!f.ranks) {
		o = order_compute(&(const struct engine_input){ .g = in->g });
		f.ranks = own_ranks = order_ranks(o);
		order_destroy(o);
	}

	by_mlid = g_new0(GArray *, n_mlids);
	for (uint32_t i = 0; i < in->n_groups; i++)
		by_mlid[groups[i].mlid - MLID_MIN] =
			g_array_new(FALSE, FALSE, sizeof(struct held));
	held_read(&f, by_mlid, n_mlids);
	out->n_kept = forest_grow(&f, groups, in->n_groups, by_mlid);
	out->mft = f.mft;
	out->lost = f.lost;
	out->load = f.load;

	for (uint32_t i = 0; i < in->n_groups; i++) {
		g_array_unref(by_mlid[groups[i].mlid - MLID_MIN]);
		group_clear(&groups[i]);
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
