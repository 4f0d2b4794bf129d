// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A site's files together: what is read, all mistakes at once at the start, and
 * at a reload all or nothing.
 */
#include <sys/stat.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "sm/config/guid_files.h"
#include "sm/site_files.h"
#include "tests/lib/unit.h"

struct setup {
	char *folder;		/* in which the tests are */
	struct options *conf;
	struct site_files *site;
	GPtrArray *warnings, *errors;
};

static void
put(const char *name, const char *text)
{
	folder_put(".", name, text);
}

static void
setup_open(struct setup *t)
{
	t->folder = folder_enter();
	put("names", "0x33 \"Rack 3\"\n");
	put("partitions", "Storage=0x10 : 0x1=full ;\n");
	put("roots", "0x11\n");
	put("io", "0x22\n");
	t->conf = options_new();
	g_free(t->conf->partition_file);
	t->conf->partition_file = g_strdup("partitions");
	t->conf->root_guid_file = g_strdup("roots");
	t->conf->io_guid_file = g_strdup("io");
	t->conf->node_names_file = g_strdup("names");
	g_clear_pointer(&t->conf->cache_dir, g_free);
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	t->errors = g_ptr_array_new_with_free_func(g_free);
}

static void
setup_close(struct setup *t)
{
	site_files_free(t->site);
	options_free(t->conf);
	g_ptr_array_unref(t->warnings);
	g_ptr_array_unref(t->errors);
	folder_leave(&t->folder);
}

FIXTURE(setup)

static void
start(struct setup *t)
{
	t->site = site_files_read(t->conf, t->warnings, t->errors);
	if (!t->site)
		fail_msg("%s", (char *)t->errors->pdata[0]);
}

/* What is wrong is in t->errors. */
static bool
load(struct setup *t)
{
	g_ptr_array_set_size(t->errors, 0);
	return site_files_load(t->site, t->warnings, t->errors);
}

static bool
is_member(const struct setup *t, uint16_t pkey)
{
	return partition_rules_find(t->site->partitions->rules, pkey) != NULL;
}

static void
assert_error(const struct setup *t, guint i, const char *text)
{
	assert_true(i < t->errors->len);
	assert_has(t->errors->pdata[i], text);
}

/* NULL: it has none. */
static const char *
name_of(const struct setup *t, uint64_t guid)
{
	return g_hash_table_lookup(t->site->lists.names, &guid);
}

SETUP_TEST(test_sl_of_a_partition_needs_qos)
{
	put("partitions", "Storage=0x10, sl=2 : 0x1=full ;\n"
	    "Other=0x11 : 0x1=full ;\n");
	start(t);
	assert_int_equal(t->warnings->len, 1);
	assert_has(t->warnings->pdata[0], "Storage (0x0010): sl=2 is not used");
	t->conf->qos.enabled = true;
	g_ptr_array_set_size(t->warnings, 0);
	assert_true(load(t));
	assert_int_equal(t->warnings->len, 0);
}

SETUP_TEST(test_all_mistakes_are_told_at_the_start)
{
	static const char *const told[] = {
		"upnd", "roots:3:1: ", "io_guid_file: ", "names:2:6: ",
		"partitions:1:",
	};

	g_free(t->conf->engine);
	t->conf->engine = g_strdup("upnd");
	put("roots", "0x11\n\nnobody\n");
	put("partitions", "Storage=0x10 : 0x1=fill ;\n");
	g_unlink("io");
	put("names", "0x33 \"Rack 3\"\n0x33 \"Rack 4\n");
	t->site = site_files_read(t->conf, t->warnings, t->errors);
	assert_null(t->site);
	assert_int_equal(t->errors->len, 5);
	for (guint i = 0; i < 5; i++)
		assert_error(t, i, told[i]);
	assert_error(t, 0, ", auto");
}

SETUP_TEST(test_names_must_be_text_if_they_are_there)
{
	assert_true(g_file_set_contents("names", "0x1 a\n\0x2 b\n", 12, NULL));
	assert_null(site_files_read(t->conf, t->warnings, t->errors));
	assert_error(t, 0, "there is a NUL in it");
	g_unlink("names");
	start(t);
	assert_null(t->site->lists.names);
	assert_int_equal(t->warnings->len, 1);
	assert_true(g_str_has_prefix(t->warnings->pdata[0],
				     "node_name_map_name: "));
	site_files_free(t->site);
	g_clear_pointer(&t->conf->node_names_file, g_free);
	start(t);
	assert_null(t->site->lists.names);
}

/* What is said of an engine, or a list of them, and which are taken. */
GOLDEN("engines", taken_engines)
{
	const struct route_params *r;
	struct setup t = { NULL };

	setup_open(&t);
	g_free(t.conf->engine);
	t.conf->engine = g_strdup(text);
	t.site = site_files_read(t.conf, t.warnings, t.errors);
	r = t.site ? &t.site->route : NULL;
	g_string_append(out, !r ? "refused" : r->engine ? r->engine->name :
			r->order ? "list" : "auto");
	for (guint k = 0; r && r->order && r->order[k]; k++)
		g_string_append_printf(out, " %s", r->order[k]->name);
	EACH_PTR(const char, line, t.errors)
		g_string_append_printf(out, "; error: %s", line);
	EACH_PTR(const char, line, t.warnings)
		g_string_append_printf(out, "; warning: %s", line);
	setup_close(&t);
	g_string_append_c(out, '\n');
}

SETUP_TEST(test_absence_depends_on_the_caller)
{
	g_unlink("partitions");
	start(t);
	assert_int_equal(t->warnings->len, 1);
	g_clear_pointer(&t->site, site_files_free);

	t->conf->partition_file_asked = true;
	assert_null(site_files_read(t->conf, t->warnings, t->errors));
	assert_error(t, 0, "no such file");
}

static void
assert_as_before(const struct setup *t)
{
	assert_true(guid_list_has(t->site->route.roots, 0x11));
	assert_false(guid_list_has(t->site->route.roots, 0x12));
	assert_true(is_member(t, 0x10));
	assert_false(is_member(t, 0x20));
	assert_string_equal(name_of(t, 0x33), "Rack 3");
	assert_null(name_of(t, 0x34));
}

SETUP_TEST(test_reload_takes_all)
{
	const struct route_params *route;

	t->conf->routing_threads = 3;
	t->conf->require_deadlock_free = true;
	start(t);
	route = &t->site->route;
	assert_null(route->engine);
	assert_int_equal(route->threads, 3);
	assert_true(route->require_deadlock_free);
	assert_null(route->compute_nodes);
	assert_as_before(t);
	put("roots", "0x12\n");
	put("partitions", "Guest=0x20 : 0x1=full ;\n");
	put("names", "0x34 \"Rack 4\"\n");
	assert_true(load(t));
	assert_int_equal(t->errors->len, 0);
	assert_null(name_of(t, 0x33));
	assert_string_equal(name_of(t, 0x34), "Rack 4");
	assert_true(guid_list_has(t->site->route.roots, 0x12));
	assert_false(guid_list_has(t->site->route.roots, 0x11));
	assert_true(guid_list_has(t->site->route.io_nodes, 0x22));
	assert_true(is_member(t, 0x20));
	assert_false(is_member(t, 0x10));
}

SETUP_TEST(test_reload_with_one_bad_file_takes_nothing)
{
	static const struct {
		const char *name, *bad, *error, *good;
	} files[] = {
		{ "partitions", "Storage=0x10 : 0x1=fill ;\n", "partitions:1:",
		  "Guest=0x20 : 0x1=full ;\n" },
		{ "io", "nobody\n", "io:1:1: ", "0x22\n" },
		{ "names", "0x34 \"Rack 4\n", "names:1:6: ",
		  "0x34 \"Rack 4\"\n" },
	};

	start(t);
	put("roots", "0x12\n");
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		put(files[i].name, files[i].bad);
		assert_false(load(t));
		assert_int_equal(t->errors->len, 1);
		assert_error(t, 0, files[i].error);
		assert_as_before(t);
		put(files[i].name, files[i].good);
	}
	assert_true(load(t));
	assert_true(is_member(t, 0x20));
}

/* A file that is away or empty for a moment, or is no text or file: nothing of
 * what is in force ends by that. */
SETUP_TEST(test_reload_loses_no_file)
{
	const struct {
		const char *path, *text, *emptied;
	} files[] = {
		{ "roots", "0x11\n", "it was not before" },
		{ "io", "0x22\n", "it was not before" },
		{ "names", "0x33 \"Rack 3\"\n", "it was not before" },
		{ "partitions", "Storage=0x10 : 0x1=full ;\n",
		  "which would open everything; write \"Default=0x7fff : "
		  "ALL=full;\" to do that" },
	};
	static const char *const empty[] = {
		"", "\n \t\r\n", "# all\n", "\357\273\277# of it\n",
	};

	start(t);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		print_message("%s\n", files[i].path);
		g_ptr_array_set_size(t->errors, 0);
		g_unlink(files[i].path);
		assert_false(load(t));
		assert_error(t, 0, "no such file any more");
		for (size_t k = 0; k < G_N_ELEMENTS(empty); k++) {
			put(files[i].path, empty[k]);
			assert_false(load(t));
			assert_error(t, 0, files[i].emptied);
		}
		g_file_set_contents(files[i].path, "0x1\0", 4, NULL);
		assert_false(load(t));
		assert_error(t, 0, "NUL");
		assert_int_equal(t->errors->len, 1);
		assert_as_before(t);
		put(files[i].path, files[i].text);
		assert_true(load(t));
	}
	assert_int_equal(t->warnings->len, 0);
}

/* What was empty at the start may be empty, and what was not there be away. */
SETUP_TEST(test_what_said_nothing_may_say_nothing)
{
	put("partitions", "# Storage=0x10 : 0x1=full ;\n");
	put("roots", "");
	g_unlink("names");
	start(t);
	put("partitions", "");
	assert_true(load(t));
	put("partitions", "Guest=0x20 : 0x1=full ;\n");
	put("names", "0x33 \"Rack 3\"\n");
	assert_true(load(t));
	assert_true(is_member(t, 0x20));
	assert_string_equal(name_of(t, 0x33), "Rack 3");
}

/* The writer of a pipe has gone; a reload must not wait for the next one. */
SETUP_TEST(test_a_pipe_is_read_at_the_start_only)
{
	start(t);
	g_unlink("partitions");
	g_unlink("roots");
	assert_int_equal(mkfifo("partitions", 0600), 0);
	assert_int_equal(mkfifo("roots", 0600), 0);
	alarm(300);
	assert_true(load(t));
	alarm(0);
	assert_int_equal(t->warnings->len, 2);
	assert_has(t->warnings->pdata[0], "read at the start only");
	assert_as_before(t);
}
