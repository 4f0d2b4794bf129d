// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A device out of the box: constants, after what ConnectX and Quantum class
 * devices report before a subnet manager has touched them (IBA 14.2.5.4, .6
 * for the codes).
 */
#include "topology/device.h"

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
