// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The map of names. A name that is taken can be printed, and a map that is
 * written of what was read must be read the same.
 */
#include "sm/config/guid_files.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

FUZZ_TARGET(nodenames)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GHashTable) names = node_name_map_parse(text, "fuzz", NULL,
							&error);
	g_autoptr(GHashTable) again = NULL;
	GHashTableIter iter;
	gpointer guid, name;

	if (!names) {
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		return 0;
	}
	g_hash_table_iter_init(&iter, names);
	while (g_hash_table_iter_next(&iter, &guid, &name))
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER
				       "x \"%s\"\n", *(uint64_t *)guid,
				       (char *)name);
	again = node_name_map_parse(out->str, "again", NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(g_hash_table_size(again), ==,
			 g_hash_table_size(names));
	g_hash_table_iter_init(&iter, names);
	while (g_hash_table_iter_next(&iter, &guid, &name))
		g_assert_cmpstr(g_hash_table_lookup(again, guid), ==, name);
	return 0;
}
