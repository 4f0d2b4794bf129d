// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The MAD header against bytes written down from IBA 13.4.2 and 14.2.1.2:
 * what is read, what is not read beyond a length, what the names say.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/mad/mad.h"
#include "tests/lib/unit.h"

static const uint8_t direct_header[24] = {
	0x01, 0x81, 0x01, 0x81,		/* version, class, version, GetResp */
	0x80, 0x1c, 0x04, 0x03,		/* D, status, pointer, count */
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	0x00, 0x15, 0x00, 0x00,		/* PortInfo */
	0x89, 0xab, 0xcd, 0xef,
};

TEST(test_header_of_directed_route_is_read)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct mad_header h;

	memcpy(mad, direct_header, sizeof(direct_header));
	assert_true(mad_header_read(mad, sizeof(mad), &h));
	assert_int_equal(h.base_version, 1);
	assert_int_equal(h.mgmt_class, MAD_CLASS_SMP_DIRECT);
	assert_int_equal(h.class_version, 1);
	assert_int_equal(h.method, MAD_METHOD_GET_RESP);
	assert_int_equal(h.status, MAD_STATUS_BAD_VALUE);
	assert_true(h.returning);
	assert_int_equal(h.hop_pointer, 4);
	assert_int_equal(h.hop_count, 3);
	assert_true(h.tid == 0x1122334455667788);
	assert_int_equal(h.attr_id, MAD_ATTR_PORT_INFO);
	assert_true(h.attr_mod == 0x89abcdef);
}

/* Bytes 6 and 7 and the top bit of the status are the class's own there. */
TEST(test_header_of_sa_keeps_status_and_no_hops)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct mad_header h;

	memcpy(mad, direct_header, sizeof(direct_header));
	mad[1] = MAD_CLASS_SA;
	mad[2] = 2;
	memset(&h, 0xff, sizeof(h));
	assert_true(mad_header_read(mad, sizeof(mad), &h));
	assert_int_equal(h.status, 0x801c);
	assert_int_equal(h.class_version, 2);
	assert_int_equal(h.hop_pointer, 0);
	assert_int_equal(h.hop_count, 0);
	assert_false(h.returning);
}

/* The buffer really is that short: a read past it is the sanitizer's. */
TEST(test_header_of_short_mad_is_refused)
{
	static const size_t lengths[] = { 0, 1, 23, 24, 64, 255 };
	struct mad_header h;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t *mad = malloc(lengths[i] + 1);

		assert_non_null(mad);
		assert_false(mad_header_read(mad + 1, lengths[i], &h));
		free(mad);
	}
}

TEST(test_tid_lands_in_its_eight_bytes_only)
{
	uint8_t mad[MAD_SIZE];
	struct mad_header h;

	memset(mad, 0xee, sizeof(mad));
	mad_set_tid(mad, 0x0102030405060708);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(mad[8 + i], i + 1);
	for (unsigned i = 0; i < MAD_SIZE; i++)
		if (i < 8 || i >= 16)
			assert_int_equal(mad[i], 0xee);
	assert_true(mad_header_read(mad, sizeof(mad), &h));
	assert_true(h.tid == 0x0102030405060708);
}

/* A MAD may stand at any address of a receive buffer. */
TEST(test_header_is_read_at_odd_addresses)
{
	uint8_t buf[MAD_SIZE + 8] = { 0 };
	struct mad_header h;

	for (unsigned shift = 0; shift < 8; shift++) {
		memcpy(buf + shift, direct_header, sizeof(direct_header));
		assert_true(mad_header_read(buf + shift, MAD_SIZE, &h));
		assert_true(h.tid == 0x1122334455667788);
		assert_true(h.attr_mod == 0x89abcdef);
	}
}

TEST(test_names_say_what_the_standard_says)
{
	assert_string_equal(mad_method_name(MAD_METHOD_GET), "Get");
	assert_string_equal(mad_method_name(MAD_METHOD_GET_RESP), "GetResp");
	assert_string_equal(mad_method_name(MAD_METHOD_TRAP_REPRESS),
			    "TrapRepress");
	assert_string_equal(mad_method_name(0x99), "?");
	assert_string_equal(mad_attr_name(MAD_ATTR_PORT_INFO), "PortInfo");
	assert_string_equal(mad_attr_name(MAD_ATTR_SM_INFO), "SMInfo");
	assert_string_equal(mad_attr_name(0xffff), "?");
}

TEST(test_status_names_tell_codes_and_bits_apart)
{
	assert_string_equal(mad_status_name(0), "OK");
	assert_string_equal(mad_status_name(MAD_STATUS_BUSY), "busy");
	assert_string_equal(mad_status_name(0x0002), "redirection required");
	assert_string_equal(mad_status_name(MAD_STATUS_BAD_VALUE),
			    "invalid attribute value");
	/* the code wins over a bit, and the class's byte is none of it */
	assert_string_equal(mad_status_name(0x0008 | 0x0001),
			    "method not supported");
	assert_string_equal(mad_status_name(0x030c),
			    "method and attribute not supported");
	assert_string_equal(mad_status_name(0x0200), "?");
	assert_string_equal(mad_status_name(0x0014), "?");
}
