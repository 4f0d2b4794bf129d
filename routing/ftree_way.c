// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transfers: the ways that they make.
 *
 * To one destination: members that have a way in the tree are the goal; the
 * others go through the tree of the members to the nearest goal, with no turn
 * that is not allowed. Who is no member goes up until he meets one. Hence ways
 * end, and all who pass a switch agree on where to go.
 *   Each destination is for itself: what is done for one says nothing about
 * another, so threads may share them. Who is no member looks at nobody's row.
 */
#include <string.h>

#include "routing/ftree_transfer.h"
#include "routing/work.h"

/* All members, and the destinations of a call; NULL: all. */
struct members {
	struct transfer *x;
	const uint64_t *dests;
};

/* Of those, words from..to - 1 of sets. */
struct span {
	const struct transfer *x;
	const uint64_t *dests;
	uint32_t from, to;
};

/* May the way of one LID go from `from` to `at` and on from there? */
static bool
transfer_lid_fits(const struct transfer *x, uint32_t from, uint32_t at,
		  uint32_t lid)
{
	uint8_t port = lft_row(x->d->out, at)[lid];
	uint32_t e = x->edge_of[at * GRAPH_PORTS + port];

	return e != SUBNET_NONE &&
		transfer_may_turn(x, from, at, x->g->edges[e].peer);
}

/* The same for all LIDs of a destination to which `at` has a way. */
static bool
transfer_fits(const struct transfer *x, uint32_t from, uint32_t at,
	      uint32_t dest)
{
	const struct fill *f = x->d->f;
	uint32_t i;

	if (at == x->t->switch_of[dest])
		return true;
	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++)
		if (!transfer_lid_fits(x, from, at, f->lid[i]))
			return false;
	for (i = 0; i < f->n_own[dest]; i++)
		if (!transfer_lid_fits(x, from, at, f->own_lid[dest] + i))
			return false;
	return true;
}

/* Can no way from `from` to `at` make a turn that is not allowed? Where all
 * parents are classes of their own it cannot: who goes on to the very parent
 * that asks would have that parent's way. */
static bool
transfer_is_open(const struct transfer *x, uint32_t from, uint32_t at)
{
	return x->d->n_rescued == 0 &&
		(transfer_is_up(x, from, at) || x->open[at]);
}

/* One port for all LIDs on a destination. */
static void
transfer_put(const struct transfer *x, uint32_t sw, uint32_t dest, uint8_t port)
{
	const struct fill *f = x->d->f;
	uint8_t *row = lft_row(x->d->out, sw);
	uint32_t i;

	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++)
		row[f->lid[i]] = port;
	fill_put_own(f, row, dest, port);
}

/* Member `sw` takes from its neighbour `at` all ways that it has not. True if
 * there were any. */
static bool
transfer_ask(const struct span *span, uint32_t sw, uint32_t at)
{
	const struct transfer *x = span->x;
	uint64_t *mine = detour_set(x->d, sw), word, bit;
	const uint64_t *theirs = detour_set(x->d, at);
	uint8_t port = transfer_port_to(x, sw, at);
	bool open = transfer_is_open(x, sw, at), any = false;
	uint32_t w, dest;

	for (w = span->from; w < span->to; w++) {
		word = theirs[w] & ~mine[w];
		if (span->dests)
			word &= span->dests[w];
		for (; word; word &= word - 1) {
			bit = word & -word;
			dest = w * 64 + (uint32_t)__builtin_ctzll(word);
			if (!open && !transfer_fits(x, sw, at, dest))
				continue;
			transfer_put(x, sw, dest, port);
			mine[w] |= bit;
			any = true;
		}
	}
	return any;
}

/* Destinations to which all members of an island have ways. */
void
transfer_find_clear(struct transfer *x)
{
	const struct tree *t = x->t;
	uint32_t i, island;
	const uint64_t *theirs;
	uint64_t *clear;

	for (i = 0; i < x->n_members; i++) {
		island = t->island[x->members[i]];
		g_clear_pointer(&x->clear[island], g_free);
	}
	for (i = 0; i < x->n_members; i++) {
		island = t->island[x->members[i]];
		clear = x->clear[island];
		theirs = detour_set(x->d, x->members[i]);
		if (!clear) {
			x->clear[island] = g_memdup2(theirs, t->n_words *
						     sizeof(*theirs));
			continue;
		}
		set_meet(clear, theirs, t->n_words);
	}
}

/* From one to the next through the tree of the members. A way is only taken
 * from one who has it, hence it ends. */
static void
transfer_route_span(void *data, uint32_t from, uint32_t to)
{
	const struct members *members = data;
	const struct transfer *x = members->x;
	const struct span span = { x, members->dests, from, to };
	uint32_t i, sw, child;
	bool again;

	do {
		again = false;
		for (i = x->n_members; i > 0; i--) {
			sw = x->members[i - 1];
			for (child = x->child[sw]; child != TRANSFER_OUTSIDE;
			     child = x->sibling[child])
				again |= transfer_ask(&span, sw, child);
		}
		for (i = 0; i < x->n_members; i++) {
			sw = x->members[i];
			if (x->parent[sw] != sw)
				again |= transfer_ask(&span, sw,
						      x->parent[sw]);
		}
	} while (again);
}

void
transfer_route_members(struct transfer *x, const uint64_t *dests,
		       unsigned n_threads)
{
	struct members members = { x, dests };

	work_share(n_threads, x->t->n_words, transfer_route_span, &members);
	transfer_find_clear(x);
}

/* Cables up to members, or to those who go up to one: all of them, and by what
 * the formula calls them. */
struct ascent {
	uint32_t n;
	uint8_t port[256];
	uint8_t by_slot[256];	/* LFT_NO_PATH: none */
};

static void
transfer_find_ascent(const struct transfer *x, uint32_t sw,
		     struct ascent *ascent)
{
	const struct tree *t = x->t;
	const struct tree_group *group;
	uint32_t i, j, q;

	ascent->n = 0;
	memset(ascent->by_slot, (int)LFT_NO_PATH, sizeof(ascent->by_slot));
	for (i = t->first_up[sw]; i < t->first_up[sw + 1]; i++) {
		group = &t->ups[i];
		if (!transfer_has_old(x, group->peer))
			continue;
		for (j = 0; j < group->n_cables; j++) {
			ascent->port[ascent->n++] =
				x->g->edges[group->first_edge + j].port;
			q = group->slot +
				j * t->levels[t->rank[sw] + 1u].width;
			if (q < TREE_MAX_WHEEL)
				ascent->by_slot[q] =
					ascent->port[ascent->n - 1];
		}
	}
}

/* As the formula says: who went up when all was well goes on to do so by the
 * same cables. */
static void
transfer_put_up(const struct transfer *x, uint32_t sw, uint32_t dest,
		const struct ascent *ascent, uint8_t *row)
{
	const struct fill *f = x->d->f;
	uint8_t port;
	uint8_t other = ascent->port[x->t->turn[sw] % ascent->n];
	const uint8_t *wheel = f->up_wheel[x->t->rank[sw]];
	uint32_t i;

	for (i = f->first_entry[dest]; i < f->first_entry[dest + 1]; i++) {
		port = ascent->by_slot[wheel[i]];
		row[f->lid[i]] = port == LFT_NO_PATH ? other : port;
	}
	fill_put_own(f, row, dest, other);
}

/* Who is no member goes up. */
void
transfer_lift(const struct transfer *x, uint32_t sw, uint8_t *ports)
{
	uint64_t *mine = detour_set(x->d, sw), word;
	const uint64_t *clear = x->clear[x->t->island[sw]];
	struct ascent ascent;
	uint32_t w;

	if (!clear)
		return;
	transfer_find_ascent(x, sw, &ascent);
	if (ascent.n == 0)
		return;
	for (w = 0; w < x->t->n_words; w++) {
		word = clear[w] & ~mine[w];
		mine[w] |= word;
		for (; word; word &= word - 1)
			transfer_put_up(x, sw, w * 64 +
					(uint32_t)__builtin_ctzll(word),
					&ascent, ports);
	}
}
