// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Parents that lead on well.
 *
 * Purpose. The formula looks at one switch at a time; a parent that lost a
 * third of its own cables up would still get its full share from below and
 * put it on the rest. What such a parent would have to deal out is better
 * dealt out one hop earlier, over all planes.
 *
 * Meaning. A switch is good for a destination if that is below it; or if the
 * parent in the slot that the formula wants is there, has a shortest way, and
 * is good itself; or if that slot is dead but no other: one loss is made up
 * for where it happened, which moves the least (and is a few per cent on the
 * cables next to it).
 *
 * Flow. Parents first, word by word of the sets; two masks count the dead
 * slots, as none, one, more.
 */
#include <string.h>

#include "routing/ftree_fill.h"

/* masks + (r * TREE_MAX_WHEEL + slot) * n_words: destinations that the formula
 * sends to this slot at rank r, going by where their numbers start. */
static uint64_t *
good_make_masks(const struct fill *f)
{
	const struct tree *t = f->t;
	uint64_t *masks = g_new0(uint64_t, (size_t)t->n_ranks *
				 TREE_MAX_WHEEL * t->n_words);
	uint32_t r, dest, slot;

	for (r = 0; r + 1 < t->n_ranks; r++)
		for (dest = 0; dest < t->g->n_switches; dest++) {
			slot = dest < t->n_leaves ? f->base[dest] :
				t->place[t->switch_of[dest]];
			slot /= t->levels[r].pi;
			slot %= t->levels[r + 1].width;
			masks[(size_t)(r * TREE_MAX_WHEEL + slot) *
			      t->n_words + dest / 64] |=
				UINT64_C(1) << dest % 64;
		}
	return masks;
}

/* Word w of the destinations that are reached n_ups hops up. */
static uint64_t
good_judge(const struct fill *f, uint32_t sw, uint32_t n_ups, uint32_t w)
{
	const struct tree *t = f->t;
	uint32_t n_groups = t->first_up[sw + 1] - t->first_up[sw], i;
	uint32_t n_gone = t->levels[t->rank[sw] + 1].width - n_groups;
	const struct tree_group *ups = t->ups + t->first_up[sw];
	const uint64_t *masks = f->masks + w +
		(size_t)t->rank[sw] * TREE_MAX_WHEEL * t->n_words;
	uint64_t right, wanted = 0, as_wanted = 0, meets;
	uint64_t one = n_gone > 0 ? UINT64_MAX : 0;
	uint64_t more = n_gone > 1 ? UINT64_MAX : 0;

	for (i = 0; i < n_groups; i++) {
		right = tree_set(t, ups[i].peer, n_ups - 1)[w];
		more |= one & ~right;
		one |= ~right;
		meets = masks[(size_t)ups[i].slot * t->n_words] & right;
		wanted |= meets;
		as_wanted |= meets & fill_good(f, ups[i].peer)[w];
	}
	return as_wanted | (~wanted & ~more);
}

uint64_t
good_find_word(const struct fill *f, uint32_t sw, uint32_t w)
{
	const struct tree *t = f->t;
	uint64_t good = tree_set(t, sw, 0)[w], set;
	uint32_t k;

	if (t->first_up[sw] == t->first_up[sw + 1])
		return good;
	for (k = 1; k < t->n_sets; k++) {
		set = tree_set(t, sw, k)[w];
		if (set)
			good |= set & good_judge(f, sw, k, w);
	}
	return good;
}

void
good_find(struct fill *f)
{
	const struct tree *t = f->t;
	uint32_t i, sw, w;

	f->masks = good_make_masks(f);
	f->good = g_new0(uint64_t, (size_t)t->g->n_switches * t->n_words);
	for (i = t->g->n_switches; i > 0; i--) {
		sw = t->climb[i - 1];
		if (t->rank[sw] == 0)
			break;	/* nobody's parent */
		for (w = 0; w < t->n_words; w++)
			fill_good(f, sw)[w] = good_find_word(f, sw, w);
	}
}
