/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A running subnet manager: a transport and parameters in, a fabric that is
 * up out. Wires mad_client, sm_agent, sweep, SA and multicast together; what
 * comes from a command line, a file or a signal is the daemon's.
 */
#ifndef MINISM_SM_SM_INSTANCE_H
#define MINISM_SM_SM_INSTANCE_H

#include "sm/mcast_manager.h"
#include "sm/persist.h"
#include "sm/sa/sa.h"
#include "sm/sa/sa_server.h"
#include "sm/sm_agent.h"
#include "sm/standby.h"
#include "sm/state.h"
#include "sm/sweep/sweep.h"
#include "topology/expected.h"

struct sm_instance_params {
	struct mad_client_params wire;
	/* keystore and port_guid are filled in; clients REREGISTER_FORGOTTEN
	 * becomes _KNOWN if the state of the SA was kept. With another goal
	 * than SWEEP_GOAL_FABRIC the SA does not answer. */
	struct sweep_params sweep;
	const struct sa_params *sa;	/* NULL: SA requests are refused */
	const char *cache_dir;		/* state kept over a restart, */
	const char *key_dir;		/* and M_Keys; NULL: none */
	int64_t disk_us;		/* simulated: what a write takes */
	uint64_t m_key;
	enum mkey_db_mode key_mode;
};

/* Its parts, for their own interfaces. Those of the SA are NULL without. */
struct sm_instance {
	struct transport *t;		/* borrowed, as is log */
	struct log *log;
	struct mad_client *x;
	struct beside *disk;		/* writes files; NULL: at once */
	struct persist *persist;
	struct persist_keys *keys;
	struct expected *expected;	/* fabric */
	char *verdict;			/* as logged last; NULL: nothing was */
	struct state *state;		/* of those above, and of the SA */
	struct sweep *sweep;
	struct sm_agent agent;
	struct sa *sa;
	struct sa_server *sa_server;
	uint64_t groups_version;	/* of the SA, that mcast knows of */
	struct standby *standby;
	struct mcast_manager *mcast;
	sweep_end_fn end;
	void *data;
	void (*retired)(void *data);	/* NULL: we do not end */
	void *retired_data;
	unsigned retire_timer;
	bool resident;			/* see sweep_goal_stays() */
};

/* Nothing is sent before sweep_request(). `end` is called after every heavy
 * sweep, when the SA answers from its result. */
struct sm_instance *sm_instance_new(struct transport *t,
				    const struct sm_instance_params *params,
				    struct log *log, sweep_end_fn end,
				    void *data);
void sm_instance_free(struct sm_instance *sm);

/* This SM is about to end and hands over to a standby first. done() is called
 * when the standby has acknowledged, or after RETIRE_MS. False: there is no
 * standby, and done() is not called. */
#define RETIRE_MS	1000u
bool sm_instance_retire(struct sm_instance *sm, void (*done)(void *data),
			void *data);

/* See expected_accept(). */
unsigned sm_instance_accept(struct sm_instance *sm, const char *word);

#endif
