// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMPs: requests, responses and notices. Their attributes are tested with the
 * SA records that carry them (test_sa_record.c).
 */
#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

TEST(test_direct_request_is_the_bytes_of_the_standard)
{
	struct dr_path path = { .hops = 3, .port = { 0, 7, 12, 255, 9 } };
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
		{ 145, 0x1314, 0 },
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
