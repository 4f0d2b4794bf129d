// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * JSON: commas and white space at every depth, and strings of all bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "topology/json.h"

static void
write_nested(struct json *j)
{
	json_open(j, NULL, '{');
	json_open(j, "a", '[');
	json_close(j, ']');
	json_open(j, "b", '[');
	json_number(j, NULL, UINT64_MAX);
	json_open(j, NULL, '{');
	json_bool(j, "c", false);
	json_text(j, "d", NULL);
	json_close(j, '}');
	json_bool(j, NULL, true);
	json_close(j, ']');
	json_hex(j, "e", 0xbeef, 8);
	json_close(j, '}');
}

static void
test_commas_stand_between_members_only(void **state)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out };

	write_nested(&j);
	assert_string_equal(out->str, "{\"a\":[],\"b\":[18446744073709551615,"
			    "{\"c\":false,\"d\":null},true],"
			    "\"e\":\"0x0000beef\"}");
}

static void
test_space_is_behind_commas_and_colons(void **state)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out, .space = " " };

	write_nested(&j);
	assert_string_equal(out->str, "{\"a\": [], \"b\": "
			    "[18446744073709551615, {\"c\": false, "
			    "\"d\": null}, true], \"e\": \"0x0000beef\"}");
}

static void
test_a_break_holds_for_one_member(void **state)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out, .space = " " };

	json_open(&j, NULL, '[');
	for (unsigned i = 0; i < 4; i++) {
		if (i % 2 == 0)
			json_break(&j, "\n\t");
		json_number(&j, NULL, i);
	}
	json_close(&j, ']');
	assert_string_equal(out->str, "[\n\t0, 1,\n\t2, 3]");
}

static void
expect_written(void (*put)(struct json *, const char *, const char *),
	       const char *text, const char *wanted)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out };

	put(&j, NULL, text);
	assert_string_equal(out->str, wanted);
}

static void
test_bytes_that_are_no_utf_8_are_latin_1(void **state)
{
	expect_written(json_text, "a\"\\/\n\x1f~", "\"a\\\"\\\\/\\u000a"
		      "\\u001f~\"");
	expect_written(json_text, "\x7f\x80\xff", "\"\\u007f\\u0080\\u00ff\"");
	expect_written(json_text, "\xc3\xa9\x7f", "\"\xc3\xa9\\u007f\"");
}

static void
test_utf_8_stays_and_other_bytes_are_replaced(void **state)
{
	expect_written(json_utf8, "a\"\\\t", "\"a\\\"\\\\\\u0009\"");
	expect_written(json_utf8, "\xc3\xa9\x7f", "\"\xc3\xa9\\u007f\"");
	expect_written(json_utf8, "x\xffy", "\"x\xef\xbf\xbdy\"");
}

static void
test_numbers_have_their_places(void **state)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out };

	json_open(&j, NULL, '[');
	json_ms(&j, NULL, 1007);
	json_ms(&j, NULL, -3);
	json_real(&j, NULL, 1.0 / 3);
	json_real(&j, NULL, 25);
	json_close(&j, ']');
	assert_string_equal(out->str, "[1.007,0.000,0.333333,25]");
}

static void
test_no_lines_are_an_empty_array(void **state)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	struct json j = { .out = out };

	g_ptr_array_add(lines, "one");
	g_ptr_array_add(lines, "two");
	json_open(&j, NULL, '{');
	json_lines(&j, "none", NULL);
	json_lines(&j, "some", lines);
	json_close(&j, '}');
	assert_string_equal(out->str,
			    "{\"none\":[],\"some\":[\"one\",\"two\"]}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commas_stand_between_members_only),
		cmocka_unit_test(test_space_is_behind_commas_and_colons),
		cmocka_unit_test(test_a_break_holds_for_one_member),
		cmocka_unit_test(test_bytes_that_are_no_utf_8_are_latin_1),
		cmocka_unit_test(
			test_utf_8_stays_and_other_bytes_are_replaced),
		cmocka_unit_test(test_numbers_have_their_places),
		cmocka_unit_test(test_no_lines_are_an_empty_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
