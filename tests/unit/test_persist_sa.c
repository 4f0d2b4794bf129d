// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The archive of the SA: when it is written. What a restart keeps, and what
 * becomes of a damaged one: tests/scenarios/archive.scn.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sm/file_writer.h"
#include "tests/lib/folder.h"
#include "tests/lib/sa_server_lab.h"
#include "tests/lib/unit.h"

/* A crash loses the last two seconds at the most. */
TEST(test_archive_is_written_soon_and_not_often)
{
	AUTO_FOLDER(dir);
	g_autofree char *path = g_build_filename(dir, "state", NULL);
	g_autofree char *old = NULL;
	unsigned changes = 0;
	struct stage st;
	GStatBuf buf;

	stage_open(&st, SEED, NULL, dir);
	stage_run(&st, SECOND);
	for (unsigned i = 0; i < 100; i++) {
		g_autofree char *text = NULL;

		client_join(&st.client[i % CLIENTS], i);
		stage_run(&st, SECOND / 10);
		text = folder_get(dir, "state");
		changes += g_strcmp0(text, old) != 0;
		g_free(g_steal_pointer(&old));
		old = g_steal_pointer(&text);
	}
	/* ten seconds */
	assert_in_range(changes, 4, 6);
	stage_run(&st, 3 * SECOND);
	g_free(g_steal_pointer(&old));
	old = folder_get(dir, "state");
	assert_has(old, "member");
	assert_int_equal(g_stat(path, &buf), 0);
	assert_int_equal(buf.st_mode & 0777, 0600);
	/* at rest nothing is written */
	assert_int_equal(g_remove(path), 0);
	stage_run(&st, 100 * SECOND);
	assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	/* an end while a write is due */
	for (unsigned i = 0; i < 2; i++) {
		client_join(&st.client[i], 200 + i);
		stage_run(&st, SECOND / 10);
	}
	assert_int_equal(g_remove(path), 0);
	stage_stop(&st);
	assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
	stage_start(&st, NULL, NULL);
	stage_run(&st, 3 * SECOND);
	stage_close(&st);
	assert_int_equal(folder_remove(dir), 1);	/* nothing else was left */
}

TEST(test_without_a_folder_nothing_is_kept, stage_set_up, stage_tear_down)
{
	struct stage *st = *state;

	client_subscribe(&st->client[0]);
	stage_run(st, 5 * SECOND);
	assert_int_equal(stage_subscriptions(st), 1);
	stage_stop(st);
	stage_start(st, NULL, NULL);
	assert_int_equal(stage_subscriptions(st), 0);
}

/* What a killed run has left beside it goes; nothing else. */
TEST(test_strays_of_a_killed_run_go)
{
	AUTO_FOLDER(dir);
	g_autofree char *path = g_build_filename(dir, "state", NULL);
	g_autofree char *stray = g_strconcat(path, ".6V88Y3", NULL);
	static const char *const kept[] = { ".backup", ".BACKUP", ".261124" };
	const struct file_writer_params params = {
		.path = path, .subsystem = "test", .mode = 0644,
	};
	struct log *log = log_open("/dev/null", LOG_ERROR, NULL);
	struct file_writer *w;

	assert_true(g_file_set_contents(stray, "", -1, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(kept); i++) {
		g_autofree char *other = g_strconcat(path, kept[i], NULL);

		assert_true(g_file_set_contents(other, "", -1, NULL));
	}
	w = file_writer_new(NULL, log, &params);
	/* a plan writes nothing, and removes nothing */
	assert_true(g_file_test(stray, G_FILE_TEST_EXISTS));
	file_writer_put(w, g_string_new("3"));
	file_writer_free(w);
	assert_false(g_file_test(stray, G_FILE_TEST_EXISTS));
	assert_file(dir, "state", "3");
	for (size_t i = 0; i < G_N_ELEMENTS(kept); i++) {
		g_autofree char *other = g_strconcat(path, kept[i], NULL);

		assert_true(g_file_test(other, G_FILE_TEST_EXISTS));
	}
	log_free(log);
}
