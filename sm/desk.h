/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The desk of the subnet administration: takes SA requests off the wire, lets
 * sm/sa answer them, and sends the answers (IBA 15) and Reports (13.4.11).
 *
 * What clients can cause is bounded: places to wait, answers in one turn of
 * the main loop, tables and Reports under way. Who asks past a limit is told
 * BUSY at once.
 */
#ifndef MINISM_SM_DESK_H
#define MINISM_SM_DESK_H

#include "sm/io/bulk.h"
#include "sm/io/xact.h"
#include "sm/log.h"
#include "sm/sa/sa.h"

struct desk;
struct ticket;

struct desk_params {
	unsigned max_waiting;	/* requests, */
	unsigned max_of_one;	/* and of one LID */
	unsigned turn;		/* answers, then the main loop goes on; */
	int64_t turn_us;	/* also if they took that long */
	unsigned max_tables;	/* under way, */
	unsigned max_tables_of_one;	/* and to one LID */
	unsigned max_searchers;	/* Gets that must look at much */
	unsigned max_reports;	/* without an answer yet */
	size_t max_request;	/* bytes of a long request */
	/* Tables of ports must be read before this can be answered; what is
	 * taken over comes back by desk_resume(). False: not now. NULL: nobody
	 * reads. */
	bool (*unread)(struct ticket *t, const struct sa_unread *unread,
		       void *data);
	void *unread_data;
	/* The SA's state may have changed: see archive_touch(). May be NULL. */
	void (*touched)(void *data);
	void *touched_data;
};
/* 8,192 waiting, 256 of one; 64 answers or 2 ms; 256 tables, 32 to one; 64
 * searchers; 32 Reports; 64 KiB. */
extern const struct desk_params desk_params_default;

/* Called after an answer, or a lease that ran out, changed groups. */
typedef void (*desk_groups_fn)(void *data);

/* Borrows its arguments. Comes after xact_new() and goes before xact_free():
 * it puts RMPP before the transactions. params NULL: the defaults. groups may
 * be NULL. */
struct desk *desk_new(struct xact *x, struct sa *sa, struct log *log,
		      const struct desk_params *params, desk_groups_fn groups,
		      void *data);
void desk_free(struct desk *d);		/* who waits gets no answer any more */

/* A request of the SA's class, MAD_SIZE bytes. */
void desk_take(struct desk *d, const struct transport_mad *m);
/* A request that `unread` took: it is answered in a later turn. */
void desk_resume(struct desk *d, struct ticket *t);
/* The SA may have Reports to send, or another deadline, or something to be
 * archived: after a sweep, a trap, whatever else was done to `sa`. */
void desk_touch(struct desk *d);

struct desk_stats {
	uint64_t taken;		/* requests; each is one of those that follow,
				   or waits */
	uint64_t answered;	/* with one MAD, or */
	uint64_t tables;	/* (of these) a table begun */
	uint64_t busy;		/* turned away, for one of five reasons: */
	uint64_t busy_of_one;	/* past what one client may have waiting */
	uint64_t busy_full;	/* past what all may, or displaced */
	uint64_t busy_tables, busy_searchers, busy_unread;
	uint64_t repeated;	/* what waits or is under way; dropped */
	uint64_t dropped;	/* as the SA said, or no request at all */
	uint64_t too_long;

	uint64_t tables_sent, tables_failed;	/* how they ended */
	uint64_t unsent;	/* the transport did not take an answer */
	uint64_t reports, heard, unheard;
	uint64_t turns;		/* for those who wait */
	unsigned waiting;	/* now, */
	unsigned longest;	/* and the most there ever were */
};
const struct desk_stats *desk_stats(const struct desk *d);
unsigned desk_tables(const struct desk *d);	/* under way */

#endif
