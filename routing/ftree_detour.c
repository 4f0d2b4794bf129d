// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where the tree ends.
 *
 * Rescue. A leaf-to-leaf cable, or one that skips a rank, is no part of the
 * tree, and traffic that has a way in the tree does not need it. If some CA
 * cannot reach the CAs on a leaf without it, that leaf is routed with all
 * cables, by up-then-down ways in the order (rank, place): each cable leads up
 * at one of its ends, those of the tree as before. For one destination:
 * switches that have a way down take it, all others go to a higher neighbour,
 * so that nobody who came down goes up. The order is total and the same for
 * all, therefore no cycle of dependencies can come of it, among these ways or
 * together with those of the tree.
 *
 * Management. From spine to spine there is no way up and then down; it goes
 * down and up again. Only what starts at a port 0 and ends at a port 0 may do
 * that: it rides VL 15 (IBA 3.5.9), which is never blocked by data. Tables do
 * not know where a packet came from, so no switch with CAs gets such an
 * entry: what is of no use to its CAs leads nowhere. All others take the
 * first neighbour that has a way, in rounds; a way only leads to a switch
 * that had one before, hence it ends.
 *
 * Source. M. D. Schroeder et al., "Autonet", 1991, for up-then-down ways.
 */
#include <string.h>

#include "routing/ftree_detour.h"

#define FAR	UINT32_MAX

/* What everybody reaches in the tree. */
static uint64_t *
detour_start(const struct tree *t)
{
	uint32_t n = t->g->n_switches, sw, k, w;
	uint64_t *reach = g_new0(uint64_t, (size_t)n * t->n_words), *mine;

	for (sw = 0; sw < n; sw++) {
		mine = reach + (size_t)sw * t->n_words;
		for (k = 0; k < t->n_sets; k++)
			for (w = 0; w < t->n_words; w++)
				mine[w] |= tree_set(t, sw, k)[w];
	}
	return reach;
}

struct detour *
detour_new(const struct fill *fill, struct lft *out, uint64_t *reach)
{
	struct detour *d = g_new0(struct detour, 1);
	uint32_t n = fill->t->g->n_switches;

	d->f = fill;
	d->t = fill->t;
	d->out = out;
	d->hops = g_new(uint32_t, n);
	d->falls = g_new(uint8_t, n);
	d->reach = reach ? reach : detour_start(fill->t);
	return d;
}

void
detour_free(struct detour *d)
{
	g_free(d->hops);
	g_free(d->falls);
	g_free(d->reach);
	g_free(d);
}

/* May the way go from `sw` to `peer`, which has one? */
static bool
detour_fits(const struct detour *d, uint32_t sw, uint32_t peer)
{
	bool lower = d->t->place[peer] < d->t->place[sw];

	if (d->hops[peer] == FAR)
		return false;
	return d->falls[sw] ? lower && d->falls[peer] : !lower;
}

static uint32_t
detour_least_hops(const struct detour *d, uint32_t sw)
{
	const struct graph *g = d->t->g;
	uint32_t least = FAR, e;

	for (e = g->first_edge[sw]; e < g->first_edge[sw + 1]; e++)
		if (detour_fits(d, sw, g->edges[e].peer))
			least = MIN(least, d->hops[g->edges[e].peer] + 1);
	return least;
}

static void
detour_measure(struct detour *d, uint32_t to)
{
	const struct tree *t = d->t;
	uint32_t n = t->g->n_switches, i, sw;

	for (i = 0; i < n; i++) {
		d->hops[i] = FAR;
		d->falls[i] = 0;
	}
	d->hops[to] = 0;
	d->falls[to] = 1;
	for (i = t->place[to] + 1; i < n; i++) {
		sw = t->climb[i];
		d->falls[sw] = 1;
		d->hops[sw] = detour_least_hops(d, sw);
		d->falls[sw] = d->hops[sw] != FAR;
	}
	for (i = n; i > 0; i--) {
		sw = t->climb[i - 1];
		if (!d->falls[sw])
			d->hops[sw] = detour_least_hops(d, sw);
	}
}

/* All ports by which the way is shortest, taken in turn. The switch's own LID
 * goes with those of its CAs. */
static void
detour_write(struct detour *d, uint32_t sw, uint32_t dest)
{
	const struct graph *g = d->t->g;
	const struct graph_edge *edge = &g->edges[g->first_edge[sw]];
	const struct graph_edge *end = &g->edges[g->first_edge[sw + 1]];
	uint8_t ports[256], *row = lft_row(d->out, sw);
	uint32_t n = 0, i;

	for (; edge < end; edge++)
		if (detour_fits(d, sw, edge->peer) &&
		    d->hops[edge->peer] + 1 == d->hops[sw])
			ports[n++] = edge->port;
	for (i = d->f->first_entry[dest]; i < d->f->first_entry[dest + 1]; i++)
		row[d->f->lid[i]] = n ? ports[d->f->nid[i] % n] : LFT_NO_PATH;
	fill_put_own(d->f, row, dest, n ? ports[dest % n] : LFT_NO_PATH);
}

void
detour_rescue(struct detour *d, uint32_t dest)
{
	uint32_t to = d->t->switch_of[dest], sw;
	uint64_t *word;

	d->n_rescued++;
	detour_measure(d, to);
	for (sw = 0; sw < d->t->g->n_switches; sw++) {
		word = detour_set(d, sw) + dest / 64;
		*word &= ~(UINT64_C(1) << dest % 64);
		if (d->hops[sw] != FAR)
			*word |= UINT64_C(1) << dest % 64;
		if (sw != to)
			detour_write(d, sw, dest);
	}
}

static bool
detour_has_all(const struct detour *d, uint32_t sw)
{
	const uint64_t *mine = detour_set(d, sw);
	uint32_t n = d->t->g->n_switches, w;

	for (w = 0; w < n / 64; w++)
		if (~mine[w])
			return false;
	return n % 64 == 0 || !(~mine[w] << (64 - n % 64));
}

/* Takes what this neighbour has and `sw` has not. True if there was any. */
static bool
detour_ask(struct detour *d, uint32_t sw, const struct graph_edge *edge)
{
	uint64_t *mine = detour_set(d, sw), word;
	const uint64_t *theirs = detour_set(d, edge->peer);
	uint8_t *row = lft_row(d->out, sw);
	bool any = false;
	uint32_t w;

	for (w = 0; w < d->t->n_words; w++) {
		word = theirs[w] & ~mine[w];
		mine[w] |= word;
		any = any || word;
		for (; word; word &= word - 1)
			fill_put_own(d->f, row, w * 64 +
				     (uint32_t)__builtin_ctzll(word),
				     edge->port);
	}
	return any;
}

/* True if there is something new. */
static bool
detour_ask_all(struct detour *d, uint32_t sw)
{
	const struct graph *g = d->t->g;
	uint32_t n = g->first_edge[sw + 1] - g->first_edge[sw], i;
	bool any = false;

	for (i = 0; i < n && !detour_has_all(d, sw); i++)
		any |= detour_ask(d, sw, &g->edges[g->first_edge[sw] +
						   (i + d->t->turn[sw]) % n]);
	return any;
}

bool
detour_manage(struct detour *d)
{
	uint32_t i, sw;
	bool again, any = false;

	do {
		again = false;
		for (i = 0; i < d->t->g->n_switches; i++) {
			sw = d->t->climb[i];
			if (d->t->g->n_hosts[sw] == 0)
				again |= detour_ask_all(d, sw);
		}
		any |= again;
	} while (again);
	return any;
}
