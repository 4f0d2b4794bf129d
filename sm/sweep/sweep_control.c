// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Set(SMInfo): what managers tell each other (IBA 14.4.1).
 *
 *	master			standby
 *	HANDOVER ------------->	hooks.offered: it may read the last of what
 *				the master knows
 *	released <- ACKNOWLEDGE	sweep_accept: MASTER, a heavy sweep
 *
 * A master that finds a higher rank is a standby from HANDOVER on, and one that
 * ends takes no part.
 */
#include "sm/sweep/sweep.h"

/* Any port could send a control that makes this SM become, or stop being,
 * the master: only SMs that were found by the election may. */
static bool
may_control(const struct sweep *s, enum sm_control control,
	    const struct sm_info *from)
{
	if (s->paused)
		return false;
	if (control != SM_CONTROL_HANDOVER ||
	    s->self.state != SM_STATE_STANDBY)
		return election_has_peer(s->others, from->guid, 0);
	return s->elected && s->elected->ports[s->master].guid == from->guid;
}

void
sweep_control(struct sweep *s, enum sm_control control,
	      const struct sm_info *from)
{
	log_say(s->log, LOG_INFO, "sweep", "SMInfo control %u from 0x%016"
		G_GINT64_MODIFIER "x (%s)", control, from->guid,
		sm_state_name(from->state));
	if (!may_control(s, control, from)) {
		log_limited(s->log, LOG_WARNING, "sweep", "SMInfo control "
			    "ignored", "%u from 0x%016" G_GINT64_MODIFIER
			    "x: %s", control, from->guid, s->paused ?
			    "this manager is paused" :
			    "it does not come from the master or a standby "
			    "that we know");
		return;
	}
	switch (control) {
	case SM_CONTROL_HANDOVER:
		if (s->self.state != SM_STATE_STANDBY)
			sweep_request(s, SWEEP_CAUSE_ELECTION);
		else if (!s->params.hooks.offered ||
			 !s->params.hooks.offered(s->params.hooks.data))
			sweep_accept(s);
		break;
	case SM_CONTROL_STANDBY:
	case SM_CONTROL_DISCOVER:
		if (s->self.state != SM_STATE_MASTER && !s->over) {
			sweep_set_sm_state(s, SM_STATE_DISCOVERING);
			sweep_request(s, SWEEP_CAUSE_ELECTION);
		}
		break;
	case SM_CONTROL_ACKNOWLEDGE:
		if (s->over && s->params.hooks.released)
			s->params.hooks.released(s->params.hooks.data);
		break;
	case SM_CONTROL_DISABLE:
		/* Only a standby may be disabled, and a disabled SM would
		 * never take over: we stay a standby. */
		break;
	}
}

void
sweep_accept(struct sweep *s)
{
	if (s->self.state != SM_STATE_STANDBY)
		return;
	election_control(s->x, s->keys, s->elected, s->master,
			 SM_CONTROL_ACKNOWLEDGE, &s->self);
	sweep_set_sm_state(s, SM_STATE_MASTER);
	sweep_request(s, SWEEP_CAUSE_ELECTION);
}

bool
sweep_retire(struct sweep *s)
{
	const struct election_peer *peers = s->others ?
		(void *)s->others->data : NULL;
	guint n = s->others ? s->others->len : 0;
	uint32_t port = SNAPSHOT_NONE;
	size_t who = n;

	if (s->self.state == SM_STATE_MASTER && s->view.subnet && !s->over)
		who = election_heir(&s->self, peers, n);
	if (who < n)
		port = snapshot_find_port(s->view.subnet,
					  peers[who].info.guid);
	if (port == SNAPSHOT_NONE)
		return false;
	log_say(s->log, LOG_INFO, "sweep", "exiting: handing over to %s",
		snapshot_name_of(s->view.subnet, port));
	sweep_stop(s);
	s->over = true;
	sweep_set_state(s, SWEEP_IDLE);
	election_control(s->x, s->keys, s->view.subnet, port,
			 SM_CONTROL_HANDOVER, &s->self);
	sweep_set_sm_state(s, SM_STATE_NOT_ACTIVE);
	return true;
}
