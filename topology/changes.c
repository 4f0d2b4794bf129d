// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes: nodes are compared by NodeGUID, in which both snapshots are sorted;
 * links and names of those that are in both.
 */
#include "topology/changes.h"
#include "topology/text.h"

#include <string.h>

#define CABLES_NAMED	8u

struct comparison {
	const struct snapshot *old, *new;
	const struct lid_map *lids;
	GHashTable *away;
	int64_t now;
	GPtrArray *found;
	uint32_t *to_new, *to_old;	/* node -> node, or SNAPSHOT_NONE */
	GHashTable *shared[2];	/* names in old, new; NULL: not yet needed */
};

bool
change_is_loss(enum change_kind kind)
{
	return kind <= CHANGE_LINK_DOWN || kind == CHANGE_SLOW;
}

struct away {
	uint64_t guid;		/* the key */
	int64_t since;
	char *name, *where;	/* it was; where: or NULL */
};

static void
away_free(gpointer data)
{
	struct away *a = data;

	g_free(a->name);
	g_free(a->where);
	g_free(a);
}

GHashTable *
changes_away_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
				     away_free);
}

void
changes_away_add(GHashTable *away, uint64_t guid, int64_t since,
		 const char *name, const char *where)
{
	struct away *a = g_new(struct away, 1);

	*a = (struct away){ guid, since, g_strdup(name), g_strdup(where) };
	g_hash_table_replace(away, &a->guid, a);
}

static void
change_free(gpointer data)
{
	struct change *c = data;

	g_free(c->name);
	g_free(c->text);
	g_free(c);
}

static struct change *
change_new(enum change_kind kind, uint64_t guid, char *name, char *text)
{
	struct change *c = g_new(struct change, 1);

	*c = (struct change){ kind, guid, name, text };
	return c;
}

static void G_GNUC_PRINTF(5, 6)
add(struct comparison *c, enum change_kind kind, uint64_t guid, char *name,
    const char *format, ...)
{
	g_autofree char *rest = NULL;
	va_list args;

	va_start(args, format);
	rest = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(c->found, change_new(kind, guid, name,
					     g_strconcat(name, " ", rest,
							 NULL)));
}

/* ---- names ---- */

static GHashTable *
shared_in(struct comparison *c, const struct snapshot *s)
{
	GHashTable **shared = &c->shared[s == c->new];

	if (!*shared)
		*shared = snapshot_shared_names(s);
	return *shared;
}

static char *
node_name(struct comparison *c, const struct snapshot *s, uint32_t node)
{
	return snapshot_full_name(&s->nodes[node], shared_in(c, s));
}

static char *
port_name(struct comparison *c, const struct snapshot *s, uint32_t port)
{
	return snapshot_full_port_name(s, port, shared_in(c, s));
}

static char *
link_name(struct comparison *c, const struct snapshot *s, uint32_t port)
{
	g_autofree char *a = port_name(c, s, port);
	g_autofree char *b = port_name(c, s, s->ports[port].peer);

	return g_strconcat("link ", a, " - ", b, NULL);
}

/* The first cabled port of a node, or SNAPSHOT_NONE. */
static uint32_t
cabled_port(const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];

	for (unsigned num = 1; num <= n->info.num_ports; num++)
		if (s->ports[n->first_port + num].peer != SNAPSHOT_NONE)
			return n->first_port + num;
	return SNAPSHOT_NONE;
}

/* ---- nodes ---- */

enum far_end {
	FAR_DOWN,
	FAR_SILENT,	/* a link, and no node answers */
	FAR_OTHER,	/* a link to another node */
	FAR_UNREAD,	/* its node is away, too, or did not answer */
	FAR_KINDS
};

/* What the port has now that the cable of a node that left came from. */
static enum far_end
far_end(const struct comparison *c, uint32_t peer)
{
	uint32_t at = snapshot_same_port(c->old, peer, c->to_new, c->new);
	const struct snapshot_port *now = at == SNAPSHOT_NONE ? NULL :
		&c->new->ports[at];

	return !now || !now->known ? FAR_UNREAD :
		now->silent ? FAR_SILENT : now->held ||
		now->info.state <= PORT_STATE_DOWN ? FAR_DOWN : FAR_OTHER;
}

/* "4 cables to switches down, leaf-1/6 leaf-2/6; 2 hosts with it": of the ends
 * that were read, what most of them have. */
static void
switch_left(struct comparison *c, const struct snapshot_node *n, char *name)
{
	static const char *const texts[] = {
		[FAR_DOWN] = "down",
		[FAR_SILENT] = ("with a link and no answer (hung, or protected "
			"by a foreign M_Key)"),
		[FAR_OTHER] = "replaced by those of other nodes",
		[FAR_UNREAD] = "out of reach",
	};
	g_autoptr(GString) cables = g_string_new(NULL);
	const struct snapshot *s = c->old;
	const struct snapshot_port *ports = &s->ports[n->first_port];
	unsigned ends[FAR_KINDS] = { 0 }, n_hosts = 0, n_named = 0;
	enum far_end most = FAR_UNREAD;

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t peer = ports[num].peer;

		if (peer == SNAPSHOT_NONE)
			continue;
		if (snapshot_is_switch(snapshot_node_of(s, peer)))
			ends[far_end(c, peer)]++;
		else
			n_hosts += c->to_new[s->ports[peer].node] ==
				SNAPSHOT_NONE &&
				!snapshot_is_part(s, s->ports[peer].node);
	}
	for (enum far_end kind = FAR_UNREAD; kind-- > FAR_DOWN;)
		if (ends[kind] && (most == FAR_UNREAD ||
				   ends[kind] >= ends[most]))
			most = kind;
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t peer = ports[num].peer;
		g_autofree char *at = NULL;

		if (peer == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, peer)) ||
		    far_end(c, peer) != most)
			continue;
		at = port_name(c, s, peer);
		if (n_named++ < CABLES_NAMED)
			g_string_append_printf(cables, " %s", at);
	}
	if (n_named > CABLES_NAMED)
		g_string_append(cables, " ...");
	g_string_append_printf(cables, n_hosts ? "; %u host%s with it" :
			       "; no host with it", n_hosts,
			       text_plural(n_hosts));
	add(c, CHANGE_SWITCH_LEFT, n->info.node_guid, name,
	    "left: %u cable%s to switches %s,%s", ends[most],
	    text_plural(ends[most]), texts[most], cables->str);
}

/* A host that left with its switch is reported with that. */
static void
node_left(struct comparison *c, uint32_t node)
{
	const struct snapshot *s = c->old;
	const struct snapshot_node *n = &s->nodes[node];
	uint32_t port = cabled_port(s, node), at;
	g_autofree char *where = port == SNAPSHOT_NONE ? g_strdup("no cable") :
		port_name(c, s, s->ports[port].peer);
	char *name = node_name(c, s, node);
	const struct snapshot_port *now;
	char lid[16] = "";

	if (c->away)
		changes_away_add(c->away, n->info.node_guid, c->now, name,
				 where);
	if (snapshot_is_switch(n)) {
		switch_left(c, n, name);
		return;
	}
	if (port == SNAPSHOT_NONE) {
		add(c, CHANGE_HOST_LEFT, n->info.node_guid, name, "left");
		return;
	}
	at = snapshot_same_port(s, s->ports[port].peer, c->to_new, c->new);
	if (at == SNAPSHOT_NONE) {
		g_free(name);
		return;
	}
	if (c->lids && c->lids->base[port])
		g_snprintf(lid, sizeof(lid), " (LID %u)", c->lids->base[port]);
	now = &c->new->ports[at];
	add(c, CHANGE_HOST_LEFT, n->info.node_guid, name,
	    now->peer != SNAPSHOT_NONE ? "left%s: another node is at %s" :
	    now->held ? "left%s: %s is held down" :
	    !now->known ? "left%s: %s did not answer" :
	    now->info.state <= PORT_STATE_DOWN ? "left%s: %s is down" :
	    now->silent ? "left%s: no answer, but %s has a link: hung, without "
	    "a driver, or protected by a foreign M_Key" :
	    "left%s: the node that answers at %s is not used", lid, where);
}

/* A host that is new: also the node that left its switch port and has not come
 * back. */
static void
node_came(struct comparison *c, uint32_t node)
{
	const struct snapshot_node *n = &c->new->nodes[node];
	uint64_t guid = n->info.node_guid;
	const struct away *a = c->away ?
		g_hash_table_lookup(c->away, &guid) : NULL, *before = NULL;
	uint32_t port = cabled_port(c->new, node);
	g_autofree char *where = port == SNAPSHOT_NONE ? g_strdup("no cable") :
		port_name(c, c->new, c->new->ports[port].peer);
	char *name = node_name(c, c->new, node);
	bool is_switch = snapshot_is_switch(n);
	enum change_kind kind = is_switch ? CHANGE_SWITCH_CAME :
		CHANGE_HOST_CAME;
	int64_t s = a ? (c->now - a->since) / G_USEC_PER_SEC : 0;
	GHashTableIter iter;
	gpointer other;

	if (c->away && !a) {
		g_hash_table_iter_init(&iter, c->away);
		while (!before && g_hash_table_iter_next(&iter, NULL, &other))
			if (g_strcmp0(((struct away *)other)->where, where) == 0)
				before = other;
	}
	if (before)
		add(c, kind, guid, name, "is new: %s, in place of %s (0x%016"
		    G_GINT64_MODIFIER "x)", where, before->name, before->guid);
	else if (!a)
		add(c, kind, guid, name, "is new: %s", where);
	else if (is_switch || !a->where || strcmp(a->where, where) == 0)
		add(c, kind, guid, name, "is back after %" G_GINT64_FORMAT
		    " s: %s", s, where);
	else
		add(c, CHANGE_MOVED, guid, name, "moved from %s to %s, after %"
		    G_GINT64_FORMAT " s", a->where, where, s);
	if (a)
		g_hash_table_remove(c->away, &guid);
}

/* A node that is in both: its name, and of a CA where it is. */
static void
compare_node(struct comparison *c, uint32_t was, uint32_t is)
{
	const struct snapshot_node *a = &c->old->nodes[was];
	const struct snapshot_node *b = &c->new->nodes[is];
	uint32_t port = cabled_port(c->old, was), here, at;
	g_autofree char *from = NULL, *to = NULL;

	if (strcmp(snapshot_node_name(a), snapshot_node_name(b)))
		add(c, CHANGE_RENAMED, a->info.node_guid,
		    g_strdup(snapshot_node_name(a)), "is now called %s",
		    snapshot_node_name(b));
	/* It may have fewer ports than before. */
	here = port == SNAPSHOT_NONE || snapshot_is_switch(a) ? SNAPSHOT_NONE :
		snapshot_same_port(c->old, port, c->to_new, c->new);
	if (here != SNAPSHOT_NONE)
		here = c->new->ports[here].peer;
	if (here == SNAPSHOT_NONE)
		return;
	at = snapshot_same_port(c->old, c->old->ports[port].peer, c->to_new,
				c->new);
	if (at == here)
		return;
	from = port_name(c, c->old, c->old->ports[port].peer);
	to = port_name(c, c->new, here);
	add(c, CHANGE_MOVED, a->info.node_guid,
	    node_name(c, c->new, is), "moved from %s to %s", from, to);
}

/* ---- links ---- */

bool
link_is_slow(const struct snapshot *s, uint32_t port,
	     struct port_info *best)
{
	const struct snapshot_port *p = &s->ports[port];
	const struct snapshot_port *q;
	uint32_t now;

	if (p->peer == SNAPSHOT_NONE)
		return false;
	q = &s->ports[p->peer];
	if (!p->known || !q->known || p->info.state < PORT_STATE_INIT)
		return false;
	*best = (struct port_info){
		.width_active = port_widest(p->info.width_supported &
					    q->info.width_supported),
		.speed_ext_active = port_fastest(p->info.speed_ext_supported &
				q->info.speed_ext_supported & 15u),
		.speed_active = port_fastest(p->info.speed_supported &
					     q->info.speed_supported & 7u),
	};
	now = port_mbps(&p->info);
	return now && now < port_mbps(best);
}

/* Links of `s` between switches that are also in `other`, and not so there. */
static void
find_links(struct comparison *c, const struct snapshot *s,
	   const uint32_t *nodes, const struct snapshot *other,
	   enum change_kind kind)
{
	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t a, b;

		if (!snapshot_joins_switches(s, port))
			continue;
		a = snapshot_same_port(s, port, nodes, other);
		b = snapshot_same_port(s, s->ports[port].peer, nodes, other);
		if (a == SNAPSHOT_NONE || b == SNAPSHOT_NONE ||
		    other->ports[a].peer == b)
			continue;
		add(c, kind, snapshot_node_of(s, port)->info.node_guid,
		    link_name(c, s, port), "%s",
		    kind == CHANGE_LINK_UP ? "is up" :
		    !other->ports[a].known || !other->ports[b].known ?
		    "is not known: no answer from one end" :
		    other->ports[a].peer == SNAPSHOT_NONE ? "is down" :
		    "is gone: another cable is in its place");
	}
}

/* ---- all ---- */

static gint
compare_kinds(gconstpointer a, gconstpointer b)
{
	const struct change *x = *(struct change *const *)a;
	const struct change *y = *(struct change *const *)b;

	return (int)x->kind - (int)y->kind;
}

GPtrArray *
changes_find(const struct snapshot *old, const struct lid_map *lids,
	     const struct snapshot *new, GHashTable *away, int64_t now)
{
	struct comparison c = {
		.old = old, .new = new, .lids = lids, .away = away, .now = now,
		.found = g_ptr_array_new_with_free_func(change_free),
		.to_old = snapshot_map_nodes(new, old),
	};

	if (old) {
		c.to_new = snapshot_map_nodes(old, new);
		for (uint32_t i = 0; i < old->n_nodes; i++)
			if (c.to_new[i] == SNAPSHOT_NONE)
				node_left(&c, i);
			else
				compare_node(&c, i, c.to_new[i]);
		for (uint32_t i = 0; i < new->n_nodes; i++)
			if (c.to_old[i] == SNAPSHOT_NONE)
				node_came(&c, i);
		find_links(&c, old, c.to_new, new, CHANGE_LINK_DOWN);
		find_links(&c, new, c.to_old, old, CHANGE_LINK_UP);
	}
	for (uint32_t port = 0; port < new->n_ports; port++) {
		const struct snapshot_port *p = &new->ports[port];
		struct port_info best, before;
		uint32_t was;
		bool slow, was_slow;

		if (p->peer == SNAPSHOT_NONE || port >= p->peer)
			continue;
		was = snapshot_same_port(new, port, c.to_old, old);
		slow = link_is_slow(new, port, &best);
		was_slow = was != SNAPSHOT_NONE &&
			link_is_slow(old, was, &before);
		if (slow && !was_slow)
			add(&c, CHANGE_SLOW, new->nodes[p->node].info.node_guid,
			    link_name(&c, new, port), "trained at %s%s of %s%s",
			    port_width(&p->info)->name,
			    port_speed(&p->info)->name, port_width(&best)->name,
			    port_speed(&best)->name);
		else if (was_slow && !slow && p->info.state >= PORT_STATE_INIT)
			add(&c, CHANGE_FULL_SPEED,
			    new->nodes[p->node].info.node_guid,
			    link_name(&c, new, port), "has its full speed again: "
			    "%s%s", port_width(&p->info)->name,
			    port_speed(&p->info)->name);
	}
	g_free(c.to_new);
	g_free(c.to_old);
	for (unsigned i = 0; i < 2; i++)
		g_clear_pointer(&c.shared[i], g_hash_table_unref);
	g_ptr_array_sort(c.found, compare_kinds);	/* stable */
	return c.found;
}

GPtrArray *
changes_group(const GPtrArray *changes, unsigned most)
{
	static const char *const texts[] = {
		[CHANGE_SWITCH_LEFT] = "switches left",
		[CHANGE_HOST_LEFT] = "hosts left",
		[CHANGE_LINK_DOWN] = "links between switches are down",
		[CHANGE_MOVED] = "hosts moved",
		[CHANGE_RENAMED] = "nodes have a new name",
		[CHANGE_SLOW] = "links trained below what both ends support",
		[CHANGE_SWITCH_CAME] = "switches came",
		[CHANGE_HOST_CAME] = "hosts came",
		[CHANGE_LINK_UP] = "links between switches are up",
		[CHANGE_FULL_SPEED] = "links have their full speed again",
	};
	GPtrArray *groups = g_ptr_array_new_with_free_func(change_free);

	for (guint i = 0, n; i < changes->len; i += n) {
		const struct change *c = changes->pdata[i], *other = c;
		GString *line;

		for (n = 1; i + n < changes->len; n++) {
			other = changes->pdata[i + n];
			if (other->kind != c->kind)
				break;
		}
		for (guint k = 0; n <= most && k < n; k++) {
			other = changes->pdata[i + k];
			g_ptr_array_add(groups,
					change_new(c->kind, other->guid,
						   g_strdup(other->name),
						   g_strdup(other->text)));
		}
		if (n <= most)
			continue;
		line = g_string_new(NULL);
		g_string_printf(line, "%u %s:", n, texts[c->kind]);
		for (guint k = 0; k < most; k++) {
			other = changes->pdata[i + k];
			g_string_append_printf(line, "%s %s", k ? "," : "",
					       other->name);
		}
		g_string_append_printf(line, " and %u more", n - most);
		g_ptr_array_add(groups, change_new(c->kind, 0, NULL,
					g_string_free(line, FALSE)));
	}
	return groups;
}
