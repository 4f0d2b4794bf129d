// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of LIDs. What was read and is written must be read the same.
 */
#include "sm/config/guid_files.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

FUZZ_TARGET(guid2lid)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	GArray *ranges = guid2lid_parse(text, "fuzz", &error), *again;

	if (!ranges) {
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		return 0;
	}
	guid2lid_format(ranges, once);
	again = guid2lid_parse(once->str, "again", &error);
	g_assert_no_error(error);
	g_assert_cmpuint(again->len, ==, ranges->len);
	guid2lid_format(again, twice);
	g_assert_cmpstr(once->str, ==, twice->str);
	g_array_unref(ranges);
	g_array_unref(again);
	return 0;
}
