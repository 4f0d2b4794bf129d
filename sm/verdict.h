/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Is the fabric up? Pure.
 */
#ifndef MINISM_SM_VERDICT_H
#define MINISM_SM_VERDICT_H

#include <glib.h>

#include "routing/choose.h"
#include "sm/plan/plan.h"
#include "topology/subnet.h"

struct verdict {
	bool up;		/* every reachable port Active and with its
				   address, every LID routed on every switch,
				   all tables read back, nothing failed */
	uint32_t n_links;	/* cables with both ends known */
	uint32_t n_active;	/* of these, Active at both ends */
	uint32_t n_hosts;	/* CA and router ports */
	GPtrArray *lines;	/* of char *: what is not as it should be */
	GPtrArray *warnings;	/* of char *: what does not end UP */
};

/* s: as it is after programming. choice: the tables in force. left: what
 * would still have to be programmed by what was read back; NULL: nothing. */
void verdict_judge(struct verdict *v, const struct subnet *s,
		   const struct choice *choice, const struct plan *left);
void verdict_clear(struct verdict *v);

#endif
