/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One request on its way through the SA, and the iterators that make the
 * records of its answer. Private to sm/sa.
 *
 *	sa_state.c	the state: views, groups, services, subscriptions
 *	query.c		requests by method and attribute
 *	records.c	iterator: records of the fabric, and ready-made ones
 *	path.c		iterator: PathRecord, MultiPathRecord
 */
#ifndef MINISM_SA_QUERY_H
#define MINISM_SA_QUERY_H

#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa.h"
#include "sm/sa/service.h"

struct sa {
	struct sa_params params;
	struct sa_db *view;
	struct groups *groups;
	struct services *services;
	struct informs *informs;
	GArray *sms;		/* struct sa_sm */
	GArray *trees;		/* struct sa_tree */
	GPtrArray *members;	/* what the trees point to */
	struct sa_stats stats;
};

/* In which fabric, and for whom. */
struct sa_viewer {
	struct sa_db *db;
	uint32_t port;		/* of the requester */
	bool trusted;
};

/* May it know of this end port? They share a partition. */
bool sa_viewer_sees(const struct sa_viewer *who, uint32_t port);

struct sa_query {
	struct sa *sa;
	struct sa_viewer who;
	const struct sa_request *request;
	struct sa_header h;
	const uint8_t *wanted;	/* the record of the request, SA_DATA_LEN bytes
				   at least */
	struct sa_reply *reply;
};

/*
 * An iterator: candidates are made one after the other, on the wire, and
 * compared with the request. A query that names a LID, a GUID or a GID looks
 * only there. A record may still be far from the next, when next to nothing
 * matches: after RECORDS_GO candidates in vain it pauses.
 *
 * It stands first in a struct of its maker's, who frees that.
 */
#define RECORDS_GO	1024u
struct sa_records {
	struct sa_viewer who;	/* holds a reference on the view */
	unsigned attr_id;
	enum sa_draw (*draw)(struct sa_records *r, uint8_t *record);
	void (*free)(struct sa_records *r);	/* NULL: g_free() does */
};

void sa_records_init(struct sa_records *r, const struct sa_query *q,
		     unsigned attr_id,
		     enum sa_draw (*draw)(struct sa_records *r,
					  uint8_t *record),
		     void (*free)(struct sa_records *r));

/* NULL: this attribute is no table of the fabric, or (*status) the request is
 * bad. */
struct sa_records *records_of_fabric(const struct sa_query *q,
				     unsigned *status);
/* Ports (uint32_t) whose table must be read before such a query can be
 * answered; NULL: none. */
GArray *records_unread(const struct sa_query *q, enum port_table *table);
/* Ready-made ones, all of `attr_id`: `bytes` is taken over. */
struct sa_records *records_of_bytes(const struct sa_query *q,
				    unsigned attr_id, GByteArray *bytes);

struct sa_records *records_of_paths(const struct sa_query *q,
				    unsigned *status);
struct sa_records *records_of_multi_path(const struct sa_query *q,
					 unsigned *status);

#endif
