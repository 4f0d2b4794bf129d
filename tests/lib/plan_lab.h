/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A generated fabric, what is wanted of it, and what its devices
 * hold: for the tests of the plan.
 */
#ifndef MINISM_TESTS_PLAN_LAB_H
#define MINISM_TESTS_PLAN_LAB_H

#include "sm/plan/isolation.h"
#include "sm/plan/plan.h"

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;	/* by min-hop */
	struct lft_seen *seen;
	struct port_tables *held;
	struct isolation_params params;	/* no rules: no tables wanted */
	struct isolation *isolation;
	struct policy policy;
	struct desired w;
	uint32_t host;		/* the SM's port */
	uint32_t gate;		/* the switch port it hangs on */
	uint32_t sw;		/* the node of that, */
	uint32_t port0;		/* its port 0 */
	uint32_t up;		/* and one of its ports to another switch */
};

struct fabric *fabric_new(const char *spec);
void fabric_free(struct fabric *f);

/* Room for P_Keys, of hosts, of ports 0, of what switches enforce, which they
 * can both ways; nothing is held. */
void fabric_set_caps(struct fabric *f, unsigned host, unsigned port0,
		     unsigned enforced);

/* Three hosts on one switch; all have P_Key tables, of two blocks, and are in
 * the default partition. */
struct fabric *fabric_single(void);

/* "H-1", "S-0", the first of the switches' ports 0; behind it ^ for the other
 * end of its cable. SNAPSHOT_NONE: it has no such name. */
uint32_t fabric_port(const struct snapshot *s, const char *name);

/* What the rules of partitions and the QoS in params want. */
void fabric_isolate(struct fabric *f);
/* A step of a plan for `before` is done by its device. */
void fabric_take(struct fabric *f, const struct snapshot *before,
		 const struct plan_step *step);
uint32_t plan_count(const struct plan *plan, enum plan_kind kind);

#endif
