/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programming: carries a plan out. Decides nothing about what; only when.
 */
#ifndef MINISM_SWEEP_PROGRAM_H
#define MINISM_SWEEP_PROGRAM_H

#include "sm/plan/plan.h"
#include "sm/sweep/smp_batch.h"

struct program;

struct program_result {
	/* The snapshot with what the answers told: every Set's answer is its
	 * read-back. Owned by the receiver of the result. */
	struct snapshot *after;
	uint32_t done;		/* steps that were carried out */
	uint32_t failed;	/* refused, unanswered, or without effect */
	uint32_t held_back;	/* not tried, since what they need failed */
	uint32_t rushed;	/* see program_order_rushed() */
	GArray *changed;	/* of uint64_t: NodeGUIDs of those whose link
				   came or went meanwhile; owned */
	uint32_t *untaken;	/* by port index: fields that this port
				   acknowledged and did not take; owned */
	uint8_t *told;		/* by port index: its clients were asked to
				   register again; owned */
	GArray *locked;		/* of uint64_t: PortGUIDs of those that hide
				   their M_Key and obey none of ours; owned */
	GPtrArray *problems;	/* of char *, one line each; owned */
};

typedef void (*program_done_fn)(struct program_result *r, void *data);

/*
 * before, w, plan are borrowed until `done`; `seen` and `held` are updated with
 * every block that a device acknowledged; seen must have room for w->lft, held
 * may be NULL if the plan has no PLAN_TABLE, else it has no other reference.
 * `done` never comes from inside program_start().
 */
struct program *program_start(struct mad_client *x, const struct mkey_db *keys,
			      const struct snapshot *before,
			      const struct desired *w, const struct plan *plan,
			      struct lft_seen *seen, struct port_tables *held,
			      program_done_fn done, void *data);
void program_cancel(struct program *p);
void program_result_clear(struct program_result *r);

/* The Set that the step stands for; r is otherwise all zero. Pure. */
void program_step_request(const struct snapshot *s, const struct desired *w,
			  const struct plan_step *step, struct smp_request *r);

#endif
