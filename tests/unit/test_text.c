// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers in text: where one ends, what is too large or too long, and that a
 * failure takes nothing. The scanner of files is judged by what it makes of
 * them: test_formats.c.
 */
#include <unistd.h>

#include "tests/lib/unit.h"
#include "topology/text.h"

#define UNTOUCHED	0xabadcafeu

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

/* How: digits, as far as they go; a whole text; hexadecimal with its 0x, of so
 * many digits at most. */
enum { DIGITS, WHOLE, HEX };

static const struct {
	int how;
	unsigned base;		/* HEX: how many */
	uint64_t max;
	const char *text, *rest;	/* NULL: nothing is taken */
	uint64_t value;
} numbers[] = {
	{ DIGITS, 10, 19, "0019a:7", "a:7", 19 },
	{ DIGITS, 16, 10, "a:7", ":7", 10 },
	{ DIGITS, 10, UINT64_MAX, "", NULL, 0 },
	{ DIGITS, 10, UINT64_MAX, "-1", NULL, 0 },
	{ DIGITS, 10, UINT64_MAX, " 1", NULL, 0 },
	{ DIGITS, 10, 19, "20", NULL, 0 }, { DIGITS, 10, 8, "9", NULL, 0 },
	{ DIGITS, 16, UINT16_MAX, "10000", NULL, 0 },
	{ DIGITS, 10, UINT64_MAX, "18446744073709551616", NULL, 0 },
	{ DIGITS, 16, UINT64_MAX, "10000000000000000", NULL, 0 },
	{ WHOLE, 10, UINT64_MAX, "18446744073709551615", "", UINT64_MAX },
	{ WHOLE, 16, UINT64_MAX, "fFfFfFfFfFfFfFfF", "", UINT64_MAX },
	{ WHOLE, 10, 0, "0", "", 0 }, { WHOLE, 10, 99, "12 ", NULL, 0 },
	{ WHOLE, 10, 99, "1a", NULL, 0 }, { WHOLE, 10, 99, "", NULL, 0 },
	{ HEX, 4, 0, "0x00fF:", ":", 0xff }, { HEX, 4, 0, "12", NULL, 0 },
	{ HEX, 4, 0, "0x", NULL, 0 }, { HEX, 4, 0, "0xg", NULL, 0 },
	{ HEX, 4, 0, "0x00012", NULL, 0 }, { HEX, 4, 0, "0x10000", NULL, 0 },
	{ HEX, 4, 0, "", NULL, 0 }, { HEX, 4, 0, "x1", NULL, 0 },
};

/* Whoever fails takes nothing. */
TEST(test_numbers_are_taken_or_nothing)
{
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		const char *begin = numbers[i].text, *text = begin;
		unsigned base = numbers[i].base;
		uint64_t max = numbers[i].max, value = UNTOUCHED;
		bool is = numbers[i].how == DIGITS ?
			text_take_digits(&text, base, max, &value) :
			numbers[i].how == HEX ?
			text_take_hex(&text, base, &value) :
			text_read_number(text, base, max, &value);

		print_message("%s\n", begin);
		assert_int_equal(is, numbers[i].rest != NULL);
		assert_true(value == (is ? numbers[i].value : UNTOUCHED));
		if (numbers[i].how != WHOLE)
			assert_string_equal(text, is ? numbers[i].rest : begin);
	}
}
