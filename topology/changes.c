// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes: what an update of the expected fabric finds another than the update
 * before it did, as lines of a log.
 */
#include "topology/expected_graph.h"

#include <string.h>

#include "topology/each.h"
#include "topology/expected.h"
#include "topology/text.h"

#define CABLES_NAMED	8u
#define CHANGES_MAX	8u	/* of each kind, a line each */

void
change_free(gpointer data)
{
	struct change *c = data;

	g_free(c->name);
	g_free(c->text);
	g_free(c);
}

static void G_GNUC_PRINTF(5, 6)
add(struct expected *e, enum change_kind kind, uint64_t guid, char *name,
    const char *format, ...)
{
	g_autofree char *rest = NULL;
	va_list args;

	va_start(args, format);
	rest = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(e->changes, g_memdup2(&(struct change){
		kind, guid, name, g_strconcat(name, " ", rest, NULL) },
		sizeof(struct change)));
}

/* ---- nodes ---- */

/* "left: 4 cables to switches down, leaf-1/6 leaf-2/6; 2 hosts with it": of the
 * ends that were read, what most of them have. A switch alone had none. */
static void
switch_left(struct expected *e, const struct expected_node *n)
{
	static const char *const texts[END_GROUPS] = {
		[ENDS_DOWN] = "down",
		[ENDS_SILENT] = ("with a link and no answer (hung, or "
			"protected by a foreign M_Key)"),
		[ENDS_OTHER] = "replaced by those of other nodes",
		[ENDS_UNREAD] = "out of reach",
	};
	const struct expected_link *links[UINT8_MAX + 1] = { NULL };
	unsigned is[UINT8_MAX + 1], most = ENDS_UNREAD;
	unsigned ends[END_GROUPS] = { 0 }, n_hosts = 0, n_named = 0;
	g_autoptr(GString) cables = g_string_new(NULL);

	EACH_ITEM(const struct expected_link, l, e->links) {
		for (unsigned end = 0; end < 2; end++)
			if (l->was_up && l->node[end] == n)
				links[l->port[end]] = l;
	}
	for (unsigned num = 1; num <= UINT8_MAX; num++) {
		const struct expected_link *l = links[num];
		unsigned far = l && l->node[0] == n;

		is[num] = END_GROUPS;
		if (l && expected_is_switch(l->node[far]))
			ends[is[num] = end_words[l->end[far]].group]++;
		else if (l)
			n_hosts += l->node[far]->kind == EXPECTED_HOST &&
				l->node[far]->at == SNAPSHOT_NONE;
	}
	for (unsigned kind = ENDS_UNREAD; kind-- > ENDS_DOWN;)
		if (ends[kind] && (most == ENDS_UNREAD ||
				   ends[kind] >= ends[most]))
			most = kind;
	if (ends[most])
		g_string_printf(cables, ": %u cable%s to switches %s,",
				ends[most], text_plural(ends[most]),
				texts[most]);
	for (unsigned num = 1; num <= UINT8_MAX; num++) {
		g_autofree char *at = NULL;

		if (is[num] != most || n_named++ >= CABLES_NAMED)
			continue;
		at = expected_end_name(links[num], links[num]->node[0] == n);
		g_string_append_printf(cables, " %s", at);
	}
	if (n_named > CABLES_NAMED)
		g_string_append(cables, " ...");
	g_string_append_printf(cables, n_hosts ? "; %u host%s with it" :
			       "; no host with it", n_hosts,
			       text_plural(n_hosts));
	add(e, ends[ENDS_UNREAD] && most == ENDS_UNREAD ? CHANGE_SWITCH_CUT_OFF :
	    CHANGE_SWITCH_LEFT, n->guid, expected_full_name(n), "left%s",
	    cables->str);
}

/* A host that left with its switch is reported with that. */
static void
host_left(struct expected *e, const struct expected_node *n)
{
	const struct expected_link *l = n->first;
	unsigned far = l && l->node[0] == n;
	const struct end_words *w = l ? &end_words[l->end[far]] : NULL;
	g_autofree char *where = NULL, *lid = NULL;

	if (!l || !l->was_up) {
		add(e, CHANGE_HOST_LEFT, n->guid, expected_full_name(n),
		    "left");
		return;
	}
	if (l->node[far]->at == SNAPSHOT_NONE)
		return;
	where = expected_end_name(l, far);
	lid = n->lid ? g_strdup_printf(" (LID %u)", n->lid) : NULL;
	add(e, CHANGE_HOST_LEFT, n->guid, expected_full_name(n),
	    "left%s: %s%s%s", lid ?: "", w->before, where, w->after);
}

/* The first port of a node with a cable, rather one to a switch; or
 * SNAPSHOT_NONE. */
static uint32_t
cabled_port(const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];
	uint32_t first = SNAPSHOT_NONE;

	for (unsigned num = n->info.num_ports; num >= 1; num--) {
		uint32_t port = n->first_port + num, peer = s->ports[port].peer;

		if (peer != SNAPSHOT_NONE && (first == SNAPSHOT_NONE ||
		    snapshot_is_switch(snapshot_node_of(s, peer)) ||
		    !snapshot_is_switch(snapshot_node_of(s, s->ports[first].
							 peer))))
			first = port;
	}
	return first;
}

/* Of the other end of the cable at this port. */
static char *
cable_end_name(const struct expected *e, const struct snapshot *s,
	       uint32_t port)
{
	uint32_t peer = port == SNAPSHOT_NONE ? port : s->ports[port].peer;

	return peer == SNAPSHOT_NONE ? g_strdup("no cable") :
		expected_port_name(e->here[s->ports[peer].node],
				   s->ports[peer].num);
}

/* One that is new: also the node that was at one of its cables. */
static void
node_came(struct expected *e, const struct expected_node *n,
	  const struct snapshot *s, int64_t away)
{
	g_autofree char *where = cable_end_name(e, s, cabled_port(s, n->at));
	const struct expected_link *l = n->first;
	g_autofree char *from = l ? expected_end_name(l, l->node[0] == n) :
		NULL;
	bool is_switch = expected_is_switch(n);
	enum change_kind kind = is_switch ? CHANGE_SWITCH_CAME :
		CHANGE_HOST_CAME;
	char *name = expected_full_name(n);

	away /= G_USEC_PER_SEC;
	if (n->is_new && n->before)
		add(e, kind, n->guid, name, "is new, at %s, in place of %s ("
		    GUID_FORMAT ")", where, n->before->name, n->before->guid);
	else if (n->is_new)
		add(e, kind, n->guid, name, "is new, at %s", where);
	else if (is_switch || !from || strcmp(from, where) == 0)
		add(e, kind, n->guid, name, "is back after %" G_GINT64_FORMAT
		    " s, at %s", away, where);
	else
		add(e, CHANGE_MOVED, n->guid, name, "moved from %s to %s, "
		    "after %" G_GINT64_FORMAT " s", from, where, away);
}

/* A CA that is there as before: it may have fewer ports. */
static void
host_moved(struct expected *e, const struct expected_node *n,
	   const struct snapshot *s)
{
	const struct expected_link *l = n->first;
	unsigned far = l && l->node[0] == n;
	uint32_t port = l && l->was_up && !expected_is_up(l) ?
		snapshot_port_of(s, n->at, l->port[!far]) : SNAPSHOT_NONE;
	g_autofree char *from = NULL, *to = NULL;

	if (port == SNAPSHOT_NONE || s->ports[port].peer == SNAPSHOT_NONE)
		return;
	from = expected_end_name(l, far);
	to = cable_end_name(e, s, port);
	add(e, CHANGE_MOVED, n->guid, expected_full_name(n),
	    "moved from %s to %s", from, to);
}

void
changes_of_node(struct expected *e, struct expected_node *n,
		const struct snapshot *s, const struct lid_map *lids,
		int64_t away)
{
	bool is_switch = expected_is_switch(n);
	uint32_t port;

	if (n->at == SNAPSHOT_NONE) {
		if (n->was != SNAPSHOT_NONE)
			(is_switch ? switch_left : host_left)(e, n);
		return;
	}
	if ((n->is_new || n->since) && !e->is_first)
		node_came(e, n, s, away);
	else if (n->was != SNAPSHOT_NONE && !is_switch)
		host_moved(e, n, s);
	port = is_switch || !lids ? SNAPSHOT_NONE : cabled_port(s, n->at);
	n->lid = port == SNAPSHOT_NONE ? 0 : lids->base[port];
}

void
changes_of_name(struct expected *e, const struct expected_node *n,
		const char *name)
{
	if (n->was != SNAPSHOT_NONE)
		add(e, CHANGE_RENAMED, n->guid, expected_full_name(n),
		    "is now called %s", name);
}

/* ---- links ---- */

static char *
link_name(const struct expected_link *l)
{
	g_autofree char *a = expected_end_name(l, 0);
	g_autofree char *b = expected_end_name(l, 1);

	return g_strconcat("link ", a, " - ", b, NULL);
}

char *
changes_of_cable(struct expected *e, const struct expected_link *l,
		 const struct snapshot *s, bool is_told)
{
	GString *text = g_string_new("is gone:");
	char *name = link_name(l), *whole;

	for (unsigned end = 0; end < 2; end++) {
		g_autofree char *at = expected_end_name(l, end), *far = NULL;
		const struct end_words *w = &end_words[l->end[end]];

		if (l->end[end] == END_OTHER)
			far = cable_end_name(e, s, snapshot_port_of(s,
					l->node[end]->at, l->port[end]));
		g_string_append_printf(text, "%s %s%s%s", end ? "," : "",
				       far ? at : w->before,
				       far ? " leads to " : at,
				       far ?: w->after);
	}
	whole = g_strconcat(name, " ", text->str, NULL);
	if (is_told)
		add(e, CHANGE_RECABLED, l->node[0]->guid,
		    g_steal_pointer(&name), "%s", text->str);
	g_string_free(text, TRUE);
	g_free(name);
	return whole;
}

void
changes_of_link(struct expected *e, struct expected_link *l,
		const struct snapshot *s)
{
	bool is_up = expected_is_up(l), is_slow, joins = true, answer = true;
	uint32_t port = snapshot_port_of(s, l->node[0]->at, l->port[0]);
	const struct port_info *info;
	struct port_info best;

	for (unsigned end = 0; end < 2; end++) {
		joins &= expected_is_switch(l->node[end]) &&
			l->node[end]->was != SNAPSHOT_NONE &&
			l->end[end] != END_AWAY && l->end[end] != END_OTHER;
		answer &= l->end[end] != END_UNREAD &&
			l->end[end] != END_SILENT;
	}
	if (joins && is_up != l->was_up)
		add(e, is_up ? CHANGE_LINK_UP : CHANGE_LINK_DOWN,
		    l->node[0]->guid, link_name(l), "%s", is_up ? "is up" :
		    answer ? "is down" :
		    "is not known: no answer from one end");
	is_slow = is_up && link_is_slow(s, port, &best);
	info = is_up ? &s->ports[port].info : NULL;
	if (is_slow && !l->is_below)
		add(e, CHANGE_SLOW, l->node[0]->guid, link_name(l),
		    "trained at %s%s of %s%s", port_width(info)->name,
		    port_speed(info)->name, port_width(&best)->name,
		    port_speed(&best)->name);
	else if (is_up && l->is_below && !is_slow &&
		 info->state >= PORT_STATE_INIT)
		add(e, CHANGE_FULL_SPEED, l->node[0]->guid, link_name(l),
		    "has its full speed again: %s%s", port_width(info)->name,
		    port_speed(info)->name);
	l->is_below = is_slow;
}

/* ---- all ---- */

static gint
compare_kinds(gconstpointer a, gconstpointer b)
{
	const struct change *x = *(struct change *const *)a;
	const struct change *y = *(struct change *const *)b;

	return uint_compare(x->kind, y->kind) ?:
		uint_compare(x->guid, y->guid);
}

void
changes_group(GPtrArray *changes)
{
	static const char *const texts[] = {
		[CHANGE_SWITCH_LEFT] = "switches left",
		[CHANGE_SWITCH_CUT_OFF] = "switches are out of reach",
		[CHANGE_HOST_LEFT] = "hosts left",
		[CHANGE_LINK_DOWN] = "links between switches are lost",
		[CHANGE_RECABLED] = "links have other cables in their places",
		[CHANGE_MOVED] = "hosts moved",
		[CHANGE_RENAMED] = "nodes have a new name",
		[CHANGE_SLOW] = "links trained below what both ends support",
		[CHANGE_SWITCH_CAME] = "switches came",
		[CHANGE_HOST_CAME] = "hosts came",
		[CHANGE_LINK_UP] = "links between switches are up",
		[CHANGE_FULL_SPEED] = "links have their full speed again",
	};

	g_ptr_array_sort(changes, compare_kinds);	/* stable */
	for (guint i = 0, n; i < changes->len; i++) {
		const struct change *c = changes->pdata[i];
		enum change_kind kind = c->kind;
		GString *line;

		for (n = 1; i + n < changes->len; n++) {
			c = changes->pdata[i + n];
			if (c->kind != kind)
				break;
		}
		if (n <= CHANGES_MAX) {
			i += n - 1;
			continue;
		}
		line = g_string_new(NULL);
		g_string_printf(line, "%u %s:", n, texts[kind]);
		for (guint k = 0; k < CHANGES_MAX; k++) {
			c = changes->pdata[i + k];
			g_string_append_printf(line, "%s %s", k ? "," : "",
					       c->name);
		}
		g_string_append_printf(line, " and %u more", n - CHANGES_MAX);
		g_ptr_array_remove_range(changes, i, n);
		g_ptr_array_insert(changes, (gint)i, g_memdup2(&(struct change){
			.kind = kind, .text = g_string_free(line, FALSE) },
			sizeof(struct change)));
	}
}
