/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of a plan's steps: what may go out now, what has to wait. No I/O:
 * who sends asks for the next action and tells how each one ended.
 */
#ifndef MINISM_SM_ORDER_H
#define MINISM_SM_ORDER_H

#include "sm/plan/plan.h"

/* A step of the plan, or a look at a port. */
enum order_act {
	ORDER_STEP,		/* what = step */
	ORDER_TELL,		/* what = step: the same without the state */
	ORDER_LOOK,		/* what = port: has it changed since? */
	ORDER_LOOK_STATE,	/* what = step: did the state change happen? */
	ORDER_LOOK_REFUSED,	/* the same, of a step that was refused */
};

struct order_action {
	uint32_t what;
	uint8_t act;
};

struct order;

/* Borrows all arguments. */
struct order *order_new(const struct subnet *s, const struct wanted *w,
			const struct plan *plan);
void order_free(struct order *o);

/* False: nothing can go out before something else is over. */
bool order_next(struct order *o, struct order_action *a);
bool order_is_empty(const struct order *o);

/* A step is over; well: what it held back may follow. */
void order_settle(struct order *o, uint32_t step, bool well);
/* This step first needs this, too. */
void order_add(struct order *o, enum order_act act, uint32_t step);
/* PortStateChange of this switch was cleared: a change between our first look
 * and the clearing would be lost for ever, so its ports are looked at, but for
 * those that are about to be activated and tell then. */
void order_look_again(struct order *o, uint32_t node);
/* When all the rest is over: looks at ports that were to be activated and were
 * not, since they have told nothing. Once; false: there are none. */
bool order_look_back(struct order *o);

#endif
