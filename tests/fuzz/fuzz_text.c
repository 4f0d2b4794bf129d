// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The text formats (formats.c), each a target: what was read and is written is
 * read the same, or it is an error that says where. run.sh builds this file once
 * for each of FUZZ_TEXTS, with FUZZ_TEXT for its name.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/formats.h"

static int
try_text(const char *format, const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;

	g_free(format_judge(format_find(format), text, warnings, &error));
	for (guint i = 0; i < warnings->len; i++)
		g_assert_true(g_str_has_prefix(warnings->pdata[i], "f:"));
	return 0;
}

#define TARGET(name) \
	FUZZ_TARGET(name) \
	{ \
		return try_text(#name, data, size); \
	}
#define TARGET_OF(name)	TARGET(name)
#ifdef FUZZ_TEXT
TARGET_OF(FUZZ_TEXT)
#else
FUZZ_TEXTS(TARGET)
#endif
