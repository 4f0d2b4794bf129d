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
	GArray *ranges = guid2lid_parse(text, "fuzz", &error);

	if (!ranges) {
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		return 0;
	}
	fuzz_assert_comes_back(ranges, guid2lid_parse, guid2lid_format,
			       g_array_unref, again->len == ranges->len);
	g_array_unref(ranges);
	return 0;
}
