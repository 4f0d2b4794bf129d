/*
 * The desk: SA requests come off the wire, wait their turn, and are answered;
 * Reports go out. What the answers are is sm/sa's business.
 */
#ifndef MINISM_SM_DESK_H
#define MINISM_SM_DESK_H

#include "sm/io/xact.h"
#include "sm/log.h"
#include "sm/sa/sa.h"

struct desk;

struct desk_params {
	unsigned max_waiting;	/* requests; more are answered BUSY */
	unsigned max_of_one;	/* of one requester (LID), likewise */
	unsigned turn;		/* requests that are answered before others
				   get the thread */
	unsigned max_tables;	/* transfers under way; more: BUSY */
	unsigned max_reports;	/* under way */
};
/* 4,096 waiting, 256 of one, 64 a turn, 256 tables, 32 Reports. */
extern const struct desk_params desk_params_default;

/* Called after an answer that changed groups. */
typedef void (*desk_groups_fn)(void *data);

/* Borrows its arguments. Comes after xact_new() and goes before xact_free():
 * it puts RMPP before the transactions. params NULL: the defaults. */
struct desk *desk_new(struct xact *x, struct sa *sa, struct log *log,
		      const struct desk_params *params, desk_groups_fn groups,
		      void *data);
void desk_free(struct desk *d);

/* A request of class SA. */
void desk_take(struct desk *d, const struct transport_mad *m);

/* The SA may have Reports to send, or another deadline: after a sweep, a
 * trap. */
void desk_touch(struct desk *d);

struct desk_stats {
	uint64_t taken, answered, tables;
	uint64_t busy;		/* turned away */
	uint64_t repeated;	/* dropped: it waits already */
	uint64_t dropped;	/* by the SA */
	uint64_t reports, unheard;	/* sent; not answered */
	unsigned waiting;
};
const struct desk_stats *desk_stats(const struct desk *d);

#endif
