/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Is the fabric up? Pure.
 */
#ifndef MINISM_SWEEP_HEALTH_H
#define MINISM_SWEEP_HEALTH_H

#include <glib.h>

#include "routing/select.h"
#include "sm/plan/plan.h"
#include "topology/snapshot.h"

struct health {
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
void health_judge(struct health *v, const struct snapshot *s,
		   const struct choice *choice, const struct plan *left);
void health_clear(struct health *v);

#endif
