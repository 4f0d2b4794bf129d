// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The expected fabric.
 *
 * Structs. Nodes are in the order in which they were first seen, and found by
 * GUID. A node that is no longer expected is removed with its links.
 *
 * Cost. A few passes over nodes and links, one with a hash lookup a node: this
 * is done after every sweep. Texts are made for faults only.
 */
#include "topology/expected.h"

#include <string.h>

#include "topology/each.h"
#include "topology/expected_graph.h"
#include "topology/text.h"

#define FORMER_S	(24 * 3600)	/* for which they are told */
#define FORMER_MAX	256u	/* names: half of them */

const char *const expected_kind_names[] = {
	[EXPECTED_SWITCH] = "switch",
	[EXPECTED_HOST] = "host",
	[EXPECTED_LINK] = "link",
	[EXPECTED_SLOW] = "slow link",
	[EXPECTED_SILENT] = "silent port",
	[EXPECTED_PART] = "aggregation node",
};

static void
silent_clear(gpointer data)
{
	g_free(((struct expected_silent *)data)->why);
}

static GArray *
silent_new(void)
{
	GArray *list = g_array_new(FALSE, FALSE,
				   sizeof(struct expected_silent));

	g_array_set_clear_func(list, silent_clear);
	return list;
}

static void
node_free(gpointer data)
{
	g_free(((struct expected_node *)data)->name);
	g_free(data);
}

static void
fault_free(gpointer data)
{
	struct expected_fault *f = data;

	g_free(f->name);
	g_free(f->text);
	g_free(f->place);
	g_free(f);
}

/* Its link is a copy. */
static void
former_free(gpointer data)
{
	g_free(((struct expected_fault *)data)->link);
	fault_free(data);
}

struct expected *
expected_new(void)
{
	struct expected *e = g_new0(struct expected, 1);

	e->nodes = g_ptr_array_new_with_free_func(node_free);
	e->links = g_array_new(FALSE, TRUE, sizeof(struct expected_link));
	e->silent = silent_new();
	e->by_guid = g_hash_table_new(g_int64_hash, g_int64_equal);
	e->faults = g_ptr_array_new_with_free_func(fault_free);
	e->former = g_ptr_array_new_with_free_func(former_free);
	e->changes = g_ptr_array_new_with_free_func(change_free);
	return e;
}

void
expected_free(struct expected *e)
{
	if (!e)
		return;
	g_hash_table_unref(e->by_guid);
	g_ptr_array_unref(e->nodes);
	g_array_unref(e->links);
	g_free(e->here);
	g_array_unref(e->silent);
	g_ptr_array_unref(e->faults);
	g_ptr_array_unref(e->former);
	g_ptr_array_unref(e->changes);
	g_free(e);
}

struct expected_node *
expected_add_node(struct expected *e, uint64_t guid, enum expected_kind kind,
		  const char *name)
{
	struct expected_node *n = g_new(struct expected_node, 1);

	e->has_new_names = true;
	*n = (struct expected_node){
		.guid = guid, .kind = kind, .name = g_strdup(name),
		.at = SNAPSHOT_NONE,
	};
	g_ptr_array_add(e->nodes, n);
	g_hash_table_insert(e->by_guid, &n->guid, n);
	return n;
}

/* ---- faults ---- */

int
expected_order_silent(const void *a, const void *b)
{
	const struct expected_silent *x = a, *y = b;

	return uint_compare(x->guid, y->guid) ?:
		uint_compare(x->port, y->port);
}

static void
add_fault(GPtrArray *faults, struct expected_fault model)
{
	g_ptr_array_add(faults, g_memdup2(&model, sizeof(model)));
}

/* text: taken. */
static void
add_link_fault(GPtrArray *faults, enum expected_kind kind,
	       struct expected_link *l, char *text)
{
	g_autofree char *a = expected_end_name(l, 0);
	g_autofree char *b = expected_end_name(l, 1);

	add_fault(faults, (struct expected_fault){
		.kind = kind, .since = l->since, .guid = l->node[0]->guid,
		.port = l->port[0], .near = (unsigned)strlen(a),
		.far = l->node[1]->guid, .far_port = l->port[1],
		.name = g_strdup_printf("%s - %s", a, b), .text = text,
		.of = { l->node[0], l->node[1] }, .link = l });
}

void
expected_add_former(struct expected *e, const struct expected_link *link,
		    char *text)
{
	add_link_fault(e->former, EXPECTED_LINK,
		       g_memdup2(link, sizeof(*link)), text);
}

struct snapshot *
expected_snapshot(const struct expected *e)
{
	struct builder *b = builder_new();

	EACH_ITEM(const struct expected_link, l, e->links)
		for (unsigned end = 0; end < 2; end++) {
			struct expected_node *n = l->node[end];

			n->last_port = MAX(n->last_port, l->port[end]);
		}
	EACH_PTR(const struct expected_node, n, e->nodes) {
		builder_add(b, &(struct node_info){
			.node_type = expected_is_switch(n) ? NODE_SWITCH :
				NODE_CA,
			.node_guid = n->guid, .num_ports = n->last_port });
	}
	/* A port may have links to nodes that are missing and, after these in
	 * the list, the one that it has now. */
	for (uint32_t i = e->links->len; i-- > 0;) {
		const struct expected_link *l = expected_link_at(e->links, i);
		uint32_t port[2];

		for (unsigned end = 0; end < 2; end++)
			port[end] = snapshot_port_of(b->s, builder_find(b,
					l->node[end]->guid), l->port[end]);
		if (b->s->ports[port[0]].peer == SNAPSHOT_NONE &&
		    b->s->ports[port[1]].peer == SNAPSHOT_NONE)
			builder_link(b, port[0], port[1]);
	}
	return builder_finish(b);
}

static gint
expected_compare(gconstpointer a, gconstpointer b)
{
	const struct expected_fault *x = *(struct expected_fault *const *)a;
	const struct expected_fault *y = *(struct expected_fault *const *)b;

	return uint_compare(x->kind, y->kind) ?:
		uint_compare(x->is_behind, y->is_behind) ?:
		strcmp(x->name, y->name) ?: uint_compare(x->guid, y->guid);
}

static bool
is_missing(const struct expected_node *n)
{
	return n->at == SNAPSHOT_NONE;
}

/* NULL: it is not silent. */
static struct expected_silent *
find_silent(const struct expected *e, uint64_t guid, uint8_t port)
{
	const struct expected_silent key = { .guid = guid, .port = port };

	return e->silent->len ? bsearch(&key, e->silent->data, e->silent->len,
					sizeof(key), expected_order_silent) :
		NULL;
}

/* Of a silent end, a node there that is left out; or NULL. */
static const char *
why_silent(const struct expected *e, const struct expected_link *l, unsigned end)
{
	const struct expected_silent *p = l->end[end] != END_SILENT ? NULL :
		find_silent(e, l->node[end]->guid, l->port[end]);

	return p ? p->why : NULL;
}

/* Why a link is missing, as far as it was read: "leaf-1/5 is disabled"; g_free. */
static char *
why_text(const struct expected *e, const struct expected_link *l)
{
	for (unsigned end = 0; end < 2; end++) {
		const struct end_words *w = &end_words[l->end[end]];
		g_autofree char *port = expected_end_name(l, end);
		const char *why = why_silent(e, l, end);

		if (why)
			return g_strdup_printf("the node at %s %s", port, why);
		if (w->is_why)
			return g_strconcat(port, w->says, NULL);
	}
	return g_strdup(l->end[0] == END_SILENT || l->end[1] == END_SILENT ?
			"no answer at one end" : "");
}

static void
find_link_fault(struct expected *e, struct expected_link *l)
{
	if (!l->since || is_missing(l->node[0]) || is_missing(l->node[1]))
		return;
	if (l->is_slow)
		add_link_fault(e->faults, EXPECTED_SLOW, l,
			       g_strdup_printf("%s of %s", l->now.name,
					       l->best.name));
	else
		add_link_fault(e->faults, EXPECTED_LINK, l, why_text(e, l));
}

/* Is it a switch without a cable to what is there, as the manager's own host? Then
 * it is not the cause. */
static bool
is_behind(const struct expected_node *n)
{
	return expected_is_switch(n) && n->n_switches && !n->n_free && !n->heir;
}

/* What is known of its place: the node that is there now; or where the first of its
 * cables to what is there end. NULL: nothing. */
static char *
place_text(const struct expected_node *n)
{
	const struct end_words *far = n->n_links != 1 ? NULL :
		&end_words[n->first->end[n->first->node[0] == n]];
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t n_named = n->n_links > 1 ? MIN(n->n_near, NEAR_MAX) : 0;

	if (n->heir && !n->n_free)
		g_string_append_printf(text, ", where %s (" GUID_FORMAT ") is "
				       "now", n->heir->name, n->heir->guid);
	else if (is_behind(n))
		g_string_append(text, ", behind others");
	for (uint32_t i = 0; i < n_named; i++) {
		const struct expected_link *l = n->near[i];
		g_autofree char *at = expected_end_name(l, l->node[0] == n);

		g_string_append_printf(text, "%s %s", i ? "" : ", at", at);
	}
	if (n_named < n->n_near && n_named)
		g_string_append(text, " ..");
	if (n->is_silent)
		g_string_append_printf(text, ", %s%s", n->why ? "and the node "
				       "there " : "with a link and no answer",
				       n->why ?: "");
	if (n->cause)
		g_string_append(text, ", with its switch");
	if (far && far->is_why)
		g_string_append_printf(text, ", which%s", far->says);
	return text->len ? g_strdup(text->str) : NULL;
}

/* Of a host, also the link by which it was reached, of a switch, how many links
 * it had, and the hosts that are missing with it. */
static void
find_node_fault(struct expected *e, struct expected_node *n)
{
	GString *text = g_string_new(NULL);
	const struct expected_link *only = n->n_links == 1 ? n->first : NULL;
	unsigned end = only && only->node[0] == n;	/* the far one */
	g_autofree char *at = only ? expected_end_name(only, end) : NULL;

	if (n->is_shared)
		g_string_append_printf(text, "NodeGUID " GUID_FORMAT ", ",
				       n->guid);
	if (at) {
		g_string_append_printf(text, "at %s", at);
	} else {
		text_put_count(text, n->n_links, 0, "link");
	}
	if (n->n_hosts) {
		g_string_append(text, ", ");
		text_put_count(text, n->n_hosts, 0, "host");
	}
	add_fault(e->faults, (struct expected_fault){
		.kind = n->kind, .since = n->since, .guid = n->guid,
		.name = g_strdup(n->name),
		.is_behind = is_behind(n),
		.text = g_string_free(text, FALSE),
		.far = only ? only->node[end]->guid : 0,
		.far_port = only ? only->port[end] : 0,
		.place = place_text(n),
		.cause = n->cause ? n->cause->guid : 0,
		.of = { n, n->cause } });
}

/* Is this link of the node rather its first one? Of one port the last one in
 * the list is. */
static bool
is_before(const struct expected_link *l, const struct expected_link *first,
	  const struct expected_node *n)
{
	unsigned end = l->node[1] == n, its = first && first->node[1] == n;

	if (!first || expected_is_up(l) != expected_is_up(first))
		return !first || expected_is_up(l);
	if (expected_is_switch(l->node[!end]) !=
	    expected_is_switch(first->node[!its]))
		return expected_is_switch(l->node[!end]);
	return l->port[end] <= first->port[its];
}

/* The links of each node, and those that lead to switches that are missing. */
static void
count_expected_links(struct expected *e)
{
	EACH_PTR(struct expected_node, n, e->nodes) {
		n->n_links = n->n_cut = n->n_hosts = n->n_free = 0;
		n->n_switches = n->n_near = 0;
		n->is_silent = false;
		n->cause = NULL;
		n->why = NULL;
		n->first = NULL;
	}
	EACH_ITEM(const struct expected_link, l, e->links) {
		for (unsigned end = 0; end < 2; end++) {
			struct expected_node *far = l->node[!end];
			struct expected_node *n = l->node[end];

			n->n_links++;
			if (is_missing(n) && l->end[!end] == END_SILENT) {
				n->is_silent = true;
				n->why = why_silent(e, l, !end);
			}
			n->n_free += !is_missing(far) && !l->is_replaced;
			if (is_before(l, n->first, n))
				n->first = l;
			if (!expected_is_switch(far))
				continue;
			n->n_switches++;
			if (!is_missing(far)) {
				if (!l->is_replaced &&
				    n->n_near++ < NEAR_MAX)
					n->near[n->n_near - 1] = l;
				continue;
			}
			n->n_cut++;
			n->cause = far;
		}
	}
	EACH_PTR(struct expected_node, n, e->nodes) {
		if (expected_is_switch(n) || !is_missing(n) ||
		    n->n_cut != n->n_links)
			n->cause = NULL;
		if (n->cause && n->kind == EXPECTED_HOST)
			n->cause->n_hosts++;
	}
}

static void
find_silent_fault(struct expected *e, struct expected_silent *p)
{
	struct expected_node *n = g_hash_table_lookup(e->by_guid, &p->guid);
	g_autofree char *host = p->stuck ? expected_full_name(p->stuck) : NULL;

	if (!n || p->is_told || p->is_accepted)
		return;
	add_fault(e->faults, (struct expected_fault){
		.kind = EXPECTED_SILENT, .since = p->since, .guid = p->guid,
		.name = expected_port_name(n, p->port), .of = { n, p->stuck },
		.silent = p,
		.text = host ? g_strconcat(host, " ", snapshot_trouble_texts[
				p->trouble], NULL) :
			p->why ? g_strconcat("the node there ", p->why, NULL) :
			g_strdup("a link, and no node answers: hung, without a "
				 "driver, or a foreign M_Key") });
}

static void
find_shared_names(struct expected *e)
{
	g_autoptr(GHashTable) names = NULL;

	if (!e->has_new_names)
		return;
	names = g_hash_table_new(g_str_hash, g_str_equal);
	e->has_new_names = false;
	EACH_PTR(struct expected_node, n, e->nodes) {
		struct expected_node *other;

		other = g_hash_table_lookup(names, n->name);
		n->is_shared = other != NULL;
		if (other)
			other->is_shared = true;
		else
			g_hash_table_insert(names, n->name, n);
	}
}

static void
find_faults(struct expected *e)
{
	g_ptr_array_set_size(e->faults, 0);
	memset(e->n, 0, sizeof(e->n));
	find_shared_names(e);
	count_expected_links(e);
	EACH_ITEM(struct expected_link, l, e->links) {
		e->n[EXPECTED_LINK] += !l->is_replaced;
		find_link_fault(e, l);
	}
	EACH_PTR(struct expected_node, n, e->nodes) {
		e->n[n->kind]++;
		if (is_missing(n))
			find_node_fault(e, n);
	}
	EACH_ITEM(struct expected_silent, p, e->silent)
		find_silent_fault(e, p);
	g_ptr_array_sort(e->faults, expected_compare);
}

/* ---- comparing ---- */

static void
read_rate(struct rate *r, const struct snapshot_port *p)
{
	uint32_t mbps = p->known && p->info.state >= PORT_STATE_INIT ?
		port_mbps(&p->info) : 0;

	if (r->mbps == mbps && *r->name)
		return;
	r->mbps = mbps;
	g_snprintf(r->name, sizeof(r->name), "%s%s",
		   port_width(&p->info)->name, port_speed(&p->info)->name);
}

/* The port at the other end of the cable, or SNAPSHOT_NONE; a loopback plug is no
 * cable. */
static uint32_t
far_port(const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;

	return peer == port ? SNAPSHOT_NONE : peer;
}

static enum cable_end
end_now(const struct snapshot *s, const struct expected_link *l, unsigned end)
{
	uint32_t at = snapshot_port_of(s, l->node[end]->at, l->port[end]);
	uint32_t far = snapshot_port_of(s, l->node[!end]->at, l->port[!end]);
	const struct snapshot_port *p;

	if (at == SNAPSHOT_NONE || at == far)	/* as only a person writes */
		return END_AWAY;
	p = &s->ports[at];
	if (p->peer != SNAPSHOT_NONE)
		return p->peer == at ? END_LOOP :
			p->peer == far ? END_LINKED : END_OTHER;
	return p->held ? END_HELD : !p->known ? END_UNREAD :
		p->info.phys_state == PORT_PHYS_DISABLED ? END_DISABLED :
		p->info.state <= PORT_STATE_DOWN ? END_DOWN :
		p->silent ? END_SILENT : END_UNUSED;
}

/* And which other nodes are where those are expected that are missing. */
static void
read_ends(struct expected *e, const struct snapshot *s)
{
	EACH_ITEM(struct expected_link, l, e->links) {
		for (unsigned end = 0; end < 2; end++) {
			struct expected_node *n = l->node[end];
			struct expected_node *far = l->node[!end], *heir;
			uint32_t at;

			l->end[end] = end_now(s, l, end);
			if (l->end[end] != END_OTHER || !is_missing(far))
				continue;
			at = snapshot_port_of(s, n->at, l->port[end]);
			heir = e->here[s->ports[s->ports[at].peer].node];
			far->heir = heir;
			heir->before = far;
		}
	}
}

/* A void link at a port that has another cable now. It is told for a day unless that
 * of one of its ports is already. */
static void
note_former(struct expected *e, struct expected_link *l,
	    const struct snapshot *s, int64_t now)
{
	bool is_told = e->former->len >= FORMER_MAX;
	char *text;

	if (l->end[0] != END_OTHER && l->end[1] != END_OTHER)
		return;
	EACH_PTR(const struct expected_fault, f, e->former)
		for (unsigned i = 0; f->link && i < 4; i++)
			is_told |= f->link->node[i / 2] == l->node[i % 2] &&
				f->link->port[i / 2] == l->port[i % 2];
	text = expected_cable_text(e, l, s);
	changes_of_cable(e, l, text);
	l->since = now;
	if (is_told)
		g_free(text);
	else
		expected_add_former(e, l, text);
}

/* Is it as before? Else also sets its text. */
static bool
former_is_back(struct expected *e, struct expected_fault *f,
	       const struct snapshot *s)
{
	struct expected_link *l = f->link;

	g_clear_pointer(&f->text, g_free);
	if (!l && !is_missing(f->of[0]))
		f->text = g_strdup_printf("%s is now called %s", f->name,
					  f->of[0]->name);
	if (!l || is_missing(f->of[0]) || is_missing(f->of[1]))
		return !l && strcmp(f->of[0]->name, f->name) == 0;
	for (unsigned end = 0; end < 2; end++)
		l->end[end] = end_now(s, l, end);
	if (l->end[0] == END_OTHER || l->end[1] == END_OTHER)
		f->text = expected_cable_text(e, l, s);
	return expected_is_up(l);
}

static void
update_former(struct expected *e, const struct snapshot *s, int64_t now)
{
	for (guint i = e->former->len; i-- > 0;) {
		struct expected_fault *f = e->former->pdata[i];

		if (former_is_back(e, f, s) || f->since < now - FORMER_S)
			g_ptr_array_remove_index(e->former, i);
	}
}

/* A link of which both nodes are there. */
static void
update_link(struct expected *e, struct expected_link *l,
	    const struct snapshot *s, int64_t now)
{
	l->is_slow = false;
	for (unsigned end = 0; end < 2; end++)
		l->is_void |= l->end[end] == END_AWAY ||
			l->end[end] == END_OTHER;
	if (expected_is_up(l)) {
		read_rate(&l->now, &s->ports[snapshot_port_of(s,
				l->node[0]->at, l->port[0])]);
		if (l->now.mbps > l->best.mbps)
			l->best = l->now;
		l->is_slow = l->now.mbps && l->now.mbps < l->best.mbps;
	}
	if (expected_is_up(l) && !l->is_slow)
		l->since = 0;
	else if (!l->since)
		l->since = now;
	changes_of_link(e, l, s);
}

static void
drop_void_links(struct expected *e)
{
	uint32_t kept = 0;

	EACH_ITEM(const struct expected_link, l, e->links)
		if (!l->is_void)
			*expected_link_at(e->links, kept++) = *l;
	g_array_set_size(e->links, kept);
}

static struct expected_link *
expect_link(struct expected *e, const struct snapshot *s,
	    const uint32_t ends[2])
{
	struct expected_link l = { .is_slow = false };

	for (unsigned i = 0; i < 2; i++) {
		l.node[i] = e->here[s->ports[ends[i]].node];
		l.port[i] = s->ports[ends[i]].num;
	}
	read_rate(&l.now, &s->ports[ends[0]]);
	l.best = l.now;
	for (unsigned i = 0; i < 2; i++)
		l.end[i] = end_now(s, &l, i);
	g_array_append_val(e->links, l);
	return expected_link_at(e->links, e->links->len - 1);
}

/* If a cable is lost and another one takes one of its ports, each of their links
 * is void and has a port that is left without a cable: the cable of these two is
 * missing. Likewise of more cables, each in a port of the next one. should: of a
 * port with a void link, 1 + the port at its other end. */
static void
find_lost_cables(struct expected *e, const struct snapshot *s,
		 const uint32_t *should, int64_t now)
{
	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t at = should[port] - 1, peer, n = 0;

		if (!should[port] || far_port(s, port) != SNAPSHOT_NONE)
			continue;
		while ((peer = far_port(s, at)) != SNAPSHOT_NONE &&
		       should[peer] && n++ < s->n_ports)
			at = should[peer] - 1;
		if (peer == SNAPSHOT_NONE && port < at)
			expect_link(e, s, (uint32_t[]){ port, at })->since =
				now;
	}
}

/* Of a link of which a node is missing. */
static void
update_widow(struct expected_link *l, const uint32_t ends[2], bool *known)
{
	unsigned here = ends[0] == SNAPSHOT_NONE;
	bool has_other = l->end[here] == END_OTHER;

	l->is_below = l->is_replaced = false;
	if (ends[here] == SNAPSHOT_NONE)
		return;
	l->is_replaced = has_other || known[ends[here]];
	known[ends[here]] |= !has_other;
}

/* known: ports with a link that is expected there. */
static void
update_known_links(struct expected *e, const struct snapshot *s, int64_t now,
		   bool *known)
{
	g_autofree uint32_t *should = g_new0(uint32_t, s->n_ports + 1);

	EACH_ITEM(struct expected_link, l, e->links) {
		uint32_t ends[2];

		for (unsigned end = 0; end < 2; end++)
			ends[end] = snapshot_port_of(s, l->node[end]->at,
						     l->port[end]);
		if (is_missing(l->node[0]) || is_missing(l->node[1])) {
			update_widow(l, ends, known);
			continue;
		}
		l->is_replaced = false;
		update_link(e, l, s, now);
		if (!l->is_void)
			known[ends[0]] = expected_is_up(l);
		if (l->is_void)
			note_former(e, l, s, now);
		for (unsigned end = 0; l->is_void && end < 2; end++)
			if (ends[0] != SNAPSHOT_NONE &&
			    ends[1] != SNAPSHOT_NONE)
				should[ends[end]] = 1 + ends[!end];
	}
	find_lost_cables(e, s, should, now);
	drop_void_links(e);
}

/* In the update before, of this run. */
static bool
was_there(const struct expected *e, const struct expected_node *n)
{
	return !e->is_first && !n->is_new && !n->since;
}

static void
update_links(struct expected *e, const struct snapshot *s, int64_t now)
{
	g_autofree bool *known = g_new0(bool, s->n_ports + 1);

	update_known_links(e, s, now, known);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const uint32_t ends[] = { port, s->ports[port].peer };
		struct expected_link *l;

		if (ends[1] == SNAPSHOT_NONE || ends[1] <= port ||
		    known[port] || known[ends[1]])
			continue;
		l = expect_link(e, s, ends);
		l->is_told = was_there(e, l->node[0]) &&
			was_there(e, l->node[1]) &&
			expected_is_switch(l->node[0]) &&
			expected_is_switch(l->node[1]);
		changes_of_link(e, l, s);
	}
}

/* One that answers, or has no link any more, is forgotten, so that it is told
 * again; so is a worse trouble than the one that was accepted. */
static void
update_silent(struct expected *e, const struct snapshot *s, int64_t now)
{
	GArray *list = silent_new();
	g_autofree bool *told = g_new0(bool, s->n_ports + 1);

	EACH_ITEM(const struct expected_link, l, e->links) {
		for (unsigned end = 0; end < 2; end++)
			if (l->end[end] == END_SILENT)
				told[snapshot_port_of(s, l->node[end]->at,
						      l->port[end])] = true;
	}
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_node *n = snapshot_node_of(s, port);
		struct expected_silent p = {
			.guid = n->info.node_guid, .port = s->ports[port].num,
			.since = now,
		};
		const struct expected_silent *was;
		uint32_t end = p.port ? s->ports[port].peer : port;

		p.trouble = end == SNAPSHOT_NONE ? SNAPSHOT_SOUND :
			s->ports[end].trouble;
		if ((!s->ports[port].silent && !p.trouble) ||
		    !snapshot_is_switch(n))
			continue;
		was = find_silent(e, p.guid, p.port);
		if (was) {
			p.since = was->since;
			p.why = s->ports[port].silent ? g_strdup(was->why) :
				NULL;
			p.is_accepted = was->is_accepted &&
				(!was->trouble || p.trouble <= was->trouble);
		}
		p.is_told = told[port];
		if (p.trouble)
			p.stuck = e->here[s->ports[end].node];
		if (p.is_accepted)	/* as it was when it was accepted */
			p.trouble = MAX(p.trouble, was->trouble);
		g_array_append_val(list, p);	/* in their order */
	}
	g_array_unref(e->silent);
	e->silent = list;
	for (uint32_t i = 0; i < s->n_faults; i++) {
		const struct snapshot_fault *f = &s->faults[i];
		struct expected_silent *p = f->port ?
			find_silent(e, f->guid, f->port) : NULL;

		if (!p || f->kind == SNAPSHOT_FAULT_AS_BEFORE)
			continue;
		g_free(p->why);
		p->why = f->kind == SNAPSHOT_FAULT_SILENT ? NULL :
			g_strdup(f->text);
	}
}

static void
update_node(struct expected *e, const struct snapshot *s, uint32_t i,
	    int64_t now)
{
	const char *name = snapshot_node_name(&s->nodes[i]);
	uint64_t guid = s->nodes[i].info.node_guid;
	struct expected_node *n = g_hash_table_lookup(e->by_guid, &guid);
	enum expected_kind kind = snapshot_is_switch(&s->nodes[i]) ?
		EXPECTED_SWITCH : snapshot_is_part(s, i) ?
		EXPECTED_PART : EXPECTED_HOST;
	bool is_told;	/* another name of it, already */

	if (!n) {
		n = expected_add_node(e, guid, kind, name);
		n->is_new = true;
	}
	e->here[i] = n;
	n->at = i;
	n->kind = kind;
	if (strcmp(n->name, name) == 0)
		return;
	if (was_there(e, n))
		changes_of_name(e, n, name);
	is_told = !was_there(e, n) || e->former->len >= FORMER_MAX / 2;
	EACH_PTR(const struct expected_fault, f, e->former)
		is_told |= !f->link && f->of[0] == n;
	if (is_told)
		g_free(n->name);
	else
		add_fault(e->former, (struct expected_fault){
			.kind = n->kind, .since = now, .guid = guid,
			.name = n->name, .of = { n } });
	n->name = g_strdup(name);
	e->has_new_names = true;
}

void
expected_update(struct expected *e, const struct snapshot *s,
		const struct lid_map *lids, int64_t now, int64_t clock)
{
	g_ptr_array_set_size(e->changes, 0);
	e->is_first = !e->here;
	e->here = g_renew(struct expected_node *, e->here, s->n_nodes);
	EACH_PTR(struct expected_node, n, e->nodes) {
		n->at = SNAPSHOT_NONE;
		n->heir = n->before = NULL;
		n->is_new = false;
	}
	for (uint32_t i = 0; i < s->n_nodes; i++)
		update_node(e, s, i, now);
	find_shared_names(e);
	read_ends(e, s);
	update_links(e, s, now);
	EACH_PTR(struct expected_node, n, e->nodes)
		if (is_missing(n) && !n->since) {
			n->since = now;
			n->left = clock;
		}
	update_former(e, s, now);
	update_silent(e, s, now);
	find_faults(e);
	changes_of_faults(e);
	EACH_PTR(struct expected_node, n, e->nodes) {
		if (is_missing(n))
			continue;
		/* the wall clock may have been set back since */
		changes_of_node(e, n, s, lids, n->left ? clock - n->left :
				MAX(now - n->since, 0) * G_USEC_PER_SEC);
		n->since = n->left = 0;
		n->is_told = false;
	}
	changes_group(e->changes);
}

/* ---- LIDs of what was replaced ---- */

/* The port that is cabled now to one of `n`, if it is that of a switch without a LID;
 * SNAPSHOT_NONE. */
static uint32_t
find_newcomer(const struct snapshot *s, const struct expected_node *n,
	      uint8_t port)
{
	uint32_t node = snapshot_find_node(s, n->guid), peer;
	const struct snapshot_node *far;

	if (node == SNAPSHOT_NONE || port > s->nodes[node].info.num_ports)
		return SNAPSHOT_NONE;
	peer = s->ports[s->nodes[node].first_port + port].peer;
	if (peer == SNAPSHOT_NONE)
		return SNAPSHOT_NONE;
	far = snapshot_node_of(s, peer);
	return snapshot_is_switch(far) &&
		!s->ports[far->first_port].info.lid ? peer : SNAPSHOT_NONE;
}

/* By node: the missing switch that had most of its cables; one is found by
 * counting its own up and all others down. Of several that were at a cable the last
 * one counts, as in expected_snapshot(). g_free. */
static uint64_t *
find_replaced(const struct expected *e, const struct snapshot *s)
{
	uint64_t *of = g_new0(uint64_t, s->n_nodes + 1);
	g_autofree uint32_t *n_cables = g_new0(uint32_t, s->n_nodes + 1);
	g_autofree bool *known = g_new0(bool, s->n_ports + 1);
	g_autoptr(GHashTable) missing = g_hash_table_new(NULL, NULL);
	uint32_t node, port;

	EACH_PTR(struct expected_node, n, e->nodes)
		if (expected_is_switch(n) &&
		    snapshot_find_node(s, n->guid) == SNAPSHOT_NONE)
			g_hash_table_add(missing, n);
	if (!g_hash_table_size(missing))
		return of;
	for (uint32_t i = 2 * e->links->len; i-- > 0;) {
		const struct expected_link *l = expected_link_at(e->links,
								 i / 2);
		const struct expected_node *gone = l->node[i % 2];

		if (!g_hash_table_contains(missing, gone))
			continue;
		port = find_newcomer(s, l->node[1 - i % 2], l->port[1 - i % 2]);
		if (port == SNAPSHOT_NONE || known[port])
			continue;
		known[port] = true;
		node = s->ports[port].node;
		if (!n_cables[node])
			of[node] = gone->guid;
		n_cables[node] += of[node] == gone->guid ? 1 : UINT32_MAX;
	}
	return of;
}

GArray *
expected_bequeath(const struct expected *e, const struct snapshot *s,
		  const GArray *ranges)
{
	GArray *out = g_array_copy((GArray *)ranges);
	g_autofree uint64_t *of = find_replaced(e, s);
	guint at;

	for (uint32_t node = 0; node < s->n_nodes; node++) {
		uint64_t guid = s->ports[s->nodes[node].first_port].guid;

		if (of[node] && !g_array_binary_search(out, &guid,
						       guid_compare, &at) &&
		    g_array_binary_search(out, &of[node], guid_compare, &at)) {
			g_array_index(out, struct lid_range, at).guid = guid;
			g_array_sort(out, guid_compare);
		}
	}
	return out;
}

/* ---- accepting ---- */

static bool
is_meant(const struct expected_fault *f, const char *word, uint64_t guid)
{
	bool is = !word || !strcmp(f->name, word);

	for (unsigned i = 0; i < 2 && !is && f->of[i]; i++) {
		g_autofree char *full = expected_full_name(f->of[i]);
		g_autofree char *end = f->link ?
			expected_end_name(f->link, i) : NULL;

		is = (guid && f->of[i]->guid == guid) ||
			!strcmp(f->of[i]->name, word) ||
			!strcmp(full, word) || g_strcmp0(end, word) == 0;
	}
	return is;
}

/* No fault of their own either, once their link is no longer expected. */
static void
accept_ends(struct expected *e, const struct expected_link *l)
{
	struct expected_silent *p;

	for (unsigned end = 0; end < 2; end++) {
		p = find_silent(e, l->node[end]->guid, l->port[end]);
		if (p)
			p->is_accepted = true;
	}
}

unsigned
expected_accept(struct expected *e, const char *word)
{
	unsigned before = e->faults->len + e->former->len;
	uint64_t guid = 0;

	if (!before || !e->here)	/* no fabric was seen yet */
		return 0;
	if (word && !text_read_number(word, 16, UINT64_MAX, &guid))
		guid = 0;
	EACH_PTR(const struct expected_fault, f, e->faults) {
		struct expected_link *l = f->link;

		if (!is_meant(f, word, guid))
			continue;
		if (f->silent) {
			f->silent->is_accepted = true;
		} else if (!l) {
			f->of[0]->is_accepted = true;
		} else {
			l->is_void = !l->is_slow;
			l->best = l->now;
			l->since = 0;
		}
	}
	for (guint i = e->former->len; i-- > 0;) {
		const struct expected_fault *f = e->former->pdata[i];

		if (is_meant(f, word, guid) || f->of[0]->is_accepted ||
		    (f->of[1] && f->of[1]->is_accepted))
			g_ptr_array_remove_index(e->former, i);
	}
	EACH_ITEM(struct expected_link, l, e->links) {
		l->is_void |= l->node[0]->is_accepted ||
			l->node[1]->is_accepted;
		if (l->is_void)
			accept_ends(e, l);
	}
	drop_void_links(e);
	for (uint32_t i = e->nodes->len; i-- > 0;) {
		const struct expected_node *n = e->nodes->pdata[i];

		if (n->is_accepted) {
			e->has_new_names = true;
			g_hash_table_remove(e->by_guid, &n->guid);
			g_ptr_array_remove_index(e->nodes, i);
		}
	}
	find_faults(e);
	return before - e->faults->len - e->former->len;
}
