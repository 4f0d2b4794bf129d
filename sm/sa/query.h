/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The iterators that make the records of an answer. Private to sm/sa.
 *
 *	sa_query.h	a request on its way through the SA
 *	sa_state.c	the state: views, groups, services, subscriptions; its
 *			versions for a standby
 *	query.c		requests by method and attribute
 *	records.c	iterators, and that of the fabric's records
 *	registered.c	iterator: groups, services, subscriptions, SMs
 *	path.c		iterator: PathRecord, MultiPathRecord
 */
#ifndef MINISM_SA_QUERY_H
#define MINISM_SA_QUERY_H

#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa_query.h"
#include "sm/sa/service.h"

/*
 * An iterator: candidates are made one after the other, in wire format, and
 * compared with the request. If few match, the next record may be far: it pauses
 * after RECORDS_GO steps.
 *
 * It is the first member of a larger struct, which `free` clears.
 */
#define RECORDS_GO	1024u
struct sa_records {
	struct sa_viewer viewer;	/* holds a reference on the view */
	unsigned attr_id;
	struct sa_match match;
	unsigned steps;		/* since the last pause */
	/* A step; SA_DRAW_PAUSE: the candidate is not requested. */
	enum sa_draw (*next)(struct sa_records *r, uint8_t *record);
	void (*free)(struct sa_records *r);	/* NULL: g_free() does */
};

/* Of `size` bytes; the rest is zero. */
void *sa_records_new(size_t size, const struct sa_query *q, unsigned attr_id,
		     enum sa_draw (*next)(struct sa_records *r,
					  uint8_t *record),
		     void (*free)(struct sa_records *r));
/* Does a candidate have the plain components of the request? */
static inline enum sa_draw
sa_records_test(const struct sa_records *r, const uint8_t *record)
{
	return sa_match_test(&r->match, record) ? SA_DRAW_RECORD :
		SA_DRAW_PAUSE;
}

/* NULL: there are no such records, or the request is bad (*status, which is left
 * alone else). */
struct sa_records *records_of_fabric(const struct sa_query *q,
				     unsigned *status);
struct sa_records *records_of_store(const struct sa_query *q);

struct sa_records *records_of_paths(const struct sa_query *q,
				    unsigned *status);
struct sa_records *records_of_multi_path(const struct sa_query *q,
					 unsigned *status);

#endif
