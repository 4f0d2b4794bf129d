/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plan: desired minus observed, as ordered steps. Pure. What the program
 * stage sends is exactly this, and the dry run prints it.
 *
 * Steps are sorted by (kind, node, port or block). The program stage decides
 * which step waits for which; it follows from the kinds.
 */
#ifndef MINISM_PLAN_PLAN_H
#define MINISM_PLAN_PLAN_H

#include <glib.h>

#include "sm/plan/desired.h"

enum plan_kind {
	PLAN_CHANGE_CLEAR,	/* SwitchInfo: clear PortStateChange */
	PLAN_TABLE,		/* one block of a table of a port */
	PLAN_PORT,		/* PortInfo, state untouched */
	PLAN_LFT,		/* one block of a switch */
	PLAN_SWITCH,		/* SwitchInfo: tops, life time */
	PLAN_ARM,		/* PortInfo with all that differs, to Armed */
	PLAN_ACTIVATE,		/* PortInfo to Active */
	PLAN_N_KINDS
};
const char *plan_kind_name(enum plan_kind kind);

struct plan_step {
	uint32_t node;
	uint32_t port;		/* port index: PLAN_TABLE, _PORT, _ARM,
				   _ACTIVATE */
	uint32_t fields;	/* port_fields or switch_fields that differ */
	uint16_t block;		/* PLAN_TABLE, _LFT */
	uint8_t kind;
	uint8_t table;		/* PLAN_TABLE: enum port_table */
};

struct plan {
	uint32_t n_steps;
	struct plan_step *steps;
	uint32_t first[PLAN_N_KINDS + 1];	/* steps of kind k are
						   first[k] .. first[k+1]-1 */
	uint8_t *differs;	/* by node: it has a step, or a forgotten field
				   differs from the desired one */
};

/*
 * seen: the tables that the switches hold; NULL: nothing is known, so every
 *	block is in the plan.
 * held: the tables of ports that the devices hold; NULL, or a block that is not
 *	known: it is in the plan.
 * forgotten: by port index, the port_fields that this port was seen to accept
 *	and forget: a difference in only these makes no step. May be NULL.
 * Ports that are not known, and switches of which SwitchInfo is not known, get
 * no step. ARM: a known port in Init on a link whose other end is known, too;
 * ACTIVATE: such a port below Active (a fresh link has both).
 */
struct plan *plan_diff(const struct snapshot *s, const struct desired *w,
		       const struct lft_seen *seen,
		       const struct port_tables *held,
		       const uint32_t *forgotten);
/* The result of plan_diff() without `forgotten` after `sent`, made from the same
 * snapshot, desired state and tables, has been sent: only the nodes of its steps
 * and their neighbours are compared. Caller frees. */
struct plan *plan_left(const struct plan *sent, const struct snapshot *after,
		       const struct desired *w, const struct lft_seen *seen,
		       const struct port_tables *held);
void plan_free(struct plan *plan);

/* As text a heading with counts, then a line a step (LFT blocks of one switch in
 * one line). As JSON one object:
 * {"steps":[{"kind":..,"guid":..,...}],"counts":{..}}. */
void plan_print(const struct plan *plan, const struct snapshot *s,
		const struct desired *w, const struct lft_seen *seen,
		const struct port_tables *held, bool as_json, GString *out);

#endif
