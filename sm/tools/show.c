// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as a picture in text, 80 columns wide.
 *
 * Purpose: a first look. Who is there, what hangs on what, is it up? It shows,
 * it does not judge.
 *
 * Structs: `picture` holds the snapshot, the graph and each switch's level,
 * i.e. its distance from the nearest switch with hosts. A switch becomes a
 * `card`, a list of lines of the same width; cards of one level stand side by
 * side. A `tally` counts links by state and by speed.
 *
 * Flow: show_fabric() writes a summary, then each level from the top down to
 * the leaves, with a line between two levels that tells of the links there. A
 * level gets its share of the lines that are left; what does not fit is
 * counted.
 *
 * Text is UTF-8; only this file's own box characters are not ASCII, and each
 * takes one column. Routes are in show_route.c.
 */
#include "sm/tools/show.h"

#include <string.h>

#include "routing/graph.h"

#define WIDTH		80u
#define CARD_BORDER	4u	/* "| " and " |" */
#define CARDS_A_ROW	4u
#define NEIGHBOUR_ROWS	2u
#define KINDS_MAX	6u
#define SHORT_LIST	4u	/* hosts on a card if not all levels fit */

struct picture {
	const struct snapshot *s;
	const struct lid_map *lids;
	struct graph *g;
	uint32_t *level;	/* by switch index */
	uint32_t n_levels;
};

struct card {
	GPtrArray *lines;	/* of char * */
	unsigned inner;		/* columns between the borders */
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

/* Cells. */

static unsigned
columns(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* `text` in exactly `width` columns: padded, or cut with an ellipsis. */
static void
put_cell(GString *out, const char *text, unsigned width)
{
	unsigned have = columns(text), n = 0;

	if (have <= width) {
		g_string_append_printf(out, "%s%*s", text,
				       (int)(width - have), "");
		return;
	}
	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80 && ++n == width)
			break;
		g_string_append_c(out, *text);
	}
	g_string_append(out, "…");
}

static void
put_repeated(GString *out, const char *text, unsigned n)
{
	while (n-- > 0)
		g_string_append(out, text);
}

static void
put_count(GString *out, uint32_t n, const char *one, const char *many)
{
	g_string_append_printf(out, "%u %s", n, n == 1 ? one : many);
}

static const char *
state_mark(unsigned state)
{
	switch ((enum port_state)state) {
	case PORT_STATE_ACTIVE:
	case PORT_STATE_ACTIVE_DEFER:
		return "●";
	case PORT_STATE_ARMED:
		return "◐";
	case PORT_STATE_INIT:
		return "○";
	case PORT_STATE_DOWN:
		return "·";
	case PORT_STATE_NOP:
		break;
	}
	return "?";
}

static unsigned
lid_of(const struct snapshot *s, const struct lid_map *lids, uint32_t port)
{
	return lids->base[snapshot_holder_of(s, port)];
}

/* Links. */

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
tally_kind(struct tally *t, const struct port_info *info)
{
	const char *width = port_width_name(info);
	const char *speed = port_speed(info)->name;

	for (unsigned i = 0; i < MIN(t->n_kinds, KINDS_MAX); i++) {
		if (strcmp(t->kinds[i].width, width) == 0 &&
		    strcmp(t->kinds[i].speed, speed) == 0) {
			t->kinds[i].n++;
			return;
		}
	}
	if (t->n_kinds < KINDS_MAX) {
		t->kinds[t->n_kinds].width = width;
		t->kinds[t->n_kinds].speed = speed;
		t->kinds[t->n_kinds].n = 1;
	}
	t->n_kinds = MIN(t->n_kinds + 1, KINDS_MAX + 1);
}

static void
tally_link(struct tally *t, const struct snapshot *s, uint32_t port)
{
	t->n++;
	t->by_state[link_state(s, port)]++;
	tally_kind(t, &s->ports[port].info);
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
	put_count(out, t->n, "link", "links");
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

/* Levels. */

static void
picture_find_levels(struct picture *p)
{
	const struct graph *g = p->g;
	g_autofree uint32_t *queue = g_new(uint32_t, g->n_switches);
	uint32_t head = 0, tail = 0;

	p->level = g_new(uint32_t, g->n_switches);
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		p->level[sw] = g->n_hosts[sw] ? 0 : SNAPSHOT_NONE;
		if (g->n_hosts[sw])
			queue[tail++] = sw;
	}
	while (head < tail) {
		uint32_t sw = queue[head++];

		for (uint32_t e = g->first_edge[sw];
		     e < g->first_edge[sw + 1]; e++) {
			uint32_t peer = g->edges[e].peer;

			if (p->level[peer] != SNAPSHOT_NONE)
				continue;
			p->level[peer] = p->level[sw] + 1;
			queue[tail++] = peer;
		}
	}
	p->n_levels = g->n_switches > 0;
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		/* No host anywhere near: nothing to be above of. */
		if (p->level[sw] == SNAPSHOT_NONE)
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
tally_between(const struct picture *p, uint32_t a, uint32_t b,
	      struct tally *t)
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

/* Cards. */

static void
card_add(struct card *c, const char *text)
{
	g_autoptr(GString) line = g_string_new("│ ");

	put_cell(line, text, c->inner);
	g_string_append(line, " │");
	g_ptr_array_add(c->lines, g_strdup(line->str));
}

/* A border with a word at each end: "+ left --- right +". */
static void
card_add_border(struct card *c, const char *from, const char *left,
		const char *right, const char *to)
{
	g_autoptr(GString) line = g_string_new(from);
	unsigned room = c->inner - 2 - columns(right);
	unsigned len = MIN(columns(left), room);

	g_string_append_c(line, ' ');
	put_cell(line, left, len);
	g_string_append_c(line, ' ');
	put_repeated(line, "─", room - len);
	g_string_append_printf(line, " %s %s", right, to);
	g_ptr_array_add(c->lines, g_strdup(line->str));
}

static void
card_add_bottom(struct card *c)
{
	g_autoptr(GString) line = g_string_new("└");

	put_repeated(line, "─", c->inner + 2);
	g_string_append(line, "┘");
	g_ptr_array_add(c->lines, g_strdup(line->str));
}

static void
card_add_ports(struct card *c, const struct picture *p, uint32_t node)
{
	const struct snapshot_node *n = &p->s->nodes[node];
	uint32_t by_state[PORT_STATE_ACTIVE + 1] = { 0 };
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		const struct snapshot_port *port =
			&p->s->ports[n->first_port + num];
		unsigned state = port->known ? port->info.state : 0;

		by_state[MIN(state, PORT_STATE_ACTIVE)]++;
	}
	for (int state = PORT_STATE_ACTIVE; state >= 0; state--)
		if (by_state[state] > 0)
			g_string_append_printf(text, "%s%s %u",
					       text->len ? "  " : "",
					       state_mark(state),
					       by_state[state]);
	card_add(c, text->str);
}

/* The names in a few rows behind an arrow, those that do not fit counted. */
static void
card_add_names(struct card *c, const char *arrow, const GPtrArray *names)
{
	uint32_t i = 0;

	for (unsigned row = 0; row < NEIGHBOUR_ROWS && i < names->len; row++) {
		g_autoptr(GString) text = g_string_new(row ? " " : arrow);
		unsigned room = c->inner;

		if (row == NEIGHBOUR_ROWS - 1 && names->len - i > 1)
			room -= strlen(", +999");
		for (unsigned in_row = 0; i < names->len; i++, in_row++) {
			const char *name = g_ptr_array_index(names, i);

			if (in_row > 0 && columns(text->str) + 2 +
			    columns(name) > room)
				break;
			g_string_append(text, in_row ? ", " : " ");
			g_string_append(text, name);
		}
		if (row == NEIGHBOUR_ROWS - 1 && i < names->len)
			g_string_append_printf(text, ", +%u", names->len - i);
		else if (i < names->len)
			g_string_append_c(text, ',');
		card_add(c, text->str);
	}
}

static const char *
switch_name(const struct picture *p, uint32_t sw)
{
	return snapshot_node_name(&p->s->nodes[p->s->switches[sw]]);
}

/* Neighbour switches above, beside and below, parallel cables as "x2". */
static void
card_add_neighbours(struct card *c, const struct picture *p, uint32_t sw)
{
	const struct graph *g = p->g;
	static const char *const arrows[] = { "↑", "↔", "↓" };
	GPtrArray *names[3];

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		names[i] = g_ptr_array_new_with_free_func(g_free);
	for (uint32_t e = g->first_edge[sw]; e < g->first_edge[sw + 1];) {
		uint32_t peer = g->edges[e].peer, n = 0;
		const char *name = switch_name(p, peer);
		unsigned where = p->level[peer] > p->level[sw] ? 0 :
			p->level[peer] == p->level[sw] ? 1 : 2;

		for (; e < g->first_edge[sw + 1] &&
		     g->edges[e].peer == peer; e++)
			n++;
		g_ptr_array_add(names[where], n == 1 ? g_strdup(name) :
				g_strdup_printf("%s x%u", name, n));
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		card_add_names(c, arrows[i], names[i]);
		g_ptr_array_free(names[i], TRUE);
	}
}

static bool
leads_to_host(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return peer != SNAPSHOT_NONE &&
	       !snapshot_is_switch(snapshot_node_of(s, peer));
}

static uint32_t
count_hosts(const struct picture *p, uint32_t sw)
{
	const struct snapshot_node *n = &p->s->nodes[p->s->switches[sw]];
	uint32_t hosts = 0;

	for (unsigned num = 1; num <= n->info.num_ports; num++)
		hosts += leads_to_host(p->s, n->first_port + num);
	return hosts;
}

static void
card_add_host(struct card *c, const struct picture *p, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(p->s, port);
	g_autoptr(GString) text = g_string_new(NULL);
	char lid[16];

	g_snprintf(lid, sizeof(lid), "%u", lid_of(p->s, p->lids, port));
	g_string_append_printf(text, "%s ", state_mark(link_state(p->s,
								  port)));
	put_cell(text, snapshot_node_name(n), c->inner - 3 - strlen(lid));
	g_string_append_printf(text, " %s", lid);
	card_add(c, text->str);
}

static void
card_add_hosts(struct card *c, const struct picture *p, uint32_t sw,
	       uint32_t max)
{
	const struct snapshot_node *n = &p->s->nodes[p->s->switches[sw]];
	uint32_t total = count_hosts(p, sw), shown = 0;

	if (total == 0)
		return;
	card_add_border(c, "├", "hosts", "LID", "┤");
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;

		if (!leads_to_host(p->s, port))
			continue;
		if (total > max && shown == max - 1) {
			g_autofree char *more =
				g_strdup_printf("… %u more", total - shown);

			card_add(c, more);
			break;
		}
		card_add_host(c, p, p->s->ports[port].peer);
		shown++;
	}
}

static GPtrArray *
card_lines(const struct picture *p, uint32_t sw, unsigned width,
	   uint32_t max_hosts)
{
	uint32_t node = p->s->switches[sw];
	struct card c = {
		.lines = g_ptr_array_new_with_free_func(g_free),
		.inner = width - CARD_BORDER,
	};
	char lid[16];

	g_snprintf(lid, sizeof(lid), "LID %u",
		   lid_of(p->s, p->lids, p->s->nodes[node].first_port));
	card_add_border(&c, "┌", switch_name(p, sw), lid, "┐");
	card_add_ports(&c, p, node);
	card_add_neighbours(&c, p, sw);
	card_add_hosts(&c, p, sw, max_hosts);
	card_add_bottom(&c);
	return c.lines;
}

static unsigned
count_digits(unsigned n)
{
	return n < 10 ? 1 : 1 + count_digits(n / 10);
}

/* The room that the names on a card need if none is to be cut. */
static unsigned
card_need(const struct picture *p, uint32_t sw)
{
	const struct snapshot_node *n = &p->s->nodes[p->s->switches[sw]];
	unsigned lid = lid_of(p->s, p->lids, n->first_port);
	unsigned need = columns(snapshot_node_name(n)) + strlen("  LID ") +
		count_digits(lid);

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;
		uint32_t peer = p->s->ports[port].peer;
		unsigned host;

		if (!leads_to_host(p->s, port))
			continue;
		host = columns(snapshot_name_of(p->s, peer)) +
			strlen("*  ") + count_digits(lid_of(p->s, p->lids,
							    peer));
		need = MAX(need, host);
	}
	return need;
}

/* As many cards in a row as leave each its room, but at least two. */
static unsigned
card_width(const struct picture *p, const GArray *switches)
{
	unsigned need = 0, n = CLAMP(switches->len, 2, CARDS_A_ROW);

	for (uint32_t i = 0; i < switches->len; i++)
		need = MAX(need, card_need(p, g_array_index(switches,
							    uint32_t, i)));
	while (n > 2 && (WIDTH - (n - 1)) / n - CARD_BORDER < need)
		n--;
	return (WIDTH - (n - 1)) / n;
}

/* The cards first..end-1 side by side. */
static void
put_card_row(const struct picture *p, const GArray *switches, uint32_t first,
	     uint32_t end, unsigned width, uint32_t max_hosts, GString *out)
{
	GPtrArray *cards[CARDS_A_ROW];
	unsigned height = 0;

	for (uint32_t i = first; i < end; i++) {
		cards[i - first] = card_lines(p, g_array_index(switches,
					uint32_t, i), width, max_hosts);
		height = MAX(height, cards[i - first]->len);
	}
	for (unsigned y = 0; y < height; y++) {
		size_t start = out->len;

		for (uint32_t i = 0; i < end - first; i++) {
			if (i > 0)
				g_string_append_c(out, ' ');
			put_cell(out, y < cards[i]->len ?
				 g_ptr_array_index(cards[i], y) : "", width);
		}
		while (out->len > start && out->str[out->len - 1] == ' ')
			g_string_truncate(out, out->len - 1);
		g_string_append_c(out, '\n');
	}
	for (uint32_t i = 0; i < end - first; i++)
		g_ptr_array_free(cards[i], TRUE);
}

static uint32_t
count_lines(const char *text)
{
	uint32_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* The cards of a level, as many rows as `lines` have room for. */
static void
put_cards(const struct picture *p, const GArray *switches, uint32_t lines,
	  uint32_t max_hosts, GString *out)
{
	unsigned width = card_width(p, switches);
	unsigned a_row = (WIDTH + 1) / (width + 1);
	uint32_t i = 0, hosts = 0;

	while (i < switches->len) {
		uint32_t end = MIN(i + a_row, switches->len);
		g_autoptr(GString) row = g_string_new(NULL);
		uint32_t height, after = end < switches->len;

		put_card_row(p, switches, i, end, width, max_hosts, row);
		height = count_lines(row->str);
		if (height + after > lines)
			break;
		g_string_append_len(out, row->str, row->len);
		lines -= height;
		i = end;
	}
	if (i == switches->len)
		return;
	g_string_append(out, "  … ");
	put_count(out, switches->len - i, "more switch", "more switches");
	for (uint32_t k = i; k < switches->len; k++)
		hosts += count_hosts(p, g_array_index(switches, uint32_t, k));
	if (hosts > 0) {
		g_string_append(out, " with ");
		put_count(out, hosts, "host port", "host ports");
	}
	g_string_append_c(out, '\n');
}

/* Levels, top first. */

static void
put_level_title(const struct picture *p, uint32_t level, uint32_t n,
		GString *out)
{
	struct tally t;

	if (level + 1 < p->n_levels) {
		g_autoptr(GString) text = g_string_new(NULL);
		unsigned side;

		tally_between(p, level + 1, level, &t);
		put_tally(text, &t);
		side = MIN(columns(text->str), WIDTH - 20);
		side = (WIDTH - 14 - side) / 2;
		g_string_append_printf(out, "%*s│ │ │  %s  │ │ │\n",
				       (int)side, "", text->str);
	}
	g_string_append_printf(out, "level %u: ", level);
	put_count(out, n, "switch", "switches");
	if (level == 0) {
		tally_between(p, 0, SNAPSHOT_NONE, &t);
		g_string_append(out, t.n ? ", to the hosts " : ", no hosts");
		if (t.n)
			put_tally(out, &t);
	}
	g_string_append_c(out, '\n');
}

static GArray *
switches_of_level(const struct picture *p, uint32_t level)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t sw = 0; sw < p->g->n_switches; sw++)
		if (p->level[sw] == level)
			g_array_append_val(list, sw);
	return list;
}

static void
put_levels(const struct picture *p, uint32_t lines, uint32_t max_hosts,
	   GString *out)
{
	for (uint32_t above = p->n_levels; above > 0; above--) {
		uint32_t level = above - 1;
		size_t start = out->len;
		GArray *list = switches_of_level(p, level);
		uint32_t share = lines / above;
		uint32_t used;

		put_level_title(p, level, list->len, out);
		used = count_lines(out->str + start);
		put_cards(p, list, share > used ? share - used : 0,
			  max_hosts, out);
		g_array_free(list, TRUE);
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
	put_count(out, s->n_switches, "switch", "switches");
	g_string_append(out, ", ");
	put_count(out, s->n_nodes - s->n_switches, "host", "hosts");
	g_string_append(out, ", ");
	put_tally(out, &t);
	if (local != SNAPSHOT_NONE)
		g_string_append_printf(out, "\nsubnet manager on %s port %u, "
				       "LID %u", snapshot_name_of(s, local),
				       s->ports[local].num,
				       lid_of(s, p->lids, local));
	g_string_append(out, "\nports: ● Active ◐ Armed ○ Initialize · Down   "
			     "switches: ↑ above ↔ beside ↓ below\n\n");
}

/* Hosts that hang on no switch: back to back, or alone. */
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
					       lid_of(s, p->lids, port));
		} else if (is_first_end(s, port) &&
			   !snapshot_is_switch(snapshot_node_of(s, q->peer))) {
			g_string_append_printf(out,
					       "  %s (LID %u) ──%s── "
					       "%s (LID %u)\n",
					       snapshot_name_of(s, port),
					       lid_of(s, p->lids, port),
					       state_mark(link_state(s, port)),
					       snapshot_name_of(s, q->peer),
					       lid_of(s, p->lids, q->peer));
		}
	}
}

/* The first `lines` lines of `text`; if there are more, the last says so. */
static void
put_cut(GString *out, const char *text, uint32_t lines)
{
	uint32_t total = count_lines(text);
	const char *end = text;

	if (total <= lines) {
		g_string_append(out, text);
		return;
	}
	for (uint32_t i = 1; i < lines; i++)
		end = strchr(end, '\n') + 1;
	g_string_append_len(out, text, end - text);
	if (lines > 0)
		g_string_append_printf(out, "… %u more lines\n",
				       total - lines + 1);
}

void
show_fabric(const struct snapshot *s, const struct lid_map *lids,
	    unsigned lines, GString *out)
{
	struct picture p = { .s = s, .lids = lids };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) levels = g_string_new(NULL);
	uint32_t room;

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
	put_cut(out, text->str, lines);
	g_free(p.level);
	graph_free(p.g);
}
