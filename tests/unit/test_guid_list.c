// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lists of GUIDs: every line is a GUID or an error that names it.
 */
#include "sm/config/guid_files.h"
#include "tests/lib/unit.h"
#include "topology/text.h"

TEST(test_guids_come_sorted_and_once)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = guid_list_parse(
		"# roots\r\n\n  0x2c903000000ff  spine 2\r\n"
		"0002c90300000001#spine 1\n0x0002C903000000FF\nff\n",
		"roots", &error);

	assert_null(error);
	assert_int_equal(list->len, 3);
	assert_int_equal(g_array_index(list, uint64_t, 0), 0xff);
	assert_int_equal(g_array_index(list, uint64_t, 1), 0x0002c90300000001);
	assert_int_equal(g_array_index(list, uint64_t, 2), 0x0002c903000000ff);
	assert_true(guid_list_has(list, 0x0002c90300000001));
	assert_false(guid_list_has(list, 0x0002c90300000002));
	assert_false(guid_list_has(NULL, 1));
}

TEST(test_empty_text_is_an_empty_list)
{
	g_autoptr(GArray) list = guid_list_parse("", "x", NULL);

	assert_non_null(list);
	assert_int_equal(list->len, 0);
	assert_false(guid_list_has(list, 1));
}

TEST(test_bad_line_is_named)
{
	static const char *const bad[] = {
		"0x", "0x0", "leaf", "0x12345678901234567", "0x12,0x13",
		"-1", "12g",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *text = g_strdup_printf("0x1\n%s\n", bad[i]);
		g_autoptr(GError) error = NULL;

		assert_null(guid_list_parse(text, "io", &error));
		assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		assert_true(g_str_has_prefix(error->message, "io:2:1: "));
	}
}
