/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef MINISM_TESTS_FOLDER_H
#define MINISM_TESTS_FOLDER_H

#include <glib.h>

/* A new one, that goes with its variable. */
#define AUTO_FOLDER(name) \
	__attribute__((cleanup(folder_clear))) char *name = folder_new()
char *folder_new(void);
void folder_clear(char **path);

/* The same, and the process is in it. */
#define AUTO_ENTER(name) \
	__attribute__((cleanup(folder_leave))) char *name = folder_enter()
char *folder_enter(void);
void folder_leave(char **path);

/* A file of this folder of the sources; name NULL: the folder. g_free. */
char *folder_source(const char *folder, const char *name);
void folder_put(const char *path, const char *name, const char *text);
/* The text of a file of it; NULL: there is none. */
char *folder_get(const char *path, const char *name);

/* Paths of its files of this suffix, sorted: g_ptr_array_unref(). */
GPtrArray *folder_list(const char *path, const char *suffix);

/* Removes a folder with all that is in it. How many files that were. */
unsigned folder_remove(const char *path);

#endif
