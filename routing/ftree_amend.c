// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of before, made those of a tree that changed a little.
 *
 * Purpose. One cable concerns few entries of large tables. To find them is
 * what this is about: the rest is neither computed nor copied nor compared.
 *
 * Flow. Each row has a list of destinations to be done, and some rows are done
 * whole; ftree_change.c knows which.
 *   Members of the transfers come first, all together, since they look at one
 * another: destinations for which anything differs at any of them are done
 * anew at all of them (struct work: `call`), since each destination is for
 * itself. If the members, or their ways to each other, are not those of
 * before, that is all of them.
 *   Others go up where they have no way of their own, if all members have one:
 * so they are also to be done for destinations of which this was otherwise
 * before, and done whole if a switch above has begun or ceased to lead to a
 * member.
 *
 * What changed is seen entry by entry as it is written, by members at the end,
 * since their rows pass through states in between.
 */
#include "routing/ftree_amend.h"

#include <string.h>

struct work {
	const struct amend *a;
	const struct tree *t;
	struct lft *out;
	struct row *row;
	uint8_t *whole;		/* by switch */
	uint8_t *any;		/* by switch: it has destinations to do */
	uint64_t *todo;		/* by switch, a set */
	uint64_t *call;		/* a set, for members */
	uint64_t *away;		/* scratch, a set */
	uint64_t **clear;	/* x->clear of before; NULL: not known; then
				   where it is another; NULL: nowhere */
	uint64_t marks[LID_UNICAST_MAX / LFT_BLOCK / 64 + 1];	/* blocks */
};

static uint64_t *
amend_todo(const struct work *k, uint32_t sw)
{
	return k->todo + (size_t)sw * k->t->n_words;
}

static void
amend_mark(struct work *k, uint32_t lid)
{
	uint32_t block = lid / LFT_BLOCK;

	k->marks[block / 64] |= UINT64_C(1) << block % 64;
}

/* Lists the blocks of a row that are marked. */
static void
amend_list_marks(struct work *k, uint32_t sw)
{
	uint32_t n_blocks = lft_n_blocks(k->out), block, i;

	for (i = 0; i < G_N_ELEMENTS(k->marks); i++) {
		for (; k->marks[i]; k->marks[i] &= k->marks[i] - 1) {
			block = sw * n_blocks + i * 64 +
				(uint32_t)__builtin_ctzll(k->marks[i]);
			g_array_append_val(k->a->changed, block);
		}
	}
}

/* Copies entries of the destinations in a set. */
static void
amend_copy(const struct work *k, const uint64_t *dests, uint8_t *to,
	   const uint8_t *from)
{
	const struct fill *f = k->a->f;
	uint32_t at = 0, end, i, lid;

	for (; set_next_run(dests, k->t->g->n_switches, &at, &end); at = end)
		for (; at < end; at++) {
			for (i = f->first_entry[at]; i < f->first_entry[at + 1];
			     i++)
				to[f->lid[i]] = from[f->lid[i]];
			lid = f->own_lid[at];
			for (i = 0; i < f->n_own[at]; i++)
				to[lid + i] = from[lid + i];
		}
}

/* Marks where two rows differ in destinations of a set. */
static void
amend_compare(struct work *k, const uint64_t *dests, const uint8_t *a,
	      const uint8_t *b)
{
	const struct fill *f = k->a->f;
	uint32_t at = 0, end, i, lid;

	for (; set_next_run(dests, k->t->g->n_switches, &at, &end); at = end)
		for (; at < end; at++) {
			for (i = f->first_entry[at]; i < f->first_entry[at + 1];
			     i++)
				if (a[f->lid[i]] != b[f->lid[i]])
					amend_mark(k, f->lid[i]);
			lid = f->own_lid[at];
			for (i = lid; i < lid + f->n_own[at]; i++)
				if (a[i] != b[i])
					amend_mark(k, i);
		}
}

/* The same for all of a row. */
static void
amend_compare_row(struct work *k, const uint8_t *a, const uint8_t *b)
{
	uint32_t lid;

	for (lid = 0; lid < k->a->f->row_size; lid += LFT_BLOCK)
		if (memcmp(a + lid, b + lid, LFT_BLOCK) != 0)
			amend_mark(k, lid);
}

/* Whole rows, and what the change of the tree says of the others. */
static void
amend_find_todo(struct work *k)
{
	const struct tree *t = k->t;
	const struct amend *a = k->a;
	uint32_t n = t->g->n_switches, sw, i;
	bool lifts;

	for (sw = 0; sw < n; sw++)
		k->any[sw] = change_find_dests(a->c, t, sw,
					       amend_todo(k, sw));
	memcpy(k->whole, a->c->whole, n);
	for (sw = 0; sw < n; sw++) {
		lifts = transfer_has_old(a->x, sw);
		if (lifts == a->lifts[sw])
			continue;
		for (i = t->first_down[sw]; i < t->first_down[sw + 1]; i++)
			k->whole[t->downs[i].peer] = 1;
	}
}

/* A member may look at another's row when it wants to know whether it may go
 * there: then all that differs in a row that is made whole counts. */
static void
amend_call_whole(struct work *k, uint32_t sw)
{
	const uint8_t *now = row_fill(k->row, sw);
	const uint8_t *last = lft_row(k->a->last, sw);
	const struct fill *f = k->a->f;
	uint32_t dest, i;
	bool differs;

	for (dest = 0; dest < k->t->g->n_switches; dest++) {
		if (!(tree_reach(k->t, sw, dest / 64) >> dest % 64 & 1))
			continue;
		differs = false;
		for (i = f->first_entry[dest]; i < f->first_entry[dest + 1];
		     i++)
			differs |= now[f->lid[i]] != last[f->lid[i]];
		for (i = 0; i < f->n_own[dest]; i++)
			differs |= now[f->own_lid[dest] + i] !=
				last[f->own_lid[dest] + i];
		if (differs)
			k->call[dest / 64] |= UINT64_C(1) << dest % 64;
	}
}

static void
amend_find_call(struct work *k)
{
	const struct transfer *x = k->a->x;
	uint32_t i, w, sw;
	bool all_open = true;

	if (!k->a->same_members) {
		memset(k->call, 0xff, k->t->n_words * sizeof(*k->call));
		return;
	}
	for (i = 0; i < x->n_members; i++)
		all_open = all_open && x->open[x->members[i]];
	for (i = 0; i < x->n_members; i++) {
		sw = x->members[i];
		for (w = 0; k->any[sw] && w < k->t->n_words; w++)
			k->call[w] |= amend_todo(k, sw)[w];
		if (k->whole[sw] && !all_open)
			amend_call_whole(k, sw);
	}
}

/* LFT_NO_PATH for destinations of a set. */
static void
amend_erase(const struct work *k, const uint64_t *dests, uint8_t *ports)
{
	const struct fill *f = k->a->f;
	uint32_t at = 0, end, i;

	for (; set_next_run(dests, k->t->g->n_switches, &at, &end); at = end)
		for (; at < end; at++) {
			for (i = f->first_entry[at]; i < f->first_entry[at + 1];
			     i++)
				ports[f->lid[i]] = LFT_NO_PATH;
			fill_put_own(f, ports, at, LFT_NO_PATH);
		}
}

/* A member's row, made anew: what is reached by others' help and is not called
 * stays as it was. */
static void
amend_start_whole(struct work *k, uint32_t sw)
{
	const uint64_t *reach = detour_set(k->a->d, sw);
	uint64_t *todo = amend_todo(k, sw);
	uint8_t *ports = lft_row(k->out, sw);
	uint32_t w;

	memcpy(ports, row_fill(k->row, sw), k->a->f->row_size);
	for (w = 0; w < k->t->n_words; w++)
		todo[w] = reach[w] & ~k->call[w] &
			~tree_reach(k->t, sw, w);
	amend_copy(k, todo, ports, lft_row(k->a->last, sw));
}

/* The row of a member as it is before transfers, where it is done at all. */
static void
amend_start_member(struct work *k, uint32_t sw)
{
	uint64_t *todo = amend_todo(k, sw), *reach = detour_set(k->a->d, sw);
	uint64_t tree, any = 0;
	uint8_t *ports = lft_row(k->out, sw);
	uint32_t w;

	if (k->any[sw] && !k->whole[sw])
		amend_copy(k, todo, ports, row_patch(k->row, sw, todo));
	for (w = 0; w < k->t->n_words; w++) {
		k->away[w] = 0;
		if (!k->call[w])
			continue;
		tree = tree_reach(k->t, sw, w);
		k->away[w] = k->call[w] & ~tree;
		todo[w] |= k->away[w];
		reach[w] = (reach[w] & ~k->call[w]) | (tree & k->call[w]);
		any |= todo[w];
	}
	k->any[sw] = any != 0;
	if (k->whole[sw])
		amend_start_whole(k, sw);
	else if (any)
		amend_erase(k, k->away, ports);
}

static void
amend_members(struct work *k)
{
	struct transfer *x = k->a->x;
	uint32_t i;

	for (i = 0; i < x->n_members; i++)
		amend_start_member(k, x->members[i]);
	transfer_route_members(x, k->call, 1);
}

/* Turns k->clear into what differs from it. */
static void
amend_find_helped(struct work *k)
{
	uint32_t n = k->t->g->n_switches, i, w;
	uint64_t *was, *now, any;

	for (i = 0; k->clear && i < n; i++) {
		was = k->clear[i];
		now = k->a->x->clear[i];
		if (!was)
			continue;
		for (any = 0, w = 0; w < k->t->n_words; w++)
			any |= was[w] ^= now[w];
		if (!any)
			g_clear_pointer(&k->clear[i], g_free);
	}
}

/* Where a switch takes a member's help, or did, and the other not. */
static void
amend_find_lifted(struct work *k, uint32_t sw)
{
	const struct tree *t = k->t;
	uint64_t *todo = amend_todo(k, sw), differs, any = 0;
	const uint64_t *helped = NULL;
	uint32_t w;

	if (k->a->same_members) {
		helped = k->clear[t->island[sw]];
		if (!helped)
			return;
	}
	for (w = 0; w < t->n_words; w++) {
		differs = helped ? helped[w] : UINT64_MAX;
		if (differs)
			todo[w] |= differs & ~tree_reach(t, sw, w);
		any |= todo[w];
	}
	k->any[sw] = any != 0;
}

static void
amend_other(struct work *k, uint32_t sw)
{
	struct transfer *x = k->a->x;
	uint64_t *todo = amend_todo(k, sw), *reach = detour_set(k->a->d, sw);
	uint8_t *ports = lft_row(k->out, sw), *now;
	uint64_t tree;
	uint32_t w;

	amend_find_lifted(k, sw);
	if (!k->any[sw] && !k->whole[sw])
		return;
	for (w = 0; w < k->t->n_words; w++) {
		if (k->whole[sw])
			todo[w] = UINT64_MAX;
		if (!todo[w])
			continue;
		tree = tree_reach(k->t, sw, w);
		reach[w] = (reach[w] & ~todo[w]) | (tree & todo[w]);
	}
	now = k->whole[sw] ? row_fill(k->row, sw) :
		row_patch(k->row, sw, todo);
	transfer_lift(x, sw, now);
	if (k->whole[sw]) {
		amend_compare_row(k, now, ports);
		memcpy(ports, now, k->a->f->row_size);
	} else {
		amend_compare(k, todo, now, ports);
		amend_copy(k, todo, ports, now);
	}
}

/* All rows but the members', and what has changed in these. */
static void
amend_others(struct work *k)
{
	const struct transfer *x = k->a->x;
	uint32_t sw;

	for (sw = 0; sw < k->t->g->n_switches; sw++) {
		if (!transfer_is_member(x, sw))
			amend_other(k, sw);
		else if (k->whole[sw])
			amend_compare_row(k, lft_row(k->out, sw),
					  lft_row(k->a->last, sw));
		else if (k->any[sw])
			amend_compare(k, amend_todo(k, sw),
				      lft_row(k->out, sw),
				      lft_row(k->a->last, sw));
		amend_list_marks(k, sw);
	}
}

/* What all members had ways to before, by what they reach until now. */
static void
amend_recall_clear(struct work *k)
{
	struct transfer *x = k->a->x;
	uint32_t n = k->t->g->n_switches, i;

	if (!k->a->same_members)
		return;
	transfer_find_clear(x);
	k->clear = g_new(uint64_t *, n);
	for (i = 0; i < n; i++)
		k->clear[i] = g_steal_pointer(&x->clear[i]);
}

void
amend_tables(struct amend *a)
{
	const struct tree *t = a->f->t;
	uint32_t n = t->g->n_switches, i;
	struct work k = {
		.a = a,
		.t = t,
		.out = a->d->out,
		.row = row_new(a->f),
		.whole = g_malloc(n),
		.any = g_new0(uint8_t, n),
		.todo = g_new0(uint64_t, (size_t)n * t->n_words),
		.call = g_new0(uint64_t, t->n_words),
		.away = g_new(uint64_t, t->n_words),
	};

	amend_recall_clear(&k);
	amend_find_todo(&k);
	amend_find_call(&k);
	amend_members(&k);
	amend_find_helped(&k);
	amend_others(&k);

	for (i = 0; k.clear && i < n; i++)
		g_free(k.clear[i]);
	g_free(k.clear);
	g_free(k.call);
	g_free(k.away);
	g_free(k.todo);
	g_free(k.any);
	g_free(k.whole);
	row_free(k.row);
}
