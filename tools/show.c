// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a view says of its fabric, by the names of its site.
 *
 * `path` follows the forwarding tables. Its SL, MTU, rate and P_Key are those of
 * the PathRecord that the manager's SA has for it: the P_Key that both ends
 * share, the SL of its partition, the least MTU and rate on the way, and on the
 * way back if there is one.
 *
 * Cost. Of a manager with 11,664 hosts the view without tables is 7 MB, so who
 * and ports ask for their node alone. Of the tables a path needs one LID of all
 * switches, and with --why the switches on the way.
 */
#include "tools/show.h"

#include <arpa/inet.h>
#include <string.h>

#include "sm/mad/sa_record.h"
#include "tools/dump.h"
#include "tools/trace.h"
#include "topology/each.h"
#include "topology/port_search.h"
#include "topology/text.h"

#define RATE_MIN	10000u	/* Mb/s: every port supports it */

/* A node that is missing and has this name, beside what was found; that may only
 * have the word in its name. */
static void
put_namesake(struct show *q, const char *word, bool json)
{
	g_autofree char *missing = tool_view_missing(q->v, word);
	bool is_shared = port_search_node(q->v->s, word) != SNAPSHOT_NONE;

	if (missing && g_str_has_prefix(missing, "link "))
		g_clear_pointer(&missing, g_free);	/* it is listed */
	report_say(&q->out, "%s", missing && is_shared ?
		   "another one of that name: " : "");
	if (!q->out.as_json || json)
		report_text(&q->out, "missing", missing, "\n");
}

/* The end of a list of names with a word in them. In text, if there are none: why;
 * kinds are words for lists that may be empty. The exit status. */
static int
show_end_found(struct show *q, const char *const *kinds)
{
	const char *word = q->words[1], *things = q->words[0];
	bool is_kind = word && g_strv_contains(kinds, word);
	bool has_any = q->out.as_json ? q->out.comma : q->out.out->len;
	g_autofree char *missing = NULL, *shown = NULL, *others = NULL;

	report_close(&q->out, ']');
	if (!word || is_kind) {
		if (!has_any)
			report_say(&q->out, "no %s%s%s\n", is_kind ? word : "",
				   is_kind ? " " : "", things);
	} else if (has_any && strcmp(things, "nodes") != 0) {
		put_namesake(q, word, true);
	} else if (!has_any) {		/* nodes that are missing are listed */
		missing = tool_view_missing(q->v, word);
		shown = text_one_line(word);
		others = g_strjoinv(", ", (char **)kinds);
		report_text(&q->out, "missing", missing, "\n");
		if (!missing)
			report_say(&q->out, "no name has %s in it; words other "
				   "than names: %s\n", shown, others);
	}
	report_end(&q->out);
	return missing != NULL;
}

/* SNAPSHOT_NONE: the answer is why not, and show_wrong() the exit status. */
static uint32_t
show_find(struct show *q, unsigned word, enum find_what what)
{
	g_autofree char *why = NULL;
	uint32_t port = tool_view_find(q->v, q->words[word], what, &q->missing,
				       &why);

	if (why)
		report_done(&q->out, false, why);
	return port;
}

static int
show_wrong(const struct show *q)
{
	return q->missing ? 1 : 2;
}

/* "full in Default, limited in Red" */
static char *
print_memberships(const struct tool_view *v, uint32_t port)
{
	GString *text = g_string_new(NULL);

	EACH_PTR(const struct partition, p, v->rules->partitions) {
		unsigned what = memberships_of(v->memberships, port, p->pkey);

		if (what)
			g_string_append_printf(text, "%s%s in %s (0x%04x)",
					       text->len ? ", " : "",
					       partition_membership_names[what],
					       p->name ? p->name : "a partition",
					       p->pkey);
	}
	if (!text->len)
		g_string_append(text, "in no partition");
	return g_string_free(text, FALSE);
}

/* ---- path ---- */

static void
put_path_end(struct text_report *r, const struct tool_view *v, const char *key,
	     uint32_t port, const char *after)
{
	g_autofree char *name = tool_view_port_name(v, port);

	report_open(r, key, '{');
	report_text(r, "name", name, " (LID ");
	report_number(r, "lid", v->lids->base[port], after);
	report_hex(r, "guid", v->s->ports[port].guid, 16, NULL);
	report_close(r, '}');
}

/* What the view of the whole fabric lacks: the tables of this node. */
static bool
get_node(struct show *q, const struct snapshot_node *n, GError **error)
{
	g_autofree char *line = g_strdup_printf("view node 0x%016"
		G_GINT64_MODIFIER "x\n", n->info.node_guid);

	return q->v->whole || !q->place ||
		tool_view_more(q->v, q->place, line, error);
}

/* The way, and its tables if the view lacks them. */
static bool
get_path(struct show *q, uint32_t from, uint32_t to, struct trace *t,
	 GError **error)
{
	struct tool_view *v = q->v;
	bool asks = !v->whole && q->place;
	const uint32_t ends[] = { from, to };

	for (unsigned i = 0; asks && i < G_N_ELEMENTS(ends); i++) {
		g_autofree char *line = g_strdup_printf("view lid %u\n",
						v->lids->base[ends[i]]);

		if (v->lids->base[ends[i]] != LID_NONE &&
		    !tool_view_more(v, q->place, line, error))
			return false;
	}
	trace_follow(v, from, to, t);
	for (unsigned i = 0; q->why && i < t->n; i++)
		if (!get_node(q, &v->s->nodes[t->hops[i].node], error))
			return false;
	if (q->why && v->lft)
		trace_explain(v, to, t);
	return true;
}

/* What the SA would answer. */
struct path {
	uint16_t pkey;		/* 0: they share none */
	unsigned sl, mtu, mbps;	/* mtu 0: there is no path */
};

static struct path
find_path(const struct tool_view *v, uint32_t from, uint32_t to,
	  const struct trace *t)
{
	struct path path = {
		.pkey = memberships_common(v->memberships, from, to),
		.mtu = t->mtu, .mbps = t->mbps,
	};
	const struct partition *p = partition_rules_find(v->rules,
						pkey_base(path.pkey));
	struct trace back;

	if (view_lines_first(v->lines, VIEW_MANAGER)->n[MANAGER_QOS] && p)
		path.sl = p->sl;
	trace_follow(v, to, from, &back);
	if (!back.fault && back.mtu) {
		path.mtu = MIN(path.mtu, back.mtu);
		path.mbps = MIN(path.mbps, back.mbps);
	}
	if (path.mbps == UINT32_MAX)
		path.mbps = port_mbps(&v->s->ports[from].info);
	if (!path.mbps)
		path.mbps = RATE_MIN;
	return path;
}

/* Why there is no path; g_free. */
static char *
explain_fault(const struct tool_view *v, uint32_t from, uint32_t to,
	      const struct trace *t, const struct path *path)
{
	g_autofree char *a = NULL, *b = NULL;

	if (t->fault)
		return g_strdup(t->fault);
	if (!path->pkey) {
		a = print_memberships(v, from);
		b = print_memberships(v, to);
		return g_strdup_printf("no partition lets them talk: %s; %s", a,
				       b);
	}
	if (!t->inactive)
		return g_strdup("the SA has no path for them");
	a = snapshot_place(v->s, v->s->ports[t->inactive - 1].node,
			   t->inactive - 1);
	return g_strdup_printf("%s is %s, not Active", a, port_state_name(
			v->s->ports[t->inactive - 1].info.state));
}

static int
show_path(struct show *q, GError **error)
{
	struct text_report *r = &q->out;
	const struct tool_view *v = q->v;
	uint32_t from = show_find(q, 1, FIND_END_PORT), to;
	g_autofree char *why = NULL;
	struct trace t;
	struct path path;
	bool ok;

	to = from == SNAPSHOT_NONE ? from : show_find(q, 2, FIND_END_PORT);
	if (to == SNAPSHOT_NONE)
		return show_wrong(q);
	if (!get_path(q, from, to, &t, error))
		return -1;
	path = find_path(v, from, to, &t);
	ok = !t.fault && path.pkey && path.mtu;
	report_open(r, NULL, '{');
	put_path_end(r, v, "from", from, ") -> ");
	put_path_end(r, v, "to", to, from == to ? "), the node itself" : ")");
	report_bool(r, "itself", from == to);
	if (ok) {
		report_say(r, ": %u switch%s, SL ", t.n,
			   text_plural_es(t.n));
		report_number(r, "sl", path.sl, ", MTU ");
		report_number(r, "mtu", port_mtu_bytes(MIN(path.mtu, 5)),
			      ", ");
		report_real(r, "gbps", (double)path.mbps / 1000, 0,
			    " Gb/s, P_Key ");
		report_hex(r, "pkey", path.pkey, 4, "");
		report_text(r, "fault", NULL, NULL);
	} else {
		why = explain_fault(v, from, to, &t, &path);
		report_say(r, ": NO PATH: ");
		report_text(r, "fault", why, "");
	}
	report_say(r, "\n");
	trace_report(&t, v, q->why, r);
	report_end(r);
	for (unsigned i = 1; i <= 2; i++)
		put_namesake(q, q->words[i], false);
	return !ok;
}

/* ---- who, nodes, links ---- */

static const char *
kind_name(const struct snapshot_node *n)
{
	return snapshot_is_switch(n) ? "switch" :
		n->info.node_type == NODE_ROUTER ? "router" : "host";
}

/* "leaf-2/1" behind the cable, or NULL. */
static char *
peer_name(const struct show *q, uint32_t port)
{
	const struct snapshot *s = q->v->s;
	uint32_t peer = s->ports[port].peer;
	g_autofree char *name = peer == SNAPSHOT_NONE ? NULL :
		snapshot_full_name(snapshot_node_of(s, peer), q->v->shared);

	return name ? g_strdup_printf("%s/%u", name, s->ports[peer].num) :
		NULL;
}

/* As peer_name(), or of a link that is missing; then *since is g_free. */
static char *
lost_peer_name(const struct show *q, uint32_t port, char **since)
{
	const struct expected_fault *f = g_hash_table_lookup(q->v->lost,
						GUINT_TO_POINTER(port + 1));
	char *peer = peer_name(q, port);

	if (peer || !f)
		return peer;
	*since = expected_since_text(f->since);
	if (f->near && f->port == q->v->s->ports[port].num &&
	    f->guid == snapshot_node_of(q->v->s, port)->info.node_guid)
		return g_strdup(expected_far_end(f));
	return f->near ? g_strndup(f->name, f->near) : g_strdup(f->name);
}

/* Of the port: without a cable the net file has no speed. */
static void
put_link(struct text_report *r, const struct tool_view *v, uint32_t port,
	 const char *after)
{
	const struct port_info *info = &v->s->ports[port].info;
	const char *said = g_hash_table_lookup(v->speeds,
					       GUINT_TO_POINTER(port + 1));
	g_autofree char *speed = said ? g_strdup(said) :
		g_strconcat(port_width(info)->name, port_speed(info)->name,
			    NULL);
	bool has_states = tool_view_has_states(v);

	report_text(r, "speed", info->state >= PORT_STATE_INIT ? speed : NULL,
		    has_states ? " " : after);
	report_text(r, "state", has_states ? port_state_name(info->state) :
		    NULL, after);
}

static int
show_who(struct show *q, GError **error)
{
	const struct tool_view *v = q->v;
	const struct snapshot *s = v->s;
	struct text_report *r = &q->out;
	uint32_t port = show_find(q, 1, FIND_NODE);
	g_autofree char *name = NULL, *partitions = NULL;
	const struct snapshot_node *n;

	if (port == SNAPSHOT_NONE)
		return show_wrong(q);
	n = snapshot_node_of(s, port);
	name = snapshot_port_name(s, port);
	partitions = print_memberships(v, port);
	report_open(r, NULL, '{');
	report_text(r, "name", name, ": ");
	report_text(r, "kind", kind_name(n), ", LID ");
	report_number(r, "lid", v->lids->base[port], "");
	if (v->lids->lmc[port])
		report_say(r, " to %u", v->lids->base[port] +
			   (1u << v->lids->lmc[port]) - 1);
	report_number(r, "lmc", v->lids->lmc[port], NULL);
	report_say(r, "\n  NodeGUID ");
	report_hex(r, "node_guid", n->info.node_guid, 16, ", PortGUID ");
	report_hex(r, "port_guid", s->ports[port].guid, 16, "\n  says it is ");
	report_text(r, "description", n->desc, "\n  ");
	report_text(r, "partitions", partitions, "\n");
	report_open(r, "links", '[');
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		g_autofree char *since = NULL;
		g_autofree char *peer = lost_peer_name(q, n->first_port + num,
						       &since);

		if (!peer)
			continue;
		report_open(r, NULL, '{');
		report_say(r, "  port ");
		report_number(r, "port", num, " - ");
		report_text(r, "peer", peer, since ? "  missing since " : "  ");
		if (since)
			report_text(r, "missing", since, "\n");
		else
			put_link(r, v, n->first_port + num, "\n");
		report_close(r, '}');
	}
	report_close(r, ']');
	put_namesake(q, q->words[1], true);
	report_end(r);
	return 0;
}

/* Links that are missing, or nodes: all, those of this kind, or with the word in
 * their names. */
static void
put_missing(struct show *q, bool links)
{
	const GPtrArray *faults = q->v->lines->expected->faults;
	const char *word = q->words[1];
	struct text_report *r = &q->out;

	EACH_PTR(const struct expected_fault, f, faults) {
		const char *kind = links ? "inactive" :
			expected_kind_names[f->kind];
		g_autofree char *since = expected_since_text(f->since);
		g_autofree char *near = g_strndup(f->name, f->near);

		if (!expected_is_missing(f->kind) ||
		    (f->kind == EXPECTED_LINK) != links ||
		    (links && !f->near) ||
		    (word && strcmp(kind, word) && !strstr(f->name, word)))
			continue;
		report_open(r, NULL, '{');
		if (links) {
			report_text(r, "a", near, " - ");
			report_text(r, "b", expected_far_end(f), "  ");
		} else {
			report_text(r, "kind", kind, f->kind == EXPECTED_HOST ?
				    "   -\t" : " -\t");
			report_hex(r, "guid", f->guid, 16, "  ");
			report_text(r, "name", f->name, "  ");
		}
		report_say(r, "missing since ");
		report_text(r, "missing", since, *f->text ? ", " : "");
		report_text(r, "text", f->text, "");
		report_say(r, "\n");
		report_close(r, '}');
	}
}

/* The port that it is cabled to; for a switch, how many of its links are Active, of
 * those that are missing as well, if their far end is not. */
static void
put_node_line(struct show *q, uint32_t i)
{
	const struct snapshot *s = q->v->s;
	struct text_report *r = &q->out;
	bool has_states = tool_view_has_states(q->v);
	const struct snapshot_node *n = &s->nodes[i];
	unsigned n_links = 0, n_active = 0, first = 0;
	bool is_switch = snapshot_is_switch(n);
	g_autofree char *at = NULL;

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;
		uint32_t peer = s->ports[port].peer;

		n_links += peer == SNAPSHOT_NONE ? g_hash_table_contains(
			q->v->lost, GUINT_TO_POINTER(port + 1)) : peer != port;
		if (peer == SNAPSHOT_NONE || peer == port)
			continue;
		n_active += MIN(s->ports[port].info.state,
				s->ports[peer].info.state) >=
			PORT_STATE_ACTIVE;
		first = first ? first : port;
	}
	if (first && !is_switch)
		at = peer_name(q, first);
	report_open(r, NULL, '{');
	report_text(r, "kind", kind_name(n), is_switch ? " " : "   ");
	report_number(r, "lid", q->v->lids->base[is_switch ?
		      n->first_port : first ? first :
		      n->first_port + 1], "\t");
	report_hex(r, "guid", n->info.node_guid, 16, "  ");
	report_text(r, "name", snapshot_node_name(n), "");
	if (at)
		report_say(r, "  at ");
	report_text(r, "at", at, "");
	if (is_switch && has_states)
		report_say(r, "  %u of", n_active);
	if (is_switch)
		report_say(r, " %s%u link%s%s", has_states ? "" : " ",
			   n_links, text_plural(n_links), has_states ?
			   " Active" : "");
	report_number(r, "links", n_links, NULL);
	if (has_states)
		report_number(r, "active", n_active, NULL);
	report_say(r, "\n");
	report_close(r, '}');
}

/* A line for each node. Those that are missing are last. */
static int
show_nodes(struct show *q, GError **error)
{
	static const char *const kinds[] = { "switch", "host", NULL };
	const char *word = q->words[1];
	const struct snapshot *s = q->v->s;

	report_open_list(&q->out, "nodes");
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (!word || strstr(snapshot_node_name(&s->nodes[i]), word) ||
		    strcmp(kind_name(&s->nodes[i]), word) == 0)
			put_node_line(q, i);
	put_missing(q, false);
	return show_end_found(q, kinds);
}

static int
show_links(struct show *q, GError **error)
{
	static const char *const kinds[] = {
		"slow", "inactive", "avoided", NULL,
	};
	const struct snapshot *s = q->v->s;
	const char *word = q->words[1];
	struct text_report *r = &q->out;
	bool has_states = tool_view_has_states(q->v);

	report_open_list(r, "links");
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		g_autofree char *a = NULL, *b = NULL;
		const char *could;

		if (p->peer == SNAPSHOT_NONE || port >= p->peer)
			continue;
		a = peer_name(q, p->peer);
		b = peer_name(q, port);
		could = g_hash_table_lookup(q->v->could_be,
					    GUINT_TO_POINTER(port + 1));
		if (word && !(could && strcmp(word, "slow") == 0) &&
		    !(p->avoided && strcmp(word, "avoided") == 0) &&
		    !(p->info.state < PORT_STATE_ACTIVE && has_states &&
		      strcmp(word, "inactive") == 0) &&
		    !strstr(a, word) && !strstr(b, word))
			continue;
		report_open(r, NULL, '{');
		report_text(r, "a", a, " - ");
		report_text(r, "b", b, "  ");
		put_link(r, q->v, port, could ? ", could be " : "");
		report_text(r, "could_be", could, "");
		report_say(r, "%s\n", p->avoided ? ", avoided" : "");
		report_bool(r, "avoided", p->avoided);
		report_close(r, '}');
	}
	put_missing(q, true);
	return show_end_found(q, kinds);
}

/* ---- ports ---- */

/* Ports without a cable as well; of a CA, those that discovery has read, or that
 * have lost their link. */
static int
show_ports(struct show *q, GError **error)
{
	const struct snapshot *s = q->v->s;
	struct text_report *r = &q->out;
	uint32_t port = show_find(q, 1, FIND_NODE), end;
	const struct snapshot_node *n;

	if (port == SNAPSHOT_NONE)
		return show_wrong(q);
	n = snapshot_node_of(s, port);
	report_open(r, NULL, '{');
	report_text(r, "name", snapshot_node_name(n), ": ");
	report_text(r, "kind", kind_name(n), "\n");
	report_open(r, "ports", '[');
	end = n->first_port + n->info.num_ports;
	for (port = n->first_port + !snapshot_is_switch(n); port <= end;
	     port++) {
		const struct snapshot_port *p = &s->ports[port];
		const struct port_info *info = &p->info;
		unsigned mtu = port_mtu_bytes(info->neighbor_mtu);
		g_autofree char *peer = NULL, *since = NULL;

		peer = lost_peer_name(q, port, &since);
		if (!p->known && !peer)
			continue;
		report_open(r, NULL, '{');
		report_say(r, "  port ");
		report_number(r, "port", p->num, p->known ? "  " : "");
		report_text(r, "physical", p->known ?
			    port_phys_name(info->phys_state) : NULL, "  ");
		if (p->known)
			put_link(r, q->v, port, "");
		if (snapshot_is_end_port(s, port)) {
			report_say(r, "  LID ");
			report_number(r, "lid", q->v->lids->base[port], "");
			report_hex(r, "guid", p->guid, 16, NULL);
		}
		if (p->num && info->state >= PORT_STATE_INIT)
			report_say(r, "  MTU %u, %u VL%s", mtu,
				   port_vls(info->oper_vls),
				   text_plural(port_vls(info->oper_vls)));
		report_number(r, "mtu", mtu, NULL);
		report_number(r, "vls", port_vls(info->oper_vls), NULL);
		if (peer)
			report_say(r, "  - ");
		else if (p->num && info->state >= PORT_STATE_INIT)
			report_say(r, "  - no node answers");
		report_text(r, "peer", peer, since ? ", missing since " : "");
		if (since)
			report_text(r, "missing", since, "");
		report_say(r, "\n");
		report_close(r, '}');
	}
	report_close_list(r, "ports");
	put_namesake(q, q->words[1], false);
	return 0;
}

/* ---- lft ---- */

/* Of each LID that a port has: where the switch sends it. */
static int
show_table(struct show *q, GError **error)
{
	const struct tool_view *v = q->v;
	struct text_report *r = &q->out;
	uint32_t port = show_find(q, 1, FIND_END_PORT);
	const struct snapshot_node *n;
	const uint8_t *row;

	if (port == SNAPSHOT_NONE)
		return show_wrong(q);
	n = snapshot_node_of(v->s, port);
	if (!snapshot_is_switch(n)) {
		report_done(r, false, "only a switch has forwarding tables");
		return 2;
	}
	if (!get_node(q, n, error))
		return -1;
	row = v->lft ? lft_row(v->lft, n->sw_index) : NULL;
	report_open(r, NULL, '{');
	report_text(r, "switch", snapshot_node_name(n), "\n");
	report_open(r, "entries", '[');
	for (unsigned lid = 1; row && lid <= v->lids->top; lid++) {
		uint32_t owner = lid_map_owner(v->lids, (uint16_t)lid);
		uint32_t out = snapshot_port_of(v->s, v->s->switches[n->sw_index],
						row[lid]);
		g_autofree char *to = NULL, *peer = NULL;

		if (owner == SNAPSHOT_NONE)
			continue;
		to = tool_view_port_name(v, owner);
		peer = out == SNAPSHOT_NONE ? NULL : peer_name(q, out);
		report_open(r, NULL, '{');
		report_say(r, "  LID ");
		report_number(r, "lid", lid, "  ");
		if (row[lid] == LFT_NO_PATH)
			report_say(r, "nowhere");
		else
			report_say(r, "port %u", row[lid]);
		report_number(r, "port", row[lid], NULL);
		if (peer)
			report_say(r, " - ");
		report_text(r, "peer", peer, "");
		report_say(r, "  to ");
		report_text(r, "to", to, "\n");
		report_close(r, '}');
	}
	report_close_list(r, "entries");
	put_namesake(q, q->words[1], false);
	return 0;
}

/* ---- groups ---- */

/* They are the master's. False: this manager has none, and says so. */
static bool
has_groups(struct show *q)
{
	const char *role = view_lines_first(q->v->lines, VIEW_ROLE)->text;
	bool observes = !g_strcmp0(role, "observing");

	if (observes)
		report_done(&q->out, false, "the groups are the master's: "
			    "this manager only observes");
	return !observes;
}

static int
show_groups(struct show *q, GError **error)
{
	const GPtrArray *list = q->v->groups;
	struct text_report *r = &q->out;

	if (!has_groups(q))
		return 1;
	report_open_list(r, "groups");
	EACH_PTR(const struct view_group, g, list) {
		double gbps = (double)sa_rate_mbps((unsigned)g->rate) / 1000;

		report_open(r, NULL, '{');
		report_gid(r, "mgid", g->mgid, "  MLID ");
		report_hex(r, "mlid", g->mlid, 4, "  P_Key ");
		report_hex(r, "pkey", g->pkey, 4, "  Q_Key ");
		report_hex(r, "q_key", g->q_key, 8, "  MTU ");
		report_number(r, "mtu", port_mtu_bytes((unsigned)g->mtu), "  ");
		report_real(r, "gbps", gbps, 1, " Gb/s  SL ");
		report_number(r, "sl", g->sl, "  ");
		report_count(r, "members", g->members->len, "member", "");
		report_bool(r, "permanent", g->permanent);
		report_say(r, "%s\n", g->permanent ?
			   ", of the configuration" : "");
		report_close(r, '}');
	}
	report_close_list(r, "groups");
	return 0;
}

static void
put_group_members(struct show *q, const struct view_group *g)
{
	static const char *const states[] = {
		"full", "non", "send-only-non", "send-only-full",
	};
	struct text_report *r = &q->out;

	EACH_ITEM(const struct view_member, m, g->members) {
		g_autoptr(GString) joined = g_string_new(NULL);
		uint32_t port = tool_view_port(q->v, m->guid);
		g_autofree char *name = port == SNAPSHOT_NONE ? NULL :
			tool_view_port_name(q->v, port);

		for (size_t k = 0; k < G_N_ELEMENTS(states); k++)
			if (m->joined & 1u << k)
				g_string_append_printf(joined, "%s%s",
						       joined->len ? "," : "",
						       states[k]);
		report_open(r, NULL, '{');
		report_gid(r, "mgid", g->mgid, "  MLID ");
		report_hex(r, "mlid", g->mlid, 4, "  ");
		report_text(r, "joined", joined->str, "  ");
		report_hex(r, "guid", m->guid, 16, "  ");
		if (r->as_json || name)
			report_text(r, "node", name, "\n");
		else
			report_say(r, "away\n");
		report_close(r, '}');
	}
}

/* Of the group with this MGID or MLID; NULL: of all. */
static bool
is_group(const struct view_group *g, const char *word)
{
	uint8_t mgid[16];
	uint64_t mlid;

	if (!word)
		return true;
	if (inet_pton(AF_INET6, word, mgid) == 1)
		return memcmp(mgid, g->mgid, sizeof(mgid)) == 0;
	return text_read_number(word, 0, UINT16_MAX, &mlid) && mlid == g->mlid;
}

static int
show_members(struct show *q, GError **error)
{
	const GPtrArray *groups = q->v->groups;
	const char *word = q->words[1];
	g_autofree char *shown = NULL, *wrong = NULL;
	guint first = 0;

	if (!has_groups(q))
		return 1;
	while (word && first < groups->len &&
	       !is_group(groups->pdata[first], word))
		first++;
	if (word && first == groups->len) {
		shown = text_one_line(word);
		wrong = g_strdup_printf("%s is the MGID or MLID of no group; "
					"groups lists them", shown);
		report_done(&q->out, false, wrong);
		return 2;
	}
	report_open_list(&q->out, "members");
	for (guint i = first; i < groups->len; i++)
		if (is_group(groups->pdata[i], word))
			put_group_members(q, groups->pdata[i]);
	report_close_list(&q->out, "members");
	return 0;
}

/* ---- subnet managers ---- */

static int
show_sms(struct show *q, GError **error)
{
	const struct view_lines *lines = q->v->lines;
	uint64_t own = view_lines_first(lines, VIEW_HEAD)->n[HEAD_PORT];
	struct text_report *r = &q->out;

	report_open_list(r, "sms");
	EACH_PTR(const struct view_text, sm, lines->of[VIEW_SM]) {
		bool is_own = sm->n[SM_GUID] == own;

		report_open(r, NULL, '{');
		report_text(r, "state", sm_state_name((unsigned)sm->n[SM_STATE]),
			    "  priority ");
		report_number(r, "priority", sm->n[SM_PRIORITY], "  ");
		report_hex(r, "guid", sm->n[SM_GUID], 16, "  ");
		report_text(r, "node", sm->text, "");
		report_bool(r, "own", is_own);
		report_say(r, "%s\n", is_own ? "  (this one)" : "");
		report_close(r, '}');
	}
	report_close_list(r, "subnet managers");
	return 0;
}

/* ---- dump ---- */

static int
show_dump(struct show *q, GError **error)
{
	struct tool_view *v = q->v;

	if (!v->lft)	/* there is no switch */
		v->lft = lft_new(v->s->n_switches, v->lids->top);
	if (!dump_all(q->words[1], v->s, v->lids, v->lft, error))
		return -1;
	report_say(&q->out, "%s has OpenSM's dump files and minism.net\n",
		   q->words[1]);
	return 0;
}

/* ---- all ---- */

#define FABRIC	"view\n"
#define STATUS	"view status\n"
#define TABLES	"view tables\n"

static const struct show_command show_commands[] = {
	{ "avoid", show_avoid, STATUS, .needs = VIEW_MANAGER },
	{ "doctor", show_doctor, FABRIC, .needs = 0 },
	{ "dump", show_dump, TABLES, .needs = VIEW_LFT, .is_plain = true },
	{ "groups", show_groups, FABRIC, .needs = 0 },
	{ "lft", show_table, FABRIC, .needs = VIEW_LFT },
	{ "links", show_links, FABRIC, .needs = 0 },
	{ "members", show_members, FABRIC, .needs = 0 },
	{ "metrics", show_metrics, STATUS, .needs = VIEW_COUNT },
	{ "nodes", show_nodes, FABRIC, .needs = 0 },
	{ "partitions", show_partitions, FABRIC, .needs = 0 },
	{ "path", show_path, FABRIC, .needs = VIEW_LFT },
	{ "ports", show_ports, NULL, .needs = 0 },
	{ "report", show_report, TABLES, .is_plain = true },
	/* other managers are asked also by a standby */
	{ "sms", show_sms, STATUS, .needs = VIEW_MANAGER, .is_dated = true },
	{ "status", show_status, STATUS, .needs = VIEW_MANAGER,
	  .is_dated = true },
	{ "whatif", show_whatif, TABLES, .needs = 0 },
	{ "who", show_who, NULL, .needs = 0 },
};

const struct show_command *
show_find_command(char *const *words)
{
	for (size_t i = 0; i < G_N_ELEMENTS(show_commands); i++)
		if (!strcmp(show_commands[i].name, words[0]) &&
		    (show_commands[i].run != show_avoid || !words[1]))
			return &show_commands[i];
	return NULL;
}

char *
show_request(char *const *words)
{
	const char *request = show_find_command(words)->request;
	g_autofree char *word = request ? NULL : g_shell_quote(words[1]);

	if (request)
		return g_strdup(request);
	g_strdelimit(word, "\n", '?');
	return g_strdup_printf("view node %s\n", word);
}

/* What the view of a file lacks for the command, and what writes it; or NULL. */
static const char *
find_lack(const struct show *q, enum view_kind needs)
{
	const struct tool_view *v = q->v;

	if (needs == VIEW_COUNT || needs == VIEW_MANAGER)
		return v->lines->of[needs]->len ? NULL : needs == VIEW_COUNT ?
			"counters of a manager; minismctl view status" :
			"state of a manager; minismctl view";
	return needs && !v->lft && !q->place && v->s->n_switches ?
		"forwarding tables; minismctl view tables" : NULL;
}

int
show_run(struct show *q, GError **error)
{
	const struct show_command *c = show_find_command(q->words);
	const char *lack = find_lack(q, c->needs);

	if (!lack)
		return c->run(q, error);
	text_refuse(error, "%s: it has no %s writes one that has", q->v->name,
		    lack);
	return -1;
}
