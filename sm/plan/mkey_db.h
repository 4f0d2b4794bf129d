/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys: which key opens which port (IBA 14.2.4). Pure.
 *
 * A key belongs to an end port: port 0 of a switch holds that of all its
 * ports. All GUIDs are PortGUIDs; 0 stands for a port that nobody knows yet.
 * A port whose key is 0 takes every key.
 */
#ifndef MINISM_PLAN_MKEY_DB_H
#define MINISM_PLAN_MKEY_DB_H

#include "topology/snapshot.h"

#define MKEY_DB_TRIES	4u

enum mkey_db_mode {
	MKEY_DB_ONE,		/* m_key is the key of all ports */
	MKEY_DB_PER_PORT,	/* each its own, which m_key is the seed of */
};

struct mkey_db;

/* m_key 0: no keys are wanted. */
struct mkey_db *mkey_db_new(uint64_t m_key, enum mkey_db_mode mode);
void mkey_db_free(struct mkey_db *k);

/* The key that the port is to have. */
uint64_t mkey_db_wanted(const struct mkey_db *k, uint64_t port_guid);

/* The key that opens the port, as far as we know: what it was last seen with
 * or given, else what it is to have. k NULL: 0 for everybody. */
uint64_t mkey_db_of(const struct mkey_db *k, uint64_t port_guid);

/* The same for a port of a snapshot: asks for who holds its key. */
uint64_t mkey_db_at(const struct mkey_db *k, const struct snapshot *s,
		    uint32_t port);

/* The same for who has this LID, by the last snapshot learned; false: nobody
 * has, as far as we know. */
bool mkey_db_of_lid(const struct mkey_db *k, uint16_t lid, uint64_t *key);

/* All keys that may open the port, the likely one first, none twice; returns
 * how many, at least 1. */
unsigned mkey_db_tries(const struct mkey_db *k, uint64_t port_guid,
		       uint64_t tries[MKEY_DB_TRIES]);

/* Of these, those that are remembered; may be none. */
unsigned mkey_db_known(const struct mkey_db *k, uint64_t port_guid,
		       uint64_t keys[MKEY_DB_TRIES]);

/* Whether a PortInfo hides the key from the one that was asked with
 * (protection level 1), or the port has none. */
bool mkey_db_is_hidden(const struct port_info *info);

/* Keys of ports that are remembered, and that `found` (a set of pointers to
 * GUIDs) does not hold: in the order of their GUIDs, none twice, `max` at the
 * most. A GArray of uint64_t; the caller's. */
GArray *mkey_db_strays(const struct mkey_db *k, GHashTable *found,
		       unsigned max);

/* Who was last seen at the other end of the cable at this port; 0: nobody.
 * For a port of a switch, the switch's PortGUID and the number. */
uint64_t mkey_db_behind(const struct mkey_db *k, uint64_t port_guid,
			uint8_t num);

/* The port is about to be given this key: from now on, either may be it. */
void mkey_db_intend(struct mkey_db *k, uint64_t port_guid, uint64_t key);
/* The port has this key and no other. */
void mkey_db_prove(struct mkey_db *k, uint64_t port_guid, uint64_t key);
/* A port that hides its key does not obey any of ours: it is somebody else's,
 * until it shows one, or all are to be tried again. */
void mkey_db_lock(struct mkey_db *k, uint64_t port_guid);
void mkey_db_unlock_all(struct mkey_db *k);
bool mkey_db_is_locked(const struct mkey_db *k, uint64_t port_guid);
/* What a snapshot tells: keys that ports show, cables, LIDs. */
void mkey_db_learn(struct mkey_db *k, const struct snapshot *s);

/* Files; see sm/plan/mkey_file.h. A cable has two ends; both are told. */
struct mkey_db_cable {
	uint64_t guid[2];
	uint8_t num[2];
};
void mkey_db_add_cable(struct mkey_db *k, const struct mkey_db_cable *c);
/* Sorted GArrays: of uint64_t GUIDs with a key; of struct mkey_db_cable, each
 * end first once. The caller's. */
GArray *mkey_db_guids(const struct mkey_db *k);
GArray *mkey_db_cables(const struct mkey_db *k);
/* Counts every change of what the files hold. */
uint64_t mkey_db_version(const struct mkey_db *k);

#endif
