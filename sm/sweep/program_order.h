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
	uint8_t act;
};

struct program_order;

/* Borrows all arguments. */
struct program_order *program_order_new(const struct snapshot *s,
					const struct desired *w,
					const struct plan *plan);
void program_order_free(struct program_order *o);

/* False: nothing can go out before something else is over. */
bool program_order_next(struct program_order *o,
			struct program_order_action *a);

/* A step is over; well: what it held back may follow. */
void program_order_settle(struct program_order *o, uint32_t step, bool well);
/* This step first needs this, too. */
void program_order_add(struct program_order *o, enum program_order_act act,
		       uint32_t step);
/* PortStateChange of this switch was cleared: a change between our first look
 * and the clearing would be lost for ever, so its ports are looked at, but for
 * those that are about to be activated and tell then. */
void program_order_look_again(struct program_order *o, uint32_t node);
/* When all the rest is over: looks at ports that were to be activated and were
 * not, since they have told nothing. Once; false: there are none. */
bool program_order_look_back(struct program_order *o);

#endif
