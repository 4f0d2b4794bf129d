// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * State files.
 *
 * A damaged file is never overwritten: it is renamed, so that it can be
 * examined.
 */
#include "topology/state_file.h"

#include <errno.h>
#include <glib/gstdio.h>

#include "topology/text.h"

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

char *
state_file_read(const char *path, GError **error)
{
	GStatBuf st;

	if (g_stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		state_file_refuse(error, path, st.st_mode);
		return NULL;
	}
	return text_read_file(path, error);
}

enum state_file_end
state_file_load(const char *path, state_file_parse_fn parse, void *data,
		char **told)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = state_file_read(path, &error);

	*told = NULL;
	if (text && parse(text, path, data, &error))
		return STATE_FILE_GOOD;
	if (text || g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_INVAL)) {
		g_autofree char *aside = g_strdup_printf("%s.damaged", path);

		if (g_rename(path, aside) == 0) {
			*told = g_strdup_printf("%s; the file is set aside as "
						"%s", error->message, aside);
			return STATE_FILE_ASIDE;
		}
		*told = g_strdup_printf("%s; it cannot be set aside (%s)",
					error->message, g_strerror(errno));
		return STATE_FILE_STUCK;
	}
	if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		*told = g_strdup(error->message);
	return STATE_FILE_NONE;
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

bool
state_file_write(const char *path, const GString *text,
		 GFileSetContentsFlags flags, int mode, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(path);

	if (g_mkdir_with_parents(dir, 0755) < 0) {
		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
			    "%s: %s", dir, g_strerror(errno));
		return false;
	}
	return state_file_is_ours(path, error) &&
		g_file_set_contents_full(path, text->str, (gssize)text->len,
					 flags, mode, error);
}
