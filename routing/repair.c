// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local repair of forwarding tables after a few cables are lost.
 *
 * Method. A repair starts from the tables of the last one, so what other cables
 * have cost stays. The tables of the whole fabric are kept, and a LID with
 * entries into a cable that comes back gets the original ones. For each LID with
 * an entry into a lost cable, the switches whose paths pass that entry are found
 * against the direction of the entries. They get new paths in two steps, each
 * from the fault backwards; where a switch has a path again, those behind it
 * keep their entries. (1) A switch that forwards packets of hosts takes another
 * path of the same length, of several the one over the least load, or else a
 * detour, if these leave no channel with too many flows. So a leaf cable of a
 * tree costs two blocks in each pod in place of one on each leaf, and the load
 * is spread as well. The least load counts that costs at most two blocks for each
 * that held a lost cable: more and more flows are allowed, since a detour at the
 * fault itself, over channels that are in use, doubles their load, and in a tree
 * of two levels nothing else is as small. There, as many switches as these blocks
 * allow take other paths in step (1), so that the detour of the others has fewer
 * flows.
 * Detours of cables that are lost one after the other add up, so these cost
 * blocks rather than load. (2) All other switches keep their entry if it now
 * leads around the fault, or get any path: most entries for a LID serve ports 0
 * alone, and a detour at the fault is shorter to write than another entry on
 * each switch before it. The LID of a port 0 gets step (2) alone: its path only
 * has to exist.
 *
 * Safety. The channel dependencies of the tables are kept as a sorted acyclic
 * graph: all dependencies that the order of the switches permits, the other turns
 * of the tables, and those that repairs added. A path is taken if all its turns
 * are in that graph, or can be added as long as it stays acyclic; they stay until
 * the switches hold the original tables again. If that fails, the repair is made
 * anew, whatever blocks it costs, with a graph of the tables alone, at last without
 * what leads into lost cables. So the tables of any two repairs have no credit loop
 * together, unless such a cable is back, which the engines see to; mixtures of old and
 * new entries are checked by transition_steps(). Every new path is followed to its end
 * once more. If a pair would lose its path, or hosts had none before, as their table
 * ends too early, the repair is given up and the engines route the fabric.
 *
 * Cost. Lost entries times the ports of a switch. Adding a turn may search all
 * channels (a lost spine of 11,664 hosts took minutes), so the work is limited.
 * The dependencies, and the load of the tables of the whole fabric, are computed
 * at the first lost cable; that of a repair's tables if others are lost as well.
 */
#include "routing/repair.h"

#include <float.h>
#include <string.h>

#include "routing/mend.h"
#include "routing/metrics.h"
#include "routing/multicast.h"
#include "routing/scratch.h"
#include "topology/each.h"

#define REPAIR_END(ends, i)	g_array_index(ends, struct repair_end, i)
#define LOST_MAX	64u	/* cables; more go to the engines */
#define LOST_PART	16u	/* likewise more than one in so many */
#define SMALL		2u	/* blocks for each that held a lost cable: few */
#define ROOM_MORE	2.25f	/* in attempts[]: while others are lost already, not
				   more */

/* See mend_is_too_much(), some 0.1 s: if it took more to find a repair of few blocks,
 * as with many LIDs a host, none with less load is looked for. */
#define SPREAD_WORK	(UINT64_C(1) << 23)
#define KEEP_WORK	(UINT64_C(1) << 24)	/* for the tables of others */

/* A switch of the whole fabric. */
struct whole_switch {
	uint64_t guid;		/* NodeGUID */
	uint32_t n_entries;	/* of its table that may be in use; those behind
				   LinearFDBCap were cut */
};

struct repair {
	struct graph *g;	/* the whole fabric without its snapshot; all
				   indices are of it */
	struct whole_switch *switches;	/* by switch */
	struct choice made;	/* tables of the whole fabric: lft is NULL between
				   two repairs, see repair_pack() */
	GArray *packed;		/* struct transition_entry, of stage 0 */
	struct channels *made_c;	/* of made; NULL: not computed yet */
	struct channels *c;	/* and turns that repairs added since the
				   switches held `made`; NULL: none */
	uint8_t *is_bare;	/* by edge: c lacks its turns, as it was lost */
	float *dealt;		/* by edge: flows of made, relative to the
				   width; NULL: not computed yet */
	float busiest;		/* the most of them */
	struct lft *now;	/* tables of the last repair, */
	uint8_t *is_lost;	/* by edge: lost at that time */
	uint32_t *place;	/* by switch: its index then; SNAPSHOT_NONE */
	struct channels *steps;	/* the dependencies of all its steps, with
				   those of c; NULL: there were none */
};

/* How a repair is made; the best is taken. */
static const struct attempt {
	float room;		/* of a channel of a detour for many hosts, times
				   the flows of the busiest one */
	float near;		/* blocks that step (1) changes beside those
				   that held a lost cable, for each of these */
} attempts[] = {
	{ 1.1f, FLT_MAX }, { 1.25f, FLT_MAX }, { 1.5f, FLT_MAX },
	{ 1.75f, FLT_MAX }, { 1.25f, 0.75f }, { 2.25f, FLT_MAX },
	{ 2.75f, FLT_MAX }, { 2.75f, 0 },
};

/* A repair in progress. */
struct repairing {
	struct mend m;
	struct repair *r;
	struct lft *base;	/* from which the repair begins, */
	float *dealt;		/* its flows by edge, relative to the width, */
	GArray *ends;		/* struct repair_end: where its paths end, */
	uint32_t n_blocks;	/* in so many blocks */
	const struct graph *whole;	/* with the links to be avoided */
	const struct lft *like;	/* a path may be as long as in these, */
	float limit;		/* or a detour by channels with so many flows */
	float near, n_near;	/* blocks that step (1) may change beside those
				   that end paths, and does */
	uint32_t *through;	/* by switch in the queue: hosts that send
				   through it */
	struct lft *bridge;	/* of transition_steps(); NULL: none */
	GArray *later;
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

static uint32_t
repair_table_len(const struct graph *g, uint32_t sw)
{
	const struct snapshot *s = g->subnet;

	return MIN(s->nodes[s->switches[sw]].sw.linear_fdb_cap, g->top + 1u);
}

struct repair *
repair_new(struct graph *g, const struct choice *c)
{
	const struct snapshot *s = g->subnet;
	struct repair *r;
	uint32_t sw;

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
	r->packed = g_array_new(FALSE, FALSE, sizeof(struct transition_entry));
	r->is_lost = g_new0(uint8_t, g->n_edges + 1);
	r->is_bare = g_new0(uint8_t, g->n_edges + 1);
	r->place = g_new(uint32_t, g->n_switches + 1);
	r->switches = g_new(struct whole_switch, g->n_switches + 1);
	for (sw = 0; sw < g->n_switches; sw++)
		r->switches[sw] = (struct whole_switch){
			.guid = s->nodes[s->switches[sw]].info.node_guid,
			.n_entries = repair_table_len(g, sw),
		};
	graph_forget_subnet(g);
	return r;
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
	g_free(r->dealt);
	lft_free(r->now);
	g_array_unref(r->packed);
	g_free(r->is_lost);
	g_free(r->is_bare);
	g_free(r->place);
	g_free(r->switches);
	g_free(r);
}

/* The tables of the whole fabric are as those of the last repair, which the
 * manager holds as well, but for few entries: these are kept instead. */
static void
repair_pack(struct repair *r)
{
	const struct lft *home = r->made.lft;
	struct transition_entry x = { 0 };
	const uint8_t *row;

	for (x.sw = 0; home != r->now && x.sw < home->n_switches; x.sw++) {
		row = lft_row(home, x.sw);
		if (!memcmp(row, lft_row(r->now, x.sw), home->stride))
			continue;
		for (uint32_t lid = 0; lid <= home->top; lid++) {
			x.lid = (uint16_t)lid;
			x.port = row[lid];
			if (x.port != lft_row(r->now, x.sw)[lid])
				g_array_append_val(r->packed, x);
		}
	}
	g_clear_pointer(&r->made.lft, lft_free);
}

static void
repair_unpack(struct repair *r)
{
	if (r->made.lft)
		return;
	r->made.lft = r->packed->len ? lft_copy(r->now) : lft_ref(r->now);
	transition_apply(r->made.lft, r->packed, 0);
	g_array_set_size(r->packed, 0);
}

/* ------------------------------------------------- what of it is there now */

/* False: there are new switches, hosts or cables, LIDs, the lengths of tables or
 * the order of as many switches have changed, or too many cables are lost. */
static bool
repair_match(struct repairing *w, const struct graph *now)
{
	struct mend *m = &w->m;
	const struct whole_switch *whole = w->r->switches;
	uint32_t sw, e, i, n_known = 0, n_other = 0, n_lost = 0, n_matched = 0;
	const struct graph *g = m->g;
	const struct graph_target *t, *owner;
	const struct graph_edge *was, *is;

	for (sw = 0; sw < g->n_switches; sw++) {
		i = snapshot_find_node(now->subnet, whole[sw].guid);
		w->r->place[sw] = i == SNAPSHOT_NONE ? i :
			now->subnet->nodes[i].sw_index;
		if (w->r->place[sw] == SNAPSHOT_NONE)
			continue;
		n_known++;
		n_other += whole[sw].n_entries !=
			repair_table_len(now, w->r->place[sw]) ||
			(now->n_switches == g->n_switches &&
			 w->r->place[sw] != sw);
	}
	if (n_known < now->n_switches || n_other || now->top != g->top)
		return false;
	for (i = 0; i < now->n_targets; i++) {
		t = &now->targets[i];
		owner = graph_target_at(g, t->lid);
		if (!owner || owner->lid != t->lid ||
		    owner->n_lids != t->n_lids || owner->port != t->port ||
		    w->r->place[owner->sw] != t->sw)
			return false;
	}
	for (e = 0; e < g->n_edges; e++) {
		was = &g->edges[e];
		sw = w->r->place[graph_owner(g, e)];
		i = sw == SNAPSHOT_NONE ? sw :
			graph_edge_at(now, sw, was->port);
		m->is_lost[e] = i == SNAPSHOT_NONE;
		n_lost += m->is_lost[e];
		if (m->is_lost[e])
			continue;
		n_matched++;
		is = &now->edges[i];
		if (is->peer != w->r->place[was->peer] ||
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

	return !target || w->r->place[target->sw] == SNAPSHOT_NONE;
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
		place = w->r->place[sw];
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

/* The tables from which the repair begins: those of the last one. A LID of which
 * an entry leads into a cable that is back has its original entries again; if all
 * that were lost are back, all have. */
static void
repair_find_base(struct repairing *w)
{
	const struct repair *r = w->r;
	const struct graph *g = r->g;
	const struct lft *home = r->made.lft;
	g_autofree uint8_t *returns = g_new0(uint8_t, home->stride);
	uint32_t sw, e = 0, lid;

	while (e < g->n_edges && !(r->is_lost[e] && w->m.is_lost[e]))
		e++;
	if (e == g->n_edges) {
		w->base = lft_ref(r->made.lft);
		return;
	}
	for (sw = 0; sw < g->n_switches; sw++)
		for_each_edge(g, sw, e)
			for (lid = 0; r->is_lost[e] && !w->m.is_lost[e] &&
			     lid < home->stride; lid++)
				returns[lid] |= g->edges[e].port ==
					lft_row(home, sw)[lid] ||
					g->edges[e].port ==
					lft_row(r->now, sw)[lid];
	w->base = memchr(returns, true, home->stride) ? lft_copy(r->now) :
		lft_ref(r->now);
	for (sw = 0; w->base != r->now && sw < g->n_switches; sw++) {
		const uint8_t *row = lft_row(home, sw);

		if (!memcmp(lft_row(w->base, sw), row, home->stride))
			continue;
		for (lid = 0; lid < home->stride; lid++)
			if (returns[lid])
				lft_row(w->base, sw)[lid] = row[lid];
	}
}

/* The entries of the base into lost cables that have to be replaced. */
static void
repair_find_lost(struct repairing *w)
{
	const struct graph *g = w->m.g;
	struct repair_end end;
	uint32_t e, lid, block;
	const uint8_t *row;

	for (e = 0; e < g->n_edges; e++) {
		end.sw = graph_owner(g, e);
		if (!w->m.is_lost[e] || w->r->place[end.sw] == SNAPSHOT_NONE)
			continue;
		row = lft_row(w->base, end.sw);
		block = UINT32_MAX;
		for (lid = 0; lid <= g->top; lid++) {
			if (row[lid] != g->edges[e].port ||
			    repair_leaves(w, lid))
				continue;
			end.lid = (uint16_t)lid;
			g_array_append_val(w->ends, end);
			w->n_blocks += block != lid / LFT_BLOCK;
			block = lid / LFT_BLOCK;
		}
	}
}

/* The flows of the base. Those of the whole fabric's tables are kept: each repair
 * needs the most of them, and most repairs begin from these tables. */
static void
repair_measure(struct repairing *w)
{
	struct repair *r = w->r;
	const struct graph *g = r->g;
	size_t size = g->n_edges * sizeof(*r->dealt);
	uint32_t e;

	if (!r->dealt) {
		mend_measure(&w->m, r->made.lft, r->made.ranks);
		r->dealt = g_memdup2(w->m.dealt, size);
		for (e = 0; e < g->n_edges; e++)
			r->busiest = MAX(r->busiest, r->dealt[e]);
	}
	if (w->base != r->made.lft)
		mend_measure(&w->m, w->base, r->made.ranks);
	memcpy(w->dealt, w->base == r->made.lft ? r->dealt : w->m.dealt, size);
}

/* ------------------------------------------------------------------- a LID */

/* By LID, those of hosts last: they leave less room for turns, and a path to a port 0
 * only has to exist, but may need one. */
static gint
repair_compare(gconstpointer a, gconstpointer b, gpointer graph)
{
	const struct repair_end *first = a, *second = b;
	const struct graph_target *x = graph_target_at(graph, first->lid);
	const struct graph_target *y = graph_target_at(graph, second->lid);

	return x->is_host - y->is_host ?: first->lid - second->lid;
}

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
 * path that is no longer than before, or a detour. */
static void
repair_near(struct repairing *w)
{
	struct mend *m = &w->m;
	uint32_t i, sw, e, end, before;
	bool is_more;

	m->is_data = true;
	repair_count(m, m->g->n_hosts, w->through);
	for (i = 0; i < m->n; i++) {
		end = sw = m->queue[i];
		if (!m->is_open[sw] || !w->through[sw])
			continue;
		before = verify_follow(m->g, w->like, m->lid, &end);
		e = mend_next(m, sw);
		if (mend_keep(m, sw))
			continue;
		is_more = e != SNAPSHOT_NONE && !m->is_lost[e] &&
			mend_is_fresh(m, sw);
		if (is_more && w->n_near >= w->near)
			continue;
		mend_detour(m, sw, before, w->through, m->target->is_host ?
			    w->limit : FLT_MAX);
		w->n_near += is_more && !m->is_open[sw] ? 1 : 0;
	}
}

/* The LID of the nth end and of those that follow it; *n: the next one. */
static bool
repair_lid(struct repairing *w, guint *n)
{
	struct mend *m = &w->m;
	const struct graph *g = m->g;
	const struct repair_end *end;
	struct mend_path path;
	uint32_t i, e;

	mend_start(m, REPAIR_END(w->ends, *n).lid);
	for (; *n < w->ends->len; (*n)++) {
		end = &REPAIR_END(w->ends, *n);
		if (end->lid != m->lid)
			break;
		mend_lose(m, end->sw);
	}
	/* And the switches whose paths pass these. */
	for (i = 0; i < m->n; i++)
		for_each_edge(g, m->queue[i], e)
			if (!m->is_lost[e] &&
			    mend_next(m, g->edges[e].peer) == g->edges[e].back)
				mend_lose(m, g->edges[e].peer);
	repair_count(m, g->n_senders, m->senders);
	if (m->target->port)
		repair_near(w);
	if (!mend_others(m))
		return false;
	/* Final check: every switch that lost its path and sends data has
	 * one. */
	for (i = 0; i < m->n; i++)
		m->is_open[m->queue[i]] = 0;
	for (i = 0; i < m->n; i++) {
		e = mend_next(m, m->queue[i]);
		if (mend_sends_data(m, m->queue[i]) &&
		    !mend_follow(m, e, false, &path))
			return false;
	}
	return !mend_is_too_much(m);
}

static bool
repair_each(struct repairing *w)
{
	bool ok = true;
	guint n = 0;

	while (ok && n < w->ends->len)
		ok = repair_lid(w, &n);
	return ok;
}

struct lft *
repair_ends(const struct graph *g, const struct lft *lft, GArray *ends,
	    const struct lft *like, float limit, const uint32_t *ranks)
{
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct repairing w = {
		.ends = ends, .like = like, .limit = limit, .near = FLT_MAX,
		.through = SCRATCH(scratch, uint32_t, g->n_switches),
	};
	struct channels *c = NULL;
	bool ok = channels_load(&c, g, lft, NULL, ranks);

	mend_init(&w.m, g, c, scratch);
	w.m.lft = lft_copy(lft);
	w.m.home = lft;
	w.m.most_work = KEEP_WORK;
	if (ok)
		mend_measure(&w.m, lft, ranks);
	g_array_sort_with_data(ends, repair_compare, (gpointer)g);
	ok = ok && repair_each(&w);
	mend_clear(&w.m);
	channels_free(c);
	if (!ok)
		lft_free(w.m.lft);
	return ok ? w.m.lft : NULL;
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
		if (w->r->place[sw] != SNAPSHOT_NONE &&
		    memcmp(lft_row(home, sw), lft_row(held, w->r->place[sw]),
			   home->stride) != 0)
			return false;
	return !held->other || repair_is_home(w, held->other);
}

/* Is one of these cables there, be it to be avoided or without an answer at its other
 * end, so that it may carry packets? edges: by edge. */
static bool
repair_has_any(const struct repairing *w, const uint8_t *edges)
{
	const struct graph *g = w->r->g;
	const struct snapshot *s = w->whole->subnet;
	uint32_t e, sw, port;

	for (e = 0; e < g->n_edges; e++) {
		sw = w->r->place[graph_owner(g, e)];
		if (!edges[e] || sw == SNAPSHOT_NONE)
			continue;
		port = snapshot_port_of(s, s->switches[sw], g->edges[e].port);
		if (graph_edge_at(w->whole, sw, g->edges[e].port) !=
		    SNAPSHOT_NONE || graph_is_blind(s, port))
			return true;
	}
	return false;
}

static struct channels *
repair_channels(const struct repair *r)
{
	return r->c ? r->c : r->made_c;
}

/* Prepares the dependencies. Turns that earlier repairs added, and that no
 * switch has an entry for any more, would be in the way: at the original tables
 * theirs are enough. */
static bool
repair_open(struct repairing *w, const struct lft *held)
{
	struct repair *r = w->r;

	if (!r->made_c && !channels_load(&r->made_c, r->g, r->made.lft, NULL,
					 r->made.ranks)) {
		g_clear_pointer(&r->made_c, channels_free);
		return false;
	}
	if (r->c && !repair_is_home(w, held))
		return !repair_has_any(w, r->is_bare);
	memset(r->is_bare, 0, r->g->n_edges);
	g_clear_pointer(&r->c, channels_free);
	lft_free(r->now);
	r->now = lft_ref(r->made.lft);
	memset(r->is_lost, 0, r->g->n_edges);
	return true;
}

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
		uint32_t place = w->r->place[sw];

		if (place == SNAPSHOT_NONE && to_now)
			continue;
		memcpy(lft_row(lft, to_now ? place : sw),
		       place == SNAPSHOT_NONE ? lft_row(rest, sw) :
		       lft_row(from, to_now ? sw : place),
		       MIN(lft->stride, from->stride));
	}
	if (from->other)
		lft->other = repair_renumber(w, from->other, n_now, rest);
	lft->comes_back = from->comes_back;
	return lft;
}

/* Dependencies of the tables alone: turns that the order permits, but no path has, are
 * not in the way. is_bare: nor are those of lost cables; a loop may close when these
 * are back, so it is the last resort. NULL: there is a loop already. */
static struct channels *
repair_alone(struct repairing *w, bool is_bare)
{
	struct repair *r = w->r;
	const struct graph *g = r->g;
	struct channels *c;
	uint32_t e, k;

	if (is_bare && repair_has_any(w, w->m.is_lost))
		return NULL;
	if (is_bare)
		memcpy(r->is_bare, w->m.is_lost, g->n_edges);
	c = channels_new(g);
	channels_add_tables(c, r->made.lft);
	if (r->now != r->made.lft)
		channels_add_tables(c, r->now);
	for (e = 0; e < g->n_edges; e++) {
		if (!r->is_bare[e])
			continue;
		memset(channels_mask(g, c->turns, e), 0,
		       g->n_words * sizeof(*c->turns));
		for_each_edge(g, graph_owner(g, e), k)
			channels_remove(c, g->edges[k].back, e);
	}
	if (channels_sort(c))
		return c;
	channels_free(c);
	return NULL;
}

/* The steps from the tables held (NULL: none) to the repaired ones. False: there
 * are none. */
static bool
repair_steps(struct repairing *w, const struct lft *held)
{
	const struct lft *lft = w->m.lft;
	struct lft *fit = NULL;
	bool ok;

	g_clear_pointer(&w->bridge, lft_free);
	g_array_set_size(w->later, 0);
	g_clear_pointer(&w->r->steps, channels_free);
	if (held && (held->n_switches != lft->n_switches ||
		     held->stride != lft->stride))
		held = fit = repair_renumber(w, held, 0, lft);
	ok = !held || transition_steps(w->m.g, held, w->r->now, w->r->made.lft,
				       lft, repair_channels(w->r),
				       &w->r->steps, &w->bridge, w->later);
	lft_free(fit);
	return ok;
}

/* The blocks that it changes; few enough are all alike. */
static uint64_t
repair_size(const struct repairing *w)
{
	struct metrics_churn churn = { 0 };

	if (w->n_blocks)
		metrics_churn(w->base, w->m.lft, &churn);
	return MAX(churn.blocks, SMALL * w->n_blocks);
}

/* The flows of the busiest channel of those that got more. */
static float
repair_load(struct repairing *w)
{
	struct mend *m = &w->m;
	float most = 0;

	if (!w->ends->len)
		return 0;
	mend_measure(m, m->lft, w->r->made.ranks);
	for (uint32_t e = 0; e < m->g->n_edges; e++)
		if (!m->is_lost[e] && m->dealt[e] > w->dealt[e])
			most = MAX(most, m->dealt[e]);
	return most;
}

/* Repairs all LIDs in a copy of the base. c: the dependencies from which it begins. */
static bool
repair_try(struct repairing *w, const struct attempt *a,
	   const struct channels *c)
{
	struct repair *r = w->r;
	struct mend *m = &w->m;
	uint32_t i;

	if (mend_is_too_much(m))
		return false;
	w->n_near = 0;
	w->limit = a->room * r->busiest;
	w->near = a->near * (float)w->n_blocks;
	memset(m->refused, 0, channels_size(r->g));
	channels_free(r->c);
	m->c = r->c = channels_copy(c);
	m->before = r->c->work;
	lft_free(m->lft);
	m->lft = memchr(m->is_lost, 1, m->g->n_edges) ? lft_copy(w->base) :
		lft_ref(w->base);
	memcpy(m->dealt, w->dealt, m->g->n_edges * sizeof(*m->dealt));
	if (!repair_each(w))
		return false;
	for (i = 0; i < m->g->n_targets; i++)
		if (r->place[m->g->targets[i].sw] == SNAPSHOT_NONE &&
		    m->g->targets[i].port == 0)
			repair_clear_gone(w, &m->g->targets[i]);
	return true;
}

/* The repair with the fewest blocks; if these are few, of several the
 * one with the least load. Detours of cables that are lost one after the other add
 * up, so there the last room is not given. An attempt that limits step (1) to more
 * than it did with the same room would be the same. If one is not safe, it ends with
 * those before it. False: none of them has few blocks. */
static bool
repair_try_all(struct repairing *w, const struct channels *c)
{
	const struct attempt *a, *last = NULL, *best = NULL;
	uint64_t fewest = UINT64_MAX, size;
	float least = FLT_MAX, load;

	for (a = attempts; a < attempts + G_N_ELEMENTS(attempts); a++) {
		if ((best && a->room * w->r->busiest >= least) ||
		    (last && a->room == last->room &&
		     w->n_near < a->near * (float)w->n_blocks) ||
		    (least < FLT_MAX && w->m.work > SPREAD_WORK) ||
		    (a->room > ROOM_MORE && w->base != w->r->made.lft))
			continue;
		last = a;
		if (!repair_try(w, a, c)) {
			if (fewest > SMALL * w->n_blocks)
				return false;
			break;
		}
		size = repair_size(w);
		load = size > SMALL * w->n_blocks ? FLT_MAX : repair_load(w);
		if (size < fewest || (size == fewest && load < least)) {
			fewest = size;
			least = load;
			best = a;
		}
	}
	return best == last || repair_try(w, best, c);
}

static bool
repair_all(struct repairing *w, const struct lft *held)
{
	static const struct attempt any = { ROOM_MORE, FLT_MAX };
	struct mend *m = &w->m;
	struct channels *former, *c, *alone;
	bool ok;

	if (!repair_open(w, held))
		return false;
	if (memcmp(m->is_lost, w->r->is_lost, m->g->n_edges) == 0) {
		m->lft = lft_ref(w->r->now);
		return repair_steps(w, held);
	}
	repair_find_base(w);
	repair_find_lost(w);
	/* New tables may have paths for hosts that lacked one. */
	if (w->ends->len > REPAIR_MAX ||
	    (memchr(m->is_lost, 1, m->g->n_edges) &&
	     w->r->made.alone.reach.lost_hosts))
		return false;
	g_array_sort_with_data(w->ends, repair_compare, (gpointer)m->g);
	if (w->ends->len)
		repair_measure(w);
	w->like = m->home = w->base;
	m->c = c = repair_channels(w->r);
	former = g_steal_pointer(&w->r->c);
	m->before = c->work;
	m->most_work = MEND_WORK / 8 * 7;
	ok = repair_try_all(w, c) && repair_steps(w, held);
	m->most_work = MEND_WORK;
	m->home = NULL;		/* any path will do */
	for (unsigned i = 0; !ok && i < 2; i++) {
		alone = repair_alone(w, i > 0);
		ok = alone && repair_try(w, &any, alone) &&
			repair_steps(w, held);
		channels_free(alone);
	}
	channels_free(former);
	return ok;
}

/* -------------------------------------------------- from old tables to new */

/* Keeps the tables, and fills the rest of the choice. */
static void
repair_conclude(struct repairing *w, const struct graph *now, struct choice *c)
{
	struct mend *m = &w->m;
	const uint32_t *ranks = w->r->made.ranks;
	uint32_t sw, n_now = now->n_switches;

	if (w->bridge) {
		c->safety = CHOICE_DRAIN;
		c->bridge = n_now == m->g->n_switches ? lft_ref(w->bridge) :
			repair_renumber(w, w->bridge, n_now, NULL);
		c->later = g_array_ref(w->later);
		EACH_ITEM(struct transition_entry, e, c->later)
			e->sw = w->r->place[e->sw];
	}
	c->is_mended = memchr(m->is_lost, 1, m->g->n_edges);
	c->ranks = ranks ? g_new(uint32_t, n_now + 1) : NULL;
	for (sw = 0; ranks && sw < m->g->n_switches; sw++)
		if (w->r->place[sw] != SNAPSHOT_NONE)
			c->ranks[w->r->place[sw]] = ranks[sw];
	lft_free(w->r->now);
	w->r->now = lft_ref(m->lft);
	memcpy(w->r->is_lost, m->is_lost, m->g->n_edges);
	c->lft = n_now == m->g->n_switches ? lft_ref(m->lft) :
		repair_renumber(w, m->lft, n_now, NULL);
	/* The pair in the report may be of a lost switch. */
	if (c->alone.reach.lid)
		verify_reachability(now, c->lft, NULL, &c->alone.reach);
}

bool
repair_tables(struct repair *r, const struct engine_input *in,
	      struct choice *c)
{
	const struct graph *now = in->g;
	g_autoptr(GPtrArray) scratch = scratch_new();
	struct repairing w = {
		.r = r,
		.whole = in->whole ? in->whole : now,
		.later = g_array_new(FALSE, FALSE,
				     sizeof(struct transition_entry)),
		.ends = g_array_new(FALSE, FALSE,
				    sizeof(struct repair_end)),
	};
	bool ok;

	repair_unpack(r);
	mend_init(&w.m, r->g, NULL, scratch);
	w.dealt = SCRATCH(scratch, float, r->g->n_edges);
	w.through = SCRATCH(scratch, uint32_t, r->g->n_switches);
	*c = choice_describe(&r->made);
	ok = repair_match(&w, now) && !repair_has_barred(&w, now) &&
		repair_all(&w, in->previous);
	if (ok)
		repair_conclude(&w, now, c);
	else
		choice_clear(c);
	repair_pack(r);
	lft_free(w.bridge);
	lft_free(w.base);
	g_array_unref(w.later);
	g_array_unref(w.ends);
	lft_free(w.m.lft);
	mend_clear(&w.m);
	return ok;
}

uint32_t
repair_cut_trees(const struct repair *r, struct mft *trees)
{
	size_t row = (size_t)trees->n_positions * trees->n_blocks * MFT_BLOCK *
		sizeof(*trees->masks);
	uint32_t n_all = r->g->n_switches, n, sw;
	struct mft *mft = mft_new(n_all, trees->n_positions, trees->n_blocks);
	struct channels *c = channels_copy(r->steps ? r->steps :
					   repair_channels(r));

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
