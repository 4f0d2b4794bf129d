// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which bytes of a MAD are keys: found by writing keys, and nothing else, with
 * the codecs of libibmad and by the offsets of the specification.
 */
#include "sm/mad/bytes.h"
#include "sm/mad/sa_mad.h"
#include "sm/mad/mkey_mask.h"
#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

#define KEY	UINT64_C(0xffffffffffffffff)

#define HEADER	24u	/* what says where keys are, and the TID */

/* Every byte that the key has changed is blanked, and no other one. */
static void
assert_marks(const uint8_t *without, const uint8_t *with, unsigned n)
{
	uint8_t full[MAD_SIZE], blanked[MAD_SIZE];
	unsigned found = 0;

	for (size_t i = 0; i < MAD_SIZE; i++)
		full[i] = i < HEADER ? with[i] : 0xff;
	memcpy(blanked, full, sizeof(full));
	mkey_mask_blank(blanked, MAD_SIZE);
	for (size_t i = 0; i < MAD_SIZE; i++) {
		if (without[i] != with[i])
			assert_int_equal(blanked[i], 0);
		if (blanked[i] != full[i])
			found++;
	}
	assert_int_equal(found, n);
}

TEST(test_m_key_of_every_smp)
{
	static const enum mad_attr attrs[] = {
		MAD_ATTR_NODE_INFO, MAD_ATTR_SWITCH_INFO, MAD_ATTR_LINEAR_FT,
	};
	const struct dr_path path = { .hops = 0 };
	uint8_t a[MAD_SIZE], b[MAD_SIZE];

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		smp_build_lid(a, MAD_METHOD_GET, attrs[i], 0, 0);
		smp_build_lid(b, MAD_METHOD_GET, attrs[i], 0, KEY);
		assert_marks(a, b, 8);
		smp_build_direct(a, MAD_METHOD_SET, attrs[i], 0, 0, &path);
		smp_build_direct(b, MAD_METHOD_SET, attrs[i], 0, KEY, &path);
		assert_marks(a, b, 8);
	}
}

TEST(test_keys_in_the_data_of_smps)
{
	const struct port_info none = { 0 }, port = { .m_key = KEY };
	const struct sm_info no_sm = { 0 }, sm = { .sm_key = KEY };
	uint8_t a[MAD_SIZE], b[MAD_SIZE];

	smp_build_lid(a, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 0, 0);
	memcpy(b, a, sizeof(a));
	port_info_encode(smp_data(a), &none);
	port_info_encode(smp_data(b), &port);
	assert_marks(a, b, 16);
	smp_build_lid(a, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 0, 0);
	memcpy(b, a, sizeof(a));
	sm_info_encode(smp_data(a), &no_sm);
	sm_info_encode(smp_data(b), &sm);
	assert_marks(a, b, 16);
	/* what notice_hide_m_key() blanks */
	smp_build_lid(a, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, 0, 0);
	smp_data(a)[0] = 0x80;
	smp_data(a)[4] = 1;
	memcpy(b, a, sizeof(a));
	memset(smp_data(b) + 10, 0xff, 54);
	memcpy(a, b, sizeof(a));
	notice_hide_m_key(smp_data(a));
	assert_marks(a, b, 16);
}

TEST(test_keys_of_the_sa)
{
	uint8_t a[MAD_SIZE] = { 1, MAD_CLASS_SA, 2, MAD_METHOD_GET };
	uint8_t b[MAD_SIZE];

	a[17] = SA_ATTR_PATH;
	memcpy(b, a, sizeof(a));
	memset(b + 36, 0xff, 8);
	assert_marks(a, b, 8);
	a[17] = b[17] = SA_ATTR_PORT_INFO;
	memset(b + 56, 0xff, 200);
	assert_marks(a, b, 208);
	/* the state for a standby: services with their keys are in it */
	bytes_store16(a + 16, SA_ATTR_STATE);
	bytes_store16(b + 16, SA_ATTR_STATE);
	assert_marks(a, b, 208);
}

/* What is too short for a header is no MAD; keys end where the bytes do. */
TEST(test_short_mad_is_secret)
{
	uint8_t mad[MAD_SIZE] = { 1, 2, 3, 4, 5 }, cut[MAD_SIZE];

	mkey_mask_blank(mad, 4);
	assert_memory_equal(mad, ((uint8_t[]){ 0, 0, 0, 0, 5 }), 5);
	smp_build_lid(cut, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 0, KEY);
	memset(cut + 24, 0xff, MAD_SIZE - 24);
	mkey_mask_blank(cut, 28);
	assert_memory_equal(cut + 24, ((uint8_t[8]){ [4] = 255, 255, 255, 255 }),
			    8);
	assert_int_equal(cut[64], 0xff);
}
