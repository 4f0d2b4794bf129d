// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a discovery leaves out, in words: nodes and cables whose answers cannot be
 * true or do not fit each other, and nodes that take no Set.
 */
#include "sm/sweep/faults.h"

char *
faults_place(const struct snapshot *s, uint32_t port)
{
	return port == SNAPSHOT_NONE ? g_strdup("our own port") :
		snapshot_place(s, s->ports[port].node, port);
}

const char *
faults_node_info(const struct node_info *i, uint32_t from)
{
	if (i->node_type < NODE_CA || i->node_type > NODE_ROUTER)
		return "has an invalid node type";
	if (!i->node_guid || !i->port_guid)
		return "has GUID 0";
	if (!i->num_ports || i->num_ports == 255)
		return "has an impossible number of ports";
	if (i->local_port > i->num_ports)
		return "answers from a port number above its NumPorts";
	if (!i->local_port && (i->node_type != NODE_SWITCH ||
			       from != SNAPSHOT_NONE))
		return "answers from port 0 at the end of a cable";
	return NULL;
}

void
faults_duplicate(struct builder *b, uint64_t guid, uint32_t first,
		 uint32_t second)
{
	g_autofree char *one = faults_place(b->s, first);
	g_autofree char *two = faults_place(b->s, second);

	builder_fault(b, SNAPSHOT_FAULT_DUPLICATE_GUID, guid,
		      "0x%016" G_GINT64_MODIFIER "x, behind %s and behind %s; "
		      "the second node is left out", guid, one, two);
}

bool
faults_port_guid(struct builder *b, uint32_t from, uint32_t port,
		 const struct node_info *info)
{
	uint32_t other = builder_find_port(b, info->port_guid);
	g_autofree char *theirs = NULL, *place = NULL, *own = NULL;
	bool wins;

	if (other == SNAPSHOT_NONE || other == port ||
	    (port != SNAPSHOT_NONE &&
	     b->s->ports[other].node == b->s->ports[port].node))
		return false;
	wins = info->node_type == NODE_SWITCH && other != b->s->local_port &&
		!snapshot_is_switch(snapshot_node_of(b->s, other));
	theirs = faults_place(b->s, other);
	place = faults_place(b->s, from);
	own = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x behind %s",
			      info->node_guid, place);
	builder_fault(b, SNAPSHOT_FAULT_DUPLICATE_GUID, wins ?
		      snapshot_node_of(b->s, other)->info.node_guid :
		      info->node_guid, "PortGUID 0x%016" G_GINT64_MODIFIER
		      "x: of %s, and of %s; the second node is left out",
		      info->port_guid, wins ? own : theirs,
		      wins ? theirs : own);
	if (wins) {
		builder_unlink(b, other);
		b->s->ports[other].guid = 0;
	}
	return !wins;
}

void
faults_half_cables(struct builder *b)
{
	const struct snapshot *s = b->s;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		g_autofree char *down = NULL, *up = NULL;

		if (p->peer == SNAPSHOT_NONE || !p->known ||
		    p->info.state != PORT_STATE_DOWN)
			continue;
		down = faults_place(s, port);
		up = faults_place(s, p->peer);
		builder_fault(b, SNAPSHOT_FAULT_LIAR,
			      s->nodes[p->node].info.node_guid,
			      "%s leads to %s, which is down: it has just gone "
			      "down, or another node has its GUID", up, down);
		builder_unlink(b, port);
	}
}

/* Leaves out a node that rejects Sets: the tables of a switch could not be
 * written, so no route may lead through it. */
static void
lock_out(struct builder *b, uint32_t n, uint32_t holder)
{
	const struct snapshot_node *node = &b->s->nodes[n];
	unsigned ports = node->info.num_ports;
	bool is_switch = snapshot_is_switch(node);
	g_autofree char *where = faults_place(b->s, holder);
	uint32_t at = b->s->ports[holder].peer;

	if (!is_switch && snapshot_is_other_end(b->s, holder)) {
		builder_unlink(b, holder);
		b->s->ports[at].silent = true;
		b->s->ports[at].behind = node->info.node_guid;
		builder_fault_behind(b, SNAPSHOT_FAULT_UNUSABLE, at,
				     g_strdup_printf("(%s) rejects Sets: it has "
			"a foreign M_Key (enter it in guid2mkey); left out",
			where));
		return;
	}
	builder_fault(b, SNAPSHOT_FAULT_LOCKED, node->info.node_guid,
		      "%s rejects Sets: it has a foreign M_Key (enter it in "
		      "guid2mkey); left out%s", where, is_switch ?
		      ", with the nodes that are reached only through it" : "");
	for (unsigned num = 0; num <= ports; num++) {
		uint32_t port = node->first_port + num;

		if ((is_switch || port == holder) &&
		    b->s->ports[port].peer != SNAPSHOT_NONE)
			builder_unlink(b, port);
	}
}

void
faults_locked(struct builder *b, const struct mkey_db *keys)
{
	for (uint32_t n = 0; n < b->s->n_nodes; n++) {
		const struct snapshot_node *node = &b->s->nodes[n];
		unsigned last = snapshot_is_switch(node) ? 0 :
			node->info.num_ports;

		/* except the SM's own node */
		for (unsigned num = 0; num <= last &&
		     node->entry != SNAPSHOT_NONE; num++) {
			uint32_t port = node->first_port + num;
			const struct snapshot_port *p = &b->s->ports[port];

			if (p->known && p->guid &&
			    mkey_db_is_hidden(&p->info) &&
			    mkey_db_is_locked(keys, p->guid))
				lock_out(b, n, port);
		}
	}
}
