// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Up-then-down routing, on any fabric.
 *
 * Purpose. The engine for what is no tree and would have credit loops with
 * shortest ways. Switches have ranks (updn_rank.c), no two alike; a way first
 * goes to lower ranks, then to higher ones. Channels that lead up can be
 * sorted by rank, so can those that lead down, and nobody goes up again, hence
 * no circle of dependencies, on one VL.
 *
 * Tables know the destination only, not where a packet came from. So for each
 * destination: a switch from which it can be reached by going down only does
 * that, by a shortest such way; any other goes up to where the rest is
 * shortest. Then who comes down finds only switches that go on down.
 *
 * Flow. updn_fill: the order; minhop_fill() under this order, which finds the
 * ways that are left (aim.h), balances them and keeps what is in force.
 *   In a tree, also a damaged one, the order has many roots, and some pairs
 * have no legal way: spines, and spines and CAs where a cable is gone. They
 * get detours (updn_detour.c).
 *   On any other fabric the order has to join all, if need be with a single
 * root. Two roots that were given may have no legal way to each other;
 * management between them rides VL15 and may go anywhere, as long as no data
 * comes along. updn_manage: from a switch without a legal way to a neighbour
 * that has one, or that is closer to one. Data never comes there: who has CAs
 * has a legal way.
 *   updn_report: how many ways are longer than without an order.
 * Both walk over all destinations, by groups of twins (fold.h).
 *
 * Source. M. D. Schroeder et al., "Autonet", 1991.
 */
#include "routing/updn.h"

#include <string.h>

#include "routing/aim.h"
#include "routing/minhop.h"
#include "routing/updn_detour.h"

#define APART_SHARE	50u	/* one pair in so many may have no way */

struct updn {
	const struct graph *g;
	const struct lft *previous;
	struct lft *out;
	struct fold *fold;
	struct aim *aim;
	uint32_t *n_hosts;	/* by group, on all its members */
	uint32_t *hops;		/* by group, to the root, whatever the way */
	uint32_t *queue;
	uint8_t *choices;	/* [group][slot of a switch that it has no
				   legal way to] -> position */
	uint8_t *is_managed;	/* by group: any such switch */
	uint64_t n_pairs, n_longer;	/* of hosts */
	uint32_t most;		/* hops more than needed */
};

static void
updn_init(struct updn *u, const struct engine_input *in,
	  const struct engine_output *out)
{
	const struct graph *g = in->g;
	uint32_t sw;

	*u = (struct updn){ .g = g, .previous = in->previous,
			    .out = out->lft };
	if (u->previous && u->previous->n_switches < g->n_switches)
		u->previous = NULL;
	u->fold = fold_new(g, out->ranks, NULL);
	u->aim = aim_new(u->fold);
	u->n_hosts = g_new0(uint32_t, u->fold->n_groups);
	u->hops = g_new(uint32_t, u->fold->n_groups);
	u->queue = g_new(uint32_t, u->fold->n_groups);
	u->is_managed = g_new0(uint8_t, u->fold->n_groups);
	for (sw = 0; sw < g->n_switches; sw++)
		u->n_hosts[u->fold->group_of[sw]] += g->n_hosts[sw];
}

static void
updn_clear(struct updn *u)
{
	aim_free(u->aim);
	fold_free(u->fold);
	g_free(u->n_hosts);
	g_free(u->hops);
	g_free(u->queue);
	g_free(u->choices);
	g_free(u->is_managed);
}

/* Breadth first on from the groups that stand in the queue; none that is
 * marked. Returns the length of the queue. */
static uint32_t
updn_spread(struct updn *u, uint32_t n, const uint32_t *marked)
{
	const struct fold *fold = u->fold;
	const struct bundle *bundle, *end;
	uint32_t i, peer;

	for (i = 0; i < n; i++) {
		bundle = &fold->bundles[
			fold->groups[u->queue[i]].first_bundle];
		end = bundle + fold->groups[u->queue[i]].n_bundles;
		for (; bundle < end; bundle++) {
			peer = bundle->peer;
			if (u->hops[peer] != AIM_FAR ||
			    (marked && marked[peer]))
				continue;
			u->hops[peer] = u->hops[u->queue[i]] + 1;
			u->queue[n++] = peer;
		}
	}
	return n;
}

/* Does a bundle of a group that is `hops` away lead closer? */
static bool
updn_is_step(const struct updn *u, const struct bundle *bundle, uint32_t hops)
{
	return u->hops[bundle->peer] != AIM_FAR &&
		u->hops[bundle->peer] + 1 == hops;
}

static uint32_t
updn_width(const struct updn *u, const struct bundle *bundle)
{
	return bundle->width * u->fold->groups[bundle->peer].n_slots;
}

/* How many positions there are by which a group gets closer. */
static uint32_t
updn_count_steps(const struct updn *u, const struct group *group,
		 uint32_t hops)
{
	const struct bundle *bundle = &u->fold->bundles[group->first_bundle];
	const struct bundle *end = bundle + group->n_bundles;
	uint32_t n = 0;

	for (; bundle < end; bundle++)
		if (updn_is_step(u, bundle, hops))
			n += updn_width(u, bundle);
	g_assert(n > 0);
	return n;
}

/* The nth of them. */
static uint8_t
updn_find_step(const struct updn *u, const struct group *group, uint32_t hops,
	       uint32_t nth)
{
	const struct bundle *bundle = &u->fold->bundles[group->first_bundle];
	uint32_t width;

	for (;; bundle++) {
		if (!updn_is_step(u, bundle, hops))
			continue;
		width = updn_width(u, bundle);
		if (nth < width)
			return (uint8_t)(bundle->first + nth);
		nth -= width;
	}
}

static bool
updn_has_step(const struct updn *u, const struct group *group, uint32_t hops,
	      uint8_t position)
{
	uint32_t peer;

	if (position == FOLD_NO_HOP)
		return false;
	peer = u->fold->peers[group->first_hop + position];
	peer = u->fold->group_of[u->fold->switches[peer]];
	return u->hops[peer] != AIM_FAR && u->hops[peer] + 1 == hops;
}

/* The position by which a group sends to a port 0, by what is in force at its
 * first member; one that does not exist if to no switch. */
static uint8_t
updn_held_step(const struct updn *u, const struct group *group, uint32_t to)
{
	const uint8_t *ports = &u->fold->ports[group->first_cable], *port;
	const struct graph_target *t = &u->g->targets[u->g->first_target[to]];

	while (t < &u->g->targets[u->g->first_target[to + 1]] && t->port)
		t++;
	if (!u->previous || t == &u->g->targets[u->g->first_target[to + 1]] ||
	    t->lid > u->previous->top)
		return FOLD_NO_HOP;
	port = memchr(ports, lft_row(u->previous, u->fold->switches[
		group->first_slot])[t->lid], group->n_hops);
	return (uint8_t)(port ? port - ports : FOLD_NO_HOP);
}

/* From a group without a legal way to the members of the root: what is in
 * force, or another way for each. */
static void
updn_manage_group(struct updn *u, uint32_t root, uint32_t from)
{
	const struct group *group = &u->fold->groups[from];
	uint32_t slot = u->fold->groups[root].first_slot;
	uint32_t end = slot + u->fold->groups[root].n_slots;
	uint8_t *choices = u->choices + (size_t)from * u->fold->n_slots;
	uint32_t hops = u->hops[from], n = updn_count_steps(u, group, hops);
	uint8_t held;

	u->is_managed[from] = 1;
	for (; slot < end; slot++) {
		held = updn_held_step(u, group, u->fold->switches[slot]);
		choices[slot] = updn_has_step(u, group, hops, held) ? held :
			updn_find_step(u, group, hops, slot % n);
	}
}

/* What was found goes to the rows, one after the other. */
static void
updn_write(const struct updn *u, const struct graph_target *to, uint32_t n)
{
	const struct fold *fold = u->fold;
	const struct group *group;
	const uint8_t *choices, *ports;
	uint8_t *row, step;
	uint32_t sw, i;

	for (sw = 0; sw < fold->n_slots; sw++) {
		if (!u->is_managed[fold->group_of[sw]])
			continue;
		group = &fold->groups[fold->group_of[sw]];
		choices = u->choices +
			(size_t)fold->group_of[sw] * fold->n_slots;
		ports = &fold->ports[group->first_cable + group->n_hops *
				     (fold->slots[sw] - group->first_slot)];
		row = lft_row(u->out, sw);
		for (i = 0; i < n; i++) {
			step = choices[fold->slots[to[i].sw]];
			if (step == FOLD_NO_HOP)
				continue;
			row[to[i].lid] = ports[step];
			if (to[i].n_lids > 1)
				memset(row + to[i].lid, ports[step],
				       to[i].n_lids);
		}
	}
}

static void
updn_write_all(const struct updn *u)
{
	g_autofree struct graph_target *to = g_new(struct graph_target,
						   u->g->n_targets);
	uint32_t i, n = 0;

	for (i = 0; i < u->g->n_targets; i++)
		if (u->g->targets[i].port == 0)
			to[n++] = u->g->targets[i];
	updn_write(u, to, n);
}

/* Round by round, from those who have a legal way. */
static void
updn_manage(struct updn *u, uint32_t root)
{
	uint32_t n = u->aim->n_reached, i;

	if (n == u->fold->n_groups)
		return;
	memcpy(u->hops, u->aim->level, u->fold->n_groups * sizeof(*u->hops));
	memcpy(u->queue, u->aim->reached, n * sizeof(*u->queue));
	for (i = updn_spread(u, n, u->n_hosts); i-- > n;)
		if (u->queue[i] != root ||
		    u->fold->groups[root].n_slots > 1)
			updn_manage_group(u, root, u->queue[i]);
}

/* Pairs of hosts on different members. */
static uint64_t
updn_count_inside(const struct updn *u, uint32_t root)
{
	const struct group *group = &u->fold->groups[root];
	uint64_t n = (uint64_t)u->n_hosts[root] * u->n_hosts[root], here;
	uint32_t i;

	for (i = 0; i < group->n_slots; i++) {
		here = u->g->n_hosts[u->fold->switches[group->first_slot + i]];
		n -= here * here;
	}
	return n;
}

/* Ways to the root, with the order and without. */
static void
updn_compare(struct updn *u, uint32_t root)
{
	const struct group *group = &u->fold->groups[root];
	const struct bundle *bundle = &u->fold->bundles[group->first_bundle];
	uint32_t n, i, more;
	uint64_t pairs;

	memset(u->hops, 0xff, u->fold->n_groups * sizeof(*u->hops));
	if (group->n_slots == 1)
		u->hops[root] = 0;
	for (n = 0; n < group->n_bundles; n++) {
		u->hops[bundle[n].peer] = 1;
		u->queue[n] = bundle[n].peer;
	}
	n = updn_spread(u, n, NULL);
	for (i = 0; i < n; i++) {
		root = u->queue[i];
		pairs = root == u->aim->root ? updn_count_inside(u, root) :
			(uint64_t)u->n_hosts[root] *
			u->n_hosts[u->aim->root];
		if (!pairs || u->aim->level[root] == AIM_FAR)
			continue;
		u->n_pairs += pairs;
		more = u->aim->level[root] - u->hops[root];
		u->n_longer += more ? pairs : 0;
		u->most = MAX(u->most, more);
	}
}

/* How many ways are longer than cables would allow. */
static void
updn_report(const struct engine_input *in, struct engine_output *out)
{
	struct updn u;
	uint32_t root;

	updn_init(&u, in, out);
	for (root = 0; root < u.fold->n_groups; root++) {
		if (!u.n_hosts[root])
			continue;
		aim_measure(u.aim, u.fold, root);
		updn_compare(&u, root);
	}
	if (u.n_longer)
		g_ptr_array_add(out->notes, g_strdup_printf(
			"%.1f%% of the ways between hosts are longer than "
			"the shortest, by %u hops at most",
			100.0 * (double)u.n_longer / (double)u.n_pairs,
			u.most));
	updn_clear(&u);
}

/* Ways for management where there is no legal way. */
static void
updn_manage_all(const struct engine_input *in, struct engine_output *out)
{
	struct updn u;
	uint32_t root;

	updn_init(&u, in, out);
	u.choices = g_malloc((size_t)u.fold->n_groups * in->g->n_switches);
	memset(u.choices, (int)FOLD_NO_HOP,
	       (size_t)u.fold->n_groups * in->g->n_switches);
	for (root = 0; root < u.fold->n_groups; root++) {
		aim_measure(u.aim, u.fold, root);
		updn_manage(&u, root);
	}
	updn_write_all(&u);
	updn_clear(&u);
}

/* One pair of a switch with CAs and one without in so many, at most, counted
 * in both directions. */
static bool
updn_is_few(const struct graph *g, uint64_t n_apart)
{
	uint64_t n_leaves = 0;
	uint32_t sw;

	for (sw = 0; sw < g->n_switches; sw++)
		n_leaves += g->n_hosts[sw] > 0;
	return n_apart * APART_SHARE <= 2 * n_leaves * g->n_switches;
}

static void
updn_note_apart(GPtrArray *notes, uint64_t n_apart)
{
	if (n_apart)
		g_ptr_array_add(notes, g_strdup_printf(
			"%" G_GUINT64_FORMAT " pairs of a switch with CAs and "
			"one without have no way up and then down: port 0 of "
			"the one and the CAs of the other do not reach each "
			"other", n_apart));
}

static void
updn_note_detours(const struct graph *g, const struct updn_detours *found,
		  GPtrArray *notes)
{
	g_autofree char *name = NULL;

	if (found->n_made == 0)
		return;
	name = graph_switch_name(g, found->root);
	g_ptr_array_add(notes, g_strdup_printf(
		"%" G_GUINT64_FORMAT " pairs of switches have no way up and "
		"then down; what CAs send or get between them goes down and "
		"up again, at %s and above first", found->n_made, name));
}

/* In a tree, be it damaged: what the order does not join gets detours. All
 * CAs, and nearly all pairs of a CA and a switch without. */
static bool
updn_fill_tree(const struct engine_input *in, struct engine_output *out,
	       const uint32_t *ranks)
{
	struct lft *lft = out->lft;
	struct updn_detours found;

	if (!updn_is_tree(in->g, ranks))
		return false;
	minhop_fill(in, ranks, lft);
	updn_detour(in, ranks, lft, &found);
	if (found.n_hosts_left || !updn_is_few(in->g, found.n_mixed_left)) {
		memset(lft->ports, (int)LFT_NO_PATH,
		       (size_t)lft->n_switches * lft->stride);
		return false;
	}
	updn_note_detours(in->g, &found, out->notes);
	updn_note_apart(out->notes, found.n_mixed_left);
	return true;
}

/* On any other fabric all have to be joined. */
static bool
updn_fill_other(const struct engine_input *in, struct engine_output *out,
		const uint32_t *ranks)
{
	if (!updn_joins_all(in->g, ranks))
		return false;
	minhop_fill(in, ranks, out->lft);
	updn_manage_all(in, out);
	return true;
}

static bool
updn_fill_by(const struct engine_input *in, struct engine_output *out,
	     const uint32_t *ranks)
{
	return updn_fill_tree(in, out, ranks) ||
		updn_fill_other(in, out, ranks);
}

/* Tables in which everybody is reached, and the ranks by which. */
static uint32_t *
updn_fill(const struct engine_input *in, struct engine_output *out)
{
	uint32_t *ranks = updn_rank(in->g, in->ranks, in->is_root);

	if (updn_fill_by(in, out, ranks))
		return ranks;
	g_free(ranks);
	if (in->ranks) {
		g_ptr_array_add(out->notes, g_strdup("the order of the "
			"switches that was in force does not join them all "
			"any more: they are ordered anew"));
		ranks = updn_rank(in->g, NULL, in->is_root);
		if (updn_fill_by(in, out, ranks))
			return ranks;
		g_free(ranks);
	}
	if (in->is_root)
		g_ptr_array_add(out->notes, g_strdup("the roots that were "
			"given do not join all switches: one root is chosen "
			"instead"));
	ranks = updn_rank_single(in->g);
	minhop_fill(in, ranks, out->lft);
	updn_manage_all(in, out);
	return ranks;
}

static bool
updn_compute(const struct engine_input *in, struct engine_output *out,
	     GError **error)
{
	const struct graph *g = in->g;
	const struct graph_target *t;

	g_assert(out->lft->n_switches == g->n_switches &&
		 out->lft->top >= g->top);
	if (g->n_edges) {
		out->ranks = updn_fill(in, out);
		updn_report(in, out);
	}
	for (t = g->targets; t < g->targets + g->n_targets; t++)
		memset(lft_row(out->lft, t->sw) + t->lid, t->port,
		       t->n_lids);
	return true;
}

const struct engine engine_updn = {
	.name = "updn",
	.summary = "any topology: ways that go up and then down, free of "
		   "credit loops",
	.deadlock_free = true,
	.compute = updn_compute,
};
