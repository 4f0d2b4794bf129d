/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programming: sends a plan and checks its effect.
 */
#ifndef MINISM_SWEEP_PROGRAM_H
#define MINISM_SWEEP_PROGRAM_H

#include "sm/persist.h"
#include "sm/plan/plan.h"
#include "sm/sweep/smp_batch.h"

/*
 * A host that takes no address, no table, or no Set at all, costs nothing but itself,
 * as one that does not answer: `after` has its trouble, and what was to be done at
 * that link is no problem and not counted as failed or held back; nor is a table of a
 * switch's port 0. A host without its tables has a link that is not Active, if it was
 * not before.
 */
struct program_result {
	/* The snapshot with the values in all replies. Owned by the receiver
	 * of the result. */
	struct snapshot *after;
	uint32_t done;		/* steps that were carried out */
	uint32_t failed;	/* rejected, unanswered, or without effect */
	uint32_t held_back;	/* not sent, since a step before them failed */
	uint32_t excused;	/* either of these, of an end port in trouble */
	uint32_t lfts_left;	/* LFT blocks among those two */
	uint32_t rushed;	/* see program_order_new() */
	GArray *changed;	/* of uint64_t: NodeGUIDs of nodes with a
				   link that came or went in the meantime;
				   owned */
	uint32_t *untaken;	/* by port index: fields that the port
				   acknowledged but did not take; owned */
	uint8_t *told;		/* by port index: its clients were asked to
				   register again; owned */
	GArray *locked;		/* of uint64_t: PortGUIDs of ports that hide
				   their M_Key and accept none of ours; owned */
	GPtrArray *problems;	/* of char *, one line each; owned */
	GPtrArray *remarks;	/* likewise, of what is excused */
};

typedef void (*program_done_fn)(struct program_result *r, void *data);

/*
 * before, w and plan are borrowed until `done`; `seen` and `held` are updated
 * with every block that a device acknowledged; seen must have room for w->lft;
 * held may be NULL if the plan has no PLAN_TABLE, else it has no other
 * reference. `done` is never called from inside program_start().
 */
struct smp_batch *program_start(struct mad_client *x,
				const struct mkey_db *keys,
				const struct snapshot *before,
				const struct desired *w,
				const struct plan *plan, struct lft_seen *seen,
				struct port_tables *held,
				smp_late_fn late, program_done_fn done,
				void *data);
void program_result_clear(struct program_result *r);

/* saved false: the disk has not taken the keys, and none of them was sent. */
typedef void (*rekey_done_fn)(bool saved, void *data);

/*
 * Changes M_Keys of ports that have one. Comes before programming, since all
 * SMPs to a port need its present key. Saves every key that the plan gives to a
 * port, then changes those of ports with another key. NULL: nothing was to be
 * done. Else `done` is called, never from inside this function; a port whose key
 * could not be changed is in no worse state than before, and the plan tries again
 * and reports it. ks NULL: there are no keys.
 */
struct smp_batch *rekey_start(struct mad_client *x, struct persist_keys *ks,
			      const struct snapshot *s,
			      const struct desired *w, const struct plan *plan,
			      rekey_done_fn done, void *data);

/* The Set of a step; r is all zero otherwise. Pure. */
void program_step_request(const struct snapshot *s, const struct desired *w,
			  const struct plan_step *step, struct smp_request *r);

#endif
