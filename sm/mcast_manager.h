/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast forwarding tables: from the groups of the SA to the switches.
 *
 * Works beside the sweeps: a join must not wait for one, nor cause one. What
 * the switches hold is remembered by NodeGUID and read only where a group needs
 * it; blocks that differ are written, no others.
 */
#ifndef MINISM_SM_MCAST_MANAGER_H
#define MINISM_SM_MCAST_MANAGER_H

#include "routing/select.h"
#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"

struct mcast_manager;

/* Borrows its arguments. */
struct mcast_manager *mcast_manager_new(struct mad_client *x,
					const struct mkey_db *keys,
					struct sa *sa, struct log *log);
void mcast_manager_free(struct mcast_manager *m);

/*
 * The fabric of the last sweep; takes references. choice: the tables that it
 * has, with which the trees must not have a loop; may be NULL. Switches that
 * were not in the fabric of before, or are in `fresh` (by switch; may be NULL:
 * they lost what they held), are read again. NULL: we are no master, nothing is
 * done.
 */
void mcast_manager_fabric(struct mcast_manager *m, struct snapshot *s,
			  struct lid_map *lids, const struct choice *choice,
			  const uint8_t *fresh);

/* Groups may have changed: looks, a few milliseconds later, and does what is
 * to be done. */
void mcast_manager_touch(struct mcast_manager *m);

/* What the switches of the fabric of now hold, as far as it is known; NULL: no
 * group yet. Borrowed. The SA is told, too, whenever it has changed. */
struct mft *mcast_manager_tables(const struct mcast_manager *m);

/* Members that no tree reaches: char *, a sentence each. Borrowed. */
const GPtrArray *mcast_manager_lost(const struct mcast_manager *m);

struct mcast_manager_stats {
	uint64_t computed;	/* times */
	uint64_t read, written, failed;		/* blocks */
};
const struct mcast_manager_stats *
mcast_manager_stats(const struct mcast_manager *m);

#endif
