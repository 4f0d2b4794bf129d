/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which subnet manager is the master (IBA 14.4.1). Pure.
 */
#ifndef MINISM_SWEEP_ELECTION_H
#define MINISM_SWEEP_ELECTION_H

#include <stddef.h>

#include "sm/mad/smp.h"

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

#endif
