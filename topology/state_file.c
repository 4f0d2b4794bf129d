// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * State files.
 *
 * What is damaged is never overwritten: it is set aside, so that it can be
 * examined.
 */
#include "topology/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "topology/text.h"

static const char *const names[STATE_FILES] = {
	[STATE_FILE_STATE] = "state",
	[STATE_FILE_KEYS] = "guid2mkey",
	[STATE_FILE_CABLES] = "neighbors",
	[STATE_FILE_PARTITIONS] = "partitions-runtime",
	[STATE_FILE_LOCK] = "lock",
};

char *
state_file_path(const char *cache_dir, enum state_file which)
{
	return g_build_filename(cache_dir, names[which], NULL);
}

bool
state_file_fail(const char *path, int e, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(path);
	GStatBuf st;
	g_autofree char *hint = e == EACCES && g_lstat(path, &st) == 0 ?
		g_strdup_printf("; the owner of the folder gets it by: chown "
				"--reference=%s %s", dir, path) : NULL;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(e), "%s: %s%s",
		    path, g_strerror(e), hint ?: "");
	return false;
}

bool
state_file_check(const char *cache_dir, GError **error)
{
	bool good = true;

	for (unsigned i = 0; good && i < STATE_FILES; i++) {
		g_autofree char *path = state_file_path(cache_dir, i);

		good = g_access(cache_dir, W_OK | X_OK) < 0 ||
			g_access(path, R_OK) == 0 || errno != EACCES ||
			state_file_fail(path, EACCES, error);
	}
	return good;
}

static bool
state_file_refuse(GError **error, const char *path, mode_t mode)
{
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
		    "%s is %s, no regular file: it is left as it is", path,
		    S_ISLNK(mode) ? "a symbolic link" :
		    S_ISFIFO(mode) ? "a FIFO" :
		    S_ISDIR(mode) ? "a folder" : "a device or socket");
	return false;
}

static bool
is_readable(const char *path, GError **error)
{
	GStatBuf st;

	return g_stat(path, &st) < 0 || S_ISREG(st.st_mode) ||
		state_file_refuse(error, path, st.st_mode);
}

char *
state_file_read(const char *path, GError **error)
{
	return is_readable(path, error) ? text_read_file(path, error) : NULL;
}

bool
state_file_is_stream(const char *path)
{
	GStatBuf st;

	return g_stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
		!S_ISDIR(st.st_mode);
}

bool
state_file_is_ours(const char *path, GError **error)
{
	GStatBuf st;

	if (g_lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return state_file_refuse(error, path, st.st_mode);
	return true;
}

/* Only what this process has made: it is at this place, and at no other one. */
void
state_file_give(int fd, const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);
	GStatBuf folder, here;
	struct stat st;

	if (geteuid() != 0 || fstat(fd, &st) < 0 || st.st_uid != 0 ||
	    (S_ISREG(st.st_mode) && st.st_nlink != 1) ||
	    g_lstat(path, &here) < 0 || here.st_dev != st.st_dev ||
	    here.st_ino != st.st_ino || g_stat(dir, &folder) < 0 ||
	    folder.st_uid == 0)
		return;
	/* a root without this right has done what it can */
	if (fchown(fd, folder.st_uid, folder.st_gid) < 0)
		return;
}

static void
give_at(const char *path)
{
	int fd = g_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			0);

	if (fd < 0)
		return;
	state_file_give(fd, path);
	close(fd);
}

bool
state_file_make_folder(const char *dir, GError **error)
{
	g_autofree char *above = g_path_get_dirname(dir);

	if (g_file_test(dir, G_FILE_TEST_IS_DIR))
		return true;
	if (!g_file_test(above, G_FILE_TEST_IS_DIR) &&
	    !state_file_make_folder(above, error))
		return false;
	if (g_mkdir(dir, 0755) < 0)	/* "a/" is there with "a" */
		return g_file_test(dir, G_FILE_TEST_IS_DIR) ||
			state_file_fail(dir, errno, error);
	give_at(dir);
	return true;
}

bool
state_file_write(const char *path, const GString *text,
		 GFileSetContentsFlags flags, int mode, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(path);

	if (!state_file_make_folder(dir, error) ||
	    !state_file_is_ours(path, error))
		return false;
	if (g_access(path, R_OK) < 0 && errno != ENOENT)
		return state_file_fail(path, errno, error);
	/* newer GLib gives the new file the mode of the old one */
	if (!(mode & 077) && g_chmod(path, mode) < 0 && errno != ENOENT)
		return state_file_fail(path, errno, error);
	if (!g_file_set_contents_full(path, text->str, (gssize)text->len,
				      flags, mode, error))
		return false;
	give_at(path);
	return true;
}

/* ------------------------------------------------- files of a line for a fact */

static char *
read_bytes(const char *path, gsize *len, GError **error)
{
	char *bytes;

	return is_readable(path, error) &&
		g_file_get_contents(path, &bytes, len, error) ? bytes : NULL;
}

/* Takes the rights of others away: another program may have written the file, and
 * the next write may be a long time away. */
static void
close_to_others(const char *path, GPtrArray *said)
{
	GStatBuf st;

	if (g_lstat(path, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & 077))
		return;
	text_add(said, "%s was open to others than its owner (mode %03o)%s",
		 path, st.st_mode & 0777u, g_chmod(path, STATE_FILE_OWNER_ONLY) ?
		 ", and that cannot be changed" : "; no longer");
}

/* Behind the lines of an incident before, unless they are these: a state that
 * cannot be written is read again with each start. */
static bool
append_to(const char *path, GString *lines, GError **error)
{
	g_autoptr(GError) why = NULL;
	gsize len = 0;
	g_autofree char *before = read_bytes(path, &len, &why);

	if (!before && !g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_propagate_error(error, g_steal_pointer(&why));
		return false;
	}
	if (len >= lines->len && !memcmp(before + len - lines->len, lines->str,
					 lines->len))
		return true;
	if (before)
		g_string_prepend_len(lines, before, (gssize)len);
	return state_file_write(path, lines, G_FILE_SET_CONTENTS_DURABLE,
				STATE_FILE_OWNER_ONLY, error);
}

bool
state_file_load(const char *path, bool is_read_only, state_read_fn read,
		void *data, struct state_told *told, GPtrArray *said)
{
	g_autofree char *aside = g_strconcat(path, ".damaged", NULL);
	g_autofree char *text = NULL, *what = NULL;
	g_autoptr(GError) error = NULL;
	gsize len = 0, bom;
	bool ok = true;

	if (!is_read_only)
		close_to_others(path, said);
	text = read_bytes(path, &len, &error);
	if (text) {
		bom = text_bom(text, len);
		read(data, text + bom, len - bom, told);
	} else if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_ptr_array_add(said, g_strdup(error->message));
		return false;
	}
	what = state_told_text(told, path);
	if (!what)
		return true;
	if (!is_read_only)
		ok = append_to(aside, told->bad, &error);
	g_ptr_array_add(said, g_strconcat(what, is_read_only ? "" : ok ?
		": they are set aside as " : "; they cannot be set aside: ",
		is_read_only ? "" : ok ? aside : error->message, NULL));
	return ok;
}
