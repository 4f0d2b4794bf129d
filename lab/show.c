// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A line for each node on the route, by the tables of the switches as the
 * hardware reads them, and why a route ends early: no entry, a port without a
 * link, the wrong host, a forwarding loop.
 *
 * Text is UTF-8; each of the characters here that are not ASCII takes one
 * column.
 */
#include "lab/show.h"

#include "topology/text.h"

/* A packet on its route. */
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

/* Forwards the packet through this switch to the next node. False: the route
 * ends here. */
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
		return way_ends(w, "it was here before: a loop");
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

void
show_route(const struct snapshot *s, const struct lid_map *lids,
	   const struct lft *lft, uint32_t from, uint32_t to, GString *out)
{
	struct way w = { .s = s, .lids = lids, .lft = lft, .out = out };
	g_autofree bool *been = g_new0(bool, s->n_switches);

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
	while (snapshot_holder_of(s, w.in) != w.to &&
	       snapshot_is_switch(snapshot_node_of(s, w.in)))
		if (!way_pass_switch(&w, been))
			return;
	put_stop(&w, w.in, s->ports[w.in].num, 0);
	if (snapshot_holder_of(s, w.in) != w.to)
		way_ends(&w, "arrived here, but LID %u is elsewhere", w.lid);
	else
		g_string_append_printf(out, "  %u hop%s\n", w.hops,
				       text_plural(w.hops));
}
