// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the blocks of a netfile to a snapshot.
 *
 * A file says who is there and what is cabled; the rest of a snapshot is what
 * a device says that has just been switched on, as generate.c has it: links
 * trained and waiting in Init for a subnet manager (IBA 7.2.7), MTU 4096,
 * VL0-7. A CA port without a cable was never seen by anybody and stays
 * unknown; the exception is port 1 of a CA that has none at all, for the
 * subnet manager has to sit somewhere and it may be there.
 *
 * Rates. Each end has a mask of what is enabled and the link comes up with
 * the best that both have, width, speed and extended speed each by itself, as
 * in ibsim. No extended speed in common is no error: it is the older speed
 * then.
 */
#include <string.h>

#include "topology/builder.h"
#include "topology/device.h"
#include "topology/net_file_net.h"

/* A text that gives no speed means the slowest, as for ibsim. */
static struct port_info
idle_port(void)
{
	struct port_info info = device_idle_port;

	info.speed_enabled = info.speed_supported = info.speed_active = 1;
	info.speed_ext_enabled = info.speed_ext_supported = 0;
	info.speed_ext_active = 0;
	return info;
}

static uint64_t
port_guid(const struct net *net, const struct net_cable *cable)
{
	if (cable->guid)
		return cable->guid;
	if (net_cable_at(net, cable->mate)->peer_guid)
		return net_cable_at(net, cable->mate)->peer_guid;
	return net_node_at(net, cable->node)->guid + cable->num;
}

static uint8_t
best_width(uint8_t both)
{
	static const uint8_t order[] = { 8, 4, 2, 16, 1 };	/* 12x .. 1x */

	for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
		if (both & order[i])
			return order[i];
	return 0;
}

static uint8_t
best_speed(uint8_t both)
{
	return both ? (uint8_t)(1u << (g_bit_storage(both) - 1)) : 0;
}

static void
fill_link(const struct net *net, const struct net_cable *cable,
	  struct port_info *info)
{
	const struct net_rate *own = &cable->rate;
	const struct net_rate *far = &net_cable_at(net, cable->mate)->rate;
	uint8_t both = own->speed_ext & far->speed_ext;

	info->state = PORT_STATE_INIT;
	info->phys_state = PORT_PHYS_LINK_UP;
	info->width_enabled = info->width_supported = own->width;
	info->width_active = best_width(own->width & far->width);
	info->speed_enabled = info->speed_supported = own->speed;
	info->speed_active = best_speed(own->speed & far->speed);
	info->speed_ext_enabled = own->speed_ext & NET_SPEEDS_EXT;
	info->speed_ext_supported = info->speed_ext_enabled;
	info->speed_ext_active = best_speed(both & NET_SPEEDS_EXT);
	info->speed_ext2_active = both / NET_SPEED_XDR;
}

static void
fill_end_port(struct snapshot_port *port, unsigned num, uint64_t guid)
{
	port->known = true;
	port->guid = guid;
	port->info = idle_port();
	port->info.local_port = (uint8_t)num;
	port->info.cap_mask = DEVICE_END_PORT_CAPS;
	port->info.guid_cap = 8;
}

static void
fill_switch(struct builder *b, uint32_t index, const struct net_node *node)
{
	struct snapshot_node *n = builder_node_at(b, index);
	struct snapshot_port *port;

	n->sw = device_switch;
	n->sw.enhanced_port0 = node->enhanced_port0;
	n->sw_known = true;
	for (unsigned num = 1; num <= node->n_ports; num++) {
		port = builder_port_at(b, builder_port(b, index, num));
		port->known = true;
		port->info = idle_port();
		port->info.local_port = (uint8_t)num;
	}
	/* Port 0 is no link: it is there as soon as the switch is. */
	port = builder_port_at(b, builder_port(b, index, 0));
	fill_end_port(port, 0, node->port0_guid);
	port->info.cap_mask = DEVICE_PORT0_CAPS;
	port->info.guid_cap = 1;
	port->info.state = PORT_STATE_ACTIVE;
	port->info.phys_state = PORT_PHYS_LINK_UP;
	port->info.lid = node->lid;
	port->info.lmc = node->lmc;
}

/* NodeInfo as the port answers that is cabled first (a switch: port 0). */
static void
add_node(const struct net *net, struct builder *b, const struct net_node *node)
{
	bool is_switch = node->type == NODE_SWITCH;
	struct node_info info = {
		.system_guid = node->system_guid,
		.node_guid = node->guid,
		.port_guid = is_switch ? node->port0_guid : node->guid + 1,
		.vendor_id = node->vendor_id,
		.device_id = node->device_id,
		.partition_cap = is_switch ? 32 : 128,
		.node_type = (uint8_t)node->type,
		.num_ports = (uint8_t)node->n_ports,
		.local_port = is_switch ? 0 : 1,
		.base_version = 1,
		.class_version = 1,
	};
	uint32_t index;

	if (!is_switch && node->n_cables) {
		const struct net_cable *first;

		first = net_cable_at(net, node->first_cable);
		info.local_port = (uint8_t)first->num;
		info.port_guid = port_guid(net, first);
	}
	index = builder_add(b, &info);
	builder_describe(b, index, (const uint8_t *)node->desc,
			 strlen(node->desc));
	if (is_switch)
		fill_switch(b, index, node);
	else
		fill_end_port(builder_port_at(b, builder_port(b, index,
							      info.local_port)),
			      info.local_port, info.port_guid);
}

static void
add_cable(const struct net *net, struct builder *b, uint32_t c)
{
	const struct net_cable *cable = net_cable_at(net, c);
	const struct net_cable *mate = net_cable_at(net, cable->mate);
	uint32_t index = builder_port(b, cable->node, cable->num);
	struct snapshot_port *port = builder_port_at(b, index);

	if (net_node_at(net, cable->node)->type != NODE_SWITCH) {
		fill_end_port(port, cable->num, port_guid(net, cable));
		port->info.lid = cable->lid;
		port->info.lmc = cable->lmc;
	}
	fill_link(net, cable, &port->info);
	if (c <= cable->mate)
		builder_link(b, index,
			     builder_port(b, mate->node, mate->num));
}

/* Nodes go into the builder in the order of the file: an index of one is an
 * index of the other. */
struct snapshot *
net_build(const struct net *net)
{
	struct builder *b = builder_new();

	for (uint32_t n = 0; n < net->nodes->len; n++)
		add_node(net, b, net_node_at(net, n));
	for (uint32_t c = 0; c < net->cables->len; c++)
		add_cable(net, b, c);
	for (uint32_t n = 0; n < net->nodes->len; n++) {
		const struct snapshot_node *node = builder_node_at(b, n);

		if (node->info.node_type != NODE_CA)
			continue;
		builder_set_local(b, node->first_port + node->info.local_port);
		break;
	}
	return builder_finish(b);
}
