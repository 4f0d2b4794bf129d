// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partitions in force: a file, changes on top of it that survive a restart,
 * and what happens when one of the two is bad or gone. Whoever is let in was
 * named by the last word about him.
 */
#include <string.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#include "sm/partitions.h"
#include "tests/lib/folder.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"
#include "topology/partition.h"

#define STORAGE		0x10
#define GUEST		0x20

struct setup {
	char *folder, *path, *changes;
	struct partitions *p;
	GPtrArray *warnings;
	struct snapshot *s;
};

static struct partitions *
open_as(struct setup *t, enum partitions_absence absence)
{
	return partitions_new(&(struct partitions_params){
		.path = t->path, .absence = absence, .cache_dir = t->folder,
	});
}

static int
setup_new(void **state)
{
	struct setup *t = g_new0(struct setup, 1);

	t->folder = g_dir_make_tmp("minism-partitions-XXXXXX", NULL);
	t->path = g_build_filename(t->folder, "partitions.conf", NULL);
	t->changes = g_build_filename(t->folder, "partitions-runtime", NULL);
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	t->p = open_as(t, PARTITIONS_WARN);
	t->s = generate_fabric("single(4)", NULL, NULL);
	*state = t;
	return 0;
}

static int
setup_free(void **state)
{
	struct setup *t = *state;

	partitions_free(t->p);
	snapshot_unref(t->s);
	g_ptr_array_unref(t->warnings);
	folder_remove(t->folder);
	g_free(t->path);
	g_free(t->changes);
	g_free(t->folder);
	g_free(t);
	return 0;
}

/* GUID of the nth host, from 0. */
static uint64_t
host(const struct setup *t, unsigned nth)
{
	for (uint32_t i = 0; i < t->s->n_nodes; i++)
		if (!snapshot_is_switch(&t->s->nodes[i]) && nth-- == 0)
			return t->s->ports[snapshot_port_of(t->s, i, 1)].guid;
	return 0;
}

/* What the nth host is in a partition. */
static unsigned
what(const struct setup *t, unsigned nth, uint16_t pkey)
{
	struct memberships *m = memberships_new(partitions_rules(t->p), t->s,
						NULL);
	unsigned is = memberships_of(m, snapshot_find_port(t->s, host(t, nth)),
				     pkey);

	memberships_unref(m);
	return is;
}

/* Default: host 0 alone, for what the parser adds by itself must not show;
 * Storage: host 0 full, host 1 limited; Guest: host 2. */
static void
put_file(struct setup *t)
{
	g_autofree char *text = g_strdup_printf(
		"Default=0x7fff : ALL=none ;\n"
		"Default=0x7fff : 0x%" G_GINT64_MODIFIER "x=full ;\n"
		"Storage=0x10 : 0x%" G_GINT64_MODIFIER "x=full ;\n"
		"Storage=0x10 : 0x%" G_GINT64_MODIFIER "x=limited ;\n"
		"Guest=0x20 : 0x%" G_GINT64_MODIFIER "x=full ;\n",
		host(t, 0), host(t, 0), host(t, 1), host(t, 2));

	assert_true(g_file_set_contents(t->path, text, -1, NULL));
}

static void
load(struct setup *t)
{
	g_autoptr(GError) error = NULL;

	g_ptr_array_set_size(t->warnings, 0);
	if (!partitions_load(t->p, t->warnings, &error))
		fail_msg("%s", error->message);
}

static void
refuses(struct setup *t, const char *says)
{
	g_autoptr(GError) error = NULL;

	assert_false(partitions_load(t->p, t->warnings, &error));
	assert_true(g_error_matches(error, PARTITIONS_ERROR,
				    PARTITIONS_ERROR_FILE));
	if (!strstr(error->message, says))
		fail_msg("no \"%s\" in: %s", says, error->message);
}

static void
change(struct setup *t, uint16_t pkey, unsigned nth, int membership)
{
	g_autoptr(GError) error = NULL;

	if (!partitions_change(t->p, pkey, host(t, nth), membership, &error))
		fail_msg("%s", error->message);
}

/* A new process: what is known is on the disk. */
static void
restart(struct setup *t)
{
	partitions_free(t->p);
	t->p = open_as(t, PARTITIONS_WARN);
	load(t);
}

#define SETUP_TEST(name) \
	TEST_WITH(name, struct setup *t, setup_new, setup_free)

/* --- the file --- */

SETUP_TEST(test_without_a_file_there_is_the_default)
{
	assert_int_equal(what(t, 3, PKEY_DEFAULT), PARTITION_FULL);
	load(t);
	assert_int_equal(t->warnings->len, 1);
	assert_has(t->warnings->pdata[0], t->path);
	assert_int_equal(what(t, 3, PKEY_DEFAULT), PARTITION_FULL);
	partitions_free(t->p);
	t->p = open_as(t, PARTITIONS_MAY_LACK);
	load(t);
	assert_int_equal(t->warnings->len, 0);
	partitions_free(t->p);
	t->p = open_as(t, PARTITIONS_MUST);
	refuses(t, "no such file");
}

SETUP_TEST(test_file_says_who_is_in)
{
	put_file(t);
	load(t);
	assert_int_equal(what(t, 0, STORAGE), PARTITION_FULL);
	assert_int_equal(what(t, 1, STORAGE), PARTITION_LIMITED);
	assert_int_equal(what(t, 2, STORAGE), 0);
	assert_int_equal(what(t, 2, GUEST), PARTITION_FULL);
	assert_int_equal(what(t, 3, PKEY_DEFAULT), 0);
	assert_string_equal(partitions_rules(t->p)->source, t->path);
	assert_false(g_file_test(t->changes, G_FILE_TEST_EXISTS));
}

SETUP_TEST(test_bad_file_leaves_the_last_good_one)
{
	struct partition_rules *before;

	put_file(t);
	load(t);
	before = partitions_rules(t->p);
	assert_true(g_file_set_contents(t->path, "Storage=0x10 : 0x1=full ;\n"
					"Guest=0x20 : 0x1=fill ;\n", -1, NULL));
	refuses(t, "partitions.conf:2");
	assert_ptr_equal(partitions_rules(t->p), before);
	assert_int_equal(what(t, 0, STORAGE), PARTITION_FULL);
	assert_true(g_file_set_contents(t->path, "Storage\0=0x10", 13, NULL));
	refuses(t, "NUL");
	/* one that is gone would let everybody in */
	g_unlink(t->path);
	refuses(t, "any more");
	assert_ptr_equal(partitions_rules(t->p), before);
	put_file(t);
	load(t);
}

/* A file that was cut short would open the fabric. */
SETUP_TEST(test_an_empty_file_after_a_policy_is_a_mistake)
{
	static const char *const nothing[] = {
		"", "\n \t\r\n", "# Storage=0x10 : ALL=full ;\n",
		"\xef\xbb\xbf", "\xef\xbb\xbf# all of it\n",
	};

	/* at the start it is as no file, as in OpenSM */
	g_file_set_contents(t->path, nothing[2], -1, NULL);
	load(t);
	assert_int_equal(what(t, 2, PKEY_DEFAULT), PARTITION_FULL);
	put_file(t);
	load(t);
	for (size_t i = 0; i < G_N_ELEMENTS(nothing); i++) {
		g_file_set_contents(t->path, nothing[i], -1, NULL);
		refuses(t, "empty, which would open everything; write "
			"\"Default=0x7fff : ALL=full;\" to do that");
		assert_int_equal(what(t, 2, PKEY_DEFAULT), PARTITION_NONE);
		assert_int_equal(what(t, 0, 0x10), PARTITION_FULL);
	}
	g_file_set_contents(t->path, "Default=0x7fff : ALL=full;", -1, NULL);
	load(t);
	assert_int_equal(what(t, 2, PKEY_DEFAULT), PARTITION_FULL);
}

SETUP_TEST(test_unreadable_file_is_no_missing_one)
{
	assert_int_equal(g_mkdir(t->path, 0700), 0);
	refuses(t, t->path);
	g_rmdir(t->path);
}

/* --- changes --- */

SETUP_TEST(test_changes_go_before_the_file_and_survive)
{
	put_file(t);
	load(t);
	change(t, STORAGE, 2, PARTITION_FULL);
	change(t, STORAGE, 3, PARTITION_LIMITED);
	change(t, STORAGE | PKEY_FULL, 3, PARTITION_BOTH);
	change(t, STORAGE, 0, PARTITION_NONE);
	change(t, PKEY_DEFAULT, 3, PARTITION_LIMITED);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(what(t, 0, STORAGE), 0);
		assert_int_equal(what(t, 1, STORAGE), PARTITION_LIMITED);
		assert_int_equal(what(t, 2, STORAGE), PARTITION_FULL);
		assert_int_equal(what(t, 3, STORAGE), PARTITION_BOTH);
		assert_int_equal(what(t, 2, GUEST), PARTITION_FULL);
		assert_int_equal(what(t, 3, PKEY_DEFAULT), PARTITION_LIMITED);
		assert_int_equal(what(t, 2, PKEY_DEFAULT), 0);
		if (i == 0)
			restart(t);
		else
			load(t);
		assert_int_equal(t->warnings->len, 0);
	}
}

SETUP_TEST(test_reset_gives_the_file_its_word_back)
{
	put_file(t);
	load(t);
	change(t, STORAGE, 0, PARTITION_NONE);
	change(t, STORAGE, 2, PARTITION_FULL);
	change(t, STORAGE, 0, -1);
	change(t, STORAGE, 3, -1);	/* of nothing: nothing */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(what(t, 0, STORAGE), PARTITION_FULL);
		assert_int_equal(what(t, 2, STORAGE), PARTITION_FULL);
		assert_int_equal(what(t, 3, STORAGE), 0);
		restart(t);
	}
}

SETUP_TEST(test_changes_are_for_the_owner_alone)
{
	struct stat st;

	put_file(t);
	load(t);
	change(t, STORAGE, 2, PARTITION_FULL);
	assert_int_equal(stat(t->changes, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* The same changes, whatever their order was, are the same file. */
SETUP_TEST(test_order_of_changes_does_not_show)
{
	g_autofree char *first = NULL, *second = NULL;

	put_file(t);
	load(t);
	change(t, STORAGE, 2, PARTITION_FULL);
	change(t, GUEST, 0, PARTITION_LIMITED);
	change(t, STORAGE, 1, PARTITION_NONE);
	assert_true(g_file_get_contents(t->changes, &first, NULL, NULL));
	g_unlink(t->changes);
	restart(t);
	change(t, STORAGE, 1, PARTITION_FULL);
	change(t, STORAGE, 1, PARTITION_NONE);
	change(t, STORAGE, 2, PARTITION_FULL);
	change(t, GUEST, 0, PARTITION_LIMITED);
	assert_true(g_file_get_contents(t->changes, &second, NULL, NULL));
	assert_string_equal(first, second);
}

SETUP_TEST(test_bad_changes_are_an_error_and_change_nothing)
{
	struct partition_rules *before;
	g_autoptr(GError) error = NULL;

	put_file(t);
	load(t);
	before = partitions_rules(t->p);
	assert_false(partitions_change(t->p, 0x30, host(t, 0), PARTITION_FULL,
				       &error));
	assert_true(g_error_matches(error, PARTITIONS_ERROR,
				    PARTITIONS_ERROR_CHANGE));
	g_clear_error(&error);
	assert_false(partitions_change(t->p, STORAGE, 0, PARTITION_FULL,
				       &error));
	g_clear_error(&error);
	/* what cannot be kept does not hold: a folder is in its place */
	assert_int_equal(g_mkdir(t->changes, 0700), 0);
	assert_false(partitions_change(t->p, STORAGE, host(t, 3),
				       PARTITION_FULL, &error));
	assert_true(g_error_matches(error, PARTITIONS_ERROR,
				    PARTITIONS_ERROR_CHANGE));
	assert_ptr_equal(partitions_rules(t->p), before);
	assert_int_equal(what(t, 3, STORAGE), 0);
	assert_int_equal(g_rmdir(t->changes), 0);
	restart(t);
	assert_int_equal(what(t, 3, STORAGE), 0);
}

SETUP_TEST(test_changes_of_a_lost_partition_are_passed_over)
{
	g_autofree char *text = NULL;

	put_file(t);
	load(t);
	change(t, STORAGE, 3, PARTITION_FULL);
	change(t, GUEST, 3, PARTITION_FULL);
	assert_true(g_file_get_contents(t->path, &text, NULL, NULL));
	*strstr(text, "Guest") = '\0';
	assert_true(g_file_set_contents(t->path, text, -1, NULL));
	load(t);
	assert_int_equal(t->warnings->len, 1);
	assert_has(t->warnings->pdata[0], "0x0020");
	assert_null(partition_rules_find(partitions_rules(t->p), GUEST));
	assert_int_equal(what(t, 3, STORAGE), PARTITION_FULL);
	/* a line that was taken out by mistake comes back with its changes */
	put_file(t);
	load(t);
	assert_int_equal(t->warnings->len, 0);
	assert_int_equal(what(t, 3, GUEST), PARTITION_FULL);
}

SETUP_TEST(test_damaged_changes_are_an_error)
{
	put_file(t);
	load(t);
	change(t, STORAGE, 3, PARTITION_FULL);
	assert_true(g_file_set_contents(t->changes,
					"Storage=0x10 : 0x1=fill ;\n", -1,
					NULL));
	refuses(t, "partitions-runtime:1");
	assert_int_equal(what(t, 3, STORAGE), PARTITION_FULL);
}

/* A person may edit the file of changes: only single ports count in it. */
SETUP_TEST(test_changes_name_ports_only)
{
	g_autofree char *text = g_strdup_printf(
		"Storage=0x10 : 0x%" G_GINT64_MODIFIER "x=full ;\n"
		"Storage=0x10 : 0x%" G_GINT64_MODIFIER "x=limited ;\n"
		"Storage=0x10 : ALL=full ;\n",
		host(t, 3), host(t, 3));

	put_file(t);
	assert_true(g_file_set_contents(t->changes, text, -1, NULL));
	load(t);
	assert_int_equal(what(t, 3, STORAGE), PARTITION_LIMITED);
	assert_int_equal(what(t, 2, STORAGE), 0);
	assert_int_equal(what(t, 3, PKEY_DEFAULT), 0);
	assert_int_equal(what(t, 2, PKEY_DEFAULT), 0);
	/* and none of the rest is written back */
	change(t, STORAGE, 1, PARTITION_FULL);
	g_free(text);
	assert_true(g_file_get_contents(t->changes, &text, NULL, NULL));
	assert_null(strstr(text, "0x0000000000000000"));
}

SETUP_TEST(test_without_a_cache_changes_hold_until_the_end)
{
	put_file(t);
	partitions_free(t->p);
	t->p = partitions_new(&(struct partitions_params){
		.path = t->path, .absence = PARTITIONS_MUST,
	});
	load(t);
	change(t, STORAGE, 3, PARTITION_FULL);
	assert_int_equal(what(t, 3, STORAGE), PARTITION_FULL);
	load(t);
	assert_int_equal(what(t, 3, STORAGE), PARTITION_FULL);
	assert_false(g_file_test(t->changes, G_FILE_TEST_EXISTS));
}
