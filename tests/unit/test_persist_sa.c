// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The archive of the SA: when it is written. What a restart keeps, and what
 * becomes of a damaged one: tests/scenarios/archive.scn.
 */
#include <glib/gstdio.h>

#include "sm/file_writer.h"
#include "sm/state.h"
#include "tests/lib/sa_stage.h"
#include "tests/lib/scripted.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)

/* A crash loses the last two seconds at the most, and the file says so meanwhile. */
TEST(test_archive_is_written_soon_and_not_often, sa_stage_set_up,
     sa_stage_tear_down)
{
	AUTO_FOLDER(dir);
	g_autofree char *path = g_build_filename(dir, "state", NULL);
	g_autofree char *old = NULL;
	AUTO(transport) *t = scripted_new();
	struct lab *l = *state;
	struct lid_memory lids = {
		.ranges = g_array_new(FALSE, FALSE, sizeof(struct lid_range)),
	};
	struct state *archive = state_open(&(struct state_params) {
		.owners = { { .part = &lid_part, .owner = &lids },
			    { .part = &sa_part, .owner = l->sa } }, .n = 2,
		.cache_dir = dir,
	}, t);
	unsigned changes = 0;
	GStatBuf buf;

	state_know_clients(archive);
	scripted_run(t, SECOND);
	for (unsigned i = 0; i < 102; i++) {
		g_autofree char *text = NULL;

		if (i == 100) {
			/* ten seconds */
			assert_in_range(changes, 4, 6);
			scripted_run(t, transport_now(t) + 5 * SECOND);
			g_free(g_steal_pointer(&old));
			old = folder_get(dir, "state");
			assert_has(old, "member");
			assert_has(old, STATE_CLIENTS);
			assert_int_equal(g_stat(path, &buf), 0);
			assert_int_equal(buf.st_mode & 0777, 0600);
			/* at rest nothing is written */
			assert_int_equal(g_remove(path), 0);
			scripted_run(t, transport_now(t) + 100 * SECOND);
			assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
		}
		assert_int_equal(sa_stage_ask(l, "Set MCMemberRecord Q_Key=1 "
			"P_Key=0xffff SL=0 TClass=0 FlowLabel=0 JoinState=1 "
			"by=H-%u MGID=ff12:a01c::%x", i % 12, i), 0);
		state_touch(archive, &sa_part, 0);
		state_save(archive, &lid_part);	/* a sweep, the same LIDs */
		scripted_run(t, transport_now(t) + SECOND / 10);
		text = folder_get(dir, "state");
		assert_null(strstr(text, STATE_CLIENTS));
		changes += g_strcmp0(text, old) != 0;
		g_free(g_steal_pointer(&old));
		old = g_steal_pointer(&text);
	}
	/* an end while a write is due */
	assert_int_equal(g_remove(path), 0);
	state_close(archive);
	assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
	assert_int_equal(folder_remove(dir), 1);	/* nothing else was left */
	g_array_unref(lids.ranges);
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
	AUTO(log) *log = log_open("/dev/null", LOG_ERROR, NULL);
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
}
