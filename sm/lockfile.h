/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file that one process holds as long as it lives, with its process number
 * in it: a pid file, and the lock of a cache folder.
 */
#ifndef MINISM_SM_LOCKFILE_H
#define MINISM_SM_LOCKFILE_H

#include <glib.h>
#include <stdbool.h>

struct lockfile;

/* NULL with a G_FILE_ERROR: AGAIN if another process holds it, with its number;
 * else the file cannot be made, or is none of this kind. */
struct lockfile *lockfile_take(const char *path, GError **error);

/* Writes the process number again, after a fork. NULL: nothing. */
bool lockfile_sign(struct lockfile *l, GError **error);

/* NULL: nothing. `away`: removes the file, too, if it is still the same one. */
void lockfile_free(struct lockfile *l, bool away);

#endif
