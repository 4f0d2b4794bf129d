/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The values of subnet management: GUIDs (uint64_t), LIDs (uint16_t), directed
 * routes (IBA 4.1.3, 14.2.2), and NodeInfo, SwitchInfo and PortInfo.
 *
 * The structs carry the components of the attributes NodeInfo and SwitchInfo
 * (IBA 1.4, 14.2.5.3, .4) and PortInfo, by the names of the specification, in
 * host byte order. sm/mad decodes and encodes them.
 */
#ifndef MINISM_TOPOLOGY_SMP_ATTR_H
#define MINISM_TOPOLOGY_SMP_ATTR_H

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define GUID_FORMAT	"0x%016" PRIx64	/* of printf */

/* Of two keys of a sort: below 0, 0, or above. The next key decides if it is 0:
 * uint_compare(..) ?: uint_compare(..). */
static inline int
uint_compare(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* For qsort(), bsearch() and GArray: two structs that begin with a GUID. */
static inline int
guid_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return uint_compare(x, y);
}

#define LID_NONE		0u
#define LID_UNICAST_MIN		1u
#define LID_UNICAST_MAX		0xbfffu	/* 49,151 */
#define LID_MULTICAST_MIN	0xc000u
#define LID_PERMISSIVE		0xffffu
#define LMC_MAX			7u

#define DR_MAX_HOPS		63u

/* A directed route: leave the node at hand by port[1], the next by port[2],
 * ... IBA's InitialPath, of which entry 0 is not used. 63 hops is what the 64
 * bytes of the SMP hold. */
struct dr_path {
	uint8_t hops;
	uint8_t port[DR_MAX_HOPS + 1];
};

/* Appends `port`; false if the path is full already. */
static inline bool
dr_path_push(struct dr_path *path, uint8_t port)
{
	if (path->hops >= DR_MAX_HOPS)
		return false;
	path->port[++path->hops] = port;
	return true;
}

enum node_type {
	NODE_CA = 1,
	NODE_SWITCH = 2,
	NODE_ROUTER = 3,
};

struct node_info {
	uint64_t node_guid;	/* the key of a struct snapshot_node */
	uint64_t system_guid;
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

/*
 * PortInfo (IBA 14.2.5.6) as host values, part of smp_attr.h.
 *
 * A value of 0 in an "enabled" or state component of a PortInfo that is Set
 * means "no change"; in one that was read it is just the value.
 */

/* PortState */
enum port_state {
	PORT_STATE_NOP = 0,
	PORT_STATE_DOWN = 1,
	PORT_STATE_INIT = 2,
	PORT_STATE_ARMED = 3,
	PORT_STATE_ACTIVE = 4,
	PORT_STATE_ACTIVE_DEFER = 5,	/* Active, and the link recovers */
};

/* PortPhysicalState */
enum port_phys {
	PORT_PHYS_NOP = 0,
	PORT_PHYS_SLEEP = 1,
	PORT_PHYS_POLLING = 2,
	PORT_PHYS_DISABLED = 3,
	PORT_PHYS_TRAINING = 4,
	PORT_PHYS_LINK_UP = 5,
	PORT_PHYS_RECOVERY = 6,
	PORT_PHYS_TEST = 7,
};

#define PORT_SPEED_QDR		4u	/* LinkSpeedActive */
/* Set as enabled: all that is supported. */
#define PORT_WIDTH_ALL		255u
#define PORT_SPEED_ALL		15u
#define PORT_SPEED_EXT_ALL	31u

/* CapabilityMask bits that the subnet manager looks at */
#define PORT_CAP_IS_SM			(1u << 1)
#define PORT_CAP_HAS_SL_MAPPING		(1u << 6)
#define PORT_CAP_HAS_EXT_SPEEDS		(1u << 14)
#define PORT_CAP_HAS_CAP_MASK2		(1u << 15)
#define PORT_CAP2_HAS_VIRTUALIZATION	(1u << 2)	/* of CapabilityMask2 */
#define PORT_CAP_HAS_CLIENT_REREGISTER	(1u << 25)
#define PORT_CAP_HAS_MCAST_FDB_TOP	(1u << 30)	/* a switch's port 0 */

struct port_info {
	uint64_t m_key;
	uint64_t gid_prefix;
	uint32_t cap_mask;
	uint16_t lid;
	uint16_t sm_lid;
	uint16_t diag_code;
	uint16_t m_key_lease;	/* seconds */
	uint16_t cap_mask2;
	uint16_t m_key_violations, p_key_violations, q_key_violations;
	uint16_t max_credit_hint;
	uint32_t link_round_trip;
	uint8_t local_port;
	uint8_t width_enabled, width_supported, width_active;
	uint8_t speed_enabled, speed_supported, speed_active;
	uint8_t speed_ext_enabled, speed_ext_supported, speed_ext_active;
	uint8_t speed_ext2_active;	/* 2 bits; 1 = XDR */
	uint8_t state;		/* enum port_state */
	uint8_t phys_state;	/* enum port_phys */
	uint8_t link_down_default;
	uint8_t m_key_protect;	/* 2 bits */
	uint8_t lmc;		/* 3 bits */
	uint8_t neighbor_mtu;	/* 1 = 256 .. 5 = 4096 bytes */
	uint8_t mtu_cap;
	uint8_t sm_sl;
	uint8_t vl_cap;		/* 1 = VL0, 2 = VL0-1, 3 = 0-3, 4 = 0-7,
				   5 = 0-14 */
	uint8_t oper_vls;	/* same code */
	uint8_t init_type, init_type_reply;
	uint8_t vl_high_limit, vl_arb_high_cap, vl_arb_low_cap;
	uint8_t vl_stall_count;
	uint8_t hoq_life;	/* 5 bits, 4.096 us * 2^n */
	bool enforce_inbound, enforce_outbound;
	bool filter_raw_inbound, filter_raw_outbound;
	uint8_t guid_cap;	/* entries of the GUIDInfo table */
	bool client_reregister;
	uint8_t mcast_pkey_trap_suppression;	/* 2 bits */
	uint8_t subnet_timeout;	/* 5 bits, 4.096 us * 2^n */
	uint8_t resp_time;
	uint8_t local_phy_errors, overrun_errors;	/* thresholds */
};

/* Names as the specification and the diagnostics print them; "?" if the
 * value is none of the enum's. Static strings. */
const char *port_state_name(unsigned state);
const char *port_phys_name(unsigned phys);

/* From the active width, "4x" of "4xEDR". */
struct port_width {
	uint8_t bit, lanes;	/* of LinkWidth; 0, 0 if it is not known */
	const char *name;	/* "?" */
};
const struct port_width *port_width(const struct port_info *info);

/* One lane, from the active speeds. */
struct port_speed {
	const char *name;	/* "EDR"; "?" if it is not known */
	const char *gbps;	/* as OpenSM's dumps print it; "??" */
	uint32_t mbps;		/* as rates count it; 0 */
};
const struct port_speed *port_speed(const struct port_info *info);
/* Of LinkWidth's bits the one for the widest; 0: none is set. */
uint8_t port_widest(unsigned mask);
/* Of a mask of LinkSpeed or LinkSpeedExt the bit of the fastest; 0: none. */
uint8_t port_fastest(unsigned mask);
/* All lanes. */
unsigned port_mbps(const struct port_info *info);

/* MTU code of the largest packet that the port takes: NeighborMTU may not have
 * been taken. */
unsigned port_mtu(const struct port_info *info);

/* MTU code to bytes, 0 if the code is not one of IBA's (1 to 5). */
unsigned port_mtu_bytes(unsigned code);
/* VLCap or OperationalVLs code to the number of VLs, IBA 14.2.5.6; 0 likewise. */
unsigned port_vls(unsigned code);

#endif
