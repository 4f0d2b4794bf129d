/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The M_Keys that were given out, across restarts: the keyring, with its two
 * files in the cache folder. Secret: mode 0600, and nothing of it is logged.
 */
#ifndef MINISM_SM_PERSIST_KEYS_H
#define MINISM_SM_PERSIST_KEYS_H

#include "sm/log.h"
#include "sm/plan/mkey_db.h"

struct persist_keys;

/* cache_dir NULL: nothing is read or written. A damaged file is said, renamed
 * to NAME.damaged, and counts as empty. */
struct persist_keys *persist_keys_open(const char *cache_dir, uint64_t m_key,
			       enum mkey_db_mode mode, struct log *log);
void persist_keys_close(struct persist_keys *ks);

/* To look keys up in, and to change; the keystore's. */
struct mkey_db *persist_keys_ring(const struct persist_keys *ks);

/* Takes in what a snapshot tells; ks NULL: nothing. */
void persist_keys_learn(struct persist_keys *ks, const struct snapshot *s);
/* The ports with these PortGUIDs are somebody else's. True: that is news. */
bool persist_keys_lock(struct persist_keys *ks, const GArray *guids);

/* Writes the files if there is something new, atomically and to the disk.
 * False: it could not be done, and the log says why. ks NULL: nothing. */
bool persist_keys_save(struct persist_keys *ks);

#endif
