// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * JSON: commas and white space at every depth, and strings of all bytes.
 */
#include <string.h>

#include "tests/lib/unit.h"
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

TEST(test_commas_stand_between_members_only)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out };

	write_nested(&j);
	assert_string_equal(out->str, "{\"a\":[],\"b\":[18446744073709551615,"
			    "{\"c\":false,\"d\":null},true],"
			    "\"e\":\"0x0000beef\"}");
}

TEST(test_space_is_behind_commas_and_colons)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out, .space = " " };

	write_nested(&j);
	assert_string_equal(out->str, "{\"a\": [], \"b\": "
			    "[18446744073709551615, {\"c\": false, "
			    "\"d\": null}, true], \"e\": \"0x0000beef\"}");
}

TEST(test_a_break_holds_for_one_member)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct json j = { .out = out, .space = " " };

	json_open(&j, NULL, '[');
	for (unsigned i = 0; i < 4; i++) {
		if (i % 2 == 0)
			j.gap = "\n\t";
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

TEST(test_bytes_that_are_no_utf_8_are_latin_1)
{
	expect_written(json_text, "a\"\\/\n\x1f~", "\"a\\\"\\\\/\\u000a"
		      "\\u001f~\"");
	expect_written(json_text, "\x7f\x80\xff", "\"\\u007f\\u0080\\u00ff\"");
	expect_written(json_text, "\xc3\xa9\x7f", "\"\xc3\xa9\\u007f\"");
}

TEST(test_utf_8_stays_and_other_bytes_are_replaced)
{
	expect_written(json_utf8, "a\"\\\t", "\"a\\\"\\\\\\u0009\"");
	expect_written(json_utf8, "\xc3\xa9\x7f", "\"\xc3\xa9\\u007f\"");
	expect_written(json_utf8, "x\xffy", "\"x\xef\xbf\xbdy\"");
}

TEST(test_numbers_have_their_places)
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
write_report(struct text_report *r)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new();

	g_ptr_array_add(lines, "one");
	g_ptr_array_add(lines, "two");
	report_open(r, NULL, '{');
	report_say(r, "%u things: ", 4);
	report_text(r, "name", "x", " is ");
	report_text(r, "none", NULL, " is nothing");
	report_number(r, "n", 7, " of ");
	report_number(r, "hidden", 8, NULL);
	report_hex(r, "guid", 0x1a, 4, ", ");
	report_real(r, "share", 0.125, 2, "\n");
	report_lines(r, "no", NULL, "- ");
	report_lines(r, "lines", lines, "- ");
	report_close(r, '}');
}

TEST(test_report_is_text_or_json)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) json = g_string_new(NULL);
	struct text_report r = { .json = { .out = text } };

	write_report(&r);
	assert_string_equal(text->str,
			    "4 things: x is 7 of 0x001a, 0.12\n- one\n- two\n");
	r = (struct text_report){ .json = { .out = json }, .as_json = true };
	write_report(&r);
	assert_string_equal(json->str,
			    "{\"name\":\"x\",\"none\":null,\"n\":7,"
			    "\"hidden\":8,\"guid\":\"0x001a\",\"share\":0.125,"
			    "\"no\":[],\"lines\":[\"one\",\"two\"]}");
}
