/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of a plan's steps: what may go out now, what has to wait. No I/O:
 * who sends asks for the next action and tells how each one ended.
 */
#ifndef MINISM_SWEEP_PROGRAM_ORDER_H
#define MINISM_SWEEP_PROGRAM_ORDER_H

#include "sm/plan/plan.h"

/* A step of the plan, or a look at a port. */
enum program_order_act {
	PROGRAM_ORDER_STEP,	  /* what = step */
	PROGRAM_ORDER_TELL,	  /* what = step: the same without the state */
	PROGRAM_ORDER_LOOK,	  /* what = port: has it changed since? */
	PROGRAM_ORDER_LOOK_STATE, /* what = step: has the state changed? */
	PROGRAM_ORDER_LOOK_REFUSED, /* the same, of a step that was refused */
};

struct program_order_action {
	uint32_t what;
	const uint8_t *entries;	/* of a PLAN_LFT step: the 64 bytes to write,
				   good until the next action */
	uint8_t act;
};

struct program_order;

/* Borrows all arguments. seen: as it is at each moment: an acknowledged block
 * is in it before program_order_settle() is called. */
struct program_order *program_order_new(const struct snapshot *s,
					const struct desired *w,
					const struct plan *plan,
					const struct lft_seen *seen);
void program_order_free(struct program_order *o);

/* False: nothing can go out before something else is over. */
bool program_order_next(struct program_order *o,
			struct program_order_action *a);

/* A Set of a step is over; well: what it held back may follow. True: so is the
 * step; false: another Set of it follows. */
bool program_order_settle(struct program_order *o, uint32_t step, bool well);
/* This step first needs this, too. */
void program_order_add(struct program_order *o, enum program_order_act act,
		       uint32_t step);
/* PortStateChange of this switch was cleared: a change between our first look
 * and the clearing would be lost for ever, so its ports are looked at, but for
 * those that are about to be activated and tell then. */
void program_order_look_again(struct program_order *o, uint32_t node);
/* When nothing can go out and all answers are there. True: there is more to do
 * now. Blocks wait for each other, or for the second half of an update with a
 * bridge; ports that were to be activated and were not have told nothing, so
 * they are looked at, once. */
bool program_order_resume(struct program_order *o);
/* Entries whose path worked and that were changed before the new path did,
 * since nothing that is planned would have made it work. */
uint32_t program_order_rushed(const struct program_order *o);

#endif
