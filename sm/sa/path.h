/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Paths between end ports (PathRecord, IBA 15.2.5.16). Private to sm/sa.
 */
#ifndef MINISM_SA_PATH_H
#define MINISM_SA_PATH_H

#include "sm/sa/mcmember.h"
#include "sm/sa/records.h"

#define PATH_PREFERENCE	22u	/* component, behind those of sa_record.h */

/* What is asked of a path, whatever its ends: a PathRecord's mask and values;
 * a MultiPathRecord is turned into this. */
struct path_wish {
	uint64_t comp_mask;	/* PATH_ bits */
	struct path_record want;
};

static inline bool
path_asks(const struct path_wish *wish, unsigned bit)
{
	return wish->comp_mask >> bit & 1;
}

/* Preference is no property of a way, but the place among those of a pair. */
static inline bool
path_prefers(const struct path_wish *wish, unsigned preference)
{
	return !path_asks(wish, PATH_PREFERENCE) ||
		wish->want.preference == preference;
}

/* One path from `from` with SLID to the owner of DLID. False: there is none
 * that is as wished. */
bool path_find(const struct sa_db *v, const struct path_wish *wish,
	       uint32_t from, uint16_t slid, uint32_t to, uint16_t dlid,
	       struct path_record *out);

/* False: no path from this port can be as wished, wherever it leads. Who looks
 * for paths from everywhere asks this first. */
bool path_may_start(const struct sa_db *v, const struct path_wish *wish,
		    uint32_t from);

/* Which of two is better? <0: a, 0: they are alike, >0: b. */
int path_compare(const struct path_record *a, const struct path_record *b);

/* What a GID, a LID, or both, of a wish mean. */
enum path_end {
	PATH_END_OPEN,		/* nothing is named: any port */
	PATH_END_PORT,		/* *port */
	PATH_END_NOBODY,	/* a LID that nobody has, or not that GID's */
	PATH_END_BAD_GID,	/* a GID that nobody has */
};
enum path_end path_source(const struct sa_db *v,
			  const struct path_wish *wish, uint32_t *port);
enum path_end path_destination(const struct sa_db *v,
			       const struct path_wish *wish, uint32_t *port);

/* The path to a multicast group, one record or none; `group` may be NULL: there
 * is no such group. */
struct sa_records *path_to_group(const struct sa_db *v,
				 const struct query *q,
				 const struct group *group, unsigned *status);

#endif
