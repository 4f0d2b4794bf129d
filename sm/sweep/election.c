// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The election.
 *
 * IBA 14.4.1 gives every SM the same rule, so all come to the same result
 * without a vote:
 *
 *	1. One that is not master yet and finds a master obeys it, whatever the
 *	   ranks: it is for the master to hand over to one that ranks higher.
 *	2. Without a master, the highest rank takes over; all others wait.
 *	3. A master that finds a standby, or another master, of higher rank
 *	   hands over to it. One of lower rank will hand over to us.
 *
 * An SM that is not active takes no part. Rank is priority, then lower GUID.
 *
 * SM_Key. Without one of ours (0), every SM is trusted. With one, an SM that
 * shows another one takes no part either: two managers of two owners, which is
 * told, for both write to the same ports. OpenSM has 1, so 1 is our default. 0
 * is what an SM shows to those that it cannot tell from anybody (IBA
 * 14.2.5.13); such a one is obeyed, which harms nothing that was not harmed
 * before, but a fabric is handed over only to an SM that shows our key.
 */
#include "sm/sweep/election.h"

bool
election_outranks(const struct sm_info *a, const struct sm_info *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->guid < b->guid;
}

enum trust {
	TRUST_OBEY,		/* it may be one of ours */
	TRUST_HAND_OVER,	/* it is */
};

static bool
is_trusted(const struct sm_info *self, const struct sm_info *p,
	   enum trust trust)
{
	if (!self->sm_key || p->sm_key == self->sm_key)
		return true;
	return !p->sm_key && trust == TRUST_OBEY;
}

bool
election_is_stranger(const struct sm_info *self, const struct sm_info *peer)
{
	return !is_trusted(self, peer, TRUST_OBEY);
}

/* The highest rank among the trusted peers in `state` (0: in any that counts);
 * n_peers if there is none. */
static size_t
highest(const struct sm_info *self, const struct election_peer *peers,
	size_t n_peers, unsigned state, enum trust trust)
{
	size_t best = n_peers;

	for (size_t i = 0; i < n_peers; i++) {
		const struct sm_info *p = &peers[i].info;

		if (p->state == SM_STATE_NOT_ACTIVE)
			continue;
		if (state && p->state != state)
			continue;
		if (!is_trusted(self, p, trust))
			continue;
		if (best == n_peers ||
		    election_outranks(p, &peers[best].info))
			best = i;
	}
	return best;
}

enum election_outcome
election_decide(const struct sm_info *self, const struct election_peer *peers,
		size_t n_peers, size_t *who)
{
	enum trust trust = self->state == SM_STATE_MASTER ? TRUST_HAND_OVER :
		TRUST_OBEY;
	size_t master = highest(self, peers, n_peers, SM_STATE_MASTER, trust);
	size_t standby = highest(self, peers, n_peers, SM_STATE_STANDBY,
				 trust);
	size_t any = highest(self, peers, n_peers, 0, trust);

	if (self->state == SM_STATE_MASTER) {
		*who = master < n_peers &&
			election_outranks(&peers[master].info, self) ?
			master : standby;
		return *who < n_peers &&
			election_outranks(&peers[*who].info, self) ?
			ELECTION_HANDOVER : ELECTION_MASTER;
	}
	*who = master < n_peers ? master : any;
	if (master < n_peers)
		return ELECTION_STANDBY;
	if (any < n_peers && election_outranks(&peers[any].info, self))
		return ELECTION_STANDBY;
	return ELECTION_MASTER;
}
