/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A request on its way through the SA, and the iterators that make the records of
 * its answer. Private to sm/sa.
 *
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
#include "sm/sa/sa.h"
#include "sm/sa/service.h"

/* A Notice of our own: v: the fabric that has the GID; pkey: the partition whose
 * members get Reports; 0: all that share one with the GID. */
void sa_notify(struct sa *sa, const struct sa_db *v, uint16_t trap,
	       const uint8_t gid[16], uint16_t pkey, int64_t now);

/* A standby has sent a Get of ClassPortInfo. */
void sa_follow(struct sa *sa, uint16_t lid, int64_t now);

/* The requester, and the fabric that it sees. */
struct sa_viewer {
	struct sa_db *db;
	uint32_t port;		/* of the requester */
	bool trusted;
};

/* Do they share a partition, or is it trusted? */
bool sa_viewer_sees(const struct sa_viewer *viewer, uint32_t port);

struct sa_query {
	struct sa *sa;
	struct sa_viewer viewer;
	const struct sa_request *request;
	struct sa_header h;
	const uint8_t *wanted;	/* the record of the request, SA_DATA_LEN bytes
				   at least */
	struct sa_reply *reply;
};

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

/* NULL: there are no such records, or (*status) the request is bad. */
struct sa_records *records_of_fabric(const struct sa_query *q,
				     unsigned *status);
struct sa_records *records_of_store(const struct sa_query *q, unsigned *status);

struct sa_records *records_of_paths(const struct sa_query *q,
				    unsigned *status);
struct sa_records *records_of_multi_path(const struct sa_query *q,
					 unsigned *status);

#endif
