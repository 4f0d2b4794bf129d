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
 * line with its LID and ports by state, its neighbours and its hosts. A level
 * gets an equal share of the remaining lines; switches that do not fit are
 * counted.
 *
 * show_route() writes a line for each node on the route, by the tables of the
 * switches as the hardware reads them, and why a route ends early: no entry, a
 * port without a link, the wrong host, a forwarding loop. show_pick_route()
 * searches breadth first from every switch with an end port and keeps the
 * longest of the shortest paths; ties go to the lower GUIDs.
 *
 * Text is UTF-8; each of the characters here that are not ASCII takes one
 * column.
 */
#include "lab/show.h"

#include <string.h>

#include "topology/text.h"

#define WIDTH		80u
#define NAME_WIDTH	36u
#define NEIGHBOUR_ROWS	2u
#define KINDS_MAX	6u
#define SHORT_LIST	4u	/* hosts of a switch if not all levels fit */

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
	uint32_t n_kinds;	/* KINDS_MAX + 1: more than that */
	struct {
		const char *width, *speed;
		uint32_t n;
	} kinds[KINDS_MAX];
};

static unsigned
columns(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* The name of a node; a long one is cut with an ellipsis. A new string. */
static char *
short_name(const struct snapshot *s, uint32_t port)
{
	const char *name = snapshot_name_of(s, port), *end = name;
	g_autofree char *cut = NULL;

	if (columns(name) <= NAME_WIDTH)
		return g_strdup(name);
	for (unsigned n = 0; *end; end++)
		if (((unsigned char)*end & 0xc0) != 0x80 && ++n == NAME_WIDTH)
			break;
	cut = g_strndup(name, (gsize)(end - name));
	return g_strconcat(cut, "…", NULL);
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
	unsigned i = 0, known = MIN(t->n_kinds, KINDS_MAX);

	t->n++;
	t->by_state[link_state(s, port)]++;
	while (i < known && (strcmp(t->kinds[i].width, width) ||
			     strcmp(t->kinds[i].speed, speed)))
		i++;
	if (i == known)
		t->n_kinds = MIN(t->n_kinds + 1, KINDS_MAX + 1);
	if (i == KINDS_MAX)
		return;
	t->kinds[i].width = width;
	t->kinds[i].speed = speed;
	t->kinds[i].n++;
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
	if (t->n_kinds == 1)
		g_string_append_printf(out, " %s%s", t->kinds[0].width,
				       t->kinds[0].speed);
	for (unsigned i = 0; t->n_kinds > 1 && i < t->n_kinds; i++) {
		if (i == KINDS_MAX) {
			g_string_append(out, ", others");
			break;
		}
		g_string_append_printf(out, "%s%u %s%s", i ? ", " : ": ",
				       t->kinds[i].n, t->kinds[i].width,
				       t->kinds[i].speed);
	}
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

void
show_distances(const struct graph *g, uint32_t sw, uint32_t *hops)
{
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);

	graph_hops(g, sw, hops, queue);
}

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
	g_autofree char *name = short_name(p->s, n->first_port);

	g_string_append_printf(out, "  %s (LID %u) ", name,
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
		g_autofree char *name = short_name(p->s,
			picture_switch(p, peer)->first_port);
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
		g_autofree char *name = NULL;

		if (peer == SNAPSHOT_NONE ||
		    snapshot_is_switch(snapshot_node_of(p->s, peer)))
			continue;
		name = short_name(p->s, peer);
		g_ptr_array_add(hosts, g_strdup_printf("%s %s %u",
					state_mark(link_state(p->s, peer)),
					name, show_lid(p->s, p->lids, peer)));
	}
	return hosts;
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

/* The switches of a level, as many as `lines` have room for. */
static void
put_switches(const struct picture *p, const GArray *switches, uint32_t lines,
	     uint32_t max_hosts, GString *out)
{
	uint32_t i, hosts = 0;

	for (i = 0; i < switches->len; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		uint32_t sw = g_array_index(switches, uint32_t, i);
		g_autoptr(GPtrArray) list = list_hosts(p, sw);
		guint more = list->len > max_hosts ?
			list->len - max_hosts + 1 : 0;
		uint32_t height, after = i + 1 < switches->len;

		put_switch_line(text, p, sw);
		put_neighbours(text, p, sw);
		if (more) {
			g_ptr_array_set_size(list, (gint)(list->len - more));
			g_ptr_array_add(list, g_strdup_printf("… %u more",
							      more));
		}
		put_items(text, "    ", list, UINT32_MAX);
		height = count_lines(text->str);
		if (height + after > lines)
			break;
		g_string_append_len(out, text->str, (gssize)text->len);
		lines -= height;
	}
	if (i == switches->len)
		return;
	g_string_append(out, "  … ");
	text_put_count(out, switches->len - i, 0, "more switch");
	for (; i < switches->len; i++) {
		g_autoptr(GPtrArray) list =
			list_hosts(p, g_array_index(switches, uint32_t, i));

		hosts += list->len;
	}
	if (hosts > 0) {
		g_string_append(out, " with ");
		text_put_count(out, hosts, 0, "host port");
	}
	g_string_append_c(out, '\n');
}

static void
put_levels(const struct picture *p, uint32_t lines, uint32_t max_hosts,
	   GString *out)
{
	for (uint32_t above = p->n_levels; above > 0; above--) {
		uint32_t level = above - 1;
		size_t start = out->len;
		g_autoptr(GArray) list = g_array_new(FALSE, FALSE,
						     sizeof(uint32_t));
		uint32_t share = lines / above;
		uint32_t used;
		struct tally t;

		for (uint32_t sw = 0; sw < p->g->n_switches; sw++)
			if (p->level[sw] == level)
				g_array_append_val(list, sw);
		if (above < p->n_levels) {
			tally_between(p, above, level, &t);
			g_string_append(out, "    │ │ │  ");
			put_tally(out, &t);
			g_string_append_c(out, '\n');
		}
		g_string_append_printf(out, "level %u: ", level);
		text_put_count(out, list->len, 0, "switch");
		if (level == 0) {
			tally_between(p, 0, SNAPSHOT_NONE, &t);
			g_string_append(out, t.n ? ", to the hosts " :
					", no hosts");
			if (t.n)
				put_tally(out, &t);
		}
		g_string_append_c(out, '\n');
		used = count_lines(out->str + start);
		put_switches(p, list, share > used ? share - used : 0,
			  max_hosts, out);
		used = count_lines(out->str + start);
		lines -= MIN(used, lines);
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
		g_autofree char *name = short_name(s, local);

		g_string_append_printf(out, "\nsubnet manager on %s port %u, "
				       "LID %u", name, s->ports[local].num,
				       show_lid(s, p->lids, local));
	}
	g_string_append(out, "\nports: ● Active ◐ Armed ○ Initialize · Down  "
			"↑ above ↔ beside ↓ below  NAME LID\n\n");
}

/* Hosts that are not cabled to a switch: back to back, or without a cable. */
static void
put_lone_hosts(const struct picture *p, GString *out)
{
	const struct snapshot *s = p->s;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *q = &s->ports[port];

		if (!q->known || snapshot_is_switch(snapshot_node_of(s, port)))
			continue;
		if (q->peer == SNAPSHOT_NONE) {
			if (port != s->local_port)
				continue;
			g_string_append_printf(out, "  %s %s (LID %u): no "
					       "neighbour\n",
					       state_mark(q->info.state),
					       snapshot_name_of(s, port),
					       show_lid(s, p->lids, port));
		} else if (is_first_end(s, port) &&
			   !snapshot_is_switch(snapshot_node_of(s, q->peer))) {
			g_string_append_printf(out, "  %s (LID %u) ──%s── "
					       "%s (LID %u)\n",
					       snapshot_name_of(s, port),
					       show_lid(s, p->lids, port),
					       state_mark(link_state(s, port)),
					       snapshot_name_of(s, q->peer),
					       show_lid(s, p->lids, q->peer));
		}
	}
}

void
show_fabric(const struct snapshot *s, const struct lid_map *lids,
	    unsigned lines, GString *out)
{
	struct picture p = { .s = s, .lids = lids };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) levels = g_string_new(NULL);
	uint32_t room, total;
	const char *end;

	p.g = graph_new(s, lids);
	picture_find_levels(&p);
	put_summary(&p, text);
	put_lone_hosts(&p, text);
	room = count_lines(text->str);
	room = lines > room ? lines - room : 0;
	put_levels(&p, UINT32_MAX, UINT32_MAX, levels);
	if (count_lines(levels->str) > room) {
		g_string_truncate(levels, 0);
		put_levels(&p, room, SHORT_LIST, levels);
	}
	g_string_append(text, levels->str);
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

/* An end port that may start or end the route shown. */
struct route_offer {
	uint64_t guid;
	uint32_t port;
	uint32_t sw;		/* that it is cabled to, or belongs to */
};

static int
offer_compare(const void *a, const void *b)
{
	const struct route_offer *x = a, *y = b;
	int order = guid_compare(a, b);

	return order ? order : (x->port > y->port) - (x->port < y->port);
}

/* All hosts behind switches with a LID in the range of the tables, or the
 * switches themselves, by GUID. */
static GArray *
collect_offers(const struct snapshot *s, const struct graph *g,
	       const struct lft *lft, enum node_type type)
{
	GArray *offers = g_array_new(FALSE, FALSE, sizeof(struct route_offer));

	for (uint32_t i = 0; i < g->n_targets; i++) {
		const struct graph_target *t = &g->targets[i];
		const struct snapshot_node *n = &s->nodes[s->switches[t->sw]];
		struct route_offer o = { .sw = t->sw };

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

/*
 * Offers are in order of GUIDs, so the first one of a switch represents the
 * others: none of them is farther from any port, or as far with a lower GUID. As
 * the other end on the same switch the second offer counts.
 */
static bool
pick_farthest(const struct graph *g, const GArray *offers, uint32_t *from,
	      uint32_t *to)
{
	g_autofree uint32_t *dist = g_new(uint32_t, g->n_switches);
	g_autofree bool *done = g_new0(bool, g->n_switches);
	const struct route_offer *o = (const void *)offers->data;
	uint32_t farthest = 0;
	bool found = false;

	for (uint32_t i = 0; i < offers->len; i++) {
		if (done[o[i].sw])
			continue;
		done[o[i].sw] = true;
		show_distances(g, o[i].sw, dist);
		for (uint32_t k = 0; k < offers->len; k++) {
			uint32_t d = dist[o[k].sw];

			if (k == i || d == GRAPH_FAR ||
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

bool
show_pick_route(const struct snapshot *s, const struct lid_map *lids,
		const struct lft *lft, uint32_t *from, uint32_t *to)
{
	static const enum node_type types[] = { NODE_CA, NODE_SWITCH };
	struct graph *g = graph_new(s, lids);
	bool found = false;

	for (unsigned i = 0; i < G_N_ELEMENTS(types) && !found; i++) {
		g_autoptr(GArray) offers = collect_offers(s, g, lft, types[i]);

		found = pick_farthest(g, offers, from, to);
	}
	graph_free(g);
	/* no switch between them: two hosts back to back */
	for (uint32_t port = 0; !found && port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;

		if (!snapshot_link_up(s, port) || peer == port ||
		    snapshot_is_switch(snapshot_node_of(s, port)) ||
		    snapshot_is_switch(snapshot_node_of(s, peer)))
			continue;
		found = true;
		*from = port;
		*to = peer;
	}
	return found;
}
