// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dumps into a scratch folder, reads one file and removes them all.
 */
#include "tests/lib/dumped.h"

#include "tests/lib/folder.h"

void
dumped_read(const struct snapshot *s, const struct lid_map *lids,
	    const struct lft *lft, const char *name, GString *out)
{
	AUTO_FOLDER(dir);
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autofree char *text = NULL;

	if (!dump_all(dir, s, lids, lft, NULL) ||
	    !g_file_get_contents(path, &text, NULL, NULL))
		g_error("no %s", path);
	g_string_assign(out, text);
}
