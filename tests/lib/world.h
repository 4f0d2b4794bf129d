/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A whole subnet manager on a simulated fabric, for tests of its life: sweeps,
 * elections, repairs. Judged by the data plane, not by what the SM says.
 */
#ifndef MINISM_TESTS_WORLD_H
#define MINISM_TESTS_WORLD_H

#include "sm/sim/fault.h"
#include "sm/sim/probe.h"
#include "sm/sm_instance.h"

/* One subnet manager. */
struct manager {
	struct transport *t;
	struct log *log;
	struct sm_instance *sm;
	/* parts of it */
	struct mad_client *x;
	struct sweep *sweep;
	struct sa_server *desk;
	struct mcast_manager *mcast;
	unsigned ends;			/* sweeps that ended */
	enum sweep_end last;
	const struct engine *engine;	/* of the last tables */
	uint32_t port;
};

struct world {
	struct snapshot *s;		/* as generated: names ports, nodes */
	struct sim *sim;
	struct manager m;
};

struct world_params {
	const char *spec;
	uint64_t seed;
	const char *engine;
	unsigned sweep_s, lmc;
	struct isolation_params isolation;	/* rules are borrowed */
	enum reregister_start clients;
};

/* The fabric is there and the SM attached; its first sweep is requested. */
void world_open(struct world *w, const struct world_params *params);
void world_close(struct world *w);

/* A second manager on another CA port; close it with manager_close(). */
void manager_open(struct manager *m, struct sim *sim, uint32_t port,
		  unsigned priority, const struct world_params *params);
void manager_close(struct manager *m);

/* Runs until the SM rests and has nothing noted, `limit` us at the most;
 * false if it did not come to rest. */
bool world_settle(struct world *w, int64_t limit);

/*
 * Every pair of CA ports that are alive and joined to the SM's port by links
 * that are up: a packet between them arrives. Returns the number of pairs that
 * do not; *pairs is how many there are. The first bad one is printed as TAP
 * diagnostics. A CA that has no route to a switch's port 0 counts apart, in
 * *mixed: no engine must take a risk for that.
 */
unsigned world_unreached(struct world *w, unsigned *pairs, unsigned *mixed);

/*
 * Every pair of end ports as above, but all kinds, and every P_Key of the
 * partitions, as a full and as a limited one: a packet arrives if and only if
 * the rules give the sender this P_Key and let the two talk in it. Returns how
 * many packets did otherwise; *asked is how many were tried. What has no route
 * is no matter of partitions and is left out.
 */
unsigned world_misled(struct world *w, struct partition_rules *rules,
		      unsigned *asked);

/*
 * Channels that wait for each other in a circle at this moment: packets of
 * data (CA to anybody, port 0 to a CA) are sent between all end ports that are
 * alive, and each pair of channels that one passes is a dependency. One of the
 * channels is printed as TAP diagnostics.
 */
unsigned world_looped(struct world *w);

/* End ports alive in the SM's part of the fabric, by port index. */
uint8_t *world_alive(struct world *w);

#endif
