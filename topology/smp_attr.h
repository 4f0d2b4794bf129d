/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What IBA says about a node, a switch and a port, as host values.
 *
 * The structs carry the components of the attributes NodeInfo and SwitchInfo
 * (IBA 1.4, 14.2.5.3, .4), and port_info.h those of PortInfo, by the names that
 * the specification gives them, in host byte order. They are what a fabric
 * *is*; how they travel is the business of sm/mad, which fills them.
 */
#ifndef MINISM_TOPOLOGY_SMP_ATTR_H
#define MINISM_TOPOLOGY_SMP_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/port_info.h"

enum node_type {
	NODE_CA = 1,
	NODE_SWITCH = 2,
	NODE_ROUTER = 3,
};

struct node_info {
	uint64_t system_guid;
	uint64_t node_guid;
	uint64_t port_guid;	/* of the port that answered */
	uint32_t vendor_id;	/* 24 bits */
	uint32_t revision;
	uint16_t device_id;
	uint16_t partition_cap;	/* entries in a CA's or port 0's P_Key table */
	uint8_t node_type;	/* enum node_type */
	uint8_t num_ports;	/* external ports; port 0 not counted */
	uint8_t local_port;	/* the port that answered */
	uint8_t base_version;
	uint8_t class_version;
};

struct switch_info {
	uint16_t linear_fdb_cap;	/* entries */
	uint16_t random_fdb_cap;
	uint16_t multicast_fdb_cap;
	uint16_t linear_fdb_top;	/* highest LID that is looked up */
	uint16_t lids_per_port;
	uint16_t partition_enforcement_cap;	/* entries a port */
	uint16_t multicast_fdb_top;
	uint8_t default_port;
	uint8_t default_mcast_primary;
	uint8_t default_mcast_not_primary;
	uint8_t life_time;	/* 5 bits, 4.096 us * 2^n; 20 and more: none */
	bool port_state_change;
	uint8_t opt_sl_to_vl;	/* 2 bits */
	bool enforce_inbound, enforce_outbound;
	bool filter_raw_inbound, filter_raw_outbound;
	bool enhanced_port0;
};

/* As the specification and the diagnostics print it; "?" if the value is none
 * of the enum's. Static. */
const char *node_type_name(unsigned type);

#endif
