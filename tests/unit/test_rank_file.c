// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches as text: round trip, and nothing of a file that is
 * damaged.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "sm/config/guid_files.h"
#include "sm/persist.h"
#include "tests/lib/auto.h"
#include "tests/lib/folder.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

static const char good[] =
	"engine updn\n"
	"0x0002c90300000001 0\n"
	"0x0002c90300000002 4294967294\n";

TEST(test_engine_in_force_is_read)
{
	static const char text[] =
		"engine updn\nin-force minhop\n0x0002c90300000001 0\n";
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	AUTO(rank_list) *list = rank_file_parse(text, "ranks", &error);

	assert_null(error);
	assert_string_equal(list->engine, "updn");
	assert_string_equal(list->in_force, "minhop");
	rank_file_format(list, out);
	assert_string_equal(out->str, text);
}

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

TEST(test_what_is_written_is_read)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	AUTO(rank_list) *list = rank_file_parse(good, "ranks", &error);

	assert_null(error);
	assert_string_equal(list->engine, "updn");
	assert_int_equal(rank_list_find(list, 0x0002c90300000002)->rank,
			 4294967294u);
	assert_int_equal(rank_list_find(list, 0x0002c90300000001)->rank, 0);
	assert_null(rank_list_find(list, 0x0002c90300000003));
	rank_file_format(list, out);
	assert_string_equal(out->str, good);
}

TEST(test_damaged_list_is_refused_with_its_line)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{ "", 1 },
		{ "engine\n", 1 },
		{ "engine updn ftree\n", 1 },
		{ "0x1 2\n", 1 },
		{ "engine updn\n0x1\n", 2 },
		{ "engine updn\nin-force\n", 2 },
		{ "engine updn\n0x1 2\nin-force minhop\n", 3 },
		{ "engine updn\n0x1 2 3\n", 2 },
		{ "engine updn\n0x1 4294967295\n", 2 },
		{ "engine updn\n1 2\n", 2 },
		{ "engine updn\n0x2 2\n0x1 3\n", 3 },
		{ "engine updn\n0x2 2\n0x2 3\n", 3 },
		{ "engine updn\n0x2 2", 2 },
		{ "engine updn\n\n0x2 2\n", 2 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *text = g_strdup_printf("ranks:%u:1: damaged",
							bad[i].line);

		assert_null(rank_file_parse(bad[i].text, "ranks", &error));
		assert_string_equal(error->message, text);
	}
}
