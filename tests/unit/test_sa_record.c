// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA records as bytes, member by member.
 *
 * One table has all components, so what it says is held against others:
 * libibmad reads what we wrote and we read what it reads, with random values;
 * PathRecord's own codec agrees with the table; and answers that OpenSM 3.3.23
 * gave on a simulated fabric of two switches and three hosts, taken off the
 * wire, are decoded, and encoded again to the same bytes.
 */
#include <stdio.h>
#include <string.h>

#include <glib.h>
#include <infiniband/mad.h>

#include "sm/mad/bytes.h"
#include "sm/mad/smp.h"
#include "sm/mad/sa_record.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

/* A component, and where libibmad has it: from the front of the record, or of
 * the attribute that the record carries. */
struct opinion {
	uint16_t attr_id;
	uint8_t component;
	uint8_t base;		/* bytes */
	enum MAD_FIELDS field;
};

#define NODE(n, f)	{ SA_ATTR_NODE, n, 4, IB_NODE_##f##_F }
#define SWITCH(n, f)	{ SA_ATTR_SWITCH_INFO, n, 4, IB_SW_##f##_F }
#define PORT(n, f)	{ SA_ATTR_PORT_INFO, n, 4, IB_PORT_##f##_F }
#define SM(n, f)	{ SA_ATTR_SM_INFO, n, 4, IB_SMINFO_##f##_F }
#define GROUP(n, f)	{ SA_ATTR_MC_MEMBER, MCM_##n, 0, IB_SA_MCM_##f##_F }
#define SERVICE(n)	{ SA_ATTR_SERVICE, SERVICE_##n, 0, IB_SA_SR_##n##_F }
#define PATH(n, f)	{ SA_ATTR_PATH, PATH_##n, 0, IB_SA_PR_##f##_F }
#define MULTI(n, f)	{ SA_ATTR_MULTI_PATH, MULTI_##n, 0, IB_SA_MP_##f##_F }

static const struct opinion opinions[] = {
	NODE(2, BASE_VERS), NODE(3, CLASS_VERS), NODE(4, TYPE),
	NODE(5, NPORTS), NODE(6, SYSTEM_GUID), NODE(7, GUID),
	NODE(8, PORT_GUID), NODE(9, PARTITION_CAP), NODE(10, DEVID),
	NODE(11, REVISION), NODE(12, LOCAL_PORT), NODE(13, VENDORID),
	SWITCH(2, LINEAR_FDB_CAP), SWITCH(3, RANDOM_FDB_CAP),
	SWITCH(4, MCAST_FDB_CAP), SWITCH(5, LINEAR_FDB_TOP),
	SWITCH(6, DEF_PORT), SWITCH(7, DEF_MCAST_PRIM),
	SWITCH(8, DEF_MCAST_NOT_PRIM), SWITCH(9, LIFE_TIME),
	SWITCH(10, STATE_CHANGE), SWITCH(11, OPT_SLTOVL_MAPPING),
	SWITCH(12, LIDS_PER_PORT), SWITCH(13, PARTITION_ENFORCE_CAP),
	SWITCH(14, PARTITION_ENF_INB), SWITCH(15, PARTITION_ENF_OUTB),
	SWITCH(16, FILTER_RAW_INB), SWITCH(17, FILTER_RAW_OUTB),
	SWITCH(18, ENHANCED_PORT0), SWITCH(21, MCAST_FDB_TOP),
	PORT(3, MKEY), PORT(4, GID_PREFIX), PORT(5, LID), PORT(6, SMLID),
	PORT(7, CAPMASK), PORT(8, DIAG), PORT(9, MKEY_LEASE),
	PORT(10, LOCAL_PORT), PORT(11, LINK_WIDTH_ENABLED),
	PORT(12, LINK_WIDTH_SUPPORTED), PORT(13, LINK_WIDTH_ACTIVE),
	PORT(14, LINK_SPEED_SUPPORTED), PORT(15, STATE), PORT(16, PHYS_STATE),
	PORT(17, LINK_DOWN_DEF), PORT(18, MKEY_PROT_BITS), PORT(20, LMC),
	PORT(21, LINK_SPEED_ACTIVE), PORT(22, LINK_SPEED_ENABLED),
	PORT(23, NEIGHBOR_MTU), PORT(24, SMSL), PORT(25, VL_CAP),
	PORT(26, INIT_TYPE), PORT(27, VL_HIGH_LIMIT),
	PORT(28, VL_ARBITRATION_HIGH_CAP), PORT(29, VL_ARBITRATION_LOW_CAP),
	PORT(30, INIT_TYPE_REPLY), PORT(31, MTU_CAP), PORT(32, VL_STALL_COUNT),
	PORT(33, HOQ_LIFE), PORT(34, OPER_VLS), PORT(35, PART_EN_INB),
	PORT(36, PART_EN_OUTB), PORT(37, FILTER_RAW_INB),
	PORT(38, FILTER_RAW_OUTB), PORT(39, MKEY_VIOL), PORT(40, PKEY_VIOL),
	PORT(41, QKEY_VIOL), PORT(42, GUID_CAP), PORT(43, CLIENT_REREG),
	PORT(44, MCAST_PKEY_SUPR_ENAB), PORT(45, SUBN_TIMEOUT),
	PORT(47, RESP_TIME_VAL), PORT(48, LOCAL_PHYS_ERR),
	PORT(49, OVERRUN_ERR), PORT(50, MAX_CREDIT_HINT),
	PORT(52, LINK_ROUND_TRIP), PORT(53, CAPMASK2),
	PORT(54, LINK_SPEED_EXT_ACTIVE), PORT(55, LINK_SPEED_EXT_SUPPORTED),
	PORT(57, LINK_SPEED_EXT_ENABLED),
	SM(2, GUID), SM(3, KEY), SM(4, ACT), SM(5, PRIO), SM(6, STATE),
	GROUP(MGID, MGID), GROUP(PORT_GID, PORTGID), GROUP(Q_KEY, QKEY),
	GROUP(MLID, MLID), GROUP(MTU, MTU), GROUP(TCLASS, TCLASS),
	GROUP(PKEY, PKEY), GROUP(RATE, RATE), GROUP(SL, SL),
	GROUP(FLOW_LABEL, FLOW_LABEL), GROUP(JOIN_STATE, JOIN_STATE),
	GROUP(PROXY_JOIN, PROXY_JOIN),
	SERVICE(ID), SERVICE(GID), SERVICE(PKEY), SERVICE(LEASE),
	SERVICE(KEY), SERVICE(NAME),
	PATH(DGID, DGID), PATH(SGID, SGID), PATH(DLID, DLID),
	PATH(SLID, SLID), PATH(NUMB_PATH, NPATH), PATH(SL, SL),
	MULTI(NUMB_PATH, NPATH), MULTI(SGID_COUNT, NSRC),
	MULTI(DGID_COUNT, NDEST),
};

#define ROUNDS	1000u
#define HOST_LEN	512u	/* no host struct is longer */

/* A host struct with any value in each member. */
static void
fill_host(unsigned attr_id, uint8_t *host, uint64_t *rng)
{
	unsigned n;
	const struct mad_field *f = sa_fields(attr_id, &n);

	seed_fill(host, HOST_LEN, rng);
	for (; n > 0; n--, f++)
		if (f->size && f->host == MAD_FIELD_FLAG)
			host[f->member] &= 1;
}

/* The member's bytes, a number by the width of its component. */
static void
member_bytes_of(const struct mad_field *f, const uint8_t *host, uint8_t *out)
{
	uint64_t value;

	memset(out, 0, SA_DATA_LEN);
	if (f->host == MAD_FIELD_BYTES) {
		memcpy(out, host + f->member, f->size);
		return;
	}
	value = number_at(host + f->member, f->size) &
		UINT64_MAX >> (64 - f->bits);
	memcpy(out, &value, sizeof(value));
}

static void
libibmad_bytes(const struct mad_field *f, enum MAD_FIELDS field, uint8_t *from,
	       uint8_t *out)
{
	uint64_t value;

	memset(out, 0, SA_DATA_LEN);
	if (f->host == MAD_FIELD_BYTES) {
		mad_get_array(from, 0, field, out);
		return;
	}
	value = f->bits == 64 ? mad_get_field64(from, 0, field) :
		mad_get_field(from, 0, field);
	memcpy(out, &value, sizeof(value));
}

TEST(test_libibmad_reads_and_writes_each_component_alike)
{
	uint64_t rng = prng_stream(53, 0);
	uint8_t host[HOST_LEN], wire[SA_DATA_LEN];
	uint8_t ours[SA_DATA_LEN], theirs[SA_DATA_LEN];

	printf("# seed 53\n");
	for (size_t k = 0; k < G_N_ELEMENTS(opinions) * ROUNDS; k++) {
		const struct opinion *o = &opinions[k / ROUNDS];
		unsigned n;
		const struct mad_field *f = sa_fields(o->attr_id, &n) +
			o->component;

		assert_true(o->component < n && f->size);
		fill_host(o->attr_id, host, &rng);
		sa_record_encode(o->attr_id, wire, host);
		member_bytes_of(f, host, ours);
		libibmad_bytes(f, o->field, wire + o->base, theirs);
		if (memcmp(ours, theirs, sizeof(ours)))
			fail_msg("%s.%s encoded", sa_attr_name(o->attr_id),
				 f->name);
		seed_fill(wire, sizeof(wire), &rng);
		sa_record_decode(o->attr_id, wire, host);
		member_bytes_of(f, host, ours);
		libibmad_bytes(f, o->field, wire + o->base, theirs);
		if (memcmp(ours, theirs, sizeof(ours)))
			fail_msg("%s.%s decoded", sa_attr_name(o->attr_id),
				 f->name);
	}
}

/* And none was forgotten: a component that is not reserved is the member of
 * a struct, or one of the keys in front. */
TEST(test_each_component_is_some_member)
{
	static const struct {
		uint16_t attr_id;
		uint64_t keys;
	} all[] = {
		{ SA_ATTR_PATH, 3 }, { SA_ATTR_MULTI_PATH, 1 << 16 | 1 << 21 },
		{ SA_ATTR_MC_MEMBER, 0 }, { SA_ATTR_SERVICE, 0 },
		{ SA_ATTR_INFORM_INFO, 0 }, { SA_ATTR_INFORM_INFO_RECORD, 0 },
		{ SA_ATTR_NODE, 1 | 1 << 14 }, { SA_ATTR_PORT_INFO, 7 },
		{ SA_ATTR_SWITCH_INFO, 1 }, { SA_ATTR_SM_INFO, 1 },
	};

	for (size_t k = 0; k < G_N_ELEMENTS(all); k++) {
		unsigned n;
		const struct mad_field *f = sa_fields(all[k].attr_id, &n);

		for (unsigned i = 0; i < n; i++)
			if (f[i].kind != MAD_FIELD_RESERVED &&
			    (f[i].size == 0) != (all[k].keys >> i & 1))
				fail_msg("%s.%s", sa_attr_name(all[k].attr_id),
					 f[i].name);
	}
}

/* PathRecord's own codec against the table. */
TEST(test_path_codec_and_table_agree)
{
	uint64_t rng = prng_stream(54, 0);
	uint8_t wire[64], table[64], host[HOST_LEN];
	struct path_record a, b;

	printf("# seed 54\n");
	for (unsigned round = 0; round < ROUNDS; round++) {
		fill_host(SA_ATTR_PATH, host, &rng);
		memcpy(&a, host, sizeof(a));
		path_record_encode(wire, &a);
		sa_record_encode(SA_ATTR_PATH, table, &a);
		assert_memory_equal(wire + 8, table + 8, sizeof(wire) - 8);
		assert_true(bytes_load(wire, 8) == a.service_id);

		seed_fill(wire, sizeof(wire), &rng);
		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		path_record_decode(wire, &a);
		sa_record_decode(SA_ATTR_PATH, wire, &b);
		b.service_id = bytes_load(wire, 8);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

/* Of which libibmad has nothing to say: by the figures of IBA 13.4.8.3. */
TEST(test_inform_info_as_bytes)
{
	static const uint8_t want[40] = {
		0xfe, 0x80, [15] = 0x77,
		0x01, 0x02, 0x03, 0x04, 0, 0, 1, 1, 0x05, 0x06, 0x07, 0x08,
		0x09, 0x0a, 0x0b, 0x1f, 0, 0x0c, 0x0d, 0x0e,
	};
	struct inform_info info = {
		.gid = { 0xfe, 0x80, [15] = 0x77 }, .lid_begin = 0x0102,
		.lid_end = 0x0304, .generic = true, .subscribe = 1,
		.type = 0x0506, .trap = 0x0708, .qpn = 0xff090a0b,
		.resp_time = 0xff, .producer = 0xff0c0d0e,
	};
	struct inform_info_record r = { .index = 0x0203 };
	uint8_t out[SA_DATA_LEN];

	memset(out, 0xee, sizeof(out));
	sa_record_encode(SA_ATTR_INFORM_INFO, out, &info);
	assert_memory_equal(out, want, sizeof(want));
	assert_int_equal(out[sizeof(want)], 0xee);
	out[22] = 0x80;		/* any value but 0 is true */
	sa_record_decode(SA_ATTR_INFORM_INFO, out, &info);
	assert_true(info.generic);
	r.info = info;
	memset(out, 0xee, sizeof(out));
	sa_record_encode(SA_ATTR_INFORM_INFO_RECORD, out, &r);
	assert_memory_equal(out + 16, "\2\3\0\0\0\0\0\0", 8);
	assert_memory_equal(out + 24, want, sizeof(want));
	assert_int_equal(out[64], 0xee);
}

static void
smp_decode(unsigned attr_id, const uint8_t *data, void *host)
{
	switch (attr_id) {
	case SA_ATTR_NODE:
		node_info_decode(data, host);
		break;
	case SA_ATTR_SWITCH_INFO:
		switch_info_decode(data, host);
		break;
	case SA_ATTR_PORT_INFO:
		port_info_decode(data, host);
		break;
	default:
		sm_info_decode(data, host);
	}
}

static void
smp_encode(unsigned attr_id, uint8_t *data, const void *host)
{
	switch (attr_id) {
	case SA_ATTR_NODE:
		node_info_encode(data, host);
		break;
	case SA_ATTR_SWITCH_INFO:
		switch_info_encode(data, host);
		break;
	case SA_ATTR_PORT_INFO:
		port_info_encode(data, host);
		break;
	default:
		sm_info_encode(data, host);
	}
}

/*
 * As an SMP carries an attribute it is that of the record, and nothing else:
 * what is reserved is 0, and a value too wide spills nowhere. Of the masks,
 * LinkSpeedExtActive2 is in a PortInfo, but no component of the record.
 */
TEST(test_attributes_of_smps_are_those_of_records)
{
	static const struct {
		uint16_t attr_id;
		unsigned len;
		uint8_t partly[4][2];	/* offset, the bits that are defined */
	} all[] = {
		{ SA_ATTR_NODE, 40, { { 0, 0xff } } },
		{ SA_ATTR_SWITCH_INFO, 20, { { 16, 0xf8 }, { 17, 0 } } },
		{ SA_ATTR_PORT_INFO, 64, { { 34, 0xc7 }, { 52, 0x1f },
		  { 56, 0x60 }, { 63, 0x1f } } },
		{ SA_ATTR_SM_INFO, 21, { { 0, 0xff } } },
	};
	uint8_t host[HOST_LEN], in[SMP_DATA_LEN], out[SMP_DATA_LEN];
	uint8_t record[SA_DATA_LEN];
	uint64_t rng = prng_stream(55, 0);

	for (size_t k = 0; k < G_N_ELEMENTS(all) * ROUNDS; k++) {
		unsigned a = k / ROUNDS;

		fill_host(all[a].attr_id, host, &rng);
		smp_encode(all[a].attr_id, out, host);
		sa_record_encode(all[a].attr_id, record, host);
		assert_memory_equal(out, record + 4, all[a].len);

		seed_fill(in, sizeof(in), &rng);
		smp_decode(all[a].attr_id, in, host);
		seed_fill(out, sizeof(out), &rng);
		smp_encode(all[a].attr_id, out, host);
		for (unsigned i = 0; i < 4; i++)
			if (all[a].partly[i][0])
				in[all[a].partly[i][0]] &= all[a].partly[i][1];
		memset(in + all[a].len, 0, sizeof(in) - all[a].len);
		assert_memory_equal(out, in, sizeof(out));
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

TEST(test_answers_about_the_fabric_come_back)
{
	struct node_info node;
	struct port_info port;
	struct switch_info sw;
	struct sm_info sm;
	uint8_t data[SMP_DATA_LEN] = { 0 }, out[SA_DATA_LEN] = { 0 };

	node_info_decode(node_bytes + 4, &node);
	assert_int_equal(node.node_type, NODE_CA);
	assert_true(node.port_guid == 0x100001);
	sa_record_encode(SA_ATTR_NODE, out, &node);
	assert_memory_equal(out + 4, node_bytes + 4, 40);
	assert_memory_equal(out + 44, "\0\0\0", 3);

	port_info_decode(port_bytes + 4, &port);
	assert_int_equal(port.state, PORT_STATE_ACTIVE);
	assert_int_equal(sa_rate_of(&port), 3);		/* 4x SDR */
	sa_record_encode(SA_ATTR_PORT_INFO, out, &port);
	assert_memory_equal(out + 4, port_bytes + 4, sizeof(port_bytes) - 4);

	memcpy(data, switch_bytes + 4, sizeof(switch_bytes) - 4);
	switch_info_decode(data, &sw);
	assert_int_equal(sw.linear_fdb_top, 5);
	sa_record_encode(SA_ATTR_SWITCH_INFO, out, &sw);
	assert_memory_equal(out + 4, switch_bytes + 4,
			    sizeof(switch_bytes) - 4);

	memset(data, 0, sizeof(data));
	memcpy(data, sm_bytes + 4, sizeof(sm_bytes) - 4);
	sm_info_decode(data, &sm);
	assert_int_equal(sm.state, SM_STATE_MASTER);
	assert_int_equal(sm.act_count, 0x5b);
	sa_record_encode(SA_ATTR_SM_INFO, out, &sm);
	assert_memory_equal(out + 4, sm_bytes + 4, sizeof(sm_bytes) - 4);
}

TEST(test_answers_to_clients_come_back)
{
	struct mcmember_record member;
	struct path_record path;
	struct inform_info_record inform;
	uint8_t out[SA_DATA_LEN];

	memset(out, 0xee, sizeof(out));
	sa_record_decode(SA_ATTR_MC_MEMBER, member_bytes, &member);
	assert_int_equal(member.mlid, 0xc000);
	assert_int_equal(member.q_key, 0xb1b);
	assert_int_equal(member.mtu_selector, SA_EXACTLY);
	assert_int_equal(member.mtu, 4);
	assert_int_equal(member.life, 18);
	assert_int_equal(member.scope, 2);
	sa_record_encode(SA_ATTR_MC_MEMBER, out, &member);
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

	sa_record_decode(SA_ATTR_INFORM_INFO_RECORD, inform_bytes, &inform);
	assert_int_equal(inform.info.lid_begin, 0xffff);
	assert_int_equal(inform.info.trap, 0xffff);
	assert_int_equal(inform.info.resp_time, 18);
	assert_int_equal(inform.info.producer, 0xffffff);
	sa_record_encode(SA_ATTR_INFORM_INFO_RECORD, out, &inform);
	assert_memory_equal(out, inform_bytes, sizeof(inform_bytes));
	assert_int_equal(out[sizeof(inform_bytes)], 0xee);
}

/* AttributeOffset of its answers; of a ServiceRecord and MFT, of which it had
 * none, and of a MultiPathRecord, which is no answer: the sizes of IBA. */
TEST(test_attribute_offsets_are_what_clients_expect)
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

TEST(test_notice_about_a_gid_as_bytes)
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
TEST(test_every_link_has_a_rate)
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

			/* no code says more than 1,600 Gb/s */
			assert_int_equal(sa_rate_mbps(sa_rate_of(&p)),
					 MIN(speeds[s].mbps * widths[w][1],
					     1600000));
		}
}
