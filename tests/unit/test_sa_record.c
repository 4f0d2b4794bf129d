// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA records as bytes, member by member.
 *
 * A member of a struct that is set alone must show in its component and nowhere
 * else, and every component must be some member: the codecs and the component
 * tables have no line in common. Then answers that OpenSM 3.3.23 gave on a
 * simulated fabric of two switches and three hosts, taken off the wire: they
 * are decoded, and encoded again to the same bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "sm/mad/notice.h"
#include "sm/mad/sa_record.h"

union record {
	struct path_record path;
	struct multi_path_record multi;
	struct mcmember_record member;
	struct service_record service;
	struct inform_info inform;
	struct inform_info_record inform_record;
	struct node_info node;
	struct port_info port;
	struct switch_info sw;
	struct sm_info sm;
};

static void
encode(unsigned attr_id, const union record *r, uint8_t *out)
{
	switch (attr_id) {
	case SA_ATTR_PATH:
		path_record_encode(out, &r->path);
		return;
	case SA_ATTR_MULTI_PATH:
		multi_path_record_encode(out, &r->multi);
		return;
	case SA_ATTR_MC_MEMBER:
		mcmember_record_encode(out, &r->member);
		return;
	case SA_ATTR_SERVICE:
		service_record_encode(out, &r->service);
		return;
	case SA_ATTR_INFORM_INFO:
		inform_info_encode(out, &r->inform);
		return;
	case SA_ATTR_INFORM_INFO_RECORD:
		inform_info_record_encode(out, &r->inform_record);
		return;
	case SA_ATTR_NODE:
		node_record_encode(out, 0, &r->node, "");
		return;
	case SA_ATTR_PORT_INFO:
		port_info_record_encode(out, 0, 0, &r->port);
		return;
	case SA_ATTR_SWITCH_INFO:
		switch_info_record_encode(out, 0, &r->sw);
		return;
	case SA_ATTR_SM_INFO:
		sm_info_record_encode(out, 0, &r->sm);
		return;
	}
	fail();
}

/* A member of a struct, and the components that are it: mostly one. */
struct member {
	const char *name;
	uint16_t attr_id;
	uint16_t offset, size;
	uint8_t component, second;
	bool flag;		/* a bool: 1 is all that it can be */
};

#define MEMBERS(attr, type, m, a, b) \
	{ #type "." #m, attr, offsetof(struct type, m), \
	  sizeof(((struct type *)0)->m), a, b, \
	  __builtin_types_compatible_p(__typeof__(((struct type *)0)->m), \
				       bool) }
#define PATH(m, a)	MEMBERS(SA_ATTR_PATH, path_record, m, a, a)
#define MULTI(m, a)	MEMBERS(SA_ATTR_MULTI_PATH, multi_path_record, m, a, a)
#define GROUP(m, a)	MEMBERS(SA_ATTR_MC_MEMBER, mcmember_record, m, a, a)
#define SERVICE(m, a)	MEMBERS(SA_ATTR_SERVICE, service_record, m, a, a)
#define INFORM(m, a)	MEMBERS(SA_ATTR_INFORM_INFO, inform_info, m, a, a)
#define RECORD(m, a)	MEMBERS(SA_ATTR_INFORM_INFO_RECORD, \
				inform_info_record, m, a, a)
#define NODE(m, a)	MEMBERS(SA_ATTR_NODE, node_info, m, a, a)
#define PORT(m, a)	MEMBERS(SA_ATTR_PORT_INFO, port_info, m, a, a)
#define SWITCH(m, a)	MEMBERS(SA_ATTR_SWITCH_INFO, switch_info, m, a, a)
#define SM(m, a)	MEMBERS(SA_ATTR_SM_INFO, sm_info, m, a, a)

static const struct member members[] = {
	MEMBERS(SA_ATTR_PATH, path_record, service_id, 0, 1),
	PATH(dgid, PATH_DGID), PATH(sgid, PATH_SGID), PATH(dlid, PATH_DLID),
	PATH(slid, PATH_SLID), PATH(raw, PATH_RAW),
	PATH(flow_label, PATH_FLOW_LABEL), PATH(hop_limit, PATH_HOP_LIMIT),
	PATH(tclass, PATH_TCLASS), PATH(reversible, PATH_REVERSIBLE),
	PATH(numb_path, PATH_NUMB_PATH), PATH(pkey, PATH_PKEY),
	PATH(qos_class, PATH_QOS_CLASS), PATH(sl, PATH_SL),
	PATH(mtu_selector, PATH_MTU_SELECTOR), PATH(mtu, PATH_MTU),
	PATH(rate_selector, PATH_RATE_SELECTOR), PATH(rate, PATH_RATE),
	PATH(life_selector, PATH_LIFE_SELECTOR), PATH(life, PATH_LIFE),
	PATH(preference, 22),
	MEMBERS(SA_ATTR_MULTI_PATH, multi_path_record, path.service_id, 16,
		21),
	MULTI(path.raw, MULTI_RAW), MULTI(path.flow_label, MULTI_FLOW_LABEL),
	MULTI(path.hop_limit, MULTI_HOP_LIMIT),
	MULTI(path.tclass, MULTI_TCLASS),
	MULTI(path.reversible, MULTI_REVERSIBLE),
	MULTI(path.numb_path, MULTI_NUMB_PATH), MULTI(path.pkey, MULTI_PKEY),
	MULTI(path.qos_class, MULTI_QOS_CLASS), MULTI(path.sl, MULTI_SL),
	MULTI(path.mtu_selector, MULTI_MTU_SELECTOR),
	MULTI(path.mtu, MULTI_MTU),
	MULTI(path.rate_selector, MULTI_RATE_SELECTOR),
	MULTI(path.rate, MULTI_RATE),
	MULTI(path.life_selector, MULTI_LIFE_SELECTOR),
	MULTI(path.life, MULTI_LIFE),
	MULTI(independence, MULTI_INDEPENDENCE),
	MULTI(n_sgids, MULTI_SGID_COUNT), MULTI(n_dgids, MULTI_DGID_COUNT),
	GROUP(mgid, MCM_MGID), GROUP(port_gid, MCM_PORT_GID),
	GROUP(q_key, MCM_Q_KEY), GROUP(mlid, MCM_MLID),
	GROUP(mtu_selector, MCM_MTU_SELECTOR), GROUP(mtu, MCM_MTU),
	GROUP(tclass, MCM_TCLASS), GROUP(pkey, MCM_PKEY),
	GROUP(rate_selector, MCM_RATE_SELECTOR), GROUP(rate, MCM_RATE),
	GROUP(life_selector, MCM_LIFE_SELECTOR), GROUP(life, MCM_LIFE),
	GROUP(sl, MCM_SL), GROUP(flow_label, MCM_FLOW_LABEL),
	GROUP(hop_limit, MCM_HOP_LIMIT), GROUP(scope, MCM_SCOPE),
	GROUP(join_state, MCM_JOIN_STATE), GROUP(proxy_join, MCM_PROXY_JOIN),
	SERVICE(id, SERVICE_ID), SERVICE(gid, SERVICE_GID),
	SERVICE(pkey, SERVICE_PKEY), SERVICE(lease, SERVICE_LEASE),
	SERVICE(key, SERVICE_KEY), SERVICE(name, SERVICE_NAME),
	MEMBERS(SA_ATTR_SERVICE, service_record, data, 7, 36),
	INFORM(gid, 0), INFORM(lid_begin, 1), INFORM(lid_end, 2),
	INFORM(generic, 4), INFORM(subscribe, 5), INFORM(type, 6),
	INFORM(trap, 7), INFORM(qpn, 8), INFORM(resp_time, 10),
	INFORM(producer, 12),
	RECORD(subscriber_gid, 0), RECORD(index, 1), RECORD(info.gid, 3),
	RECORD(info.lid_begin, 4), RECORD(info.lid_end, 5),
	RECORD(info.generic, 7), RECORD(info.subscribe, 8),
	RECORD(info.type, 9), RECORD(info.trap, 10), RECORD(info.qpn, 11),
	RECORD(info.resp_time, 13), RECORD(info.producer, 15),
	NODE(base_version, 2), NODE(class_version, 3), NODE(node_type, 4),
	NODE(num_ports, 5), NODE(system_guid, 6), NODE(node_guid, 7),
	NODE(port_guid, 8), NODE(partition_cap, 9), NODE(device_id, 10),
	NODE(revision, 11), NODE(local_port, 12), NODE(vendor_id, 13),
	PORT(m_key, 3), PORT(gid_prefix, 4), PORT(lid, 5), PORT(sm_lid, 6),
	PORT(cap_mask, 7), PORT(diag_code, 8), PORT(m_key_lease, 9),
	PORT(local_port, 10), PORT(width_enabled, 11),
	PORT(width_supported, 12), PORT(width_active, 13),
	PORT(speed_supported, 14), PORT(state, 15), PORT(phys_state, 16),
	PORT(link_down_default, 17), PORT(m_key_protect, 18), PORT(lmc, 20),
	PORT(speed_active, 21), PORT(speed_enabled, 22),
	PORT(neighbor_mtu, 23), PORT(sm_sl, 24), PORT(vl_cap, 25),
	PORT(init_type, 26), PORT(vl_high_limit, 27),
	PORT(vl_arb_high_cap, 28), PORT(vl_arb_low_cap, 29),
	PORT(init_type_reply, 30), PORT(mtu_cap, 31),
	PORT(vl_stall_count, 32), PORT(hoq_life, 33), PORT(oper_vls, 34),
	PORT(enforce_inbound, 35), PORT(enforce_outbound, 36),
	PORT(filter_raw_inbound, 37), PORT(filter_raw_outbound, 38),
	PORT(m_key_violations, 39), PORT(p_key_violations, 40),
	PORT(q_key_violations, 41), PORT(guid_cap, 42),
	PORT(client_reregister, 43), PORT(mcast_pkey_trap_suppression, 44),
	PORT(subnet_timeout, 45), PORT(resp_time, 47),
	PORT(local_phy_errors, 48), PORT(overrun_errors, 49),
	PORT(max_credit_hint, 50), PORT(link_round_trip, 52),
	PORT(cap_mask2, 53), PORT(speed_ext_active, 54),
	PORT(speed_ext_supported, 55), PORT(speed_ext_enabled, 57),
	SWITCH(linear_fdb_cap, 2), SWITCH(random_fdb_cap, 3),
	SWITCH(multicast_fdb_cap, 4), SWITCH(linear_fdb_top, 5),
	SWITCH(default_port, 6), SWITCH(default_mcast_primary, 7),
	SWITCH(default_mcast_not_primary, 8), SWITCH(life_time, 9),
	SWITCH(port_state_change, 10), SWITCH(opt_sl_to_vl, 11),
	SWITCH(lids_per_port, 12), SWITCH(partition_enforcement_cap, 13),
	SWITCH(enforce_inbound, 14), SWITCH(enforce_outbound, 15),
	SWITCH(filter_raw_inbound, 16), SWITCH(filter_raw_outbound, 17),
	SWITCH(enhanced_port0, 18), SWITCH(multicast_fdb_top, 21),
	SM(guid, 2), SM(sm_key, 3), SM(act_count, 4), SM(priority, 5),
	SM(state, 6),
};

static void
cover(const struct sa_field *f, uint8_t *mask)
{
	for (unsigned b = f->offset; b < f->offset + f->bits; b++)
		mask[b / 8] |= (uint8_t)(0x80 >> b % 8);
}

/* The bits that the member may show in. A bool in a component of a byte is
 * its last bit. */
static void
expect(const struct member *m, uint8_t *mask)
{
	unsigned n, i;
	const struct sa_field *f = sa_fields(m->attr_id, &n);

	assert_true(m->component < n && m->second < n);
	memset(mask, 0, SA_DATA_LEN);
	if (m->flag) {
		unsigned last = f[m->component].offset +
			f[m->component].bits - 1u;

		mask[last / 8] = (uint8_t)(0x80 >> last % 8);
		return;
	}
	cover(&f[m->component], mask);
	cover(&f[m->second], mask);
	/* ServiceData is one member, and a row of components */
	for (i = m->component; m->attr_id == SA_ATTR_SERVICE &&
	     i < m->second; i++)
		cover(&f[i], mask);
}

/* All bits of a member that is set: more than its component may be wide. */
static void
test_each_member_shows_in_its_component_alone(void **state)
{
	for (size_t k = 0; k < G_N_ELEMENTS(members); k++) {
		const struct member *m = &members[k];
		uint8_t out[SA_DATA_LEN], mask[SA_DATA_LEN];
		size_t size = m->attr_id == SA_ATTR_INFORM_INFO ?
			INFORM_LEN : sa_record_size(m->attr_id);
		union record r;

		/* what is reserved must become 0 by itself */
		memset(out, 0xee, sizeof(out));
		memset(&r, 0, sizeof(r));
		memset((uint8_t *)&r + m->offset, m->flag ? 1 : 0xff, m->size);
		encode(m->attr_id, &r, out);
		expect(m, mask);
		for (size_t i = 0; i < size; i++)
			if (out[i] != mask[i])
				fail_msg("%s: byte %zu is %02x, not %02x",
					 m->name, i, out[i], mask[i]);
	}
}

/* And none was forgotten: a component that is not reserved is the member of
 * a struct, or one of the keys in front. */
static void
test_each_component_is_some_member(void **state)
{
	for (size_t k = 0; k < G_N_ELEMENTS(members); k++) {
		unsigned id = members[k].attr_id, n;
		const struct sa_field *f = sa_fields(id, &n);
		uint64_t seen = 0;

		for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
			if (members[i].attr_id == id)
				seen |= SA_BIT(members[i].component) |
					SA_BIT(members[i].second);
		if (id == SA_ATTR_SERVICE)
			seen |= SA_BIT(37) - SA_BIT(7);
		if (id == SA_ATTR_NODE)
			seen |= SA_BIT(0) | SA_BIT(14);
		if (id == SA_ATTR_PORT_INFO)
			seen |= SA_BIT(0) | SA_BIT(1) | SA_BIT(2);
		if (id == SA_ATTR_SWITCH_INFO || id == SA_ATTR_SM_INFO)
			seen |= SA_BIT(0);
		for (unsigned i = 0; i < n; i++)
			if (!(seen >> i & 1) !=
			    (f[i].kind == SA_FIELD_RESERVED))
				fail_msg("%s: %s", sa_attr_name(id),
					 f[i].name);
	}
}

/* --------------------------------------------------- what OpenSM answered */

static const uint8_t node_bytes[112] = {
	0x00, 0x01, 0x00, 0x00, 0x01, 0x01, 0x01, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x01,
	0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0xa1,
	0x01, 0x00, 0x00, 0x00, 'H', '1',
};

static const uint8_t port_bytes[72] = {
	0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xfe, 0x80, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01,
	0x00, 0x50, 0xc0, 0x4a, 0x00, 0x00, 0x0f, 0xf9,
	0x01, 0x02, 0x1f, 0x02, 0x74, 0x52, 0x00, 0x11,
	0x40, 0x40, 0x00, 0x08, 0x08, 0x04, 0xe0, 0x40,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x1f,
	[64] = 0x00, 0x30,
};

static const uint8_t switch_bytes[24] = {
	0x00, 0x02, 0x00, 0x00, 0xbf, 0xff, 0x00, 0x00,
	0x04, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x90,
	0x00, 0x00, 0x00, 0x40, 0x30,
};

static const uint8_t sm_bytes[32] = {
	0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x10, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5b,
	0x33,
};

static const uint8_t member_bytes[56] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff,
	[32] = 0x00, 0x00, 0x0b, 0x1b, 0xc0, 0x00, 0x84, 0x00,
	0xff, 0xff, 0x83, 0x92, 0x00, 0x00, 0x00, 0x00,
	0x20,
};

static const uint8_t path_bytes[64] = {
	[8] = 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x01,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x01,
	0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x80, 0xff, 0xff, 0x00, 0x00, 0x84, 0x83,
	0x80,
};

static const uint8_t inform_bytes[64] = {
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x05,
	[40] = 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01,
	0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12,
	0x00, 0xff, 0xff, 0xff,
};

static void
test_answers_about_the_fabric_come_back(void **state)
{
	struct node_info node;
	struct port_info port;
	struct switch_info sw;
	struct sm_info sm;
	uint8_t data[SMP_DATA_LEN] = { 0 }, out[SA_DATA_LEN] = { 0 };

	node_info_decode(node_bytes + 4, &node);
	assert_int_equal(node.node_type, NODE_CA);
	assert_true(node.port_guid == 0x100001);
	node_record_encode(out, 1, &node, "H1");
	assert_memory_equal(out, node_bytes, sizeof(node_bytes));

	port_info_decode(port_bytes + 4, &port);
	assert_int_equal(port.state, PORT_STATE_ACTIVE);
	assert_int_equal(sa_rate_of(&port), 3);		/* 4x SDR */
	port_info_record_encode(out, 1, 1, &port);
	assert_memory_equal(out, port_bytes, sizeof(port_bytes));

	memcpy(data, switch_bytes + 4, sizeof(switch_bytes) - 4);
	switch_info_decode(data, &sw);
	assert_int_equal(sw.linear_fdb_top, 5);
	switch_info_record_encode(out, 2, &sw);
	assert_memory_equal(out, switch_bytes, sizeof(switch_bytes));

	memset(data, 0, sizeof(data));
	memcpy(data, sm_bytes + 4, sizeof(sm_bytes) - 4);
	sm_info_decode(data, &sm);
	assert_int_equal(sm.state, SM_STATE_MASTER);
	assert_int_equal(sm.act_count, 0x5b);
	sm_info_record_encode(out, 1, &sm);
	assert_memory_equal(out, sm_bytes, sizeof(sm_bytes));
}

static void
test_answers_to_clients_come_back(void **state)
{
	struct mcmember_record member;
	struct path_record path;
	struct inform_info_record inform;
	uint8_t out[SA_DATA_LEN];

	memset(out, 0xee, sizeof(out));
	mcmember_record_decode(member_bytes, &member);
	assert_int_equal(member.mlid, 0xc000);
	assert_int_equal(member.q_key, 0xb1b);
	assert_int_equal(member.mtu_selector, SA_EXACTLY);
	assert_int_equal(member.mtu, 4);
	assert_int_equal(member.life, 18);
	assert_int_equal(member.scope, 2);
	mcmember_record_encode(out, &member);
	assert_memory_equal(out, member_bytes, sizeof(member_bytes));
	assert_int_equal(out[sizeof(member_bytes)], 0xee);

	path_record_decode(path_bytes, &path);
	assert_int_equal(path.slid, 1);
	assert_true(path.reversible);
	assert_int_equal(path.pkey, 0xffff);
	assert_int_equal(path.mtu, 4);
	assert_int_equal(path.rate, 3);
	path_record_encode(out, &path);
	assert_memory_equal(out, path_bytes, sizeof(path_bytes));
	assert_int_equal(out[sizeof(path_bytes)], 0xee);

	inform_info_record_decode(inform_bytes, &inform);
	assert_int_equal(inform.info.lid_begin, 0xffff);
	assert_int_equal(inform.info.trap, 0xffff);
	assert_int_equal(inform.info.resp_time, 18);
	assert_int_equal(inform.info.producer, 0xffffff);
	inform_info_record_encode(out, &inform);
	assert_memory_equal(out, inform_bytes, sizeof(inform_bytes));
	assert_int_equal(out[sizeof(inform_bytes)], 0xee);
}

/* AttributeOffset of its answers; of a ServiceRecord and MFT, of which it had
 * none, and of a MultiPathRecord, which is no answer: the sizes of IBA. */
static void
test_attribute_offsets_are_what_clients_expect(void **state)
{
	static const struct {
		uint16_t attr_id, offset;
	} known[] = {
		{ SA_ATTR_CLASS_PORT_INFO, 9 }, { SA_ATTR_NODE, 14 },
		{ SA_ATTR_PORT_INFO, 9 }, { SA_ATTR_SL_TO_VL, 2 },
		{ SA_ATTR_SWITCH_INFO, 3 }, { SA_ATTR_LINEAR_FT, 9 },
		{ SA_ATTR_MULTICAST_FT, 9 }, { SA_ATTR_SM_INFO, 4 },
		{ SA_ATTR_LINK, 1 }, { SA_ATTR_GUID_INFO, 9 },
		{ SA_ATTR_SERVICE, 22 }, { SA_ATTR_PKEY_TABLE, 9 },
		{ SA_ATTR_PATH, 8 }, { SA_ATTR_VL_ARB, 9 },
		{ SA_ATTR_MC_MEMBER, 7 }, { SA_ATTR_INFORM_INFO_RECORD, 8 },
		{ SA_ATTR_MULTI_PATH, 3 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		assert_int_equal(sa_record_size(known[i].attr_id),
				 known[i].offset * 8u);
}

/* ------------------------------------------------------------- the rest */

/* Tables of blocks: the keys, then the block where its components are. */
static void
test_table_records_as_bytes(void **state)
{
	static const uint8_t vls[16] = { 0, 1, [14] = 15, 14 };
	const uint64_t guids[8] = { 0x0102030405060708, [7] = 0xaa };
	const uint16_t pkeys[32] = { 0x7fff, [31] = 0x8001 };
	uint8_t d[SA_DATA_LEN], table[64] = { 0x11, [63] = 0x99 };

	memset(d, 0xee, sizeof(d));
	linear_ft_record_encode(d, 0x0102, 0x0304, table);
	assert_memory_equal(d, "\1\2\3\4\0\0\0\0\x11", 9);
	assert_int_equal(d[71], 0x99);
	sl_to_vl_record_encode(d, 0x0102, 3, 4, vls);
	assert_memory_equal(d, "\1\2\3\4\0\0\0\0\1\0\0\0\0\0\0\xfe", 16);
	vl_arb_record_encode(d, 0x0102, 3, 4, table);
	assert_memory_equal(d, "\1\2\3\4\0\0\0\0\x11", 9);
	assert_int_equal(d[71], 0x99);
	guid_info_record_encode(d, 0x0102, 3, guids);
	assert_memory_equal(d, "\1\2\3\0\0\0\0\0\1\2\3\4\5\6\7\x08", 16);
	assert_int_equal(d[71], 0xaa);
	pkey_table_record_encode(d, 0x0102, 0x0304, 5, pkeys);
	assert_memory_equal(d, "\1\2\3\4\5\0\0\0\x7f\xff", 10);
	assert_memory_equal(d + 70, "\x80\x01", 2);
	assert_int_equal(d[72], 0xee);
}

static void
test_description_of_64_bytes_stays_in_its_place(void **state)
{
	const struct node_info info = { .node_type = NODE_SWITCH };
	char desc[80];
	uint8_t d[SA_DATA_LEN];

	memset(desc, 'x', sizeof(desc));
	desc[sizeof(desc) - 1] = '\0';
	memset(d, 0xee, sizeof(d));
	node_record_encode(d, 7, &info, desc);
	assert_memory_equal(d + 44, desc, 64);
	assert_memory_equal(d + 108, "\0\0\0\0\xee", 5);
}

static void
test_notice_about_a_gid_as_bytes(void **state)
{
	static const uint8_t gid[16] = { 0xff, 0x12, [15] = 0x77 };
	static const uint8_t front[16] = {
		0x83, 0, 0, 4, 0, 66, 0x01, 0x02,
	};
	uint8_t d[NOTICE_LEN + 1];
	struct notice n;

	memset(d, 0xee, sizeof(d));
	notice_build_gid(d, 66, 0x0102, gid);
	assert_memory_equal(d, front, sizeof(front));
	assert_memory_equal(d + 16, gid, sizeof(gid));
	for (unsigned i = 32; i < NOTICE_LEN; i++)
		assert_int_equal(d[i], 0);
	assert_int_equal(d[NOTICE_LEN], 0xee);
	notice_decode(d, &n);
	assert_true(n.generic);
	assert_int_equal(n.trap, 66);
	assert_int_equal(n.issuer_lid, 0x0102);
}

/* Each width with each speed has a rate of its own speed. */
static void
test_every_link_has_a_rate(void **state)
{
	static const uint8_t widths[][2] = {
		{ 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 },
	};
	static const struct {
		uint8_t speed, extended, extended2;
		unsigned mbps;
	} speeds[] = {
		{ 1, 0, 0, 2500 }, { 2, 0, 0, 5000 }, { 4, 0, 0, 10000 },
		{ 4, 1, 0, 14000 }, { 4, 2, 0, 25000 }, { 4, 4, 0, 50000 },
		{ 4, 8, 0, 100000 }, { 4, 0, 1, 200000 }, { 4, 8, 1, 200000 },
	};

	for (size_t w = 0; w < G_N_ELEMENTS(widths); w++)
		for (size_t s = 0; s < G_N_ELEMENTS(speeds); s++) {
			const struct port_info p = {
				.width_active = widths[w][0],
				.speed_active = speeds[s].speed,
				.speed_ext_active = speeds[s].extended,
				.speed_ext2_active = speeds[s].extended2,
			};

			/* no code says more than 1,200 Gb/s */
			assert_int_equal(sa_rate_mbps(sa_rate_of(&p)),
					 MIN(speeds[s].mbps * widths[w][1],
					     1200000));
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_member_shows_in_its_component_alone),
		cmocka_unit_test(test_each_component_is_some_member),
		cmocka_unit_test(test_answers_about_the_fabric_come_back),
		cmocka_unit_test(test_answers_to_clients_come_back),
		cmocka_unit_test(
			test_attribute_offsets_are_what_clients_expect),
		cmocka_unit_test(test_table_records_as_bytes),
		cmocka_unit_test(
			test_description_of_64_bytes_stays_in_its_place),
		cmocka_unit_test(test_notice_about_a_gid_as_bytes),
		cmocka_unit_test(test_every_link_has_a_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
