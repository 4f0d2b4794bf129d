// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A path for a pair while the channel graph stays acyclic.
 *
 * Purpose. Repairs and engines have the same question: a switch has no entry
 * for a LID, or has lost it; by which neighbour can it send? The channel
 * dependencies of all tables are a sorted acyclic graph (credit_loops.h), so
 * there are three answers, in this order: a path all of whose turns are there;
 * one with new turns that close no loop; one for which a neighbour changes its
 * own entry, too ("bend").
 *
 * What an engine left out. Pairs of hosts come first, then the LIDs inside
 * switches (port 0, aggregation nodes), and for each switch the LIDs nearest to
 * the root first: turns that open there serve all others. A tree that joins all
 * hosts is in the graph from the start, so multicast has room. A LID inside a
 * switch that still misses a path is sent along this tree, by all switches:
 * slow, but it arrives.
 *
 * Cost. Lost pairs times the ports of a switch; a new turn may search all
 * channels, so the work is limited, and turns that were refused are remembered.
 */
#include "routing/mend.h"

#include <string.h>

#include "routing/multicast.h"
#include "routing/order.h"
#include "routing/scratch.h"
#include "routing/sets.h"
#include "routing/verify.h"

#define WORK_MAX	(UINT64_C(1) << 26)	/* cables and turns followed:
						   about 2 s */

void
mend_init(struct mend *m, const struct graph *g, struct channels *c,
	  GPtrArray *scratch)
{
	uint32_t n = g->n_switches;

	*m = (struct mend){
		.g = g, .c = c, .before = c ? c->work : 0,
		.is_lost = SCRATCH(scratch, uint8_t, g->n_edges),
		.queue = SCRATCH(scratch, uint32_t, 2 * n),
		.is_open = SCRATCH(scratch, uint8_t, n),
		.dealt = SCRATCH(scratch, float, g->n_edges),
		.added = g_array_new(FALSE, FALSE, sizeof(struct turn)),
		.refused = SCRATCH(scratch, uint64_t,
				   (size_t)g->n_edges * CHANNELS_WORDS),
	};
}

void
mend_clear(struct mend *m)
{
	g_array_unref(m->added);
}

/* ------------------------------------------------------------------ a path */

uint32_t
mend_next(const struct mend *m, uint32_t sw)
{
	return graph_edge_at(m->g, sw, lft_row(m->lft, sw)[m->lid]);
}

/* The engines are faster than a repair of this size. */
bool
mend_is_too_much(const struct mend *m)
{
	return m->work + m->c->work - m->before > WORK_MAX;
}

/* A turn that closed a loop will close it again, since the graph grows, but for
 * turns of the same path, which may be undone. */
static bool
mend_add(struct mend *m, uint32_t in, uint32_t out)
{
	uint8_t port = m->g->edges[out].port;
	uint64_t *word = &m->refused[(size_t)in * CHANNELS_WORDS + port / 64];
	uint64_t bit = UINT64_C(1) << port % 64;

	if (*word & bit)
		return false;
	if (channels_extend(m->c, in, out, m->added))
		return true;
	if (!m->added->len)
		*word |= bit;
	return false;
}

bool
mend_follow(struct mend *m, uint32_t e, bool add, struct mend_path *path)
{
	const struct graph *g = m->g;
	uint32_t sw, next;

	*path = (struct mend_path){ .edge = e };
	for (; path->hops < VERIFY_HOPS_MAX; e = next) {
		m->work++;
		if (m->is_lost[e])
			return false;
		path->hops++;
		path->most = MAX(path->most, m->dealt[e]);
		sw = g->edges[e].peer;
		if (m->is_open[sw])
			return false;
		next = mend_next(m, sw);
		if (next == SNAPSHOT_NONE)
			return sw == m->target->sw &&
				lft_row(m->lft, sw)[m->lid] == m->target->port;
		if (!m->is_data || channels_has(m->c, e, next))
			continue;
		if (!add || !mend_add(m, e, next))
			return false;
	}
	return false;
}

struct mend_path
mend_find(struct mend *m, uint32_t sw, bool add)
{
	struct mend_path best = { .edge = SNAPSHOT_NONE }, path;
	uint32_t e;

	for_each_edge(m->g, sw, e) {
		if (add && mend_is_too_much(m))
			break;
		g_array_set_size(m->added, 0);
		if (!mend_follow(m, e, add, &path))
			channels_undo(m->c, m->added, 0);
		else if (add)
			return path;
		else if (best.edge == SNAPSHOT_NONE || path.hops < best.hops ||
			 (path.hops == best.hops && path.most < best.most))
			best = path;
	}
	return best;
}

void
mend_take(struct mend *m, uint32_t sw, uint32_t edge)
{
	float flow = (float)MAX(m->g->n_hosts[sw], 1u);

	lft_row(m->lft, sw)[m->lid] = m->g->edges[edge].port;
	m->is_open[sw] = 0;
	for (; edge != SNAPSHOT_NONE;
	     edge = mend_next(m, m->g->edges[edge].peer))
		m->dealt[edge] += flow;
}

/* May the switch at the other end of `in` forward by `out` instead of its
 * present entry? Not if it has none, since its table ends below the LID; nor if
 * one of the switches whose paths pass it would make a turn that is not in the
 * graph. */
static bool
mend_may_bend(struct mend *m, uint32_t in, uint32_t out, bool add)
{
	const struct graph *g = m->g;
	uint32_t sw = g->edges[in].peer, e;
	struct mend_path path;
	bool ok;

	if (out == g->edges[in].back || mend_is_too_much(m) ||
	    lft_row(m->lft, sw)[m->lid] == LFT_NO_PATH ||
	    (!add && !channels_has(m->c, in, out)))
		return false;
	for_each_edge(g, sw, e)
		if (mend_next(m, g->edges[e].peer) == g->edges[e].back &&
		    !m->is_open[g->edges[e].peer] &&
		    !channels_has(m->c, g->edges[e].back, out))
			return false;
	m->is_open[sw] = 1;
	ok = mend_follow(m, out, false, &path);
	m->is_open[sw] = 0;
	g_array_set_size(m->added, 0);
	return ok && mend_add(m, in, out);
}

/* A path by this edge, if the neighbour changes its entry, too. */
static bool
mend_bend(struct mend *m, uint32_t sw, uint32_t in, bool add)
{
	const struct graph *g = m->g;
	uint32_t out, peer = g->edges[in].peer;

	m->is_data = true;
	if (m->is_lost[in] || m->is_open[peer] || peer == m->target->sw)
		return false;
	for_each_edge(g, peer, out) {
		if (!mend_may_bend(m, in, out, add))
			continue;
		lft_row(m->lft, peer)[m->lid] = g->edges[out].port;
		m->queue[m->n++] = peer;
		mend_take(m, sw, in);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------- a LID */

bool
mend_sends_data(struct mend *m, uint32_t sw)
{
	m->is_data = m->target->port != 0 || m->g->n_senders[sw] > 0;
	return m->is_data;
}

void
mend_lose(struct mend *m, uint32_t sw)
{
	if (m->is_open[sw])
		return;
	m->is_open[sw] = 1;
	m->queue[m->n++] = sw;
}

void
mend_hosts(struct mend *m)
{
	g_autofree uint32_t *hops = g_new(uint32_t, m->n);
	struct mend_path path;
	uint32_t i, least = 0;

	m->is_data = true;
	while (least != UINT32_MAX) {
		least = UINT32_MAX;
		for (i = 0; i < m->n; i++) {
			hops[i] = UINT32_MAX;
			if (!m->is_open[m->queue[i]] ||
			    !m->g->n_hosts[m->queue[i]])
				continue;
			path = mend_find(m, m->queue[i], false);
			if (path.edge != SNAPSHOT_NONE)
				hops[i] = path.hops;
			least = MIN(least, hops[i]);
		}
		for (i = 0; i < m->n && least != UINT32_MAX; i++) {
			if (hops[i] != least)
				continue;
			path = mend_find(m, m->queue[i], false);
			mend_take(m, m->queue[i], path.edge);
		}
	}
}

static bool
mend_reroute(struct mend *m, uint32_t sw, bool add)
{
	struct mend_path path;
	uint32_t e;

	mend_sends_data(m, sw);
	path = mend_find(m, sw, add);
	if (path.edge != SNAPSHOT_NONE) {
		mend_take(m, sw, path.edge);
		return true;
	}
	for_each_edge(m->g, sw, e)
		if (mend_bend(m, sw, e, add))
			return true;
	return false;
}

/* A switch all of whose neighbours have no path yet is tried again in the next
 * round. */
bool
mend_others(struct mend *m)
{
	uint32_t i, sw, n_open, n_before = 0;
	struct mend_path path;

	do {
		for (i = n_open = 0; i < m->n; i++) {
			sw = m->queue[i];
			if (!m->is_open[sw])
				continue;
			/* Its entry may lead around the fault by now. */
			mend_sends_data(m, sw);
			m->is_open[sw] = 0;
			m->is_open[sw] = !mend_follow(m, mend_next(m, sw),
						      false, &path);
			n_open += m->is_open[sw] &&
				!mend_reroute(m, sw, false) &&
				!mend_reroute(m, sw, true);
		}
		if (n_open == n_before)
			break;
		n_before = n_open;
	} while (n_open);
	for (i = 0; i < m->n && n_open; i++) {
		sw = m->queue[i];
		if (m->is_open[sw] && mend_sends_data(m, sw))
			return false;
		if (m->is_open[sw])
			lft_row(m->lft, sw)[m->lid] = LFT_NO_PATH;
	}
	return true;
}

/* ---- all that an engine left out ---- */

/*
 * The root of an island is the lowest switch that has nearly the most top
 * switches above it. It and the switches above it are a tree upside down, with
 * one path between any two of its tops, so turns from down to up close no cycle
 * there in a fat tree. Switches near it get such turns first.
 */
struct remainder {
	struct mend m;
	uint32_t *depth;	/* by switch: cables from its root */
	uint32_t *near;		/* all switches, the nearest first */
	uint32_t n_near;
	uint8_t *above;		/* by switch: it is a root, or above one */
	uint32_t *parent, root;	/* see multicast_reserve() */
	bool is_spanning;	/* complete_span() was called */
	bool sparse;		/* see complete_all() */
	bool bends;		/* see complete_bend() */
	uint16_t *root_lid;	/* by island; LID_NONE: not a tree */
};

/* Has no top switch two ways up from `sw`? Marks the switches above it. */
static bool
complete_is_tree(const struct graph *g, const struct order *o, uint32_t sw,
		 const uint64_t *tops, uint32_t n_words, uint8_t *above)
{
	g_autofree uint64_t *met = g_new0(uint64_t, n_words);
	uint32_t e, peer;
	const uint64_t *theirs;

	for_each_edge(g, sw, e) {
		peer = g->edges[e].peer;
		theirs = tops + (size_t)peer * n_words;
		if (!order_is_up(o, sw, peer) || above[peer])
			continue;
		above[peer] = 1;
		if (set_meets(met, theirs, n_words) ||
		    !complete_is_tree(g, o, peer, tops, n_words, above))
			return false;
		set_unite(met, theirs, n_words);
	}
	return true;
}

static void
complete_init(struct remainder *x, const struct graph *g,
	      const uint32_t *ranks, GPtrArray *scratch)
{
	struct order *o = order_from_ranks(g, ranks);
	g_autofree uint64_t *tops = NULL;
	g_autofree uint32_t *most = g_new0(uint32_t, g->n_switches);
	g_autofree uint32_t *n_tops = g_new0(uint32_t, g->n_switches);
	uint32_t n_words, sw, i, w, island, n = 0;

	x->depth = SCRATCH(scratch, uint32_t, g->n_switches);
	x->near = SCRATCH(scratch, uint32_t, g->n_switches);
	x->above = SCRATCH(scratch, uint8_t, g->n_switches);
	x->root_lid = SCRATCH(scratch, uint16_t, g->n_switches);
	memset(x->depth, 0xff, g->n_switches * sizeof(*x->depth));
	tops = order_find_tops(o, g, &n_words);
	for (sw = 0; sw < g->n_switches; sw++) {
		for (w = 0; w < n_words; w++)
			n_tops[sw] += (uint32_t)__builtin_popcountll(
				tops[(size_t)sw * n_words + w]);
		most[g->island[sw]] = MAX(most[g->island[sw]], n_tops[sw]);
	}
	for (i = 0; i < g->n_switches; i++) {
		sw = o->climb[i];
		island = g->island[sw];
		if (n_tops[sw] * 4 < most[island] * 3)
			continue;
		most[island] = UINT32_MAX / 3;	/* it has its root */
		if (g->first_target[sw] < g->first_target[sw + 1] &&
		    complete_is_tree(g, o, sw, tops, n_words, x->above))
			x->root_lid[island] =
				g->targets[g->first_target[sw]].lid;
		x->depth[sw] = 0;
		x->above[sw] = 1;
		x->near[n++] = sw;
	}
	x->n_near = graph_search(g, x->depth, x->near, n);
	order_destroy(o);
}

static bool
complete_by(struct mend *m, uint32_t sw, uint32_t e, bool add)
{
	struct mend_path path;

	mend_sends_data(m, sw);
	g_array_set_size(m->added, 0);
	if (mend_follow(m, e, add, &path)) {
		mend_take(m, sw, e);
		return true;
	}
	channels_undo(m->c, m->added, 0);
	return false;
}

/* Switches without hosts send towards the root, up to the first switch with a
 * path, and turn there if it is above the root: so most get one at once. */
static void
complete_by_root(struct remainder *x)
{
	struct mend *m = &x->m;
	uint16_t lid = x->root_lid[m->g->island[m->target->sw]];
	uint32_t i, sw, e;

	for (i = 0; i < m->n && lid; i++) {
		sw = m->queue[i];
		e = graph_edge_at(m->g, sw, lft_row(m->lft, sw)[lid]);
		if (e != SNAPSHOT_NONE && !m->g->n_hosts[sw])
			complete_by(m, sw, e,
				    x->above[m->g->edges[e].peer]);
	}
}

/* May an entry of a neighbour change, too? That moves paths of hosts, if the
 * LID is a host's; a switch that sends for itself only comes last then. */
static bool
complete_bend(struct remainder *x, uint32_t sw, uint32_t e, bool add)
{
	return (x->bends || !x->m.target->is_host || x->m.g->n_hosts[sw]) &&
		mend_bend(&x->m, sw, e, add);
}

/* One more turn for one of the open switches, or another entry of a neighbour,
 * the nearest to the root first. False: none is possible. */
static bool
complete_turn(struct remainder *x)
{
	struct mend *m = &x->m;
	uint32_t far = 0, next, i, e, d;

	for (; far != GRAPH_FAR; far = next)
		for (next = GRAPH_FAR, i = 0; i < m->n; i++)
			for_each_edge(m->g, m->queue[i], e) {
				d = x->depth[m->g->edges[e].peer];
				if (d > far)
					next = MIN(next, d);
				if (d != far || !m->is_open[m->queue[i]])
					continue;
				if (complete_by(m, m->queue[i], e, true) ||
				    complete_bend(x, m->queue[i], e, true))
					return true;
				if (mend_is_too_much(m))
					return false;
			}
	return false;
}

/* A path that needs no turn, but another entry of a neighbour. */
static bool
complete_bends(struct remainder *x)
{
	struct mend *m = &x->m;
	uint32_t i, e;

	for (i = 0; i < m->n; i++)
		for_each_edge(m->g, m->queue[i], e)
			if (m->is_open[m->queue[i]] &&
			    complete_bend(x, m->queue[i], e, false))
				return true;
	return false;
}

/* Paths over turns that are there; returns how many switches are open still. */
static uint32_t
complete_plainly(struct mend *m)
{
	uint32_t i, sw, n_open, n_before = UINT32_MAX;
	struct mend_path path;

	mend_hosts(m);
	for (;;) {
		for (i = n_open = 0; i < m->n; i++) {
			sw = m->queue[i];
			if (!m->is_open[sw])
				continue;
			mend_sends_data(m, sw);
			path = mend_find(m, sw, false);
			if (path.edge == SNAPSHOT_NONE)
				n_open++;
			else
				mend_take(m, sw, path.edge);
		}
		if (n_open == n_before || !n_open)
			return n_open;
		n_before = n_open;
	}
}

static bool
complete_is_in_tree(const struct remainder *x, uint32_t sw)
{
	return x->parent[sw] != SNAPSHOT_NONE || sw == x->root;
}

/* Joins `sw` to the reserved tree by this edge, if no turn between it and the
 * cables of the tree at its other end closes a loop. */
static bool
complete_hang(struct remainder *x, uint32_t sw, uint32_t e)
{
	const struct graph *g = x->m.g;
	uint32_t to = g->edges[e].peer, f;

	if (!complete_is_in_tree(x, to))
		return false;
	g_array_set_size(x->m.added, 0);
	for_each_edge(g, to, f)
		if ((x->parent[to] == f ||
		     x->parent[g->edges[f].peer] == g->edges[f].back) &&
		    (!mend_add(&x->m, e, f) ||
		     !mend_add(&x->m, g->edges[f].back, g->edges[e].back))) {
			channels_undo(x->m.c, x->m.added, 0);
			return false;
		}
	x->parent[sw] = e;
	return true;
}

/* Joins the switches without hosts to the reserved tree, as far as possible. */
static void
complete_span(struct remainder *x)
{
	uint32_t i, sw, e, n_joined;

	x->is_spanning = true;
	do
		for (n_joined = i = 0; i < x->n_near; i++) {
			sw = x->near[i];
			for_each_edge(x->m.g, sw, e)
				if (!complete_is_in_tree(x, sw))
					n_joined += complete_hang(x, sw, e);
		}
	while (n_joined);
}

/* All switches send to the LID along the reserved tree, which has no loop. */
static void
complete_by_tree(struct remainder *x)
{
	struct mend *m = &x->m;
	const struct graph *g = m->g;
	uint32_t sw, e;

	if (!x->is_spanning)
		complete_span(x);
	if (!complete_is_in_tree(x, m->target->sw))
		return;
	for (sw = 0; sw < g->n_switches; sw++) {
		if (sw == m->target->sw ||
		    g->island[sw] != g->island[m->target->sw])
			continue;
		e = x->parent[sw];
		lft_row(m->lft, sw)[m->lid] = e == SNAPSHOT_NONE ?
			(uint8_t)LFT_NO_PATH : g->edges[e].port;
	}
	for (sw = m->target->sw; x->parent[sw] != SNAPSHOT_NONE; sw =
	     g->edges[e].peer) {
		e = x->parent[sw];
		lft_row(m->lft, g->edges[e].peer)[m->lid] =
			g->edges[g->edges[e].back].port;
	}
}

/* Gives paths to the switches that have none; returns how many have none
 * still. */
static uint32_t
complete_open(struct remainder *x)
{
	struct mend *m = &x->m;
	uint32_t i, sw, n_open = 0;

	for (m->n = 0, i = 0; i < x->n_near; i++) {
		sw = x->near[i];
		if (lft_row(m->lft, sw)[m->lid] == LFT_NO_PATH &&
		    m->g->island[sw] == m->g->island[m->target->sw])
			mend_lose(m, sw);
	}
	complete_by_root(x);
	for (x->bends = false; complete_plainly(m) && !mend_is_too_much(m);) {
		if (complete_bends(x) || complete_turn(x))
			continue;
		if (x->bends)
			break;
		x->bends = true;
	}
	for (i = 0; i < m->n; i++)
		n_open += m->is_open[m->queue[i]];
	memset(m->is_open, 0, m->g->n_switches);
	return n_open;
}

/* Makes all paths to the LID anew; they stay as they were if some would be
 * missing. */
static void
complete_anew(struct remainder *x)
{
	struct mend *m = &x->m;
	uint32_t n = m->g->n_switches, sw;
	g_autofree uint8_t *was = g_malloc(n);

	for (sw = 0; sw < n; sw++) {
		was[sw] = lft_row(m->lft, sw)[m->lid];
		if (sw != m->target->sw)
			lft_row(m->lft, sw)[m->lid] = LFT_NO_PATH;
	}
	if (complete_open(x))
		for (sw = 0; sw < n; sw++)
			lft_row(m->lft, sw)[m->lid] = was[sw];
}

/* No host has a worse path for a LID inside a switch. */
static void
complete_lid(struct remainder *x)
{
	x->m.target = graph_target_at(x->m.g, x->m.lid);
	if (!complete_open(x) || x->m.target->is_host)
		return;
	if (x->sparse)
		complete_anew(x);
	else
		complete_by_tree(x);
}

/* The LIDs of its hosts, or those inside it. */
static void
complete_switch(struct remainder *x, uint32_t sw, bool hosts,
		const uint8_t *lids)
{
	const struct graph *g = x->m.g;
	const struct graph_target *t;

	for (t = g->targets + g->first_target[sw];
	     t < g->targets + g->first_target[sw + 1]; t++)
		for (x->m.lid = t->lid; x->m.lid < t->lid + t->n_lids;
		     x->m.lid++)
			if (lids[x->m.lid] && t->is_host == hosts)
				complete_lid(x);
}

/* By LID up to g->top: it has an owner, and a switch of the owner's island has
 * no entry for it. NULL: there is none. */
static uint8_t *
complete_find_lids(const struct graph *g, const struct lft *lft)
{
	g_autofree uint8_t *lids = g_new0(uint8_t, g->top + 1u);
	const struct graph_target *t;
	const uint8_t *row, *at, *end;
	bool any = false;

	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		row = lft_row(lft, sw);
		end = row + g->top + 1;
		for (at = row + LID_UNICAST_MIN; at < end; at++) {
			at = memchr(at, (int)LFT_NO_PATH, (size_t)(end - at));
			if (!at)
				break;
			t = graph_target_at(g, (uint32_t)(at - row));
			if (t && g->island[t->sw] == g->island[sw])
				lids[at - row] = 1;
			any |= lids[at - row];
		}
	}
	return any ? g_steal_pointer(&lids) : NULL;
}

/* With all turns that the order permits and a tree over all hosts, or with the
 * turns of the tables alone, if that was not enough. */
static void
complete_all(const struct graph *g, struct lft *lft, const uint32_t *ranks,
	     const uint8_t *lids, bool sparse)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct remainder x = { .sparse = sparse, .root = SNAPSHOT_NONE };
	struct channels *c = NULL;
	uint32_t i;

	x.parent = g_new(uint32_t, g->n_switches);
	g_ptr_array_add(scratch, x.parent);
	if (!sparse)
		c = multicast_reserve(g, lft, ranks, x.parent, &x.root);
	else if (!channels_load(&c, g, lft, NULL, NULL))
		g_clear_pointer(&c, channels_free);
	if (!c)
		return;
	mend_init(&x.m, g, c, scratch);
	x.m.lft = lft;
	complete_init(&x, g, ranks, scratch);
	/* hosts once more: a later turn may serve them, too */
	for (i = 0; i < 3 * x.n_near; i++)
		complete_switch(&x, x.near[i % x.n_near], i / x.n_near != 1,
				lids);
	mend_clear(&x.m);
	channels_free(c);
}

void
mend_complete(const struct graph *g, struct lft *lft, const uint32_t *ranks)
{
	for (unsigned sparse = 0; sparse < 2; sparse++) {
		g_autofree uint8_t *lids = complete_find_lids(g, lft);

		if (!lids)
			return;
		complete_all(g, lft, ranks, lids, sparse);
	}
}
