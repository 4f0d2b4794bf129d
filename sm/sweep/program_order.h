/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of a plan's steps: which may be sent now, and which must wait. No
 * I/O: the sender asks for the next action and reports how each one ended.
 */
#ifndef MINISM_SWEEP_PROGRAM_ORDER_H
#define MINISM_SWEEP_PROGRAM_ORDER_H

#include "sm/plan/plan.h"

/* A step of the plan, or a look: a Get, of PortInfo if nothing else is said. */
enum program_order_act {
	PROGRAM_ORDER_STEP,	  /* what = step */
	PROGRAM_ORDER_LOOK,	  /* what = port: has it changed? */
	PROGRAM_ORDER_LOOK_BEHIND, /* what = port: NodeInfo of the node behind
				      it, which may be another one */
	PROGRAM_ORDER_LOOK_STATE, /* what = step: has the state changed? */
};

struct program_order_action {
	uint32_t what;
	const uint8_t *entries;	/* of a PLAN_LFT step: the 64 bytes to write,
				   valid until the next call */
	uint16_t part;		/* of a PLAN_MFT step: the next block */
	uint8_t act;
};

struct program_order;

/* Borrows all arguments. seen must be current: an acknowledged block is in
 * it before program_order_settle() is called. *rushed counts the entries of
 * working paths that are changed before the new path works, since no step of
 * the plan would make it work. */
struct program_order *program_order_new(const struct snapshot *s,
					const struct desired *w,
					const struct plan *plan,
					const struct lft_seen *seen,
					uint32_t *rushed);
void program_order_free(struct program_order *o);

/* LFT blocks that are not as they should be at the end. */
uint32_t program_order_blocks_left(const struct program_order *o);

/* False: nothing can be sent before another action has ended. */
bool program_order_next(struct program_order *o,
			struct program_order_action *a);

/* A Set of a step has ended; well: with success, so that steps behind it may
 * follow. True: the step has ended; false: another Set of it follows. */
bool program_order_settle(struct program_order *o, uint32_t step, bool well);
/* The step also needs this action. */
void program_order_add(struct program_order *o, enum program_order_act act,
		       uint32_t step);
/* PortStateChange of this switch was cleared: a change between our reading
 * and the clearing would be lost, so its ports are read again; port 0 shows whether
 * the switch was reset. Of those that are about to be activated, the state tells
 * nothing, since the link of another cable is in Init as well: NodeInfo is sent
 * through them, and the links wait for the reply. */
void program_order_look_again(struct program_order *o, uint32_t node);
/* The node behind this port is the same. */
void program_order_same_behind(struct program_order *o, uint32_t port);
/* Called when nothing can be sent and all replies have come. True: there is
 * more to do now: blocks that wait for each other, the next stage of an
 * update, or reading, once, ports that should have been activated and were
 * not. */
bool program_order_resume(struct program_order *o);

#endif
