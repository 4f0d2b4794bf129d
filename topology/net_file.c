// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A snapshot as the text that ibnetdiscover writes and ibsim reads.
 *
 * A node is a block: vendor and device, the GUIDs, then one header line with
 * its type, number of ports, id and description, and a line for each cable. So
 * every cable appears twice, once at each end, as ibsim requires.
 *
 *	switchguid=0x1001(1001)
 *	Switch	8 "S-0000000000001001"	# "A" enhanced port 0 lid 7 lmc 0
 *	[1]	"H-0000000000002000"[1](2001)	# "h" lid 2 4xEDR
 *
 *	caguid=0x2000
 *	Ca	1 "H-0000000000002000"	# "h"
 *	[1](2001)	"S-0000000000001001"[1]	# lid 2 lmc 0 "A" lid 7 4xEDR
 *
 * Order. The node of the local port comes first and the line of the local
 * port first in it: ibsim attaches a client to the first node of the file, and
 * net_file_parse() takes the first CA's first line for the local port. Then the
 * switches, then the rest, each by GUID. ibsim ends a block at the first line
 * that is not about a port and throws that line away, hence the blank line
 * before each block.
 *
 * Descriptions. The one on the header line is the NodeDescription, unchanged: a
 * reader that takes everything up to the last quote gets it back, '"' included.
 * Those on cable lines are informative, but ibsim looks for "=" and quotes in
 * them; there they are replaced.
 */
#include <inttypes.h>

#include "topology/net_file.h"

static const struct words {
	const char *guid_key, *type;
	char letter;
} words[] = {
	[NODE_CA] = { "caguid", "Ca", 'H' },
	[NODE_SWITCH] = { "switchguid", "Switch", 'S' },
	[NODE_ROUTER] = { "rtguid", "Rt", 'R' },
};

static const struct words *
words_of(const struct snapshot_node *node)
{
	return &words[node->info.node_type < G_N_ELEMENTS(words) &&
		      node->info.node_type ? node->info.node_type : NODE_CA];
}

static void
write_cable(const struct snapshot *s, uint32_t index, GString *out)
{
	const struct snapshot_port *port = &s->ports[index];
	const struct snapshot_port *peer = &s->ports[port->peer];
	const struct snapshot_node *node = snapshot_node_of(s, index);
	const struct snapshot_node *far = snapshot_node_of(s, port->peer);
	/* ibsim looks for these in a line */
	g_autofree char *desc = g_strdelimit(g_strdelimit(
			g_strdup(far->desc), "\"", '\''), "=", '-');

	g_string_append_printf(out, "[%u]", port->num);
	if (!snapshot_is_switch(node) && port->guid)
		g_string_append_printf(out, "(%" PRIx64 ") ", port->guid);
	g_string_append_printf(out, "\t\"%c-%016" PRIx64 "\"[%u]",
			       words_of(far)->letter, far->info.node_guid,
			       peer->num);
	if (!snapshot_is_switch(far) && peer->guid)
		g_string_append_printf(out, "(%" PRIx64 ") ", peer->guid);
	g_string_append(out, "\t\t# ");
	if (!snapshot_is_switch(node))
		g_string_append_printf(out, "lid %u lmc %u ", port->info.lid,
				       port->info.lmc);
	g_string_append_printf(out, "\"%s\" lid %u", desc,
			       s->ports[snapshot_holder_of(s, port->peer)]
			       .info.lid);
	/* Width and speed are the link's, so either end may have them. If
	 * neither has, the line has none. */
	if (!port_mbps(&port->info))
		port = peer;
	if (port_mbps(&port->info))
		g_string_append_printf(out, " %s%s",
				       port_width(&port->info)->name,
				       port_speed(&port->info)->name);
	g_string_append_c(out, '\n');
}

/* to: only the cables to this node; SNAPSHOT_NONE: all. */
static void
write_node(const struct snapshot *s, uint32_t n, uint32_t to, GString *out)
{
	const struct snapshot_node *node = &s->nodes[n];
	const struct snapshot_port *port0 = &s->ports[node->first_port];
	const struct words *w = words_of(node);
	uint32_t local = s->local_port;

	g_string_append_printf(out, "\nvendid=0x%x\ndevid=0x%x\n"
			       "sysimgguid=0x%" PRIx64 "\n%s=0x%" PRIx64,
			       node->info.vendor_id, node->info.device_id,
			       node->info.system_guid, w->guid_key,
			       node->info.node_guid);
	if (snapshot_is_switch(node))
		g_string_append_printf(out, "(%" PRIx64 ")", port0->guid);
	g_string_append_printf(out, "\n%s\t%u \"%c-%016" PRIx64
			       "\"\t\t# \"%s\"", w->type,
			       node->info.num_ports, w->letter,
			       node->info.node_guid, node->desc);
	if (snapshot_is_switch(node))
		g_string_append_printf(out, " %s port 0 lid %u lmc %u",
				       node->sw.enhanced_port0 ? "enhanced" :
								 "base",
				       port0->info.lid, port0->info.lmc);
	g_string_append_c(out, '\n');
	if (local != SNAPSHOT_NONE && s->ports[local].node == n &&
	    s->ports[local].peer != SNAPSHOT_NONE)
		write_cable(s, local, out);
	for (unsigned num = 1; num <= node->info.num_ports; num++) {
		uint32_t port = node->first_port + num;

		if (port != local && s->ports[port].peer != SNAPSHOT_NONE &&
		    (to == SNAPSHOT_NONE ||
		     s->ports[s->ports[port].peer].node == to))
			write_cable(s, port, out);
	}
}

void
net_file_write_around(const struct snapshot *s, uint32_t node, GString *out)
{
	const struct snapshot_node *n = &s->nodes[node];
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

	write_node(s, node, SNAPSHOT_NONE, out);
	g_hash_table_add(done, GUINT_TO_POINTER(node));
	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t peer = s->ports[n->first_port + num].peer;

		if (peer != SNAPSHOT_NONE &&
		    g_hash_table_add(done, GUINT_TO_POINTER(
					s->ports[peer].node)))
			write_node(s, s->ports[peer].node, node, out);
	}
}

void
net_file_write(const struct snapshot *s, GString *out)
{
	uint32_t home = SNAPSHOT_NONE;

	g_string_append(out, "# Topology file: written by minism\n#\n");
	if (s->local_port != SNAPSHOT_NONE) {
		home = s->ports[s->local_port].node;
		g_string_append_printf(out, "# Initiated from node %016" PRIx64
				       " port %016" PRIx64 "\n",
				       s->nodes[home].info.node_guid,
				       s->ports[s->local_port].guid);
		write_node(s, home, SNAPSHOT_NONE, out);
	}
	for (unsigned part = 0; part < 2; part++)
		for (uint32_t n = 0; n < s->n_nodes; n++)
			if (n != home && snapshot_is_switch(&s->nodes[n]) ==
			    (part == 0))
				write_node(s, n, SNAPSHOT_NONE, out);
}
