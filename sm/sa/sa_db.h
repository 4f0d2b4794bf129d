/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The data that the SA answers from: the fabric at the end of a sweep.
 * Immutable and reference counted, so that a table which is still being sent
 * keeps the fabric that it began with.
 */
#ifndef MINISM_SA_SA_DB_H
#define MINISM_SA_SA_DB_H

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/partition.h"
#include "topology/port_tables.h"
#include "topology/snapshot.h"

/*
 * A "way": MTU and rate of a cable or a path, as MTU code << 5 | rank of the
 * rate by speed. 0: no route.
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

/* A port with its cable: where paths begin and end, and what they go through. */
struct sa_end {
	uint64_t guid;
	uint32_t sw;		/* the switch at the other end; of port 0 its
				   own; SNAPSHOT_NONE: none */
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
	bool qos;	/* off: VLs are as the devices have them, all
			   partitions have SL 0 */
	struct port_tables *tables;	/* see "tables of ports"; a reference,
					   NULL: nothing is known */
	uint64_t gid_prefix;
	uint8_t *way_to;		/* by LID, from all switches; 0xff: not
					   known yet, or in */
	uint8_t **ways;			/* by block of LIDs, [switch][LID % 64];
					   NULL: none differ */
	struct sa_end *ends;		/* by port */
	uint32_t *by_guid, n_by_guid;	/* end ports sorted by PortGUID */
	uint32_t *guid_slots, n_guid_slots;	/* see guid_slot() */
	uint8_t packet_life;		/* of a path, 4.096 us * 2^n */
	uint8_t subnet_timeout;
};

/* Takes references on subnet, lids, lft, mft, rules; takes memberships over. The
 * caller may add qos, tables. */
struct sa_db *sa_db_new(struct snapshot *s, struct lid_map *lids,
			    struct lft *lft, struct mft *mft,
			    struct partition_rules *rules,
			    struct memberships *memberships,
			    uint64_t gid_prefix, uint8_t packet_life,
			    uint8_t subnet_timeout);
struct sa_db *sa_db_ref(struct sa_db *v);
void sa_db_unref(struct sa_db *v);

/* End ports, or SNAPSHOT_NONE: by PortGUID (by LID: lid_map_owner()). */
uint32_t sa_db_guid(const struct sa_db *v, uint64_t port_guid);
/* By GID in network order: our prefix or fe80::/64 (IBA 4.1.1); and back. */
uint32_t sa_db_gid(const struct sa_db *v, const uint8_t gid[16]);
void sa_db_make_gid(const struct sa_db *v, uint32_t port, uint8_t gid[16]);

#define SA_GID_PREFIX_DEFAULT	UINT64_C(0xfe80000000000000)

/* MTU and rate of the route between two end ports; `to` has the LID. 0: the
 * forwarding tables do not lead there. */
uint8_t sa_db_way(const struct sa_db *v, uint32_t from, uint32_t to,
		  uint16_t dlid);

/*
 * Tables of ports, as the sweep read or wrote them; and multicast tables, which
 * are written between sweeps. Nothing else in a view changes. They are replaced
 * as a whole, and a scan of records keeps those with which it began.
 */

/* The multicast tables that the switches of the view have now: a reference.
 * NULL: none. */
void sa_db_set_mft(struct sa_db *v, struct mft *mft);

/* NULL: not known, or there is no such block. */
const union port_block *sa_db_block(const struct sa_db *v,
				      enum port_table table, uint32_t port,
				      unsigned block);

/* The index of the P_Key in the table of the port; if it is not known, 0, where
 * every port has its default one (IBA 10.9.1.2). */
uint16_t sa_db_pkey_index(const struct sa_db *v, uint32_t port,
			    uint16_t pkey);

#endif
