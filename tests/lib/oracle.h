/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A judge of tables that shares no code with routing/: it reads a snapshot,
 * LIDs, forwarding tables and masks, and follows packets.
 */
#ifndef MINISM_TESTS_ORACLE_H
#define MINISM_TESTS_ORACLE_H

#include "routing/multicast.h"
#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

struct oracle_case {
	const struct snapshot *s;
	const struct lid_map *lids;
	const struct lft *lft;		/* or NULL: multicast only */
	const struct lft *before;	/* or NULL: each entry may be this, */
	bool is_ordered;	/* but none is new while its next hop has an old
				   one that leads back */
	/* By LID: its port is away, and was a switch's, to which switches
	 * without CAs send no data. Or NULL: all were those of CAs. */
	const bool *was_switch;
	const struct mft *mft;		/* or NULL */
	const struct multicast_group *groups;
	uint32_t n_groups;
	const GArray *lost;	/* struct multicast_lost: of groups no part */
};

struct oracle_verdict {
	/* Pairs (switch, LID) by the end of a packet; of those without an entry,
	 * pairs that no cables join. */
	uint64_t arrived, unrouted, looping, astray, cut_off;
	/* Pairs that cables join, but no path: */
	uint64_t lost_hosts;	/* of CAs, ordered */
	uint64_t lost_mixed;	/* of a CA and a switch, both ways */
	uint32_t sw, lid;	/* the first of them; LID 0: there is none */
	uint32_t n_channels;	/* that data can use, */
	uint64_t n_turns;	/* and from one to the next */
	uint32_t n_looped;	/* channels that wait for themselves */
	uint32_t looped_all;	/* with the turns of multicast */
	uint64_t max;		/* all to all: the busiest channel */
	/* Multicast: copies too few; too many, or to switches that drop them;
	 * cables in a mask that no packet takes. */
	uint64_t missed, stray, unused;
	uint32_t max_trees;	/* groups on a channel */
	double mean_trees;	/* over the channels with any */
};

void oracle_judge(const struct oracle_case *c, struct oracle_verdict *v);

/* All to all: what the busiest channel must carry at least with any tables. */
uint64_t oracle_bound(const struct snapshot *s, const struct lid_map *lids);

bool is_lost(const GArray *lost, uint16_t mlid,
	     const struct multicast_member *m);

#endif
