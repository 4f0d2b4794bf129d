/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sweep: the life of a subnet manager as a state machine.
 */
#ifndef MINISM_SWEEP_SWEEP_H
#define MINISM_SWEEP_SWEEP_H

#include "sm/sweep/reregister.h"
#include "sm/sweep/election.h"
#include "sm/io/mad_client.h"
#include "sm/persist_keys.h"
#include "sm/log.h"
#include "sm/persist.h"
#include "sm/plan/isolation.h"
#include "sm/plan/plan.h"
#include "sm/sweep/route.h"
#include "sm/sweep/sweep_report.h"
#include "sm/sweep/health.h"

enum sweep_state {
	SWEEP_IDLE,		/* nothing to do */
	SWEEP_WAITING,		/* a change was told: wait for more of it */
	SWEEP_LIGHT,		/* looking for changes */
	SWEEP_DISCOVERING,
	SWEEP_ELECTING,		/* asking the other SMs */
	SWEEP_READING,		/* the tables that switches hold */
	SWEEP_PROGRAMMING,
	SWEEP_POLLING,		/* standby: is the master alive? */
	SWEEP_SUSPENDED,	/* there is no way to the fabric */
};
const char *sweep_state_name(enum sweep_state state);

/* What may cause a heavy sweep. */
enum sweep_cause {
	SWEEP_CAUSE_START,
	SWEEP_CAUSE_SIGNAL,	/* a person: trust nothing, read everything */
	SWEEP_CAUSE_TRAP,
	SWEEP_CAUSE_LIGHT,	/* the light sweep found a change */
	SWEEP_CAUSE_MEANWHILE,	/* it changed while we were at it */
	SWEEP_CAUSE_RETRY,	/* the fabric is not up: try again */
	SWEEP_CAUSE_UNTAKEN,	/* so is an address: with back-off */
	SWEEP_CAUSE_ELECTION,
	SWEEP_CAUSE_PARTITIONS,	/* other rules: the fabric is as it was */
	SWEEP_CAUSE_TIME,	/* for each sweep is to be a heavy one */
};
const char *sweep_cause_name(enum sweep_cause cause);

enum sweep_goal {
	SWEEP_GOAL_FABRIC,	/* bring it up, and keep it so */
	SWEEP_GOAL_ONCE,	/* one sweep, then do nothing any more */
	SWEEP_GOAL_PLAN,	/* likewise, but only make the plan: send no
				   Set, be no SM */
};

struct sweep_params {
	struct persist_keys *keystore;	/* NULL: no M_Keys */
	uint64_t sm_key, port_guid;
	unsigned priority, lmc;
	unsigned sweep_s;		/* 0: no light sweeps */
	bool force_heavy;		/* heavy ones instead of them */
	GHashTable *names;		/* what the site calls nodes, see
					   builder_set_names(); or NULL */
	/* A standby: how often it asks the master, and how many times in vain
	 * until it acts; 0: once a second, 2. */
	unsigned poll_ms, polls_lost;
	enum sweep_goal goal;
	struct route_params route;
	const struct policy *policy;
	/* rules NULL: those that are built in. The rules are not consumed. */
	struct isolation_params isolation;
	enum reregister_start clients;	/* of the SA */
};

typedef void (*sweep_end_fn)(const struct sweep_report *r, void *data);

struct sweep;

/* Borrows all its arguments. Nothing happens before the first request. */
struct sweep *sweep_new(struct mad_client *x, const struct sweep_params *params,
			struct persist *memory, struct log *log,
			sweep_end_fn end, void *data);
void sweep_free(struct sweep *s);

/* From the next sweep on; `route` is copied, its lists are borrowed. */
void sweep_set_route(struct sweep *s, const struct route_params *route);
/* Takes a reference; NULL: no names. From the next heavy sweep on. */
void sweep_set_names(struct sweep *s, GHashTable *names);
/* Takes a reference. In force from the next sweep on; SWEEP_CAUSE_PARTITIONS
 * asks for one that leaves all the rest as it is, without discovery. */
void sweep_set_partitions(struct sweep *s, struct partition_rules *rules);
void sweep_request(struct sweep *s, enum sweep_cause cause);
/* The port is gone: what is under way ends as a sweep that failed, and what is
 * requested waits. sweep_resume() begins anew, with an election, for nothing is
 * known of what happened in between. */
void sweep_suspend(struct sweep *s, const char *why);
void sweep_resume(struct sweep *s);
/* Set(SMInfo) from another SM. */
void sweep_control(struct sweep *s, enum sm_control control,
		   const struct sm_info *from);
/* Has a port this LID, as far as we know? True before the first sweep. */
bool sweep_has_lid(const struct sweep *s, uint16_t lid);
void sweep_sm_info(const struct sweep *s, struct sm_info *out);
/* Lines about other managers that manage the same ports, see
 * sminfo_poll_rivals(); borrowed; NULL: none. */
const GPtrArray *sweep_rivals(const struct sweep *s);
enum sweep_state sweep_state(const struct sweep *s);

#endif
