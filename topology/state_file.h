/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * State files: text that only the program reads and writes, replaced as a
 * whole.
 *
 * Only a regular file is read or replaced. A FIFO would block the program for
 * ever, a device file would be removed, and a symbolic link may lead anywhere,
 * or be meant to stay. What is there and cannot be read is not replaced either.
 *
 * What root makes in another user's folder is given to the owner of the folder:
 * a manager is run by hand as root, and then as a service that is not.
 */
#ifndef MINISM_TOPOLOGY_STATE_FILE_H
#define MINISM_TOPOLOGY_STATE_FILE_H

#include <glib.h>
#include <stdbool.h>

#include "topology/state_line.h"

/* The files of a cache folder. */
enum state_file {
	STATE_FILE_STATE,
	STATE_FILE_KEYS,
	STATE_FILE_CABLES,
	STATE_FILE_PARTITIONS,
	STATE_FILE_LOCK,
	STATE_FILES
};
char *state_file_path(const char *cache_dir, enum state_file which);

/* False: this process may write to the folder, but it cannot read one of these
 * files: it would go on without what it has to remember. */
bool state_file_check(const char *cache_dir, GError **error);

/* As text_read_file(). NULL with a G_FILE_ERROR; NOENT: there is none, INVAL:
 * it is no text. */
char *state_file_read(const char *path, GError **error);

/* Reads a text, which is overwritten; data is the caller's. */
typedef void (*state_read_fn)(void *data, char *text, size_t len,
			      struct state_told *told);
/* Reads a file whose mode is STATE_FILE_OWNER_ONLY, if it is there. Lines that are
 * bad are added to PATH.damaged, behind those of an incident before, unless it is
 * only to be read. said: gets what a person should know, char *. False: the file
 * has what was not read, nor set aside. */
bool state_file_load(const char *path, bool is_read_only, state_read_fn read,
		     void *data, struct state_told *told, GPtrArray *said);

/* A pipe or a device, which is written in place. */
bool state_file_is_stream(const char *path);

/* Whether it may be replaced: it is a regular file, or nothing. */
bool state_file_is_ours(const char *path, GError **error);

/* The mode of a file with keys. */
#define STATE_FILE_OWNER_ONLY 0600
/* errno `e` of the file, with what to type if it is another user's. False. */
bool state_file_fail(const char *path, int e, GError **error);

/* Of the file or folder that was made at `path`. */
void state_file_give(int fd, const char *path);

/* Makes a folder and those above it. */
bool state_file_make_folder(const char *dir, GError **error);

/* Replaces the file atomically. Makes the folder. */
bool state_file_write(const char *path, const GString *text,
		      GFileSetContentsFlags flags, int mode, GError **error);

#endif
