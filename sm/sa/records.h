/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Records that go into tables. Private to sm/sa.
 *
 * What is asked for is turned into an iterator: candidates are made one after
 * the other, on the wire, and compared with the request. A query that names a
 * LID, a GUID or a GID looks only there. A record may still be far from the
 * next, when next to nothing matches: the iterator then pauses on its way, so
 * that who draws is not held up, whatever was asked.
 */
#ifndef MINISM_SA_RECORDS_H
#define MINISM_SA_RECORDS_H

#include "sm/sa/sa.h"
#include "sm/mad/sa_record.h"
#include "topology/port_tables.h"

/* What somebody wants to see. */
struct query {
	const struct sa_header *h;
	const uint8_t *wanted;	/* the record of the request, SA_DATA_LEN bytes
				   at least */
	uint32_t requester;	/* port */
	bool trusted;
};

/* NULL: this attribute is no table of the fabric, or (*status) the request is
 * bad. Holds a reference on the view. */
struct sa_records *records_of_fabric(struct sa_db *view,
				     const struct query *q, unsigned *status);
/* Ports (uint32_t) whose table must be read before such a query can be
 * answered; NULL: none. */
GArray *records_unread(struct sa_db *view, const struct query *q,
		       enum port_table *table);
struct sa_records *records_of_paths(struct sa_db *view,
				    const struct query *q, unsigned *status);
/* wanted: of `len` bytes, with the GIDs behind its fixed part. */
struct sa_records *records_of_multi_path(struct sa_db *view,
					 const struct query *q, size_t len,
					 unsigned *status);

/* Ready-made ones, all of `attr_id`: `bytes` is taken over. */
struct sa_records *records_of_bytes(unsigned attr_id, GByteArray *bytes);

/* How an iterator is made: draw and free get `data`. It says PAUSE when it has
 * looked at RECORDS_GO candidates in vain. */
#define RECORDS_GO	1024u
struct records_kind {
	enum sa_draw (*draw)(void *data, uint8_t *record);
	void (*free)(void *data);
};
struct sa_records *records_new(unsigned attr_id,
			       const struct records_kind *kind, void *data);

/* Is a number that cannot be changed what a selector asks for? order: <0, 0, >0
 * as it is less than, equal to, or more than what is wanted. */
bool records_number_fits(unsigned selector, int order);

/* May the requester know of this port? (They share a partition.) */
bool records_visible(const struct sa_db *view, const struct query *q,
		     uint32_t port);

#endif
