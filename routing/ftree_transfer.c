// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transfers: where traffic may come down and go up again.
 *
 * Purpose. A CA whose leaf lost the cable to a plane has no way up and then
 * down to a port 0 of that plane; in a tree with many cables gone there are
 * CAs like that. Some way there is. It must turn from down to up somewhere,
 * and if everybody did so where he liked, channels would wait for each other
 * in a circle.
 *
 * The members. Whether two switches have a way up and then down depends on
 * nothing but whether some top is above both. So it is tops that have to be
 * joined. Take one switch, the root, with as many tops above it as any; it
 * and all that is above it are members. In a fat tree each of those has one
 * child among the members, so they are a tree hanging upside down. Members may
 * turn a packet that came down from one parent up to another, in their tree:
 * down towards the root, then up again, away from it. Order all channels: up,
 * except the next two; between members towards the root; between members away
 * from it; all others, which lead down. No turn goes back in this order. One
 * that would is from a member up to a parent and down to another of its
 * children among the members, and there is none.
 *   Tops that are not above the root are joined on one after the other, by a
 * switch that has both old and new ones above it: what comes down to it from
 * old ones may go up to new ones and back, but not from one old to another.
 *
 * Proof. Trees that are none by damage or by birth may have members with two
 * such children, so the above is not relied on: after each step the graph of
 * all channels, with all turns that go up, or up and then down, or down, and
 * those of the transfers, is put in order, as A. B. Kahn does it. What leaves
 * a cycle is undone and another switch is tried. The graph never holds its
 * turns one by one: what a switch waits for are counts of channels, so a step
 * costs what there are cables.
 *
 * What is made of it: see ftree_way.c.
 *
 * Source. W. J. Dally and C. L. Seitz, 1987, for channel dependencies; A. B.
 * Kahn, "Topological sorting of large networks", 1962.
 */
#include "routing/ftree_transfer.h"

#include <string.h>

#define MAX_TRIES	16u	/* switches tried as a root, on an island */

static bool
transfer_meets(const struct transfer *x, uint32_t sw, uint64_t flip)
{
	const uint64_t *mine = transfer_tops(x, sw);
	uint32_t i;

	for (i = 0; i < x->n_top_words; i++)
		if (mine[i] & (x->joined[i] ^ flip))
			return true;
	return false;
}

bool
transfer_has_old(const struct transfer *x, uint32_t sw)
{
	return transfer_meets(x, sw, 0);
}

static bool
transfer_has_new(const struct transfer *x, uint32_t sw)
{
	return transfer_meets(x, sw, UINT64_MAX);
}

static void
transfer_find_tops(struct transfer *x)
{
	const struct tree *t = x->t;
	uint32_t n = x->g->n_switches, i, j, sw, n_tops = 0;
	uint64_t *mine;

	for (sw = 0; sw < n; sw++)
		n_tops += t->first_up[sw] == t->first_up[sw + 1];
	x->n_top_words = (n_tops + 63) / 64;
	x->n_top_words += -x->n_top_words % SET_UNROLL;
	x->tops = g_new0(uint64_t, (size_t)n * x->n_top_words);
	x->joined = g_new0(uint64_t, x->n_top_words);
	for (n_tops = 0, i = n; i > 0; i--) {	/* parents first */
		sw = t->climb[i - 1];
		mine = transfer_tops(x, sw);
		if (t->first_up[sw] == t->first_up[sw + 1]) {
			mine[n_tops / 64] |= UINT64_C(1) << n_tops % 64;
			n_tops++;
		}
		for (j = t->first_up[sw]; j < t->first_up[sw + 1]; j++)
			set_unite(mine, transfer_tops(x, t->ups[j].peer),
				   x->n_top_words);
	}
}

static uint8_t
transfer_class(const struct transfer *x, uint32_t sw, uint32_t above)
{
	const struct tree *t = x->t;
	uint32_t i;

	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
		if (t->ups[i].peer == above)
			return x->class_of[i];
	return TRANSFER_NO_CLASS;
}

bool
transfer_may_turn(const struct transfer *x, uint32_t from, uint32_t at,
		  uint32_t to)
{
	uint8_t a, b;

	if (from == to)
		return false;
	if (transfer_is_up(x, from, at) || !transfer_is_up(x, at, to))
		return true;
	a = transfer_class(x, at, from);
	b = transfer_class(x, at, to);
	return a != TRANSFER_NO_CLASS && b != TRANSFER_NO_CLASS && a != b;
}

/* Is the cable one that data may take? */
static bool
transfer_counts(const struct transfer *x, uint32_t sw, uint32_t peer)
{
	return x->d->n_rescued > 0 ||
		ABS((int)x->t->rank[sw] - (int)x->t->rank[peer]) == 1;
}

/* All channels that are still to be put in order; gives back how many. */
static uint32_t
transfer_count_channels(struct transfer *x)
{
	const struct graph *g = x->g;
	uint32_t sw, e, peer, n = 0, run = 0;

	memset(x->n_below, 0, g->n_switches * sizeof(*x->n_below));
	memset(x->n_above, 0, g->n_switches * sizeof(*x->n_above));
	memset(x->widest, 0, g->n_switches * sizeof(*x->widest));
	for (sw = 0; sw < g->n_switches; sw++)
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++) {
			peer = g->edges[e].peer;
			x->done[e] = !transfer_counts(x, sw, peer);
			if (x->done[e])
				continue;
			n++;
			run = e > g->first_edge[sw] &&
				g->edges[e - 1].peer == peer ? run + 1 : 1;
			if (transfer_is_up(x, sw, peer)) {
				x->n_below[peer]++;
				x->n_above[sw]++;
			} else {
				x->widest[sw] = MAX(x->widest[sw], run);
			}
		}
	return n;
}

/* Channels from `peer` that are still to come, by the cables e to end - 1. */
static uint32_t
transfer_count_from(const struct transfer *x, uint32_t e, uint32_t end)
{
	uint32_t n = 0;

	for (; e < end; e++)
		n += !x->done[x->g->edges[e].back];
	return n;
}

/* Channels from above that may turn up, by class. False: none may. */
static bool
transfer_count_classes(const struct transfer *x, uint32_t sw,
		       uint32_t count[TRANSFER_NO_CLASS + 1])
{
	const struct tree *t = x->t;
	const struct tree_group *group;
	uint32_t i, n;

	if (t->first_up[sw] == t->first_up[sw + 1] ||
	    x->class_of[t->first_up[sw]] == TRANSFER_NO_CLASS)
		return false;
	memset(count, 0, (TRANSFER_NO_CLASS + 1) * sizeof(*count));
	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
		group = &t->ups[i];
		n = transfer_count_from(x, group->first_edge,
					group->first_edge + group->n_cables);
		count[x->class_of[i]] += n;
		count[TRANSFER_NO_CLASS] += n;
	}
	return true;
}

static void
transfer_pass(struct transfer *x, uint32_t sw, uint32_t e, uint32_t *tail)
{
	uint32_t peer = x->g->edges[e].peer;

	x->done[e] = 1;
	if (transfer_is_up(x, sw, peer))
		x->n_below[peer]--;
	else
		x->n_above[peer]--;
	if (!x->waits[peer]) {
		x->waits[peer] = 1;
		x->queue[(*tail)++ % (x->g->n_switches + 1)] = peer;
	}
}

/* Passes the channels out of `sw` that wait for no other. */
static uint32_t
transfer_release(struct transfer *x, uint32_t sw, uint32_t *tail)
{
	const struct graph *g = x->g;
	uint32_t count[TRANSFER_NO_CLASS + 1], peer, n = 0;
	uint32_t e, next, end = g->first_edge[sw + 1];
	bool ready, turns;

	if (x->n_below[sw] > x->widest[sw])
		return 0;
	turns = transfer_count_classes(x, sw, count);
	for (e = g->first_edge[sw]; e < end; e = next) {
		peer = g->edges[e].peer;
		for (next = e + 1; next < end; next++)
			if (g->edges[next].peer != peer)
				break;
		if (x->done[e])
			continue;
		if (!transfer_is_up(x, sw, peer))
			ready = x->n_above[sw] == 0 && x->n_below[sw] ==
				transfer_count_from(x, e, next);
		else if (turns &&
			 transfer_class(x, sw, peer) != TRANSFER_NO_CLASS)
			ready = x->n_below[sw] == 0 &&
				count[TRANSFER_NO_CLASS] ==
				count[transfer_class(x, sw, peer)];
		else
			ready = x->n_below[sw] == 0;
		for (; ready && e < next; e++, n++)
			transfer_pass(x, sw, e, tail);
	}
	return n;
}

uint8_t
transfer_port_to(const struct transfer *x, uint32_t sw, uint32_t peer)
{
	const struct graph *g = x->g;
	uint32_t e = g->first_edge[sw];

	while (g->edges[e].peer != peer)
		e++;
	return g->edges[e].port;
}

static void
transfer_sign_word(GArray *sign, uint32_t word)
{
	g_array_append_val(sign, word);
}

GArray *
transfer_sign(const struct transfer *x)
{
	const struct tree *t = x->t;
	GArray *sign = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t i, j, sw, parent;

	for (i = 0; i < x->n_members; i++) {
		sw = x->members[i];
		parent = x->parent[sw];
		transfer_sign_word(sign, sw);
		transfer_sign_word(sign, parent);
		if (parent != sw) {
			transfer_sign_word(sign,
				transfer_port_to(x, sw, parent));
			transfer_sign_word(sign,
				transfer_port_to(x, parent, sw));
		}
		transfer_sign_word(sign, x->open[sw]);
		for (j = t->first_up[sw]; j < t->first_up[sw + 1]; j++) {
			transfer_sign_word(sign, t->ups[j].peer);
			transfer_sign_word(sign, x->class_of[j]);
		}
		transfer_sign_word(sign, TRANSFER_OUTSIDE);
	}
	return sign;
}

/* Has `proof` all cables that there are? */
static bool
transfer_proof_holds(const struct transfer_proof *proof,
		     const struct graph *g)
{
	const struct graph *old = proof->g;
	uint32_t sw, e, o, end;

	if (old->n_switches != g->n_switches)
		return false;
	for (sw = 0; sw < g->n_switches; sw++) {
		o = old->first_edge[sw];
		end = old->first_edge[sw + 1];
		for (e = g->first_edge[sw]; e < g->first_edge[sw + 1];
		     e++, o++) {
			while (o < end &&
			       old->edges[o].peer < g->edges[e].peer)
				o++;
			if (o == end ||
			    old->edges[o].peer != g->edges[e].peer)
				return false;
		}
	}
	return true;
}

/* What is among channels and turns that could be put in order can be, too. */
static bool
transfer_is_proven(const struct transfer *x)
{
	g_autoptr(GArray) sign = NULL;

	if (!x->proof)
		return false;
	sign = transfer_sign(x);
	return sign->len <= x->proof->sign->len &&
		memcmp(sign->data, x->proof->sign->data,
		       sign->len * sizeof(uint32_t)) == 0;
}

/* True if the channels can be put in order. */
static bool
transfer_is_safe(struct transfer *x)
{
	uint32_t n = x->g->n_switches, n_left, head, tail;

	if (transfer_is_proven(x))
		return true;
	x->n_sorted++;
	n_left = transfer_count_channels(x);
	memcpy(x->queue, x->t->climb, n * sizeof(*x->queue));
	memset(x->waits, 1, n);
	for (head = 0, tail = n; head != tail; head++) {
		x->waits[x->queue[head % (n + 1)]] = 0;
		n_left -= transfer_release(x, x->queue[head % (n + 1)],
					   &tail);
	}
	return n_left == 0;
}

static void
transfer_add(struct transfer *x, uint32_t sw, uint32_t parent)
{
	uint32_t i;

	x->parent[sw] = parent;
	x->child[sw] = TRANSFER_OUTSIDE;
	if (sw != parent) {
		x->sibling[sw] = x->child[parent];
		x->child[parent] = sw;
	}
	x->members[x->n_members++] = sw;
	for (i = 0; i < x->n_top_words; i++)
		x->joined[i] |= transfer_tops(x, sw)[i];
}

/* Back to n members. */
static void
transfer_shrink(struct transfer *x, uint32_t n, const uint64_t *joined)
{
	const struct tree *t = x->t;
	uint32_t sw, i;

	while (x->n_members > n) {
		sw = x->members[--x->n_members];
		if (x->parent[sw] != sw)
			x->child[x->parent[sw]] = x->sibling[sw];
		x->parent[sw] = TRANSFER_OUTSIDE;
		x->open[sw] = 0;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
			x->class_of[i] = TRANSFER_NO_CLASS;
	}
	memcpy(x->joined, joined, x->n_top_words * sizeof(*joined));
}

/* All above the members from number `from` on, each parent a class. */
static void
transfer_add_above(struct transfer *x, uint32_t from)
{
	const struct tree *t = x->t;
	uint32_t sw, i;

	for (; from < x->n_members; from++) {
		sw = x->members[from];
		x->open[sw] = 1;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
			x->class_of[i] = (uint8_t)(i - t->first_up[sw]);
			if (x->parent[t->ups[i].peer] == TRANSFER_OUTSIDE)
				transfer_add(x, t->ups[i].peer, sw);
		}
	}
}

/* The members on a way up from `sw` to the old ones. */
static void
transfer_add_chain(struct transfer *x, uint32_t sw)
{
	const struct tree *t = x->t;
	uint32_t chain[256], n = 0, i;

	for (; x->parent[sw] == TRANSFER_OUTSIDE; sw = t->ups[i].peer) {
		chain[n++] = sw;
		for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
			if (!transfer_has_new(x, t->ups[i].peer))
				break;
		g_assert(i < t->first_up[sw + 1]);
	}
	for (; n > 0; sw = chain[n])
		transfer_add(x, chain[--n], sw);
}

/* Joins the new tops above `sw` to the old ones. */
static void
transfer_join(struct transfer *x, uint32_t sw)
{
	const struct tree *t = x->t;
	uint32_t first, from, i;

	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
		if (transfer_has_old(x, t->ups[i].peer) &&
		    transfer_has_new(x, t->ups[i].peer)) {
			sw = t->ups[i].peer;
			i = t->first_up[sw] - 1;
		}
	first = t->first_up[sw];
	for (i = first; i < t->first_up[sw + 1]; i++)
		x->class_of[i] = transfer_has_new(x, t->ups[i].peer) ?
			(uint8_t)(i - first + 1) : 0;
	for (i = first; x->class_of[i] != 0; i++)
		;
	transfer_add_chain(x, t->ups[i].peer);
	transfer_add(x, sw, t->ups[i].peer);
	from = x->n_members;
	for (i = first; i < t->first_up[sw + 1]; i++)
		if (x->class_of[i] != 0 &&
		    x->parent[t->ups[i].peer] == TRANSFER_OUTSIDE)
			transfer_add(x, t->ups[i].peer, sw);
	transfer_add_above(x, from);
}

static uint32_t
transfer_count_new(const struct transfer *x, uint32_t sw)
{
	const uint64_t *mine = transfer_tops(x, sw);
	uint32_t i, n = 0;

	for (i = 0; i < x->n_top_words; i++)
		n += (uint32_t)__builtin_popcountll(mine[i] & ~x->joined[i]);
	return n;
}

/* Who may come next, and the new tops above it; 0: not this one. */
static uint32_t
transfer_weigh(const struct transfer *x, uint32_t sw, uint32_t island,
	       const uint8_t *tried)
{
	uint32_t n;

	if (x->t->island[sw] != island || tried[sw] ||
	    x->parent[sw] != TRANSFER_OUTSIDE)
		return 0;
	n = transfer_count_new(x, sw);
	if (x->root[island] == TRANSFER_OUTSIDE)
		return n > 1 ? n : 0;
	return n > 0 && transfer_has_old(x, sw) ? n : 0;
}

/* The switch with most new tops above it, the lowest of those; for the root
 * the lowest that has nearly as many, or it would move with each cable. */
static uint32_t
transfer_find_best(const struct transfer *x, uint32_t island,
		   const uint8_t *tried)
{
	uint32_t best = TRANSFER_OUTSIDE, most = 0, i, n;

	for (i = 0; i < x->g->n_switches; i++) {
		n = transfer_weigh(x, x->t->climb[i], island, tried);
		if (n <= most)
			continue;
		best = x->t->climb[i];
		most = n;
	}
	if (x->root[island] != TRANSFER_OUTSIDE)
		return best;
	for (i = 0; i < x->g->n_switches; i++) {
		n = transfer_weigh(x, x->t->climb[i], island, tried);
		if (n > 0 && n * 4 >= most * 3)
			return x->t->climb[i];
	}
	return best;
}

/* Adds a root, or joins to it, as long as something can be had by it. */
static void
transfer_connect(struct transfer *x, uint32_t island)
{
	uint32_t n = x->g->n_switches, sw, n_before, tries = 0;
	g_autofree uint8_t *tried = g_new0(uint8_t, n);
	g_autofree uint64_t *joined = NULL;

	while (tries < MAX_TRIES) {
		sw = transfer_find_best(x, island, tried);
		if (sw == TRANSFER_OUTSIDE)
			return;
		g_free(joined);
		joined = g_memdup2(x->joined,
				   x->n_top_words * sizeof(*x->joined));
		n_before = x->n_members;
		if (x->root[island] == TRANSFER_OUTSIDE) {
			transfer_add(x, sw, sw);
			transfer_add_above(x, n_before);
		} else {
			transfer_join(x, sw);
		}
		if (!transfer_is_safe(x)) {
			transfer_shrink(x, n_before, joined);
			tried[sw] = 1;
			tries++;
		} else if (x->root[island] == TRANSFER_OUTSIDE) {
			x->root[island] = sw;
		}
	}
}

struct transfer *
transfer_new(struct detour *d, const struct transfer_proof *proof)
{
	struct transfer *x = g_new0(struct transfer, 1);
	uint32_t n = d->t->g->n_switches, sw;

	x->d = d;
	x->t = d->t;
	x->g = d->t->g;
	if (proof && transfer_proof_holds(proof, x->g))
		x->proof = proof;
	x->edge_of = graph_map_ports(x->g);
	x->parent = g_new(uint32_t, n);
	x->child = g_new(uint32_t, n);
	x->sibling = g_new(uint32_t, n);
	x->members = g_new(uint32_t, n);
	x->class_of = g_malloc(x->t->first_up[n] + 1u);
	x->root = g_new(uint32_t, n);
	x->queue = g_new(uint32_t, n + 1);
	x->n_below = g_new(uint32_t, n);
	x->n_above = g_new(uint32_t, n);
	x->widest = g_new(uint32_t, n);
	x->done = g_malloc(x->g->n_edges + 1u);
	x->waits = g_malloc(n);
	x->open = g_new0(uint8_t, n);
	x->clear = g_new0(uint64_t *, n);
	memset(x->class_of, (int)TRANSFER_NO_CLASS, x->t->first_up[n] + 1u);
	for (sw = 0; sw < n; sw++)
		x->parent[sw] = x->root[sw] = TRANSFER_OUTSIDE;
	transfer_find_tops(x);
	for (sw = 0; sw < n; sw++)
		if (x->t->island[sw] == sw)
			transfer_connect(x, sw);
	x->proof = NULL;
	return x;
}

void
transfer_free(struct transfer *x)
{
	uint32_t i;

	for (i = 0; i < x->g->n_switches; i++)
		g_free(x->clear[i]);
	g_free(x->clear);
	g_free(x->edge_of);
	g_free(x->tops);
	g_free(x->joined);
	g_free(x->parent);
	g_free(x->child);
	g_free(x->sibling);
	g_free(x->members);
	g_free(x->class_of);
	g_free(x->root);
	g_free(x->queue);
	g_free(x->n_below);
	g_free(x->n_above);
	g_free(x->widest);
	g_free(x->done);
	g_free(x->waits);
	g_free(x->open);
	g_free(x);
}

uint32_t
transfer_root(const struct transfer *x, uint32_t sw)
{
	return x->root[x->t->island[sw]];
}
