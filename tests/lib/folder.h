/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef MINISM_TESTS_FOLDER_H
#define MINISM_TESTS_FOLDER_H

#include <glib.h>

/* Paths of its files of this suffix, sorted: g_ptr_array_unref(). */
GPtrArray *folder_list(const char *path, const char *suffix);

/* Removes a folder with all that is in it. How many files that were. */
unsigned folder_remove(const char *path);

#endif
