// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Discovery.
 *
 * A query is a (kind, port) pair, sent by directed route. Its reply goes to the
 * builder and leads to further queries:
 *
 *	NodeInfo of the SM's own port
 *	  new node -> NodeDescription; a switch: SwitchInfo, PortInfo of all
 *		      ports; a CA or router: PortInfo of the port that replied
 *	  PortInfo of a port whose link is up and whose other end is not known
 *		   -> NodeInfo through that port
 *
 * There are no rounds and no barriers; queries for which the window has no room
 * wait in a queue. NodeInfo names both ends of a cable, so most cables are
 * queried from one end only.
 *
 * Identity. A node is identified by its NodeGUID, a cable end by (NodeGUID,
 * port number). Which of two places of a cable end is the second one must not depend
 * on which replies first. A reply that names a cable end which has another cable
 * already, or was at another place in the last snapshot (for the first discovery, the
 * expected fabric), is a late one: it is set aside until all others are there, and
 * these are taken in the order of their GUIDs and ports. If the end is without a cable
 * then, the node was moved, and is taken where it is now. Else either the fabric has
 * just changed or two nodes have the same GUID: the first place is queried once more
 * (QUERY_AGAIN), and the reply set aside again. If the end is still there, there are
 * two nodes, and the second one is left out of the snapshot and reported as a fault.
 * A PortGUID is the key of partitions, M_Keys and LIDs. A reply with that of
 * another port is left out as well; it is late if the PortGUID was another port's
 * in the last snapshot.
 *
 * A query that has timed out is sent once more, one of each node: a lossy cable
 * must not cost a node (sm/sweep/smp_batch.c). After the second time-out, it is not
 * queried further in this discovery; only queries in flight are retried.
 *
 * M_Keys. A port at protection level 2 or 3 does not answer a request with a
 * wrong M_Key (IBA 14.2.4), not even NodeInfo. So NodeInfo is sent with the
 * keys that the node behind the port had last time, one after the other. The
 * key that was accepted is used for the other queries to that node: at levels 2
 * and 3 it is the node's key, or the port has none; below, all Gets are
 * answered. Level 1 hides the key (14.2.4.1); there the other keys are tried
 * until it is shown, since Sets will need it. Keys of other nodes are not tried:
 * each would be read by a node that may be foreign.
 *
 * Hurry. A node that did not answer in the last discovery will hardly answer
 * now, and its time-outs would delay the repair of a cable that has just been
 * pulled. A discovery in a hurry leaves out the ports behind which such nodes
 * are, unless their state has changed: they are queried between the sweeps
 * (sm/sweep/light_sweep.c).
 *
 * Amending. A discovery may begin with a snapshot and read only the
 * neighbourhood of nodes that reported a change: sm/sweep/amend.c decides what
 * is read, in rounds; all else is the same as for new nodes. Late are replies of
 * cable ends that have another cable, whose port is to be read first. It is in a
 * hurry as well.
 */
#include "sm/sweep/discover.h"

#include "sm/sweep/amend.h"
#include "sm/sweep/faults.h"
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/smp_batch.h"
#include "topology/each.h"
#include "topology/snapshot.h"

enum query_kind {
	QUERY_NODE_INFO,	/* through the port; SNAPSHOT_NONE: own port */
	QUERY_AGAIN,		/* the same, because another port found the
				   same cable end, or the node is read again */
	QUERY_NODE_DESC,		/* of the port's node */
	QUERY_SWITCH_INFO,
	QUERY_PORT_INFO,		/* of the port */
	QUERY_PORT_SPEEDS,	/* the same, once more with extended speeds */
};

static const enum mad_attr query_attr[] = {
	[QUERY_NODE_INFO] = MAD_ATTR_NODE_INFO,
	[QUERY_AGAIN] = MAD_ATTR_NODE_INFO,
	[QUERY_NODE_DESC] = MAD_ATTR_NODE_DESC,
	[QUERY_SWITCH_INFO] = MAD_ATTR_SWITCH_INFO,
	[QUERY_PORT_INFO] = MAD_ATTR_PORT_INFO,
	[QUERY_PORT_SPEEDS] = MAD_ATTR_PORT_INFO,
};

struct probe {
	uint32_t port;
	uint8_t kind;		/* enum query_kind */
	uint8_t try;		/* number of the key: see query_key() */
};

/* NodeInfo that came through a port. */
struct claim {
	uint32_t from;		/* SNAPSHOT_NONE: of the own port */
	uint64_t key;		/* with which it was answered */
	struct node_info info;
};

struct discover {
	struct mad_client *x;
	discover_done_fn done;
	void *data;
	struct builder *b;
	struct snapshot *s;	/* of b */
	GArray *queue;		/* of struct probe, from `head` on */
	guint head;
	GArray *late;		/* of struct claim: set aside */
	GHashTable *disputed;	/* cable ends whose first place was asked again */
	GHashTable *timed_out;	/* builder's node indices */
	GHashTable *lossy;	/* the same: a query was sent once more */
	GHashTable *unfit;	/* struct snapshot_fault by the port behind which
				   a node is that answers, and is left out */
	uint32_t n_waves;	/* of an amendment: each reads a port */
	uint64_t recovered;	/* answers after a loss, before it began */
	const struct mkey_db *keys;
	GArray *opened;		/* by end port of the builder: the key with
				   which NodeInfo was answered; 0: none was
				   needed */
	struct snapshot *last;	/* NULL: there is none */
	GHashTable *owners;	/* its end ports, struct snapshot_port, by the
				   GUID that they begin with; not to amend it */
	const GArray *silent;	/* of struct silent_port; NULL: no hurry */
	struct amend *amend;	/* or NULL */
	GArray *lost;		/* see silent_note() */
};

static void
add_query(struct discover *d, enum query_kind what, uint32_t port)
{
	struct probe q = { .port = port, .kind = what };

	g_array_append_val(d->queue, q);
}

/* ----------------------------------------------------------------- M_Keys */

/* NodeGUID last found behind the port; 0: none. */
static uint64_t
was_behind(struct discover *d, uint32_t port)
{
	uint32_t holder;

	if (port == SNAPSHOT_NONE)
		return d->x->transport->port_guid;
	holder = snapshot_holder_of(d->s, port);
	return mkey_db_behind(d->keys, d->s->ports[holder].guid,
			      d->s->ports[port].num);
}

/* The try-th key (from 0) for a query: for NodeInfo through a port of those of the
 * node last found there; for a node that has answered, first the key of that
 * answer. False: there are no more. */
static bool
query_key(struct discover *d, const struct probe *q, uint64_t *key)
{
	uint32_t port = q->kind == QUERY_AGAIN ? d->s->ports[q->port].peer :
		q->port, holder;
	uint64_t tries[MKEY_DB_TRIES], guid, opened = 0;
	unsigned n;

	if (q->kind == QUERY_NODE_INFO || port == SNAPSHOT_NONE) {
		guid = was_behind(d, q->port);
	} else {
		holder = snapshot_holder_of(d->s, port);
		guid = d->s->ports[holder].guid;
		if (holder < d->opened->len)
			opened = g_array_index(d->opened, uint64_t, holder);
	}
	n = mkey_db_tries(d->keys, guid, opened, tries);
	*key = tries[MIN(q->try, n - 1)];
	return q->try < n;
}

/* Repeats a query with the next key. */
static bool
query_with_next_key(struct discover *d, const struct probe *q)
{
	struct probe next = *q;
	uint64_t key;

	next.try++;
	if (!next.try || !query_key(d, &next, &key))
		return false;
	g_array_append_val(d->queue, next);
	return true;
}

/*
 * The directed route of a query: to a node (for a CA or router: into `port`, by
 * the switch port that it is cabled to), or through one of its ports. Follows
 * the entry ports back to the SM and reverses them. False: it is too long.
 */
static bool
query_path(struct discover *d, const struct probe *q, struct dr_path *path)
{
	uint8_t back[DR_MAX_HOPS];
	unsigned n = 0;
	const struct snapshot_port *p;
	const struct snapshot_node *node;
	uint32_t entry, local = d->s->local_port;

	*path = (struct dr_path){ .hops = 0 };
	if (q->port == SNAPSHOT_NONE)
		return true;
	p = &d->s->ports[q->port];
	node = &d->s->nodes[p->node];
	entry = node->entry;
	/* Also for the other port of our own CA: each port has its own
	 * M_Key. */
	if (!snapshot_is_switch(node) && p->peer != SNAPSHOT_NONE &&
	    q->port != local)
		entry = p->peer;
	while (entry != SNAPSHOT_NONE) {
		if (n == DR_MAX_HOPS)
			return false;
		p = &d->s->ports[entry];
		back[n++] = p->num;
		entry = d->s->nodes[p->node].entry;
	}
	if (p->node != d->s->ports[local].node)
		return false;
	path->hops = n;
	for (unsigned i = 0; i < n; i++)
		path->port[i + 1] = back[n - 1 - i];
	return query_attr[q->kind] != MAD_ATTR_NODE_INFO ||
		dr_path_push(path, d->s->ports[q->port].num);
}

static void
query_node(struct discover *d, uint32_t node, uint32_t port)
{
	const struct snapshot_node *n = &d->s->nodes[node];
	unsigned ports = n->info.num_ports;

	add_query(d, QUERY_NODE_DESC, port);
	if (!snapshot_is_switch(n)) {
		add_query(d, QUERY_PORT_INFO, port);
		return;
	}
	add_query(d, QUERY_SWITCH_INFO, n->first_port);
	for (unsigned num = 0; num <= ports; num++)
		add_query(d, QUERY_PORT_INFO, n->first_port + num);
}

static void
link_found(struct discover *d, uint32_t from, uint32_t port)
{
	/* the last answer counts */
	builder_unlink(d->b, from);
	builder_unlink(d->b, port);
	builder_link(d->b, from, port);
	if (d->amend)
		amend_on_cable(d->amend, port);
}

/* A known node replied. */
static void
link_known_node(struct discover *d, const struct claim *c, uint32_t node)
{
	const struct snapshot_node *n = &d->s->nodes[node];
	const struct node_info *info = &c->info;
	uint32_t port = snapshot_port_of(d->s, node, info->local_port);
	bool is_switch = snapshot_is_switch(n);
	struct snapshot_port *p;

	if (c->from == SNAPSHOT_NONE)
		return;
	if (n->info.node_type != info->node_type ||
	    n->info.num_ports != info->num_ports ||
	    n->info.system_guid != info->system_guid ||
	    n->info.device_id != info->device_id ||
	    n->info.vendor_id != info->vendor_id) {
		faults_duplicate(d->b, info->node_guid, n->entry, c->from);
		return;
	}
	if (d->amend && is_switch)	/* PartitionCap of another firmware */
		d->s->nodes[node].info = *info;
	p = &d->s->ports[port];
	if (p->peer == c->from)
		return;
	if (p->peer != SNAPSHOT_NONE && p->peer != d->s->local_port &&
	    !snapshot_is_switch(snapshot_node_of(d->s, p->peer))) {
		/* It replied through this very cable, and no query can be sent
		 * through a CA. */
		faults_duplicate(d->b, info->node_guid, n->entry, c->from);
		return;
	}
	if (p->peer != SNAPSHOT_NONE &&
	    !g_hash_table_add(d->disputed, GUINT_TO_POINTER(port))) {
		faults_duplicate(d->b, info->node_guid, p->peer, c->from);
		return;
	}
	if (p->peer != SNAPSHOT_NONE) {
		add_query(d, QUERY_AGAIN, p->peer);
		g_array_append_val(d->late, *c);
		return;
	}
	if (!is_switch && p->guid && p->guid != info->port_guid) {
		faults_duplicate(d->b, info->node_guid, n->entry, c->from);
		return;
	}
	if (!is_switch && faults_port_guid(d->b, c->from, port, info))
		return;
	link_found(d, c->from, port);
	if (!is_switch && !p->known) {
		builder_name_port(d->b, port, info->port_guid);
		add_query(d, QUERY_PORT_INFO, port);
		if (d->amend) {
			d->s->nodes[node].info = *info;
			add_query(d, QUERY_NODE_DESC, port);
		}
	}
}

/* Has this cable end another cable, or was it at another place in the last snapshot,
 * or the PortGUID another port's? If the end had no cable there: is its node still to
 * be found at one that had? In a repair, is the port of the other cable to be read? */
static bool
is_late(const struct discover *d, const struct claim *c)
{
	const struct node_info *info = &c->info;
	uint32_t found = builder_find(d->b, info->node_guid);
	uint32_t port = snapshot_port_of(d->s, found, info->local_port);
	uint32_t peer = port == SNAPSHOT_NONE ? port : d->s->ports[port].peer;
	const struct snapshot *last = d->last;
	const struct snapshot_port *at, *owner;
	uint32_t node;

	if (peer != SNAPSHOT_NONE && peer != c->from)
		return !d->amend || amend_defer(d->amend, peer);
	if (d->amend || !last || c->from == SNAPSHOT_NONE)
		return false;
	at = &d->s->ports[c->from];
	owner = g_hash_table_lookup(d->owners, &info->port_guid);
	if (owner && (last->nodes[owner->node].info.node_guid !=
		      info->node_guid ||
		      (owner->num && owner->num != info->local_port)))
		return true;
	node = snapshot_find_node(last, info->node_guid);
	if (node == SNAPSHOT_NONE)
		return false;
	port = snapshot_port_of(last, node, info->local_port);
	peer = port == SNAPSHOT_NONE ? port : last->ports[port].peer;
	if (peer == SNAPSHOT_NONE)
		return found == SNAPSHOT_NONE;
	return last->ports[peer].num != at->num ||
		snapshot_node_of(last, peer)->info.node_guid !=
		d->s->nodes[at->node].info.node_guid;
}

/* Of a new node, until it answers for itself: its name, and see struct
 * snapshot_node. What is only expected has no capabilities. */
static void
take_last(struct discover *d, uint32_t node, const struct node_info *info)
{
	bool is_first = !d->amend &&
		(!d->last || d->last->local_port == SNAPSHOT_NONE);
	uint32_t at = d->last ?
		snapshot_find_node(d->last, info->node_guid) : SNAPSHOT_NONE;
	const struct snapshot_node *was = at == SNAPSHOT_NONE ? NULL :
		&d->last->nodes[at];

	d->s->nodes[node].last_fdb_cap = was ? was->sw.linear_fdb_cap :
		is_first ? 0 : UINT16_MAX;
	if (was)
		builder_describe(d->b, node, (const uint8_t *)was->desc,
				 NODE_DESC_LEN);
}

/* Adds the node, or the cable. */
static void
take_claim(struct discover *d, const struct claim *c)
{
	const struct node_info *info = &c->info;
	uint32_t node = builder_find(d->b, info->node_guid), port, holder;

	if (node != SNAPSHOT_NONE) {
		link_known_node(d, c, node);
		/* Of another type: two nodes, one left out. */
		if (info->local_port > d->s->nodes[node].info.num_ports)
			return;
		port = snapshot_port_of(d->s, node, info->local_port);
	} else if (faults_port_guid(d->b, c->from, SNAPSHOT_NONE, info)) {
		return;
	} else {
		node = builder_add(d->b, info);
		port = snapshot_port_of(d->s, node, info->local_port);
		d->s->nodes[node].entry = c->from;
		take_last(d, node, info);
		if (c->from == SNAPSHOT_NONE)
			d->s->local_port = port;
		else	/* also if it was linked from its other end, and moved */
			link_found(d, c->from, port);
		query_node(d, node, port);
	}
	holder = snapshot_holder_of(d->s, port);
	if (holder >= d->opened->len)
		g_array_set_size(d->opened, holder + 1);
	if (!g_array_index(d->opened, uint64_t, holder))
		g_array_index(d->opened, uint64_t, holder) = c->key;
}

/* The node behind this port of a switch is left out, as one that does not answer. text:
 * taken over. */
static void
note_unfit(struct discover *d, uint32_t port, enum snapshot_fault_kind kind,
	   char *text)
{
	const struct snapshot_fault f = { .kind = kind, .text = text };

	g_hash_table_insert(d->unfit, GUINT_TO_POINTER(port),
			    g_memdup2(&f, sizeof(f)));
}

static void
unfit_free(gpointer data)
{
	struct snapshot_fault *f = data;

	g_free(f->text);
	g_free(f);
}

/* The switch's port behind which this port of another host is; SNAPSHOT_NONE: it is
 * none. */
static uint32_t
host_at(const struct discover *d, uint32_t port)
{
	return !snapshot_is_switch(snapshot_node_of(d->s, port)) &&
		snapshot_is_other_end(d->s, port) ? d->s->ports[port].peer :
		SNAPSHOT_NONE;
}

static void
on_node_info(struct discover *d, uint32_t from, uint64_t key,
	     const uint8_t *data)
{
	struct claim c = { .from = from, .key = key };
	const char *error;

	node_info_decode(data, &c.info);
	error = faults_node_info(&c.info, from);
	if (error && from != SNAPSHOT_NONE &&
	    snapshot_is_switch(snapshot_node_of(d->s, from))) {
		d->s->ports[from].silent = true;
		note_unfit(d, from, SNAPSHOT_FAULT_UNUSABLE, g_strdup(error));
		return;
	}
	if (error) {
		g_autofree char *where = faults_place(d->s, from);

		builder_fault(d->b, SNAPSHOT_FAULT_LIAR, c.info.node_guid,
			      "the node behind %s %s; left out", where, error);
		return;
	}
	g_hash_table_remove(d->unfit, GUINT_TO_POINTER(from));
	if (is_late(d, &c))
		g_array_append_val(d->late, c);
	else
		take_claim(d, &c);
}

static gint
compare_claims(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct claim *x = a, *y = b;
	const struct snapshot *s = data;

	return uint_compare(x->info.node_guid, y->info.node_guid) ?:
		uint_compare(snapshot_node_of(s, x->from)->info.node_guid,
			     snapshot_node_of(s, y->from)->info.node_guid) ?:
		uint_compare(x->from, y->from);
}

/* Takes the replies that were set aside; false: there are none. */
static bool
take_late(struct discover *d)
{
	g_autoptr(GArray) late = d->late;

	d->late = g_array_new(FALSE, FALSE, sizeof(struct claim));
	g_array_sort_with_data(late, compare_claims, d->s);
	EACH_ITEM(const struct claim, c, late) {
		/* Else the other end of the cable was found from there. */
		if (d->s->ports[c->from].peer == SNAPSHOT_NONE)
			take_claim(d, c);
	}
	return late->len > 0;
}

/* The first place of a cable end that was found twice has answered, or that of a
 * node which is read again; data NULL: it did not. */
static void
on_again(struct discover *d, uint32_t from, const uint8_t *data)
{
	uint32_t end = d->s->ports[from].peer;
	struct node_info info = { .node_guid = 0 };
	const struct snapshot_node *n;
	struct snapshot_port *e;

	if (end == SNAPSHOT_NONE)
		return;
	e = &d->s->ports[end];
	n = &d->s->nodes[e->node];
	if (data)
		node_info_decode(data, &info);
	if (info.node_guid == n->info.node_guid && info.local_port == e->num)
		return;
	if (g_hash_table_contains(d->disputed, GUINT_TO_POINTER(end))) {
		/* The cable was moved during this discovery, and what was read
		 * of this end is older. */
		builder_unlink(d->b, from);
		if (snapshot_is_switch(n))
			add_query(d, QUERY_PORT_INFO, end);
		else
			e->known = false;
		if (data)
			on_node_info(d, from, 0, data);
	} else if (data) {
		g_autofree char *where = faults_place(d->s, from);
		g_autofree char *node = faults_place(d->s, end);

		/* Both ends are Active as before, since a Set for the node of
		 * before has reached another one: nothing else tells it. */
		builder_fault(d->b, SNAPSHOT_FAULT_LIAR, n->info.node_guid,
			      "%s no longer leads to %s", where, node);
	}
}

/* Did no node answer behind this port until now, and is its state the same? The
 * manager's own port is the only way into the fabric. */
static bool
is_left_out(const struct discover *d, uint32_t port)
{
	const struct silent_port *then = silent_find(d->silent, d->s, port);

	return then && port != d->s->local_port &&
		then->state == d->s->ports[port].info.state;
}

/* Is the fabric to be without this port of a host, if that tells too little? In a
 * repair all is read for one that was there. */
static bool
may_leave_out(const struct discover *d, uint32_t port)
{
	uint32_t at = host_at(d, port);

	return at != SNAPSHOT_NONE &&
		(!d->amend || silent_find(d->silent, d->s, at));
}

static void
note_bad_state(struct discover *d, uint32_t port, unsigned state)
{
	const struct snapshot_port *p = &d->s->ports[port];
	g_autofree char *where = faults_place(d->s, port);

	if (may_leave_out(d, port))
		note_unfit(d, p->peer, SNAPSHOT_FAULT_UNUSABLE, g_strdup_printf(
			   "has the invalid PortState %u", state));
	else
		builder_fault(d->b, SNAPSHOT_FAULT_LIAR,
			      d->s->nodes[p->node].info.node_guid,
			      "%s has the invalid PortState %u", where, state);
}

static void
discover_on_port_info(struct discover *d, const struct probe *q,
		      const uint8_t *data)
{
	uint32_t port = q->port;
	struct snapshot_port *p = &d->s->ports[port];
	const struct snapshot_node *n = &d->s->nodes[p->node];
	bool leads_on = snapshot_is_switch(n) ? p->num > 0 :
			port == d->s->local_port;
	const struct port_info was = p->info;
	const struct snapshot_port *holder;
	unsigned last;

	port_info_decode(data, &p->info);
	/* The state of a switch's port 0 has no meaning unless it is enhanced
	 * (IBA 14.2.5.6), and nothing depends on it. */
	if (p->num > 0 && (p->info.state < PORT_STATE_DOWN ||
			   p->info.state > PORT_STATE_ACTIVE_DEFER)) {
		note_bad_state(d, port, p->info.state);
		p->info = was;
		return;
	}
	p->known = true;
	if (host_at(d, port) != SNAPSHOT_NONE)
		g_hash_table_remove(d->unfit, GUINT_TO_POINTER(p->peer));
	if (q->kind == QUERY_PORT_SPEEDS)
		return;
	if (d->amend)
		amend_on_port(d->amend, port, &was, is_left_out(d, port));
	if (d->amend && p->rose && leads_on && p->peer != SNAPSHOT_NONE) {
		add_query(d, QUERY_AGAIN, port);	/* see snapshot.h */
		p->rose = false;
	}
	/*
	 * Some devices hide extended speeds unless the manager says that it
	 * supports them: the link looks like QDR. As most do not, this takes
	 * a second query. Port 0 of a switch tells whether it supports them,
	 * and may be read later than its ports.
	 */
	holder = &d->s->ports[snapshot_holder_of(d->s, port)];
	last = snapshot_is_switch(n) && !p->num ? n->info.num_ports : p->num;
	for (unsigned num = MAX(p->num, 1u); num <= last; num++) {
		uint32_t each = n->first_port + num;
		const struct snapshot_port *e = &d->s->ports[each];

		if (e->known && e->info.state != PORT_STATE_DOWN &&
		    holder->info.cap_mask & PORT_CAP_HAS_EXT_SPEEDS &&
		    e->info.speed_active == PORT_SPEED_QDR &&
		    !e->info.speed_ext_active && !e->info.speed_ext2_active)
			add_query(d, QUERY_PORT_SPEEDS, each);
	}
	/* The end port hides its M_Key. */
	if (p->guid && mkey_db_is_hidden(&p->info))
		query_with_next_key(d, q);
	if (leads_on && !q->try && p->peer == SNAPSHOT_NONE &&
	    p->info.state != PORT_STATE_DOWN)
		add_query(d, QUERY_NODE_INFO, port);
}

static void
discover_on_answer(struct discover *d, const struct probe *q,
		   const uint8_t *data)
{
	uint32_t node = q->port == SNAPSHOT_NONE ? SNAPSHOT_NONE :
		d->s->ports[q->port].node;
	struct snapshot_node *n;
	uint64_t key;
	uint32_t port;

	switch ((enum query_kind)q->kind) {
	case QUERY_NODE_INFO:
		query_key(d, q, &key);
		on_node_info(d, q->port, key, data);
		break;
	case QUERY_AGAIN:
		on_again(d, q->port, data);
		break;
	case QUERY_NODE_DESC:
		builder_describe(d->b, node, data, NODE_DESC_LEN);
		port = snapshot_holder_of(d->s, q->port);
		if (d->s->ports[port].trouble == SNAPSHOT_NO_NAME)
			d->s->ports[port].trouble = SNAPSHOT_SOUND;
		break;
	case QUERY_SWITCH_INFO:
		n = &d->s->nodes[node];
		/* Repairs alone do not make a smaller table true. */
		if (n->sw_known)
			n->last_fdb_cap = MAX(n->last_fdb_cap,
					      n->sw.linear_fdb_cap);
		switch_info_decode(data, &n->sw);
		n->sw_known = true;
		break;
	case QUERY_PORT_INFO:
	case QUERY_PORT_SPEEDS:
		discover_on_port_info(d, q, data);
		break;
	}
}

static bool
has_timed_out(struct discover *d, uint32_t port)
{
	return port != SNAPSHOT_NONE &&
		g_hash_table_contains(d->timed_out, GUINT_TO_POINTER(
			d->s->ports[port].node));
}

/* Does it answer, but after its request was given up? */
static bool
is_too_late(struct discover *d, const struct probe *q)
{
	struct dr_path path;

	return query_path(d, q, &path) && mad_client_is_late(d->x, &path);
}

static void
fault_unanswered(struct discover *d, uint32_t port)
{
	const struct probe q = { .port = port, .kind = QUERY_NODE_INFO };
	uint64_t guid = was_behind(d, port);
	g_autofree char *was = guid ?
		g_strdup_printf("; it was port 0x%016" G_GINT64_MODIFIER "x",
				guid) : g_strdup("");
	const struct snapshot_fault *unfit = g_hash_table_lookup(d->unfit,
						GUINT_TO_POINTER(port));
	enum snapshot_fault_kind kind = SNAPSHOT_FAULT_SILENT;
	const char *what = "does not answer NodeInfo: hung, without a driver, "
		"or protected by a foreign M_Key (see m_key_lookup in "
		"minism.conf(5))";

	if (port != SNAPSHOT_NONE && is_left_out(d, port)) {
		kind = SNAPSHOT_FAULT_AS_BEFORE;
		what = "is not asked now";
	} else if (unfit) {
		kind = unfit->kind;
		what = unfit->text;
	} else if (is_too_late(d, &q)) {
		kind = SNAPSHOT_FAULT_LATE;
		what = "answers NodeInfo " SMP_TOO_LATE;
	}
	builder_fault_behind(d->b, kind, port, g_strdup_printf(
			     "%s%s%s", port == SNAPSHOT_NONE ? "the node behind "
			     "our own port " : "", what, was));
}

/* Of NodeDescription: nothing depends on it. A repair leads to a heavy sweep. */
static bool
is_spared(struct discover *d, const struct probe *q, const struct smp_request *r)
{
	uint32_t port = q->kind != QUERY_NODE_DESC ? SNAPSHOT_NONE :
		snapshot_holder_of(d->s, q->port);

	if (port == SNAPSHOT_NONE || d->amend ||
	    !snapshot_is_other_end(d->s, port) ||
	    d->s->ports[q->port].node == d->s->ports[d->s->local_port].node)
		return false;
	d->s->ports[port].trouble = SNAPSHOT_NO_NAME;
	silent_note(d->lost, d->s, r);
	return true;
}

/* Without PortInfo a host can be given no LID. */
static bool
is_of_host(const struct discover *d, const struct probe *q)
{
	return q->kind == QUERY_PORT_INFO && !d->s->ports[q->port].known &&
		host_at(d, q->port) != SNAPSHOT_NONE;
}

/* No answer, or a status (else 0) for one. */
static void
discover_on_lack(struct discover *d, const struct probe *q,
		 const struct smp_request *r, unsigned status)
{
	const char *attr = mad_attr_name(r->attr);
	g_autofree char *where = faults_place(d->s, q->port);
	bool is_late = !status && is_too_late(d, q);
	enum snapshot_fault_kind kind = status ? SNAPSHOT_FAULT_REFUSED :
		is_late ? SNAPSHOT_FAULT_LATE : SNAPSHOT_FAULT_SILENT;
	g_autofree char *what = status ?
		g_strdup_printf("refuses %s: %s", attr, mad_status_name(status)) :
		g_strdup_printf(is_late ? "answers %s " SMP_TOO_LATE :
				"does not answer %s", attr);

	if (q->kind == QUERY_AGAIN && !status)
		on_again(d, q->port, NULL);
	if (q->kind == QUERY_AGAIN || (q->kind == QUERY_PORT_SPEEDS && status))
		return;
	if (q->kind == QUERY_NODE_INFO) {
		if (status)
			note_unfit(d, q->port, kind, g_steal_pointer(&what));
		if (query_with_next_key(d, q))
			return;
		if (q->port == SNAPSHOT_NONE)
			fault_unanswered(d, q->port);
		else
			d->s->ports[q->port].silent = true;
		return;
	}
	/* beside what it failed with first: light sweeps ask for it */
	if (q->kind == QUERY_SWITCH_INFO)
		silent_note(d->lost, d->s, r);
	if ((!status && (has_timed_out(d, q->port) || q->try)) ||
	    is_spared(d, q, r))
		return;
	if (is_of_host(d, q) && (status || may_leave_out(d, q->port))) {
		note_unfit(d, d->s->ports[q->port].peer,
			   kind == SNAPSHOT_FAULT_SILENT ?
			   SNAPSHOT_FAULT_UNUSABLE : kind,
			   g_steal_pointer(&what));
		return;
	}
	if (!status)
		g_hash_table_add(d->timed_out, GUINT_TO_POINTER(
			d->s->ports[q->port].node));
	silent_note(d->lost, d->s, r);
	builder_fault(d->b, kind,
		      snapshot_node_of(d->s, q->port)->info.node_guid, "%s %s",
		      where, what);
}

/* The NodeGUID of the node that answered last behind this port, another one would
 * have brought the link down; 0: it is not known. */
static uint64_t
find_behind(const struct discover *d, uint32_t port)
{
	const struct snapshot *then = d->last;
	const struct snapshot_port *p = &d->s->ports[port];
	uint32_t node = !then ? SNAPSHOT_NONE : snapshot_find_node(then,
			d->s->nodes[p->node].info.node_guid);
	uint32_t was = node == SNAPSHOT_NONE ? node :
		snapshot_port_of(then, node, p->num), peer;

	if (was == SNAPSHOT_NONE)
		return 0;
	peer = then->ports[was].peer;
	return peer == SNAPSHOT_NONE ? then->ports[was].behind :
		snapshot_node_of(then, peer)->info.node_guid;
}

/* A host whose port is said to be down, by itself alone, has just left. */
static void
leave_out_hosts(struct discover *d)
{
	GHashTableIter iter;
	gpointer at;

	for (uint32_t port = 0; port < d->s->n_ports; port++) {
		const struct snapshot_port *p = &d->s->ports[port];

		if (p->known && p->info.state == PORT_STATE_DOWN &&
		    may_leave_out(d, port))
			note_unfit(d, p->peer, SNAPSHOT_FAULT_UNUSABLE,
				   g_strdup("says that its port is down"));
	}
	g_hash_table_iter_init(&iter, d->unfit);
	while (g_hash_table_iter_next(&iter, &at, NULL)) {
		uint32_t port = GPOINTER_TO_UINT(at);
		uint32_t host = port == SNAPSHOT_NONE ? port :
			d->s->ports[port].peer;

		if (host == SNAPSHOT_NONE || host_at(d, host) != port)
			continue;
		builder_unlink(d->b, host);
		d->s->ports[port].silent = true;
	}
}

/* If the other end has replied through another cable, no node is missing behind
 * a port. */
static void
note_silent(struct discover *d)
{
	for (uint32_t port = 0; port < d->s->n_ports; port++) {
		struct snapshot_port *p = &d->s->ports[port];
		bool reached = port == d->s->local_port ||
			d->s->nodes[p->node].entry != SNAPSHOT_NONE;

		p->silent = p->silent && p->known && reached &&
			p->peer == SNAPSHOT_NONE &&
			p->info.state != PORT_STATE_DOWN;
		p->behind = p->silent ? find_behind(d, port) : 0;
		if (p->silent)
			fault_unanswered(d, port);
	}
}

/* ------------------------------------------------------------- the batch */

static struct probe
probe_of(const struct smp_request *r)
{
	return (struct probe){
		.port = r->port, .kind = r->tag & 0xff, .try = r->tag >> 8,
	};
}

/*
 * A time-out in a repair leads to a heavy sweep, which reads all again. A port
 * behind which no node has answered is asked again only if the fabric is seen
 * to lose SMPs: else no node will answer, and all would wait for it.
 */
static bool
discover_again(void *data, const struct smp_request *r)
{
	struct discover *d = data;
	const struct probe q = probe_of(r);

	if (d->amend || q.try)
		return false;
	if (q.kind == QUERY_NODE_INFO)
		return d->x->stats.recovered > d->recovered;
	return !has_timed_out(d, q.port) &&
		g_hash_table_add(d->lossy, GUINT_TO_POINTER(
			d->s->ports[q.port].node));
}

static void
discover_reply(void *data, const struct smp_request *r,
	       const struct smp_reply *a)
{
	const struct probe q = probe_of(r);

	if (a->outcome == SMP_ANSWERED && !a->status)
		discover_on_answer(data, &q, a->data);
	else
		discover_on_lack(data, &q, r, a->status);
}

/* Answered in the meantime, left out, or the node has stopped answering. */
static bool
is_void(struct discover *d, const struct probe *q)
{
	if (q->port == SNAPSHOT_NONE || q->kind == QUERY_AGAIN)
		return false;
	if (q->kind != QUERY_NODE_INFO)
		return has_timed_out(d, q->port);
	if (d->s->ports[q->port].peer != SNAPSHOT_NONE)
		return true;
	return d->s->ports[q->port].silent = is_left_out(d, q->port);
}

static bool
discover_next(void *data, struct smp_request *r)
{
	struct discover *d = data;

	while (d->head < d->queue->len) {
		struct probe q = g_array_index(d->queue, struct probe,
					       d->head++);

		if (is_void(d, &q))
			continue;
		if (!query_path(d, &q, &r->path)) {
			g_autofree char *where = faults_place(d->s, q.port);

			if (q.kind == QUERY_AGAIN) {
				on_again(d, q.port, NULL);
				continue;
			}
			builder_fault(d->b, SNAPSHOT_FAULT_TOO_FAR, 0,
				      "the node behind %s is more than %u hops "
				      "away", where, DR_MAX_HOPS);
			continue;
		}
		query_key(d, &q, &r->key);
		r->addressed = true;
		r->port = q.port;
		r->attr = query_attr[q.kind];
		if (r->attr == MAD_ATTR_PORT_INFO)
			r->modifier = q.kind == QUERY_PORT_SPEEDS || q.try ?
				smp_batch_port_info_modifier(d->s, q.port) :
				d->s->ports[q.port].num;
		r->tag = (uint64_t)q.try << 8 | q.kind;
		return true;
	}
	g_array_set_size(d->queue, 0);
	d->head = 0;
	return false;
}

static void
discover_free(void *data)
{
	struct discover *d = data;

	builder_free(d->b);
	g_array_unref(d->queue);
	g_array_unref(d->late);
	g_hash_table_unref(d->disputed);
	g_hash_table_unref(d->owners);
	amend_free(d->amend);
	snapshot_unref(d->last);
	g_array_unref(d->opened);
	g_hash_table_unref(d->timed_out);
	g_hash_table_unref(d->lossy);
	g_hash_table_unref(d->unfit);
	g_array_unref(d->lost);
	g_free(d);
}

/* False: there is nothing more to read, or it would be useless. */
static bool
query_wave(struct discover *d)
{
	g_autoptr(GArray) wave = NULL;

	if (!d->amend || d->s->n_faults || d->n_waves++ > d->s->n_ports)
		return false;
	wave = amend_wave(d->amend);
	EACH_ITEM(const struct amend_query, q, wave) {
		/* a cable whose ends are Active may be another one */
		if (q->entry != SNAPSHOT_NONE)
			add_query(d, QUERY_AGAIN, q->entry);
		if (q->is_node)
			query_node(d, d->s->ports[q->port].node, q->port);
		else
			add_query(d, QUERY_PORT_INFO, q->port);
	}
	return wave->len > 0;
}

/* A switch that has its LID and its master of before has not been reset; if port 0
 * did not answer now or then, nor has one with a link that is Active. */
static bool
is_as_before(const struct discover *d, const struct snapshot_node *n,
	     const struct snapshot_node *was)
{
	const struct snapshot_port *now = &d->s->ports[n->first_port];
	const struct snapshot_port *then = &d->last->ports[was->first_port];

	if (now->known && (then->known || !now->info.lid))
		return now->info.lid && now->info.lid == then->info.lid &&
			now->info.sm_lid == then->info.sm_lid;
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		if (now[num].known && now[num].info.state >= PORT_STATE_ACTIVE)
			return true;
	return false;
}

/* A lost answer takes no table out of sight: it goes on forwarding, and has the
 * size of before. */
static void
keep_last(struct discover *d)
{
	for (uint32_t n = 0; d->last && n < d->s->n_nodes; n++) {
		struct snapshot_node *node = &d->s->nodes[n];
		uint32_t was = node->sw_known || !snapshot_is_switch(node) ?
			SNAPSHOT_NONE :
			snapshot_find_node(d->last, node->info.node_guid);

		if (was == SNAPSHOT_NONE || !d->last->nodes[was].sw_known ||
		    !is_as_before(d, node, &d->last->nodes[was]))
			continue;
		node->sw = d->last->nodes[was].sw;
		node->sw_known = true;
	}
}

/* Is a switch of the last snapshot without power, as far as is seen: no cable to a
 * switch that is here has a link, and there was one? now: by node of `then`. */
static bool
has_ended(const struct snapshot *s, const struct snapshot *then,
	  const uint32_t *now, const struct snapshot_node *was)
{
	bool has_ended = false;

	for (uint32_t num = 1; num <= was->info.num_ports; num++) {
		uint32_t far = then->ports[was->first_port + num].peer;
		uint32_t node = far == SNAPSHOT_NONE ? far :
			now[then->ports[far].node];

		if (node == SNAPSHOT_NONE || !snapshot_is_switch(&s->nodes[node]))
			continue;
		far = snapshot_port_of(s, node, then->ports[far].num);
		/* it has fewer ports by now, or another one has its GUID */
		if (far == SNAPSHOT_NONE)
			continue;
		if (s->ports[far].peer == SNAPSHOT_NONE &&
		    s->ports[far].info.state != PORT_STATE_DOWN)
			return false;
		has_ended = true;
	}
	return has_ended;
}

/* A switch that left and may go on forwarding: what it is cabled to and does not
 * answer either may send packets on to it. So may a node of which nothing is known at
 * a switch that came. */
static void
note_beyond(struct snapshot *s, const struct snapshot *then)
{
	g_autoptr(GHashTable) near = g_hash_table_new(g_int64_hash,
						      g_int64_equal);
	g_autofree uint32_t *now = snapshot_map_nodes(then, s);
	g_autofree uint32_t *before = snapshot_map_nodes(s, then);

	for (uint32_t i = 0; i < then->n_ports; i++) {
		const struct snapshot_port *p = &then->ports[i];
		const struct snapshot_node *n = &then->nodes[p->node];

		if (snapshot_is_switch(n) && now[p->node] == SNAPSHOT_NONE &&
		    !has_ended(s, then, now, n))
			g_hash_table_add(near, (gpointer)(p->peer ==
				SNAPSHOT_NONE ? &p->behind :
				&snapshot_node_of(then, p->peer)->info.node_guid));
	}
	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct snapshot_port *p = &s->ports[i];
		uint32_t was = !p->silent ? SNAPSHOT_NONE :
			snapshot_same_port(s, i, before, then);

		p->beyond = p->silent && (was == SNAPSHOT_NONE ||
			then->ports[was].beyond || (p->behind &&
			g_hash_table_contains(near, &p->behind)));
	}
}

static bool
discover_done(void *data)
{
	struct discover *d = data;

	return query_wave(d) || take_late(d);
}

static void
discover_end(void *data)
{
	struct discover *d = data;
	struct snapshot *s;

	keep_last(d);
	leave_out_hosts(d);
	note_silent(d);
	faults_locked(d->b, d->keys);
	faults_half_cables(d->b);
	s = builder_finish(g_steal_pointer(&d->b));
	if (d->last)
		note_beyond(s, d->last);
	d->done(s, d->lost, d->data);
}

struct smp_batch *
discover_start(struct mad_client *x, const struct mkey_db *keys,
	       const struct discover_params *params, discover_done_fn done,
	       void *data)
{
	struct discover *d = g_new0(struct discover, 1);
	const struct smp_stage stage = {
		.next = discover_next, .reply = discover_reply,
		.again = discover_again, .done = discover_done,
		.end = discover_end, .free = discover_free, .data = d,
	};
	struct smp_batch *batch = smp_batch_start(x, NULL, keys, &stage);

	d->x = x;
	d->done = done;
	d->data = data;
	d->keys = keys;
	d->recovered = x->stats.recovered;
	d->opened = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	d->queue = g_array_new(FALSE, FALSE, sizeof(struct probe));
	d->late = g_array_new(FALSE, FALSE, sizeof(struct claim));
	d->disputed = g_hash_table_new(NULL, NULL);
	d->lost = g_array_new(FALSE, FALSE, sizeof(struct silent_port));
	d->timed_out = g_hash_table_new(NULL, NULL);
	d->lossy = g_hash_table_new(NULL, NULL);
	d->unfit = g_hash_table_new_full(NULL, NULL, NULL, unfit_free);
	d->owners = g_hash_table_new(g_int64_hash, g_int64_equal);
	if (params->last)
		d->last = snapshot_ref(params->last);
	d->silent = params->silent;
	if (params->told) {
		d->b = builder_new_from(d->last);
		d->s = d->b->s;
		/* those that remain are found again */
		while (d->s->n_faults)
			g_free(d->s->faults[--d->s->n_faults].text);
		for (uint32_t i = 0; i < d->s->n_ports; i++)
			if (d->s->ports[i].trouble > SNAPSHOT_NO_NAME)
				d->s->ports[i].trouble = SNAPSHOT_SOUND;
		d->amend = amend_new(d->b, params->told);
		return batch;
	}
	for (uint32_t i = 0; d->last && i < d->last->n_ports; i++)
		if (d->last->ports[i].guid)
			g_hash_table_add(d->owners, &d->last->ports[i].guid);
	d->b = builder_new();
	d->s = d->b->s;
	if (params->names)
		d->s->names = g_hash_table_ref(params->names);
	add_query(d, QUERY_NODE_INFO, SNAPSHOT_NONE);
	return batch;
}
