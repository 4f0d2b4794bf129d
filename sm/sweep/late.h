/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sets that may have been executed, or may be still: what a switch may hold besides
 * that which it told last.
 *
 * A Set without an answer may wait in the queue of a slow switch on its way. It then
 * overwrites what is read or written until then, by another way. So its block, and
 * the other tables of its node, are read once more when nothing can be on the way,
 * LATE_SET_US after the last one, and its content counts until they have been. That
 * of a Set that was refused counts until its block is read.
 */
#ifndef MINISM_SWEEP_LATE_H
#define MINISM_SWEEP_LATE_H

#include "routing/tables.h"
#include "sm/sweep/smp_batch.h"

#define LATE_SET_US		(10 * (int64_t)G_USEC_PER_SEC)

struct late;

struct late *late_new(void);
void late_free(struct late *l);

/* Another master, or this one before it was started again, may have sent Sets until
 * now that no list has: all tables are read again. */
void late_inherit(struct late *l, int64_t now);
/* now: when it was given up; 0: it was refused. A host that takes no Set is read
 * again, and then set and waited for, after longer and longer pauses: it gives up a
 * Set in a sweep that began when it was to be read. */
void late_note(struct late *l, uint64_t node_guid, const struct smp_request *r,
	       int64_t now, int64_t began, bool is_switch);
/* When the tables of a node are to be read; INT64_MAX: never. */
int64_t late_due(const struct late *l);
/* Are those of this node to be read, in a sweep that began then? */
bool late_is_due(const struct late *l, uint64_t node_guid, int64_t began);
/* The blocks that are to be read are not known. */
void late_forget(const struct late *l, const struct snapshot *s,
		 struct lft_seen *seen, int64_t began);
/* What the switches may hold beside what is known, in a sweep that began then: of
 * struct lft_part, those of a block one after the other. *until: the last may be on
 * its way until then, if that is after `began`. */
GArray *late_parts(const struct late *l, const struct snapshot *s,
		   const struct lft_seen *seen, int64_t began, int64_t *until);
/* The sweep has read what was due. */
void late_end(struct late *l, const struct snapshot *s,
	      const struct lft_seen *seen, int64_t began);

#endif
