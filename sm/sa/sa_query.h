/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A request on its way through the SA. Private to sm/sa.
 */
#ifndef MINISM_SA_SA_QUERY_H
#define MINISM_SA_SA_QUERY_H

#include "sm/sa/sa.h"

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

#endif
