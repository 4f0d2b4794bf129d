/*
 * SA MADs as bytes: headers, component tables, records, matching.
 *
 * The codecs and the component tables were written apart from each other; what
 * is decoded and encoded again must keep every bit that a component covers and
 * clear every other. libibmad's field numbers are the second opinion on where
 * the components of a path, a group and a service are.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>
#include <infiniband/mad.h>

#include "sm/wire/sa_record.h"
#include "topology/prng.h"

static void
fill(uint8_t *bytes, size_t n, uint64_t *rng)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)prng_next(rng);
}

/* The bits of a record that a component covers, reserved ones left out. */
static void
covered(unsigned attr_id, uint8_t *mask)
{
	unsigned n;
	const struct sa_field *f = sa_fields(attr_id, &n);

	memset(mask, 0, SA_DATA_LEN);
	for (unsigned i = 0; i < n; i++)
		for (unsigned b = 0; f[i].kind != SA_FIELD_RESERVED &&
		     b < f[i].bits; b++)
			mask[(f[i].offset + b) / 8] |= (uint8_t)
				(0x80 >> (f[i].offset + b) % 8);
}

static void
test_tables_cover_no_bit_twice(void **state)
{
	for (unsigned id = 0; id < 0x100; id++) {
		uint8_t seen[SA_DATA_LEN * 8] = { 0 };
		unsigned n;
		const struct sa_field *f = sa_fields(id, &n);

		assert_true(n <= 64);
		assert_int_equal(sa_record_size(id) % 8, 0);
		for (unsigned i = 0; i < n; i++) {
			assert_true(f[i].offset + f[i].bits <=
				    sa_record_size(id) * 8);
			for (unsigned b = 0; b < f[i].bits; b++)
				assert_false(seen[f[i].offset + b]++);
		}
	}
}

/* decode and encode of one kind of record, over bytes. */
static void
turn_over(unsigned attr_id, const uint8_t *in, uint8_t *out)
{
	struct path_record path;
	struct multi_path_record multi;
	struct mcmember_record member;
	struct service_record service;
	struct inform_info_record inform;

	switch (attr_id) {
	case SA_ATTR_PATH:
		path_record_decode(in, &path);
		path_record_encode(out, &path);
		break;
	case SA_ATTR_MULTI_PATH:
		multi_path_record_decode(in, &multi);
		multi_path_record_encode(out, &multi);
		break;
	case SA_ATTR_MC_MEMBER:
		mcmember_record_decode(in, &member);
		mcmember_record_encode(out, &member);
		break;
	case SA_ATTR_SERVICE:
		service_record_decode(in, &service);
		service_record_encode(out, &service);
		break;
	case SA_ATTR_INFORM_INFO_RECORD:
		inform_info_record_decode(in, &inform);
		inform_info_record_encode(out, &inform);
		break;
	default:
		fail();
	}
}

static void
test_codecs_and_tables_agree(void **state)
{
	static const unsigned ids[] = {
		SA_ATTR_PATH, SA_ATTR_MULTI_PATH, SA_ATTR_MC_MEMBER,
		SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
	};
	uint64_t rng = prng_stream(51, 0);

	for (unsigned k = 0; k < G_N_ELEMENTS(ids); k++)
		for (unsigned round = 0; round < 200; round++) {
			uint8_t in[SA_DATA_LEN], out[SA_DATA_LEN] = { 0 };
			uint8_t mask[SA_DATA_LEN];

			fill(in, sizeof(in), &rng);
			covered(ids[k], mask);
			/* a flag in a byte of its own; preference has no
			 * component */
			if (ids[k] == SA_ATTR_INFORM_INFO_RECORD)
				in[24 + 22] &= 1;
			if (ids[k] == SA_ATTR_PATH)
				mask[57] = 0xff;
			turn_over(ids[k], in, out);
			for (size_t i = 0; i < sa_record_size(ids[k]); i++)
				if (out[i] != (in[i] & mask[i]))
					fail_msg("%s byte %zu",
						 sa_attr_name(ids[k]), i);
		}
}

static void
test_path_is_where_libibmad_has_it(void **state)
{
	struct path_record r = {
		.dlid = 0x1234, .slid = 0x5678, .numb_path = 0x55,
		.sl = 0xb, .mtu = 4, .rate = 16, .life = 18,
	};
	uint8_t d[64], gid[16];

	for (unsigned i = 0; i < 16; i++) {
		r.dgid[i] = (uint8_t)(i + 1);
		r.sgid[i] = (uint8_t)(i + 101);
	}
	path_record_encode(d, &r);
	mad_get_array(d, 0, IB_SA_PR_DGID_F, gid);
	assert_memory_equal(gid, r.dgid, 16);
	mad_get_array(d, 0, IB_SA_PR_SGID_F, gid);
	assert_memory_equal(gid, r.sgid, 16);
	assert_int_equal(mad_get_field(d, 0, IB_SA_PR_DLID_F), 0x1234);
	assert_int_equal(mad_get_field(d, 0, IB_SA_PR_SLID_F), 0x5678);
	assert_int_equal(mad_get_field(d, 0, IB_SA_PR_NPATH_F), 0x55);
	assert_int_equal(mad_get_field(d, 0, IB_SA_PR_SL_F), 0xb);
}

static void
test_member_is_where_libibmad_has_it(void **state)
{
	struct mcmember_record r = {
		.q_key = 0xdeadbeef, .mlid = 0xc123, .mtu = 4, .tclass = 0x5a,
		.pkey = 0x8001, .rate = 3, .life = 18, .sl = 9,
		.flow_label = 0x12345, .scope = 2, .join_state = 5,
		.proxy_join = true,
	};
	uint8_t d[56];

	mcmember_record_encode(d, &r);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_QKEY_F), 0xdeadbeef);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_MLID_F), 0xc123);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_MTU_F), 4);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_TCLASS_F), 0x5a);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_PKEY_F), 0x8001);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_RATE_F), 3);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_SL_F), 9);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_FLOW_LABEL_F),
			 0x12345);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_JOIN_STATE_F), 5);
	assert_int_equal(mad_get_field(d, 0, IB_SA_MCM_PROXY_JOIN_F), 1);
}

static void
test_header_comes_and_goes(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct sa_header h;

	sa_build(mad, SA_METHOD_GET_TABLE, SA_ATTR_PATH);
	assert_int_equal(mad[44] << 8 | mad[45], 8);
	mad[55] = 0x0c;			/* DGID and SGID */
	mad[36] = 0xab;
	mad[24] = 1;
	assert_true(sa_header_read(mad, sizeof(mad), &h));
	assert_int_equal(h.mad.method, 0x12);
	assert_int_equal(h.mad.attr_id, 0x35);
	assert_int_equal(h.comp_mask, 0x0c);
	assert_int_equal(h.sm_key, 0xab00000000000000);
	assert_int_equal(h.attr_offset, 8);

	sa_make_response(mad, SA_STATUS_NO_RECORDS);
	assert_true(sa_header_read(mad, sizeof(mad), &h));
	assert_int_equal(h.mad.method, 0x92);
	assert_int_equal(h.mad.status, 0x0300);
	assert_int_equal(h.sm_key, 0);	/* keys are not told */
	assert_int_equal(mad[24], 0);

	assert_false(sa_header_read(mad, MAD_SIZE - 1, &h));
	mad[1] = 0x04;
	assert_false(sa_header_read(mad, MAD_SIZE, &h));
}

static void
test_set_is_answered_by_get_resp(void **state)
{
	uint8_t mad[MAD_SIZE];

	sa_build(mad, MAD_METHOD_SET, SA_ATTR_MC_MEMBER);
	sa_make_response(mad, 0);
	assert_int_equal(mad[3], MAD_METHOD_GET_RESP);
	sa_build(mad, SA_METHOD_DELETE, SA_ATTR_MC_MEMBER);
	sa_make_response(mad, 0);
	assert_int_equal(mad[3], 0x95);
}

/* Component by component, bit by bit. */
static bool
naive_match(unsigned attr_id, uint64_t comp_mask, const uint8_t *a,
	    const uint8_t *b)
{
	unsigned n;
	const struct sa_field *f = sa_fields(attr_id, &n);

	for (unsigned i = 0; i < n; i++) {
		if (!(comp_mask >> i & 1) || f[i].kind != SA_FIELD_PLAIN)
			continue;
		for (unsigned k = f[i].offset; k < f[i].offset + f[i].bits;
		     k++)
			if ((a[k / 8] ^ b[k / 8]) >> (7 - k % 8) & 1)
				return false;
	}
	return true;
}

static void
test_matching_is_component_by_component(void **state)
{
	uint64_t rng = prng_stream(52, 0);
	unsigned hits = 0, misses = 0;

	printf("# seed 52\n");
	for (unsigned round = 0; round < 20000; round++) {
		unsigned id = prng_below(&rng, 0x40), n;
		uint8_t a[SA_DATA_LEN], b[SA_DATA_LEN];
		uint64_t comp_mask = prng_next(&rng) & prng_next(&rng) &
			prng_next(&rng);
		struct sa_match m;
		bool match;

		if (!sa_fields(id, &n))
			continue;
		if (n < 64)
			comp_mask &= (UINT64_C(1) << n) - 1;
		fill(a, sizeof(a), &rng);
		memcpy(b, a, sizeof(b));
		b[prng_below(&rng, (uint32_t)sa_record_size(id))] ^=
			(uint8_t)(1 << prng_below(&rng, 8));
		assert_true(sa_match_init(&m, id, comp_mask, a));
		assert_true(sa_match_test(&m, a));
		match = sa_match_test(&m, b);
		assert_int_equal(match, naive_match(id, comp_mask, a, b));
		*(match ? &hits : &misses) += 1;
	}
	assert_true(hits > 1000 && misses > 100);
}

static void
test_unknown_components_are_refused(void **state)
{
	uint8_t wanted[SA_DATA_LEN] = { 0 };
	struct sa_match m;

	assert_true(sa_match_init(&m, SA_ATTR_LINK, 0x0f, wanted));
	assert_false(sa_match_init(&m, SA_ATTR_LINK, 0x10, wanted));
	assert_false(sa_match_init(&m, 0x7777, 1, wanted));
	assert_true(sa_match_init(&m, SA_ATTR_SERVICE, SA_BIT(36), wanted));
	assert_false(sa_match_init(&m, SA_ATTR_SERVICE, SA_BIT(37), wanted));
}

static void
test_rates_are_in_order_of_speed(void **state)
{
	static const uint8_t slow_to_fast[] = {
		2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14,
		17, 18, 21, 22, 23, 24,
	};
	struct port_info p = { .width_active = 2, .speed_active = 4 };

	for (size_t i = 0; i + 1 < sizeof(slow_to_fast); i++) {
		assert_true(sa_rate_compare(slow_to_fast[i],
					    slow_to_fast[i + 1]) < 0);
		assert_true(sa_rate_compare(slow_to_fast[i + 1],
					    slow_to_fast[i]) > 0);
	}
	assert_int_equal(sa_rate_compare(16, 16), 0);
	assert_int_equal(sa_rate_mbps(1), 0);
	assert_int_equal(sa_rate_mbps(63), 0);
	assert_int_equal(sa_rate_of(&p), 7);	/* 4x QDR: 40 Gb/s */
	p.speed_ext_active = 2;
	assert_int_equal(sa_rate_of(&p), 16);	/* 4x EDR: 100 */
	p.speed_ext_active = 8;
	assert_int_equal(sa_rate_of(&p), 21);	/* 4x NDR: 400 */
	p.width_active = 0;
	assert_int_equal(sa_rate_of(&p), 0);
}

/* As OpenSM's saquery shows them: LID, port and attribute where they belong. */
static void
test_records_of_the_fabric_as_bytes(void **state)
{
	struct node_info ni = { .node_guid = 0x1122334455667788, .num_ports = 2,
				.node_type = 1, .vendor_id = 0x2c9 };
	struct port_info pi = { .lid = 0x77, .cap_mask = 0x02510868 };
	uint16_t masks[32] = { [31] = 0xbeef };
	uint8_t d[SA_DATA_LEN];

	node_record_encode(d, 0x0102, &ni, "leaf");
	assert_int_equal(d[0] << 8 | d[1], 0x0102);
	assert_int_equal(d[4 + 2], 1);
	assert_int_equal(d[4 + 12], 0x11);
	assert_int_equal(d[4 + 19], 0x88);
	assert_memory_equal(d + 44, "leaf\0\0", 6);

	port_info_record_encode(d, 9, 3, &pi);
	assert_int_equal(d[1], 9);
	assert_int_equal(d[2], 3);
	assert_int_equal(d[4 + 17], 0x77);
	assert_memory_equal(d + 4 + 20, "\x02\x51\x08\x68", 4);

	multicast_ft_record_encode(d, 5, 0xa, 0x1bc, masks);
	assert_memory_equal(d, "\0\x05\xa1\xbc\0\0\0\0", 8);
	assert_memory_equal(d + 8 + 62, "\xbe\xef", 2);

	link_record_encode(d, 1, 2, 3, 4);
	assert_memory_equal(d, "\0\x01\x02\x03\0\x04\0\0", 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_cover_no_bit_twice),
		cmocka_unit_test(test_codecs_and_tables_agree),
		cmocka_unit_test(test_path_is_where_libibmad_has_it),
		cmocka_unit_test(test_member_is_where_libibmad_has_it),
		cmocka_unit_test(test_header_comes_and_goes),
		cmocka_unit_test(test_set_is_answered_by_get_resp),
		cmocka_unit_test(test_matching_is_component_by_component),
		cmocka_unit_test(test_unknown_components_are_refused),
		cmocka_unit_test(test_rates_are_in_order_of_speed),
		cmocka_unit_test(test_records_of_the_fabric_as_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
