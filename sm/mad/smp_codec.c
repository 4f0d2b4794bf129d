// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The attributes of SMPs: 64 bytes <-> host structs.
 *
 * A table for each attribute pairs a field of libibmad, which knows where on
 * the wire a component is (IBA 14.2.5), with the member that holds it. One
 * walk over the table decodes, another encodes, so the two cannot disagree.
 * libibmad masks a value to the width of its field when it stores it, and
 * takes its buffers without const even when it only reads them.
 *
 * Fields of 64 bits must go through the 64-bit calls: the others treat such
 * a field as its first 32 bits. The size of the member selects the call.
 *
 * Notice is read only: the subnet manager never sends one to itself. Its
 * DataDetails depend on the trap number (13.4.8.2, 14.2.5.1), and where the
 * LID stands in them with it.
 */
#include "sm/mad/notice.h"
#include "sm/mad/smp.h"

#include <glib.h>
#include <infiniband/mad.h>
#include <string.h>

struct component {
	enum MAD_FIELDS field;
	uint16_t offset;	/* of the member in its struct */
	uint16_t size;		/* of the member */
};

#define COMPONENT(type, field, member) \
	{ field, G_STRUCT_OFFSET(struct type, member), \
	  sizeof(((struct type *)0)->member) }

#define NODE(f, m)	COMPONENT(node_info, IB_NODE_##f##_F, m)
#define SWITCH(f, m)	COMPONENT(switch_info, IB_SW_##f##_F, m)
#define PORT(f, m)	COMPONENT(port_info, IB_PORT_##f##_F, m)
#define SM(f, m)	COMPONENT(sm_info, IB_SMINFO_##f##_F, m)

static const struct component node_components[] = {
	NODE(BASE_VERS, base_version),
	NODE(CLASS_VERS, class_version),
	NODE(TYPE, node_type),
	NODE(NPORTS, num_ports),
	NODE(SYSTEM_GUID, system_guid),
	NODE(GUID, node_guid),
	NODE(PORT_GUID, port_guid),
	NODE(PARTITION_CAP, partition_cap),
	NODE(DEVID, device_id),
	NODE(REVISION, revision),
	NODE(LOCAL_PORT, local_port),
	NODE(VENDORID, vendor_id),
};

static const struct component switch_components[] = {
	SWITCH(LINEAR_FDB_CAP, linear_fdb_cap),
	SWITCH(RANDOM_FDB_CAP, random_fdb_cap),
	SWITCH(MCAST_FDB_CAP, multicast_fdb_cap),
	SWITCH(LINEAR_FDB_TOP, linear_fdb_top),
	SWITCH(DEF_PORT, default_port),
	SWITCH(DEF_MCAST_PRIM, default_mcast_primary),
	SWITCH(DEF_MCAST_NOT_PRIM, default_mcast_not_primary),
	SWITCH(LIFE_TIME, life_time),
	SWITCH(STATE_CHANGE, port_state_change),
	SWITCH(OPT_SLTOVL_MAPPING, opt_sl_to_vl),
	SWITCH(LIDS_PER_PORT, lids_per_port),
	SWITCH(PARTITION_ENFORCE_CAP, partition_enforcement_cap),
	SWITCH(PARTITION_ENF_INB, enforce_inbound),
	SWITCH(PARTITION_ENF_OUTB, enforce_outbound),
	SWITCH(FILTER_RAW_INB, filter_raw_inbound),
	SWITCH(FILTER_RAW_OUTB, filter_raw_outbound),
	SWITCH(ENHANCED_PORT0, enhanced_port0),
	SWITCH(MCAST_FDB_TOP, multicast_fdb_top),
};

static const struct component port_components[] = {
	PORT(MKEY, m_key),
	PORT(GID_PREFIX, gid_prefix),
	PORT(LID, lid),
	PORT(SMLID, sm_lid),
	PORT(CAPMASK, cap_mask),
	PORT(DIAG, diag_code),
	PORT(MKEY_LEASE, m_key_lease),
	PORT(LOCAL_PORT, local_port),
	PORT(LINK_WIDTH_ENABLED, width_enabled),
	PORT(LINK_WIDTH_SUPPORTED, width_supported),
	PORT(LINK_WIDTH_ACTIVE, width_active),
	PORT(LINK_SPEED_SUPPORTED, speed_supported),
	PORT(STATE, state),
	PORT(PHYS_STATE, phys_state),
	PORT(LINK_DOWN_DEF, link_down_default),
	PORT(MKEY_PROT_BITS, m_key_protect),
	PORT(LMC, lmc),
	PORT(LINK_SPEED_ACTIVE, speed_active),
	PORT(LINK_SPEED_ENABLED, speed_enabled),
	PORT(NEIGHBOR_MTU, neighbor_mtu),
	PORT(SMSL, sm_sl),
	PORT(VL_CAP, vl_cap),
	PORT(INIT_TYPE, init_type),
	PORT(VL_HIGH_LIMIT, vl_high_limit),
	PORT(VL_ARBITRATION_HIGH_CAP, vl_arb_high_cap),
	PORT(VL_ARBITRATION_LOW_CAP, vl_arb_low_cap),
	PORT(INIT_TYPE_REPLY, init_type_reply),
	PORT(MTU_CAP, mtu_cap),
	PORT(VL_STALL_COUNT, vl_stall_count),
	PORT(HOQ_LIFE, hoq_life),
	PORT(OPER_VLS, oper_vls),
	PORT(PART_EN_INB, enforce_inbound),
	PORT(PART_EN_OUTB, enforce_outbound),
	PORT(FILTER_RAW_INB, filter_raw_inbound),
	PORT(FILTER_RAW_OUTB, filter_raw_outbound),
	PORT(MKEY_VIOL, m_key_violations),
	PORT(PKEY_VIOL, p_key_violations),
	PORT(QKEY_VIOL, q_key_violations),
	PORT(GUID_CAP, guid_cap),
	PORT(CLIENT_REREG, client_reregister),
	PORT(MCAST_PKEY_SUPR_ENAB, mcast_pkey_trap_suppression),
	PORT(SUBN_TIMEOUT, subnet_timeout),
	PORT(RESP_TIME_VAL, resp_time),
	PORT(LOCAL_PHYS_ERR, local_phy_errors),
	PORT(OVERRUN_ERR, overrun_errors),
	PORT(MAX_CREDIT_HINT, max_credit_hint),
	PORT(LINK_ROUND_TRIP, link_round_trip),
	PORT(CAPMASK2, cap_mask2),
	PORT(LINK_SPEED_EXT_ACTIVE, speed_ext_active),
	PORT(LINK_SPEED_EXT_SUPPORTED, speed_ext_supported),
	PORT(LINK_SPEED_EXT_ENABLED, speed_ext_enabled),
};

static const struct component sm_components[] = {
	SM(GUID, guid),
	SM(KEY, sm_key),
	SM(ACT, act_count),
	SM(PRIO, priority),
	SM(STATE, state),
};

/* LinkSpeedExtActive2 (XDR), bits 449 and 450. libibmad has it only since
 * rdma-core 49. LinkSpeedExtEnabled2, in the same byte, is sent as 0: no
 * change. */
#define EXT2_OFFSET	56u
#define EXT2_SHIFT	5u
#define EXT2_MASK	3u

/* A flag of one bit is 0 or 1 on the wire, which a bool of one byte takes as
 * it is. */
G_STATIC_ASSERT(sizeof(bool) == 1);

static void
decode(const uint8_t *data, const struct component *c, size_t n, void *host)
{
	uint8_t *wire = (uint8_t *)data;

	for (; n > 0; n--, c++) {
		uint8_t *member = (uint8_t *)host + c->offset;
		uint64_t v64;
		uint32_t v32;
		uint16_t v16;

		if (c->size == sizeof(v64)) {
			v64 = mad_get_field64(wire, 0, c->field);
			memcpy(member, &v64, sizeof(v64));
			continue;
		}
		v32 = mad_get_field(wire, 0, c->field);
		v16 = v32;
		if (c->size == sizeof(v32))
			memcpy(member, &v32, sizeof(v32));
		else if (c->size == sizeof(v16))
			memcpy(member, &v16, sizeof(v16));
		else
			*member = v32;
	}
}

static void
encode(uint8_t *data, const struct component *c, size_t n, const void *host)
{
	memset(data, 0, SMP_DATA_LEN);
	for (; n > 0; n--, c++) {
		const uint8_t *member = (const uint8_t *)host + c->offset;
		uint64_t v64;
		uint32_t v32;
		uint16_t v16;

		if (c->size == sizeof(v64)) {
			memcpy(&v64, member, sizeof(v64));
			mad_set_field64(data, 0, c->field, v64);
			continue;
		}
		if (c->size == sizeof(v32)) {
			memcpy(&v32, member, sizeof(v32));
		} else if (c->size == sizeof(v16)) {
			memcpy(&v16, member, sizeof(v16));
			v32 = v16;
		} else {
			v32 = *member;
		}
		mad_set_field(data, 0, c->field, v32);
	}
}

void
node_info_decode(const uint8_t data[SMP_DATA_LEN], struct node_info *i)
{
	decode(data, node_components, G_N_ELEMENTS(node_components), i);
}

void
node_info_encode(uint8_t data[SMP_DATA_LEN], const struct node_info *i)
{
	encode(data, node_components, G_N_ELEMENTS(node_components), i);
}

void
switch_info_decode(const uint8_t data[SMP_DATA_LEN], struct switch_info *i)
{
	decode(data, switch_components, G_N_ELEMENTS(switch_components), i);
}

void
switch_info_encode(uint8_t data[SMP_DATA_LEN], const struct switch_info *i)
{
	encode(data, switch_components, G_N_ELEMENTS(switch_components), i);
}

void
port_info_decode(const uint8_t data[SMP_DATA_LEN], struct port_info *i)
{
	decode(data, port_components, G_N_ELEMENTS(port_components), i);
	i->speed_ext2_active = data[EXT2_OFFSET] >> EXT2_SHIFT & EXT2_MASK;
}

void
port_info_encode(uint8_t data[SMP_DATA_LEN], const struct port_info *i)
{
	encode(data, port_components, G_N_ELEMENTS(port_components), i);
	data[EXT2_OFFSET] = (uint8_t)
		((i->speed_ext2_active & EXT2_MASK) << EXT2_SHIFT);
}

void
sm_info_decode(const uint8_t data[SMP_DATA_LEN], struct sm_info *i)
{
	decode(data, sm_components, G_N_ELEMENTS(sm_components), i);
}

void
sm_info_encode(uint8_t data[SMP_DATA_LEN], const struct sm_info *i)
{
	encode(data, sm_components, G_N_ELEMENTS(sm_components), i);
}

const char *
sm_state_name(unsigned state)
{
	static const char *const names[] = {
		[SM_STATE_NOT_ACTIVE] = "not active",
		[SM_STATE_DISCOVERING] = "discovering",
		[SM_STATE_STANDBY] = "standby",
		[SM_STATE_MASTER] = "master",
	};

	return state < G_N_ELEMENTS(names) ? names[state] : "?";
}

#define TRAP_PORT_OFFSET	14	/* PORTNO of traps 129 to 131 */
#define TRAP_M_KEY_OFFSET	24u	/* in trap 256 */

void
notice_decode(const uint8_t data[SMP_DATA_LEN], struct notice *n)
{
	uint8_t *wire = (uint8_t *)data;

	memset(n, 0, sizeof(*n));
	n->generic = mad_get_field(wire, 0, IB_NOTICE_IS_GENERIC_F);
	n->type = mad_get_field(wire, 0, IB_NOTICE_TYPE_F);
	n->issuer_lid = mad_get_field(wire, 0, IB_NOTICE_ISSUER_LID_F);
	/* else these bytes are a vendor's ID and its device's */
	if (!n->generic)
		return;

	n->producer = mad_get_field(wire, 0, IB_NOTICE_PRODUCER_F);
	n->trap = mad_get_field(wire, 0, IB_NOTICE_TRAP_NUMBER_F);
	if (n->trap == 128)
		n->lid = mad_get_field(wire, 0, IB_NOTICE_DATA_LID_F);
	if ((n->trap >= 129 && n->trap <= 131) || n->trap == 144)
		n->lid = mad_get_field(wire, 0, IB_NOTICE_DATA_144_LID_F);
	if (n->trap >= 129 && n->trap <= 131)
		n->port = data[TRAP_PORT_OFFSET];
}

void
notice_hide_m_key(uint8_t data[SMP_DATA_LEN])
{
	struct notice n;

	notice_decode(data, &n);
	if (n.generic && n.trap == 256)
		memset(data + TRAP_M_KEY_OFFSET, 0, 8);
}

/* IBA 14.2.5.1, table of traps */
static const struct {
	uint16_t trap;
	const char *name;
} traps[] = {
	{ 64, "GID in service" },
	{ 65, "GID out of service" },
	{ 66, "multicast group created" },
	{ 67, "multicast group deleted" },
	{ 128, "link state change" },
	{ 129, "local link integrity" },
	{ 130, "excessive buffer overrun" },
	{ 131, "flow control update watchdog" },
	{ 144, "capability mask or node description change" },
	{ 145, "system image GUID change" },
	{ 256, "bad M_Key" },
	{ 257, "bad P_Key" },
	{ 258, "bad Q_Key" },
	{ 259, "bad P_Key at a switch port" },
};

const char *
notice_trap_name(unsigned trap)
{
	for (size_t i = 0; i < G_N_ELEMENTS(traps); i++)
		if (traps[i].trap == trap)
			return traps[i].name;
	return "?";
}
