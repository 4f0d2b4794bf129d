// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The snapshot: references, look-up, and the directed route to a port.
 *
 * A snapshot is four flat arrays (nodes, ports, switches, faults) that only
 * builder.c lays out; here they are read. Since every reference between them
 * is an index, a copy is a memcpy of each array and nothing needs relocating;
 * the only pointers are the texts of the faults, and the names that a site
 * gave to nodes, which lie in a table that the snapshots share.
 *
 * Directed routes. A node stores one number: the port of a neighbour that leads
 * into it (`entry`), one hop closer to the SM. snapshot_path() follows that
 * chain and reverses it. All ports of a switch have the same route, since its
 * agent answers for all. An SMP for a CA port must arrive at that port, so its
 * route is that of the switch it is cabled to and one hop more, whichever port
 * of the CA the chain of `entry` uses.
 */
#include <string.h>

#include "topology/snapshot.h"

const char *
snapshot_fault_name(enum snapshot_fault_kind kind)
{
	static const char *const names[] = {
		[SNAPSHOT_FAULT_DUPLICATE_GUID] = "duplicate GUID",
		[SNAPSHOT_FAULT_SILENT] = "silent",
		[SNAPSHOT_FAULT_REFUSED] = "refused",
		[SNAPSHOT_FAULT_LIAR] = "contradicts itself",
		[SNAPSHOT_FAULT_TOO_FAR] = "too far",
		[SNAPSHOT_FAULT_LOCKED] = "locked",
	};

	return kind < G_N_ELEMENTS(names) ? names[kind] : "?";
}

struct snapshot *
snapshot_ref(struct snapshot *subnet)
{
	g_atomic_int_inc(&subnet->ref);
	return subnet;
}

void
snapshot_unref(struct snapshot *subnet)
{
	if (!subnet || !g_atomic_int_dec_and_test(&subnet->ref))
		return;
	for (uint32_t i = 0; i < subnet->n_faults; i++)
		g_free(subnet->faults[i].text);
	g_free(subnet->faults);
	g_clear_pointer(&subnet->names, g_hash_table_unref);
	g_free(subnet->switches);
	g_free(subnet->ports);
	g_free(subnet->nodes);
	g_free(subnet);
}

struct snapshot *
snapshot_copy(const struct snapshot *subnet)
{
	struct snapshot *c = g_memdup2(subnet, sizeof(*subnet));

	c->ref = 1;
	c->nodes = g_memdup2(c->nodes, c->n_nodes * sizeof(*c->nodes));
	c->ports = g_memdup2(c->ports, c->n_ports * sizeof(*c->ports));
	c->switches = g_memdup2(c->switches,
				c->n_switches * sizeof(*c->switches));
	c->faults = g_memdup2(c->faults, c->n_faults * sizeof(*c->faults));
	if (c->names)
		g_hash_table_ref(c->names);
	for (uint32_t i = 0; i < c->n_faults; i++)
		c->faults[i].text = g_strdup(c->faults[i].text);
	return c;
}

char *
snapshot_port_name(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);
	unsigned num = s->ports[port].num;

	if (!num || (!snapshot_is_switch(n) && n->info.num_ports == 1))
		return g_strdup(snapshot_node_name(n));
	return g_strdup_printf("%s/%u", snapshot_node_name(n), num);
}

uint32_t
snapshot_port_of(const struct snapshot *s, uint32_t node, unsigned num)
{
	if (num > s->nodes[node].info.num_ports)
		return SNAPSHOT_NONE;
	return s->nodes[node].first_port + num;
}

uint32_t
snapshot_find_node(const struct snapshot *s, uint64_t node_guid)
{
	uint32_t low = 0;
	uint32_t high = s->n_nodes;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		uint64_t guid = s->nodes[mid].info.node_guid;

		if (guid == node_guid)
			return mid;
		if (guid < node_guid)
			low = mid + 1;
		else
			high = mid;
	}
	return SNAPSHOT_NONE;
}

uint32_t
snapshot_find_port(const struct snapshot *s, uint64_t port_guid)
{
	/* 0 marks a port without a GUID; it names no port */
	if (!port_guid)
		return SNAPSHOT_NONE;
	for (uint32_t p = 0; p < s->n_ports; p++)
		if (s->ports[p].guid == port_guid && snapshot_is_end_port(s, p))
			return p;
	return SNAPSHOT_NONE;
}

bool
snapshot_is_end_port(const struct snapshot *s, uint32_t port)
{
	if (snapshot_is_switch(snapshot_node_of(s, port)))
		return s->ports[port].num == 0;
	return s->ports[port].known;
}

bool
snapshot_link_up(const struct snapshot *s, uint32_t port)
{
	const uint32_t ends[] = { port, s->ports[port].peer };

	if (s->ports[port].info.phys_state != PORT_PHYS_LINK_UP ||
	    ends[1] == SNAPSHOT_NONE)
		return false;
	/* A switch whose SwitchInfo was not read cannot be given a table, so
	 * nothing may be sent through it. */
	for (unsigned i = 0; i < 2; i++) {
		const struct snapshot_node *n = snapshot_node_of(s, ends[i]);

		if (!s->ports[ends[i]].known ||
		    (snapshot_is_switch(n) && !n->sw_known))
			return false;
	}
	return true;
}

bool
snapshot_path(const struct snapshot *s, uint32_t port, struct dr_path *path)
{
	uint32_t node = s->ports[port].node, peer = s->ports[port].peer, entry;
	uint8_t back[DR_MAX_HOPS];	/* the reverse of the route */
	unsigned n = 0;

	memset(path, 0, sizeof(*path));
	if (s->local_port == SNAPSHOT_NONE)
		return false;
	if (port == s->local_port)
		return true;
	if (!snapshot_is_switch(&s->nodes[node])) {
		/* A CA or router does not forward SMPs, not even for the SM
		 * behind its other port. */
		if (peer == SNAPSHOT_NONE ||
		    (!snapshot_is_switch(snapshot_node_of(s, peer)) &&
		     peer != s->local_port))
			return false;
		back[n++] = s->ports[peer].num;
		node = s->ports[peer].node;
	}
	while (node != s->ports[s->local_port].node) {
		entry = s->nodes[node].entry;
		if (entry == SNAPSHOT_NONE || n == DR_MAX_HOPS)
			return false;
		back[n++] = s->ports[entry].num;
		node = s->ports[entry].node;
	}
	while (n > 0)
		dr_path_push(path, back[--n]);
	return true;
}

/* The port by which a directed route enters its last node; SNAPSHOT_NONE: it
 * leads to none. */
static uint32_t
path_end(const struct snapshot *s, const struct dr_path *path)
{
	uint32_t port = s->local_port, out;

	for (unsigned i = 1; i <= path->hops && port != SNAPSHOT_NONE; i++) {
		if (i > 1 && !snapshot_is_switch(snapshot_node_of(s, port)))
			return SNAPSHOT_NONE;
		out = snapshot_port_of(s, s->ports[port].node, path->port[i]);
		port = out == SNAPSHOT_NONE ? out : s->ports[out].peer;
	}
	return port;
}

uint32_t
snapshot_astray(const struct snapshot *then, const struct snapshot *now)
{
	struct dr_path path;
	uint32_t port, end;

	for (port = 0; port < then->n_ports; port++) {
		if (!snapshot_is_end_port(then, port) ||
		    !snapshot_path(then, port, &path))
			continue;
		end = path_end(now, &path);
		if (end != SNAPSHOT_NONE &&
		    (snapshot_node_of(now, end)->info.node_guid !=
		     snapshot_node_of(then, port)->info.node_guid))
			return end;
	}
	return SNAPSHOT_NONE;
}

bool
snapshot_is_whole(const struct snapshot *s)
{
	if (s->local_port != SNAPSHOT_NONE &&
	    s->ports[s->local_port].peer == SNAPSHOT_NONE)
		return false;
	for (uint32_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].kind != SNAPSHOT_FAULT_SILENT ||
		    s->faults[i].guid)
			return false;
	return true;
}
