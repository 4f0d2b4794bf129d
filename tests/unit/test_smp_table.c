// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables of ports as bytes: against the positions that IBA gives. */
#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

/* In host order; what is reserved on the wire is not kept. */
TEST(test_tables_are_where_the_standard_has_them)
{
	static const struct {
		enum port_table table;
		uint8_t wire[SMP_DATA_LEN];
		union port_block host;
		uint8_t at, kept;	/* a byte with reserved bits */
	} cases[] = {
		{ PORT_TABLE_PKEY,
		  { 0xff, 0xff, 0x80, 0x01, [62] = 0x12, [63] = 0x34 },
		  { .pkeys = { 0xffff, 0x8001, [31] = 0x1234 } }, 0, 0xff },
		{ PORT_TABLE_SL2VL, { 0x01, 0x23, [7] = 0xef, [8] = 0xaa },
		  { .vl = { 0, 1, 2, 3, [14] = 14, [15] = 15 } }, 8, 0 },
		{ PORT_TABLE_VL_ARB,
		  { 0xf3, 200, 0x01, 4, [62] = 0x0e, [63] = 255 },
		  { .arb = { { 3, 200 }, { 1, 4 }, [31] = { 14, 255 } } },
		  0, 0x0f },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t wire[SMP_DATA_LEN], back[SMP_DATA_LEN];
		union port_block b;

		memcpy(wire, cases[i].wire, sizeof(wire));
		smp_table_decode(cases[i].table, wire, &b);
		assert_memory_equal(&b, &cases[i].host, sizeof(b));
		smp_table_encode(cases[i].table, back, &b);
		wire[cases[i].at] &= cases[i].kept;
		assert_memory_equal(back, wire, sizeof(wire));
	}
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
