// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an engine left out: pairs with cables but no path.
 *
 * Method. Pairs of hosts come first, by the turns of the engine's order and
 * those of turns.c, so that balance.c sees their load; then all other data by
 * the same turns. Pairs that are left get any turns that keep the channels
 * acyclic, and other entries (mend.c): hosts again, the LIDs inside switches
 * (port 0, aggregation nodes), and the hosts that are left. For each switch the
 * LIDs nearest to the root come first: turns that open there serve all others.
 * A tree that joins all hosts is in that graph from the start, so multicast has
 * room, and it is extended to the other switches before the first search adds
 * turns that would be in its way: so there is a path for every pair.
 *
 * Port 0 to port 0 is no data and makes no channel dependencies: in the end such
 * a switch sends towards a root, whose own path goes on. In a whole fat tree
 * there is nothing else to do, and in a damaged one it is most: in a tree of
 * 11,664 hosts that lost 1 % of its cables, 898,000 of 1,060,000 pairs.
 *
 * Cost. Lost pairs of data times the hops of a path: switches without hosts try
 * the way to the root. Only for the rest, times the ports of a switch, and what
 * mend.c says.
 */
#include "routing/complete.h"

#include <string.h>

#include "routing/mend.h"
#include "routing/multicast.h"
#include "routing/order.h"
#include "routing/scratch.h"
#include "routing/sets.h"
#include "routing/turns.h"
#include "topology/each.h"

enum stage {
	STAGE_HOSTS,		/* data of hosts to hosts, by turns of the
				   order and of turns.c */
	STAGE_ORDER,		/* all data, by the same turns */
	STAGE_SEARCH,		/* the rest, by any turns */
};

struct remainder {
	struct mend m;
	uint32_t *first;	/* by LID: lost[], of it */
	uint32_t *lost;		/* switches without an entry that send data to
				   the LID, in the order of near[] */
	uint32_t *near;		/* all switches, the nearest to the root of
				   their island first */
	uint32_t *parent, root;	/* by switch: the edge towards the root; in
				   STAGE_SEARCH see multicast_reserve() */
	uint32_t *last;		/* by switch: its last entry */
	enum stage stage;
	bool in_order;		/* the engine's paths go up and then down */
};

/* Is the pair one that has cables? *t: the LID's owner. */
static bool
pair_is_lost(const struct graph *g, uint32_t sw, uint32_t lid,
	     const struct graph_target **t)
{
	*t = graph_target_at(g, lid);
	return *t && g->island[(*t)->sw] == g->island[sw];
}

/* The LIDs of ports 0. */
static GArray *
quiet_lids(const struct graph *g)
{
	GArray *quiet = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	const struct graph_target *t;
	uint16_t lid;

	for (lid = LID_UNICAST_MIN; lid <= g->top; lid++) {
		t = graph_target_at(g, lid);
		if (t && t->port == 0)
			g_array_append_val(quiet, lid);
	}
	return quiet;
}

/* Sets to[]: by switch, its first edge to a lower depth; SNAPSHOT_NONE: it has
 * none. */
static void
edges_towards(const struct graph *g, const uint32_t *depth, uint32_t *to)
{
	uint32_t sw, e;

	memset(to, 0xff, g->n_switches * sizeof(*to));
	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e)
			if (to[sw] == SNAPSHOT_NONE &&
			    depth[g->edges[e].peer] < depth[sw])
				to[sw] = e;
}

/* ------------------------------------------------- port 0 to port 0 alone */

/* By switch: the edge towards the root of its island; SNAPSHOT_NONE: it is the
 * root, or there is none. roots: by island, its lowest switch with senders, or
 * SNAPSHOT_NONE. g_free. */
static uint32_t *
default_edges(const struct graph *g, uint32_t *roots)
{
	g_autofree uint32_t *depth = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t *up = g_new(uint32_t, g->n_switches), sw, n = 0;

	memset(depth, 0xff, g->n_switches * sizeof(*depth));
	memset(roots, 0xff, g->n_switches * sizeof(*roots));
	for (sw = 0; sw < g->n_switches; sw++) {
		if (!g->n_senders[sw] || roots[g->island[sw]] != SNAPSHOT_NONE)
			continue;
		roots[g->island[sw]] = sw;
		depth[sw] = 0;
		queue[n++] = sw;
	}
	graph_search(g, depth, queue, n);
	edges_towards(g, depth, up);
	return up;
}

/* The first switch on the way that has an entry already has a path. */
static void
default_fill(const struct graph *g, struct lft *lft)
{
	g_autofree uint32_t *roots = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *up = default_edges(g, roots);
	g_autoptr(GArray) quiet = quiet_lids(g);
	const struct graph_target *t;
	const uint8_t *root;
	uint8_t *row;
	uint32_t sw;

	for (sw = 0; sw < g->n_switches; sw++) {
		if (up[sw] == SNAPSHOT_NONE || g->n_senders[sw])
			continue;
		row = lft_row(lft, sw);
		root = lft_row(lft, roots[g->island[sw]]);
		EACH_ITEM(const uint16_t, lid, quiet)
			if (row[*lid] == LFT_NO_PATH &&
			    root[*lid] != LFT_NO_PATH &&
			    pair_is_lost(g, sw, *lid, &t))
				row[*lid] = g->edges[up[sw]].port;
	}
}

/* ------------------------------------------------------------- a LID */

static bool
complete_is_in_tree(const struct remainder *x, uint32_t sw)
{
	return x->parent[sw] != SNAPSHOT_NONE || sw == x->root;
}

/* Joins the switches without hosts to the reserved tree, as far as possible:
 * first by edges towards the root, whose turns are cheaper to insert. */
static void
complete_span(struct remainder *x)
{
	const struct graph *g = x->m.g;
	const uint32_t *depth = x->m.depth;
	uint32_t i, sw, e, n_joined, any = 0;

	do {
		for (n_joined = i = 0; i < g->n_switches; i++) {
			sw = x->near[i];
			for_each_edge(g, sw, e)
				if (!complete_is_in_tree(x, sw) &&
				    complete_is_in_tree(x, g->edges[e].peer) &&
				    (any || depth[g->edges[e].peer] < depth[sw]))
					n_joined += channels_hang(x->m.c,
						x->parent, e, x->m.added);
		}
	} while (n_joined || !any++);
	x->m.before = x->m.c->work;
}

/* Of the new paths, keeps those of switches with hosts. */
static void
complete_trim(struct mend *m)
{
	g_autofree uint8_t *used = g_new0(uint8_t, m->g->n_switches);
	uint32_t i, sw, e;

	for (i = 0; i < m->n; i++)
		for (sw = m->queue[i]; m->g->n_hosts[m->queue[i]] &&
		     !m->is_open[sw] && !used[sw]; sw = m->g->edges[e].peer) {
			used[sw] = 1;
			e = mend_next(m, sw);
			if (e == SNAPSHOT_NONE)
				break;
		}
	for (i = 0; i < m->n; i++)
		if (!used[m->queue[i]])
			lft_row(m->lft, m->queue[i])[m->lid] = LFT_NO_PATH;
}

/* A way of a switch by the edges `to` of each switch until one has an entry, by turns
 * that are there. False: there is none. */
static bool
complete_along(struct remainder *x, uint32_t from, const uint32_t *to)
{
	struct mend *m = &x->m;
	uint32_t sw = from, n = 0, e;
	struct mend_path path;

	while ((e = to[sw]) != SNAPSHOT_NONE && sw != m->target->sw &&
	       mend_next(m, sw) == SNAPSHOT_NONE) {
		lft_row(m->lft, sw)[m->lid] = m->g->edges[e].port;
		m->is_open[sw] = 0;
		sw = m->g->edges[e].peer;
		n++;
	}
	if (n && mend_follow(m, to[from], false, &path))
		return true;
	for (sw = from; n-- > 0; sw = m->g->edges[to[sw]].peer) {
		lft_row(m->lft, sw)[m->lid] = LFT_NO_PATH;
		m->is_open[sw] = m->is_queued[sw];
	}
	return false;
}

/* By turns that are there. Switches without hosts send towards the root, if that is
 * possible: so they have one direction, and few entries change if a cable is lost. */
static void
complete_settle(struct remainder *x)
{
	struct mend *m = &x->m;
	uint32_t i, sw;

	for (i = 0; x->stage != STAGE_HOSTS && i < m->n; i++) {
		sw = m->queue[i];
		if (m->is_open[sw] && !m->g->n_hosts[sw])
			complete_along(x, sw, x->parent);
	}
	mend_plainly(m);
}

/* Paths to the LID of a port 0 for the switches in the queue, which send data to
 * it: towards the root, or as for the last LID for which that was not enough.
 * Ports 0 have paths to each other in default_fill(), unless this is not enough
 * either: then all switches without an entry join the queue. True: all is
 * done. */
static bool
complete_senders(struct remainder *x)
{
	struct mend *m = &x->m;
	uint32_t i, n_open = 0;

	for (i = 0; i < m->n && x->stage == STAGE_ORDER; i++)
		n_open += m->is_open[m->queue[i]] &&
			!complete_along(x, m->queue[i], x->parent) &&
			!complete_along(x, m->queue[i], x->last);
	if (!n_open && x->stage == STAGE_ORDER)
		return true;
	mend_start(m, m->lid);
	for (i = 0; i < m->g->n_switches; i++)
		if (lft_row(m->lft, x->near[i])[m->lid] == LFT_NO_PATH &&
		    m->g->island[x->near[i]] == m->g->island[m->target->sw])
			mend_lose(m, x->near[i]);
	return false;
}

/* The queue has the switches nearest to the root first. All paths are made for
 * data, since the path of a sender may go on by any of them. */
static void
complete_lid(struct remainder *x, uint16_t lid)
{
	struct mend *m = &x->m;
	bool has_hosts = false;
	uint32_t i;

	mend_start(m, lid);
	for (i = x->first[lid]; i < x->first[lid + 1u]; i++)
		if (lft_row(m->lft, x->lost[i])[lid] == LFT_NO_PATH) {
			mend_lose(m, x->lost[i]);
			has_hosts |= m->g->n_hosts[x->lost[i]] > 0;
		}
	m->is_data = true;
	if (!m->n || (x->stage == STAGE_HOSTS && !has_hosts) ||
	    (!m->target->port && complete_senders(x)))
		return;
	complete_settle(x);
	if (x->stage == STAGE_HOSTS)
		complete_trim(m);
	for (i = 0; x->stage == STAGE_SEARCH && i < m->n &&
	     !mend_is_too_much(m); i++)
		if (m->is_open[m->queue[i]] &&
		    (m->target->port || m->g->n_senders[m->queue[i]]) &&
		    mend_search(m, m->queue[i]))
			complete_settle(x);
	for (i = 0; i < m->n; i++)
		x->last[m->queue[i]] = mend_next(m, m->queue[i]);
}

/* The LIDs of its hosts, or those inside it. */
static void
complete_switch(struct remainder *x, uint32_t sw, bool hosts)
{
	const struct graph *g = x->m.g;
	const struct graph_target *t;
	uint32_t i;

	for (t = g->targets + g->first_target[sw];
	     t < g->targets + g->first_target[sw + 1]; t++)
		for (i = t->lid; i < (uint32_t)t->lid + t->n_lids; i++)
			if (t->is_host == hosts)
				complete_lid(x, (uint16_t)i);
}

/* ---------------------------------------------------------- all of them */

/* The LIDs to which switches send data, and have cables but no entry, switch by
 * switch; begin: of each. hosts: only those from hosts to hosts. */
static GArray *
complete_find(const struct graph *g, const struct lft *lft, bool hosts,
	      uint32_t *begin)
{
	g_autofree uint8_t *row = g_malloc(lft->stride);
	g_autoptr(GArray) quiet = quiet_lids(g);
	GArray *lids = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	const struct graph_target *t;
	const uint8_t *hit;
	uint16_t lid;
	uint32_t sw;

	for (sw = 0; sw < g->n_switches; sw++) {
		begin[sw] = lids->len;
		if (hosts && !g->n_hosts[sw])
			continue;
		memcpy(row, lft_row(lft, sw), lft->stride);
		row[0] = 0;
		if (!g->n_senders[sw])
			EACH_ITEM(const uint16_t, q, quiet)
				row[*q] = 0;
		for (hit = row; (hit = memchr(hit, (int)LFT_NO_PATH, (size_t)
		     (row + g->top + 1 - hit))) != NULL; hit++) {
			lid = (uint16_t)(hit - row);
			if (pair_is_lost(g, sw, lid, &t) &&
			    (!hosts || t->is_host))
				g_array_append_val(lids, lid);
		}
	}
	begin[sw] = lids->len;
	return lids;
}

/* Do hosts lack a path to each other? */
static bool
complete_lacks(const struct graph *g, const struct lft *lft)
{
	g_autofree uint32_t *begin = g_new(uint32_t, g->n_switches + 1);
	g_autoptr(GArray) lids = complete_find(g, lft, true, begin);

	return lids->len > 0;
}

/* Sets first[] and lost[]. */
static void
complete_list(struct remainder *x, GArray *lids, const uint32_t *begin,
	      GPtrArray *scratch)
{
	const struct graph *g = x->m.g;
	const uint16_t *lid = (const void *)lids->data;
	uint32_t i, k;

	x->lost = SCRATCH(scratch, uint32_t, lids->len);
	x->first = SCRATCH(scratch, uint32_t, g->top + 2u);
	for (k = 0; k < lids->len; k++)
		x->first[lid[k] + 2]++;
	for (i = 2; i < g->top + 2u; i++)
		x->first[i + 1] += x->first[i];
	for (i = 0; i < g->n_switches; i++)
		for (k = begin[x->near[i]]; k < begin[x->near[i] + 1]; k++)
			x->lost[x->first[lid[k] + 1]++] = x->near[i];
}

/* Lists the switches by their distance from the root of their island: the
 * lowest switch that has nearly the most top switches above it. Turns from down
 * to up close no cycle with each other if they are there and above it. */
static void
complete_sort(struct remainder *x, const struct graph *g,
	      const struct order *o, GPtrArray *scratch)
{
	g_autofree uint32_t *most = g_new0(uint32_t, g->n_switches);
	g_autofree uint32_t *n_tops = g_new0(uint32_t, g->n_switches);
	uint32_t *depth = SCRATCH(scratch, uint32_t, g->n_switches);
	uint32_t sw, i, w, island, n_words, n = 0;
	g_autofree uint64_t *tops = order_find_tops(o, g, &n_words);

	for (sw = 0; sw < g->n_switches; sw++) {
		for (w = 0; w < n_words; w++)
			n_tops[sw] += (uint32_t)__builtin_popcountll(
				tops[(size_t)sw * n_words + w]);
		most[g->island[sw]] = MAX(most[g->island[sw]], n_tops[sw]);
	}
	x->near = SCRATCH(scratch, uint32_t, g->n_switches);
	memset(depth, 0xff, g->n_switches * sizeof(*depth));
	for (i = 0; i < g->n_switches; i++) {
		sw = o->climb[i];
		island = g->island[sw];
		if (n_tops[sw] * 4 < most[island] * 3)
			continue;
		most[island] = UINT32_MAX / 3;	/* it has its root */
		depth[sw] = 0;
		x->near[n++] = sw;
	}
	graph_search(g, depth, x->near, n);
	x->m.depth = depth;
}

/* The graph in which paths are looked for; NULL: the tables have a loop. */
static struct channels *
complete_open(struct remainder *x, const struct lft *lft, const uint32_t *ranks,
	      const struct order *o)
{
	const struct graph *g = x->m.g;
	struct channels *c = NULL;

	/* of the tables alone, so that more can be added */
	if (x->stage == STAGE_SEARCH)
		return multicast_reserve(g, lft, ranks, x->parent, &x->root);
	edges_towards(g, x->m.depth, x->parent);
	if (x->in_order) {
		c = channels_new(g);
		channels_add_order(c, ranks);
		channels_sort(c);
	} else if (!channels_load(&c, g, lft, NULL, ranks)) {
		g_clear_pointer(&c, channels_free);
		return NULL;
	}
	turns_join(c, o, x->m.depth);
	return c;
}

static void
complete_stage(const struct graph *g, struct lft *lft, const uint32_t *ranks,
	       enum stage stage, bool in_order)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t n = g->n_switches, i, hosts;
	g_autofree uint32_t *begin = g_new(uint32_t, n + 1);
	g_autoptr(GArray) lids = complete_find(g, lft, false, begin);
	struct remainder x = {
		.stage = stage, .in_order = in_order,
		.parent = SCRATCH(scratch, uint32_t, n),
		.last = SCRATCH(scratch, uint32_t, n),
	};
	struct order *o;

	if (!lids->len)
		return;
	o = ranks ? order_from_ranks(g, ranks) : NULL;
	if (!o)	/* the engine has none, or one without levels */
		o = order_compute(&(struct engine_input){ .g = g });
	mend_init(&x.m, g, NULL, scratch);
	x.m.lft = lft;
	complete_sort(&x, g, o, scratch);
	x.m.c = complete_open(&x, lft, ranks, o);
	order_destroy(o);
	if (!x.m.c) {
		mend_clear(&x.m);
		return;
	}
	x.m.before = x.m.c->work;
	if (stage == STAGE_HOSTS)
		mend_measure(&x.m, lft, ranks);
	memset(x.last, 0xff, n * sizeof(*x.last));
	complete_list(&x, lids, begin, scratch);
	if (stage == STAGE_SEARCH)
		complete_span(&x);
	for (hosts = stage == STAGE_HOSTS; hosts < 2; hosts++)
		for (i = 0; i < n; i++)
			complete_switch(&x, x.near[i], hosts);
	mend_clear(&x.m);
	channels_free(x.m.c);
}

bool
complete_hosts(const struct graph *g, struct lft *lft, const uint32_t *ranks)
{
	bool lacks = complete_lacks(g, lft);

	if (lacks)
		complete_stage(g, lft, ranks, STAGE_HOSTS, false);
	return !lacks;
}

bool
complete_tables(const struct graph *g, struct lft *lft, const uint32_t *ranks,
		bool in_order)
{
	complete_stage(g, lft, ranks, STAGE_ORDER, in_order);
	complete_stage(g, lft, ranks, STAGE_SEARCH, in_order);
	default_fill(g, lft);
	return !complete_lacks(g, lft);
}
