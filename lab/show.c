// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as text, 80 columns wide, and one route through it.
 *
 * Purpose: an overview. Nodes, cables, states of links, and the route of a
 * packet by the tables, without a verdict.
 *
 * Flow. show_fabric() writes a summary, then each level from the top down to
 * the leaves (a switch's level is its distance from the nearest switch with
 * hosts), with a line between two levels about the links there. A switch is a
 * line with its LID and ports by state, its neighbours and its hosts.
 *
 * show_route() writes a line for each node on the route, by the tables of the
 * switches as the hardware reads them, and why a route ends early: no entry, a
 * port without a link, the wrong host, a forwarding loop.
 *
 * Text is UTF-8; each of the characters here that are not ASCII takes one
 * column.
 */
#include "lab/show.h"

#include <string.h>

#include "topology/text.h"

#define WIDTH		80u
#define NEIGHBOUR_ROWS	2u

struct picture {
	const struct snapshot *s;
	const struct lid_map *lids;
	struct graph *g;
	uint32_t *level;	/* by switch index */
	uint32_t n_levels;
};

struct tally {
	uint32_t n;
	uint32_t by_state[PORT_STATE_ACTIVE + 1];
	const char *width, *speed;	/* "": they differ */
};

static unsigned
columns(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/*
 * The items in rows behind `lead`, which is as wide as the indent of the rows
 * below the first; at most so many rows, the items that do not fit counted.
 */
static void
put_items(GString *out, const char *lead, const GPtrArray *items, unsigned rows)
{
	size_t start = out->len;
	unsigned in_row = 0;

	if (!items->len)
		return;
	g_string_append(out, lead);
	for (guint i = 0; i < items->len; i++, in_row++) {
		const char *item = items->pdata[i];
		unsigned room = WIDTH - (rows == 1 && i + 1 < items->len ?
					 strlen(", +9999") : strlen(","));

		if (in_row && columns(out->str + start) + 2 + columns(item) >
		    room) {
			if (rows-- == 1) {
				g_string_append_printf(out, ", +%u",
						       items->len - i);
				break;
			}
			g_string_append(out, ",\n");
			start = out->len;
			g_string_append_printf(out, "%*s",
					       (int)columns(lead), "");
			in_row = 0;
		}
		g_string_append_printf(out, "%s%s", in_row ? ", " : "", item);
	}
	g_string_append_c(out, '\n');
}

static const char *
state_mark(unsigned state)
{
	static const char *const marks[] = {
		[PORT_STATE_NOP] = "?", [PORT_STATE_DOWN] = "·",
		[PORT_STATE_INIT] = "○", [PORT_STATE_ARMED] = "◐",
		[PORT_STATE_ACTIVE] = "●", [PORT_STATE_ACTIVE_DEFER] = "●",
	};

	return state < G_N_ELEMENTS(marks) ? marks[state] : "?";
}

static unsigned
show_lid(const struct snapshot *s, const struct lid_map *lids, uint32_t port)
{
	return lids->base[snapshot_holder_of(s, port)];
}

/* The lesser of both ends' states. */
static unsigned
link_state(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	unsigned state = p->info.state;

	state = MIN(state, s->ports[p->peer].info.state);
	return MIN(state, PORT_STATE_ACTIVE);
}

static void
tally_link(struct tally *t, const struct snapshot *s, uint32_t port)
{
	const char *width = port_width(&s->ports[port].info)->name;
	const char *speed = port_speed(&s->ports[port].info)->name;

	if (!t->n++) {
		t->width = width;
		t->speed = speed;
	} else if (strcmp(t->width, width) || strcmp(t->speed, speed)) {
		t->width = t->speed = "";
	}
	t->by_state[link_state(s, port)]++;
}

/* Each cable once, from its end with the lower index. */
static bool
is_first_end(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return p->peer != SNAPSHOT_NONE && port <= p->peer && p->known &&
	       s->ports[p->peer].known;
}

static void
put_tally(GString *out, const struct tally *t)
{
	text_put_count(out, t->n, 0, "link");
	if (t->n == 0)
		return;
	if (*t->width)
		g_string_append_printf(out, " %s%s", t->width, t->speed);
	for (int state = PORT_STATE_ACTIVE; state >= 0; state--) {
		if (t->by_state[state] == 0)
			continue;
		g_string_append(out, ", ");
		if (t->by_state[state] < t->n)
			g_string_append_printf(out, "%u ", t->by_state[state]);
		else if (t->n > 1)
			g_string_append(out, "all ");
		g_string_append(out, state > 0 ? port_state_name(state) :
				"unknown");
	}
}

/* --- levels --- */

static void
picture_find_levels(struct picture *p)
{
	const struct graph *g = p->g;
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t n = 0;

	p->level = g_new(uint32_t, g->n_switches);
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		p->level[sw] = g->n_hosts[sw] ? 0 : GRAPH_FAR;
		if (g->n_hosts[sw])
			queue[n++] = sw;
	}
	graph_search(g, p->level, queue, n);
	p->n_levels = g->n_switches > 0;
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		/* not connected to any host */
		if (p->level[sw] == GRAPH_FAR)
			p->level[sw] = 0;
		p->n_levels = MAX(p->n_levels, p->level[sw] + 1);
	}
}

static uint32_t
level_of(const struct picture *p, uint32_t port)
{
	uint32_t sw = snapshot_node_of(p->s, port)->sw_index;

	return sw == SNAPSHOT_NONE ? SNAPSHOT_NONE : p->level[sw];
}

/* Links between the levels `a` and `b`; SNAPSHOT_NONE is that of the hosts. */
static void
tally_between(const struct picture *p, uint32_t a, uint32_t b, struct tally *t)
{
	memset(t, 0, sizeof(*t));
	for (uint32_t port = 0; port < p->s->n_ports; port++) {
		uint32_t x, y;

		if (!is_first_end(p->s, port))
			continue;
		x = level_of(p, port);
		y = level_of(p, p->s->ports[port].peer);
		if ((x == a && y == b) || (x == b && y == a))
			tally_link(t, p->s, port);
	}
}

/* --- a switch --- */

static const struct snapshot_node *
picture_switch(const struct picture *p, uint32_t sw)
{
	return &p->s->nodes[p->s->switches[sw]];
}

static void
put_switch_line(GString *out, const struct picture *p, uint32_t sw)
{
	const struct snapshot_node *n = picture_switch(p, sw);
	uint32_t by_state[PORT_STATE_ACTIVE + 1] = { 0 };

	g_string_append_printf(out, "  %s (LID %u) ", snapshot_node_name(n),
			       show_lid(p->s, p->lids, n->first_port));
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		const struct snapshot_port *port =
			&p->s->ports[n->first_port + num];
		unsigned state = port->known ? port->info.state : 0;

		by_state[MIN(state, PORT_STATE_ACTIVE)]++;
	}
	for (int state = PORT_STATE_ACTIVE; state >= 0; state--)
		if (by_state[state] > 0)
			g_string_append_printf(out, " %s %u", state_mark(state),
					       by_state[state]);
	g_string_append_c(out, '\n');
}

/* Neighbour switches above, beside and below, parallel cables as "x2". */
static void
put_neighbours(GString *out, const struct picture *p, uint32_t sw)
{
	static const char *const arrows[] = { "    ↑ ", "    ↔ ", "    ↓ " };
	const struct graph *g = p->g;
	GPtrArray *names[3];

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		names[i] = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1];) {
		uint32_t peer = g->edges[e].peer, n = 0;
		const char *name = snapshot_node_name(picture_switch(p, peer));
		unsigned where = p->level[peer] > p->level[sw] ? 0 :
			p->level[peer] == p->level[sw] ? 1 : 2;

		for (; e < g->first_edge[sw + 1] &&
		     g->edges[e].peer == peer; e++)
			n++;
		g_ptr_array_add(names[where], n == 1 ? g_strdup(name) :
				g_strdup_printf("%s x%u", name, n));
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		put_items(out, arrows[i], names[i], NEIGHBOUR_ROWS);
		g_ptr_array_free(names[i], TRUE);
	}
}

/* "● H-0 1" for each host, with its LID. */
static GPtrArray *
list_hosts(const struct picture *p, uint32_t sw)
{
	const struct snapshot_node *n = picture_switch(p, sw);
	GPtrArray *hosts = g_ptr_array_new_with_free_func(g_free);

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t peer = p->s->ports[n->first_port + num].peer;

		if (peer == SNAPSHOT_NONE ||
		    snapshot_is_switch(snapshot_node_of(p->s, peer)))
			continue;
		g_ptr_array_add(hosts, g_strdup_printf("%s %s %u",
					state_mark(link_state(p->s, peer)),
					snapshot_name_of(p->s, peer),
					show_lid(p->s, p->lids, peer)));
	}
	return hosts;
}

static void
put_switch(GString *out, const struct picture *p, uint32_t sw)
{
	g_autoptr(GPtrArray) hosts = list_hosts(p, sw);

	put_switch_line(out, p, sw);
	put_neighbours(out, p, sw);
	put_items(out, "    ", hosts, UINT32_MAX);
}

/* --- the picture --- */

static uint32_t
count_lines(const char *text)
{
	uint32_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void
put_levels(const struct picture *p, GString *out)
{
	for (uint32_t above = p->n_levels; above > 0; above--) {
		uint32_t level = above - 1, n = 0;
		struct tally t;

		for (uint32_t sw = 0; sw < p->g->n_switches; sw++)
			n += p->level[sw] == level;
		if (above < p->n_levels) {
			tally_between(p, above, level, &t);
			g_string_append(out, "    │ │ │  ");
			put_tally(out, &t);
			g_string_append_c(out, '\n');
		}
		g_string_append_printf(out, "level %u: ", level);
		text_put_count(out, n, 0, "switch");
		if (level == 0) {
			tally_between(p, 0, SNAPSHOT_NONE, &t);
			g_string_append(out, t.n ? ", to the hosts " :
					", no hosts");
			if (t.n)
				put_tally(out, &t);
		}
		g_string_append_c(out, '\n');
		for (uint32_t sw = 0; sw < p->g->n_switches; sw++)
			if (p->level[sw] == level)
				put_switch(out, p, sw);
	}
}

static void
put_summary(const struct picture *p, GString *out)
{
	const struct snapshot *s = p->s;
	struct tally t = { 0 };
	uint32_t local = s->local_port;

	for (uint32_t port = 0; port < s->n_ports; port++)
		if (is_first_end(s, port))
			tally_link(&t, s, port);
	text_put_count(out, s->n_switches, 0, "switch");
	g_string_append(out, ", ");
	text_put_count(out, s->n_nodes - s->n_switches, 0, "host");
	g_string_append(out, ", ");
	put_tally(out, &t);
	if (local != SNAPSHOT_NONE) {
		g_string_append_printf(out, "\nsubnet manager on %s port %u, "
				       "LID %u", snapshot_name_of(s, local),
				       s->ports[local].num,
				       show_lid(s, p->lids, local));
	}
	g_string_append(out, "\nports: ● Active ◐ Armed ○ Initialize · Down  "
			"↑ above ↔ beside ↓ below  NAME LID\n\n");
}

void
show_fabric(const struct snapshot *s, const struct lid_map *lids,
	    unsigned lines, GString *out)
{
	struct picture p = { .s = s, .lids = lids };
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t total;
	const char *end;

	p.g = graph_new(s, lids);
	picture_find_levels(&p);
	put_summary(&p, text);
	put_levels(&p, text);
	total = count_lines(text->str);
	if (total > lines) {	/* the last line says so */
		end = text->str;
		for (uint32_t i = 1; i < lines; i++)
			end = strchr(end, '\n') + 1;
		g_string_truncate(text, (gsize)(end - text->str));
	}
	g_string_append(out, text->str);
	if (total > lines && lines > 0)
		g_string_append_printf(out, "… %u more lines\n",
				       total - lines + 1);
	g_free(p.level);
	graph_free(p.g);
}

/* --- a route --- */

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

bool
show_pick_route(const struct snapshot *s, const struct lid_map *lids,
		uint32_t *from, uint32_t *to)
{
	struct graph *g = graph_new(s, lids);
	g_autofree uint32_t *hops = g_new(uint32_t, g->n_switches);
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	const struct graph_target *own;
	uint32_t best = 0;

	*from = s->local_port;
	*to = snapshot_link_up(s, *from) ? s->ports[*from].peer :
		SNAPSHOT_NONE;
	own = graph_target_at(g, show_lid(s, lids, *from));
	if (own)
		graph_hops(g, own->sw, hops, queue);
	for (uint32_t i = 0; own && i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		uint32_t port = s->nodes[s->switches[t->sw]].first_port +
			t->port;

		if (t == own || !t->is_host || hops[t->sw] == GRAPH_FAR ||
		    hops[t->sw] + 1 <= best)
			continue;
		best = hops[t->sw] + 1;
		*to = s->ports[port].peer;
	}
	graph_free(g);
	return *to != SNAPSHOT_NONE;
}
