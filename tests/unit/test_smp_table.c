// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables of ports as bytes: against the positions that IBA gives. */
#include <string.h>

#include "sm/mad/smp.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

TEST(test_pkeys_are_big_endian)
{
	uint8_t data[SMP_DATA_LEN] = { 0xff, 0xff, 0x80, 0x01, [62] = 0x12,
				       [63] = 0x34 };
	uint8_t back[SMP_DATA_LEN];
	union port_block b;

	smp_table_decode(PORT_TABLE_PKEY, data, &b);
	assert_int_equal(b.pkeys[0], 0xffff);
	assert_int_equal(b.pkeys[1], 0x8001);
	assert_int_equal(b.pkeys[2], 0);
	assert_int_equal(b.pkeys[31], 0x1234);
	smp_table_encode(PORT_TABLE_PKEY, back, &b);
	assert_memory_equal(back, data, sizeof(data));
}

TEST(test_sl2vl_starts_in_the_high_nibble)
{
	uint8_t data[SMP_DATA_LEN] = { 0x01, 0x23, [7] = 0xef, [8] = 0xaa };
	uint8_t back[SMP_DATA_LEN];
	union port_block b;

	smp_table_decode(PORT_TABLE_SL2VL, data, &b);
	assert_int_equal(b.vl[0], 0);
	assert_int_equal(b.vl[1], 1);
	assert_int_equal(b.vl[3], 3);
	assert_int_equal(b.vl[14], 14);
	assert_int_equal(b.vl[15], 15);
	assert_int_equal(b.bytes[16], 0);	/* reserved is not kept */
	smp_table_encode(PORT_TABLE_SL2VL, back, &b);
	data[8] = 0;
	assert_memory_equal(back, data, sizeof(data));
}

TEST(test_vl_arb_has_a_reserved_nibble)
{
	uint8_t data[SMP_DATA_LEN] = { 0xf3, 200, 0x01, 4, [62] = 0x0e,
				       [63] = 255 };
	uint8_t back[SMP_DATA_LEN];
	union port_block b;

	smp_table_decode(PORT_TABLE_VL_ARB, data, &b);
	assert_int_equal(b.arb[0].vl, 3);
	assert_int_equal(b.arb[0].weight, 200);
	assert_int_equal(b.arb[1].vl, 1);
	assert_int_equal(b.arb[31].vl, 14);
	assert_int_equal(b.arb[31].weight, 255);
	smp_table_encode(PORT_TABLE_VL_ARB, back, &b);
	data[0] = 0x03;
	assert_memory_equal(back, data, sizeof(data));
}

TEST(test_modifiers_name_port_and_block)
{
	assert_int_equal(smp_table_modifier(PORT_TABLE_PKEY, 0, 3), 3);
	assert_int_equal(smp_table_modifier(PORT_TABLE_PKEY, 36, 1),
			 36 << 16 | 1);
	assert_int_equal(smp_table_modifier(PORT_TABLE_SL2VL, 7, 12),
			 12 << 8 | 7);
	assert_int_equal(smp_table_modifier(PORT_TABLE_VL_ARB, 7,
					    VL_ARB_LOW_1), 1 << 16 | 7);
	assert_int_equal(smp_table_modifier(PORT_TABLE_VL_ARB, 0,
					    VL_ARB_HIGH_2), 4 << 16);
}

TEST(test_what_is_read_writes_the_same)
{
	uint64_t seed = 20261121, prng = seed;

	print_message("seed %llu\n", (unsigned long long)seed);
	for (unsigned turn = 0; turn < 300; turn++) {
		enum port_table table = turn % PORT_N_TABLES;
		uint8_t data[SMP_DATA_LEN], once[SMP_DATA_LEN];
		union port_block a, b;

		for (unsigned i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)prng_below(&prng, 256);
		smp_table_decode(table, data, &a);
		smp_table_encode(table, once, &a);
		smp_table_decode(table, once, &b);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}
