/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast forwarding tables: from the groups of the SA to the switches.
 *
 * Works independently of sweeps: a join must not wait for one, nor cause one.
 * Blocks of the switches are read where a group needs them, kept by NodeGUID,
 * and written where they differ.
 */
#ifndef MINISM_SM_MCAST_MANAGER_H
#define MINISM_SM_MCAST_MANAGER_H

#include "routing/select.h"
#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"

struct mcast_manager;

/* Borrows its arguments. blocked: called when members are not reached because
 * any tree would close a credit loop with the unicast tables: other unicast
 * routes might help. Never from inside a call of this module. */
struct mcast_manager *mcast_manager_new(struct mad_client *x,
					const struct mkey_db *keys,
					struct sa *sa, struct log *log,
					void (*blocked)(void *data),
					void *data);
void mcast_manager_free(struct mcast_manager *m);

/*
 * The fabric of the last sweep; takes references. choice: its unicast tables,
 * with which the trees must not have a credit loop; may be NULL. Switches that
 * were not in the fabric before, or are in `fresh` (by switch; they were reset,
 * or had another master; may be NULL), are read again. s NULL: we are not the
 * master, nothing is done.
 */
void mcast_manager_fabric(struct mcast_manager *m, struct snapshot *s,
			  struct lid_map *lids, const struct choice *choice,
			  const uint8_t *fresh);

/* Groups may have changed: trees are computed 5 ms later. */
void mcast_manager_touch(struct mcast_manager *m);

/* Writes that are under way are finished; then nothing is written until the
 * pause ends. */
void mcast_manager_set_paused(struct mcast_manager *m, bool paused);

/* The tables of the switches, as far as they are known; NULL: there was no
 * group yet. Borrowed. The SA gets them as well, whenever they have changed. */
struct mft *mcast_manager_tables(const struct mcast_manager *m);

/* Members that no tree reaches: a line (char *) each. Borrowed. */
const GPtrArray *mcast_manager_lost(const struct mcast_manager *m);

struct mcast_manager_stats {
	uint64_t computed;	/* times */
	uint64_t read, written, failed;		/* blocks */
};
const struct mcast_manager_stats *
mcast_manager_stats(const struct mcast_manager *m);

#endif
