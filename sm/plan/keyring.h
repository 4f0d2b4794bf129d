/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys: which key opens which port (IBA 14.2.4). Pure.
 *
 * A key belongs to an end port: port 0 of a switch holds that of all its
 * ports. All GUIDs are PortGUIDs; 0 stands for a port that nobody knows yet.
 * A port whose key is 0 takes every key.
 */
#ifndef MINISM_PLAN_KEYRING_H
#define MINISM_PLAN_KEYRING_H

#include "topology/subnet.h"

#define KEYRING_TRIES	4u

enum keyring_mode {
	KEYRING_ONE,		/* m_key is the key of all ports */
	KEYRING_PER_PORT,	/* each its own, which m_key is the seed of */
};

struct keyring;

/* m_key 0: no keys are wanted. */
struct keyring *keyring_new(uint64_t m_key, enum keyring_mode mode);
void keyring_free(struct keyring *k);

/* The key that the port is to have. */
uint64_t keyring_wanted(const struct keyring *k, uint64_t port_guid);

/* The key that opens the port, as far as we know: what it was last seen with
 * or given, else what it is to have. k NULL: 0 for everybody. */
uint64_t keyring_of(const struct keyring *k, uint64_t port_guid);

/* The same for a port of a snapshot: asks for who holds its key. */
uint64_t keyring_at(const struct keyring *k, const struct subnet *s,
		    uint32_t port);

/* The same for who has this LID, by the last snapshot learned; false: nobody
 * has, as far as we know. */
bool keyring_of_lid(const struct keyring *k, uint16_t lid, uint64_t *key);

/* All keys that may open the port, the likely one first, none twice; returns
 * how many, at least 1. */
unsigned keyring_tries(const struct keyring *k, uint64_t port_guid,
		       uint64_t tries[KEYRING_TRIES]);

/* Of these, those that are remembered; may be none. */
unsigned keyring_known(const struct keyring *k, uint64_t port_guid,
		       uint64_t keys[KEYRING_TRIES]);

/* Whether a PortInfo hides the key from the one that was asked with
 * (protection level 1), or the port has none. */
bool keyring_is_hidden(const struct port_info *info);

/* Keys of ports that are remembered, and that `found` (a set of pointers to
 * GUIDs) does not hold: in the order of their GUIDs, none twice, `max` at the
 * most. A GArray of uint64_t; the caller's. */
GArray *keyring_strays(const struct keyring *k, GHashTable *found,
		       unsigned max);

/* Who was last seen at the other end of the cable at this port; 0: nobody.
 * For a port of a switch, the switch's PortGUID and the number. */
uint64_t keyring_behind(const struct keyring *k, uint64_t port_guid,
			uint8_t num);

/* The port is about to be given this key: from now on, either may be it. */
void keyring_intend(struct keyring *k, uint64_t port_guid, uint64_t key);
/* The port has this key and no other. */
void keyring_prove(struct keyring *k, uint64_t port_guid, uint64_t key);
/* A port that hides its key does not obey any of ours: it is somebody else's,
 * until it shows one, or all are to be tried again. */
void keyring_lock(struct keyring *k, uint64_t port_guid);
void keyring_unlock_all(struct keyring *k);
bool keyring_is_locked(const struct keyring *k, uint64_t port_guid);
/* What a snapshot tells: keys that ports show, cables, LIDs. */
void keyring_learn(struct keyring *k, const struct subnet *s);

/* Files; see sm/plan/keyfile.h. A cable has two ends; both are told. */
struct keyring_cable {
	uint64_t guid[2];
	uint8_t num[2];
};
void keyring_add_cable(struct keyring *k, const struct keyring_cable *c);
/* Sorted GArrays: of uint64_t GUIDs with a key; of struct keyring_cable, each
 * end first once. The caller's. */
GArray *keyring_guids(const struct keyring *k);
GArray *keyring_cables(const struct keyring *k);
/* Counts every change of what the files hold. */
uint64_t keyring_version(const struct keyring *k);

#endif
