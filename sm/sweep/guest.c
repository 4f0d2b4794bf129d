// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A guest: a subnet manager without a configured priority.
 *
 * Purpose. By the rules of the election (IBA 14.4.1) a manager that is started
 * to have a look would take over a fabric from a master of the same priority
 * and a higher GUID, and write all that it decides otherwise. A guest does not.
 *
 * Method. If the port obeys another manager, IsSM is not set at the start, so
 * that a master does not see it, and cannot hand over to it. If there is a
 * living master, whatever its rank and SM_Key, the guest polls it, unseen, like
 * a standby. Without one it sets IsSM, looks once more, since another guest may
 * do the same at this moment, and takes part in the election. A guest that
 * outranks a manager that is still discovering queries it again until that has
 * become something else: it may have looked before this one was seen.
 *
 * SMInfo of a guest that is not seen says NOT ACTIVE (14.4.1): a manager in this
 * state takes no part.
 */
#include "sm/sweep/sweep.h"

#define WAITS_MAX	10u

void
guest_show(struct sweep *s, bool shown)
{
	if (s->params.hidden == !shown)
		return;
	s->params.hidden = !shown;
	if (s->params.show)
		s->params.show(shown, s->params.show_data);
}

enum guest_step
guest_decide(struct sweep *s, const GArray *found, size_t *who)
{
	const struct election_peer *peers = (void *)found->data;
	size_t n = found->len;

	if (!s->params.guest || s->self.state == SM_STATE_MASTER)
		return GUEST_ELECT;
	*who = election_highest(&s->self, peers, n, SM_STATE_MASTER,
				ELECTION_ANY);
	if (*who < n)
		return GUEST_OBEY;
	if (s->params.hidden) {
		guest_show(s, true);
		if (s->params.goal == SWEEP_GOAL_FABRIC)
			return GUEST_LOOK;
	}
	*who = election_highest(&s->self, peers, n, SM_STATE_DISCOVERING,
				ELECTION_OBEY);
	if (*who < n && election_outranks(&s->self, &peers[*who].info) &&
	    s->waits++ < WAITS_MAX)
		return GUEST_WAIT;
	s->waits = 0;
	return GUEST_ELECT;
}

void
guest_leave(struct sweep *s, uint32_t master)
{
	const struct snapshot *n = s->elected;

	if (!s->params.guest)
		return;
	guest_show(s, false);
	log_say(s->log, LOG_INFO, "sweep", "no priority is configured: this "
		"manager leaves the fabric to the master on %s, and takes over "
		"when that ends; to take over now: \"minismctl takeover\", or "
		"start it with --takeover or a priority",
		snapshot_node_name(snapshot_node_of(n, master)));
}

void
guest_outrank(struct sweep *s, const GArray *found)
{
	const struct election_peer *peers = (void *)found->data;
	size_t who = election_highest(&s->self, peers, found->len,
				      SM_STATE_MASTER, ELECTION_OBEY);
	const struct sm_info *master;

	if (!s->params.take_over || who == found->len)
		return;
	master = &peers[who].info;
	if (election_outranks(&s->self, master))
		return;
	if (master->priority == SM_PRIORITY_MAX) {
		log_say(s->log, LOG_WARNING, "sweep", "cannot take over: the "
			"master has the highest priority, %u, and the lower "
			"GUID", SM_PRIORITY_MAX);
		return;
	}
	log_say(s->log, LOG_INFO, "sweep", "taking over: priority %u -> %u",
		s->self.priority, master->priority + 1u);
	s->self.priority = (uint8_t)(master->priority + 1u);
}

void
sweep_take_over(struct sweep *s)
{
	s->params.guest = false;
	s->params.take_over = true;
	guest_show(s, true);
	sweep_request(s, SWEEP_CAUSE_ELECTION);
}
