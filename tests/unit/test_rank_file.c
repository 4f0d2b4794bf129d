// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches over a restart. What the file may be:
 * tests/golden/ranks.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "sm/config/guid_files.h"
#include "sm/persist.h"
#include "tests/lib/auto.h"
#include "tests/lib/folder.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

/* minhop has no ranks: the file keeps those of before, and names minhop. So it
 * does with those of a switch that is away. */
TEST(test_engine_without_ranks_is_in_force_after_restart)
{
	static const uint32_t ranks[] = { 1, 2, 3 };
	static const char *const in_force[] = { "updn", "minhop", "updn" };
	g_autofree char *folder = g_dir_make_tmp("minism-ranks.XXXXXX", NULL);
	g_autofree char *file = g_build_filename(folder, "ranks", NULL);
	g_autofree uint32_t *read = NULL;
	const struct generate_options options = { .seed = 1 };
	AUTO(snapshot) *s = generate_fabric("ring(3;1)", &options, NULL);
	g_autofree char *text = NULL;
	struct persist *m;
	const char *by;

	assert_true(g_file_set_contents(file, "engine updn\n0x0000000000000001 "
					"7\n", -1, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(in_force); i++) {
		m = persist_open(folder, NULL, NULL);
		persist_keep_ranks(m, in_force[i], s,
				   strcmp(in_force[i], "updn") ? NULL : ranks,
				   true);
		persist_free(m);
		m = persist_open(folder, NULL, NULL);
		assert_string_equal(persist_engine(m, s), in_force[i]);
		g_free(read);
		read = persist_ranks(m, s, &by);
		assert_string_equal(by, "updn");
		assert_memory_equal(read, ranks, sizeof(ranks));
		persist_free(m);
	}
	assert_true(g_file_get_contents(file, &text, NULL, NULL));
	assert_has(text, "\n0x0000000000000001 7\n");
	/* Another manager's tables may still be there. */
	m = persist_open(folder, NULL, NULL);
	persist_keep_ranks(m, "updn", s, ranks, false);
	persist_free(m);
	m = persist_open(folder, NULL, NULL);
	assert_null(persist_engine(m, s));
	persist_free(m);
	/* And if there were never any. */
	assert_int_equal(g_unlink(file), 0);
	m = persist_open(folder, NULL, NULL);
	persist_keep_ranks(m, "minhop", s, NULL, true);
	persist_free(m);
	m = persist_open(folder, NULL, NULL);
	assert_string_equal(persist_engine(m, s), "minhop");
	persist_free(m);
	folder_remove(folder);
}

TEST(test_rank_is_found_by_guid)
{
	AUTO(rank_list) *list = rank_file_parse("engine updn\n0x1 0\n0x2 7\n",
						"ranks", NULL);

	assert_int_equal(rank_list_find(list, 2)->rank, 7);
	assert_int_equal(rank_list_find(list, 1)->rank, 0);
	assert_null(rank_list_find(list, 3));
}
