// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of M_Keys: guid2mkey if the first byte is even, else neighbors.
 * What is read is written the same, or it is an error that repeats nothing of
 * the text.
 */
#include <string.h>

#include "sm/plan/mkey_db.h"
#include "tests/fuzz/fuzz.h"

typedef bool (*read_fn)(struct mkey_db *k, const char *text, const char *name,
			GError **error);
typedef void (*write_fn)(const struct mkey_db *k, GString *out);

static void
try_file(const char *text, read_fn read, write_fn write)
{
	struct mkey_db *k = mkey_db_new(1, MKEY_DB_PER_PORT);
	struct mkey_db *again = mkey_db_new(1, MKEY_DB_PER_PORT);
	g_autoptr(GString) twice = g_string_new(NULL);
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	if (read(k, text, "fuzz", &error)) {
		write(k, once);
		g_assert_true(read(again, once->str, "again", NULL));
		write(again, twice);
		g_assert_cmpstr(once->str, ==, twice->str);
	} else {
		g_assert_true(g_str_has_prefix(error->message, "fuzz:"));
		g_assert_cmpuint(strlen(error->message), <, 80);
		g_assert_true(mkey_db_version(k) == 0);
	}
	mkey_db_free(k);
	mkey_db_free(again);
}

FUZZ_TARGET(keys)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	uint8_t which = fuzz_byte(&in);
	g_autofree char *text = fuzz_text(&in);

	if (which % 2 == 0)
		try_file(text, mkey_db_read_keys, mkey_db_write_keys);
	else
		try_file(text, mkey_db_read_cables, mkey_db_write_cables);
	return 0;
}
