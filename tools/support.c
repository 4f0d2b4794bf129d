// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keys. Only answers of the manager are packed, none of its files: the view has
 * no keys, and config has "(secret)" in their place. What the user adds is packed
 * as it is.
 */
#include "tools/support.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/utsname.h>

#include "config.h"
#include "tools/show.h"
#include "topology/state_file.h"

#define FOLDER	"minism-support"

static const struct {
	const char *file, *question;
} questions[] = {
	{ "config", "config\n" },
	{ "events", "events\n" },
	{ "subscriptions", "subscriptions\n" },
	{ "view", "view tables\n" },
	{ "view-status", "view status\n" },
};

static bool
save(const char *folder, const char *file, const GString *text, GError **error)
{
	g_autofree char *path = g_build_filename(folder, file, NULL);

	return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

static void
put_file(GString *out, const char *name, const char *path)
{
	g_autofree char *text = NULL;

	if (g_file_get_contents(path, &text, NULL, NULL))
		g_string_append_printf(out, "%s: %s\n", name, g_strstrip(text));
}

/* Also of the HCAs of this machine and their firmware. */
static bool
save_versions(const char *folder, GError **error)
{
	static const char *const facts[] = { "hca_type", "board_id", "fw_ver" };
	static const char devices[] = "/sys/class/infiniband";
	g_autoptr(GString) text = g_string_new("minismctl: " PACKAGE_STRING
					       "\n");
	g_autoptr(GDir) dir = g_dir_open(devices, 0, NULL);
	struct utsname u;
	const char *name;

	if (uname(&u) == 0)
		g_string_append_printf(text, "kernel: %s %s %s\n", u.sysname,
				       u.release, u.machine);
	put_file(text, "system", "/etc/os-release");
	while (dir && (name = g_dir_read_name(dir)))
		for (size_t i = 0; i < G_N_ELEMENTS(facts); i++) {
			g_autofree char *path = g_build_filename(devices, name,
				facts[i], NULL);
			g_autofree char *what = g_strconcat(name, " ",
				facts[i], NULL);

			put_file(text, what, path);
		}
	return save(folder, "versions", text, error);
}

static bool
gather(const struct client_place *place, const char *folder, GError **error)
{
	g_autoptr(GString) status = g_string_new(NULL);
	char *const words[] = { (char *)"status", NULL };
	g_autofree char *request = show_request(words);
	struct show q = { .words = words, .all = true, .out.out = status };

	for (size_t i = 0; i < G_N_ELEMENTS(questions); i++) {
		g_autoptr(GString) line = g_string_new(questions[i].question);
		g_autoptr(GString) body = g_string_new(NULL);

		if (client_ask(place, CLIENT_PATIENCE_US, line, body, NULL,
				  NULL, error) < 0 ||
		    !save(folder, questions[i].file, body, error))
			return false;
	}
	q.v = tool_view_get(place, NULL, request, error);
	if (!q.v)
		return false;
	show_run(&q, NULL);
	tool_view_free(q.v);
	return save(folder, "status", status, error) &&
		save_versions(folder, error);
}

/* The files in the archive would be one, or its reader would wait for a pipe. */
static bool
check_more(char *const *more, GError **error)
{
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash,
						g_str_equal, g_free, NULL);

	g_hash_table_add(names, g_strdup(FOLDER));
	for (; more && *more; more++) {
		const char *wrong = NULL;

		if (!g_file_test(*more, G_FILE_TEST_IS_REGULAR))
			wrong = "no regular file";
		if (!g_hash_table_add(names, g_path_get_basename(*more)))
			wrong = "another file has its name in the archive";
		if (wrong) {
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
				    "%s: %s", *more, wrong);
			return false;
		}
	}
	return true;
}

/* tar writes to its standard output: of a name it might read a host. */
static bool
run_tar(const char *above, int fd, char *const *more, GError **error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GSubprocessLauncher) launcher =
		g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_NONE);
	static const char *const first[] = { "tar", "-hczf", "-", "-C" };
	g_autoptr(GSubprocess) tar = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
		g_ptr_array_add(words, g_strdup(first[i]));
	g_ptr_array_add(words, g_strdup(above));
	g_ptr_array_add(words, g_strdup(FOLDER));
	for (; more && *more; more++) {
		g_autofree char *whole = g_canonicalize_filename(*more, NULL);
		g_autofree char *name = g_path_get_basename(whole);

		g_ptr_array_add(words, g_strdup("-C"));
		g_ptr_array_add(words, g_path_get_dirname(whole));
		g_ptr_array_add(words, g_build_filename(".", name, NULL));
	}
	g_ptr_array_add(words, NULL);
	g_subprocess_launcher_take_stdout_fd(launcher, fd);
	tar = g_subprocess_launcher_spawnv(launcher,
		(const char *const *)words->pdata, error);
	if (tar && g_subprocess_wait_check(tar, NULL, error))
		return true;
	g_prefix_error(error, "tar: ");
	return false;
}

/* What is at `path` stays until the archive is whole. */
static bool
pack(const char *above, const char *path, char *const *more, GError **error)
{
	g_autofree char *beside = g_strconcat(path, ".XXXXXX", NULL);
	int fd = g_mkstemp_full(beside, O_WRONLY | O_CLOEXEC,
				STATE_FILE_OWNER_ONLY);
	bool ok;

	if (fd < 0)
		return state_file_fail(path, errno, error);
	ok = run_tar(above, fd, more, error);
	if (ok && g_rename(beside, path) != 0)
		ok = state_file_fail(path, errno, error);
	if (!ok)
		g_unlink(beside);
	return ok;
}

bool
support_pack(const struct client_place *place, const char *path,
	     char *const *more, GError **error)
{
	g_autofree char *above = NULL, *folder = NULL;
	g_autoptr(GDir) dir = NULL;
	const char *name;
	bool ok;

	if (!state_file_is_ours(path, error) || !check_more(more, error))
		return false;
	above = g_dir_make_tmp("minismctl-XXXXXX", error);
	if (!above)
		return false;
	folder = g_build_filename(above, FOLDER, NULL);
	if (g_mkdir(folder, 0755) != 0) {
		g_set_error(error, G_FILE_ERROR,
			    (gint)g_file_error_from_errno(errno),
			    "cannot make %s: %s", folder, g_strerror(errno));
		ok = false;
	} else {
		ok = gather(place, folder, error) &&
			pack(above, path, more, error);
	}
	dir = g_dir_open(folder, 0, NULL);
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(folder, name, NULL);

		g_unlink(file);
	}
	g_rmdir(folder);
	g_rmdir(above);
	return ok;
}
