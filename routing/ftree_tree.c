// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as a tree.
 *
 * Purpose. Ranks in, everything that can be said of whole subtrees out, so
 * that tables are filled by looking things up.
 *
 * Order. Switches that share a subtree stand side by side: those of a rank
 * are sorted by the component that they are in when only ranks up to r count,
 * for the highest r first. In a healthy tree that is pod by pod. Among
 * components, and within the smallest, they come as the graph numbers them:
 * no difference that a tree could see. CAs have no say in it, so a host that
 * comes or goes moves nobody's place. Destinations follow this order, but for
 * switches with CAs above the leaves, which stand before those without.
 *
 * Sets. For each switch s and number k, the destinations to which the
 * shortest way is k hops up and then down. With links between adjacent ranks
 * only, every way down from s to d has rank(s) - rank(d) hops, hence
 *   set(s, 0) = s itself and the set(c, 0) of all children c
 *   set(s, k) = the set(p, k - 1) of all parents p, less all set(s, j), j < k
 * which is one pass of word operations over the cables for each k; the cost
 * c(s, d) of the paper is 2 k + rank(s) - rank(d). A hop to a parent p is
 * right for d in set(s, k) if and only if d is in set(p, k - 1).
 *
 * Source. J. Gliksberg et al., arXiv 2211.11817: cost and order of nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/ftree_tree.h"

/* Adds the cables that join adjacent ranks as groups. */
static void
tree_make_groups(struct tree *t)
{
	const struct graph *g = t->g;
	uint32_t sw, e, next, last, n_ups = 0, n_downs = 0;
	struct tree_group group = { .slot = TREE_NO_SLOT };

	t->n_strays = g->n_edges / 2;
	for (sw = 0; sw < g->n_switches; sw++) {
		t->first_up[sw] = n_ups;
		t->first_down[sw] = n_downs;
		last = g->first_edge[sw + 1];
		for (e = g->first_edge[sw]; e < last; e = next) {
			group.peer = g->edges[e].peer;
			for (next = e + 1; next < last; next++)
				if (g->edges[next].peer != group.peer)
					break;
			group.first_edge = e;
			group.n_cables = (uint8_t)(next - e);
			if (t->rank[group.peer] == t->rank[sw] + 1) {
				t->ups[n_ups++] = group;
				t->n_strays -= group.n_cables;
			} else if (t->rank[group.peer] + 1 == t->rank[sw]) {
				t->downs[n_downs++] = group;
			}
		}
	}
	t->first_up[sw] = n_ups;
	t->first_down[sw] = n_downs;
}

static void
tree_label_pods(struct tree *t)
{
	uint32_t n = t->g->n_switches, sw, r, i;
	uint32_t *label = g_new(uint32_t, (size_t)n * t->n_ranks);

	t->pods = label;
	for (sw = 0; sw < n; sw++)
		label[sw] = sw;
	for (r = 1; r < t->n_ranks; r++) {
		memcpy(label + n, label, n * sizeof(*label));
		label += n;
		for (sw = 0; sw < n; sw++) {
			if (t->rank[sw] + 1u != r)
				continue;
			for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
				tree_join(label, sw, t->ups[i].peer);
		}
		for (sw = 0; sw < n; sw++)
			label[sw] = tree_find(label, sw);
	}
}

/* What the tree joins, and what its strays do. */
static void
tree_find_islands(struct tree *t)
{
	const struct graph *g = t->g;
	uint32_t n = g->n_switches, sw, e;

	memcpy(t->island, t->pods + (size_t)(t->n_ranks - 1) * n,
	       n * sizeof(*t->island));
	if (t->n_strays == 0)
		return;
	for (sw = 0; sw < n; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
			tree_join(t->island, sw, g->edges[e].peer);
	for (sw = 0; sw < n; sw++)
		t->island[sw] = tree_find(t->island, sw);
}

static gint
tree_compare(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct tree *t = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t n = t->g->n_switches, r;
	const uint32_t *label;

	if (t->rank[x] != t->rank[y])
		return (int)t->rank[x] - (int)t->rank[y];
	for (r = t->n_ranks; r > 0; r--) {
		label = t->pods + (size_t)(r - 1) * n;
		if (label[x] != label[y])
			return label[x] < label[y] ? -1 : 1;
	}
	return x < y ? -1 : x > y;
}

static void
tree_sort(struct tree *t)
{
	uint32_t n = t->g->n_switches, i, sw, n_rest;

	for (i = 0; i < n; i++)
		t->climb[i] = i;
	g_qsort_with_data(t->climb, (gint)n, sizeof(*t->climb), tree_compare,
			  t);
	for (i = 0; i < n; i++) {
		sw = t->climb[i];
		t->place[sw] = i;
		t->n_bottom += t->rank[sw] == 0;
		t->n_leaves += t->rank[sw] == 0 || t->g->n_hosts[sw] > 0;
	}
	n_rest = t->n_leaves;
	t->n_leaves = 0;
	for (i = 0; i < n; i++) {
		sw = t->climb[i];
		if (t->rank[sw] == 0 || t->g->n_hosts[sw] > 0)
			t->dest_of[sw] = t->n_leaves++;
		else
			t->dest_of[sw] = n_rest++;
		t->switch_of[t->dest_of[sw]] = sw;
	}
}

static void
tree_subtract(uint64_t *restrict from, const uint64_t *restrict what,
	      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		from[i] &= ~what[i];
}

static void
tree_fill_sets(struct tree *t)
{
	uint32_t n = t->g->n_switches, i, sw, k, j, group;
	uint64_t *set;

	for (i = 0; i < n; i++) {	/* children first */
		sw = t->climb[i];
		set = tree_set(t, sw, 0);
		set[t->dest_of[sw] / 64] |=
			UINT64_C(1) << t->dest_of[sw] % 64;
		for (group = t->first_down[sw]; group < t->first_down[sw + 1];
		     group++)
			set_unite(set, tree_set(t, t->downs[group].peer, 0),
				   t->n_words);
	}
	for (k = 1; k < t->n_sets; k++)
		for (sw = 0; sw < n; sw++) {
			set = tree_set(t, sw, k);
			for (group = t->first_up[sw];
			     group < t->first_up[sw + 1]; group++)
				set_unite(set, tree_set(t,
					t->ups[group].peer, k - 1),
					   t->n_words);
			for (j = 0; j < k; j++)
				tree_subtract(set, tree_set(t, sw, j),
					      t->n_words);
		}
}

uint64_t
tree_find_word(const struct tree *t, uint32_t sw, uint32_t n_ups, uint32_t w)
{
	uint64_t word = 0;
	uint32_t i;

	if (n_ups == 0) {
		if (t->dest_of[sw] / 64 == w)
			word = UINT64_C(1) << t->dest_of[sw] % 64;
		for (i = t->first_down[sw]; i < t->first_down[sw + 1]; i++)
			word |= tree_set(t, t->downs[i].peer, 0)[w];
		return word;
	}
	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
		word |= tree_set(t, t->ups[i].peer, n_ups - 1)[w];
	for (i = 0; i < n_ups; i++)
		word &= ~tree_set(t, sw, i)[w];
	return word;
}

uint64_t
tree_reach(const struct tree *t, uint32_t sw, uint32_t w)
{
	const uint64_t *set = tree_set(t, sw, 0) + w;
	uint64_t word = 0;
	uint32_t k;

	for (k = 0; k < t->n_sets; k++, set += t->n_words)
		word |= *set;
	return word;
}

static void
tree_alloc_groups(struct tree *t)
{
	uint32_t n = t->g->n_switches;

	t->first_up = g_new(uint32_t, n + 1);
	t->first_down = g_new(uint32_t, n + 1);
	t->ups = g_new(struct tree_group, t->g->n_edges / 2 + 1);
	t->downs = g_new(struct tree_group, t->g->n_edges / 2 + 1);
	t->island = g_new(uint32_t, n);
}

void
tree_clear_groups(struct tree *was)
{
	g_free(was->first_up);
	g_free(was->first_down);
	g_free(was->ups);
	g_free(was->downs);
	g_free(was->island);
	g_free(was->pods);
}

bool
tree_regroup(struct tree *t, const struct graph *g, struct tree *was)
{
	uint32_t n = g->n_switches;

	g_assert(n == t->g->n_switches);
	*was = *t;
	t->g = g;
	tree_alloc_groups(t);
	tree_make_groups(t);
	tree_label_pods(t);
	tree_find_islands(t);
	return memcmp(t->island, was->island, n * sizeof(*t->island)) == 0 &&
		memcmp(t->pods, was->pods, (size_t)n * t->n_ranks *
		       sizeof(*t->pods)) == 0;
}

struct tree *
tree_new(const struct graph *g, const uint8_t *rank)
{
	struct tree *t = g_new0(struct tree, 1);
	uint32_t n = g->n_switches, sw;

	g_assert(n > 0);
	t->g = g;
	t->rank = g_memdup2(rank, n);
	for (sw = 0; sw < n; sw++)
		t->n_ranks = MAX(t->n_ranks, rank[sw] + 1u);
	tree_alloc_groups(t);
	t->dest_of = g_new(uint32_t, n);
	t->switch_of = g_new(uint32_t, n);
	t->climb = g_new(uint32_t, n);
	t->place = g_new(uint32_t, n);
	t->turn = g_new0(uint32_t, n);
	t->planes = g_malloc((size_t)n * t->n_ranks);
	memset(t->planes, (int)TREE_NO_SLOT, (size_t)n * t->n_ranks);
	t->levels = g_new0(struct tree_level, t->n_ranks);

	tree_make_groups(t);
	tree_label_pods(t);
	tree_find_islands(t);
	tree_sort(t);
	t->n_words = (n + 63) / 64;
	t->n_words += -t->n_words % SET_UNROLL;
	t->n_sets = MIN(t->n_ranks, TREE_MAX_UPS + 1);
	t->sets = g_new0(uint64_t, (size_t)n * t->n_sets * t->n_words);
	tree_fill_sets(t);
	return t;
}

void
tree_free(struct tree *t)
{
	tree_clear_groups(t);
	g_free(t->rank);
	g_free(t->dest_of);
	g_free(t->switch_of);
	g_free(t->climb);
	g_free(t->place);
	g_free(t->turn);
	g_free(t->planes);
	g_free(t->levels);
	g_free(t->sets);
	g_free(t);
}
