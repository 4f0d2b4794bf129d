// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Folders that a test leaves behind.
 */
#include "tests/lib/folder.h"

#include <glib/gstdio.h>

#include "topology/text.h"

char *
folder_new(void)
{
	char *path = g_dir_make_tmp("minism-unit-XXXXXX", NULL);

	g_assert_nonnull(path);
	return path;
}

void
folder_clear(char **path)
{
	folder_remove(*path);
	g_free(*path);
}

static char *before;	/* folder_enter() */

char *
folder_enter(void)
{
	char *path = folder_new();

	before = g_get_current_dir();
	g_assert_cmpint(g_chdir(path), ==, 0);
	return path;
}

void
folder_leave(char **path)
{
	g_assert_cmpint(g_chdir(before), ==, 0);
	g_clear_pointer(&before, g_free);
	folder_clear(path);
}

char *
folder_source(const char *folder, const char *name)
{
	return g_build_filename(g_getenv("MINISM_SRC") ?: ".", folder, name,
				NULL);
}

void
folder_put(const char *path, const char *name, const char *text)
{
	g_autofree char *file = g_build_filename(path, name, NULL);
	g_autoptr(GError) error = NULL;

	g_file_set_contents(file, text, -1, &error);
	g_assert_no_error(error);
}

char *
folder_get(const char *path, const char *name)
{
	g_autofree char *file = g_build_filename(path, name, NULL);
	char *text = NULL;

	g_file_get_contents(file, &text, NULL, NULL);
	return text;
}

GPtrArray *
folder_list(const char *path, const char *suffix)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_suffix(name, suffix))
			g_ptr_array_add(paths,
					g_build_filename(path, name, NULL));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(paths, text_compare);
	return paths;
}

unsigned
folder_remove(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;
	unsigned n = 0;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		if (g_file_test(child, G_FILE_TEST_IS_DIR) &&
		    !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
			n += folder_remove(child);
		else
			n += g_unlink(child) == 0;
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(path);
	return n;
}
