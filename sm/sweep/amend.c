// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Amending a snapshot after a change, instead of reading the whole fabric.
 *
 * Method. The builder starts from the last snapshot, which is taken to be valid
 * except for the nodes that reported a change (a trap, or PortStateChange).
 * These are read, in rounds:
 *
 * 1. The directed route to a node uses the cables known by now. If the last
 *    switch port on it has not been read, its PortInfo is read first: one SMP
 *    may save a time-out.
 * 2. All ports of the node are read. A cable is still valid if its port was
 *    Active and is; else its end has been down, and the cable is removed.
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
 * read does not answer, a GUID is there twice, or the SM's own port has another
 * cable. Changes without any report are found by the light sweep.
 *
 * Cost. For a cable between two switches of 36 ports: twice 39 Gets, and three
 * more.
 */
#include "sm/sweep/amend.h"

#define NEEDED	1u	/* of an end port: it is or was to be read */
#define READ	2u	/* its PortInfo was read by this discovery */
#define FOUND	4u	/* its cable was found by this discovery */

struct amend {
	struct builder *b;
	uint32_t n_ports;	/* ports above this are new */
	uint8_t *marks;		/* by port */
	GArray *needed;		/* uint32_t: end ports, not read yet */
	GArray *deferred;	/* uint32_t: see amend_defer() */
	guint n_asked;		/* those queried again so far */
};

/* The end port of the agent of a port. */
static uint32_t
amend_holder(const struct amend *a, uint32_t port)
{
	uint32_t node = builder_port_at(a->b, port)->node;

	return snapshot_is_switch(builder_node_at(a->b, node)) ?
		builder_port(a->b, node, 0) : port;
}

static void
need(struct amend *a, uint32_t holder)
{
	if (holder >= a->n_ports || a->marks[holder] & NEEDED)
		return;
	a->marks[holder] |= NEEDED;
	g_array_append_val(a->needed, holder);
}

static void
need_node(struct amend *a, uint32_t node)
{
	const struct snapshot_node *n = builder_node_at(a->b, node);

	if (snapshot_is_switch(n)) {
		need(a, n->first_port);
		return;
	}
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		if (builder_port_at(a->b, n->first_port + num)->known)
			need(a, n->first_port + num);
}

struct amend *
amend_new(struct builder *b, const GArray *told)
{
	struct amend *a = g_new0(struct amend, 1);
	uint32_t n = builder_n_nodes(b);

	a->b = b;
	if (n)
		a->n_ports = builder_node_at(b, n - 1)->first_port +
			builder_node_at(b, n - 1)->info.num_ports + 1u;
	a->marks = g_new0(uint8_t, a->n_ports + 1u);
	a->needed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	a->deferred = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < told->len; i++) {
		uint32_t node = builder_find(b, g_array_index(told, uint64_t,
							      i));

		if (node != SNAPSHOT_NONE)
			need_node(a, node);
	}
	return a;
}

void
amend_free(struct amend *a)
{
	if (!a)
		return;
	g_array_unref(a->needed);
	g_array_unref(a->deferred);
	g_free(a->marks);
	g_free(a);
}

bool
amend_is_believed(const struct amend *a, uint32_t port)
{
	return port < a->n_ports && !(a->marks[port] & READ);
}

/* ------------------------------------------------------------------ cables */

/* Reads the switch at an end of a cable that came or went; a CA's port
 * counts as not found until its cable is found again. */
static void
end_changed(struct amend *a, uint32_t port)
{
	struct snapshot_port *p = builder_port_at(a->b, port);

	if (snapshot_is_switch(builder_node_at(a->b, p->node))) {
		need(a, amend_holder(a, port));
	} else if (port != builder_local(a->b)) {
		p->guid = 0;
		p->known = false;
		p->info = (struct port_info){ .state = PORT_STATE_NOP };
	}
}

static const char *
name_at(const struct amend *a, uint32_t port)
{
	return snapshot_node_name(builder_node_at(a->b,
				  builder_port_at(a->b, port)->node));
}

void
amend_on_port(struct amend *a, uint32_t port, const struct port_info *was)
{
	const struct snapshot_port *p = builder_port_at(a->b, port);
	uint32_t peer = p->peer;

	if (port >= a->n_ports)
		return;
	a->marks[port] |= READ;
	builder_port_at(a->b, port)->held = false;
	if (peer == SNAPSHOT_NONE || a->marks[port] & FOUND)
		return;
	if (was->state >= PORT_STATE_ACTIVE &&
	    p->info.state >= PORT_STATE_ACTIVE) {
		if (port_mbps(was) != port_mbps(&p->info))
			need(a, amend_holder(a, peer));
		return;
	}
	if (port == builder_local(a->b))
		builder_fault(a->b, SNAPSHOT_FAULT_LIAR, 0,
			      "link %s/%u - %s/%u, which is the manager's "
			      "own, has been down", name_at(a, port), p->num,
			      name_at(a, peer),
			      builder_port_at(a->b, peer)->num);
	builder_unlink(a->b, port);
	end_changed(a, peer);
	if (amend_holder(a, port) != port)
		end_changed(a, port);
}

void
amend_on_cable(struct amend *a, uint32_t port)
{
	if (amend_holder(a, port) != port)
		end_changed(a, port);
	if (port < a->n_ports)
		a->marks[port] |= FOUND;
	port = builder_port_at(a->b, port)->peer;
	if (port < a->n_ports)
		a->marks[port] |= FOUND;
}

bool
amend_defer(struct amend *a, uint32_t first, uint32_t from)
{
	for (guint i = 0; i < a->deferred->len; i++)
		if (g_array_index(a->deferred, uint32_t, i) == from)
			return false;
	if (!amend_is_believed(a, first))
		return false;
	need(a, amend_holder(a, first));
	g_array_append_val(a->deferred, from);
	return true;
}

/* ------------------------------------------------------------------- waves */

static bool
is_local(const struct amend *a, uint32_t node)
{
	return node == builder_port_at(a->b, builder_local(a->b))->node;
}

/* The port by which an end port is entered; SNAPSHOT_NONE: it has no cable,
 * or is of the SM's own node. */
static uint32_t
entry_of(const struct amend *a, uint32_t holder)
{
	const struct snapshot_port *p = builder_port_at(a->b, holder);
	const struct snapshot_node *n = builder_node_at(a->b, p->node);
	uint32_t node;

	if (snapshot_is_switch(n))
		return n->entry;
	if (p->peer == SNAPSHOT_NONE)
		return SNAPSHOT_NONE;
	node = builder_port_at(a->b, p->peer)->node;
	return is_local(a, node) || builder_node_at(a->b, node)->entry !=
		SNAPSHOT_NONE ? p->peer : SNAPSHOT_NONE;
}

static void
add_amend_query(GArray *wave, unsigned what, uint32_t port)
{
	const struct amend_query q = { .what = what, .port = port };

	g_array_append_val(wave, q);
}

/* True: it has to wait for a reply of this round. */
static bool
waits(struct amend *a, uint32_t holder, GArray *wave)
{
	uint32_t entry = entry_of(a, holder), from;

	if (is_local(a, builder_port_at(a->b, holder)->node) ||
	    (entry != SNAPSHOT_NONE && !amend_is_believed(a, entry))) {
		add_amend_query(wave, AMEND_NODE, holder);
		return false;
	}
	if (entry == SNAPSHOT_NONE)
		return false;	/* no longer there */
	from = amend_holder(a, entry);
	if (!(a->marks[from] & NEEDED))
		add_amend_query(wave, AMEND_PORT, entry);
	return true;
}

GArray *
amend_wave(struct amend *a)
{
	GArray *wave = g_array_new(FALSE, FALSE, sizeof(struct amend_query));
	bool is_over;		/* all needed ports are read, so deferred
				   queries can be sent */
	guint kept = 0;

	builder_find_entries(a->b);
	for (guint i = 0; i < a->needed->len; i++) {
		uint32_t holder = g_array_index(a->needed, uint32_t, i);

		if (waits(a, holder, wave))
			g_array_index(a->needed, uint32_t, kept++) = holder;
	}
	g_array_set_size(a->needed, kept);
	is_over = !wave->len;
	for (; is_over && a->n_asked < a->deferred->len; a->n_asked++) {
		uint32_t from = g_array_index(a->deferred, uint32_t,
					      a->n_asked);

		if (builder_port_at(a->b, from)->peer == SNAPSHOT_NONE)
			add_amend_query(wave, AMEND_BEHIND, from);
	}
	return wave;
}
