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
#include "topology/port_tables.h"
#include "topology/qos.h"
#include "topology/snapshot.h"

/*
 * What a cable, or a path, carries: MTU code << 5 | place of the rate among all
 * rates by speed. 0: nothing, it leads nowhere.
 */
#define SA_RANK_ANY	31u	/* no cable on the way: port 0 to itself */
#define SA_WAY_ANY	(6u << 5 | SA_RANK_ANY)	/* limits nothing */
#define SA_MTU_MAX	5u	/* 4,096 bytes */

static inline uint8_t
sa_way(unsigned mtu, unsigned rank)
{
	return mtu ? (uint8_t)(MIN(mtu, SA_MTU_MAX) << 5 | rank) : 0;
}

/* Of two that follow each other. */
static inline uint8_t
sa_way_least(uint8_t a, uint8_t b)
{
	unsigned mtu = MIN(a >> 5, b >> 5);

	return mtu ? (uint8_t)(mtu << 5 | MIN(a & 31, b & 31)) : 0;
}

/* A switch port as a path meets it. */
struct sa_hop {
	uint32_t next;		/* port index at the other end; of a port 0:
				   itself; SNAPSHOT_NONE: no cable */
	uint32_t sw;		/* its switch, SNAPSHOT_NONE: an end node */
	uint8_t way;		/* of this cable */
};

/* A port where paths begin and end: all that a path needs to know of it. */
struct sa_end {
	uint64_t guid;
	uint32_t sw;		/* its switch, or itself; SNAPSHOT_NONE: none */
	uint16_t lid;		/* the first of 2^lmc; 0: none */
	uint8_t lmc;
	uint8_t way;		/* of its cable; 0: no path begins here */
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
	struct port_tables *held, *read;	/* see "tables of ports" */
	uint8_t *closed;
	uint64_t gid_prefix;
	uint32_t *first_hop;		/* by switch, n_switches + 1 */
	struct sa_hop *hops;		/* by switch and port number */
	uint8_t *way_to;		/* by LID, from all switches; 0xff: not
					   known yet, or in */
	uint8_t **ways;			/* by block of LIDs, [switch][LID % 64];
					   NULL: none differ */
	struct sa_end *ends;		/* by port */
	uint32_t *by_guid;		/* end ports sorted by PortGUID */
	uint64_t *guids;		/* theirs, in the same order */
	uint32_t n_by_guid;
	uint32_t *guid_slots, n_guid_slots;	/* see guid_slot() */
	uint32_t *by_system;		/* nodes by SystemImageGUID, index */
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
/* SLs of paths go by this (a reference), NULL: by partitions only. */
void sa_db_set_policy(struct sa_db *v, struct qos_policy *policy);
struct sa_db *sa_db_ref(struct sa_db *v);
void sa_db_unref(struct sa_db *v);

/* End ports, or SNAPSHOT_NONE: who owns a LID; by PortGUID. */
uint32_t sa_db_lid(const struct sa_db *v, uint16_t lid);
uint32_t sa_db_guid(const struct sa_db *v, uint64_t port_guid);
/* By GID in network order: our prefix or fe80::/64 (IBA 4.1.1); and back. */
uint32_t sa_db_gid(const struct sa_db *v, const uint8_t gid[16]);
void sa_db_make_gid(const struct sa_db *v, uint32_t port, uint8_t gid[16]);
/* Nodes of one system, *n of them: by_system[the result] and what follows. */
uint32_t sa_db_system(const struct sa_db *v, uint64_t system_guid,
			uint32_t *n);

#define SA_GID_PREFIX_DEFAULT	UINT64_C(0xfe80000000000000)

/* What the path of two end ports carries by the forwarding tables; `to` owns
 * the LID. 0: the tables do not lead there. */
uint8_t sa_db_way(const struct sa_db *v, uint32_t from, uint32_t to,
		  uint16_t dlid);

/*
 * Tables of ports: what the sweep read of them, and what was read since because
 * a client asked; and tables of groups, for which there is no sweep. Nothing
 * else in a view changes. What was read only grows; tables of groups are
 * replaced as a whole, and a scan of records keeps those with which it began.
 * So an answer that is on its way is not disturbed.
 */

/* As the devices hold them, by what the sweep read: a reference. NULL: nothing
 * is known. */
void sa_db_set_tables(struct sa_db *v, struct port_tables *held);

/* Multicast tables as the switches hold them now: a reference, by the switches
 * of the view. NULL: none. Who draws records goes on with those of before. */
void sa_db_set_mft(struct sa_db *v, struct mft *mft);

/* NULL: not known, or there is no such block. */
const union port_block *sa_db_block(const struct sa_db *v,
				      enum port_table table, uint32_t port,
				      unsigned block);
/* Is all known that can be? */
bool sa_db_table_is_read(const struct sa_db *v, enum port_table table,
			   uint32_t port);

/* Where the P_Key stands in the table of the port; 0, where every port has its
 * default one, if that is not known (IBA 10.9.1.2). */
uint16_t sa_db_pkey_index(const struct sa_db *v, uint32_t port,
			    uint16_t pkey);

/* A block that was read; the port refuses, or has no more than what was. */
void sa_db_add_block(struct sa_db *v, enum port_table table,
		       uint32_t port, unsigned block,
		       const union port_block *data);
void sa_db_close_table(struct sa_db *v, enum port_table table,
			 uint32_t port);

#endif
