// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMPs and their attributes.
 *
 * The vectors give every component a value of its own, packed by hand from
 * the tables of IBA 14.2.5, so a component at the wrong place cannot pass.
 * What the vectors leave open, random bytes close: encode(decode(bytes)) is
 * the bytes less what is reserved, for every bit of the attribute.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

static const uint8_t node_bytes[SMP_DATA_LEN] = {
	0x01, 0x02, 0x03, 0x24,
	0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
	0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7,
	0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
	0x00, 0x80, 0x10, 0x17,
	0xde, 0xad, 0xbe, 0xef,
	0x05, 0x00, 0x02, 0xc9,
};

static const uint8_t switch_bytes[SMP_DATA_LEN] = {
	0xc0, 0x00, 0x12, 0x34, 0x10, 0x00, 0x01, 0x02,
	0x21, 0x22, 0x23,
	0x96,		/* LifeTime 18, change, OptSLtoVL 2 */
	0x00, 0x03, 0x00, 0x20,
	0xa8,		/* inbound, raw inbound, enhanced port 0 */
	0x00, 0xc0, 0x0f,
};

static const uint8_t port_bytes[SMP_DATA_LEN] = {
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,	/* M_Key */
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,	/* GidPrefix */
	0x12, 0x34, 0x56, 0x78,			/* LID, MasterSMLID */
	0x02, 0x51, 0x0a, 0x68,			/* CapabilityMask */
	0x0b, 0xad, 0x00, 0x3c,			/* DiagCode, lease */
	0x11, 0x03, 0x13, 0x02,			/* port, widths E S A */
	0x74, 0x52,	/* speed S, state | phys, down default */
	0x83, 0x21,	/* protect, LMC | speed A, speed E */
	0x5a, 0x46,	/* NeighborMTU, SMSL | VLCap, InitType */
	0x31, 0x32, 0x33,	/* high limit, caps */
	0x94,		/* InitTypeReply, MTUCap */
	0x70,		/* VLStallCount 3, HOQLife 16 */
	0x3a,		/* OperVLs 3, part inb, raw inb */
	0x00, 0x41, 0x00, 0x42, 0x00, 0x43,	/* violations */
	0x20,		/* GUIDCap */
	0xd2,		/* rereg, suppression 2, SubnetTimeout 18 */
	0x13,		/* RespTimeValue */
	0xcd,		/* LocalPhyErrors, OverrunErrors */
	0x77, 0x88,	/* MaxCreditHint */
	0x20,		/* ext A 2: XDR */
	0x99, 0xaa, 0xbb,	/* LinkRoundTripLatency */
	0x00, 0x2a,	/* CapabilityMask2 */
	0x4f, 0x1e,	/* ext A, S | ext E */
};

TEST(test_node_info_vector_is_read_and_written)
{
	uint8_t out[SMP_DATA_LEN];
	struct node_info i;

	node_info_decode(node_bytes, &i);
	assert_int_equal(i.base_version, 1);
	assert_int_equal(i.class_version, 2);
	assert_int_equal(i.node_type, NODE_ROUTER);
	assert_int_equal(i.num_ports, 36);
	assert_true(i.system_guid == 0xa0a1a2a3a4a5a6a7);
	assert_true(i.node_guid == 0xb0b1b2b3b4b5b6b7);
	assert_true(i.port_guid == 0xc0c1c2c3c4c5c6c7);
	assert_int_equal(i.partition_cap, 0x80);
	assert_int_equal(i.device_id, 0x1017);
	assert_true(i.revision == 0xdeadbeef);
	assert_int_equal(i.local_port, 5);
	assert_int_equal(i.vendor_id, 0x0002c9);

	memset(out, 0xff, sizeof(out));
	node_info_encode(out, &i);
	assert_memory_equal(out, node_bytes, sizeof(out));
}

TEST(test_switch_info_vector_is_read_and_written)
{
	uint8_t out[SMP_DATA_LEN];
	struct switch_info i;

	switch_info_decode(switch_bytes, &i);
	assert_int_equal(i.linear_fdb_cap, 0xc000);
	assert_int_equal(i.random_fdb_cap, 0x1234);
	assert_int_equal(i.multicast_fdb_cap, 0x1000);
	assert_int_equal(i.linear_fdb_top, 0x0102);
	assert_int_equal(i.default_port, 0x21);
	assert_int_equal(i.default_mcast_primary, 0x22);
	assert_int_equal(i.default_mcast_not_primary, 0x23);
	assert_int_equal(i.life_time, 18);
	assert_true(i.port_state_change);
	assert_int_equal(i.opt_sl_to_vl, 2);
	assert_int_equal(i.lids_per_port, 3);
	assert_int_equal(i.partition_enforcement_cap, 0x20);
	assert_true(i.enforce_inbound);
	assert_false(i.enforce_outbound);
	assert_true(i.filter_raw_inbound);
	assert_false(i.filter_raw_outbound);
	assert_true(i.enhanced_port0);
	assert_int_equal(i.multicast_fdb_top, 0xc00f);

	memset(out, 0xff, sizeof(out));
	switch_info_encode(out, &i);
	assert_memory_equal(out, switch_bytes, sizeof(out));
}

static void
check_port_identity(const struct port_info *i)
{
	assert_true(i->m_key == 0x0102030405060708);
	assert_true(i->gid_prefix == 0xfe80000000000001);
	assert_int_equal(i->lid, 0x1234);
	assert_int_equal(i->sm_lid, 0x5678);
	assert_int_equal(i->cap_mask, 0x02510a68);
	assert_int_equal(i->diag_code, 0x0bad);
	assert_int_equal(i->m_key_lease, 60);
	assert_int_equal(i->local_port, 0x11);
	assert_int_equal(i->m_key_protect, 2);
	assert_int_equal(i->lmc, 3);
	assert_int_equal(i->cap_mask2, 0x002a);
	assert_int_equal(i->guid_cap, 0x20);
}

static void
check_port_link(const struct port_info *i)
{
	assert_int_equal(i->width_enabled, 3);
	assert_int_equal(i->width_supported, 0x13);
	assert_int_equal(i->width_active, 2);
	assert_int_equal(i->speed_supported, 7);
	assert_int_equal(i->speed_active, 2);
	assert_int_equal(i->speed_enabled, 1);
	assert_int_equal(i->speed_ext_active, 4);
	assert_int_equal(i->speed_ext_supported, 15);
	assert_int_equal(i->speed_ext_enabled, 30);
	assert_int_equal(i->speed_ext2_active, 1);
	assert_int_equal(i->state, PORT_STATE_ACTIVE);
	assert_int_equal(i->phys_state, PORT_PHYS_LINK_UP);
	assert_int_equal(i->link_down_default, 2);
	assert_int_equal(i->neighbor_mtu, 5);
	assert_int_equal(i->mtu_cap, 4);
	assert_int_equal(i->max_credit_hint, 0x7788);
	assert_int_equal(i->link_round_trip, 0x99aabb);
	assert_int_equal(i->local_phy_errors, 12);
	assert_int_equal(i->overrun_errors, 13);
}

static void
check_port_policy(const struct port_info *i)
{
	assert_int_equal(i->sm_sl, 10);
	assert_int_equal(i->vl_cap, 4);
	assert_int_equal(i->oper_vls, 3);
	assert_int_equal(i->init_type, 6);
	assert_int_equal(i->init_type_reply, 9);
	assert_int_equal(i->vl_high_limit, 0x31);
	assert_int_equal(i->vl_arb_high_cap, 0x32);
	assert_int_equal(i->vl_arb_low_cap, 0x33);
	assert_int_equal(i->vl_stall_count, 3);
	assert_int_equal(i->hoq_life, 16);
	assert_true(i->enforce_inbound);
	assert_false(i->enforce_outbound);
	assert_true(i->filter_raw_inbound);
	assert_false(i->filter_raw_outbound);
	assert_int_equal(i->m_key_violations, 0x41);
	assert_int_equal(i->p_key_violations, 0x42);
	assert_int_equal(i->q_key_violations, 0x43);
	assert_true(i->client_reregister);
	assert_int_equal(i->mcast_pkey_trap_suppression, 2);
	assert_int_equal(i->subnet_timeout, 18);
	assert_int_equal(i->resp_time, 19);
}

TEST(test_port_info_vector_is_read_and_written)
{
	uint8_t out[SMP_DATA_LEN];
	struct port_info i;

	port_info_decode(port_bytes, &i);
	check_port_identity(&i);
	check_port_link(&i);
	check_port_policy(&i);

	memset(out, 0xff, sizeof(out));
	port_info_encode(out, &i);
	assert_memory_equal(out, port_bytes, sizeof(out));
}

TEST(test_sm_info_vector_is_read_and_written)
{
	static const uint8_t bytes[SMP_DATA_LEN] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0xfe, 0xdc, 0xba, 0x98, 0xe3,
	};
	uint8_t out[SMP_DATA_LEN];
	struct sm_info i;

	sm_info_decode(bytes, &i);
	assert_true(i.guid == 0x0102030405060708);
	assert_true(i.sm_key == 0x1112131415161718);
	assert_true(i.act_count == 0xfedcba98);
	assert_int_equal(i.priority, 14);
	assert_int_equal(i.state, SM_STATE_MASTER);

	memset(out, 0xff, sizeof(out));
	sm_info_encode(out, &i);
	assert_memory_equal(out, bytes, sizeof(out));
}

/* The bits that the attributes define; the others must come out as 0. */
static void
mask_node(uint8_t m[SMP_DATA_LEN])
{
	memset(m, 0xff, 40);
}

static void
mask_switch(uint8_t m[SMP_DATA_LEN])
{
	memset(m, 0xff, 20);
	m[16] = 0xf8;
	m[17] = 0;
}

static void
mask_port(uint8_t m[SMP_DATA_LEN])
{
	memset(m, 0xff, 64);
	m[34] = 0xc7;
	m[52] = 0x1f;
	m[56] = 0x60;		/* LinkSpeedExtActive2 */
	m[63] = 0x1f;
}

static void
mask_sm(uint8_t m[SMP_DATA_LEN])
{
	memset(m, 0xff, 21);
}

static void
turn_node(const uint8_t *in, uint8_t *out)
{
	struct node_info i;

	node_info_decode(in, &i);
	node_info_encode(out, &i);
}

static void
turn_switch(const uint8_t *in, uint8_t *out)
{
	struct switch_info i;

	switch_info_decode(in, &i);
	switch_info_encode(out, &i);
}

static void
turn_port(const uint8_t *in, uint8_t *out)
{
	struct port_info i;

	port_info_decode(in, &i);
	port_info_encode(out, &i);
}

static void
turn_sm(const uint8_t *in, uint8_t *out)
{
	struct sm_info i;

	sm_info_decode(in, &i);
	sm_info_encode(out, &i);
}

static const struct {
	void (*mask)(uint8_t m[SMP_DATA_LEN]);
	void (*turn)(const uint8_t *in, uint8_t *out);
} codecs[] = {
	{ mask_node, turn_node },
	{ mask_switch, turn_switch },
	{ mask_port, turn_port },
	{ mask_sm, turn_sm },
};

static void
check_turn(unsigned c, const uint8_t in[SMP_DATA_LEN])
{
	uint8_t mask[SMP_DATA_LEN] = { 0 };
	uint8_t out[SMP_DATA_LEN];
	uint8_t want[SMP_DATA_LEN];

	codecs[c].mask(mask);
	for (unsigned i = 0; i < SMP_DATA_LEN; i++)
		want[i] = in[i] & mask[i];
	memset(out, 0xa5, sizeof(out));
	codecs[c].turn(in, out);
	assert_memory_equal(out, want, sizeof(out));
}

TEST(test_every_single_bit_survives_the_round_trip)
{
	for (unsigned c = 0; c < G_N_ELEMENTS(codecs); c++) {
		uint8_t in[SMP_DATA_LEN];

		memset(in, 0xff, sizeof(in));
		check_turn(c, in);
		for (unsigned bit = 0; bit < 8 * SMP_DATA_LEN; bit++) {
			memset(in, 0, sizeof(in));
			in[bit / 8] = 0x80 >> bit % 8;
			check_turn(c, in);
		}
	}
}

TEST(test_random_attributes_survive_the_round_trip)
{
	uint32_t seed = g_random_int();
	GRand *rand = g_rand_new_with_seed(seed);

	print_message("seed %" PRIu32 "\n", seed);
	for (unsigned round = 0; round < 2000; round++) {
		uint8_t in[SMP_DATA_LEN];

		for (unsigned i = 0; i < SMP_DATA_LEN; i++)
			in[i] = g_rand_int_range(rand, 0, 256);
		check_turn(round % G_N_ELEMENTS(codecs), in);
	}
	g_rand_free(rand);
}

/* A value too wide for its component must not spill over its neighbours. */
TEST(test_port_info_too_wide_values_stay_in_place)
{
	struct port_info i = {
		.lmc = 0xff, .state = 0xff, .hoq_life = 0xff,
		.link_round_trip = 0xffffffff, .subnet_timeout = 0xff,
	};
	uint8_t want[SMP_DATA_LEN] = { 0 };
	uint8_t out[SMP_DATA_LEN];

	want[32] = 0x0f;
	want[34] = 0x07;
	want[42] = 0x1f;
	want[51] = 0x1f;
	want[57] = want[58] = want[59] = 0xff;
	port_info_encode(out, &i);
	assert_memory_equal(out, want, sizeof(out));
}

TEST(test_direct_request_is_the_bytes_of_the_standard)
{
	struct dr_path path = { .hops = 3, .port = { 0, 7, 12, 255 } };
	uint8_t want[MAD_SIZE] = {
		0x01, 0x81, 0x01, 0x02, 0x00, 0x00, 0x00, 0x03,
		0, 0, 0, 0, 0, 0, 0, 0,
		0x00, 0x15, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11,
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
		0xff, 0xff, 0xff, 0xff,
	};
	uint8_t mad[MAD_SIZE];

	want[129] = 7;
	want[130] = 12;
	want[131] = 255;
	memset(mad, 0xee, sizeof(mad));
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_PORT_INFO, 17,
			 0x0123456789abcdef, &path);
	assert_memory_equal(mad, want, sizeof(mad));
	assert_true(smp_m_key(mad) == 0x0123456789abcdef);
}

TEST(test_direct_request_fills_the_longest_path_exactly)
{
	struct dr_path path = { .hops = DR_MAX_HOPS };
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i <= DR_MAX_HOPS; i++)
		path.port[i] = i + 1;	/* [0] is not used and not sent */
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &path);
	assert_int_equal(mad[7], 63);
	assert_int_equal(mad[128], 0);
	for (unsigned i = 1; i <= DR_MAX_HOPS; i++)
		assert_int_equal(mad[128 + i], i + 1);
	assert_int_equal(mad[192], 0);
}

TEST(test_lid_request_has_no_route_in_it)
{
	uint8_t want[MAD_SIZE] = {
		0x01, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00,
		0, 0, 0, 0, 0, 0, 0, 0,
		0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0, 0, 0, 0, 0, 0, 0, 0x99,
	};
	uint8_t mad[MAD_SIZE];

	memset(mad, 0xee, sizeof(mad));
	smp_build_lid(mad, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 4, 0x99);
	assert_memory_equal(mad, want, sizeof(mad));
}

TEST(test_response_to_get_turns_round_and_keeps_the_data)
{
	struct dr_path path = { .hops = 2, .port = { 0, 1, 2 } };
	uint8_t mad[MAD_SIZE];
	uint8_t want[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 0, 1, &path);
	mad[6] = 3;
	memset(smp_data(mad), 0x5a, SMP_DATA_LEN);
	memcpy(want, mad, sizeof(want));
	want[3] = 0x81;
	want[4] = 0x80;
	want[5] = 0x1c;
	smp_make_response(mad, MAD_STATUS_BAD_VALUE);
	assert_memory_equal(mad, want, sizeof(mad));
	assert_memory_equal(smp_data_const(mad), want + 64, SMP_DATA_LEN);
}

TEST(test_response_to_trap_is_repress)
{
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, 0, 0);
	mad[4] = 0xff;
	smp_make_response(mad, MAD_STATUS_OK);
	assert_int_equal(mad[3], MAD_METHOD_TRAP_REPRESS);
	assert_int_equal(mad[4], 0);
	assert_int_equal(mad[5], 0);
}

TEST(test_notice_finds_the_lid_where_each_trap_keeps_it)
{
	static const struct {
		uint16_t trap, lid;
		uint8_t port;
	} cases[] = {
		{ 128, 0x1112, 0 },
		{ 129, 0x1314, 0x15 },
		{ 130, 0x1314, 0x15 },
		{ 131, 0x1314, 0x15 },
		{ 144, 0x1314, 0 },
		{ 145, 0, 0 },
		{ 64, 0, 0 },
		{ 256, 0, 0 },
	};
	uint8_t data[SMP_DATA_LEN] = {
		0x83, 0x00, 0x00, 0x02, 0x00, 0x00, 0x0a, 0x0b, 0xff, 0xff,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
	};
	struct notice n;

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		data[4] = cases[i].trap >> 8;
		data[5] = cases[i].trap;
		memset(&n, 0xff, sizeof(n));
		notice_decode(data, &n);
		assert_true(n.generic);
		assert_int_equal(n.type, 3);
		assert_int_equal(n.producer, NODE_SWITCH);
		assert_int_equal(n.trap, cases[i].trap);
		assert_int_equal(n.issuer_lid, 0x0a0b);
		assert_int_equal(n.lid, cases[i].lid);
		assert_int_equal(n.port, cases[i].port);
	}
}

/* A vendor's device 128 is not trap 128. */
TEST(test_notice_of_a_vendor_names_no_trap)
{
	const uint8_t data[SMP_DATA_LEN] = {
		0x04, 0x00, 0x02, 0xc9, 0x00, 0x80, 0x0a, 0x0b, 0x00, 0x00,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
	};
	struct notice n;

	memset(&n, 0xff, sizeof(n));
	notice_decode(data, &n);
	assert_false(n.generic);
	assert_int_equal(n.type, 4);
	assert_int_equal(n.producer, 0);
	assert_int_equal(n.trap, 0);
	assert_int_equal(n.lid, 0);
	assert_int_equal(n.port, 0);
	assert_int_equal(n.issuer_lid, 0x0a0b);
}

TEST(test_names_have_an_answer_for_every_value)
{
	assert_string_equal(sm_state_name(SM_STATE_MASTER), "master");
	assert_string_equal(sm_state_name(SM_STATE_NOT_ACTIVE), "not active");
	assert_string_equal(sm_state_name(4), "?");
	assert_string_equal(sm_state_name(15), "?");
	assert_string_equal(notice_trap_name(128), "link state change");
	assert_string_equal(notice_trap_name(0), "?");
	assert_string_equal(notice_trap_name(65535), "?");
}
