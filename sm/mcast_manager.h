/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast forwarding tables: from the groups of the SA to the switches.
 *
 * Works independently of sweeps: a join must not wait for one, nor cause one.
 * Blocks of the switches are read where a group needs them, kept over sweeps,
 * and written where they differ.
 */
#ifndef MINISM_SM_MCAST_MANAGER_H
#define MINISM_SM_MCAST_MANAGER_H

#include "routing/select.h"
#include "sm/io/beside.h"
#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"

enum mcast_phase {
	MCAST_READ,
	MCAST_CUT,
	MCAST_GROW,
	MCAST_REST,
};

struct mcast_manager_stats {
	uint64_t computed;	/* times */
	uint64_t read, written, failed;		/* blocks */
};

#define MCAST_MLIDS	(LID_PERMISSIVE - LID_MULTICAST_MIN)

/* Groups for which the engines left no room, with nothing kept or repaired. */
struct mcast_room {
	struct snapshot *s;	/* in this fabric; a reference */
	uint32_t *sizes;	/* by MLID from 0xc000: its members, or 0; NULL:
				   there are none */
};

struct ground;
struct mcast_block;
struct sweep;

struct mcast_manager {
	struct mad_client *x;
	const struct mkey_db *keys;
	struct sa *sa;
	struct log *log;
	struct mcast_block *held;	/* as `wanted` by switch, position and
					   block */
	uint8_t *stuck;		/* while trees grow: see find_stuck(); NULL: no
				   group is */
	struct snapshot *s;
	struct ground *ground;	/* in which trees are laid; NULL as `s` */
	struct beside *beside;	/* trees are computed there, */
	struct beside_job *job;	/* by this; NULL: none is; */
	unsigned dropped;	/* so many were, one after the other, as the
				   fabric changed meanwhile */
	GPtrArray *lost;	/* of char *: members that no tree reaches, a
				   line each */
	struct mcast_room room;
	struct mft *wanted;	/* by switch of `s`; NULL: there was no group
				   yet */
	struct mft *told;	/* as the switches hold it, of an unknown block
				   the most it may have; NULL: there was no
				   group yet. The SA gets it as well, whenever
				   it has changed. */
	unsigned timer;
	bool again;		/* touched while at work */
	bool bad;		/* some block could not be done */
	bool is_partial;	/* some request of these phases has no answer, or
				   was not sent */
	bool is_preparing;	/* an update of the sweep */
	bool waits;		/* for the end of an update that was prepared:
				   no tree is computed */
	bool is_inherited;	/* it is the first one after another manager
				   whose groups are not known */
	enum mcast_phase phase;
	uint32_t look;		/* at our own port; 0: none is under way */
	uint32_t at;		/* the next block */
	struct smp_batch *batch;	/* NULL: none is under way */
	struct mcast_manager_stats stats;
	struct sweep *sweep;
};

/* Borrows its arguments. The sweep is called from the main loop: to compute
 * other routes when members are not reached because any tree would close a
 * credit loop with these, when another manager is the master, and when an
 * update is prepared. */
struct mcast_manager *mcast_manager_new(struct sa *sa, struct sweep *sweep);
void mcast_manager_free(struct mcast_manager *m);

/* All blocks are unknown; to be called before mcast_manager_fabric(). */
void mcast_manager_read_again(struct mcast_manager *m);

/*
 * The fabric of the last sweep; takes references. choice: its unicast tables,
 * with which the trees must not have a credit loop; may be NULL. seen: those that
 * the switches hold, since an update may have failed in part. Switches that
 * were not in the fabric before, or are in `fresh` (by switch; they were reset,
 * or had another master; may be NULL), are read again. s NULL: we are not the
 * master, nothing is done.
 */
void mcast_manager_fabric(struct mcast_manager *m, struct snapshot *s,
			  struct lid_map *lids, const struct choice *choice,
			  struct lft *seen, const uint8_t *fresh);

/*
 * Before the unicast tables of this fabric change or cables in it carry data,
 * see choose_cut_trees(). sweep_cut_trees() takes over a copy of the tables that
 * the switches hold, and mcast_manager_cut() is to be called with it when ports
 * were taken out; sweep_prepared() follows when the switches have no others.
 * Trees do not grow again before the next mcast_manager_fabric(). A table that
 * cannot be read or cut delays the update, and does not prevent it. False: there
 * are no groups, no call follows.
 */
bool mcast_manager_prepare(struct mcast_manager *m, struct snapshot *s,
			   struct lid_map *lids, const uint8_t *fresh);
/* Takes the tables over. Nothing happens if the manager was stopped; never from
 * inside sweep_cut_trees(). */
void mcast_manager_cut(struct mcast_manager *m, struct mft *trees);

/* Would it be of no use to ask the engines for these groups (as in struct mcast_room)?
 * So it is as long as none has fewer members, and the fabric has no other link: else each
 * repair would be followed by a heavy sweep. */
bool mcast_room_is_out(const struct mcast_room *r, const struct snapshot *s,
		       const uint32_t *sizes);
/* Takes sizes over; NULL: there are none. */
void mcast_room_note(struct mcast_room *r, struct snapshot *s, uint32_t *sizes);

/* Groups may have changed; trees are computed 5 ms later, if the sweep is not
 * paused: with the fabric that is read when the pause ends. */
void mcast_manager_touch(struct mcast_manager *m);

#endif
