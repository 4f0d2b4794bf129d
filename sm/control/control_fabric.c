// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `path`, `who`, `nodes`, `links`, `ports` and `errors`: the fabric of the last
 * sweep, by the names of its site. `avoid` and `use`: links between switches
 * that routing leaves out.
 *
 * `path` follows the forwarding tables, and queries the SA for the PathRecord
 * that a program would get: SL, MTU, rate, P_Key. If the SA has no path, the
 * answer says so.
 */
#include "sm/control/request.h"

#include <string.h>

#include "routing/graph.h"
#include "sm/mad/sa_record.h"
#include "topology/changes.h"
#include "topology/text.h"

#define HOPS_MAX	64u

/* ---- a path through the tables ---- */

struct hop {
	uint32_t node;
	uint8_t in, out;
	uint8_t n_shortest;		/* ports that begin a shortest path */
	uint8_t shortest[GRAPH_PORTS];
	uint16_t n_lids;		/* that leave by the same port */
};

struct route {
	struct hop hops[HOPS_MAX];
	unsigned n;
	const char *fault;	/* NULL: it arrives */
};

/* The node at the other end of the cable; SNAPSHOT_NONE: no cable. */
static uint32_t
peer_node(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return peer == SNAPSHOT_NONE ? peer : s->ports[peer].node;
}

/* Hops from each node to the switch of `to`; UINT32_MAX: none. */
static uint32_t *
find_distances(const struct snapshot *s, uint32_t to)
{
	uint32_t *dist = g_new(uint32_t, s->n_nodes + 1), head = 0, tail = 0;
	g_autofree uint32_t *queue = g_new(uint32_t, s->n_nodes + 1);
	uint32_t start = s->ports[to].node;

	memset(dist, 0xff, (s->n_nodes + 1) * sizeof(*dist));
	if (!snapshot_is_switch(&s->nodes[start]) &&
	    s->ports[to].peer != SNAPSHOT_NONE)
		start = peer_node(s, to);
	dist[start] = 0;
	for (queue[tail++] = start; head < tail; head++) {
		const struct snapshot_node *n = &s->nodes[queue[head]];

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t node = peer_node(s, n->first_port + num);

			if (node == SNAPSHOT_NONE || dist[node] != UINT32_MAX ||
			    !snapshot_is_switch(&s->nodes[node]))
				continue;
			dist[node] = dist[queue[head]] + 1;
			queue[tail++] = node;
		}
	}
	return dist;
}

static void
explain_hop(const struct sa_db *db, const uint32_t *dist, uint16_t lid,
	    struct hop *h)
{
	const struct snapshot *s = db->subnet;
	const struct snapshot_node *n = &s->nodes[h->node];
	const uint8_t *row = lft_row(db->lft, n->sw_index);

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t node = peer_node(s, n->first_port + num);

		if (node == SNAPSHOT_NONE)
			continue;
		if (dist[h->node] ? snapshot_is_switch(&s->nodes[node]) &&
		    dist[node] + 1 == dist[h->node] : num == row[lid])
			h->shortest[h->n_shortest++] = (uint8_t)num;
	}
	for (unsigned i = LID_UNICAST_MIN; i <= db->lids->top; i++)
		h->n_lids += db->lids->owner[i] != SNAPSHOT_NONE &&
			row[i] == h->out;
}

static void
follow(const struct sa_db *db, uint32_t from, uint32_t to, struct route *r)
{
	const struct snapshot *s = db->subnet;
	g_autofree uint32_t *dist = find_distances(s, to);
	uint16_t lid = db->lids->base[to];
	uint32_t at = from;

	*r = (struct route){ 0 };
	if (!snapshot_is_switch(snapshot_node_of(s, from)))
		at = s->ports[from].peer;
	while (at != to) {
		struct hop *h = &r->hops[r->n];
		const struct snapshot_node *n = at == SNAPSHOT_NONE ? NULL :
			snapshot_node_of(s, at);

		if (!n || !lid || !snapshot_is_switch(n)) {
			r->fault = lid ? "the tables lead elsewhere" :
				"it has no LID";
			return;
		}
		if (r->n == HOPS_MAX) {
			r->fault = "the tables lead round";
			return;
		}
		h->node = s->ports[at].node;
		h->in = s->ports[at].num;
		h->out = lid <= db->lft->top ?
			lft_row(db->lft, n->sw_index)[lid] : LFT_NO_PATH;
		r->n++;
		if (h->out > n->info.num_ports) {
			r->fault = "that switch has no entry for its LID";
			return;
		}
		explain_hop(db, dist, lid, h);
		if (!h->out) {
			at = n->first_port;
			if (at != to)
				r->fault = "the tables lead elsewhere";
			return;
		}
		at = s->ports[n->first_port + h->out].peer;
	}
}

/* ---- the PathRecord ---- */

/* The PathRecord that `from` gets; else the status, SA_STATUS_NO_RECORDS. */
static unsigned
ask_path(struct sa *sa, const struct sa_db *db, uint32_t from, uint32_t to,
	 int64_t now, struct path_record *path)
{
	struct path_record wish = { .numb_path = 1 };
	struct sa_request request = { .len = MAD_SIZE, .now = now,
				      .slid = db->lids->base[from] };
	struct sa_reply reply = { 0 };
	uint8_t mad[MAD_SIZE];
	struct sa_header h;

	sa_build(mad, MAD_METHOD_GET, SA_ATTR_PATH);
	sa_db_make_gid(db, from, wish.sgid);
	sa_db_make_gid(db, to, wish.dgid);
	path_record_encode(mad + SA_DATA_OFFSET, &wish);
	sa_set_comp_mask(mad, SA_BIT(PATH_SGID) | SA_BIT(PATH_DGID) |
			 SA_BIT(PATH_NUMB_PATH));
	request.mad = mad;
	sa_answer(sa, &request, &reply);
	while (reply.kind == SA_REPLY_LATER)
		sa_resume(&reply);
	if (reply.records)
		sa_records_free(reply.records);
	if (reply.kind != SA_REPLY_ONE ||
	    !sa_header_read(reply.mad, MAD_SIZE, &h))
		return SA_STATUS_NO_RECORDS;
	path_record_decode(reply.mad + SA_DATA_OFFSET, path);
	return h.mad.status;
}

/* "full in Default, limited in Red" */
static char *
print_memberships(const struct sa_db *db, uint32_t port)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < db->rules->partitions->len; i++) {
		const struct partition *p = db->rules->partitions->pdata[i];
		unsigned what = memberships_of(db->memberships, port, p->pkey);

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
put_end(struct text_report *r, const struct sa_db *db, const char *key,
	uint32_t port, const char *after)
{
	g_autofree char *name = snapshot_port_name(db->subnet, port);

	report_open(r, key, '{');
	report_text(r, "name", name, " (LID ");
	report_number(r, "lid", db->lids->base[port], after);
	report_hex(r, "guid", db->subnet->ports[port].guid, 16, NULL);
	report_close(r, '}');
}

/* why: the ports on shortest paths, and the LIDs that the port carries. */
static void
put_hops(struct text_report *r, const struct sa_db *db,
	 const struct route *route, bool why)
{
	report_open(r, "hops", '[');
	for (unsigned i = 0; i < route->n; i++) {
		const struct hop *h = &route->hops[i];
		const struct snapshot_node *n = &db->subnet->nodes[h->node];
		bool is_shortest = memchr(h->shortest, h->out, h->n_shortest);

		report_open(r, NULL, '{');
		report_say(r, "%2u  ", i + 1);
		report_text(r, "switch", snapshot_node_name(n), "  in ");
		report_hex(r, "guid", n->info.node_guid, 16, NULL);
		report_number(r, "in", h->in, "  out ");
		if (h->out == LFT_NO_PATH)
			report_say(r, "nowhere");
		else
			report_number(r, "out", h->out, "");
		if (why && h->out) {
			if (is_shortest && h->n_shortest > 1)
				report_say(r, "     one of %u shortest: "
					   "ports", h->n_shortest);
			else
				report_say(r, "     %s", is_shortest ?
					   "the only shortest: port" :
					   "a detour; shortest: ports");
			for (unsigned k = 0; k < h->n_shortest; k++)
				report_say(r, " %u", h->shortest[k]);
			report_say(r, "; port %u carries %u LID%s", h->out,
				   h->n_lids, text_plural(h->n_lids));
		}
		if (why) {
			report_open(r, "shortest", '[');
			for (unsigned k = 0; k < h->n_shortest; k++)
				report_number(r, NULL, h->shortest[k], NULL);
			report_close(r, ']');
			report_number(r, "lids", h->n_lids, NULL);
		}
		report_say(r, "\n");
		report_close(r, '}');
	}
	report_close(r, ']');
}

void
control_path(struct control_request *q)
{
	struct text_report *r = &q->out;
	const struct sa_db *db = q->db;
	struct path_record path = { 0 };
	struct route route;
	uint32_t from = request_find(q, 1), to;
	g_autofree char *a = NULL, *b = NULL, *why = NULL;
	bool ok;

	to = from == SNAPSHOT_NONE ? from : request_find(q, 2);
	if (to == SNAPSHOT_NONE)
		return;
	follow(db, from, to, &route);
	ok = !route.fault && ask_path(q->v.sa, db, from, to, q->v.now,
				      &path) == MAD_STATUS_OK;
	report_open(r, NULL, '{');
	put_end(r, db, "from", from, ") -> ");
	put_end(r, db, "to", to, ")");
	if (ok) {
		report_say(r, ": %u switches, SL ", route.n);
		report_number(r, "sl", path.sl, ", MTU ");
		report_number(r, "mtu", port_mtu_bytes(MIN(path.mtu, 5)),
			      ", ");
		report_real(r, "gbps", (double)sa_rate_mbps(path.rate) / 1000,
			    0, " Gb/s, P_Key ");
		report_hex(r, "pkey", path.pkey, 4, "");
		report_text(r, "fault", NULL, NULL);
	} else {
		a = print_memberships(db, from);
		b = print_memberships(db, to);
		why = route.fault ? g_strdup(route.fault) :
			memberships_common(db->memberships, from, to) ?
			g_strdup("the SA has no path for them") :
			g_strdup_printf("no partition lets them talk: %s; %s",
					a, b);
		report_say(r, ": NO PATH: ");
		report_text(r, "fault", why, "");
	}
	report_say(r, "\n");
	put_hops(r, db, &route, q->options & 1 << COMMAND_WHY);
	request_close(q);
	q->code = ok ? CONTROL_DONE : CONTROL_NOT_DONE;
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
peer_name(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	if (peer == SNAPSHOT_NONE)
		return NULL;
	return g_strdup_printf("%s/%u", snapshot_name_of(s, peer),
			       s->ports[peer].num);
}

static void
put_link(struct text_report *r, const struct port_info *info, const char *after)
{
	g_autofree char *speed = g_strconcat(port_width(info)->name,
					     port_speed(info)->name, NULL);

	report_text(r, "speed", info->state >= PORT_STATE_INIT ? speed : NULL,
		    " ");
	report_text(r, "state", port_state_name(info->state), after);
}

void
control_who(struct control_request *q)
{
	const struct sa_db *db = q->db;
	const struct snapshot *s = db->subnet;
	struct text_report *r = &q->out;
	uint32_t port = request_find(q, 1);
	g_autofree char *name = NULL, *partitions = NULL;
	const struct snapshot_node *n;

	if (port == SNAPSHOT_NONE)
		return;
	n = snapshot_node_of(s, port);
	name = snapshot_port_name(s, port);
	partitions = print_memberships(db, port);
	report_open(r, NULL, '{');
	report_text(r, "name", name, ": ");
	report_text(r, "kind", kind_name(n), ", LID ");
	report_number(r, "lid", db->lids->base[port], "");
	if (db->lids->lmc[port])
		report_say(r, " to %u", db->lids->base[port] +
			   (1u << db->lids->lmc[port]) - 1);
	report_number(r, "lmc", db->lids->lmc[port], NULL);
	report_say(r, "\n  NodeGUID ");
	report_hex(r, "node_guid", n->info.node_guid, 16, ", PortGUID ");
	report_hex(r, "port_guid", s->ports[port].guid, 16, "\n  says it is ");
	report_text(r, "description", n->desc, "\n  ");
	report_text(r, "partitions", partitions, "\n");
	report_open(r, "links", '[');
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		g_autofree char *peer = peer_name(s, n->first_port + num);

		if (!peer)
			continue;
		report_open(r, NULL, '{');
		report_say(r, "  port ");
		report_number(r, "port", num, " - ");
		report_text(r, "peer", peer, "  ");
		put_link(r, &s->ports[n->first_port + num].info, "\n");
		report_close(r, '}');
	}
	request_close_list(q);
}

/* A line for each node: the port that it is cabled to; for a switch, how many
 * of its links are Active. */
void
control_nodes(struct control_request *q)
{
	const char *word = q->words[1];
	const struct snapshot *s = q->db->subnet;
	struct text_report *r = &q->out;

	request_open_list(q, "nodes");
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *n = &s->nodes[i];
		unsigned n_links = 0, n_active = 0, first = 0;
		bool is_switch = snapshot_is_switch(n);
		g_autofree char *at = NULL;

		if (word && !strstr(snapshot_node_name(n), word) &&
		    strcmp(kind_name(n), word))
			continue;
		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t port = n->first_port + num;

			if (s->ports[port].peer == SNAPSHOT_NONE)
				continue;
			n_active += s->ports[port].info.state >=
				PORT_STATE_ACTIVE;
			if (!n_links++)
				first = port;
		}
		if (n_links && !is_switch)
			at = peer_name(s, first);
		report_open(r, NULL, '{');
		report_text(r, "kind", kind_name(n), is_switch ? " " : "   ");
		report_number(r, "lid", q->db->lids->base[is_switch ?
			      n->first_port : first ? first :
			      n->first_port + 1], "\t");
		report_hex(r, "guid", n->info.node_guid, 16, "  ");
		report_text(r, "name", snapshot_node_name(n), "");
		if (at)
			report_say(r, "  at ");
		report_text(r, "at", at, "");
		if (is_switch)
			report_say(r, "  %u of %u links Active", n_active,
				   n_links);
		report_number(r, "links", n_links, NULL);
		report_number(r, "active", n_active, NULL);
		report_say(r, "\n");
		report_close(r, '}');
	}
	request_close_list(q);
}

void
control_links(struct control_request *q)
{
	const struct snapshot *s = q->db->subnet;
	const char *word = q->words[1];
	struct text_report *r = &q->out;

	request_open_list(q, "links");
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		g_autofree char *a = NULL, *b = NULL, *could = NULL;
		struct port_info best;
		bool slow;

		if (p->peer == SNAPSHOT_NONE || port >= p->peer)
			continue;
		a = peer_name(s, p->peer);
		b = peer_name(s, port);
		slow = link_is_slow(s, port, &best);
		if (word && !(slow && strcmp(word, "slow") == 0) &&
		    !(p->avoided && strcmp(word, "avoided") == 0) &&
		    !(p->info.state < PORT_STATE_ACTIVE &&
		      strcmp(word, "inactive") == 0) &&
		    !strstr(a, word) && !strstr(b, word))
			continue;
		if (slow)
			could = g_strconcat(port_width(&best)->name,
					    port_speed(&best)->name, NULL);
		report_open(r, NULL, '{');
		report_text(r, "a", a, " - ");
		report_text(r, "b", b, "  ");
		put_link(r, &p->info, could ? ", could be " : "");
		report_text(r, "could_be", could, "");
		report_say(r, "%s\n", p->avoided ? ", avoided" : "");
		report_bool(r, "avoided", p->avoided);
		report_close(r, '}');
	}
	request_close_list(q);
}

/* ---- ports ---- */

/* IBA 14.2.5.6: 1 to 5 are 1, 2, 4, 8, 15. */
static unsigned
vls_of(unsigned code)
{
	return !code || code > 5 ? 0 : MIN(1u << (code - 1), 15);
}

/* Ports without a cable as well; of a CA, those that discovery has read. */
void
control_ports(struct control_request *q)
{
	const struct snapshot *s = q->db->subnet;
	struct text_report *r = &q->out;
	uint32_t port = request_find(q, 1), end;
	const struct snapshot_node *n;

	if (port == SNAPSHOT_NONE)
		return;
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
		g_autofree char *peer = NULL;

		if (!p->known)
			continue;
		peer = peer_name(s, port);
		report_open(r, NULL, '{');
		report_say(r, "  port ");
		report_number(r, "port", p->num, "  ");
		report_text(r, "physical", port_phys_name(info->phys_state),
			    "  ");
		put_link(r, info, "");
		if (snapshot_is_end_port(s, port)) {
			report_say(r, "  LID ");
			report_number(r, "lid", q->db->lids->base[port], "");
			report_hex(r, "guid", p->guid, 16, NULL);
		}
		if (p->num && info->state >= PORT_STATE_INIT)
			report_say(r, "  MTU %u, %u VLs", mtu,
				   vls_of(info->oper_vls));
		report_number(r, "mtu", mtu, NULL);
		report_number(r, "vls", vls_of(info->oper_vls), NULL);
		if (peer)
			report_say(r, "  - ");
		report_text(r, "peer", peer, "");
		report_say(r, "\n");
		report_close(r, '}');
	}
	request_close_list(q);
}

/* ---- links that routing leaves out ---- */

void
control_put_avoided(const struct control_view *v, struct text_report *r)
{
	static const char *const routing[] = {
		[AVOID_DONE] = "avoided", [AVOID_NEEDED] = "needed",
		[AVOID_TOO_MANY] = "too many",
	};
	const GPtrArray *links = v->sweep ? v->sweep->avoided : NULL;

	report_open(r, "avoided", '[');
	for (guint i = 0; links && i < links->len; i++) {
		const struct avoid_link *l = links->pdata[i];
		g_autofree char *why = avoid_why(l);

		report_open(r, NULL, '{');
		report_say(r, "avoided:   link ");
		report_text(r, "link", l->name, "");
		report_say(r, " %s: ", avoid_verdict_texts[l->verdict]);
		report_text(r, "routing", routing[l->verdict], NULL);
		report_text(r, "why", why, "\n");
		report_number(r, "errors_in_hour", l->errors, NULL);
		report_close(r, '}');
	}
	report_close(r, ']');
}

/* A switch port of this name with a cable to another switch, of its two ends
 * the lower one. SNAPSHOT_NONE: there is none, or several are. */
static uint32_t
find_switch_link(const struct snapshot *s, const char *word)
{
	uint32_t found = SNAPSHOT_NONE;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;
		g_autofree char *name = NULL;

		if (peer == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, port)) ||
		    !snapshot_is_switch(snapshot_node_of(s, peer)))
			continue;
		name = snapshot_port_name(s, port);
		if (strcmp(name, word))
			continue;
		if (found != SNAPSHOT_NONE)
			return SNAPSHOT_NONE;
		found = MIN(port, peer);
	}
	return found;
}

/* avoid NAME/PORT [ERRORS], where 0 is the opposite for that reason; use */
void
control_avoid(struct control_request *q)
{
	const struct control_hooks *hooks = q->hooks;
	const struct snapshot *s = q->db->subnet;
	const char *word = q->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	uint32_t found = word ? find_switch_link(s, word) : SNAPSHOT_NONE;
	bool has_errors = word && q->words[2], avoid;
	uint64_t errors = 0, guid;

	if (!word) {
		report_open(&q->out, NULL, '{');
		control_put_avoided(&q->v, &q->out);
		request_close(q);
		return;
	}
	if (has_errors && !text_read_number(q->words[2], 10, UINT64_MAX,
					    &errors)) {
		request_say_usage(q);
		return;
	}
	if (found == SNAPSHOT_NONE) {
		request_say(q, CONTROL_USAGE, "no link between switches "
			    "is at %s, or several are; links has all, as "
			    "NAME/PORT", shown);
		return;
	}
	guid = snapshot_node_of(s, found)->info.node_guid;
	avoid = strcmp(q->words[0], "avoid") == 0 && (errors || !has_errors);
	if (avoid ? !hooks->avoid(guid, s->ports[found].num, errors,
				  hooks->data) :
	    !hooks->use(guid, s->ports[found].num, has_errors, hooks->data))
		request_say(q, CONTROL_NOT_DONE, avoid ?
			    "it is to be avoided already" :
			    "it was not to be avoided");
	else
		request_say(q, CONTROL_DONE, "%s", avoid ?
			    "routes are computed without it, until use or a "
			    "restart; avoid says what came of it" :
			    "routes are computed with it");
}
