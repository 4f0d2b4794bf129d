// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table of all components.
 *
 * Fields are in the order of the component masks' bits (IBA 15.2.5); where that
 * is not the order of the bytes, the mask's is kept. Special are those whose
 * comparison is more than "the same bits": selectors, and all components of
 * paths.
 *
 * A field names the member of the host struct that holds it, if there is one:
 * key fields (LID, block and port numbers) and blocks of tables are written by
 * the maker of the record. The attributes of SMPs are the records without their
 * key fields, so they need no table of their own.
 */
#include "sm/mad/mad_field.h"

#include <glib.h>

#include "sm/mad/sa_record.h"

#define PLAIN(name, offset, bits) \
	{ name, offset, bits, MAD_FIELD_PLAIN, 0, 0, 0 }
#define RESERVED(offset, bits) \
	{ "Reserved", offset, bits, MAD_FIELD_RESERVED, 0, 0, 0 }
#define SPECIAL(name, offset, bits) \
	{ name, offset, bits, MAD_FIELD_SPECIAL, 0, 0, 0 }
#define IN(type, m, name, offset, bits, kind) \
	{ name, offset, bits, MAD_FIELD_##kind, \
	  __builtin_types_compatible_p(__typeof__(((struct type *)0)->m), \
				       bool) ? MAD_FIELD_FLAG : \
	  (bits) > 64 ? MAD_FIELD_BYTES : MAD_FIELD_NUMBER, \
	  sizeof(((struct type *)0)->m), G_STRUCT_OFFSET(struct type, m) }

/* Components in a row, alike but for their place. */
#define ROW2(f, name, at, bits)	f(name, at, bits), f(name, (at) + (bits), bits)
#define ROW4(f, name, at, bits) \
	ROW2(f, name, at, bits), ROW2(f, name, (at) + 2 * (bits), bits)
#define ROW8(f, name, at, bits) \
	ROW4(f, name, at, bits), ROW4(f, name, (at) + 4 * (bits), bits)
#define ROW16(f, name, at, bits) \
	ROW8(f, name, at, bits), ROW8(f, name, (at) + 8 * (bits), bits)
#define ROW32(f, name, at, bits) \
	ROW16(f, name, at, bits), ROW16(f, name, (at) + 16 * (bits), bits)

#define NODE(m, name, offset, bits) \
	IN(node_info, m, name, offset, bits, PLAIN)
static const struct mad_field node_fields[] = {
	PLAIN("LID", 0, 16),
	RESERVED(16, 16),
	NODE(base_version, "BaseVersion", 32, 8),
	NODE(class_version, "ClassVersion", 40, 8),
	NODE(node_type, "NodeType", 48, 8),
	NODE(num_ports, "NumPorts", 56, 8),
	NODE(system_guid, "SystemImageGUID", 64, 64),
	NODE(node_guid, "NodeGUID", 128, 64),
	NODE(port_guid, "PortGUID", 192, 64),
	NODE(partition_cap, "PartitionCap", 256, 16),
	NODE(device_id, "DeviceID", 272, 16),
	NODE(revision, "Revision", 288, 32),
	NODE(local_port, "LocalPortNum", 320, 8),
	NODE(vendor_id, "VendorID", 328, 24),
	PLAIN("NodeDescription", 352, 512),
};

#define PORT(m, name, offset, bits) \
	IN(port_info, m, name, offset, bits, PLAIN)
static const struct mad_field port_info_fields[] = {
	PLAIN("EndportLID", 0, 16),
	PLAIN("PortNum", 16, 8),
	SPECIAL("Options", 24, 8),
	PORT(m_key, "M_Key", 32, 64),
	PORT(gid_prefix, "GidPrefix", 96, 64),
	PORT(lid, "LID", 160, 16),
	PORT(sm_lid, "MasterSMLID", 176, 16),
	PORT(cap_mask, "CapabilityMask", 192, 32),
	PORT(diag_code, "DiagCode", 224, 16),
	PORT(m_key_lease, "M_KeyLeasePeriod", 240, 16),
	PORT(local_port, "LocalPortNum", 256, 8),
	PORT(width_enabled, "LinkWidthEnabled", 264, 8),
	PORT(width_supported, "LinkWidthSupported", 272, 8),
	PORT(width_active, "LinkWidthActive", 280, 8),
	PORT(speed_supported, "LinkSpeedSupported", 288, 4),
	PORT(state, "PortState", 292, 4),
	PORT(phys_state, "PortPhysicalState", 296, 4),
	PORT(link_down_default, "LinkDownDefaultState", 300, 4),
	PORT(m_key_protect, "M_KeyProtectBits", 304, 2),
	RESERVED(306, 3),
	PORT(lmc, "LMC", 309, 3),
	PORT(speed_active, "LinkSpeedActive", 312, 4),
	PORT(speed_enabled, "LinkSpeedEnabled", 316, 4),
	PORT(neighbor_mtu, "NeighborMTU", 320, 4),
	PORT(sm_sl, "MasterSMSL", 324, 4),
	PORT(vl_cap, "VLCap", 328, 4),
	PORT(init_type, "InitType", 332, 4),
	PORT(vl_high_limit, "VLHighLimit", 336, 8),
	PORT(vl_arb_high_cap, "VLArbitrationHighCap", 344, 8),
	PORT(vl_arb_low_cap, "VLArbitrationLowCap", 352, 8),
	PORT(init_type_reply, "InitTypeReply", 360, 4),
	PORT(mtu_cap, "MTUCap", 364, 4),
	PORT(vl_stall_count, "VLStallCount", 368, 3),
	PORT(hoq_life, "HOQLife", 371, 5),
	PORT(oper_vls, "OperationalVLs", 376, 4),
	PORT(enforce_inbound, "PartitionEnforcementInbound", 380, 1),
	PORT(enforce_outbound, "PartitionEnforcementOutbound", 381, 1),
	PORT(filter_raw_inbound, "FilterRawInbound", 382, 1),
	PORT(filter_raw_outbound, "FilterRawOutbound", 383, 1),
	PORT(m_key_violations, "M_KeyViolations", 384, 16),
	PORT(p_key_violations, "P_KeyViolations", 400, 16),
	PORT(q_key_violations, "Q_KeyViolations", 416, 16),
	PORT(guid_cap, "GUIDCap", 432, 8),
	PORT(client_reregister, "ClientReregister", 440, 1),
	PORT(mcast_pkey_trap_suppression, "McastPkeyTrapSuppressionEnabled",
		441, 2),
	PORT(subnet_timeout, "SubnetTimeOut", 443, 5),
	RESERVED(448, 3),
	PORT(resp_time, "RespTimeValue", 451, 5),
	PORT(local_phy_errors, "LocalPhyErrors", 456, 4),
	PORT(overrun_errors, "OverrunErrors", 460, 4),
	PORT(max_credit_hint, "MaxCreditHint", 464, 16),
	/* of 1.8: no component, nor can a mask name it */
	IN(port_info,
		speed_ext2_active, "LinkSpeedExtActive2", 481, 2,
	   RESERVED),
	PORT(link_round_trip, "LinkRoundTripLatency", 488, 24),
	PORT(cap_mask2, "CapabilityMask2", 512, 16),
	PORT(speed_ext_active, "LinkSpeedExtActive", 528, 4),
	PORT(speed_ext_supported, "LinkSpeedExtSupported", 532, 4),
	RESERVED(536, 3),
	PORT(speed_ext_enabled, "LinkSpeedExtEnabled", 539, 5),
};

static const struct mad_field sl_to_vl_fields[] = {
	PLAIN("LID", 0, 16),
	PLAIN("InputPortNum", 16, 8),
	PLAIN("OutputPortNum", 24, 8),
	RESERVED(32, 32),
	ROW16(PLAIN, "SLToVL", 64, 4),
};

#define SWITCH(m, name, offset, bits) \
	IN(switch_info, m, name, offset, bits, PLAIN)
static const struct mad_field switch_info_fields[] = {
	PLAIN("LID", 0, 16),
	RESERVED(16, 16),
	SWITCH(linear_fdb_cap, "LinearFDBCap", 32, 16),
	SWITCH(random_fdb_cap, "RandomFDBCap", 48, 16),
	SWITCH(multicast_fdb_cap, "MulticastFDBCap", 64, 16),
	SWITCH(linear_fdb_top, "LinearFDBTop", 80, 16),
	SWITCH(default_port, "DefaultPort", 96, 8),
	SWITCH(default_mcast_primary, "DefaultMulticastPrimaryPort", 104, 8),
	SWITCH(default_mcast_not_primary, "DefaultMulticastNotPrimaryPort",
		112, 8),
	SWITCH(life_time, "LifeTimeValue", 120, 5),
	SWITCH(port_state_change, "PortStateChange", 125, 1),
	SWITCH(opt_sl_to_vl, "OptimizedSLtoVLMappingProgramming", 126, 2),
	SWITCH(lids_per_port, "LIDsPerPort", 128, 16),
	SWITCH(partition_enforcement_cap, "PartitionEnforcementCap", 144, 16),
	SWITCH(enforce_inbound, "InboundEnforcementCap", 160, 1),
	SWITCH(enforce_outbound, "OutboundEnforcementCap", 161, 1),
	SWITCH(filter_raw_inbound, "FilterRawInboundCap", 162, 1),
	SWITCH(filter_raw_outbound, "FilterRawOutboundCap", 163, 1),
	SWITCH(enhanced_port0, "EnhancedPort0", 164, 1),
	RESERVED(165, 3),
	RESERVED(168, 8),
	SWITCH(multicast_fdb_top, "MulticastFDBTop", 176, 16),
};

static const struct mad_field linear_ft_fields[] = {
	PLAIN("LID", 0, 16),
	PLAIN("BlockNum", 16, 16),
	RESERVED(32, 32),
	ROW32(PLAIN, "Port", 64, 8),
	ROW16(PLAIN, "Port", 320, 8),
	ROW8(PLAIN, "Port", 448, 8),
	ROW4(PLAIN, "Port", 512, 8),
	PLAIN("Port", 544, 8),
};

static const struct mad_field multicast_ft_fields[] = {
	PLAIN("LID", 0, 16),
	PLAIN("Position", 16, 4),
	RESERVED(20, 3),
	PLAIN("BlockNum", 23, 9),
	RESERVED(32, 32),
	ROW32(PLAIN, "PortMask", 64, 16),
};

#define SM(m, name, offset, bits, kind) \
	IN(sm_info, m, name, offset, bits, kind)
static const struct mad_field sm_info_fields[] = {
	PLAIN("LID", 0, 16),
	RESERVED(16, 16),
	SM(guid, "GUID", 32, 64, PLAIN),
	SM(sm_key, "SM_Key", 96, 64, SPECIAL),
	SM(act_count, "ActCount", 160, 32, PLAIN),
	SM(priority, "Priority", 192, 4, PLAIN),
	SM(state, "SMState", 196, 4, PLAIN),
};

static const struct mad_field link_fields[] = {
	PLAIN("FromLID", 0, 16),
	PLAIN("FromPort", 16, 8),
	PLAIN("ToPort", 24, 8),
	PLAIN("ToLID", 32, 16),
};

static const struct mad_field guid_info_fields[] = {
	PLAIN("LID", 0, 16),
	PLAIN("BlockNum", 16, 8),
	RESERVED(24, 8),
	RESERVED(32, 32),
	ROW8(PLAIN, "GUID", 64, 64),
};

#define SERVICE(m, name, offset, bits) \
	IN(service_record, m, name, offset, bits, PLAIN)
#define DATA(name, offset, bits) \
	{ name, offset, bits, MAD_FIELD_PLAIN, MAD_FIELD_BYTES, (bits) / 8, \
	  G_STRUCT_OFFSET(struct service_record, data) + (offset) / 8 - 112 }
static const struct mad_field service_fields[] = {
	SERVICE(id, "ServiceID", 0, 64),
	SERVICE(gid, "ServiceGID", 64, 128),
	SERVICE(pkey, "ServiceP_Key", 192, 16),
	RESERVED(208, 16),
	SERVICE(lease, "ServiceLease", 224, 32),
	SERVICE(key, "ServiceKey", 256, 128),
	SERVICE(name, "ServiceName", 384, 512),
	ROW16(DATA, "ServiceData8", 896, 8),
	ROW8(DATA, "ServiceData16", 1024, 16),
	ROW4(DATA, "ServiceData32", 1152, 32),
	ROW2(DATA, "ServiceData64", 1280, 64),
};

static const struct mad_field pkey_table_fields[] = {
	PLAIN("LID", 0, 16),
	PLAIN("BlockNum", 16, 16),
	PLAIN("PortNum", 32, 8),
	RESERVED(40, 24),
};

/* plain: of a group; a path between ports is made as requested */
#define PATH(m, name, offset, bits, kind) \
	IN(path_record, m, name, offset, bits, kind)
static const struct mad_field path_fields[] = {
	SPECIAL("ServiceID8MSB", 0, 8),
	SPECIAL("ServiceID56LSB", 8, 56),
	PATH(dgid, "DGID", 64, 128, PLAIN),
	PATH(sgid, "SGID", 192, 128, SPECIAL),
	PATH(dlid, "DLID", 320, 16, PLAIN),
	PATH(slid, "SLID", 336, 16, SPECIAL),
	PATH(raw, "RawTraffic", 352, 1, PLAIN),
	RESERVED(353, 3),
	PATH(flow_label, "FlowLabel", 356, 20, PLAIN),
	PATH(hop_limit, "HopLimit", 376, 8, PLAIN),
	PATH(tclass, "TClass", 384, 8, PLAIN),
	PATH(reversible, "Reversible", 392, 1, SPECIAL),
	PATH(numb_path, "NumbPath", 393, 7, SPECIAL),
	PATH(pkey, "P_Key", 400, 16, SPECIAL),
	PATH(qos_class, "QoSClass", 416, 12, SPECIAL),
	PATH(sl, "SL", 428, 4, PLAIN),
	PATH(mtu_selector, "MTUSelector", 432, 2, SPECIAL),
	PATH(mtu, "MTU", 434, 6, SPECIAL),
	PATH(rate_selector, "RateSelector", 440, 2, SPECIAL),
	PATH(rate, "Rate", 442, 6, SPECIAL),
	PATH(life_selector, "PacketLifeTimeSelector", 448, 2, SPECIAL),
	PATH(life, "PacketLifeTime", 450, 6, SPECIAL),
	PATH(preference, "Preference", 456, 8, PLAIN),
	RESERVED(464, 48),
};

static const struct mad_field vl_arb_fields[] = {
	PLAIN("LID", 0, 16),
	PLAIN("OutputPortNum", 16, 8),
	PLAIN("BlockNum", 24, 8),
	RESERVED(32, 32),
};

#define GROUP(m, name, offset, bits, kind) \
	IN(mcmember_record, m, name, offset, bits, kind)
static const struct mad_field mc_member_fields[] = {
	GROUP(mgid, "MGID", 0, 128, PLAIN),
	GROUP(port_gid, "PortGID", 128, 128, PLAIN),
	GROUP(q_key, "Q_Key", 256, 32, PLAIN),
	GROUP(mlid, "MLID", 288, 16, PLAIN),
	GROUP(mtu_selector, "MTUSelector", 304, 2, SPECIAL),
	GROUP(mtu, "MTU", 306, 6, SPECIAL),
	GROUP(tclass, "TClass", 312, 8, PLAIN),
	GROUP(pkey, "P_Key", 320, 16, SPECIAL),
	GROUP(rate_selector, "RateSelector", 336, 2, SPECIAL),
	GROUP(rate, "Rate", 338, 6, SPECIAL),
	GROUP(life_selector, "PacketLifeTimeSelector", 344, 2, SPECIAL),
	GROUP(life, "PacketLifeTime", 346, 6, SPECIAL),
	GROUP(sl, "SL", 352, 4, PLAIN),
	GROUP(flow_label, "FlowLabel", 356, 20, PLAIN),
	GROUP(hop_limit, "HopLimit", 376, 8, PLAIN),
	GROUP(scope, "Scope", 384, 4, PLAIN),
	GROUP(join_state, "JoinState", 388, 4, BITS),
	GROUP(proxy_join, "ProxyJoin", 392, 1, PLAIN),
	RESERVED(393, 23),
};

#define MULTI(m, name, offset, bits) \
	IN(multi_path_record, m, name, offset, bits, SPECIAL)
static const struct mad_field multi_path_fields[] = {
	MULTI(path.raw, "RawTraffic", 0, 1),
	RESERVED(1, 3),
	MULTI(path.flow_label, "FlowLabel", 4, 20),
	MULTI(path.hop_limit, "HopLimit", 24, 8),
	MULTI(path.tclass, "TClass", 32, 8),
	MULTI(path.reversible, "Reversible", 40, 1),
	MULTI(path.numb_path, "NumbPath", 41, 7),
	MULTI(path.pkey, "P_Key", 48, 16),
	MULTI(path.qos_class, "QoSClass", 64, 12),
	MULTI(path.sl, "SL", 76, 4),
	MULTI(path.mtu_selector, "MTUSelector", 80, 2),
	MULTI(path.mtu, "MTU", 82, 6),
	MULTI(path.rate_selector, "RateSelector", 88, 2),
	MULTI(path.rate, "Rate", 90, 6),
	MULTI(path.life_selector, "PacketLifeTimeSelector", 96, 2),
	MULTI(path.life, "PacketLifeTime", 98, 6),
	SPECIAL("ServiceID8MSB", 104, 8),
	MULTI(independence, "IndependenceSelector", 112, 2),
	RESERVED(114, 6),
	MULTI(n_sgids, "SGIDCount", 120, 8),
	MULTI(n_dgids, "DGIDCount", 128, 8),
	SPECIAL("ServiceID56LSB", 136, 56),
};

/* InformInfo is an attribute of its own, and begins 24 bytes into its
 * record. */
#define INFORM(record, in, at) \
	IN(record, in gid, "GID", (at), 128, PLAIN), \
	IN(record, in lid_begin, "LIDRangeBegin", (at) + 128, 16, PLAIN), \
	IN(record, in lid_end, "LIDRangeEnd", (at) + 144, 16, PLAIN), \
	RESERVED((at) + 160, 16), \
	IN(record, in generic, "IsGeneric", (at) + 176, 8, PLAIN), \
	IN(record, in subscribe, "Subscribe", (at) + 184, 8, PLAIN), \
	IN(record, in type, "Type", (at) + 192, 16, PLAIN), \
	IN(record, in trap, "TrapNumberDeviceID", (at) + 208, 16, PLAIN), \
	IN(record, in qpn, "QPN", (at) + 224, 24, PLAIN), \
	RESERVED((at) + 248, 3), \
	IN(record, in resp_time, "RespTimeValue", (at) + 251, 5, PLAIN), \
	RESERVED((at) + 256, 8), \
	IN(record, in producer, "ProducerTypeVendorID", (at) + 264, 24, PLAIN)

static const struct mad_field inform_info_fields[] = {
	INFORM(inform_info, , 0),
};

static const struct mad_field inform_info_record_fields[] = {
	IN(inform_info_record, subscriber_gid, "SubscriberGID", 0, 128, PLAIN),
	IN(inform_info_record, index, "Enum", 128, 16, PLAIN),
	RESERVED(144, 48),
	INFORM(inform_info_record, info., 192),
};

#define TABLE(attr, table, text, size) \
	{ attr, size, G_N_ELEMENTS(table), text, table }

static const struct mad_attr_table tables[] = {
	/* the one that is looked up most */
	TABLE(SA_ATTR_PATH, path_fields, "PathRecord", 64),
	{ SA_ATTR_CLASS_PORT_INFO, 72, 0, "ClassPortInfo", NULL },
	{ SA_ATTR_NOTICE, 80, 0, "Notice", NULL },
	TABLE(SA_ATTR_INFORM_INFO, inform_info_fields, "InformInfo", 40),
	TABLE(SA_ATTR_NODE, node_fields, "NodeRecord", 112),
	TABLE(SA_ATTR_PORT_INFO, port_info_fields, "PortInfoRecord", 72),
	TABLE(SA_ATTR_SL_TO_VL, sl_to_vl_fields, "SLtoVLMappingTableRecord",
	      16),
	TABLE(SA_ATTR_SWITCH_INFO, switch_info_fields, "SwitchInfoRecord", 24),
	TABLE(SA_ATTR_LINEAR_FT, linear_ft_fields,
	     "LinearForwardingTableRecord", 72),
	TABLE(SA_ATTR_MULTICAST_FT, multicast_ft_fields,
	     "MulticastForwardingTableRecord", 72),
	TABLE(SA_ATTR_SM_INFO, sm_info_fields, "SMInfoRecord", 32),
	TABLE(SA_ATTR_LINK, link_fields, "LinkRecord", 8),
	TABLE(SA_ATTR_GUID_INFO, guid_info_fields, "GUIDInfoRecord", 72),
	TABLE(SA_ATTR_SERVICE, service_fields, "ServiceRecord", 176),
	TABLE(SA_ATTR_PKEY_TABLE, pkey_table_fields, "P_KeyTableRecord", 72),
	TABLE(SA_ATTR_VL_ARB, vl_arb_fields, "VLArbitrationTableRecord", 72),
	TABLE(SA_ATTR_MC_MEMBER, mc_member_fields, "MCMemberRecord", 56),
	TABLE(SA_ATTR_MULTI_PATH, multi_path_fields, "MultiPathRecord", 24),
	TABLE(SA_ATTR_INFORM_INFO_RECORD, inform_info_record_fields,
	     "InformInfoRecord", 64),
	/* text, in pieces of this size */
	{ SA_ATTR_STATE, 64, 0, "ManagerState", NULL },
	/* No size: the SA has none of these, but a log may have to name
	 * them. */
	{ SA_ATTR_RANDOM_FT, 0, 0, "RandomForwardingTableRecord", NULL },
	{ SA_ATTR_TRACE, 0, 0, "TraceRecord", NULL },
	{ SA_ATTR_SERVICE_ASSOCIATION, 0, 0, "ServiceAssociationRecord",
	  NULL },
};

const struct mad_attr_table *
mad_attr_table(unsigned attr_id)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (tables[i].attr_id == attr_id)
			return &tables[i];
	return NULL;
}
