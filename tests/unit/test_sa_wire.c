// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA MADs as bytes: headers, names, rates. libibumad's packed structs are
 * another opinion on where the components are.
 */
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sa_mcm.h>

#include "sm/mad/sa_record.h"
#include "tests/lib/unit.h"

/* The structs of libibumad that a client lays over the bytes. */
TEST(test_libibumad_lays_out_the_same)
{
	struct umad_sa_mcmember_record m = { .qkey = htonl(0xdeadbeef) };
	struct mcmember_record r;

	assert_int_equal(offsetof(struct umad_sa_packet, data), SA_DATA_OFFSET);
	assert_int_equal(offsetof(struct umad_sa_packet, rmpp_hdr),
			 SA_RMPP_OFFSET);
	assert_int_equal(sizeof(m), sa_record_size(SA_ATTR_MC_MEMBER));
	m.mtu = umad_sa_set_rate_mtu_or_life(SA_EXACTLY, 5);
	m.rate = umad_sa_set_rate_mtu_or_life(SA_LESS, 0x15);
	m.pkt_life = umad_sa_set_rate_mtu_or_life(SA_LARGEST, 0x12);
	m.sl_flow_hop = umad_sa_mcm_set_sl_flow_hop(5, 0x54321, 0x7e);
	m.scope_state = umad_sa_mcm_set_scope_state(
		UMAD_SA_MCM_ADDR_SCOPE_GLOBAL, 5);
	sa_record_decode(SA_ATTR_MC_MEMBER, (const uint8_t *)&m, &r);
	assert_int_equal(r.q_key, 0xdeadbeef);
	assert_int_equal(r.mtu_selector << 8 | r.mtu, 0x205);
	assert_int_equal(r.rate_selector << 8 | r.rate, 0x115);
	assert_int_equal(r.life_selector << 8 | r.life, 0x312);
	assert_int_equal(r.sl, 5);
	assert_int_equal(r.flow_label, 0x54321);
	assert_int_equal(r.hop_limit, 0x7e);
	assert_int_equal(r.scope, 0xe);
	assert_int_equal(r.join_state, 5);
}

TEST(test_names_and_numbers_are_known)
{
	static const struct {
		unsigned ours, theirs;
		const char *name;
	} same[] = {
		{ SA_ATTR_NODE, UMAD_SA_ATTR_NODE_REC, "NodeRecord" },
		{ SA_ATTR_SL_TO_VL, UMAD_SA_ATTR_SLVL_REC,
		  "SLtoVLMappingTableRecord" },
		{ SA_ATTR_RANDOM_FT, UMAD_SA_ATTR_RANDOM_FT_REC,
		  "RandomForwardingTableRecord" },
		{ SA_ATTR_MULTICAST_FT, UMAD_SA_ATTR_MCAST_FT_REC,
		  "MulticastForwardingTableRecord" },
		{ SA_ATTR_VL_ARB, UMAD_SA_ATTR_VL_ARB_REC,
		  "VLArbitrationTableRecord" },
		{ SA_ATTR_TRACE, UMAD_SA_ATTR_TRACE_REC, "TraceRecord" },
		{ SA_ATTR_MULTI_PATH, UMAD_SA_ATTR_MULTI_PATH_REC,
		  "MultiPathRecord" },
		{ SA_ATTR_SERVICE_ASSOCIATION,
		  UMAD_SA_ATTR_SERVICE_ASSOC_REC, "ServiceAssociationRecord" },
		{ SA_ATTR_INFORM_INFO_RECORD, UMAD_SA_ATTR_INFORM_INFO_REC,
		  "InformInfoRecord" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(same); i++) {
		assert_int_equal(same[i].ours, same[i].theirs);
		assert_string_equal(sa_attr_name(same[i].ours), same[i].name);
	}
	assert_string_equal(sa_attr_name(0x7777), "?");
	assert_int_equal(sa_record_size(SA_ATTR_TRACE), 0);
}

TEST(test_header_comes_and_goes)
{
	uint8_t mad[MAD_SIZE];
	struct sa_header h;

	sa_build(mad, SA_METHOD_GET_TABLE, SA_ATTR_PATH);
	assert_int_equal(mad[44] << 8 | mad[45], 8);
	mad[55] = 0x0c;			/* DGID and SGID */
	sa_set_sm_key(mad, 0xab00000000000000);
	assert_int_equal(mad[36], 0xab);
	mad[24] = 1;
	assert_true(sa_header_read(mad, sizeof(mad), &h));
	assert_int_equal(h.mad.method, 0x12);
	assert_int_equal(h.mad.attr_id, 0x35);
	assert_int_equal(h.comp_mask, 0x0c);
	assert_int_equal(h.sm_key, 0xab00000000000000);
	assert_int_equal(h.attr_offset, 8);

	mad[MAD_SIZE - 1] = 9;
	sa_make_response(mad, SA_STATUS_NO_RECORDS);
	assert_true(sa_header_read(mad, sizeof(mad), &h));
	assert_int_equal(h.mad.method, 0x92);
	assert_int_equal(h.mad.status, 0x0300);
	assert_int_equal(h.sm_key, 0);	/* keys are not told */
	assert_int_equal(h.comp_mask, 0x0c);
	assert_int_equal(h.attr_offset, 8);
	assert_int_equal(mad[MAD_SIZE - 1], 9);
	assert_int_equal(mad[24], 0);

	for (size_t len = 0; len < MAD_SIZE; len++) {
		g_autofree uint8_t *exact = g_memdup2(mad, len);

		assert_false(sa_header_read(exact, len, &h));
	}
	mad[1] = 0x04;
	assert_false(sa_header_read(mad, MAD_SIZE, &h));
}

TEST(test_rates_are_in_order_of_speed)
{
	static const uint8_t slow_to_fast[] = {
		2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14,
		17, 18, 21, 22, 23, 24,
	};
	struct port_info p = { .speed_active = 4 };

	for (size_t i = 0; i + 1 < sizeof(slow_to_fast); i++)
		assert_true(sa_rate_rank(slow_to_fast[i]) <
			    sa_rate_rank(slow_to_fast[i + 1]));
	assert_int_equal(sa_rate_mbps(1), 0);
	assert_int_equal(sa_rate_mbps(63), 0);
	assert_int_equal(sa_rate_of(&p), 0);	/* no width */
}
