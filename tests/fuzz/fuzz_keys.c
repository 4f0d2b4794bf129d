// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of M_Keys: guid2mkey if the first byte is even, else neighbors.
 * What is read is written the same, or it is an error that repeats nothing of
 * the text.
 */
#include <string.h>

#include "sm/plan/mkey_db.h"
#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(keys)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	enum mkey_db_file file = fuzz_byte(&in) % 2 ? MKEY_DB_CABLES :
		MKEY_DB_KEYS;
	g_autofree char *text = fuzz_text(&in);
	struct mkey_db *k = mkey_db_new(1, MKEY_DB_PER_PORT);
	struct mkey_db *again = mkey_db_new(1, MKEY_DB_PER_PORT);
	g_autoptr(GString) twice = g_string_new(NULL);
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	if (mkey_db_read(k, file, text, "fuzz", &error)) {
		mkey_db_write(k, file, once);
		g_assert_true(mkey_db_read(again, file, once->str, "again",
					   NULL));
		mkey_db_write(again, file, twice);
		g_assert_cmpstr(once->str, ==, twice->str);
	} else {
		g_assert_true(g_str_has_prefix(error->message, "fuzz:"));
		g_assert_cmpuint(strlen(error->message), <, 80);
		g_assert_true(k->version == 0);
	}
	mkey_db_free(k);
	mkey_db_free(again);
	return 0;
}
