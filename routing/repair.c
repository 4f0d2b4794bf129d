// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local repair of forwarding tables after a few cables are lost.
 *
 * Method. The tables of the whole fabric are kept, and every repair starts from
 * them, so a cable that comes back restores the original tables. For each LID
 * with an entry into a lost cable, the switches whose paths pass that entry are
 * found against the direction of the entries. They get new paths in three
 * steps. (1) From the fault backwards, each switch that has another path of the
 * same length takes it; of several, the one over the channel to which this
 * repair has added the least. (2) Switches with CAs take the shortest path
 * there is. (3) All other switches, again from the fault backwards, keep their
 * entry if it now leads around the fault, or get another path.
 *
 * Safety. The channel dependencies of the tables are kept as a sorted acyclic
 * graph: all dependencies that the order of the switches permits, the other
 * turns of the tables, and those that repairs added. A path is taken if all its
 * turns are in that graph. If there is no such path, turns are added as long as
 * the graph stays acyclic. So the tables of any two repairs have no credit loop
 * together; mixtures of old and new entries are checked by transition_steps().
 * Every new path is followed to its end once more. If a pair would lose its
 * path, the repair is given up and the engines route the fabric.
 *
 * Cost. Lost entries times the ports of a switch. Adding a turn may search all
 * channels (a lost spine of 11,664 hosts took minutes), so the work is limited.
 * The dependencies are computed at the first lost cable.
 */
#include "routing/repair.h"

#include <stdlib.h>
#include <string.h>

#include "routing/credit_loops.h"
#include "routing/scratch.h"

#define LOST_MAX	64u	/* cables; more go to the engines */
#define LOST_PART	16u	/* likewise more than one in so many */
#define ENTRIES_MAX	65536u	/* that lead into lost cables */
#define WORK_MAX	(UINT64_C(1) << 26)	/* cables and turns followed:
						   about 2 s */

struct repair {
	struct graph *g;	/* the whole fabric; all indices are of it */
	struct choice made;	/* tables of the whole fabric */
	struct channels *c;	/* NULL: not computed yet */
	struct lft *now;	/* tables of the last repair, */
	uint8_t *is_lost;	/* by edge: lost at that time */
};

/* An entry that leads into a lost cable. */
struct lost_entry {
	uint16_t lid;
	uint32_t sw;
};

/* A repair in progress. */
struct mend {
	struct repair *r;
	const struct graph *g;
	uint32_t *place;	/* by switch: its present index;
				   SNAPSHOT_NONE */
	uint8_t *is_lost;	/* by edge */
	struct lft *lft;
	GArray *lost;		/* struct lost_entry, by LID */
	uint16_t lid;		/* being repaired, */
	const struct graph_target *target;
	bool is_data;		/* false: port 0 to port 0, which makes no
				   channel dependencies */
	uint32_t *queue, n;	/* switches that lost their path, */
	uint8_t *is_open;	/* by switch: still without a path */
	float *dealt;		/* by edge: flows this repair has added */
	GArray *added;		/* struct turn: to r->c, for one path */
	uint64_t work;		/* cables followed so far */
	uint64_t before;	/* work of channels_add() before this repair */
};

struct mend_path {
	uint32_t edge;		/* SNAPSHOT_NONE: no path */
	uint32_t hops;
	float most;		/* the largest dealt[] of its channels */
};

/* ------------------------------------------------------------- the whole */

/* The engine and all texts of a choice, without tables and ranks. */
static struct choice
choice_describe(const struct choice *c)
{
	return (struct choice){
		.engine = c->engine, .reason = g_strdup(c->reason),
		.warning = g_strdup(c->warning),
		.notes = g_ptr_array_ref(c->notes),
		.compared = c->compared ? g_ptr_array_ref(c->compared) : NULL,
		.alone = { .reach = c->alone.reach },
	};
}

struct repair *
repair_new(struct graph *g, const struct choice *c)
{
	struct repair *r;

	if (c->safety == CHOICE_LOOP || !verify_is_sound(&c->alone) ||
	    c->lft->top != g->top) {
		graph_free(g);
		return NULL;
	}
	r = g_new0(struct repair, 1);
	r->g = g;
	r->made = choice_describe(c);
	r->made.lft = lft_ref(c->lft);
	r->made.ranks = g_memdup2(c->ranks, g->n_switches * sizeof(uint32_t));
	r->now = lft_ref(c->lft);
	r->is_lost = g_new0(uint8_t, g->n_edges + 1);
	return r;
}

void
repair_free(struct repair *r)
{
	if (!r)
		return;
	graph_free(r->g);
	choice_clear(&r->made);
	channels_free(r->c);
	lft_free(r->now);
	g_free(r->is_lost);
	g_free(r);
}

/* ------------------------------------------------- what of it is there now */

/* False: there are new switches, hosts or cables, LIDs have changed, or too
 * many cables are lost. */
static bool
mend_match(struct mend *m, const struct graph *now)
{
	const struct snapshot *a = m->g->subnet, *b = now->subnet;
	uint32_t sw, e, i, next = 0, n_lost = 0, n_matched = 0;
	const struct graph *g = m->g;
	const struct graph_target *t, *owner;
	const struct graph_edge *was, *is;

	/* Switches are in the order of their NodeGUIDs in both. */
	for (sw = 0; sw < g->n_switches; sw++)
		m->place[sw] = next < now->n_switches &&
			a->nodes[a->switches[sw]].info.node_guid ==
			b->nodes[b->switches[next]].info.node_guid ?
			next++ : SNAPSHOT_NONE;
	if (next < now->n_switches || now->top != g->top)
		return false;
	for (i = 0; i < now->n_targets; i++) {
		t = &now->targets[i];
		owner = graph_target_at(g, t->lid);
		if (!owner || owner->lid != t->lid ||
		    owner->n_lids != t->n_lids || owner->port != t->port ||
		    m->place[owner->sw] != t->sw)
			return false;
	}
	for (e = 0; e < g->n_edges; e++) {
		was = &g->edges[e];
		sw = m->place[graph_owner(g, e)];
		i = sw == SNAPSHOT_NONE ? sw :
			graph_edge_at(now, sw, was->port);
		m->is_lost[e] = i == SNAPSHOT_NONE;
		n_lost += m->is_lost[e];
		if (m->is_lost[e])
			continue;
		n_matched++;
		is = &now->edges[i];
		if (is->peer != m->place[was->peer] ||
		    is->capacity != was->capacity ||
		    now->edges[is->back].port != g->edges[was->back].port)
			return false;
	}
	return n_matched == now->n_edges && n_lost <= 2 *
		CLAMP(g->n_edges / 2 / LOST_PART, 1, LOST_MAX);
}

/* Is an entry of this LID into a lost cable left as it is? It is if the LID
 * has no owner, or if the switch of its owner is lost. */
static bool
mend_leaves(const struct mend *m, uint32_t lid)
{
	const struct graph_target *target = graph_target_at(m->g, lid);

	return !target || m->place[target->sw] == SNAPSHOT_NONE;
}

/* Is there an entry of a LID without an owner that leads into a cable which
 * no tables may use? */
static bool
mend_has_barred(const struct mend *m, const struct graph *now)
{
	const struct snapshot *s = now->subnet;
	uint32_t sw, lid, place;
	const uint8_t *row;
	bool is_new;
	unsigned num;

	for (sw = 0; sw < m->g->n_switches; sw++) {
		place = m->place[sw];
		for (num = 1; place != SNAPSHOT_NONE &&
		     num <= s->nodes[s->switches[place]].info.num_ports;
		     num++) {
			if (!graph_is_barred(now, place, (uint8_t)num))
				continue;
			is_new = graph_edge_at(m->g, sw, (uint8_t)num) ==
				SNAPSHOT_NONE;
			row = lft_row(m->r->made.lft, sw);
			for (lid = 1; lid <= m->g->top; lid++)
				if (row[lid] == num && (is_new ?
				    !graph_target_at(now, lid) :
				    mend_leaves(m, lid)))
					return true;
		}
	}
	return false;
}

static int
compare_lost(const void *a, const void *b)
{
	const struct lost_entry *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static void
mend_list_lost(struct mend *m)
{
	const struct graph *g = m->g;
	const uint8_t *row, *at, *end;
	struct lost_entry x;
	uint32_t e;

	for (x.sw = 0; x.sw < g->n_switches; x.sw++)
		for_each_edge(g, x.sw, e) {
			if (!m->is_lost[e] || m->place[x.sw] == SNAPSHOT_NONE)
				continue;
			row = lft_row(m->r->made.lft, x.sw);
			end = row + g->top + 1;
			for (at = row; at < end; at++) {
				at = memchr(at, g->edges[e].port,
					    (size_t)(end - at));
				if (!at)
					break;
				x.lid = (uint16_t)(at - row);
				if (!mend_leaves(m, x.lid))
					g_array_append_val(m->lost, x);
			}
		}
	g_array_sort(m->lost, compare_lost);
}

/* ------------------------------------------------------------------ a path */

static uint32_t
mend_next(const struct mend *m, uint32_t sw)
{
	return graph_edge_at(m->g, sw, lft_row(m->lft, sw)[m->lid]);
}

/* The engines are faster than a repair of this size. */
static bool
mend_is_too_much(const struct mend *m)
{
	return m->work + m->r->c->work - m->before > WORK_MAX;
}

/*
 * Follows the path that begins with an edge to its destination. False: it does
 * not arrive, or has a turn that is not in the dependency graph. With `add`,
 * such turns are added while the graph stays acyclic.
 */
static bool
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
		if (!m->is_data || channels_has(m->r->c, e, next))
			continue;
		if (!add || !channels_extend(m->r->c, e, next, m->added))
			return false;
	}
	return false;
}

/* The best path of a switch to the LID. With `add`, the first path found,
 * with new turns. */
static struct mend_path
mend_find(struct mend *m, uint32_t sw, bool add)
{
	struct mend_path best = { .edge = SNAPSHOT_NONE }, path;
	uint32_t e;

	for_each_edge(m->g, sw, e) {
		if (add && mend_is_too_much(m))
			break;
		g_array_set_size(m->added, 0);
		if (!mend_follow(m, e, add, &path))
			channels_undo(m->r->c, m->added, 0);
		else if (add)
			return path;
		else if (best.edge == SNAPSHOT_NONE || path.hops < best.hops ||
			 (path.hops == best.hops && path.most < best.most))
			best = path;
	}
	return best;
}

static void
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
 * present entry? Not if one of the switches whose paths pass it would make a
 * turn that is not in the graph. */
static bool
mend_may_bend(struct mend *m, uint32_t in, uint32_t out, bool add)
{
	const struct graph *g = m->g;
	uint32_t sw = g->edges[in].peer, e;
	struct mend_path path;
	bool ok;

	if (out == g->edges[in].back || mend_is_too_much(m) ||
	    (!add && !channels_has(m->r->c, in, out)))
		return false;
	for_each_edge(g, sw, e)
		if (mend_next(m, g->edges[e].peer) == g->edges[e].back &&
		    !m->is_open[g->edges[e].peer] &&
		    !channels_has(m->r->c, g->edges[e].back, out))
			return false;
	m->is_open[sw] = 1;
	ok = mend_follow(m, out, false, &path);
	m->is_open[sw] = 0;
	return ok && channels_add(m->r->c, in, out);
}

/* If every neighbour's path would make a forbidden turn: changes the entry
 * of a neighbour as well. */
static bool
mend_bend(struct mend *m, uint32_t sw, bool add)
{
	const struct graph *g = m->g;
	uint32_t in, out, peer;

	m->is_data = true;
	for_each_edge(g, sw, in) {
		peer = g->edges[in].peer;
		if (m->is_lost[in] || m->is_open[peer] ||
		    peer == m->target->sw)
			continue;
		for_each_edge(g, peer, out) {
			if (!mend_may_bend(m, in, out, add))
				continue;
			lft_row(m->lft, peer)[m->lid] = g->edges[out].port;
			m->queue[m->n++] = peer;
			mend_take(m, sw, in);
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------- a LID */

/* Does the switch send data to the LID? Port 0 to port 0 is not data. */
static bool
mend_sends_data(struct mend *m, uint32_t sw)
{
	m->is_data = m->target->port != 0 || m->g->n_hosts[sw] > 0;
	return m->is_data;
}

static void
mend_lose(struct mend *m, uint32_t sw)
{
	if (m->is_open[sw])
		return;
	m->is_open[sw] = 1;
	m->queue[m->n++] = sw;
}

/* Step 1: from the fault backwards, switches with another path that is no
 * longer than before; the switches behind them keep their entries. */
static void
mend_near(struct mend *m)
{
	struct mend_path path;
	uint32_t i, sw, end, before;

	m->is_data = true;
	for (i = 0; i < m->n; i++) {
		end = sw = m->queue[i];
		before = verify_follow(m->g, m->r->made.lft, m->lid, &end);
		if (mend_follow(m, mend_next(m, sw), false, &path) &&
		    path.hops <= before) {
			m->is_open[sw] = 0;
			continue;
		}
		path = mend_find(m, sw, false);
		if (path.edge != SNAPSHOT_NONE && path.hops <= before)
			mend_take(m, sw, path.edge);
	}
}

/* Step 2: switches with CAs, the nearest first. */
static void
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

	mend_sends_data(m, sw);
	path = mend_find(m, sw, add);
	if (path.edge == SNAPSHOT_NONE)
		return mend_bend(m, sw, add);
	mend_take(m, sw, path.edge);
	return true;
}

/* Step 3: from the fault backwards. A switch all of whose neighbours have no
 * path yet is tried again in the next round. */
static bool
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

/* Repairs the LID of the nth lost entry; *next is the index of the first
 * entry of the next LID. */
static bool
mend_lid(struct mend *m, guint nth, guint *next)
{
	const struct lost_entry *x = (void *)m->lost->data;
	const struct graph *g = m->g;
	struct mend_path path;
	uint32_t i, e;

	m->lid = x[nth].lid;
	m->target = graph_target_at(g, m->lid);
	for (m->n = 0; nth < m->lost->len && x[nth].lid == m->lid; nth++)
		mend_lose(m, x[nth].sw);
	*next = nth;
	/* And the switches whose paths pass these. */
	for (i = 0; i < m->n; i++)
		for_each_edge(g, m->queue[i], e)
			if (!m->is_lost[e] &&
			    mend_next(m, g->edges[e].peer) == g->edges[e].back)
				mend_lose(m, g->edges[e].peer);
	mend_near(m);
	mend_hosts(m);
	if (!mend_others(m))
		return false;
	/* Final check: every switch that lost its path and sends data has
	 * one. */
	for (i = 0; i < m->n; i++)
		m->is_open[m->queue[i]] = 0;
	for (i = 0; i < m->n; i++) {
		e = mend_next(m, m->queue[i]);
		if (mend_sends_data(m, m->queue[i]) &&
		    (e == SNAPSHOT_NONE || !mend_follow(m, e, false, &path)))
			return false;
	}
	return !mend_is_too_much(m);
}

/* The LID of a lost switch has no owner, so all packets to it count as data.
 * Entries whose turns would close a loop are cleared. */
static void
mend_clear_gone(struct mend *m, const struct graph_target *gone)
{
	const struct graph *g = m->g;
	uint32_t sw, e, next;

	for (m->lid = gone->lid; m->lid < gone->lid + gone->n_lids; m->lid++)
		for (sw = 0; sw < g->n_switches; sw++) {
			e = mend_next(m, sw);
			if (e == SNAPSHOT_NONE || m->is_lost[e])
				continue;
			next = mend_next(m, g->edges[e].peer);
			if (next != SNAPSHOT_NONE && !m->is_lost[next] &&
			    !channels_add(m->r->c, e, next))
				lft_row(m->lft, sw)[m->lid] = LFT_NO_PATH;
		}
}

static bool
mend_all(struct mend *m)
{
	struct lft *home = m->r->made.lft;
	guint i, next;
	bool is_whole;

	if (!m->r->c && !channels_load(&m->r->c, m->g, home, NULL,
				       m->r->made.ranks)) {
		g_clear_pointer(&m->r->c, channels_free);
		return false;
	}
	if (memcmp(m->is_lost, m->r->is_lost, m->g->n_edges) == 0) {
		m->lft = lft_ref(m->r->now);
		return true;
	}
	m->before = m->r->c->work;
	mend_list_lost(m);
	if (m->lost->len > ENTRIES_MAX)
		return false;
	is_whole = !memchr(m->is_lost, 1, m->g->n_edges);
	m->lft = is_whole ? lft_ref(home) : lft_copy(home);
	for (i = 0; i < m->lost->len; i = next)
		if (!mend_lid(m, i, &next))
			return false;
	for (i = 0; i < m->g->n_targets; i++)
		if (m->place[m->g->targets[i].sw] == SNAPSHOT_NONE &&
		    m->g->targets[i].port == 0)
			mend_clear_gone(m, &m->g->targets[i]);
	return true;
}

/* -------------------------------------------------- from old tables to new */

/* Copies tables to the present numbering of the switches, or back; when
 * copying back, lost switches get their row of `rest`. */
static struct lft *
mend_renumber(const struct mend *m, const struct lft *from, uint32_t n_now,
	      const struct lft *rest)
{
	bool to_now = !rest;
	struct lft *lft = lft_new(to_now ? n_now : m->g->n_switches,
				  m->g->top);
	uint32_t sw;

	for (sw = 0; sw < m->g->n_switches; sw++) {
		uint32_t place = m->place[sw];

		if (place == SNAPSHOT_NONE && to_now)
			continue;
		memcpy(lft_row(lft, to_now ? place : sw),
		       place == SNAPSHOT_NONE ? lft_row(rest, sw) :
		       lft_row(from, to_now ? sw : place),
		       MIN(lft->stride, from->stride));
	}
	return lft;
}

/* Finds the stages from the tables held (NULL: none) to the repaired ones, and
 * fills the rest of the choice. False: there are no such stages. */
static bool
mend_conclude(struct mend *m, const struct graph *now, const struct lft *held,
	      struct choice *c)
{
	const uint32_t *ranks = m->r->made.ranks;
	uint32_t sw, i, n_now = now->n_switches;
	struct lft *fit = NULL, *bridge = NULL;
	struct transition_entry *e;
	bool ok;

	if (held && (n_now != m->g->n_switches ||
		     held->stride != m->lft->stride))
		held = fit = mend_renumber(m, held, n_now, m->lft);
	c->later = g_array_new(FALSE, FALSE, sizeof(struct transition_entry));
	ok = !held || transition_steps(m->g, held, m->r->now, m->lft, m->r->c,
				       &bridge, c->later);
	lft_free(fit);
	c->bridge = bridge;
	c->safety = bridge ? CHOICE_DRAIN : CHOICE_SAFE;
	if (!bridge)
		g_clear_pointer(&c->later, g_array_unref);
	if (!ok)
		return false;
	c->ranks = ranks ? g_new(uint32_t, n_now + 1) : NULL;
	for (sw = 0; ranks && sw < m->g->n_switches; sw++)
		if (m->place[sw] != SNAPSHOT_NONE)
			c->ranks[m->place[sw]] = ranks[sw];
	lft_free(m->r->now);
	m->r->now = lft_ref(m->lft);
	memcpy(m->r->is_lost, m->is_lost, m->g->n_edges);
	c->lft = n_now == m->g->n_switches ? lft_ref(m->lft) :
		mend_renumber(m, m->lft, n_now, NULL);
	if (bridge && n_now != m->g->n_switches) {
		c->bridge = mend_renumber(m, bridge, n_now, NULL);
		lft_free(bridge);
		for (i = 0; i < c->later->len; i++) {
			e = &g_array_index(c->later, struct transition_entry,
					   i);
			e->sw = m->place[e->sw];
		}
	}
	/* The pair in the report may be of a lost switch. */
	if (c->alone.reach.lid)
		verify_reachability(now, c->lft, NULL, &c->alone.reach);
	return true;
}

bool
repair_tables(struct repair *r, const struct engine_input *in,
	      struct choice *c)
{
	const struct graph *now = in->g;
	g_autoptr(GPtrArray) scratch = scratch_new();
	uint32_t n = r->g->n_switches;
	struct mend m = {
		.r = r, .g = r->g,
		.place = SCRATCH(scratch, uint32_t, n),
		.is_lost = SCRATCH(scratch, uint8_t, r->g->n_edges),
		.queue = SCRATCH(scratch, uint32_t, 2 * n),
		.is_open = SCRATCH(scratch, uint8_t, n),
		.dealt = SCRATCH(scratch, float, r->g->n_edges),
		.lost = g_array_new(FALSE, FALSE, sizeof(struct lost_entry)),
		.added = g_array_new(FALSE, FALSE, sizeof(struct turn)),
	};
	bool ok;

	*c = choice_describe(&r->made);
	ok = mend_match(&m, now) && !mend_has_barred(&m, now) && mend_all(&m) &&
		mend_conclude(&m, now, in->previous, c);
	if (!ok)
		choice_clear(c);
	lft_free(m.lft);
	g_array_unref(m.lost);
	g_array_unref(m.added);
	return ok;
}
