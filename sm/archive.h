/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of the subnet administration across restarts: groups, services
 * and subscriptions, as sa_save() writes them, in the file sa-state of the
 * cache folder.
 */
#ifndef MINISM_SM_ARCHIVE_H
#define MINISM_SM_ARCHIVE_H

#include "sm/io/transport.h"
#include "sm/log.h"
#include "sm/sa/sa.h"

struct archive;

/* Loads the file into `sa`. One that is damaged is said, renamed to
 * sa-state.damaged, and counts as empty. cache_dir NULL: nothing is read or
 * written. Keeps `sa` and `t` (for its clock and timers); free it before
 * both. */
struct archive *archive_open(const char *cache_dir, struct sa *sa,
			     struct transport *t, struct log *log);
/* There was a file, and it was good. */
bool archive_is_loaded(const struct archive *a);
/* The state may have changed. It is written soon, if it has: not more often
 * than once in 2 s. */
void archive_touch(struct archive *a);
/* Writes it once more. */
void archive_close(struct archive *a);

#endif
