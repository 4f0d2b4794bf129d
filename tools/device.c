// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A device out of the box: constants, after what ConnectX and Quantum class
 * devices report before a subnet manager has touched them (IBA 14.2.5.4, .6
 * for the codes).
 */
#include "tools/device.h"

#include <string.h>

const struct port_info device_idle_port = {
	.gid_prefix = 0xfe80000000000000u,
	.width_enabled = 3, .width_supported = 3, .width_active = 2,
	.speed_enabled = 7, .speed_supported = 7, .speed_active = 4,
	.speed_ext_enabled = 3, .speed_ext_supported = 3,
	.speed_ext_active = 2,
	.state = PORT_STATE_DOWN,
	.phys_state = PORT_PHYS_POLLING,
	.link_down_default = PORT_PHYS_POLLING,
	.neighbor_mtu = 5, .mtu_cap = 5,
	.vl_cap = 4, .oper_vls = 4,
	.vl_arb_high_cap = 8, .vl_arb_low_cap = 8,
	.vl_stall_count = 7,
	.hoq_life = 18,
	.subnet_timeout = 18, .resp_time = 16,
	.local_phy_errors = 8, .overrun_errors = 8,
};

const struct switch_info device_switch = {
	.linear_fdb_cap = 49152,
	.multicast_fdb_cap = 4096,
	.partition_enforcement_cap = 32,
	.life_time = 18,
	.enforce_inbound = true, .enforce_outbound = true,
	.filter_raw_inbound = true, .filter_raw_outbound = true,
};

void
device_add_port(struct builder *b, uint32_t node, unsigned num, uint64_t guid,
		const struct port_info *idle)
{
	struct snapshot_port *port = &b->s->ports[b->s->nodes[node].first_port +
						     num];

	port->known = true;
	port->guid = guid;
	port->info = *idle;
	port->info.local_port = (uint8_t)num;
	port->info.cap_mask = DEVICE_END_PORT_CAPS;
	port->info.guid_cap = 8;
}

uint32_t
device_add(struct builder *b, const struct node_info *info, const char *desc,
	   const struct port_info *idle)
{
	bool is_switch = info->node_type == NODE_SWITCH;
	struct node_info whole = *info;
	struct snapshot_port *port;
	struct snapshot_node *n;
	uint32_t node;

	whole.partition_cap = is_switch ? 32 : 128;
	whole.base_version = whole.class_version = 1;
	if (is_switch)
		whole.local_port = 0;
	node = builder_add(b, &whole);
	builder_describe(b, node, (const uint8_t *)desc, strlen(desc));
	if (!is_switch) {
		device_add_port(b, node, info->local_port, info->port_guid,
				idle);
		return node;
	}
	n = &b->s->nodes[node];
	n->sw = device_switch;
	n->sw_known = true;
	for (unsigned num = 1; num <= info->num_ports; num++) {
		port = &b->s->ports[n->first_port + num];
		port->known = true;
		port->info = *idle;
		port->info.local_port = (uint8_t)num;
	}
	/* Port 0 has no link: it is Active as soon as the switch is on. */
	device_add_port(b, node, 0, info->port_guid, idle);
	port = &b->s->ports[n->first_port];
	port->info.cap_mask = DEVICE_PORT0_CAPS;
	port->info.guid_cap = 1;
	port->info.state = PORT_STATE_ACTIVE;
	port->info.phys_state = PORT_PHYS_LINK_UP;
	return node;
}
