/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads SL to VL and VL arbitration tables, and the P_Key tables of a switch's
 * external ports, on demand of an SA request.
 *
 * All tables of a fabric of 1,000 switches are more than a million MADs, too
 * many for a sweep; but a query for the tables of a port must get what the
 * device holds. So the request waits here until its tables are in the view.
 */
#ifndef MINISM_SWEEP_QOS_READER_H
#define MINISM_SWEEP_QOS_READER_H

#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"
#include "sm/sa/sa_server.h"

struct sweep;

struct qos_reader {
	struct mad_client *x;
	const struct mkey_db *keys;
	struct sa *sa;
	struct sa_server *server;
	const struct sweep *sweep;
	struct sa_db *view;	/* of the waiting requests; NULL: there are
				   none */
	struct smp_batch *batch;	/* reads tables of the view */
	uint8_t *begun;		/* by port, a bit for each table */
	GQueue parked;		/* the next request to be served is the head */
	unsigned timer;
	struct {
		uint64_t parked;	/* requests */
		uint64_t blocks;	/* read */
		uint64_t lost;		/* not answered */
		uint64_t denied;	/* rejected */
	} stats;
};

/* Borrows its arguments. server: gets a request again when its tables have been
 * read, or cannot be. Reads while the sweep is idle. */
struct qos_reader *qos_reader_new(struct mad_client *x,
				  const struct mkey_db *keys, struct sa *sa,
				  struct sa_server *server,
				  const struct sweep *sweep);
void qos_reader_free(struct qos_reader *q);	/* and the waiting jobs */

/* Takes over both; the ports are of the present view. False, and nothing is
 * taken over: too many requests wait already. */
bool qos_reader_park(struct qos_reader *q, struct sa_job *job,
		  const struct sa_unread *unread);
/* The SA has a new view, or none: returns all requests to it. */
void qos_reader_refresh(struct qos_reader *q);

#endif
