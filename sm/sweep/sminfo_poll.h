/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The other subnet managers on the fabric: asking them, telling them.
 */
#ifndef MINISM_SWEEP_SMINFO_POLL_H
#define MINISM_SWEEP_SMINFO_POLL_H

#include <glib.h>

#include "sm/sweep/election.h"
#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

struct sminfo_poll;

/* peers: GArray of struct election_peer in order of port index; borrowed. */
typedef void (*sminfo_poll_done_fn)(GArray *peers, void *data);

/*
 * Reads SMInfo of every port that says it has an SM (IsSM), except our own;
 * `done`, which never comes from inside, gets those that answered. `only`: just
 * this port, or SNAPSHOT_NONE. s and keys are borrowed until then.
 */
struct sminfo_poll *sminfo_poll_start(struct mad_client *x,
				      const struct mkey_db *keys,
				      const struct snapshot *s, uint32_t only,
				      sminfo_poll_done_fn done, void *data);
void sminfo_poll_cancel(struct sminfo_poll *p);

/*
 * Subnet managers with which the master `self` shares the fabric for no good
 * reason: those of another SM_Key, and masters that were masters in the
 * election before this one (`before`, or NULL) and have neither handed over nor
 * become standby. A line of text each, with name, GUID and LID; a new array.
 */
GPtrArray *sminfo_poll_rivals(const struct sm_info *self, const GArray *before,
			const GArray *found, const struct snapshot *s);

/* True if `peers` (or NULL: none) has a manager with this GUID; in `state`,
 * 0: in any. */
bool sminfo_poll_have(const GArray *peers, uint64_t guid, unsigned state);

/*
 * Sends Set(SMInfo) with the control to a peer; `self` is what we say of
 * ourselves. The reply is ignored.
 */
void sminfo_poll_control(struct mad_client *x, const struct mkey_db *keys,
		   const struct snapshot *s, uint32_t port,
		   enum sm_control control, const struct sm_info *self);

#endif
