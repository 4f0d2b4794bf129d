// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Parts that discovery found and leaves out; see prune.h.
 */
#include "sm/sweep/prune.h"

/* "leaf-1 (0x..) port 3", or our own port. */
char *
prune_place(struct builder *b, uint32_t port)
{
	if (port == SNAPSHOT_NONE)
		return g_strdup("our own port");

	const struct snapshot_port *p = builder_port_at(b, port);
	const struct snapshot_node *n = builder_node_at(b, p->node);
	const char *name = snapshot_node_name(n);

	return g_strdup_printf("%s (0x%016" G_GINT64_MODIFIER "x) port %u",
			       *name ? name : "?", n->info.node_guid, p->num);
}

/*
 * A cable whose other end says that it is down is removed: the link has gone in
 * the meantime, or another node uses the GUID of the one at that end.
 */
void
prune_half_cables(struct builder *b)
{
	for (uint32_t n = 0; n < builder_n_nodes(b); n++) {
		const struct node_info *i = &builder_node_at(b, n)->info;

		for (unsigned num = 0; num <= i->num_ports; num++) {
			uint32_t port = builder_port(b, n, num);
			const struct snapshot_port *p =
				builder_port_at(b, port);

			if (p->peer == SNAPSHOT_NONE || !p->known ||
			    p->info.state != PORT_STATE_DOWN)
				continue;

			g_autofree char *down = prune_place(b, port);
			g_autofree char *up = prune_place(b, p->peer);

			builder_fault(b, SNAPSHOT_FAULT_LIAR, i->node_guid,
				      "%s leads to %s, which is down: it has "
				      "just gone down, or another node has its "
				      "GUID", up, down);
			builder_unlink(b, port);
		}
	}
}

/* Leaves out a node that rejects Sets: the tables of a switch could not be
 * written, so no route may lead through it. */
static void
lock_out(struct builder *b, uint32_t n, uint32_t holder)
{
	const struct snapshot_node *node = builder_node_at(b, n);
	unsigned ports = node->info.num_ports;
	bool is_switch = snapshot_is_switch(node);
	g_autofree char *where = prune_place(b, holder);

	builder_fault(b, SNAPSHOT_FAULT_LOCKED, node->info.node_guid,
		      "%s rejects Sets: it has a foreign M_Key; left out%s",
		      where, is_switch ? ", with the nodes that are reached "
			      "only through it" :
		      "");
	for (unsigned num = 0; num <= ports; num++) {
		uint32_t port = builder_port(b, n, num);

		if ((is_switch || port == holder) &&
		    builder_port_at(b, port)->peer != SNAPSHOT_NONE)
			builder_unlink(b, port);
	}
}

/* Ports that hide their M_Key, and accept none of ours. */
void
prune_locked(struct builder *b, const struct mkey_db *keys)
{
	for (uint32_t n = 0; n < builder_n_nodes(b); n++) {
		const struct snapshot_node *node = builder_node_at(b, n);
		unsigned last = snapshot_is_switch(node) ? 0 :
			node->info.num_ports;

		/* except the SM's own node */
		for (unsigned num = 0; num <= last &&
		     node->entry != SNAPSHOT_NONE; num++) {
			uint32_t port = builder_port(b, n, num);
			const struct snapshot_port *p =
				builder_port_at(b, port);

			if (p->known && p->guid &&
			    mkey_db_is_hidden(&p->info) &&
			    mkey_db_is_locked(keys, p->guid))
				lock_out(b, n, port);
		}
	}
}
