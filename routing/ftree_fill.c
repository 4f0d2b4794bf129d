// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The closed form.
 *
 * Purpose. One look-up for an entry, and no look-up that could be made once
 * for a whole subtree.
 *
 * The form. At a switch of rank r, for the LID with topological number t:
 *   down, if the destination is below: to the child above it, through
 *	parallel cable (t / pi[r]) mod p;
 *   up, else: q = (t / pi[r]) mod (w p), with the width w and the parallel
 *	cables p of the links to rank r + 1; slot q mod w, cable q / w;
 * pi[r] being the product of the widths up to rank r, without p. Numbers are
 * those of ftree_hosts.c; a switch's own LID goes by its place in the tree.
 * On a healthy PGFT this is D-mod-k.
 *
 * Damage. A slot whose cable is gone, or whose switch has lost its way to the
 * destination, is dead, and its destinations are dealt out over the cables
 * that are alive, in order, from one that differs from switch to switch and
 * from destination to destination: so a destination without its plane takes a
 * little of every other, seen from all sources, where one modulus of what is
 * left would move it onto one; and what is alive stays where it was.
 *   Neighbours send to the same destination in the same step of a program, and
 * their lists of what is alive are not the same; so they begin a golden
 * section apart, not next to each other. And where a leaf dealt out what is
 * dead there, a LID that came to this switch by another plane than its own
 * goes up by another slot than those that belong here: what met once does not
 * meet all along the way.
 *
 * Structs. A wheel is q for all entries at a rank: the divisions are made once
 * for the fabric. struct deck is what q means at one switch: a port for each
 * q, and the list of those that are alive.
 *
 * Flow. fill_rows: for each row, row_go_up: for each number of hops up, the
 * destinations for which all parents are right share one deck and are
 * written in runs; the others get a deck each. row_go_down: by child;
 * row_deliver: the switch's own.
 *   Rows share nothing but what fill_new() made.
 *
 * Source. J. Gliksberg et al., arXiv 2211.11817, for pi by rank and the order
 * of numbers; the dealing out is not theirs. Why the golden section: D. E.
 * Knuth, The Art of Computer Programming 3, 6.4, theorem S.
 */
#include <stdlib.h>
#include <string.h>

#include "routing/ftree_fill.h"
#include "routing/translate.h"

#define MAX_LIVE	256u	/* ports of a switch */
#define FEW		8u	/* columns by themselves, not transposed */
#define GOLDEN		2654435769u	/* 2^32 times the golden section */
#define CACHED		(8u << 20)	/* an arena that may stay in a cache */

struct deck {
	uint32_t n_slots, n_live, n_dead;
	uint8_t port[256];	/* by q; LFT_NO_PATH: dead */
	uint8_t live[MAX_LIVE];
	uint8_t dead[TREE_MAX_WHEEL];	/* q */
};

struct row {
	const struct fill *f;
	const struct tree *t;
	uint32_t sw, rank;
	uint32_t lap;		/* numbers that a wheel takes to go round */
	uint8_t *ports;		/* the row, small enough to stay near */
	bool covered;		/* by what lid_wheel says */
	uint32_t first, last;	/* words of sets that are looked at, fours */
	const uint64_t *only;	/* destinations; NULL: all */
	uint64_t *full, *rest;	/* scratch, sets */
	struct deck deck, other;
};

/* One port for the destinations from..to - 1. */
static void
row_put_port(struct row *row, uint32_t from, uint32_t to, uint8_t port)
{
	const struct fill *f = row->f;
	uint32_t i = f->first_entry[from], end = f->first_entry[to], next;

	for (; i < end; i = next) {
		next = MIN(f->run_end[i], end);
		if (next == i + 1)
			row->ports[f->lid[i]] = port;
		else
			memset(row->ports + f->lid[i], port, next - i);
	}
	for (; from < to; from++)
		fill_put_own(f, row->ports, from, port);
}

/* What a wheel says, for all CAs on from..to - 1. */
static void
row_put_entries(struct row *row, uint32_t from, uint32_t to,
		const uint8_t *port, const uint8_t *wheel)
{
	const uint16_t *lid = row->f->lid;
	uint8_t *ports = row->ports;
	uint32_t i = row->f->first_entry[from], end = row->f->first_entry[to];

	for (; i < end; i++)
		ports[lid[i]] = port[wheel[i]];
}

static void
row_put_deck(struct row *row, uint32_t from, uint32_t to, const uint8_t *port)
{
	const uint8_t *own = row->f->own_wheel[row->rank];

	row_put_entries(row, from, to, port, row->f->up_wheel[row->rank]);
	for (; from < to; from++)
		fill_put_own(row->f, row->ports, from, port[own[from]]);
}

/* A group's cables into the slots and into what is alive. */
static void
deck_add(struct deck *deck, const struct tree_level *level,
	 const struct graph_edge *edges, const struct tree_group *group)
{
	uint32_t i;

	for (i = 0; i < group->n_cables; i++) {
		deck->live[deck->n_live++] = edges[group->first_edge + i].port;
		if (i < level->n_cables)
			deck->port[group->slot + i * level->width] =
				edges[group->first_edge + i].port;
	}
}

static void
deck_start(struct deck *deck, const struct tree_level *level)
{
	deck->n_slots = level->width * level->n_cables;
	deck->n_live = deck->n_dead = 0;
	memset(deck->port, (int)LFT_NO_PATH, deck->n_slots);
}

static void
deck_finish(struct deck *deck)
{
	uint32_t q;

	for (q = 0; q < deck->n_slots; q++)
		if (deck->port[q] == LFT_NO_PATH)
			deck->dead[deck->n_dead++] = (uint8_t)q;
}

/* All parents. */
static void
row_make_deck(const struct row *row, struct deck *deck)
{
	const struct tree *t = row->t;
	const struct tree_level *level = &t->levels[row->rank + 1];
	uint32_t i;

	deck_start(deck, level);
	for (i = t->first_up[row->sw]; i < t->first_up[row->sw + 1]; i++)
		deck_add(deck, level, t->g->edges, &t->ups[i]);
	deck_finish(deck);
}

/* a[i] bit j becomes a[j] bit i: blocks are swapped, of half the size each
 * time. */
static void
row_transpose(uint64_t a[64])
{
	uint64_t mask = UINT32_MAX, x;
	uint32_t step, i;

	for (step = 32; step > 0; step /= 2, mask ^= mask << step)
		for (i = 0; i < 64; i = (i + step + 1) & ~step) {
			x = (a[i] >> step ^ a[i + step]) & mask;
			a[i] ^= x << step;
			a[i + step] ^= x;
		}
}

/* Bit j of each. */
static uint64_t
row_column(const uint64_t *a, uint32_t n, uint32_t j)
{
	uint64_t column = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		column |= (a[i] >> j & 1) << i;
	return column;
}

/* Up to 64 parents, of those of the destinations 64 w to 64 w + 63 that are in
 * `word`: to the masks of those from which a destination is n_ups hops up and
 * then down; only those that are good for it, unless these are less than
 * three quarters: then the others are worth more than what they dodge. */
static void
row_find_parents(const struct row *row, uint32_t first, uint32_t n,
		 uint32_t n_ups, uint32_t w, uint64_t word,
		 uint64_t masks[64])
{
	const struct tree *t = row->t;
	bool few = __builtin_popcountll(word) <= FEW;
	uint64_t sets[64] = { 0 }, good[64] = { 0 }, best;
	uint32_t i, j, peer;

	for (i = 0; i < n; i++) {
		peer = t->ups[first + i].peer;
		sets[i] = tree_set(t, peer, n_ups)[w];
		good[i] = sets[i] & fill_good(row->f, peer)[w];
	}
	if (!few) {
		row_transpose(sets);
		row_transpose(good);
	}
	for (; word; word &= word - 1) {
		j = (uint32_t)__builtin_ctzll(word);
		masks[j] = few ? row_column(sets, n, j) : sets[j];
		best = few ? row_column(good, n, j) : good[j];
		if (__builtin_popcountll(best) * 4 >=
		    __builtin_popcountll(masks[j]) * 3)
			masks[j] = best;
	}
}

/* Only some parents: n_masks times 64. */
static void
row_make_deck_of(const struct row *row, struct deck *deck,
		 const uint64_t *masks, uint32_t n_masks)
{
	const struct tree *t = row->t;
	const struct tree_level *level = &t->levels[row->rank + 1];
	uint32_t i, j;
	uint64_t mask;

	deck_start(deck, level);
	for (i = 0; i < n_masks; i++)
		for (mask = masks[i]; mask; mask &= mask - 1) {
			j = i * 64 + (uint32_t)__builtin_ctzll(mask);
			deck_add(deck, level, t->g->edges,
				 &t->ups[t->first_up[row->sw] + j]);
		}
	deck_finish(deck);
}

/* How often the wheel has gone round before this destination: a number that
 * goes up by one from one destination in a slot to the next in the same. */
static uint32_t
row_lap(const struct row *row, uint32_t dest)
{
	if (dest >= row->t->n_leaves)
		return row->t->place[row->t->switch_of[dest]];
	return row->f->base[dest] / row->lap;
}

/* The first that is dealt to: turns that follow each other lie far apart, and
 * any number of them evenly. */
static uint32_t
row_deal_from(const struct row *row, uint32_t dest, uint32_t n_live)
{
	uint32_t turn = row->t->turn[row->sw] * GOLDEN;

	return (uint32_t)(((uint64_t)turn * n_live >> 32) +
			  row_lap(row, dest)) % n_live;
}

/* What is dead at this switch, by LID: first[] is where each slot begins, for
 * planes to count from. */
static void
row_deal_planes(struct row *row, const struct deck *deck, uint32_t dest,
		const uint8_t *first)
{
	const struct fill *f = row->f;
	const uint8_t *wheel = f->up_wheel[row->rank];
	const uint8_t *plane = f->up_wheel[row->rank - 1];
	uint32_t i, at;

	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++) {
		if (deck->port[wheel[i]] != LFT_NO_PATH)
			continue;
		at = (first[wheel[i]] + plane[i]) % deck->n_live;
		row->ports[f->lid[i]] = deck->live[at];
	}
}

/* One destination, what is dead dealt out. */
static void
row_deal(struct row *row, const struct deck *deck, uint32_t dest)
{
	uint8_t port[TREE_MAX_WHEEL], first[TREE_MAX_WHEEL];
	uint32_t i, at, step;

	if (deck->n_dead == 0) {
		row_put_deck(row, dest, dest + 1, deck->port);
		return;
	}
	memcpy(port, deck->port, deck->n_slots);
	step = MAX(deck->n_live / deck->n_dead, 1) % deck->n_live;
	at = row_deal_from(row, dest, deck->n_live);
	for (i = 0; i < deck->n_dead; i++) {
		first[deck->dead[i]] = (uint8_t)at;
		port[deck->dead[i]] = deck->live[at];
		at += step;
		if (at >= deck->n_live)
			at -= deck->n_live;
	}
	row_put_deck(row, dest, dest + 1, port);
	if (row->rank > 0)
		row_deal_planes(row, deck, dest, first);
}

/* The whole row by LID, from first to last; what is wrong is put right by
 * those who come after, and what has no way here. */
static void
row_blanket(struct row *row, const uint8_t *by_lid, uint8_t port[256],
	    uint32_t n_used)
{
	const struct tree *t = row->t;
	uint32_t n = t->g->n_switches, from = 0, to, k, w;

	port[FILL_NO_INDEX] = LFT_NO_PATH;
	translate_bytes(row->ports, by_lid, row->f->row_size, port, n_used);
	row->covered = true;

	memset(row->rest, 0xff, t->n_words * sizeof(*row->rest));
	for (k = 0; k < t->n_sets; k++)
		for (w = 0; w < t->n_words; w++)
			row->rest[w] &= ~tree_set(t, row->sw, k)[w];
	for (; set_next_run(row->rest, n, &from, &to); from = to)
		row_put_port(row, from, to, LFT_NO_PATH);
}

/* Nothing yet. */
static void
row_clear(struct row *row)
{
	memset(row->ports, (int)LFT_NO_PATH, row->f->row_size);
}

/* Of word w, what is to be made. */
static uint64_t
row_only(const struct row *row, uint32_t w)
{
	return row->only ? row->only[w] : UINT64_MAX;
}

/* The next run of a set, as far as sets are looked at. */
static bool
row_next_run(const struct row *row, const uint64_t *set, uint32_t *from,
	     uint32_t *to)
{
	*from = MAX(*from, row->first * 64);
	return set_next_run(set, MIN(row->t->g->n_switches, row->last * 64),
			     from, to);
}

/* Are these more than half of the destinations with CAs? */
static bool
row_is_most(const struct row *row, const uint64_t *set)
{
	uint32_t end = row->t->n_leaves, n = 0, w;

	for (w = 0; w < end / 64; w++)
		n += (uint32_t)__builtin_popcountll(set[w]);
	if (end % 64)
		n += (uint32_t)__builtin_popcountll(set[w] << (64 - end % 64));
	return n > end / 2;
}

/* Of a blanket, what was taken for a plane and is not. */
static void
row_mend_guesses(struct row *row)
{
	const struct tree *t = row->t;
	const uint64_t *guesses = row->f->guesses[row->rank];
	const uint8_t *own = row->f->own_wheel[row->rank];
	uint32_t slot, w, dest;
	uint64_t word;

	for (slot = 0; slot < t->levels[row->rank + 1].width; slot++)
		for (w = t->n_leaves / 64; w < t->n_words; w++)
			for (word = row->full[w] &
			     guesses[slot * t->n_words + w]; word;
			     word &= word - 1) {
				dest = w * 64 +
					(uint32_t)__builtin_ctzll(word);
				fill_put_own(row->f, row->ports, dest,
					     row->deck.port[own[dest]]);
			}
}

/* Destinations for which every parent is good. */
static void
row_go_up_full(struct row *row)
{
	uint32_t from = 0, to;

	if (!row->only && row->deck.n_dead == 0 &&
	    row_is_most(row, row->full)) {
		row_blanket(row, row->f->lid_wheel[row->rank],
			    row->deck.port, row->deck.n_slots);
		row_mend_guesses(row);
		return;
	}
	if (!row->only)
		row_clear(row);
	for (; row_next_run(row, row->full, &from, &to); from = to) {
		if (row->deck.n_dead == 0) {
			row_put_deck(row, from, to, row->deck.port);
			continue;
		}
		for (; from < to; from++)
			row_deal(row, &row->deck, from);
	}
}

/* Switches without CAs: the first parent that is right. */
static void
row_go_up_own(struct row *row, uint32_t n_ups)
{
	const struct tree *t = row->t;
	uint32_t n_groups = t->first_up[row->sw + 1] - t->first_up[row->sw];
	uint32_t i, w, dest;
	const struct tree_group *group;
	const uint64_t *set, *guess;
	uint64_t word;
	uint8_t port;

	for (i = 0; i < n_groups; i++) {
		group = t->ups + t->first_up[row->sw] +
			(i + t->turn[row->sw]) % n_groups;
		set = tree_set(t, group->peer, n_ups);
		port = t->g->edges[group->first_edge].port;
		guess = row->f->guesses[row->rank] +
			(size_t)group->slot * t->n_words;
		for (w = MAX(t->n_leaves / 64, row->first); w < row->last;
		     w++) {
			word = row->rest[w] & set[w];
			row->rest[w] &= ~word;
			if (row->covered)	/* it is there already */
				word &= ~guess[w];
			for (; word; word &= word - 1) {
				dest = w * 64 +
					(uint32_t)__builtin_ctzll(word);
				fill_put_own(row->f, row->ports, dest, port);
			}
		}
	}
}

/* Destinations that some parents cannot reach: one word of them. Those next to
 * each other mostly have the same parents left. */
static void
row_go_up_word(struct row *row, uint32_t n_ups, uint32_t w, uint64_t word)
{
	const struct tree *t = row->t;
	uint32_t first = t->first_up[row->sw];
	uint32_t n = t->first_up[row->sw + 1] - first, n_masks, i, j;
	uint64_t masks[4][64], mine[4], last[4] = { 0 };

	n_masks = (n + 63) / 64;
	for (i = 0; i < n_masks; i++)
		row_find_parents(row, first + i * 64, MIN(n - i * 64, 64),
				 n_ups, w, word, masks[i]);
	row_make_deck_of(row, &row->other, last, n_masks);
	for (; word; word &= word - 1) {
		j = (uint32_t)__builtin_ctzll(word);
		for (i = 0; i < n_masks; i++)
			mine[i] = masks[i][j];
		if (memcmp(mine, last, n_masks * sizeof(*mine)) != 0) {
			memcpy(last, mine, n_masks * sizeof(*mine));
			row_make_deck_of(row, &row->other, last, n_masks);
		}
		row_deal(row, &row->other, w * 64 + j);
	}
}

static void
row_go_up_rest(struct row *row, uint32_t n_ups)
{
	uint32_t end = row->t->n_leaves, w;
	uint64_t word;

	for (w = row->first; w < row->last && w * 64 < end; w++) {
		word = row->rest[w];
		if (w == end / 64)
			word &= (UINT64_C(1) << end % 64) - 1;
		if (!word)
			continue;
		row_go_up_word(row, n_ups, w, word);
		row->rest[w] &= ~word;
	}
	row_go_up_own(row, n_ups);
}

/* n is a multiple of four. */
static void
row_meet(uint64_t *restrict to, const uint64_t *restrict a,
	 const uint64_t *restrict b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += 4) {
		to[i] &= a[i] & b[i];
		to[i + 1] &= a[i + 1] & b[i + 1];
		to[i + 2] &= a[i + 2] & b[i + 2];
		to[i + 3] &= a[i + 3] & b[i + 3];
	}
}

/* row->full: destinations for which every parent is good. */
static void
row_find_full(struct row *row)
{
	const struct tree *t = row->t;
	uint32_t first = row->first, n = row->last - first, k, i, w;

	memset(row->full + first, 0, n * sizeof(*row->full));
	for (k = 1; k < t->n_sets; k++) {
		memcpy(row->rest + first, tree_set(t, row->sw, k) + first,
		       n * sizeof(*row->rest));
		for (i = t->first_up[row->sw]; i < t->first_up[row->sw + 1];
		     i++)
			row_meet(row->rest + first,
				 tree_set(t, t->ups[i].peer, k - 1) + first,
				 fill_good(row->f, t->ups[i].peer) + first,
				 n);
		for (w = first; w < row->last; w++)
			row->full[w] |= row->rest[w];
	}
	for (w = first; row->only && w < row->last; w++)
		row->full[w] &= row->only[w];
}

static void
row_go_up(struct row *row)
{
	const struct tree *t = row->t;
	const uint64_t *set;
	uint64_t any;
	uint32_t k, w;

	if (t->first_up[row->sw] == t->first_up[row->sw + 1])
		return;
	row_make_deck(row, &row->deck);
	row->lap = row->deck.n_slots * t->levels[row->rank].pi;
	row_find_full(row);
	row_go_up_full(row);
	for (k = 1; k < t->n_sets; k++) {
		set = tree_set(t, row->sw, k);
		for (w = row->first, any = 0; w < row->last; w++)
			any |= row->rest[w] = set[w] & ~row->full[w] &
				row_only(row, w);
		if (any)
			row_go_up_rest(row, k - 1);
	}
}

/* A destination below several children: not in a tree that branches only
 * downwards, but there are others. */
static void
row_go_down_either(struct row *row, uint32_t dest)
{
	const struct tree *t = row->t;
	const struct tree_group *groups[MAX_LIVE], *group;
	uint32_t i, n = 0, turn;

	for (i = t->first_down[row->sw]; i < t->first_down[row->sw + 1]; i++)
		if (set_has(tree_set(t, t->downs[i].peer, 0), dest))
			groups[n++] = &t->downs[i];
	for (i = row->f->first_entry[dest]; i < row->f->first_entry[dest + 1];
	     i++) {
		turn = row->f->nid[i] / t->levels[row->rank].pi;
		group = groups[turn % n];
		row->ports[row->f->lid[i]] =
			t->g->edges[group->first_edge +
				    turn / n % group->n_cables].port;
	}
	fill_put_own(row->f, row->ports, dest,
		     t->g->edges[groups[dest % n]->first_edge].port);
}

/* What is below this child and no other. */
static void
row_go_down_group(struct row *row, const struct tree_group *group)
{
	const struct tree *t = row->t;
	uint32_t from = 0, to, w, i;
	uint8_t port[256];
	const uint8_t *wheel =
		row->f->down_wheel[row->rank * 256 + group->n_cables];
	const uint64_t *set = tree_set(t, group->peer, 0);

	for (w = row->first; w < row->last; w++)
		row->full[w] = set[w] & ~row->rest[w] & row_only(row, w);
	for (i = 0; i < group->n_cables; i++)
		port[i] = t->g->edges[group->first_edge + i].port;
	for (; row_next_run(row, row->full, &from, &to); from = to) {
		if (group->n_cables == 1) {
			row_put_port(row, from, to, port[0]);
			continue;
		}
		row_put_entries(row, from, to, port, wheel);
		for (; from < to; from++)
			fill_put_own(row->f, row->ports, from,
				     port[from % group->n_cables]);
	}
}

/* From the top of a tree: each pod by its child. False if it is not that
 * simple. */
static bool
row_fan_out(struct row *row)
{
	const struct tree *t = row->t;
	const uint32_t *pods = row->f->pods[row->rank];
	uint8_t port[256];
	uint32_t i, pod;

	if (!pods || t->first_up[row->sw] != t->first_up[row->sw + 1] ||
	    !row_is_most(row, tree_set(t, row->sw, 0)))
		return false;
	memset(port, (int)LFT_NO_PATH, sizeof(port));
	for (i = t->first_down[row->sw]; i < t->first_down[row->sw + 1]; i++) {
		pod = pods[t->downs[i].peer];
		if (t->downs[i].n_cables > 1 || port[pod] != LFT_NO_PATH)
			return false;
		port[pod] = t->g->edges[t->downs[i].first_edge].port;
	}
	row_blanket(row, row->f->lid_pod[row->rank], port,
		    row->f->n_pods[row->rank]);
	return true;
}

/* row->rest: what is below several children. */
static void
row_find_shared(struct row *row)
{
	const struct tree *t = row->t;
	const uint64_t *set;
	uint32_t first = row->first, n = row->last - first, i, w;

	memset(row->full + first, 0, n * sizeof(*row->full));
	memset(row->rest + first, 0, n * sizeof(*row->rest));
	for (i = t->first_down[row->sw]; i < t->first_down[row->sw + 1]; i++) {
		set = tree_set(t, t->downs[i].peer, 0);
		for (w = first; w < row->last; w++) {
			row->rest[w] |= row->full[w] & set[w];
			row->full[w] |= set[w];
		}
	}
}

static void
row_go_down(struct row *row)
{
	const struct tree *t = row->t;
	uint32_t from = 0, to, i;

	if (!row->only && row_fan_out(row))
		return;
	if (!row->only && t->first_up[row->sw] == t->first_up[row->sw + 1])
		row_clear(row);
	row_find_shared(row);
	for (; row_next_run(row, row->rest, &from, &to); from = to)
		for (; from < to; from++)
			if (!row->only || set_has(row->only, from))
				row_go_down_either(row, from);
	for (i = t->first_down[row->sw]; i < t->first_down[row->sw + 1]; i++)
		row_go_down_group(row, &t->downs[i]);
}

static void
row_deliver(struct row *row)
{
	const struct fill *f = row->f;
	uint32_t dest = row->t->dest_of[row->sw], i;

	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++)
		row->ports[f->lid[i]] = f->exit[i];
	fill_put_own(f, row->ports, dest, 0);
}

struct row *
row_new(const struct fill *f)
{
	struct row *row = g_new0(struct row, 1);

	row->f = f;
	row->t = f->t;
	row->ports = aligned_alloc(LFT_BLOCK, f->row_size);
	g_assert(row->ports);
	row->full = g_new(uint64_t, f->t->n_words);
	row->rest = g_new(uint64_t, f->t->n_words);
	return row;
}

void
row_free(struct row *row)
{
	free(row->ports);
	g_free(row->full);
	g_free(row->rest);
	g_free(row);
}

uint8_t *
row_fill(struct row *row, uint32_t sw)
{
	row->sw = sw;
	row->rank = row->t->rank[sw];
	row->first = 0;
	row->last = row->t->n_words;
	row->only = NULL;
	row->covered = false;
	row_go_up(row);
	row_go_down(row);
	row_deliver(row);
	return row->ports;
}

uint8_t *
row_patch(struct row *row, uint32_t sw, const uint64_t *dests)
{
	uint32_t w, from, to;

	g_assert(!set_has(dests, row->t->dest_of[sw]));
	row->sw = sw;
	row->rank = row->t->rank[sw];
	row->only = dests;
	row->covered = false;
	for (w = 0; w < row->t->n_words; w += 4) {
		if (!(dests[w] | dests[w + 1] | dests[w + 2] | dests[w + 3]))
			continue;
		row->first = w;
		row->last = w + 4;
		for (from = 0; row_next_run(row, dests, &from, &to);
		     from = to)
			row_put_port(row, from, to, LFT_NO_PATH);
		row_go_up(row);
		row_go_down(row);
	}
	return row->ports;
}

/* What is past the LIDs of today is left alone. */
void
row_store(const struct row *row, struct lft *out)
{
	uint8_t *to = lft_row(out, row->sw);

	if ((size_t)out->n_switches * out->stride > CACHED)
		translate_store(to, row->ports, row->f->row_size);
	else
		memcpy(to, row->ports, row->f->row_size);
}
