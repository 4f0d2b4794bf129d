/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Is the fabric up? Pure.
 */
#ifndef MINISM_SWEEP_HEALTH_H
#define MINISM_SWEEP_HEALTH_H

#include <glib.h>

#include "routing/select.h"
#include "sm/plan/plan.h"
#include "topology/expected.h"
#include "topology/snapshot.h"

struct health {
	bool up;		/* every reachable port Active and with its
				   address, every LID routed on every switch,
				   the plan carried out, no failure */
	GPtrArray *lines;	/* of char *: problems; first those of the
				   discovery and those that were given: the rest
				   may follow of them */
	GPtrArray *warnings;	/* of char *: no reason not to be UP */
};

/* s: after programming. choice: the present tables. problems: of char *, that were
 * met; NULL: none. untaken: by port, the fields that it has not taken; NULL: none.
 * expects: ports behind which no node answers, or a host takes no address, are a
 * matter of the expected fabric, which may be without them; else they are
 * problems. */
void health_judge(struct health *v, const struct snapshot *s,
		  const struct choice *choice, const GPtrArray *problems,
		  const uint32_t *untaken, bool expects);
void health_clear(struct health *v);

/* The verdict in a line: "SUBNET UP: 8 switches, 16 hosts, 32 links, all Active",
 * "SUBNET DEGRADED: 7 of 8 switches, ..; missing 1 switch: spine-3 (4 links)",
 * "SUBNET NOT UP: 2 problems; ..". e: the expected fabric, compared with s; NULL:
 * nothing is expected. contested: another master writes to this fabric. g_free. */
char *health_line(const struct health *v, const struct snapshot *s,
		  const struct expected *e, bool contested);

#endif
