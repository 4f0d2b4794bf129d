/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The error and data counters of all ports, read at a low rate from their
 * performance management agents (IBA 16.1). Counters are never cleared, so
 * other tools may read and clear them, too.
 */
#ifndef MINISM_SM_PERF_MANAGER_H
#define MINISM_SM_PERF_MANAGER_H

#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/mad/perf.h"
#include "sm/sweep/avoid.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

struct perf_manager_params {
	unsigned sweep_s;	/* all ports are read in this time; 0: none */
	unsigned errors_limit;	/* of a cable in an hour; more are logged */
	/* Called after a round in which a cable came to have more errors than
	 * that, or few again, and when the reading ends. bad: the ports of
	 * such cables, of struct avoid_wish. May be NULL. */
	void (*judged)(const GArray *bad, void *data);
	void *data;
};

/* The counters of a port. */
struct perf_port {
	int64_t read_us;	/* 0: it was not read yet */
	uint32_t last[PERF_N_ERRORS];	/* as read last */
	uint64_t total[PERF_N_ERRORS];	/* since it was first read */
	uint32_t recent[2][PERF_N_ERRORS]; /* this half hour and the last one */
	uint64_t sent, received;	/* bytes, as read last */
	uint64_t sent_rate, received_rate;	/* bytes/s between two reads */
	bool has_data;			/* these four are known */
	bool is_bad;			/* its cable was logged */
};

struct perf_manager_stats {
	uint64_t rounds;	/* that all ports had their turn */
	uint64_t failed;	/* MADs not answered, or with an error */
};

/* The agent of a node. */
struct perf_node {
	bool known, extended;
	uint8_t skip;		/* rounds */
};

/* Per fabric. */
struct perf_known {
	struct snapshot *s;	/* NULL: there is none */
	struct lid_map *lids;
	struct perf_port *ports;
	struct perf_node *nodes;
};

struct perf_manager {
	struct mad_client *x;
	struct log *log;
	struct perf_manager_params params;
	struct perf_known known;
	uint32_t next;		/* port of this round */
	int64_t round_us, half_us;	/* begin of the round, the half hour */
	unsigned in_flight, timer;
	struct perf_manager_stats stats;
};

/* Borrows its arguments. Nothing is sent before perf_manager_fabric(). */
struct perf_manager *perf_manager_new(struct mad_client *x, struct log *log,
				      const struct perf_manager_params *params);
void perf_manager_free(struct perf_manager *m);

/* The fabric of the last sweep; takes references. The counters of ports that
 * stay are kept. s NULL: this SM is not the master, nothing is read. */
void perf_manager_fabric(struct perf_manager *m, struct snapshot *s,
			 struct lid_map *lids);

/* By port of this snapshot; NULL: it is another one, or nothing is read. */
const struct perf_port *perf_manager_ports(const struct perf_manager *m,
					   const struct snapshot *s);

/* Errors that a bad cable or transceiver makes, at this end of it, in the last
 * hour (of reading: 30 to 60 minutes). */
uint64_t perf_wire_errors(const struct perf_port *port);

#endif
