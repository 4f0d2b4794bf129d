/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads SL to VL and VL arbitration tables, and the P_Key tables of a switch's
 * external ports, when somebody asks the SA for them.
 *
 * All tables of a fabric of 1,000 switches are more than a million MADs, which
 * no sweep can have; but a person who asks for those of a port wants what the
 * device holds. So the question waits here until its tables are in the view.
 */
#ifndef MINISM_SWEEP_QOS_READER_H
#define MINISM_SWEEP_QOS_READER_H

#include "sm/sa/sa_queue.h"
#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"

struct qos_reader;

struct qos_reader_hooks {
	/* May SMPs be sent for such a purpose now? */
	bool (*rests)(void *data);
	/* What the question waited for is there, or will never be: ask again.
	 * Takes the job over. */
	void (*resume)(struct sa_job *job, void *data);
	void *data;
};

/* Borrows its arguments but for hooks. */
struct qos_reader *qos_reader_new(struct mad_client *x,
				  const struct mkey_db *keys, struct sa *sa,
				  const struct qos_reader_hooks *hooks);
void qos_reader_free(struct qos_reader *q);	/* and the jobs */

/* Takes over both, ports of the view of now. False, and nothing is taken: too
 * many wait already. */
bool qos_reader_park(struct qos_reader *q, struct sa_job *job,
		  const struct sa_unread *unread);
/* The SA has another view, or none: all who wait ask again. */
void qos_reader_refresh(struct qos_reader *q);

struct qos_reader_stats {
	uint64_t parked, refused, resumed;	/* questions */
	uint64_t blocks;	/* read, */
	uint64_t lost;		/* or no answer came, */
	uint64_t denied;	/* or a status */
	unsigned waiting, in_flight;	/* now */
};
const struct qos_reader_stats *qos_reader_stats(struct qos_reader *q);

#endif
