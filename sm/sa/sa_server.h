/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * SA server: receives SA requests, schedules them fairly among the clients
 * (LIDs), sends the answers (IBA 15) and Reports (13.4.11).
 *
 * All queues are bounded: waiting requests, answers in one turn of the main
 * loop, tables and Reports under way. A request past a limit is answered BUSY
 * at once.
 */
#ifndef MINISM_SA_SA_SERVER_H
#define MINISM_SA_SA_SERVER_H

#include "sm/io/sa_message.h"
#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/sa/sa.h"

struct sa_server;

struct sa_server_params {
	unsigned max_waiting;	/* requests, but for the first one of a LID, */
	unsigned max_of_one;	/* and of one LID */
	unsigned turn;		/* answers, then the main loop goes on; */
	int64_t turn_us;	/* also if they took that long */
	unsigned at_once;	/* bytes of a table that are drawn with its
				   request; later a 16th of that */
	uint64_t max_collect;	/* of a table, and of all that are being drawn:
				   beyond it only one goes on, and none begins */
	uint64_t max_handed;	/* bytes of tables within 10 s, */
	uint64_t max_handed_of_one;	/* and to one LID */
	unsigned max_reports;	/* without an answer yet */
	size_t max_request;	/* bytes of a long request, */
	size_t max_long;	/* and of all that wait */
	void *data;		/* of the functions below, which may be NULL */
	/* Is a plan being programmed? A new view follows, and
	 * sa_server_touch(). */
	bool (*programming)(void *data);
	/* May another manager be the master? Then all wait, until
	 * sa_server_touch(). */
	bool (*in_doubt)(void *data);
	/* The SA's state may have changed, its groups or a lease: see
	 * state_touch(). */
	void (*touched)(void *data);
};
/* As many waiting as there are LIDs, 256 of one; 64 answers or 2 ms;
 * 64 KiB at once, 64 MiB; 512 MiB within 10 s, 64 to one; 8 Reports;
 * 64 KiB. */
extern const struct sa_server_params sa_server_params_default;

/* Borrows its arguments, and takes the messages of `x`. params NULL: the
 * defaults. */
struct sa_server *sa_server_new(struct mad_client *x, struct sa *sa,
				struct log *log,
				const struct sa_server_params *params);
void sa_server_free(struct sa_server *d);	/* and all jobs, unanswered */

/* A request of the SA's class; one that is not MAD_SIZE bytes is dropped. */
void sa_server_take(struct sa_server *d, const struct transport_mad *m);
/* While another manager is the master, requests are dropped; at first this one
 * may become it, and they wait for the first view. */
void sa_server_set_shut(struct sa_server *d, bool shut);
/* The SA may have Reports to send, another deadline, or state to be saved:
 * after a sweep, a trap, and any other call that changes `sa`. */
void sa_server_touch(struct sa_server *d);

#define SA_SERVER_BUCKETS	5u	/* up to 100 us, 1, 10, 100 ms, 1 s */
#define SA_SERVER_RECORDS	0x100u	/* no AttributeID is higher */
struct sa_server_stats {
	uint64_t taken;		/* requests; each is one of those that follow,
				   or waits */
	uint64_t answered;	/* with one MAD, or */
	uint64_t tables;	/* (of these) a table begun */
	uint64_t busy;		/* refused: too many wait, or are drawn */
	uint64_t repeated;	/* not answered yet, sent again; dropped */
	uint64_t dropped;	/* by sa_answer(), no request at all, to a
				   standby, or waited for too long */

	/* Of those answered: from the request to the answer's first MAD, each
	 * bucket with those before; and by AttributeID, 0: others. */
	uint64_t within[SA_SERVER_BUCKETS];
	int64_t us;
	uint64_t records[SA_SERVER_RECORDS];

	uint64_t tables_sent, tables_failed;	/* how they ended */
	uint64_t reports, heard, unheard;
	uint64_t notices_dropped;	/* before all subscribers were told */
	uint64_t turns;		/* for requests in the queue */
	unsigned waiting;	/* now */
};
const struct sa_server_stats *sa_server_stats(struct sa_server *d);

#endif
