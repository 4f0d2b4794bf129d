/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the subnet administration answers from: the fabric at the end of a
 * sweep. Immutable and reference counted, so that an answer which is still
 * on its way goes on with the fabric that it began with.
 */
#ifndef MINISM_SA_SA_DB_H
#define MINISM_SA_SA_DB_H

#include "routing/mft.h"
#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/partition.h"
#include "topology/qos.h"
#include "topology/snapshot.h"

/* A switch port as a path meets it. */
struct sa_hop {
	uint32_t next;		/* port index at the other end; SNAPSHOT_NONE */
	uint32_t sw;		/* its switch, SNAPSHOT_NONE: an end node */
	uint8_t mtu, rate;	/* of this cable, codes of IBA; 0: down */
};

/* Where the paths of an end port begin. */
struct sa_start {
	uint32_t sw;		/* its switch, or itself; SNAPSHOT_NONE: none */
	uint8_t mtu;		/* 0: no path begins here */
	uint8_t rate;		/* of its cable; SA_RATE_ANY: a port 0 */
};

struct sa_db {
	gint ref;
	struct snapshot *subnet;		/* a reference each */
	struct lid_map *lids;
	struct lft *lft;
	struct mft *mft;		/* may be NULL: no group has a tree */
	struct partition_rules *rules;	/* a reference */
	struct memberships *memberships;	/* owned */
	bool qos;	/* on, unless the owner says otherwise; off: VLs are as
			   the devices have them, all partitions have SL 0 */
	struct qos_policy *policy;	/* a reference, or NULL: no rules */
	struct port_tables *held, *read;	/* see sa_db_tables.h */
	uint8_t *closed;
	uint64_t gid_prefix;
	uint32_t *first_hop;		/* by switch, n_switches + 1 */
	struct sa_hop *hops;		/* by switch and port number */
	struct sa_start *starts;	/* by port */
	uint32_t *by_guid;		/* end ports sorted by PortGUID */
	uint64_t *guids;		/* theirs, in the same order */
	uint32_t n_by_guid;
	uint32_t *by_system;		/* nodes by SystemImageGUID, index */
	bool verified;			/* see sa_db_verified() */
	bool uniform;			/* cables between switches: all are
					   Active, all carry the same: */
	uint8_t trunk_mtu, trunk_rate;
	uint8_t packet_life;		/* of a path, 4.096 us * 2^n */
	uint8_t subnet_timeout;
};

/* Takes references on subnet, lids, lft, mft, rules; takes memberships over. */
struct sa_db *sa_db_new(struct snapshot *s, struct lid_map *lids,
			    struct lft *lft, struct mft *mft,
			    struct partition_rules *rules,
			    struct memberships *memberships,
			    uint64_t gid_prefix, uint8_t packet_life,
			    uint8_t subnet_timeout);
/* Says that by these tables every end port reaches every other: then a uniform
 * fabric needs no walk to tell what a path is like. */
void sa_db_verified(struct sa_db *v);
/* SLs of paths go by this (a reference), NULL: by partitions only. */
void sa_db_set_policy(struct sa_db *v, struct qos_policy *policy);
struct sa_db *sa_db_ref(struct sa_db *v);
void sa_db_unref(struct sa_db *v);

/* End ports, or SNAPSHOT_NONE: who owns a LID; by PortGUID: binary search. */
uint32_t sa_db_lid(const struct sa_db *v, uint16_t lid);
uint32_t sa_db_guid(const struct sa_db *v, uint64_t port_guid);
/* By GID in network order: our prefix or fe80::/64 (IBA 4.1.1); and back. */
uint32_t sa_db_gid(const struct sa_db *v, const uint8_t gid[16]);
void sa_db_make_gid(const struct sa_db *v, uint32_t port, uint8_t gid[16]);
/* Nodes of one system, *n of them: by_system[the result] and what follows. */
uint32_t sa_db_system(const struct sa_db *v, uint64_t system_guid,
			uint32_t *n);

#define SA_GID_PREFIX_DEFAULT	UINT64_C(0xfe80000000000000)
#define SA_RATE_ANY	0xffu	/* no cable on the way: port 0 to itself */

/* What two end ports have between them. */
struct sa_way {
	uint8_t mtu, rate;	/* the least on the way */
	uint8_t n_hops;		/* switches whose tables were followed; 0: none,
				   and the way back is as this one */
};
/* Follows the tables to the LID. False if they do not lead there. */
bool sa_db_walk(const struct sa_db *v, uint32_t from, uint16_t dlid,
		  struct sa_way *way);
/* There (to the LID of `to`) and back (to that of `from`): 0: there is no way
 * there; 1: there is one, but none back; 2: both. */
unsigned sa_db_walk_both(const struct sa_db *v, uint32_t from,
			   uint16_t slid, uint32_t to, uint16_t dlid,
			   struct sa_way way[2]);

#endif
