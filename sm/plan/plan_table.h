/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A step on a table of a port, in words. Private to the plan's printers.
 */
#ifndef MINISM_PLAN_PLAN_TABLE_H
#define MINISM_PLAN_PLAN_TABLE_H

#include "topology/json.h"
#include "sm/plan/plan.h"

/* "block 0: + 0x8001, - 0xffff", "from port 3: SL 0-15 to VL 0, 1, ..". */
void plan_table_text(const struct desired *w, const struct port_tables *held,
		     const struct plan_step *step, GString *out);

/* Members of the step's JSON object: table, block, known, and of P_Keys added
 * and removed, of other tables the values. */
void plan_table_json(const struct desired *w, const struct port_tables *held,
		     const struct plan_step *step, struct json *j);

#endif
