/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which subnet manager is the master (IBA 14.4.1): asking the others, deciding,
 * telling them.
 */
#ifndef MINISM_SWEEP_ELECTION_H
#define MINISM_SWEEP_ELECTION_H

#include <glib.h>

#include "sm/io/mad_client.h"
#include "sm/mad/smp.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

/* Another SM that was found, and where. */
struct election_peer {
	struct sm_info info;
	uint32_t port;		/* of the snapshot */
};

enum election_outcome {
	ELECTION_MASTER,	/* be (or stay) master */
	ELECTION_STANDBY,	/* obey peers[*who] */
	ELECTION_HANDOVER,	/* we are master, peers[*who] ranks higher:
				   hand over to it */
};

/* True if a ranks higher: more priority, then the lower GUID. */
bool election_outranks(const struct sm_info *a, const struct sm_info *b);

/* It has an SM_Key, which is not ours: it counts as not there. */
bool election_is_stranger(const struct sm_info *self,
			  const struct sm_info *peer);

/*
 * self->state is our own state before the election. *who is set unless the
 * outcome is ELECTION_MASTER. Does not depend on the order of the peers.
 */
enum election_outcome election_decide(const struct sm_info *self,
				      const struct election_peer *peers,
				      size_t n_peers, size_t *who);

/* To which of them a master that ends may hand over; n_peers: to none. */
size_t election_heir(const struct sm_info *self,
		     const struct election_peer *peers, size_t n_peers);

struct election_poll;

/* peers: GArray of struct election_peer in order of port index; borrowed. */
typedef void (*election_poll_done_fn)(GArray *peers, void *data);

/*
 * Reads SMInfo of every port that says it has an SM (IsSM), except our own;
 * `done`, which never comes from inside, gets those that answered. `only`: just
 * this port, or SNAPSHOT_NONE. s and keys are borrowed until then.
 */
struct election_poll *election_poll_start(struct mad_client *x,
				      const struct mkey_db *keys,
				      const struct snapshot *s, uint32_t only,
				      election_poll_done_fn done, void *data);
void election_poll_cancel(struct election_poll *p);

/*
 * Subnet managers with which the master `self` shares the fabric for no good
 * reason: those of another SM_Key, and masters that were masters in the
 * election before this one (`before`, or NULL) and have neither handed over nor
 * become standby. A line of text each, with name, GUID and LID; a new array.
 */
GPtrArray *election_rivals(const struct sm_info *self, const GArray *before,
			const GArray *found, const struct snapshot *s);

/* True if `peers` (or NULL: none) has a manager with this GUID; in `state`,
 * 0: in any. */
bool election_has_peer(const GArray *peers, uint64_t guid, unsigned state);

/*
 * Sends Set(SMInfo) with the control to a peer; `self` is what we say of
 * ourselves. The reply is ignored.
 */
void election_control(struct mad_client *x, const struct mkey_db *keys,
		   const struct snapshot *s, uint32_t port,
		   enum sm_control control, const struct sm_info *self);

#endif
