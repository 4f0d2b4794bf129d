// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a few cables change in a tree.
 *
 * Purpose. A cable that is lost or comes back leaves nearly all of a tree as
 * it was. What has to be looked at again follows from the two switches at its
 * ends by going on from each thing that differs to those that are made of it,
 * and no further than something differs.
 *
 * Flow. change_new: switches whose edges differ; groups for all, which is
 * cheap, and whether pods are as before, since order and destinations follow
 * from these. Then the sets, in the order in which they are made of one
 * another: at a switch whose edges differ all words, at one next to something
 * that differs the words in which anything does. change_slots and change_good
 * do the same for what comes after them.
 *   change_find_dests: an entry is made of the cables of its switch, the sets
 * there, and bit by bit of sets and goodness of its neighbours: of children
 * for what is below, else of parents.
 *
 * Promise. What is not redone would have come out as it was: everything is a
 * function of what was compared.
 */
#include <string.h>

#include "routing/ftree_change.h"

#define MANY_SHARE	8u	/* of all switches: it pays no more */

static bool
change_same_edges(const struct graph *a, const struct graph *b, uint32_t sw)
{
	uint32_t n = a->first_edge[sw + 1] - a->first_edge[sw], i;
	const struct graph_edge *x = &a->edges[a->first_edge[sw]];
	const struct graph_edge *y = &b->edges[b->first_edge[sw]];

	if (b->first_edge[sw + 1] - b->first_edge[sw] != n)
		return false;
	for (i = 0; i < n; i++)
		if (x[i].peer != y[i].peer || x[i].port != y[i].port)
			return false;
	return true;
}

/* False if the switches themselves are others, or too many differ. */
static bool
change_find_whole(struct change *c, const struct graph *a,
		  const struct graph *b)
{
	uint32_t sw;

	for (sw = 0; sw < a->n_switches; sw++) {
		if ((a->n_hosts[sw] > 0) != (b->n_hosts[sw] > 0))
			return false;
		c->whole[sw] = !change_same_edges(a, b, sw);
		c->n_whole += c->whole[sw];
	}
	return c->n_whole <= MAX(a->n_switches / MANY_SHARE, 2);
}

static void
change_note(struct change *c, const struct tree *t, uint32_t sw, uint32_t w,
	    uint64_t bits)
{
	if (!bits)
		return;
	c->bits[(size_t)sw * t->n_words + w] |= bits;
	c->any[sw] = 1;
	if (c->listed[w])
		return;
	c->listed[w] = 1;
	c->words[c->n_words++] = w;
}

static bool
change_any_of(const struct change *c, const struct tree_group *groups,
	      uint32_t first, uint32_t end)
{
	for (; first < end; first++)
		if (c->any[groups[first].peer])
			return true;
	return false;
}

static bool
change_any_above(const struct change *c, const struct tree *t, uint32_t sw)
{
	return c->any[sw] || change_any_of(c, t->ups, t->first_up[sw],
					   t->first_up[sw + 1]);
}

static bool
change_any_below(const struct change *c, const struct tree *t, uint32_t sw)
{
	return c->any[sw] || change_any_of(c, t->downs, t->first_down[sw],
					   t->first_down[sw + 1]);
}

static void
change_set_word(struct change *c, struct tree *t, uint32_t sw, uint32_t k,
		uint32_t w)
{
	uint64_t *set = tree_set(t, sw, k) + w;
	uint64_t now = tree_find_word(t, sw, k, w);

	change_note(c, t, sw, w, *set ^ now);
	*set = now;
}

static void
change_sets(struct change *c, struct tree *t)
{
	uint32_t n = t->g->n_switches, i, sw, k, w;

	for (k = 0; k < t->n_sets; k++)
		for (i = 0; i < n; i++) {	/* children first */
			sw = t->climb[i];
			if (c->whole[sw])
				for (w = 0; w < t->n_words; w++)
					change_set_word(c, t, sw, k, w);
			else if (k > 0 ? change_any_above(c, t, sw) :
				 change_any_below(c, t, sw))
				for (w = 0; w < c->n_words; w++)
					change_set_word(c, t, sw, k,
							c->words[w]);
		}
}

struct change *
change_new(struct tree *t, const struct graph *g)
{
	struct change *c = g_new0(struct change, 1);
	const struct graph *old = t->g;
	uint32_t n = g->n_switches;

	if (n != old->n_switches || g->top != old->top) {
		g_free(c);
		return NULL;
	}
	c->whole = g_malloc(n);
	c->any = g_new0(uint8_t, n);
	c->bits = g_new0(uint64_t, (size_t)n * t->n_words);
	c->words = g_new(uint32_t, t->n_words);
	c->listed = g_new0(uint8_t, t->n_words);
	if (!change_find_whole(c, old, g) || !tree_regroup(t, g, &c->was)) {
		change_free(c);
		return NULL;
	}
	change_sets(c, t);
	return c;
}

void
change_free(struct change *c)
{
	if (!c)
		return;
	tree_clear_groups(&c->was);
	g_free(c->whole);
	g_free(c->any);
	g_free(c->bits);
	g_free(c->words);
	g_free(c->listed);
	g_free(c);
}

static bool
change_same_slots(const struct tree *t, const struct tree *was, uint32_t sw)
{
	const struct tree_group *a = &t->ups[t->first_up[sw]];
	const struct tree_group *b = &was->ups[was->first_up[sw]];
	uint32_t n = t->first_up[sw + 1] - t->first_up[sw], i;

	for (i = 0; i < n; i++)
		if (a[i].peer != b[i].peer || a[i].slot != b[i].slot)
			return false;
	return true;
}

bool
change_slots(struct change *c, struct tree *t, uint32_t n_hosts)
{
	uint32_t n = t->g->n_switches, sw, r;
	g_autofree struct tree_level *levels =
		g_memdup2(t->levels, t->n_ranks * sizeof(*levels));
	g_autofree uint32_t *turn = g_memdup2(t->turn, n * sizeof(*turn));
	g_autofree uint8_t *planes =
		g_memdup2(t->planes, (size_t)n * t->n_ranks);

	tree_assign_slots(t, n_hosts);
	for (r = 0; r < t->n_ranks; r++)
		if (levels[r].width != t->levels[r].width ||
		    levels[r].n_cables != t->levels[r].n_cables ||
		    levels[r].pi != t->levels[r].pi)
			return false;
	for (sw = 0; sw < n; sw++) {
		if (c->whole[sw] || (turn[sw] == t->turn[sw] &&
				     change_same_slots(t, &c->was, sw)))
			continue;
		c->whole[sw] = 1;
		c->n_whole++;
	}
	/* By these some wheels were made; any guess will do. */
	memcpy(t->planes, planes, (size_t)n * t->n_ranks);
	return c->n_whole <= MAX(n / MANY_SHARE, 2);
}

static void
change_good_word(struct change *c, struct fill *f, uint32_t sw, uint32_t w)
{
	uint64_t *good = fill_good(f, sw) + w;
	uint64_t now = good_find_word(f, sw, w);

	change_note(c, f->t, sw, w, *good ^ now);
	*good = now;
}

void
change_good(struct change *c, struct fill *f)
{
	const struct tree *t = f->t;
	uint32_t i, sw, w;

	fill_add_down_wheels(f);
	for (i = t->g->n_switches; i > 0; i--) {	/* parents first */
		sw = t->climb[i - 1];
		if (t->rank[sw] == 0)
			break;
		if (c->whole[sw])
			for (w = 0; w < t->n_words; w++)
				change_good_word(c, f, sw, w);
		else if (change_any_above(c, t, sw))
			for (w = 0; w < c->n_words; w++)
				change_good_word(c, f, sw, c->words[w]);
	}
}

/* Adds the bits of `sw`: those in `of`, or those that are not (flip is all
 * ones). */
static void
change_gather(const struct change *c, const struct tree *t, uint32_t sw,
	      const uint64_t *of, uint64_t flip, uint64_t *dests)
{
	const uint64_t *bits = c->bits + (size_t)sw * t->n_words;
	uint32_t i, w;

	if (!c->any[sw])
		return;
	for (i = 0; i < c->n_words; i++) {
		w = c->words[i];
		dests[w] |= bits[w] & (of[w] ^ flip);
	}
}

bool
change_find_dests(const struct change *c, const struct tree *t, uint32_t sw,
		  uint64_t *dests)
{
	const uint64_t *below = tree_set(t, sw, 0);
	uint32_t own = t->dest_of[sw], i;
	uint64_t any = 0;

	/* What came to be below, or ceased to, is among its own. */
	change_gather(c, t, sw, below, 0, dests);
	change_gather(c, t, sw, below, UINT64_MAX, dests);
	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++)
		change_gather(c, t, t->ups[i].peer, below, UINT64_MAX, dests);
	for (i = t->first_down[sw]; i < t->first_down[sw + 1]; i++)
		change_gather(c, t, t->downs[i].peer, below, 0, dests);
	dests[own / 64] &= ~(UINT64_C(1) << own % 64);
	for (i = 0; i < c->n_words; i++)
		any |= dests[c->words[i]];
	return any != 0;
}
