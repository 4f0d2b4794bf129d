/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of the subnet administration across restarts: groups, services
 * and subscriptions, as sa_save() writes them, in the file sa-state of the
 * cache folder.
 */
#ifndef MINISM_SM_PERSIST_SA_H
#define MINISM_SM_PERSIST_SA_H

#include "sm/io/transport.h"
#include "sm/log.h"
#include "sm/sa/sa.h"

struct persist_sa;

/* Loads the file into `sa`. One that is damaged is said, renamed to
 * sa-state.damaged, and counts as empty. cache_dir NULL: nothing is read or
 * written. Keeps `sa` and `t` (for its clock and timers); free it before
 * both. */
struct persist_sa *persist_sa_open(const char *cache_dir, struct sa *sa,
			     struct transport *t, struct log *log);
/* There was a file, and it was good. */
bool persist_sa_is_loaded(const struct persist_sa *a);
/* The state may have changed. It is written soon, if it has: not more often
 * than once in 2 s. */
void persist_sa_touch(struct persist_sa *a);
/* Writes it once more. */
void persist_sa_close(struct persist_sa *a);

#endif
