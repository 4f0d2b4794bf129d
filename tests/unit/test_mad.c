// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The MAD header against bytes written down from IBA 13.4.2, and what statuses
 * are called.
 */
#include "sm/mad/mad.h"
#include "tests/lib/unit.h"

static const uint8_t direct_header[24] = {
	0x01, 0x81, 0x01, 0x81,		/* version, class, version, GetResp */
	0x80, 0x1c, 0x04, 0x03,		/* D, status, pointer, count */
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	0x00, 0x15, 0x00, 0x00,		/* PortInfo */
	0x89, 0xab, 0xcd, 0xef,
};

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
	assert_true(h.tid == 0x1122334455667788);
	assert_int_equal(h.attr_id, MAD_ATTR_PORT_INFO);
	assert_true(h.attr_mod == 0x89abcdef);
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
