// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Detours for up/down.
 *
 * Purpose. A tree of three stages that lost some percent of its cables has
 * many pairs of a spine and a leaf without a way up and then down. An order
 * with one root joins them, but then nearly all traffic goes through that
 * root. So the order stays that of the tree, with many roots, and what it does
 * not join goes down and up again, where that is safe.
 *
 * Why the ftree's parts fit. Where cables join neighbouring levels only, an
 * order by levels is a tree as ftree_tree.h has it, up and down are the same
 * cables, and so are the pairs that are joined. ftree_transfer.c looks at
 * that tree, not at tables, when it decides who may turn; ftree_way.c
 * completes whatever rows it finds.
 *
 * Flow. updn_detour: the tree of the levels; what is reached in it; members
 * of the transfers get their ways, then all others go up to one; management
 * last. Also in a tree that is whole: what management between spines does
 * there is what data will do when a cable is gone, and stays as it is.
 */
#include "routing/updn_detour.h"

#include "routing/ftree_transfer.h"
#include "routing/updn.h"

static uint32_t
updn_find_lowest(const struct graph *g, const uint32_t *ranks)
{
	uint32_t sw, lowest = 0;

	for (sw = 0; sw < g->n_switches; sw++)
		lowest = MAX(lowest, updn_level(ranks[sw]));
	return lowest;
}

bool
updn_is_tree(const struct graph *g, const uint32_t *ranks)
{
	uint32_t lowest = updn_find_lowest(g, ranks), sw, e, peer;
	int level;

	if (lowest > TREE_MAX_UPS)
		return false;
	for (sw = 0; sw < g->n_switches; sw++) {
		level = (int)updn_level(ranks[sw]);
		if (g->n_hosts[sw] && level != (int)lowest)
			return false;
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			if (ABS(level - (int)updn_level(ranks[peer])) != 1)
				return false;
		}
	}
	return true;
}

/* Counted from the lowest level. */
static uint8_t *
updn_tree_ranks(const struct graph *g, const uint32_t *ranks)
{
	uint32_t lowest = updn_find_lowest(g, ranks), sw;
	uint8_t *rank = g_new(uint8_t, g->n_switches);

	for (sw = 0; sw < g->n_switches; sw++)
		rank[sw] = (uint8_t)(lowest - updn_level(ranks[sw]));
	return rank;
}

/* Pairs without a way, though there are cables. */
static void
updn_count_pair(const struct tree *t, uint32_t sw, uint32_t dest,
		uint64_t *n_hosts, uint64_t *n_mixed)
{
	const uint32_t *hosts = t->g->n_hosts;
	uint32_t to = t->switch_of[dest];

	if (t->island[sw] != t->island[to])
		return;
	if (hosts[sw] && hosts[to])
		++*n_hosts;
	else if (hosts[sw] || hosts[to])
		++*n_mixed;
}

/* In both directions. */
static void
updn_count_apart(const struct detour *d, uint64_t *n_hosts, uint64_t *n_mixed)
{
	const struct tree *t = d->t;
	uint32_t n = t->g->n_switches, sw, w, dest, end;
	uint64_t word;

	*n_hosts = *n_mixed = 0;
	for (sw = 0; sw < n; sw++) {
		/* Destinations with CAs come first. */
		end = t->g->n_hosts[sw] ? n : t->n_leaves;
		for (w = 0; w * 64 < end; w++)
			for (word = ~detour_set(d, sw)[w]; word;
			     word &= word - 1) {
				dest = w * 64 +
					(uint32_t)__builtin_ctzll(word);
				if (dest < end)
					updn_count_pair(t, sw, dest, n_hosts,
							n_mixed);
			}
	}
}

static uint32_t
updn_find_root(const struct transfer *x)
{
	uint32_t sw, root = SUBNET_NONE;

	for (sw = 0; sw < x->g->n_switches && root == SUBNET_NONE; sw++)
		root = transfer_root(x, sw);
	return root;
}

static void
updn_detour_all(struct detour *d, struct updn_detours *found)
{
	struct transfer *x = transfer_new(d, NULL);
	uint64_t n_hosts, n_mixed;
	uint32_t i, sw;

	updn_count_apart(d, &n_hosts, &n_mixed);
	transfer_route_members(x, NULL, 1);
	for (i = 0; i < x->g->n_switches; i++) {
		sw = d->t->climb[i];
		if (!transfer_is_member(x, sw))
			transfer_lift(x, sw, lft_row(d->out, sw));
	}
	updn_count_apart(d, &found->n_hosts_left, &found->n_mixed_left);
	found->n_made = n_hosts + n_mixed - found->n_hosts_left -
		found->n_mixed_left;
	found->root = updn_find_root(x);
	transfer_free(x);
	detour_manage(d);
}

void
updn_detour(const struct engine_input *in, const uint32_t *ranks,
	    struct lft *lft, struct updn_detours *found)
{
	/* LIDs that nobody owns are none of its business: nothing of before. */
	const struct engine_input now = { .g = in->g };
	g_autofree uint8_t *rank = updn_tree_ranks(in->g, ranks);
	struct detour *detour;
	struct hosts *hosts;
	struct tree *tree;
	struct fill *fill;

	tree = tree_new(in->g, rank);
	hosts = hosts_new(tree, &now);
	tree_assign_slots(tree, hosts->usual);
	fill = fill_new(tree, hosts);
	detour = detour_new(fill, lft, NULL);
	updn_detour_all(detour, found);
	detour_free(detour);
	fill_free(fill);
	hosts_free(hosts);
	tree_free(tree);
}
