/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A whole subnet manager on a simulated fabric, for tests of its life: sweeps,
 * elections, repairs. Judged by the data plane, not by what the SM says.
 */
#ifndef MINISM_TESTS_WORLD_H
#define MINISM_TESTS_WORLD_H

#include "lab/sim/sim.h"
#include "sm/sm_instance.h"
#include "tests/lib/freezer.h"

/* One subnet manager, and what its last heavy sweep said. */
struct manager {
	struct sim *sim;
	uint32_t port;
	struct transport *t;	/* NULL: there is none */
	struct freezer *freezer;	/* of its process */
	struct log *log;
	struct sm_instance *sm;
	/* parts of it */
	struct mad_client *x;
	struct sweep *sweep;
	struct sa_server *desk;
	struct mcast_manager *mcast;
	unsigned ends;			/* sweeps that ended, */
	unsigned repairs;		/* of them, */
	unsigned n_drained;		/* of these, with CHOICE_DRAIN */
	enum sweep_end last;
	int64_t took;			/* us */
	const struct engine *engine;	/* of the last tables */
	GString *problems, *warnings;	/* a line each */
	char *causes;
};

/* 200 ms, 3 retries, 128 SMPs; a light sweep every 10 s, no SA. */
extern const struct sm_instance_params manager_defaults;
extern const struct sa_params manager_sa;

/* Its first sweep is requested. params NULL: the defaults. log: a file; NULL:
 * that of MINISM_TEST_LOG, if any. */
void manager_open(struct manager *m, struct sim *sim, uint32_t port,
		  const struct sm_instance_params *params, const char *log);
void manager_close(struct manager *m);
/* It is told to end, as by TERM; false: it has not said in time that it may. */
bool manager_retire(struct manager *m);
/* Until it says UP, limit_us at the most; until n sweeps have ended. */
bool manager_wait_up(struct manager *m, int64_t limit_us);
bool manager_wait_ends(struct manager *m, unsigned n, int64_t limit_us);

struct world {
	struct snapshot *s;		/* as generated: names ports, nodes */
	struct sim *sim;
	struct manager m;
	uint8_t lid_owners[LID_UNICAST_MAX + 1]; /* kinds of nodes that have a
			LID, or had it when world_has_loop() looked last */
};
#define WORLD_LID_CA		1u
#define WORLD_LID_SWITCH	2u

/* Runs until the SM rests and has nothing noted, `limit` us at the most;
 * false if it did not come to rest. */
bool world_settle(struct world *w, int64_t limit);

/*
 * Every pair of CA ports that are alive and joined to the SM's port by links
 * that are up: a packet to each LID of the other arrives. Returns the number of
 * pairs between which one does not; *pairs is how many there are. The first bad
 * one is printed as TAP diagnostics. A CA that has no route to a switch's port 0
 * counts apart, in *mixed: no engine must take a risk for that. The port `but` is
 * left out; SNAPSHOT_NONE: none.
 */
unsigned world_unreached(struct world *w, uint32_t but, unsigned *pairs,
			 unsigned *mixed);

/* End ports that have another M_Key than the manager is to give them, or
 * another level of protection; but for one. */
unsigned world_wrong_keys(struct world *w, const struct sm_instance_params *p,
			  uint32_t but);

/*
 * Every pair of end ports as above, but all kinds, and every P_Key of the
 * partitions, as a full and as a limited one: a packet arrives if and only if
 * the rules give the sender this P_Key and let the two talk in it. Returns how
 * many packets did otherwise; *asked is how many were tried. What has no route
 * is no matter of partitions and is left out.
 */
unsigned world_misled(struct world *w, struct partition_rules *rules,
		      unsigned *asked);

/* The tables of the switches have a credit loop at this moment, see
 * world_loop.c; between those that are alive, NULL: between all. */
bool world_has_loop(struct world *w, const uint8_t *alive);

/* End ports alive in the SM's part of the fabric, by port index. */
uint8_t *world_alive(struct world *w);

#endif
