// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local repair of forwarding tables after a few cables are lost.
 *
 * Method. The tables of the whole fabric are kept, and every repair starts from
 * them, so a cable that comes back restores the original tables. For each LID
 * with an entry into a lost cable, the switches whose paths pass that entry are
 * found against the direction of the entries. They get new paths in three
 * steps. (1) From the fault backwards, each switch that forwards packets of
 * hosts and has another path of the same length takes it; of several, the one
 * over the channel to which this repair has added the least. (2) Switches with
 * CAs take the shortest path there is. (3) All other switches, again from the
 * fault backwards, keep their entry if it now leads around the fault, or get
 * another path: most entries for a LID serve ports 0 alone, and a detour at the
 * fault is shorter to write than another entry on each switch before it. The LID
 * of a port 0 gets step (3) alone: its path only has to exist.
 *
 * Safety. The channel dependencies of the tables are kept as a sorted acyclic
 * graph: all dependencies that the order of the switches permits, the other
 * turns of the tables, and those that repairs added. A path is taken if all its
 * turns are in that graph. If there is no such path, turns are added as long as
 * the graph stays acyclic, at last to a graph of the tables alone, and of those
 * without what leads into lost cables; they stay until the switches hold the
 * original tables again. So the tables of any two repairs have no credit loop
 * together, unless such a cable is back, which the engines see to; mixtures of
 * old and new entries are checked by transition_steps(). Every new path is
 * followed to its end once more. If a pair would lose its path, or hosts had
 * none before, as their table ends too early, the repair is given up and the
 * engines route the fabric.
 *
 * Cost. Lost entries times the ports of a switch. Adding a turn may search all
 * channels (a lost spine of 11,664 hosts took minutes), so the work is limited.
 * The dependencies are computed at the first lost cable.
 */
#include "routing/repair.h"

#include <stdlib.h>
#include <string.h>

#include "routing/mend.h"
#include "routing/multicast.h"
#include "routing/scratch.h"

#define LOST_MAX	64u	/* cables; more go to the engines */
#define LOST_PART	16u	/* likewise more than one in so many */
#define ENTRIES_MAX	65536u	/* that lead into lost cables */

struct repair {
	struct graph *g;	/* the whole fabric; all indices are of it */
	struct choice made;	/* tables of the whole fabric */
	struct channels *made_c;	/* of made; NULL: not computed yet */
	struct channels *c;	/* and turns that repairs added since the
				   switches held `made`; NULL: likewise */
	uint8_t *is_bare;	/* by edge: c lacks its turns, as it was lost */
	struct lft *now;	/* tables of the last repair, */
	uint8_t *is_lost;	/* by edge: lost at that time */
	uint32_t *place;	/* by switch: its index then; SNAPSHOT_NONE */
	struct channels *steps;	/* the dependencies of all its steps, with
				   those of c; NULL: there were none */
};

/* An entry that leads into a lost cable. */
struct lost_entry {
	uint16_t lid;
	uint32_t sw;
};

/* A repair in progress. */
struct repairing {
	struct mend m;
	struct repair *r;
	uint32_t *place;	/* r->place */
	GArray *lost;		/* struct lost_entry, by LID */
	const struct graph *whole;	/* with the links to be avoided */
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
	r->is_bare = g_new0(uint8_t, g->n_edges + 1);
	r->place = g_new(uint32_t, g->n_switches + 1);
	return r;
}

void
repair_set_subnet(struct repair *r, struct snapshot *s)
{
	struct snapshot *old = r ? (struct snapshot *)r->g->subnet : s;

	if (old == s || !snapshot_is_alike(old, s))
		return;
	r->g->subnet = snapshot_ref(s);
	snapshot_unref(old);
}

void
repair_free(struct repair *r)
{
	if (!r)
		return;
	graph_free(r->g);
	choice_clear(&r->made);
	channels_free(r->made_c);
	channels_free(r->c);
	channels_free(r->steps);
	lft_free(r->now);
	g_free(r->is_lost);
	g_free(r->is_bare);
	g_free(r->place);
	g_free(r);
}

/* ------------------------------------------------- what of it is there now */

/* False: there are new switches, hosts or cables, LIDs have changed, or too
 * many cables are lost. */
static bool
repair_match(struct repairing *w, const struct graph *now)
{
	struct mend *m = &w->m;
	g_autofree uint32_t *nodes = snapshot_map_nodes(m->g->subnet,
							now->subnet);
	uint32_t sw, e, i, n_known = 0, n_lost = 0, n_matched = 0;
	const struct graph *g = m->g;
	const struct graph_target *t, *owner;
	const struct graph_edge *was, *is;

	for (sw = 0; sw < g->n_switches; sw++) {
		i = nodes[g->subnet->switches[sw]];
		w->place[sw] = i == SNAPSHOT_NONE ? i :
			now->subnet->nodes[i].sw_index;
		n_known += w->place[sw] != SNAPSHOT_NONE;
	}
	if (n_known < now->n_switches || now->top != g->top)
		return false;
	for (i = 0; i < now->n_targets; i++) {
		t = &now->targets[i];
		owner = graph_target_at(g, t->lid);
		if (!owner || owner->lid != t->lid ||
		    owner->n_lids != t->n_lids || owner->port != t->port ||
		    w->place[owner->sw] != t->sw)
			return false;
	}
	for (e = 0; e < g->n_edges; e++) {
		was = &g->edges[e];
		sw = w->place[graph_owner(g, e)];
		i = sw == SNAPSHOT_NONE ? sw :
			graph_edge_at(now, sw, was->port);
		m->is_lost[e] = i == SNAPSHOT_NONE;
		n_lost += m->is_lost[e];
		if (m->is_lost[e])
			continue;
		n_matched++;
		is = &now->edges[i];
		if (is->peer != w->place[was->peer] ||
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
repair_leaves(const struct repairing *w, uint32_t lid)
{
	const struct mend *m = &w->m;
	const struct graph_target *target = graph_target_at(m->g, lid);

	return !target || w->place[target->sw] == SNAPSHOT_NONE;
}

/* Is there an entry of a LID without an owner that leads into a cable which
 * no tables may use? */
static bool
repair_has_barred(const struct repairing *w, const struct graph *now)
{
	const struct mend *m = &w->m;
	const struct snapshot *s = now->subnet;
	uint32_t sw, lid, place;
	const uint8_t *row;
	bool is_new;
	unsigned num;

	for (sw = 0; sw < m->g->n_switches; sw++) {
		place = w->place[sw];
		for (num = 1; place != SNAPSHOT_NONE &&
		     num <= s->nodes[s->switches[place]].info.num_ports;
		     num++) {
			if (!graph_is_barred(now, place, (uint8_t)num))
				continue;
			is_new = graph_edge_at(m->g, sw, (uint8_t)num) ==
				SNAPSHOT_NONE;
			row = lft_row(w->r->made.lft, sw);
			for (lid = 1; lid <= m->g->top; lid++)
				if (row[lid] == num && (is_new ?
				    !graph_target_at(now, lid) :
				    repair_leaves(w, lid)))
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
repair_list_lost(struct repairing *w)
{
	struct mend *m = &w->m;
	const struct graph *g = m->g;
	const uint8_t *row, *at, *end;
	struct lost_entry x;
	uint32_t e;

	for (x.sw = 0; x.sw < g->n_switches; x.sw++)
		for_each_edge(g, x.sw, e) {
			if (!m->is_lost[e] || w->place[x.sw] == SNAPSHOT_NONE)
				continue;
			row = lft_row(w->r->made.lft, x.sw);
			end = row + g->top + 1;
			for (at = row; at < end; at++) {
				at = memchr(at, g->edges[e].port,
					    (size_t)(end - at));
				if (!at)
					break;
				x.lid = (uint16_t)(at - row);
				if (!repair_leaves(w, x.lid))
					g_array_append_val(w->lost, x);
			}
		}
	g_array_sort(w->lost, compare_lost);
}

/* ------------------------------------------------------------------- a LID */

/* How many hosts, or CAs, send through each switch that lost its path? In the
 * queue a switch stands before those that forward to it over a cable that is
 * there. */
static void
repair_count(const struct mend *m, const uint32_t *senders, uint32_t *behind)
{
	uint32_t i, sw, e;

	for (i = 0; i < m->n; i++)
		behind[m->queue[i]] = 0;
	for (i = m->n; i-- > 0;) {
		sw = m->queue[i];
		behind[sw] += senders[sw];
		e = mend_next(m, sw);
		if (e != SNAPSHOT_NONE && !m->is_lost[e])
			behind[m->g->edges[e].peer] += behind[sw];
	}
}

/* Step 1: from the fault backwards, switches with packets of hosts and another
 * path that is no longer than before; the switches behind them keep their
 * entries. */
static void
repair_near(struct repairing *w)
{
	struct mend *m = &w->m;
	struct mend_path path;
	uint32_t i, sw, end, before;

	m->is_data = true;
	repair_count(m, m->g->n_hosts, m->behind);
	for (i = 0; i < m->n; i++) {
		end = sw = m->queue[i];
		if (!m->behind[sw])
			continue;
		before = verify_follow(m->g, w->r->made.lft, m->lid, &end);
		if (mend_follow(m, mend_next(m, sw), false, &path) &&
		    path.hops <= before) {
			m->is_open[sw] = 0;
			continue;
		}
		path = mend_find(m, sw, false);
		if (path.edge != SNAPSHOT_NONE && path.hops <= before)
			mend_take_flows(m, sw, path.edge, m->behind[sw]);
	}
}

/* Repairs the LID of the nth lost entry; *next is the index of the first
 * entry of the next LID. */
static bool
repair_lid(struct repairing *w, guint nth, guint *next)
{
	struct mend *m = &w->m;
	const struct lost_entry *x = (void *)w->lost->data;
	const struct graph *g = m->g;
	struct mend_path path;
	uint32_t i, e;

	mend_start(m, x[nth].lid);
	for (; nth < w->lost->len && x[nth].lid == m->lid; nth++)
		mend_lose(m, x[nth].sw);
	*next = nth;
	/* And the switches whose paths pass these. */
	for (i = 0; i < m->n; i++)
		for_each_edge(g, m->queue[i], e)
			if (!m->is_lost[e] &&
			    mend_next(m, g->edges[e].peer) == g->edges[e].back)
				mend_lose(m, g->edges[e].peer);
	repair_count(m, g->n_senders, m->senders);
	if (m->target->port) {
		repair_near(w);
		mend_plainly(m, true);
	}
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
repair_clear_gone(struct repairing *w, const struct graph_target *gone)
{
	struct mend *m = &w->m;
	const struct graph *g = m->g;
	uint32_t sw, e, next;

	for (m->lid = gone->lid; m->lid < gone->lid + gone->n_lids; m->lid++)
		for (sw = 0; sw < g->n_switches; sw++) {
			e = mend_next(m, sw);
			if (e == SNAPSHOT_NONE || m->is_lost[e])
				continue;
			next = mend_next(m, g->edges[e].peer);
			if (next != SNAPSHOT_NONE && !m->is_lost[next] &&
			    !channels_add(m->c, e, next))
				lft_row(m->lft, sw)[m->lid] = LFT_NO_PATH;
		}
}

/* Do all switches hold the tables of the whole fabric? */
static bool
repair_is_home(const struct repairing *w, const struct lft *held)
{
	const struct lft *home = w->r->made.lft;
	uint32_t sw;

	if (!held || held->stride != home->stride)
		return false;
	for (sw = 0; sw < home->n_switches; sw++)
		if (w->place[sw] != SNAPSHOT_NONE &&
		    memcmp(lft_row(home, sw), lft_row(held, w->place[sw]),
			   home->stride) != 0)
			return false;
	return true;
}

/* Is one of these cables there, be it to be avoided, so that it may carry
 * packets? edges: by edge. */
static bool
repair_has_any(const struct repairing *w, const uint8_t *edges)
{
	const struct graph *g = w->r->g;
	bool found = false;
	uint32_t e, sw;

	for (e = 0; e < g->n_edges && !found; e++) {
		sw = w->place[graph_owner(g, e)];
		found = edges[e] && sw != SNAPSHOT_NONE &&
			graph_edge_at(w->whole, sw, g->edges[e].port) !=
			SNAPSHOT_NONE;
	}
	return found;
}

/* Prepares the dependencies. Turns that earlier repairs added, and that no
 * switch has an entry for any more, would be in the way. is_new: those of the
 * original tables are enough. */
static bool
repair_open(struct repairing *w, const struct lft *held, bool *is_new)
{
	struct repair *r = w->r;

	if (!r->made_c && !channels_load(&r->made_c, r->g, r->made.lft, NULL,
					 r->made.ranks)) {
		g_clear_pointer(&r->made_c, channels_free);
		return false;
	}
	*is_new = !r->c || repair_is_home(w, held);
	if (!*is_new)
		return !repair_has_any(w, r->is_bare);
	memset(r->is_bare, 0, r->g->n_edges);
	channels_free(r->c);
	r->c = channels_copy(r->made_c);
	lft_free(r->now);
	r->now = lft_ref(r->made.lft);
	memset(r->is_lost, 0, r->g->n_edges);
	return true;
}

/* Repairs all LIDs in a copy of the original tables. */
static bool
repair_lids(struct repairing *w)
{
	struct mend *m = &w->m;
	struct lft *home = w->r->made.lft;
	guint i, next;

	lft_free(m->lft);
	m->lft = memchr(m->is_lost, 1, m->g->n_edges) ? lft_copy(home) :
		lft_ref(home);
	m->home = home;
	m->c = w->r->c;
	m->before = m->c->work;
	for (i = 0; i < w->lost->len; i = next)
		if (!repair_lid(w, i, &next))
			return false;
	for (i = 0; i < m->g->n_targets; i++)
		if (w->place[m->g->targets[i].sw] == SNAPSHOT_NONE &&
		    m->g->targets[i].port == 0)
			repair_clear_gone(w, &m->g->targets[i]);
	return true;
}

/* Nothing passes lost cables. */
static void
repair_strip(struct repairing *w)
{
	const struct graph *g = w->r->g;
	struct channels *c = w->r->c;
	uint32_t e, k;

	for (e = 0; e < g->n_edges; e++) {
		if (!w->m.is_lost[e])
			continue;
		memset(c->turns + (size_t)e * CHANNELS_WORDS, 0,
		       CHANNELS_WORDS * sizeof(*c->turns));
		for_each_edge(g, graph_owner(g, e), k)
			channels_remove(c, g->edges[k].back, e);
	}
	memcpy(w->r->is_bare, w->m.is_lost, g->n_edges);
}

/* Once more, with the turns of the tables alone: those that the order permits,
 * but no path has, may be in the way. bare: also without those of lost cables. A
 * loop may close when these are back, so it is the last resort. */
static bool
repair_again(struct repairing *w, bool bare)
{
	struct repair *r = w->r;
	struct mend *m = &w->m;

	if (mend_is_too_much(m) || (bare && repair_has_any(w, m->is_lost)) ||
	    !channels_load(&r->c, r->g, r->made.lft, NULL, NULL)) {
		g_clear_pointer(&r->c, channels_free);
		return false;
	}
	if (bare)
		repair_strip(w);
	memset(m->dealt, 0, r->g->n_edges * sizeof(*m->dealt));
	memset(m->refused, 0, r->g->n_edges * CHANNELS_WORDS *
	       sizeof(*m->refused));
	return repair_lids(w);
}

static bool
repair_all(struct repairing *w, const struct lft *held)
{
	struct mend *m = &w->m;
	bool is_new;

	if (!repair_open(w, held, &is_new))
		return false;
	if (memcmp(m->is_lost, w->r->is_lost, m->g->n_edges) == 0) {
		m->lft = lft_ref(w->r->now);
		return true;
	}
	repair_list_lost(w);
	/* New tables may have paths for hosts that lacked one. */
	if (w->lost->len > ENTRIES_MAX ||
	    (memchr(m->is_lost, 1, m->g->n_edges) &&
	     w->r->made.alone.reach.lost_hosts))
		return false;
	return repair_lids(w) ||
		(is_new && (repair_again(w, false) || repair_again(w, true)));
}

/* -------------------------------------------------- from old tables to new */

/* Copies tables to the present numbering of the switches, or back; when
 * copying back, lost switches get their row of `rest`. */
static struct lft *
repair_renumber(const struct repairing *w, const struct lft *from, uint32_t n_now,
	      const struct lft *rest)
{
	const struct mend *m = &w->m;
	bool to_now = !rest;
	struct lft *lft = lft_new(to_now ? n_now : m->g->n_switches,
				  m->g->top);
	uint32_t sw;

	for (sw = 0; sw < m->g->n_switches; sw++) {
		uint32_t place = w->place[sw];

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
repair_conclude(struct repairing *w, const struct graph *now, const struct lft *held,
	      struct choice *c)
{
	struct mend *m = &w->m;
	const uint32_t *ranks = w->r->made.ranks;
	uint32_t sw, i, n_now = now->n_switches;
	struct lft *fit = NULL, *bridge = NULL;
	struct transition_entry *e;
	bool ok;

	if (held && (n_now != m->g->n_switches ||
		     held->stride != m->lft->stride))
		held = fit = repair_renumber(w, held, n_now, m->lft);
	c->later = g_array_new(FALSE, FALSE, sizeof(struct transition_entry));
	g_clear_pointer(&w->r->steps, channels_free);
	ok = !held || transition_steps(m->g, held, w->r->now, m->lft, w->r->c,
				       &w->r->steps, &bridge, c->later);
	lft_free(fit);
	c->bridge = bridge;
	c->safety = bridge ? CHOICE_DRAIN : CHOICE_SAFE;
	if (!bridge)
		g_clear_pointer(&c->later, g_array_unref);
	if (!ok)
		return false;
	c->ranks = ranks ? g_new(uint32_t, n_now + 1) : NULL;
	for (sw = 0; ranks && sw < m->g->n_switches; sw++)
		if (w->place[sw] != SNAPSHOT_NONE)
			c->ranks[w->place[sw]] = ranks[sw];
	lft_free(w->r->now);
	w->r->now = lft_ref(m->lft);
	memcpy(w->r->is_lost, m->is_lost, m->g->n_edges);
	c->lft = n_now == m->g->n_switches ? lft_ref(m->lft) :
		repair_renumber(w, m->lft, n_now, NULL);
	if (bridge && n_now != m->g->n_switches) {
		c->bridge = repair_renumber(w, bridge, n_now, NULL);
		lft_free(bridge);
		for (i = 0; i < c->later->len; i++) {
			e = &g_array_index(c->later, struct transition_entry,
					   i);
			e->sw = w->place[e->sw];
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
	struct repairing w = {
		.r = r,
		.place = r->place, .whole = in->whole ? in->whole : now,
		.lost = g_array_new(FALSE, FALSE, sizeof(struct lost_entry)),
	};
	bool ok;

	mend_init(&w.m, r->g, NULL, scratch);
	*c = choice_describe(&r->made);
	ok = repair_match(&w, now) && !repair_has_barred(&w, now) &&
		repair_all(&w, in->previous) &&
		repair_conclude(&w, now, in->previous, c);
	if (!ok)
		choice_clear(c);
	lft_free(w.m.lft);
	mend_clear(&w.m);
	g_array_unref(w.lost);
	return ok;
}

uint32_t
repair_cut_trees(const struct repair *r, struct mft *trees)
{
	size_t row = (size_t)trees->n_positions * trees->n_blocks * MFT_BLOCK *
		sizeof(*trees->masks);
	uint32_t n_all = r->g->n_switches, n, sw;
	struct mft *mft = mft_new(n_all, trees->n_positions, trees->n_blocks);
	struct channels *c = channels_copy(r->steps ? r->steps : r->c);

	for (sw = 0; sw < n_all; sw++)
		if (r->place[sw] != SNAPSHOT_NONE)
			memcpy(mft_block(mft, sw, 0, 0),
			       mft_block(trees, r->place[sw], 0, 0), row);
	n = multicast_cut(c, mft);
	for (sw = 0; n && sw < n_all; sw++)
		if (r->place[sw] != SNAPSHOT_NONE)
			memcpy(mft_block(trees, r->place[sw], 0, 0),
			       mft_block(mft, sw, 0, 0), row);
	channels_free(c);
	mft_free(mft);
	return n;
}
