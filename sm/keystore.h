/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The M_Keys that were given out, across restarts: the keyring, with its two
 * files in the cache folder. Secret: mode 0600, and nothing of it is logged.
 */
#ifndef MINISM_SM_KEYSTORE_H
#define MINISM_SM_KEYSTORE_H

#include "sm/log.h"
#include "sm/plan/keyring.h"

struct keystore;

/* cache_dir NULL: nothing is read or written. A damaged file is said, renamed
 * to NAME.damaged, and counts as empty. */
struct keystore *keystore_open(const char *cache_dir, uint64_t m_key,
			       enum keyring_mode mode, struct log *log);
void keystore_close(struct keystore *ks);

/* To look keys up in, and to change; the keystore's. */
struct keyring *keystore_ring(const struct keystore *ks);

/* Takes in what a snapshot tells; ks NULL: nothing. */
void keystore_learn(struct keystore *ks, const struct subnet *s);
/* The ports with these PortGUIDs are somebody else's. True: that is news. */
bool keystore_lock(struct keystore *ks, const GArray *guids);

/* Writes the files if there is something new, atomically and to the disk.
 * False: it could not be done, and the log says why. ks NULL: nothing. */
bool keystore_save(struct keystore *ks);

#endif
