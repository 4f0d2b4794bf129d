// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports as JSON: breaks, texts of any bytes, and numbers. Members and their text
 * are judged by the answers that are made of them (control.scn, test_show.c).
 */
#include "tests/lib/unit.h"

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
