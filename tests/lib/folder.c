// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Folders that a test leaves behind.
 */
#include "tests/lib/folder.h"

#include <glib.h>
#include <glib/gstdio.h>

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
