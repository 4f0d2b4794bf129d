// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nearest common ancestors of a multicast group's members.
 *
 * Purpose. The root of a tree must be above all members in the order that
 * unicast obeys. Of such switches the nearest are wanted, and of these the one
 * whose cables are the least used.
 *
 * Structs. `rise` holds for each switch the set of the member switches that it
 * is above, as bits, in three copies: what it has, what it gained in the round
 * before, what is coming in this one.
 *
 * Flow. rise_search: the sets rise one hop a round, all at once, so that none
 * gets ahead; the first round in which somebody has them all ends the search.
 * If none ever does, whoever has the most will do. A round looks only at
 * switches that gained something, hence small groups are cheap on large
 * fabrics. rise_choose picks one of the candidates.
 */
#include <string.h>

#include "routing/multicast_forest.h"

static GArray *
list_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void
rise_init(struct rise *r, uint32_t n_switches, uint32_t n_members)
{
	size_t n;

	r->n_words = (n_members + 63) / 64;
	n = (size_t)n_switches * r->n_words;
	r->has = g_new0(uint64_t, n);
	r->gained = g_new0(uint64_t, n);
	r->coming = g_new0(uint64_t, n);
	r->touched = list_new();
	r->front = list_new();
	r->next = list_new();
}

void
rise_clear(struct rise *r)
{
	g_free(r->has);
	g_free(r->gained);
	g_free(r->coming);
	g_array_unref(r->touched);
	g_array_unref(r->front);
	g_array_unref(r->next);
}

static uint64_t *
set_of(const struct rise *r, uint64_t *sets, uint32_t sw)
{
	return sets + (size_t)sw * r->n_words;
}

static bool
set_is_empty(const struct rise *r, const uint64_t *set)
{
	for (uint32_t i = 0; i < r->n_words; i++)
		if (set[i])
			return false;
	return true;
}

static uint32_t
set_count(const struct rise *r, const uint64_t *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_words; i++)
		n += (uint32_t)__builtin_popcountll(set[i]);
	return n;
}

/* What a switch gained in the last round goes on to a switch above it. */
static void
rise_pass(struct rise *r, uint32_t from, uint32_t to)
{
	const uint64_t *gained = set_of(r, r->gained, from);
	const uint64_t *has = set_of(r, r->has, to);
	uint64_t *coming = set_of(r, r->coming, to);
	bool first = set_is_empty(r, coming);
	bool any = false;

	for (uint32_t i = 0; i < r->n_words; i++) {
		coming[i] |= gained[i] & ~has[i];
		any |= coming[i] != 0;
	}
	if (first && any)
		g_array_append_val(r->next, to);
}

/* What came in this round is there now, and goes on in the next one. */
static void
rise_settle(struct rise *r)
{
	GArray *front = r->front;

	for (guint i = 0; i < front->len; i++)
		memset(set_of(r, r->gained, ITEM(front, i)), 0,
		       r->n_words * sizeof(uint64_t));
	for (guint i = 0; i < r->next->len; i++) {
		uint32_t sw = ITEM(r->next, i);
		uint64_t *has = set_of(r, r->has, sw);
		uint64_t *gained = set_of(r, r->gained, sw);
		uint64_t *coming = set_of(r, r->coming, sw);

		if (set_is_empty(r, has))
			g_array_append_val(r->touched, sw);
		for (uint32_t w = 0; w < r->n_words; w++) {
			has[w] |= coming[w];
			gained[w] = coming[w];
			coming[w] = 0;
		}
	}
	r->front = r->next;
	r->next = front;
	g_array_set_size(r->next, 0);
}

static void
rise_round(struct rise *r, const struct forest *f, uint16_t mlid)
{
	const struct graph *g = f->g;

	for (guint i = 0; i < r->front->len; i++) {
		uint32_t sw = ITEM(r->front, i);
		uint32_t last = SUBNET_NONE;

		for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1];
		     e++) {
			uint32_t peer = g->edges[e].peer;

			if (peer == last || !leads_up(f, sw, e) ||
			    !can_hold(f, peer, mlid))
				continue;
			last = peer;
			rise_pass(r, sw, peer);
		}
	}
	rise_settle(r);
}

/* Those among the switches that have the most; returns how many members. */
static uint32_t
rise_best(const struct rise *r, const GArray *among, GArray *best)
{
	uint32_t most = 0;

	g_array_set_size(best, 0);
	for (guint i = 0; i < among->len; i++) {
		uint32_t sw = ITEM(among, i);
		uint32_t n = set_count(r, set_of(r, r->has, sw));

		if (n < most)
			continue;
		if (n > most)
			g_array_set_size(best, 0);
		most = n;
		g_array_append_val(best, sw);
	}
	return most;
}

void
rise_search(struct rise *r, struct forest *f, const struct group *group)
{

	for (uint32_t i = 0; i < group->n_switches; i++) {
		uint32_t sw = group->switches[i];

		if (!can_hold(f, sw, group->mlid))
			continue;
		set_of(r, r->coming, sw)[i / 64] |= UINT64_C(1) << i % 64;
		g_array_append_val(r->next, sw);
	}
	rise_settle(r);
	while (r->front->len) {
		if (rise_best(r, r->front, f->candidates) ==
		    group->n_switches)
			return;
		rise_round(r, f, group->mlid);
	}
	rise_best(r, r->touched, f->candidates);
}

bool
rise_reached(const struct rise *r, uint32_t sw)
{
	return !set_is_empty(r, set_of(r, r->has, sw));
}

/* The switches above this one, itself included, by switch. */
static uint8_t *
find_above(const struct forest *f, uint32_t sw)
{
	const struct graph *g = f->g;
	uint8_t *above = g_new0(uint8_t, g->n_switches);
	g_autoptr(GArray) list = list_new();

	g_array_append_val(list, sw);
	above[sw] = 1;
	for (guint i = 0; i < list->len; i++) {
		uint32_t at = ITEM(list, i);

		for (uint32_t e = g->first_edge[at]; e < g->first_edge[at + 1];
		     e++) {
			uint32_t peer = g->edges[e].peer;

			if (above[peer] || !leads_up(f, at, e))
				continue;
			above[peer] = 1;
			g_array_append_val(list, peer);
		}
	}
	return above;
}

/* How much its cables towards the members, and the switches at their ends, are
 * used. */
static uint64_t
root_load(const struct forest *f, const struct rise *r, uint32_t root)
{
	const struct graph *g = f->g;
	uint64_t load = 0;

	for (uint32_t e = g->first_edge[root]; e < g->first_edge[root + 1];
	     e++) {
		uint32_t peer = g->edges[e].peer;

		if (leads_down(f, root, e) &&
		    rise_reached(r, peer))
			load += (uint64_t)f->load[e] + f->uses[peer];
	}
	return load;
}

uint32_t
rise_choose(const struct rise *r, const struct forest *f, uint32_t held_root)
{
	g_autofree uint8_t *above = NULL;
	uint32_t best = SUBNET_NONE;
	uint64_t best_load = 0;

	if (held_root != SUBNET_NONE)
		above = find_above(f, held_root);
	for (guint i = 0; i < f->candidates->len; i++) {
		uint32_t sw = ITEM(f->candidates, i);
		uint64_t load = root_load(f, r, sw);
		int order = 0;

		if (best != SUBNET_NONE) {
			if (above)
				order = above[best] - above[sw];
			if (!order)
				order = (load > best_load) - (load < best_load);
			if (!order)
				order = (f->uses[sw] > f->uses[best]) -
					(f->uses[sw] < f->uses[best]);
			if (!order)
				order = sw < best ? -1 : 1;
		}
		if (best == SUBNET_NONE || order < 0) {
			best = sw;
			best_load = load;
		}
	}
	return best;
}
