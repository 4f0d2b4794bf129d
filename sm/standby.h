/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Warm standby: reads the state of a minism that is the master while it runs, so that
 * groups, services and subscriptions survive its failure. And the master's
 * part: notifying its standbys of changes.
 */
#ifndef MINISM_SM_STANDBY_H
#define MINISM_SM_STANDBY_H

#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/plan/isolation.h"
#include "sm/plan/mkey_db.h"
#include "sm/sa/sa.h"
#include "sm/state.h"
#include "topology/snapshot.h"

struct standby;

/* Borrows its arguments; isolation: as a master would do it. After sa_server_new() and freed before
 * sa_server_free(): it receives MADs first. */
struct standby *standby_new(struct mad_client *x, const struct mkey_db *keys,
			    struct sa *sa, struct state *state,
			    const struct isolation_params *isolation,
			    struct log *log);
void standby_free(struct standby *b);

/* This SM is a standby in this fabric, and the master is read from now on;
 * NULL: it is not, and the state that was read is discarded. */
void standby_follow(struct standby *b, struct snapshot *where);

/* No round begins before, us, since each reads our port with its M_Key. */
void standby_wait(struct standby *b, int64_t until);

/* The master is about to hand over, or has just done so: its state is read once
 * more. done() is called at most STANDBY_LAST_MS later, never from inside. */
#define STANDBY_LAST_MS	500u
void standby_read_last(struct standby *b, void (*done)(void *data), void *data);

/* This SM is the master: the state that was read replaces our own. heard: until
 * then the former master may have answered clients, us; INT64_MAX: it may
 * have run longer. Returns its LID if no registration of its clients can be
 * missing, else LID_NONE: they have to register again. */
uint16_t standby_take(struct standby *b, int64_t heard);

/* The SA's state may have changed: standbys that read it are notified. */
void standby_touch(struct standby *b);

struct standby_status {
	bool follows;		/* a master */
	bool warm;		/* some state was read, and is kept: */
	struct sa_stats stats;
	int64_t as_of;		/* us: the state was the master's then */
	uint64_t reads;		/* of all of it */
	const char *why;	/* the last try failed; NULL: it did not */
	const char *foreign;	/* the groups that would end, in words; or NULL */
};
void standby_status(const struct standby *b, struct standby_status *out);

#endif
