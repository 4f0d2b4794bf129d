// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text of files and names: a byte order mark, NULs, and what a line may hold.
 * Numbers, and the scanner of files, are judged by what is made of files:
 * test_formats.c.
 */
#include <unistd.h>

#include "tests/lib/unit.h"

static void
expect_file(const char *bytes, gsize len, const char *text, int code)
{
	g_autofree char *path = NULL, *got = NULL;
	g_autoptr(GError) error = NULL;
	int fd = g_file_open_tmp("minism-text-XXXXXX", &path, NULL);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	got = text_read_file(path, &error);
	unlink(path);
	if (text)
		assert_string_equal(got, text);
	else
		assert_true(!got && g_error_matches(error, G_FILE_ERROR, code));
}

#define TEN(c)	c c c c c c c c c c

/* What a host or a file has in a name, and what a terminal gets of it. */
TEST(test_one_line_holds_no_control_characters)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" }, { "a\tb\nc\x1b[2J", "a?b?c?[2J" },
		{ "M\xc3\xbcnchen \xe6\x9d\xb1", "M\xc3\xbcnchen \xe6\x9d\xb1" },
		/* C1: CSI; right to left override; isolate; line separator */
		{ "a\xc2\x9b" "2J", "a?2J" }, { "a\xe2\x80\xae" "b", "a?b" },
		{ "a\xe2\x81\xa6" "b", "a?b" }, { "a\xe2\x80\xa8" "b", "a?b" },
		/* bytes that are no UTF-8, one of them at the end */
		{ "a\xff\x9b\xe6\x9d", "a????" },
		/* the cut is between characters */
		{ "a" TEN("\xe6\x9d\xb1") TEN("\xe6\x9d\xb1") "b",
		  "a" TEN("\xe6\x9d\xb1") TEN("\xe6\x9d\xb1") "..." },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *line = text_one_line(cases[i][0]);

		assert_string_equal(line, cases[i][1]);
	}
}

TEST(test_a_file_is_read_without_its_byte_order_mark)
{
	expect_file("a\n", 2, "a\n", 0);
	expect_file("", 0, "", 0);
	expect_file("\xef\xbb\xbf" "a b\n", 7, "a b\n", 0);
	expect_file("\xef\xbb\xbf", 3, "", 0);
	expect_file("\xef\xbb", 2, "\xef\xbb", 0);
	expect_file(" \xef\xbb\xbf", 4, " \xef\xbb\xbf", 0);
	expect_file("a\0b", 3, NULL, G_FILE_ERROR_INVAL);
	expect_file("\xef\xbb\xbf\0", 4, NULL, G_FILE_ERROR_INVAL);
	assert_null(text_read_file("/nonexistent/file", NULL));
}
