// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repairs: which nodes are read again after a change, and when.
 *
 * Amending. A snapshot is amended instead of reading the whole fabric.
 *
 * Method. The builder starts from the last snapshot, which is taken to be valid
 * except for the nodes that reported a change (a trap, or PortStateChange).
 * These are read, in rounds:
 *
 * 1. The directed route to a node uses the cables known by now. If the last
 *    switch port on it has not been read, its PortInfo is read first: one SMP
 *    may save a time-out. Both wait for the nodes on the route that are to be read:
 *    these may have other cables by now, and another node may answer.
 * 2. NodeInfo and all ports of the node are read. A cable is still valid if its
 *    port was Active and is, and the node behind it answers; else its end has
 *    been down, and the cable is removed.
 *    NodeInfo through each port that is up and has no cable finds it again, or
 *    another node, which is discovered as usual.
 * 3. A switch at the other end of a cable that came or went, and the node at
 *    the other end of one with another speed, are read like those that
 *    reported a change.
 *
 * It ends when no node is left to be read. Nodes to which no cable leads are
 * dropped by builder_finish().
 *
 * Safety. A fault ends the rounds, and the whole fabric is read: a node to be
 * read does not answer or is another one, a GUID is there twice, or the SM's own
 * port has another cable. Changes without any report are found by the light sweep.
 *
 * Cost. For a cable between two switches of 36 ports: twice 40 Gets, and three
 * more.
 *
 * Notices. A report of a change rarely comes alone: both ends of a cable notice
 * it, and a switch that loses power has as many neighbours as cables. So the
 * first report waits QUIET_US for others, which are read together with it, but
 * no longer: else a port that sends traps all the time would delay it for ever.
 * BUCKET_BURST reports of a node may follow at once, so that a broken link is
 * repaired quickly. Then a node is read once a second, without delaying others
 * (a token bucket, which a port that goes up and down all the time empties).
 */
#include "sm/sweep/amend.h"

#include "topology/each.h"

#define NEEDED	1u	/* of an end port: it is or was to be read */
#define READ	2u	/* its PortInfo was read by this discovery */
#define FOUND	4u	/* its cable was found by this discovery */

#define QUIET_US	(5 * 1000)
#define EACH_US		((int64_t)G_USEC_PER_SEC)

struct amend {
	struct builder *b;
	struct snapshot *s;	/* of b */
	uint32_t n_ports;	/* ports above this are new */
	uint8_t *marks;		/* by port */
	GArray *needed;		/* uint32_t: end ports, not read yet */
};

static void
need(struct amend *a, uint32_t holder)
{
	if (holder >= a->n_ports || a->marks[holder] & NEEDED)
		return;
	a->marks[holder] |= NEEDED;
	g_array_append_val(a->needed, holder);
}

struct amend *
amend_new(struct builder *b, const GArray *told)
{
	struct amend *a = g_new0(struct amend, 1);

	a->b = b;
	a->s = b->s;
	a->n_ports = a->s->n_ports;
	a->marks = g_new0(uint8_t, a->n_ports + 1u);
	a->needed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	EACH_ITEM(const uint64_t, guid, told) {
		uint32_t node = builder_find(b, *guid);
		const struct snapshot_node *read = node == SNAPSHOT_NONE ?
			NULL : &a->s->nodes[node];

		if (read && snapshot_is_switch(read))
			need(a, read->first_port);
		for (unsigned num = 1; read && !snapshot_is_switch(read) &&
		     num <= read->info.num_ports; num++)
			if (a->s->ports[read->first_port + num].known)
				need(a, read->first_port + num);
	}
	return a;
}

void
amend_free(struct amend *a)
{
	if (!a)
		return;
	g_array_unref(a->needed);
	g_free(a->marks);
	g_free(a);
}

/* Was this port not read, so that it is as in the last snapshot? */
static bool
is_believed(const struct amend *a, uint32_t port)
{
	return port < a->n_ports && !(a->marks[port] & READ);
}

/* ------------------------------------------------------------------ cables */

/* Reads the switch at an end of a cable that came or went; a CA's port
 * counts as not found until its cable is found again. */
static void
end_changed(struct amend *a, uint32_t port)
{
	struct snapshot_port *p = &a->s->ports[port];

	if (snapshot_is_switch(&a->s->nodes[p->node])) {
		need(a, snapshot_holder_of(a->s, port));
	} else if (port != a->s->local_port) {
		p->guid = 0;
		p->known = false;
		p->info = (struct port_info){ .state = PORT_STATE_NOP };
	}
}

void
amend_on_port(struct amend *a, uint32_t port, const struct port_info *was,
	      bool is_silent)
{
	struct snapshot_port *p = &a->s->ports[port];
	uint32_t peer = p->peer;

	if (port >= a->n_ports)
		return;
	a->marks[port] |= READ;
	p->held = false;
	if (peer == SNAPSHOT_NONE || a->marks[port] & FOUND)
		return;
	if (was->state >= PORT_STATE_ACTIVE && !is_silent &&
	    p->info.state >= PORT_STATE_ACTIVE) {
		if (port_mbps(was) != port_mbps(&p->info))
			need(a, snapshot_holder_of(a->s, peer));
		return;
	}
	if (port == a->s->local_port || peer == a->s->local_port) {
		g_autofree char *link = snapshot_link_name(a->s, port, NULL);

		builder_fault(a->b, SNAPSHOT_FAULT_LIAR, 0, "link %s, which is "
			      "the manager's own, has been down", link);
	}
	builder_unlink(a->b, port);
	end_changed(a, peer);
	if (snapshot_holder_of(a->s, port) != port)
		end_changed(a, port);
}

void
amend_on_cable(struct amend *a, uint32_t port)
{
	if (snapshot_holder_of(a->s, port) != port)
		end_changed(a, port);
	if (port < a->n_ports)
		a->marks[port] |= FOUND;
	port = a->s->ports[port].peer;
	if (port < a->n_ports)
		a->marks[port] |= FOUND;
}

bool
amend_defer(struct amend *a, uint32_t first)
{
	if (!is_believed(a, first))
		return false;
	need(a, snapshot_holder_of(a->s, first));
	return true;
}

/* ------------------------------------------------------------------- waves */

static void
add_amend_query(GArray *wave, bool is_node, uint32_t port, uint32_t entry)
{
	const struct amend_query q = {
		.port = port, .is_node = is_node, .entry = entry,
	};

	g_array_append_val(wave, q);
}

/* Is a switch on the way to this one still to be read? If it has other cables by
 * now, another node answers there. */
static bool
is_way_unread(const struct amend *a, uint32_t node)
{
	uint32_t entry = a->s->nodes[node].entry, holder;

	/* some entries are of before, and may lead round */
	for (unsigned n = 0; entry != SNAPSHOT_NONE && n < DR_MAX_HOPS; n++) {
		holder = snapshot_holder_of(a->s, entry);
		if (is_believed(a, holder) && a->marks[holder] & NEEDED)
			return true;
		entry = a->s->nodes[a->s->ports[entry].node].entry;
	}
	return false;
}

/* Queries an end port that is needed. True: it has to wait for a reply. */
static bool
waits(struct amend *a, uint32_t holder, GArray *wave)
{
	const struct snapshot_port *p = &a->s->ports[holder];
	const struct snapshot_node *n = &a->s->nodes[p->node];
	uint32_t local = a->s->ports[a->s->local_port].node;
	uint32_t entry = snapshot_is_switch(n) ? n->entry : p->peer, from;

	/* The port by which it is entered must be one that leads to the SM. */
	if (!snapshot_is_switch(n) && entry != SNAPSHOT_NONE) {
		from = a->s->ports[entry].node;
		if (from != local &&
		    a->s->nodes[from].entry == SNAPSHOT_NONE)
			entry = SNAPSHOT_NONE;
	}
	if (p->node == local ||
	    (entry != SNAPSHOT_NONE && !is_believed(a, entry))) {
		add_amend_query(wave, true, holder, holder == a->s->local_port ?
				SNAPSHOT_NONE : entry);
		return false;
	}
	if (entry == SNAPSHOT_NONE)
		return true;	/* no cable leads there, or not yet */
	from = snapshot_holder_of(a->s, entry);
	if (!(a->marks[from] & NEEDED) &&
	    !is_way_unread(a, a->s->ports[entry].node))
		add_amend_query(wave, false, entry, SNAPSHOT_NONE);
	return true;
}

GArray *
amend_wave(struct amend *a)
{
	GArray *wave = g_array_new(FALSE, FALSE, sizeof(struct amend_query));
	guint kept = 0;

	g_free(builder_find_entries(a->b));
	for (guint i = 0; i < a->needed->len; i++) {
		uint32_t holder = g_array_index(a->needed, uint32_t, i);

		if (waits(a, holder, wave))
			g_array_index(a->needed, uint32_t, kept++) = holder;
	}
	g_array_set_size(a->needed, kept);
	return wave;
}

/* ----------------------------------------------------------------- notices */

struct notice_node {
	uint64_t guid;
	bool pending;
	int64_t first;		/* time of its first pending report */
	struct bucket reads;	/* one each EACH_US */
};

GHashTable *
notices_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
}

void
notices_add(GHashTable *notices, uint64_t node_guid, int64_t now)
{
	struct notice_node *node = g_hash_table_lookup(notices, &node_guid);

	if (!node) {
		node = g_new0(struct notice_node, 1);
		node->guid = node_guid;
		g_hash_table_insert(notices, &node->guid, node);
	}
	if (node->pending)
		return;
	node->pending = true;
	node->first = now;
}

int64_t
notices_due(GHashTable *notices)
{
	int64_t due = INT64_MAX;
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, notices);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		const struct notice_node *node = data;

		if (node->pending)
			due = MIN(due, MAX(node->first + QUIET_US,
					   bucket_due(&node->reads, EACH_US)));
	}
	return due;
}

/* Also drops nodes whose bucket is full again. */
GArray *
notices_take(GHashTable *notices, int64_t now, int64_t until)
{
	GArray *taken = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, notices);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		struct notice_node *node = data;

		if (node->pending &&
		    bucket_due(&node->reads, EACH_US) <= until) {
			node->pending = false;
			bucket_take(&node->reads, EACH_US, now);
			g_array_append_val(taken, node->guid);
		} else if (!node->pending && node->reads.full <= now) {
			g_hash_table_iter_remove(&iter);
		}
	}
	g_array_sort(taken, guid_compare);
	return taken;
}
