// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names, codes and directed routes: what a log line and an SMP are made of.
 */
#include "tests/lib/unit.h"

TEST(test_codes_beyond_the_last_have_no_name)
{
	static const unsigned codes[] = { 6, 8, 15, 255, 65536 };

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++) {
		assert_string_equal(node_type_name(codes[i]), "?");
		assert_string_equal(port_state_name(codes[i]), "?");
	}
	for (size_t i = 1; i < G_N_ELEMENTS(codes); i++)
		assert_string_equal(port_phys_name(codes[i]), "?");
	assert_string_equal(node_type_name(0), "?");
	assert_string_equal(node_type_name(NODE_ROUTER), "Router");
}

TEST(test_width_and_speed_name_the_active_link)
{
	static const struct {
		uint8_t width, speed, ext, ext2;
		const char *width_name, *speed_name;
	} row[] = {
		{ 1, 1, 0, 0, "1x", "SDR" },
		{ 2, 2, 0, 0, "4x", "DDR" },
		{ 4, 4, 0, 0, "8x", "QDR" },
		{ 8, 4, 1, 0, "12x", "FDR" },
		{ 16, 4, 2, 0, "2x", "EDR" },
		{ 2, 0, 4, 0, "4x", "HDR" },
		{ 2, 4, 8, 0, "4x", "NDR" },
		{ 2, 4, 0, 1, "4x", "XDR" },
		{ 2, 4, 8, 1, "4x", "XDR" },
		{ 2, 4, 8, 2, "4x", "?" },
		{ 0, 0, 0, 0, "?", "?" },
		{ 3, 3, 0, 0, "?", "?" },  /* two bits: not one active width */
		{ 2, 4, 3, 0, "4x", "?" }, /* an unknown extended speed is not
					   the old one */
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct port_info info = {
			.width_active = row[i].width,
			.speed_active = row[i].speed,
			.speed_ext_active = row[i].ext,
			.speed_ext2_active = row[i].ext2,
		};

		assert_string_equal(port_width(&info)->name, row[i].width_name);
		assert_string_equal(port_speed(&info)->name, row[i].speed_name);
	}
}

TEST(test_mtu_and_vl_codes_outside_iba_are_zero)
{
	static const unsigned bytes[] = { 0, 256, 512, 1024, 2048, 4096, 0 };
	static const unsigned vls[] = { 0, 1, 2, 4, 8, 15, 0 };

	for (unsigned code = 0; code < 7; code++)
		assert_int_equal(port_mtu_bytes(code), bytes[code]);
	assert_int_equal(port_mtu_bytes(UINT32_MAX), 0);
	for (unsigned code = 0; code < 7; code++)
		assert_int_equal(port_vls(code), vls[code]);
}

TEST(test_path_grows_by_ports_up_to_63_hops)
{
	struct dr_path path = { 0 };

	assert_true(dr_path_push(&path, 1));
	assert_true(dr_path_push(&path, 17));
	assert_int_equal(path.hops, 2);
	assert_memory_equal(path.port, "\0\1\21", 3);
	while (path.hops < DR_MAX_HOPS)
		assert_true(dr_path_push(&path, 255));
	assert_false(dr_path_push(&path, 1));
	assert_int_equal(path.hops, DR_MAX_HOPS);
}
