/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Warm standby: what the master's subnet administration knows, read while it
 * lives, so that groups, services and subscriptions outlive it. And the other
 * end of it: a master that tells its standbys of news.
 */
#ifndef MINISM_SM_STANDBY_H
#define MINISM_SM_STANDBY_H

#include "sm/io/mad_client.h"
#include "sm/fabric_watch.h"
#include "sm/log.h"
#include "sm/persist.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"
#include "topology/snapshot.h"

struct standby;

/* Borrows its arguments. After sa_server_new() and freed before
 * sa_server_free(): what it receives goes before all others. every_s: how often
 * an SA is read that does not tell of news. */
struct standby *standby_new(struct mad_client *x, const struct mkey_db *keys,
			    struct sa *sa, struct persist *persist,
			    struct fabric_watch *fabric, struct log *log,
			    unsigned every_s);
void standby_free(struct standby *b);

/* We are a standby in this fabric, and the master is read from now on; NULL: we
 * are none, and what was read is forgotten. */
void standby_follow(struct standby *b, struct snapshot *where);

/* The master is about to hand over, or has just done so: its state is read once
 * more. done() comes at most STANDBY_LAST_MS later, never from inside. */
#define STANDBY_LAST_MS	500u
void standby_read_last(struct standby *b, void (*done)(void *data), void *data);

/* We are the master: the SA and what is remembered become what was read. heard:
 * when the former master answered last, us; INT64_MAX: it may have lived on.
 * Returns its LID if nothing of what its clients had told it is missing, else
 * LID_NONE: they are to register again. */
uint16_t standby_take(struct standby *b, int64_t heard);

/* The SA's state may have changed: standbys that follow us are told. */
void standby_touch(struct standby *b);

struct standby_status {
	bool follows;		/* a master */
	bool warm;		/* something was read, and is held: */
	bool whole;		/* all that a minism knows */
	struct sa_stats stats;
	int64_t as_of;		/* us: so it was then */
	uint64_t reads;		/* of all of it */
	const char *why;	/* the last try failed; NULL: it did not */
};
void standby_status(const struct standby *b, struct standby_status *out);

#endif
