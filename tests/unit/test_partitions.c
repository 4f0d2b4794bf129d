// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of tests/scripts/partitions_file.scn: the partitions in force, a
 * file and changes on top of it.
 */
#include <glib/gstdio.h>
#include <sys/stat.h>

#include "sm/partitions.h"
#include "tests/lib/plan_lab.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[24];

#define FILE_NAME	"partitions.conf"
#define CHANGES		"partitions-runtime"

struct setup {
	char *folder;		/* in which the tests are */
	struct partitions *p;
	GPtrArray *warnings;
	struct partition_rules *before;	/* at the last load */
	char *kept;		/* changes */
	struct snapshot *s;
	unsigned n_used;	/* changes that came into force */
};

static void
setup_open(struct setup *t)
{
	t->folder = folder_enter();
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	t->p = partitions_new(t->folder);
	t->s = generate_fabric("single(4)", NULL, NULL);
}

static void
setup_close(struct setup *t)
{
	partitions_free(t->p);
	snapshot_unref(t->s);
	g_ptr_array_unref(t->warnings);
	g_free(t->kept);
	folder_leave(&t->folder);
}

FIXTURE(setup)

/* "H-1", or a number. */
static uint64_t
guid_of(const struct setup *t, const char *name)
{
	return *name == 'H' ? t->s->ports[fabric_port(t->s, name)].guid :
		word_number(name);
}

static int
membership_of(const char *name)
{
	for (int i = PARTITION_NONE; i <= PARTITION_BOTH; i++)
		if (strcmp(partition_membership_names[i], name) == 0)
			return i;
	assert_string_equal(name, "reset");
	return -1;
}

/* With escapes of C, and the GUID of a host for {H-1}. */
static void
put(const struct setup *t, const char *path, const char *text)
{
	g_autofree char *plain = g_strcompress(text);
	g_autoptr(GString) out = g_string_new(plain);

	for (unsigned i = 0; i < 4; i++) {
		g_autofree char *name = g_strdup_printf("{H-%u}", i);
		g_autofree char *guid = g_strdup_printf("0x%" G_GINT64_MODIFIER
			"x", t->s->ports[fabric_port(t->s, name + 1)].guid);

		g_string_replace(out, name, guid, 0);
	}
	assert_true(g_file_set_contents(path, out->str, -1, NULL));
}

WORDS("file changes", do_file, struct setup *t)
{
	put(t, *words[-1] == 'f' ? FILE_NAME : CHANGES, words[0]);
}

WORDS("no-changes", do_no_changes, struct setup *t)
{
	assert_int_equal(g_remove(CHANGES), 0);
}

/* folder-as-changes */
WORDS("folder-as-changes", do_folder, struct setup *t)
{
	assert_int_equal(g_mkdir(CHANGES, 0700), 0);
}

WORDS("open-without-cache", do_open_without_cache, struct setup *t)
{
	partitions_free(t->p);
	t->p = partitions_new(NULL);
}

static bool
load(struct setup *t, GError **error)
{
	g_autofree char *text = NULL;

	g_file_get_contents(FILE_NAME, &text, NULL, NULL);
	g_ptr_array_set_size(t->warnings, 0);
	return partitions_load(t->p, text, FILE_NAME, t->warnings, error);
}

/* [TEXT]: of the file from now on */
WORDS("load", do_load, struct setup *t)
{
	g_autoptr(GError) error = NULL;

	if (words[0])
		put(t, FILE_NAME, words[0]);
	if (!load(t, &error))
		fail_msg("%s", error->message);
	t->before = t->p->rules;
}

/* A new process: what is known is on the disk. */
WORDS("restart", do_restart, struct setup *t)
{
	partitions_free(t->p);
	t->p = partitions_new(t->folder);
	do_load(t, words, text);
}

static void
assert_domain(const GError *error, const char *domain)
{
	assert_string_equal(error->domain == G_FILE_ERROR ? "file" :
			    error->domain == TEXT_ERROR ? "text" :
			    g_quark_to_string(error->domain), domain);
}

/* file|text TEXT: the domain of the error, and in its message */
WORDS("refused", do_refused, struct setup *t)
{
	g_autoptr(GError) error = NULL;

	assert_false(load(t, &error));
	assert_domain(error, words[0]);
	assert_has(error->message, words[1]);
}

/* TEXT: in the one warning; warnings N */
WORDS("warning warnings", do_warning, struct setup *t)
{
	bool is_count = strcmp(words[-1], "warnings") == 0;

	assert_range(is_count ? words[0] : "1", t->warnings->len);
	if (!is_count)
		assert_has(t->warnings->pdata[0], words[0]);
}

static void
expect_member(const struct setup *t, const char *name, const char *pkey,
	      const char *membership)
{
	AUTO(memberships) *m = memberships_new(t->p->rules, t->s, NULL);

	assert_int_equal(memberships_of(m, snapshot_find_port(t->s,
				guid_of(t, name)), word_number(pkey)),
			 membership_of(membership));
}

/* HOST,P_KEY,MEMBERSHIP .. */
WORDS("are", do_are, struct setup *t)
{
	for (; *words; words++) {
		g_auto(GStrv) parts = g_strsplit(*words, ",", 3);

		expect_member(t, parts[0], parts[1], parts[2]);
	}
}

WORDS("no-changes-file", do_no_changes_file, struct setup *t)
{
	assert_false(g_file_test(CHANGES, G_FILE_TEST_EXISTS));
}

/* As they were loaded. */
WORDS("same-rules", do_same_rules, struct setup *t)
{
	assert_ptr_equal(t->p->rules, t->before);
}

static void
on_used(void *data)
{
	((struct setup *)data)->n_used++;
}

/* HOST P_KEY MEMBERSHIP */
WORDS("change", do_change, struct setup *t)
{
	g_autoptr(GError) error = NULL;
	const char *answer;
	uint64_t number = partitions_change(t->p, NULL, word_number(words[1]),
					    guid_of(t, words[0]),
					    membership_of(words[2]), NULL,
					    on_used, t, &error);

	if (!number || !partitions_changed(t->p, number, &answer, &error) ||
	    error)
		fail_msg("%s", error ? error->message : "not ended");
	assert_int_equal(t->n_used, 1);
	t->n_used = 0;
}

/* HOST|GUID P_KEY file|text: to be a full member; the domain of the error */
WORDS("change-fails", do_change_fails, struct setup *t)
{
	g_autoptr(GError) error = NULL;
	const char *answer;
	uint64_t number = partitions_change(t->p, NULL, word_number(words[1]),
					    guid_of(t, words[0]),
					    PARTITION_FULL, NULL, on_used, t,
					    &error);

	assert_int_equal(number != 0, *words[2] == 'f');
	if (number)
		assert_true(partitions_changed(t->p, number, &answer, &error));
	assert_domain(error, words[2]);
	assert_int_equal(t->n_used, 0);
}

WORDS("changes-mode", do_changes_mode, struct setup *t)
{
	struct stat st;

	assert_int_equal(stat(CHANGES, &st), 0);
	assert_int_equal(st.st_mode & 07777, word_number(words[0]));
}

/* keep-changes, changes-are-kept: they are the same again */
WORDS("keep-changes changes-are-kept", do_keep_changes, struct setup *t)
{
	g_autofree char *now = folder_get(t->folder, CHANGES);

	if (*words[-1] == 'c')
		assert_string_equal(now, t->kept);
	g_free(t->kept);
	t->kept = g_steal_pointer(&now);
}

/* TEXT */
WORDS("changes-lack", do_changes_lack, struct setup *t)
{
	g_autofree char *now = folder_get(t->folder, CHANGES);

	assert_null(strstr(now, words[0]));
}

/* The loop does not wait for a disk. Until a change has ended none is made of
 * what it replaces. */
SETUP_TEST(a_change_ends_later)
{
	struct beside *disk = beside_new(NULL, 0);
	g_autoptr(GError) busy = NULL, error = NULL;
	uint64_t number, guid = guid_of(t, "H-3");
	const char *answer;

	number = partitions_change(t->p, disk, PKEY_DEFAULT, guid,
				   PARTITION_LIMITED, "lowered", on_used, t,
				   NULL);
	assert_int_equal(number, 1);
	assert_false(partitions_changed(t->p, 1, &answer, NULL));
	expect_member(t, "H-3", "0x7fff", "full");
	assert_int_equal(partitions_change(t->p, disk, PKEY_DEFAULT, guid,
					   PARTITION_NONE, "busy", on_used, t,
					   &busy), 0);
	assert_true(g_error_matches(busy, G_FILE_ERROR, G_FILE_ERROR_AGAIN));
	assert_true(beside_free(disk, 60 * G_USEC_PER_SEC));
	assert_int_equal(t->n_used, 1);
	assert_true(partitions_changed(t->p, 1, &answer, &error));
	assert_null(error);
	assert_string_equal(answer, "lowered");
	expect_member(t, "H-3", "0x7fff", "limited");
	/* the ends of the last 16 are known, and of none that never began */
	for (unsigned i = 0; i < PARTITIONS_RESULTS; i++)
		assert_int_equal(partitions_change(t->p, NULL, PKEY_DEFAULT,
						   guid, PARTITION_FULL, NULL,
						   on_used, t, NULL), 2 + i);
	assert_true(partitions_changed(t->p, 2, &answer, &error));
	assert_null(error);
	assert_true(partitions_changed(t->p, 1, &answer, &error));
	assert_non_null(error);
	g_clear_error(&error);
	assert_true(partitions_changed(t->p, 18, &answer, &error));
	assert_non_null(error);
	/* one of a partition that the file has no longer when it ends is kept */
	assert_true(partitions_load(t->p, "A=5:;", "f", NULL, NULL));
	disk = beside_new(NULL, 0);
	partitions_change(t->p, disk, 5, guid, PARTITION_FULL, NULL, on_used, t,
			  NULL);
	assert_true(partitions_load(t->p, "", "f", NULL, NULL));
	assert_true(beside_free(disk, 60 * G_USEC_PER_SEC));
	partitions_change(t->p, NULL, PKEY_DEFAULT, guid, PARTITION_FULL, NULL,
			  on_used, t, NULL);
	assert_true(partitions_load(t->p, "A=5:;", "f", NULL, NULL));
	expect_member(t, "H-3", "5", "full");
}

SCRIPT(partitions_file, "partitions_file.scn", all_words, setup_new, setup_free)
