// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports as JSON: commas and white space at every depth, and strings of all bytes.
 */
#include "tests/lib/unit.h"
#include "topology/report.h"

TEST(test_a_break_holds_for_one_member)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report j = { .out = out, .space = " ", .as_json = true };

	report_open(&j, NULL, '{');
	for (unsigned i = 0; i < 4; i++) {
		if (i % 2 == 0)
			j.gap = "\n\t";
		report_number(&j, "n", i, NULL);
	}
	report_close(&j, '}');
	assert_string_equal(out->str, "{\n\t\"n\": 0, \"n\": 1,"
			    "\n\t\"n\": 2, \"n\": 3}");
}

static void
expect_written(void (*put)(struct text_report *, const char *, const char *,
			   const char *),
	       const char *text, const char *wanted)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report j = { .out = out, .as_json = true };

	put(&j, NULL, text, NULL);
	assert_string_equal(out->str, wanted);
}

TEST(test_bytes_that_are_no_utf_8_are_latin_1)
{
	expect_written(report_text, "a\"\\/\n\x1f~", "\"a\\\"\\\\/\\u000a"
		      "\\u001f~\"");
	expect_written(report_text, "\x7f\x80\xff", "\"\\u007f\\u0080\\u00ff\"");
	expect_written(report_text, "\xc3\xa9\x7f", "\"\xc3\xa9\\u007f\"");
}

TEST(test_utf_8_stays_and_other_bytes_are_replaced)
{
	expect_written(report_utf8, "a\"\\\t", "\"a\\\"\\\\\\u0009\"");
	expect_written(report_utf8, "\xc3\xa9\x7f", "\"\xc3\xa9\\u007f\"");
	expect_written(report_utf8, "x\xffy", "\"x\xef\xbf\xbdy\"");
}

TEST(test_numbers_have_their_places)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct text_report j = { .out = out, .as_json = true };

	report_open(&j, NULL, '[');
	report_ms(&j, NULL, 1007);
	report_ms(&j, NULL, -3);
	report_real(&j, NULL, 1.0 / 3, 0, NULL);
	report_real(&j, NULL, 25, 0, NULL);
	report_close(&j, ']');
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
	report_count(r, "hosts", 1, "host", " and ");
	report_count(r, "switches", 2, "switch", ", ");
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
	struct text_report r = { .out = text };

	write_report(&r);
	assert_string_equal(text->str,
			    "4 things: x is 7 of 1 host and 2 switches, "
			    "0x001a, 0.12\n- one\n- two\n");
	r = (struct text_report){ .out = json, .as_json = true };
	write_report(&r);
	assert_string_equal(json->str,
			    "{\"name\":\"x\",\"none\":null,\"n\":7,"
			    "\"hosts\":1,\"switches\":2,"
			    "\"hidden\":8,\"guid\":\"0x001a\",\"share\":0.125,"
			    "\"no\":[],\"lines\":[\"one\",\"two\"]}");
}
