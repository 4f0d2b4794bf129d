/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Partitions: which ports may communicate (IBA 10.9).
 *
 * Rules are the configuration, by GUID and by kind of port, without a fabric.
 * Resolved against a snapshot they become memberships (below). A P_Key is 15
 * bits of partition and, in bit 15, full membership. Two ports may talk if they
 * share a partition and one of them at least is a full member of it (IBA
 * 10.9.3).
 */
#ifndef MINISM_TOPOLOGY_PARTITION_H
#define MINISM_TOPOLOGY_PARTITION_H

#include <glib.h>

#include "topology/snapshot.h"

#define PKEY_FULL	0x8000u
#define PKEY_BASE	0x7fffu
#define PKEY_DEFAULT	0x7fffu	/* the default partition (IBA 10.9.1.2) */
#define pkey_base(pkey)	((uint16_t)((pkey) & PKEY_BASE))

/* The ports that a rule names. */
enum partition_who {
	PARTITION_GUID,		/* the port with this PortGUID */
	PARTITION_ALL,		/* every end port */
	PARTITION_ALL_CAS,
	PARTITION_ALL_SWITCHES,	/* their ports 0 */
	PARTITION_ALL_ROUTERS,
	PARTITION_SELF,		/* the SM's own port */
};

enum partition_membership {
	PARTITION_NONE = 0,	/* revokes earlier rules */
	PARTITION_LIMITED = 1,
	PARTITION_FULL = 2,
	PARTITION_BOTH = 3,	/* both P_Keys are in the port's table */
};

/* "none", "limited", "full", "both". */
extern const char *const partition_membership_names[PARTITION_BOTH + 1];

struct partition_rule {
	enum partition_who who;
	enum partition_membership membership;
	uint64_t guid;		/* PARTITION_GUID */
	unsigned line;		/* of the file, for messages */
};

/* A multicast group of the configuration: it is not deleted when its last
 * member leaves. */
struct partition_group {
	uint8_t mgid[16];	/* network order, complete */
	uint32_t q_key;
	uint32_t flow_label;	/* 20 bits */
	uint8_t mtu, rate;	/* codes of IBA, exactly */
	uint8_t sl, tclass;
};

struct partition {
	char *name;
	uint16_t pkey;		/* 15 bits, 1 to 0x7fff */
	uint8_t sl;		/* of paths in it */
	bool index0;		/* its P_Key is the first of the tables */
	/* Of a member that is added at run time; NONE: limited. */
	enum partition_membership defmember;
	GArray *rules; /* struct partition_rule, in order of the file */
	GArray *groups;		/* struct partition_group */
};

/* No two partitions have the same P_Key. Sorted by P_Key. Reference counted;
 * immutable once it is shared. */
struct partition_rules {
	gint ref;
	char *source;		/* the file, for messages; NULL: built in */
	GPtrArray *partitions;	/* struct partition * */
};

struct partition_rules *partition_rules_new(void);
/* One without rules, to be put into `partitions`. */
struct partition *partition_new(uint16_t pkey);
void partition_free(struct partition *p);
struct partition_rules *partition_rules_ref(struct partition_rules *rules);
void partition_rules_unref(struct partition_rules *rules);
/* The rules without a file: partition "Default", 0x7fff, with IPoIB's broadcast
 * group, every end port a full member. */
struct partition_rules *partition_rules_default(void);
/* A private copy, which its owner may change until it is shared. */
struct partition_rules *partition_rules_copy(const struct partition_rules *r);
/* With a rule for this port made at run time, which has no line of a file, in
 * place of the one before; membership -1: without any. */
struct partition_rules *partition_rules_with(const struct partition_rules *before,
					     uint16_t pkey, uint64_t guid,
					     int membership);
/* Adds one, or returns the one that has this P_Key. */
struct partition *partition_rules_get(struct partition_rules *rules,
				      uint16_t pkey);
/* NULL if no partition has this P_Key. */
const struct partition *partition_rules_find(const struct partition_rules *r,
					     uint16_t pkey);

/* A partition by name or P_Key; a name goes before a number, as in the file. NULL
 * and *wrong: there is none. */
const struct partition *
partition_rules_search(const struct partition_rules *rules, const char *word,
		       char **wrong);

/* The broadcast group of IPoIB: MGID ff1S:401b:PKEY::ffff:ffff with the full
 * P_Key (RFC 4391), scope S; 10 Gb/s, 2,048 bytes, Q_Key 0x0b1b. */
void partition_ipoib_group(uint16_t pkey, unsigned scope,
			   struct partition_group *out);

/*
 * Memberships: the P_Keys that each end port of a snapshot has, by the rules of
 * the partitions (IBA 10.9).
 */

/* pkeys[first[port] .. first[port + 1] - 1] are the P_Keys of an end port,
 * ascending by partition, limited before full; other ports have none.
 * Immutable, reference counted. */
struct memberships {
	gint ref;
	uint32_t n_ports;
	uint32_t *first;	/* n_ports + 1 */
	uint16_t *pkeys;
};

/* A P_Key of an end port. */
struct partition_grant {
	uint32_t port;
	uint16_t pkey;
};
/* Of struct partition_grant; those of one port in the order of the P_Keys. */
struct memberships *memberships_deal(uint32_t n_ports, const GArray *grants);

/* strangers: if not NULL, a GArray of struct partition_rule: the rules that
 * name a port which is not there. */
struct memberships *memberships_new(const struct partition_rules *rules,
				    const struct snapshot *s,
				    GArray *strangers);
struct memberships *memberships_ref(struct memberships *m);
void memberships_unref(struct memberships *m);

/* The membership of a port in a partition: 0, or of enum
 * partition_membership. */
unsigned memberships_of(const struct memberships *m, uint32_t port,
			uint16_t pkey);

/* May a and b talk in the partition of `pkey`? (a may be b.) */
bool memberships_meet(const struct memberships *m, uint32_t a, uint32_t b,
		      uint16_t pkey);

/* The P_Key with which a talks to b: a's own, of the lowest partition in which
 * they may talk, the default partition first; 0 if there is none. */
uint16_t memberships_common(const struct memberships *m, uint32_t a,
			    uint32_t b);

#endif
