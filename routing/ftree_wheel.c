// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the formula says, tabulated once for all rows.
 *
 * Purpose. A row is a look-up for each entry. What depends on the entry and
 * the rank alone is made here: all divisions, and by LID, so that whole rows
 * can be translated at once.
 *
 * Structs. A wheel is q for all entries at a rank, by entry, by destination
 * for ports 0, or by LID for both. A LID wheel guesses for the port 0 of a
 * switch that is above the rank: the slot of its plane, by which alone it is
 * reached in a healthy tree. Who fills rows checks each guess.
 *   A pod is a component of the ranks below: from the top of a tree each is
 * reached by one child.
 */
#include <string.h>

#include "routing/ftree_fill.h"

static void
fill_find_runs(struct fill *f)
{
	uint32_t i;

	f->run_end = g_new(uint32_t, f->n_entries);
	for (i = f->n_entries; i > 0; i--)
		f->run_end[i - 1] = i < f->n_entries &&
			f->lid[i] == f->lid[i - 1] + 1 ? f->run_end[i] : i;
}

static uint8_t *
fill_turn_wheel(const struct fill *f, uint32_t pi, uint32_t modulus)
{
	uint8_t *wheel = g_malloc(f->n_entries + 1u);
	uint32_t i;

	for (i = 0; i < f->n_entries; i++)
		wheel[i] = (uint8_t)(f->nid[i] / pi % modulus);
	return wheel;
}

/* Nothing for any LID yet. */
static uint8_t *
fill_new_lids(const struct fill *f)
{
	uint8_t *by_lid = g_malloc(f->row_size);

	memset(by_lid, (int)FILL_NO_INDEX, f->row_size);
	return by_lid;
}

/* The wheels of a rank by LID, or planes for what is above it. */
static void
fill_spread_wheel(struct fill *f, uint32_t r)
{
	const struct tree *t = f->t;
	uint32_t n = t->g->n_switches, width = t->levels[r + 1].width;
	const uint8_t *planes = t->planes + (size_t)(r + 1) * n;
	uint8_t *by_lid = fill_new_lids(f), slot;
	uint64_t *guesses = g_new0(uint64_t, (size_t)width * t->n_words);
	uint32_t i, dest;

	for (i = 0; i < f->n_entries; i++)
		by_lid[f->lid[i]] = f->up_wheel[r][i];
	for (dest = 0; dest < n; dest++) {
		slot = planes[t->switch_of[dest]];
		if (dest < t->n_leaves || slot >= width) {
			fill_put_own(f, by_lid, dest, f->own_wheel[r][dest]);
			continue;
		}
		fill_put_own(f, by_lid, dest, slot);
		guesses[(size_t)slot * t->n_words + dest / 64] |=
			UINT64_C(1) << dest % 64;
	}
	f->lid_wheel[r] = by_lid;
	f->guesses[r] = guesses;
}

/* Numbers the components of the ranks below r, in which the children of a
 * switch of rank r are; as bytes, or not at all. */
static void
fill_number_pods(struct fill *f, uint32_t r)
{
	const struct tree *t = f->t;
	uint32_t n = t->g->n_switches, sw, dest, i, n_pods = 0;
	const uint32_t *label = t->pods + (size_t)(r - 1) * n;
	g_autofree uint32_t *pods = g_new(uint32_t, n);
	uint8_t *by_lid;

	for (sw = 0; sw < n; sw++)	/* labels are the lowest members */
		if (t->rank[sw] >= r)
			pods[sw] = FILL_NO_INDEX;
		else if (label[sw] == sw)
			pods[sw] = n_pods++;
		else
			pods[sw] = pods[label[sw]];
	if (n_pods > TREE_MAX_WHEEL)
		return;
	by_lid = fill_new_lids(f);
	for (dest = 0; dest < n; dest++) {
		sw = t->switch_of[dest];
		for (i = f->first_entry[dest]; i < f->first_entry[dest + 1];
		     i++)
			by_lid[f->lid[i]] = (uint8_t)pods[sw];
		fill_put_own(f, by_lid, dest, (uint8_t)pods[sw]);
	}
	f->pods[r] = g_steal_pointer(&pods);
	f->lid_pod[r] = by_lid;
	f->n_pods[r] = n_pods;
}

void
fill_add_down_wheels(struct fill *f)
{
	const struct tree *t = f->t;
	uint32_t n = t->first_down[t->g->n_switches], i, r;
	uint8_t **wheel;

	for (i = 0; i < n; i++) {
		if (t->downs[i].n_cables == 1)
			continue;
		r = t->rank[t->downs[i].peer] + 1u;
		wheel = &f->down_wheel[r * 256 + t->downs[i].n_cables];
		if (!*wheel)
			*wheel = fill_turn_wheel(f, t->levels[r].pi,
						 t->downs[i].n_cables);
	}
}

static void
fill_make_wheels(struct fill *f)
{
	const struct tree *t = f->t;
	const struct tree_level *level;
	uint32_t n = t->g->n_switches, r, dest, pi, modulus;

	f->up_wheel = g_new0(uint8_t *, t->n_ranks);
	f->own_wheel = g_new0(uint8_t *, t->n_ranks);
	f->lid_wheel = g_new0(uint8_t *, t->n_ranks);
	f->guesses = g_new0(uint64_t *, t->n_ranks);
	f->lid_pod = g_new0(uint8_t *, t->n_ranks);
	f->n_pods = g_new0(uint32_t, t->n_ranks);
	f->pods = g_new0(uint32_t *, t->n_ranks);
	f->down_wheel = g_new0(uint8_t *, t->n_ranks * 256u);
	for (r = 0; r + 1 < t->n_ranks; r++) {
		level = &t->levels[r + 1];
		modulus = level->width * level->n_cables;
		pi = t->levels[r].pi;
		f->up_wheel[r] = fill_turn_wheel(f, pi, modulus);
		f->own_wheel[r] = g_malloc(n);
		for (dest = 0; dest < n; dest++)
			f->own_wheel[r][dest] =
				(uint8_t)(t->place[t->switch_of[dest]] /
					  pi % modulus);
		fill_spread_wheel(f, r);
		fill_number_pods(f, r + 1);
	}
	fill_add_down_wheels(f);
}

struct fill *
fill_new(const struct tree *t, const struct hosts *h)
{
	struct fill *f = g_new0(struct fill, 1);

	f->t = t;
	f->n_entries = h->n;
	f->first_entry = h->first;
	f->lid = h->lid;
	f->exit = h->port;
	f->nid = h->number;
	f->base = h->base;
	f->own_lid = h->own_lid;
	f->n_own = h->n_own;
	f->row_size = (t->g->top / LFT_BLOCK + 1) * LFT_BLOCK;
	fill_find_runs(f);
	fill_make_wheels(f);
	good_find(f);
	return f;
}

void
fill_free(struct fill *f)
{
	uint32_t i;

	for (i = 0; i < f->t->n_ranks; i++) {
		g_free(f->up_wheel[i]);
		g_free(f->own_wheel[i]);
		g_free(f->lid_wheel[i]);
		g_free(f->guesses[i]);
		g_free(f->lid_pod[i]);
		g_free(f->pods[i]);
	}
	for (i = 0; i < f->t->n_ranks * 256; i++)
		g_free(f->down_wheel[i]);
	g_free(f->up_wheel);
	g_free(f->own_wheel);
	g_free(f->lid_wheel);
	g_free(f->guesses);
	g_free(f->lid_pod);
	g_free(f->n_pods);
	g_free(f->pods);
	g_free(f->down_wheel);
	g_free(f->run_end);
	g_free(f->good);
	g_free(f->masks);
	g_free(f);
}

