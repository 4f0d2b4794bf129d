// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A path for a pair while the channel graph stays acyclic.
 *
 * Purpose. Repairs and engines have the same question: a switch has no entry
 * for a LID, or has lost it; by which neighbour can it send? The channel
 * dependencies of all tables are a sorted acyclic graph (credit_loops.h), and a
 * path is possible if all its turns are in that graph, or can be added.
 *
 * Method. First the neighbours whose own path can be joined as it is. If there
 * is none, mend_search() looks for the cheapest path of all: a turn that is
 * there costs nothing, one that agrees with the sorted order (and so closes no
 * loop, whatever else does) little, another entry of a switch on the way more,
 * and a turn against the order, which has to be tried, most. Port 0 to port 0 is
 * no data and turns anywhere, so there the blocks to be written count.
 *
 * Cost. Lost pairs times the ports of a switch; a search may visit all cables,
 * and a turn against the order all channels, so the work is limited.
 */
#include "routing/mend.h"

#include <string.h>

#include "routing/metrics.h"
#include "routing/scratch.h"
#include "routing/sets.h"
#include "routing/verify.h"

#define COST_ADD	64u	/* in hops: a turn that agrees with the order */
#define COST_FAR	8u	/* for each cable from the root, by depth[] */
#define COST_ONE_WAY	32u	/* without depth[], if the opposite turn is not
				   there: the two close no loop together */
#define COST_CHANGE	72u	/* another entry of a switch, */
#define COST_MOVE	144u	/* for the LID of a host */
#define COST_BEHIND	1000u	/* at most, of all switches behind the first one */
#define COST_LOAD	8u	/* of a channel without room for more */
#define COST_BLOCK	200u	/* in a block that has not changed yet */
#define COST_AGAINST	100u	/* a turn that has to be tried */
#define COST_MAX	4096u	/* of a path */
#define OFFER_END	UINT32_MAX
#define MAX_TRIES	8u	/* then no turn against the order is tried; */
#define DETOUR_TRIES	4u	/* a detour is not the only path */

/* An edge with the cost of a path that ends with it. */
struct mend_offer {
	uint32_t edge, next;	/* of the same cost; OFFER_END */
};

void
mend_init(struct mend *m, const struct graph *g, struct channels *c,
	  GPtrArray *scratch)
{
	uint32_t n = g->n_switches;

	*m = (struct mend){
		.g = g, .c = c, .before = c ? c->work : 0,
		.most_work = MEND_WORK,
		.is_lost = SCRATCH(scratch, uint8_t, g->n_edges),
		.queue = SCRATCH(scratch, uint32_t, n),
		.is_queued = SCRATCH(scratch, uint8_t, n),
		.is_open = SCRATCH(scratch, uint8_t, n),
		.senders = SCRATCH(scratch, uint32_t, n),
		.behind = SCRATCH(scratch, uint32_t, n),
		.best = SCRATCH(scratch, struct mend_path, n),
		.dealt = SCRATCH(scratch, float, g->n_edges),
		.added = g_array_new(FALSE, FALSE, sizeof(struct turn)),
		.refused = SCRATCH(scratch, uint64_t,
				   (size_t)g->n_edges * g->n_words),
		.cost = SCRATCH(scratch, uint16_t, g->n_edges),
		.from = SCRATCH(scratch, uint32_t, g->n_edges),
		.offers = g_array_new(FALSE, FALSE, sizeof(struct mend_offer)),
	};
}

void
mend_measure(struct mend *m, const struct lft *lft, const uint32_t *ranks)
{
	const struct graph *g = m->g;
	g_autofree uint64_t *load = g_new0(uint64_t, g->n_edges + 1);

	metrics_flows(g, lft, ranks, load);
	for (uint32_t e = 0; e < g->n_edges; e++)
		m->dealt[e] = (float)load[e] * g->widest /
			MAX(g->edges[e].capacity, 1);
}

void
mend_clear(struct mend *m)
{
	g_array_unref(m->added);
	g_array_unref(m->offers);
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
	return m->work + m->c->work - m->before > m->most_work;
}

/* Is it there, with room for the flows of a detour? */
static bool
mend_may_use(const struct mend *m, uint32_t e)
{
	return !m->is_lost[e] && (!m->through ||
		m->dealt[e] + (float)m->flow <= m->limit);
}

/* What the turn costs; COST_MAX: it is not possible. */
static uint32_t
search_turn(const struct mend *m, uint32_t in, uint32_t out)
{
	const struct graph_edge *edges = m->g->edges;
	uint8_t port = edges[out].port;
	uint32_t far;

	if (!m->is_data || channels_has(m->c, in, out))
		return 0;
	if (m->depth)
		far = COST_FAR * m->depth[edges[in].peer];
	else
		far = channels_has(m->c, edges[out].back, edges[in].back) ? 0 :
			COST_ONE_WAY;
	if (m->c->place[in] < m->c->place[out])
		return COST_ADD + far;
	if (m->is_sure ||
	    set_has(channels_mask(m->g, m->refused, in), port))
		return COST_MAX;
	return COST_AGAINST + far;
}

bool
mend_follow(struct mend *m, uint32_t e, bool add, struct mend_path *path)
{
	const struct graph *g = m->g;
	uint32_t sw, next, n;

	*path = (struct mend_path){ .edge = e };
	for (n = 0; e != SNAPSHOT_NONE && n < VERIFY_HOPS_MAX; n++, e = next) {
		m->work++;
		if (!mend_may_use(m, e))
			return false;
		path->hops++;
		path->load += m->dealt[e];
		sw = g->edges[e].peer;
		if (m->is_open[sw])
			return false;
		next = mend_next(m, sw);
		if (next == SNAPSHOT_NONE)
			return sw == m->target->sw &&
				lft_row(m->lft, sw)[m->lid] == m->target->port;
		if (!m->is_data || channels_has(m->c, e, next))
			continue;
		if (!add || m->c->place[e] > m->c->place[next])
			return false;
		path->hops += search_turn(m, e, next);
	}
	return false;
}

bool
mend_keep(struct mend *m, uint32_t sw)
{
	uint32_t e = mend_next(m, sw), next;
	struct mend_path path;

	m->is_open[sw] = !mend_follow(m, e, true, &path);
	for (; !m->is_open[sw] && m->is_data && (next = mend_next(m,
	     m->g->edges[e].peer)) != SNAPSHOT_NONE; e = next)
		channels_add(m->c, e, next);
	return !m->is_open[sw];
}

/* The best path of a switch to the LID by entries and turns that are there. */
static struct mend_path
mend_find(struct mend *m, uint32_t sw)
{
	struct mend_path best = { SNAPSHOT_NONE, UINT32_MAX, 0 }, path;
	uint32_t e;

	for_each_edge(m->g, sw, e)
		if (mend_follow(m, e, false, &path) &&
		    (path.hops < best.hops ||
		     (path.hops == best.hops && path.load < best.load)))
			best = path;
	return best;
}

/* Adds flows along the path of a switch by these tables. */
static void
mend_deal(struct mend *m, const struct lft *lft, uint32_t sw, float flow)
{
	uint32_t e;

	while ((e = graph_edge_at(m->g, sw, lft_row(lft, sw)[m->lid])) !=
	       SNAPSHOT_NONE) {
		m->dealt[e] += flow;
		sw = m->g->edges[e].peer;
	}
}

void
mend_take(struct mend *m, uint32_t sw, uint32_t edge, uint32_t hosts)
{
	float flow = m->target->is_host ? (float)MAX(hosts, 1u) : 1;

	if (m->home)
		mend_deal(m, m->home, sw, -flow);
	lft_row(m->lft, sw)[m->lid] = m->g->edges[edge].port;
	m->is_open[sw] = 0;
	mend_deal(m, m->lft, sw, flow);
}

/* ---------------------------------------------------------------- a search */

/* Counts the hosts whose paths to the LID pass each switch. */
static void
search_count(struct mend *m)
{
	const struct graph *g = m->g;
	uint32_t sw, at, e, hops;

	memset(m->behind, 0, g->n_switches * sizeof(*m->behind));
	for (sw = 0; sw < g->n_switches; sw++)
		for (at = sw, hops = 0; g->n_hosts[sw] &&
		     hops < VERIFY_HOPS_MAX; at = g->edges[e].peer, hops++) {
			m->behind[at] += g->n_hosts[sw];
			e = mend_next(m, at);
			if (e == SNAPSHOT_NONE || m->is_lost[e])
				break;
		}
}

/* Does a switch forward to the one at the start of the edge `back` through the other
 * end of that edge? */
static bool
search_is_behind(const struct mend *m, uint32_t back)
{
	uint32_t from = m->g->edges[back].peer;

	return !m->is_open[from] &&
		mend_next(m, from) == m->g->edges[back].back;
}

/* Lists the edges by which packets come to a switch that forwards them. */
static uint32_t
search_list_behind(const struct mend *m, uint32_t sw, uint32_t *behind)
{
	uint32_t e, n = 0;

	for_each_edge(m->g, sw, e)
		if (search_is_behind(m, e))
			behind[n++] = m->g->edges[e].back;
	return n;
}

/* What it costs if `sw` forwards by `out` instead of its present entry: all
 * whose paths pass `sw` make another turn there. */
static uint32_t
search_change(const struct mend *m, uint32_t sw, uint32_t out,
	      const uint32_t *behind, uint32_t n)
{
	uint32_t cost = COST_CHANGE;

	if (m->target->is_host && m->behind[sw])
		cost = COST_MOVE + m->behind[sw];
	while (n-- > 0 && cost < COST_MAX)
		cost += behind[n] == m->g->edges[out].back ? COST_MAX :
			search_turn(m, behind[n], out);
	return MIN(cost, COST_MAX);
}

/* Is the switch on the path that ends with this edge? */
static bool
search_has(const struct mend *m, uint32_t e, uint32_t sw)
{
	const struct graph *g = m->g;

	for (; e != SNAPSHOT_NONE; e = m->from[e])
		if (g->edges[e].peer == sw || graph_owner(g, e) == sw)
			return true;
	return false;
}

bool
mend_is_fresh(const struct mend *m, uint32_t sw)
{
	uint32_t block = m->lid - m->lid % LFT_BLOCK;

	return m->home && memcmp(lft_row(m->home, sw) + block,
				 lft_row(m->lft, sw) + block, LFT_BLOCK) == 0;
}

static void
search_offer(struct mend *m, uint32_t e, uint32_t from, uint32_t cost,
	     uint32_t *first)
{
	struct mend_offer offer = { e, 0 };

	if (m->through)
		cost += (uint32_t)(COST_LOAD * (m->dealt[e] + (float)m->flow) /
				   m->limit);
	if (cost >= m->cost[e])
		return;
	m->cost[e] = (uint16_t)cost;
	m->from[e] = from;
	if (m->g->edges[e].peer == m->target->sw)
		m->least = MIN(m->least, cost);
	offer.next = first[cost];
	first[cost] = m->offers->len;
	g_array_append_val(m->offers, offer);
}

/* The ways on from the end of a path. */
static void
search_expand(struct mend *m, uint32_t e, uint32_t *first)
{
	const struct graph *g = m->g;
	uint32_t sw = g->edges[e].peer, out, cost, present, most, fresh;
	uint32_t behind[GRAPH_PORTS], n_behind = SNAPSHOT_NONE;
	bool changes, stays;

	present = m->is_open[sw] ? SNAPSHOT_NONE : mend_next(m, sw);
	/* no entry: its table ends below the LID */
	if (!m->is_open[sw] && present == SNAPSHOT_NONE)
		return;
	/* more is sent through it than the path has room for */
	if (m->through && m->is_open[sw] && m->through[sw] > m->flow)
		return;
	/* data has this entry, or waits for one */
	stays = !m->is_data && (!m->is_open[sw] || g->n_senders[sw]);
	fresh = mend_is_fresh(m, sw) ? COST_BLOCK : 0;
	for_each_edge(g, sw, out) {
		most = MIN(m->cost[out], m->least);
		if (m->cost[e] + 1u >= most)
			continue;
		m->work++;
		cost = m->cost[e] + 1u + search_turn(m, e, out) +
			(out != present ? fresh : 0);
		changes = out != present && !m->is_open[sw];
		if (!mend_may_use(m, out) || (stays && out != present) ||
		    cost + (changes ? COST_CHANGE : 0) >= most ||
		    search_has(m, e, g->edges[out].peer))
			continue;
		if (changes && n_behind == SNAPSHOT_NONE)
			n_behind = search_list_behind(m, sw, behind);
		if (changes)
			cost += search_change(m, sw, out, behind, n_behind);
		search_offer(m, out, e, cost, first);
	}
}

/* What it costs if the search begins with this edge: another entry of `sw`, and
 * of switches that lost their path with it and cannot go on by this edge. */
static uint32_t
search_begin(const struct mend *m, uint32_t sw, uint32_t out)
{
	const struct graph_edge *edges = m->g->edges;
	uint32_t e, from, cost = 0;

	for_each_edge(m->g, sw, e) {
		from = edges[e].peer;
		if (m->is_open[from] && !m->is_lost[e] &&
		    mend_next(m, from) == edges[e].back)
			cost += MIN(COST_CHANGE + COST_BLOCK, e == out ?
				    COST_MAX :
				    search_turn(m, edges[e].back, out));
	}
	cost = MIN(cost, COST_BEHIND);
	if (out != mend_next(m, sw) && mend_is_fresh(m, sw))
		cost += COST_BLOCK;
	return cost + 1;
}

/* The last edge of the cheapest path; SNAPSHOT_NONE: there is none. */
static uint32_t
search_path(struct mend *m, uint32_t sw)
{
	uint32_t first[COST_MAX], cost, e;
	const struct mend_offer *offer;

	m->least = COST_MAX;
	g_array_set_size(m->offers, 0);
	memset(first, 0xff, sizeof(first));
	for (e = 0; e < m->g->n_edges; e++)
		m->cost[e] = COST_MAX;
	for_each_edge(m->g, sw, e)
		if (mend_may_use(m, e))
			search_offer(m, e, SNAPSHOT_NONE,
				     search_begin(m, sw, e), first);
	for (cost = 1; cost < COST_MAX; cost++)
		while (first[cost] != OFFER_END) {
			offer = &g_array_index(m->offers, struct mend_offer,
					       first[cost]);
			first[cost] = offer->next;
			e = offer->edge;
			if (m->cost[e] < cost)
				continue;	/* a cheaper way was found */
			if (m->g->edges[e].peer == m->target->sw)
				return e;
			search_expand(m, e, first);
		}
	return SNAPSHOT_NONE;
}

/* Adds the turn to the graph, and to m->added. False: it closes a loop, and
 * those in m->added are removed. It is not tried again, even if it closed a loop
 * only together with those: else the next search would find the same path. */
static bool
search_add(struct mend *m, uint32_t in, uint32_t out)
{
	if (!m->is_data || channels_extend(m->c, in, out, m->added))
		return true;
	channels_undo(m->c, m->added, 0);
	set_add(channels_mask(m->g, m->refused, in), m->g->edges[out].port);
	return false;
}

/* Adds the turns of a path and of all whose paths it moves. */
static bool
search_add_all(struct mend *m, uint32_t last)
{
	const struct graph *g = m->g;
	uint32_t e, out = last, back;

	g_array_set_size(m->added, 0);
	for (e = m->from[last]; e != SNAPSHOT_NONE; out = e, e = m->from[e]) {
		if (!search_add(m, e, out))
			return false;
		if (m->is_open[g->edges[e].peer] ||
		    mend_next(m, g->edges[e].peer) == out)
			continue;
		for_each_edge(g, g->edges[e].peer, back)
			if (search_is_behind(m, back) &&
			    !search_add(m, g->edges[back].back, out))
				return false;
	}
	return true;
}

static void
mend_queue(struct mend *m, uint32_t sw)
{
	if (!m->is_queued[sw])
		m->queue[m->n++] = sw;
	m->is_queued[sw] = 1;
}

/* Takes the path that ends with this edge; its first switch sends for `hosts`. */
static void
search_take(struct mend *m, uint32_t last, uint32_t hosts)
{
	uint32_t e, at;

	for (e = last; e != SNAPSHOT_NONE; e = m->from[e]) {
		at = graph_owner(m->g, e);
		if (!m->is_open[at] && mend_next(m, at) == e)
			continue;
		mend_queue(m, at);
		mend_take(m, at, e, m->from[e] == SNAPSHOT_NONE ? hosts :
				m->is_open[at] ? m->g->n_hosts[at] :
				m->behind[at]);
	}
}

bool
mend_search(struct mend *m, uint32_t sw)
{
	uint32_t hosts = m->through ? m->flow : m->g->n_hosts[sw], last, tries;
	uint32_t most = m->through ? DETOUR_TRIES : MAX_TRIES;

	search_count(m);
	for (tries = 0; tries <= most && !mend_is_too_much(m); tries++) {
		m->is_sure = tries == most;
		last = search_path(m, sw);
		if (last == SNAPSHOT_NONE)
			return false;
		if (!search_add_all(m, last))
			continue;
		search_take(m, last, hosts);
		return true;
	}
	return false;
}

void
mend_detour(struct mend *m, uint32_t sw, uint32_t hops, const uint32_t *through,
	    float limit)
{
	struct mend_path path;

	m->through = through;
	m->flow = through[sw];
	m->limit = limit;
	path = mend_find(m, sw);
	if (path.edge != SNAPSHOT_NONE && path.hops <= hops)
		mend_take(m, sw, path.edge, m->flow);
	else
		mend_search(m, sw);
	m->through = NULL;
}

/* ------------------------------------------------------------------- a LID */

bool
mend_sends_data(struct mend *m, uint32_t sw)
{
	m->is_data = m->target->port != 0 || m->g->n_senders[sw] > 0;
	return m->is_data;
}

void
mend_start(struct mend *m, uint16_t lid)
{
	for (uint32_t i = 0; i < m->n; i++) {
		m->is_open[m->queue[i]] = 0;
		m->is_queued[m->queue[i]] = 0;
	}
	m->n = 0;
	m->lid = lid;
	m->target = graph_target_at(m->g, lid);
}

void
mend_lose(struct mend *m, uint32_t sw)
{
	m->is_open[sw] = 1;
	mend_queue(m, sw);
}

void
mend_plainly(struct mend *m)
{
	uint32_t i, sw, least;

	m->is_data = true;
	do {
		for (least = UINT32_MAX, i = 0; i < m->n; i++) {
			sw = m->queue[i];
			if (!m->is_open[sw])
				continue;
			m->best[sw] = mend_find(m, sw);
			least = MIN(least, m->best[sw].hops);
		}
		for (i = 0; i < m->n && least != UINT32_MAX; i++) {
			sw = m->queue[i];
			if (!m->is_open[sw] || m->best[sw].hops != least)
				continue;
			/* with the loads of now */
			m->best[sw] = mend_find(m, sw);
			mend_take(m, sw, m->best[sw].edge,
				  m->g->n_hosts[sw]);
		}
	} while (least != UINT32_MAX);
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
			m->is_data = mend_sends_data(m, sw) ||
				(!n_before && m->senders[sw]);
			if (mend_keep(m, sw))
				continue;
			path = mend_find(m, sw);
			if (path.edge != SNAPSHOT_NONE)
				mend_take(m, sw, path.edge,
					  m->g->n_hosts[sw]);
			else
				n_open += !mend_search(m, sw);
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
