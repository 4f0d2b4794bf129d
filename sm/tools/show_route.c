// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One route through the fabric, hop by hop, and the choice of one to show.
 *
 * Purpose: let a person see what the tables do with a packet.
 *
 * Structs: `way` is a packet under way: where it came in, where it wants to
 * go, how many cables lie behind it.
 *
 * Flow: show_route() writes a line for each node that the packet meets.
 * way_follow() reads the tables of the switches as the hardware does, and each
 * way a route can end badly has its own words: no entry, a port without a
 * link, the wrong host, a circle. show_pick_route() searches breadth first
 * from every switch that has an end port to offer and keeps the longest
 * shortest way; ties go to the lower GUIDs.
 */
#include "sm/tools/show.h"

#include "routing/graph.h"

struct way {
	const struct snapshot *s;
	const struct lid_map *lids;
	const struct lft *lft;
	uint32_t in;		/* the port by which it came */
	uint32_t to;		/* end port */
	unsigned lid;
	unsigned hops;
	GString *out;
};

/* A line for the node of `port`; `in` and `by` are 0 where there is none. */
static void
put_stop(const struct way *w, uint32_t port, unsigned in, unsigned by)
{
	const struct snapshot_node *n = snapshot_node_of(w->s, port);
	unsigned lid = w->lids->base[snapshot_holder_of(w->s, port)];
	GString *out = w->out;

	g_string_append_printf(out, "  %s %-24s  LID %-5u",
			       snapshot_is_switch(n) ? "■" : "●",
			       snapshot_node_name(n), lid);
	if (in > 0)
		g_string_append_printf(out, "  in by port %-3u", in);
	else
		g_string_append_printf(out, "  %-14s", "");
	if (by > 0)
		g_string_append_printf(out, "  out by port %u", by);
	while (out->str[out->len - 1] == ' ')
		g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
}

static bool G_GNUC_PRINTF(2, 3)
way_ends(const struct way *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append(w->out, "  ✗ ");
	g_string_append_vprintf(w->out, format, args);
	g_string_append_c(w->out, '\n');
	va_end(args);
	return false;
}

/* Through the switch at hand into the next node. False if that is the end. */
static bool
way_pass_switch(struct way *w, bool *been)
{
	const struct snapshot *s = w->s;
	const struct snapshot_node *n = snapshot_node_of(s, w->in);
	unsigned by = w->lid <= w->lft->top ?
		lft_row(w->lft, n->sw_index)[w->lid] : LFT_NO_PATH;
	uint32_t port;

	put_stop(w, w->in, s->ports[w->in].num, by == LFT_NO_PATH ? 0 : by);
	if (been[n->sw_index])
		return way_ends(w, "it was here before: the route goes round");
	been[n->sw_index] = true;
	if (by == LFT_NO_PATH)
		return way_ends(w, "no entry for LID %u", w->lid);
	port = snapshot_port_of(s, s->ports[w->in].node, by);
	if (by == 0 || port == SNAPSHOT_NONE || !snapshot_link_up(s, port))
		return way_ends(w, "port %u leads nowhere", by);
	w->in = s->ports[port].peer;
	w->hops++;
	return true;
}

static bool
way_follow(struct way *w)
{
	g_autofree bool *been = g_new0(bool, w->s->n_switches);

	while (snapshot_holder_of(w->s, w->in) != w->to) {
		if (snapshot_is_switch(snapshot_node_of(w->s, w->in))) {
			if (!way_pass_switch(w, been))
				return false;
			continue;
		}
		put_stop(w, w->in, w->s->ports[w->in].num, 0);
		return way_ends(w, "arrived here, but LID %u is elsewhere",
				w->lid);
	}
	put_stop(w, w->in, w->s->ports[w->in].num, 0);
	return true;
}

void
show_route(const struct snapshot *s, const struct lid_map *lids,
	   const struct lft *lft, uint32_t from, uint32_t to, GString *out)
{
	struct way w = { .s = s, .lids = lids, .lft = lft, .out = out };

	from = snapshot_holder_of(s, from);
	w.in = from;
	w.to = snapshot_holder_of(s, to);
	w.lid = lids->base[w.to];
	g_string_append_printf(out, "route from %s to %s, LID %u:\n",
			       snapshot_name_of(s, from),
			       snapshot_name_of(s, to), w.lid);
	if (w.lid == LID_NONE) {
		way_ends(&w, "the destination has no LID");
		return;
	}
	if (from != w.to && !snapshot_is_switch(snapshot_node_of(s, from))) {
		put_stop(&w, from, 0, s->ports[from].num);
		if (!snapshot_link_up(s, from)) {
			way_ends(&w, "its link is down");
			return;
		}
		w.in = s->ports[from].peer;
		w.hops = 1;
	}
	if (way_follow(&w))
		g_string_append_printf(out, "  %u %s\n", w.hops,
				       w.hops == 1 ? "hop" : "hops");
}

/* The choice. */

/* An end port that may start or end the route shown. */
struct offer {
	uint64_t guid;
	uint32_t port;
	uint32_t sw;		/* that it hangs on, or is */
};

static int
offer_compare(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* All the hosts behind switches that have a LID the tables know, or the
 * switches themselves, by GUID. */
static GArray *
collect_offers(const struct snapshot *s, const struct graph *g,
	       const struct lft *lft, enum node_type type)
{
	GArray *offers = g_array_new(FALSE, FALSE, sizeof(struct offer));

	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		const struct snapshot_node *n = &s->nodes[s->switches[t->sw]];
		struct offer o = { .sw = t->sw };

		if (t->lid > lft->top || (t->port == 0) !=
		    (type == NODE_SWITCH))
			continue;
		o.port = n->first_port + t->port;
		if (t->port > 0)
			o.port = s->ports[o.port].peer;
		o.guid = s->ports[o.port].guid;
		g_array_append_val(offers, o);
	}
	g_array_sort(offers, offer_compare);
	return offers;
}

static void
search_from(const struct graph *g, uint32_t from, uint32_t *dist,
	    uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t sw = 0; sw < g->n_switches; sw++)
		dist[sw] = SNAPSHOT_NONE;
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = queue[head++];

		for (uint32_t e = g->first_edge[sw];
		     e < g->first_edge[sw + 1]; e++) {
			uint32_t peer = g->edges[e].peer;

			if (dist[peer] != SNAPSHOT_NONE)
				continue;
			dist[peer] = dist[sw] + 1;
			queue[tail++] = peer;
		}
	}
}

/*
 * Offers come by GUID, so the first one of a switch stands for the others: no
 * other is farther from anyone else, or as far with a lower GUID. As a partner
 * on the same switch the second offer counts.
 */
static bool
pick_farthest(const struct graph *g, const GArray *offers, uint32_t *from,
	      uint32_t *to)
{
	g_autofree uint32_t *dist = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	g_autofree bool *stood = g_new0(bool, g->n_switches);
	const struct offer *o = (const struct offer *)offers->data;
	uint32_t farthest = 0;
	bool found = false;

	for (uint32_t i = 0; i < offers->len; i++) {
		if (stood[o[i].sw])
			continue;
		stood[o[i].sw] = true;
		search_from(g, o[i].sw, dist, queue);
		for (uint32_t k = 0; k < offers->len; k++) {
			uint32_t d = dist[o[k].sw];

			if (k == i || d == SNAPSHOT_NONE ||
			    (found && d <= farthest))
				continue;
			found = true;
			farthest = d;
			*from = o[i].port;
			*to = o[k].port;
		}
	}
	return found;
}

/* No switch between them: two hosts back to back. */
static bool
pick_pair(const struct snapshot *s, uint32_t *from, uint32_t *to)
{
	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;

		if (!snapshot_link_up(s, port) || peer == port ||
		    snapshot_is_switch(snapshot_node_of(s, port)) ||
		    snapshot_is_switch(snapshot_node_of(s, peer)))
			continue;
		*from = port;
		*to = peer;
		return true;
	}
	return false;
}

bool
show_pick_route(const struct snapshot *s, const struct lid_map *lids,
		const struct lft *lft, uint32_t *from, uint32_t *to)
{
	static const enum node_type types[] = { NODE_CA, NODE_SWITCH };
	struct graph *g = graph_new(s, lids);
	bool found = false;

	for (unsigned i = 0; i < G_N_ELEMENTS(types) && !found; i++) {
		GArray *offers = collect_offers(s, g, lft, types[i]);

		found = pick_farthest(g, offers, from, to);
		g_array_free(offers, TRUE);
	}
	graph_free(g);
	return found || pick_pair(s, from, to);
}
