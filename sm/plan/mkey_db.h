/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The M_Key of each port (IBA 14.2.4). Pure.
 *
 * A key belongs to an end port: port 0 of a switch holds that of all its
 * ports. All GUIDs are PortGUIDs; 0 stands for a port that is not known yet.
 * A port whose key is 0 accepts every key.
 */
#ifndef MINISM_PLAN_MKEY_DB_H
#define MINISM_PLAN_MKEY_DB_H

#include "topology/snapshot.h"

#define MKEY_DB_TRIES	5u

enum mkey_db_mode {
	MKEY_DB_ONE,		/* m_key is the key of all ports */
	MKEY_DB_PER_PORT,	/* each its own, which m_key is the seed of */
};

struct mkey_db {
	uint64_t m_key;
	enum mkey_db_mode mode;
	GHashTable *locks;	/* PortGUID -> its possible keys */
	GHashTable *ends;	/* struct mkey_db_cable, by its first end */
	/* PortGUIDs (uint64_t *) of ports that accept none of the known keys:
	 * not tried again until the port shows its key, or the caller removes
	 * it from this set, as it has added it. */
	GHashTable *locked;
	uint64_t *by_lid;	/* PortGUID by LID; NULL: nothing learned */
	uint64_t version;	/* counts the changes of keys and cables */
};

/* m_key 0: ports shall have no keys. */
struct mkey_db *mkey_db_new(uint64_t m_key, enum mkey_db_mode mode);
void mkey_db_free(struct mkey_db *k);

/* The key that the port shall have. */
uint64_t mkey_db_wanted(const struct mkey_db *k, uint64_t port_guid);

/* The key that the port most likely has: the one it was last seen with or
 * given, else the one it shall have. k NULL: 0. */
uint64_t mkey_db_of(const struct mkey_db *k, uint64_t port_guid);

/* The same for a port of a snapshot. */
uint64_t mkey_db_at(const struct mkey_db *k, const struct snapshot *s,
		    uint32_t port);

/* The same for the port with this LID in the last snapshot that was learned;
 * false: there is none. */
bool mkey_db_of_lid(const struct mkey_db *k, uint16_t lid, uint64_t *key);

/* All keys that may open the port, none twice: `first`, unless it is 0, then the
 * likely one; returns how many, at least 1. */
unsigned mkey_db_tries(const struct mkey_db *k, uint64_t port_guid,
		       uint64_t first, uint64_t tries[MKEY_DB_TRIES]);

/* Is the key 0 in this PortInfo because it was read with another key
 * (protection level 1)? Then the port may also have none. */
bool mkey_db_is_hidden(const struct port_info *info);

/* The port that was last seen at the other end of the cable at this port; 0:
 * none. For a port of a switch, the switch's PortGUID and the number. */
uint64_t mkey_db_behind(const struct mkey_db *k, uint64_t port_guid,
			uint8_t num);

/* A Set with this key will be sent: from now on the port may have either. */
void mkey_db_intend(struct mkey_db *k, uint64_t port_guid, uint64_t key);
/* The port has this key and no other. */
void mkey_db_prove(struct mkey_db *k, uint64_t port_guid, uint64_t key);
/* Is it in `locked`? k NULL: no. */
bool mkey_db_is_locked(const struct mkey_db *k, uint64_t port_guid);
/* Takes keys that ports show, cables and LIDs from a snapshot. */
void mkey_db_learn(struct mkey_db *k, const struct snapshot *s);

struct mkey_db_cable {
	uint64_t guid[2];
	uint8_t num[2];
};
void mkey_db_add_cable(struct mkey_db *k, const struct mkey_db_cable *c);

/*
 * As text, in the formats of OpenSM's guid2mkey (lines "0xPORTGUID 0xMKEY") and
 * neighbors ("0xPORTGUID:PORT 0xPORTGUID:PORT", each end of a cable first
 * once), with a blank line after each. Several lines of one GUID: each may be
 * its key, the first is the most likely. The TEXT_ERROR of a line that is wrong
 * never repeats it: M_Keys are secrets, and errors go to logs.
 */
enum mkey_db_file { MKEY_DB_KEYS, MKEY_DB_CABLES };
void mkey_db_write(const struct mkey_db *k, enum mkey_db_file file,
		   GString *out);
bool mkey_db_take(struct mkey_db *k, enum mkey_db_file file, const char *line,
		  GError **error);

#endif
