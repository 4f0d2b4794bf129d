// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What reaches a sweep from outside: parameters and queries of the process,
 * the operator's links to avoid, counted traps, and Set(SMInfo).
 *
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

#include "topology/each.h"

#define STAGE_MAX_US	(600 * (int64_t)G_USEC_PER_SEC)
#define PAUSES_MAX	3
#define LATE_US		(100 * 1000)	/* so long after a stall traps are read */
#define IDLE_MIN_US	(10 * (int64_t)G_USEC_PER_SEC)	/* a loop may be late */

/* ---------------------------------------------------------- other managers */

void
sweep_control(struct sweep *s, enum sm_control control,
	      const struct sm_info *from)
{
	/* Any port could send a control that makes this SM become, or stop
	 * being, the master: only SMs that were found by the election may. */
	int64_t now = transport_now(s->t);
	bool known = control == SM_CONTROL_HANDOVER &&
		s->self.state == SM_STATE_STANDBY ?
		s->elected && s->elected->ports[s->master].guid == from->guid :
		election_has_peer(s->others, from->guid, 0);

	log_say(s->log, LOG_INFO, "sweep", "SMInfo control %u from 0x%016"
		G_GINT64_MODIFIER "x (%s)", control, from->guid,
		sm_state_name(from->state));
	const char *objection = s->paused ? "this manager is paused" : !known ?
		"it does not come from the master or a standby that we know" :
		NULL;

	/* Each makes a heavy sweep, and its sender is known by its payload
	 * alone: as many as traps that do so. */
	if (!objection && control == SM_CONTROL_HANDOVER &&
	    s->self.state != SM_STATE_STANDBY) {
		if (bucket_due(&s->traps, s->trap_us) > now)
			objection = "there were too many of them lately";
		else
			bucket_take(&s->traps, s->trap_us, now);
	}
	if (objection) {
		log_limited(s->log, LOG_WARNING, "sweep", "SMInfo control "
			    "ignored", "%u from 0x%016" G_GINT64_MODIFIER
			    "x: %s", control, from->guid, objection);
		return;
	}
	switch (control) {
	case SM_CONTROL_HANDOVER:
		s->heard = now;
		if (s->self.state != SM_STATE_STANDBY)
			sweep_request(s, SWEEP_CAUSE_ELECTION);
		else if (s->params.hooks.offered)
			s->params.hooks.offered(s->params.hooks.data);
		else
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
sweep_accept(void *sweep)
{
	struct sweep *s = sweep;

	if (s->self.state != SM_STATE_STANDBY)
		return;
	election_control(s->x, s->keys, s->elected, s->master,
			 SM_CONTROL_ACKNOWLEDGE, &s->self);
	sweep_set_sm_state(s, SM_STATE_MASTER);
	/* a guest may have started since the former master looked */
	sweep_show(s);
}

bool
sweep_retire(struct sweep *s)
{
	const struct election_peer *standby;
	uint32_t port;

	if (s->self.state != SM_STATE_MASTER || !s->view.subnet || s->over)
		return false;
	standby = election_highest(&s->self, s->others, SM_STATE_STANDBY,
				   ELECTION_HAND_OVER);
	/* One that did not answer the last time may have been starved. */
	port = snapshot_find_port(s->view.subnet, standby ?
				  standby->info.guid : s->heir);
	if (port == SNAPSHOT_NONE || !(s->view.subnet->ports[port].info.cap_mask &
				       PORT_CAP_IS_SM))
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

/* --------------------------------------------------- parameters and queries */

void
sweep_forget_repair(struct sweep *s)
{
	g_clear_pointer(&s->repair, repair_free);
	s->run.is_outdated = true;
}

void
sweep_set_route(struct sweep *s, const struct route_params *route)
{
	s->params.route = *route;
	sweep_forget_repair(s);
}

bool
sweep_reroute(struct sweep *s)
{
	if (!s->view.is_repaired && !s->view.choice.keeps_held)
		return false;
	s->view.is_repaired = s->view.choice.keeps_held = false;
	sweep_forget_repair(s);
	sweep_request(s, SWEEP_CAUSE_GROUPS);
	return true;
}

void
sweep_set_names(struct sweep *s, GHashTable *names)
{
	if (names)
		g_hash_table_ref(names);
	g_clear_pointer(&s->params.names, g_hash_table_unref);
	s->params.names = names;
}

void
sweep_set_partitions(struct sweep *s, struct partition_rules *rules)
{
	partition_rules_ref(rules);
	partition_rules_unref(s->params.isolation.rules);
	s->params.isolation.rules = rules;
}

void
sweep_set_priority(struct sweep *s, unsigned priority)
{
	log_say(s->log, LOG_INFO, "sweep", "priority %u -> %u",
		s->self.priority, priority);
	s->self.priority = (uint8_t)priority;
	s->params.take_over = false;
	sweep_show(s);
}

void
sweep_take_over(struct sweep *s)
{
	s->params.take_over = true;
	sweep_show(s);
}

void
sweep_sm_info(const struct sweep *s, struct sm_info *out)
{
	*out = s->self;
	out->act_count = (uint32_t)s->x->stats.sent;
}

void
sweep_suspend(struct sweep *s, const char *why)
{
	const struct sweep_report r = {
		.end = SWEEP_END_FAILED, .causes = "", .error = why,
		.cut_off = true,
	};

	sweep_stop(s);
	s->cut_off = true;
	s->up = false;
	sweep_set_state(s, SWEEP_SUSPENDED);
	s->end(&r, s->data);
}

void
sweep_resume(struct sweep *s)
{
	sweep_set_state(s, SWEEP_IDLE);
	sweep_set_sm_state(s, SM_STATE_DISCOVERING);
	sweep_request(s, SWEEP_CAUSE_SIGNAL);
}

bool
sweep_is_heir(const struct sweep *s, uint16_t lid)
{
	uint32_t port = sweep_lid_owner(&s->view, lid);

	return s->heir && port != SNAPSHOT_NONE &&
		s->view.subnet->ports[port].guid == s->heir;
}

void
sweep_replaced(struct sweep *s, uint16_t lid)
{
	log_say(s->log, LOG_WARNING, "sweep", "the manager at LID %u has become "
		"the master: this one stood still, or was cut off", lid);
	if (!sweep_is_heir(s, lid)) {
		sweep_begin_anew(s);
		return;
	}
	sweep_suspend(s, "another subnet manager has become the master");
	sweep_resume(s);
}

bool
sweep_is_stalled(const struct sweep *s)
{
	int64_t since = transport_now(s->t) - s->state_since;
	int64_t pause = s->self.state == SM_STATE_STANDBY && s->elected ?
		(int64_t)s->params.poll_ms * 1000 :
		(int64_t)s->params.sweep_s * G_USEC_PER_SEC;

	if (s->paused || s->over || s->state == SWEEP_SUSPENDED ||
	    (s->state == SWEEP_IDLE && !pause))
		return false;
	return since > (s->state == SWEEP_IDLE ?
			MAX(PAUSES_MAX * pause, IDLE_MIN_US) : STAGE_MAX_US);
}

const GArray *
sweep_peers(const struct sweep *s, const struct snapshot **where)
{
	*where = s->self.state == SM_STATE_STANDBY ? s->elected :
		s->view.subnet;
	return s->others;
}

/* --------------------------------------------------------- babbling ports */

/* The end of a link, at a switch, that is nearer to the SM; SNAPSHOT_NONE:
 * the link must not be cut, since it is the SM's own or the only one to some
 * node. */
static uint32_t
end_to_disable(const struct snapshot *n, uint32_t port)
{
	const struct avoid_wish wish = {
		snapshot_node_of(n, port)->info.node_guid, n->ports[port].num,
		AVOID_BY_HAND, 0,
	};
	uint32_t peer = n->ports[port].peer;
	g_autoptr(GArray) wishes = g_array_new(FALSE, FALSE, sizeof(wish));
	g_autoptr(GPtrArray) links = NULL;
	struct dr_path near, far;

	if (peer == SNAPSHOT_NONE || port == n->local_port ||
	    peer == n->local_port)
		return SNAPSHOT_NONE;
	if (!snapshot_is_switch(snapshot_node_of(n, port)))
		return peer;
	if (!snapshot_is_switch(snapshot_node_of(n, peer)))
		return port;
	g_array_append_val(wishes, wish);
	links = avoid_choose(n, wishes, false);
	if (links->len && ((struct avoid_link *)links->pdata[0])->verdict !=
	    AVOID_DONE)
		return SNAPSHOT_NONE;
	return snapshot_path(n, port, &near) && snapshot_path(n, peer, &far) &&
		far.hops < near.hops ? peer : port;
}

/* Disables a port to stop the babbling one, if configured and possible; returns
 * the consequence in words, g_free. */
static char *
disable_babbler(struct sweep *s, struct flap *p, uint32_t port)
{
	const struct snapshot *n = s->view.subnet;
	uint32_t end;
	g_autofree char *name = NULL;

	if (!s->params.flaps.disable || p->held ||
	    s->self.state != SM_STATE_MASTER || s->paused)
		return g_strdup("");
	end = end_to_disable(n, port);
	if (end == SNAPSHOT_NONE)
		return g_strdup("; its link is needed, so the port is not "
				"disabled");
	p->disabled_guid = snapshot_node_of(n, end)->info.node_guid;
	p->disabled_num = n->ports[end].num;
	flaps_hold(s->flaps, p, transport_now(s->t));
	persist_keep_disabled(s->memory, p->disabled_guid, p->disabled_num,
			      true);
	sweep_changed(s, SWEEP_CAUSE_TRAP, p->disabled_guid);
	sweep_reread(s);
	name = snapshot_port_name(n, end);
	return g_strdup_printf("; port %s is disabled for %" G_GINT64_FORMAT
			       " s", name, p->pause / G_USEC_PER_SEC);
}

uint32_t
sweep_disabled_port(const struct flap *p, const struct snapshot *n)
{
	return !p->disabled_num ? SNAPSHOT_NONE :
		snapshot_port_of(n, snapshot_find_node(n, p->disabled_guid),
				 p->disabled_num);
}

/* The record of a disabled port stays, also over a restart, until the port was
 * read back as enabled: its switch may be away when the hold ends, or the Set
 * may be lost. */
static void
forget_enabled(struct sweep *s, struct flap *p)
{
	const struct snapshot *n = s->view.subnet;
	uint32_t port = sweep_disabled_port(p, n);

	if (p->held || p->held_until >= s->last_end || port == SNAPSHOT_NONE ||
	    !n->ports[port].known ||
	    n->ports[port].info.phys_state == PORT_PHYS_DISABLED)
		return;
	log_say(s->log, LOG_INFO, "fabric", "enabled again: %s", p->name);
	persist_keep_disabled(s->memory, p->disabled_guid, p->disabled_num,
			      false);
	p->disabled_num = 0;
}

/* The holds of a former master end, too: it would disable ports that the present
 * one has enabled. */
void
sweep_release_flaps(struct sweep *s)
{
	int64_t now = transport_now(s->t);
	g_autoptr(GPtrArray) list = NULL;
	bool is_ours = sweep_has_fabric(s);

	if (flaps_due(s->flaps) > now && !s->memory->disabled->len)
		return;
	list = flaps_list(s->flaps, now);
	EACH_PTR(struct flap, p, list) {
		/* after one that failed or was broken off, the view is older */
		if (is_ours && !s->failed && !s->astray)
			forget_enabled(s, p);
		if (!p->held || p->held_until > now)
			continue;
		flap_release(p, now);
		if (!is_ours)
			continue;
		log_say(s->log, LOG_INFO, "fabric", "no longer held down: %s",
			p->name);
		sweep_changed(s, SWEEP_CAUSE_RELEASED, p->guid);
		if (p->far_guid)
			sweep_changed(s, SWEEP_CAUSE_RELEASED, p->far_guid);
		if (p->disabled_num)
			sweep_changed(s, SWEEP_CAUSE_RELEASED,
				      p->disabled_guid);
	}
}

void
sweep_count_trap(struct sweep *s, uint16_t lid, unsigned num)
{
	uint32_t port = sweep_lid_owner(&s->view, lid);
	int64_t now = transport_now(s->t);
	bool is_late = now - MAX(s->x->stalled, s->x->quiet_until) < LATE_US;
	g_autofree char *done = NULL;
	struct flap *p;

	if (port != SNAPSHOT_NONE && num)
		port = snapshot_port_of(s->view.subnet,
					s->view.subnet->ports[port].node, num);
	if (port == SNAPSHOT_NONE)
		return;
	p = flaps_trap(s->flaps, s->view.subnet, port, is_late, now);
	if (!p)
		return;
	done = num ? disable_babbler(s, p, port) : g_strdup("");
	log_say(s->log, LOG_WARNING, "trap", "babbling: %s sent %u traps "
		"within a minute%s", p->name, p->traps_now, done);
}

/* --------------------------------------------------------- links to avoid */

/* The wish for this port, or NULL. */
static struct avoid_wish *
find_wish(const GArray *wishes, uint64_t guid, uint8_t num, unsigned cause)
{
	EACH_ITEM(struct avoid_wish, w, wishes)
		if (w->guid == guid && w->num == num && w->causes == cause)
			return w;
	return NULL;
}

static void
wishes_changed(struct sweep *s, uint64_t guid)
{
	if (!s->view.subnet)
		return;
	sweep_changed(s, SWEEP_CAUSE_AVOID, guid);
	sweep_reread(s);
}

bool
sweep_avoid(struct sweep *s, uint64_t guid, uint8_t num, uint64_t errors)
{
	const struct avoid_wish wish = {
		guid, num, errors ? AVOID_ERRORS : AVOID_BY_HAND, errors
	};
	struct avoid_wish *old = find_wish(s->wishes, guid, num, wish.causes);

	if (find_wish(s->wishes, guid, num, AVOID_BY_HAND))
		return false;
	if (old) {		/* their number is for the next sweep */
		old->errors = errors;
		return true;
	}
	g_array_append_val(s->wishes, wish);
	wishes_changed(s, guid);
	return true;
}

bool
sweep_use(struct sweep *s, uint64_t guid, uint8_t num, bool only_errors)
{
	guint n = s->wishes->len;

	for (guint i = n; i-- > 0;) {
		const struct avoid_wish *w =
			&g_array_index(s->wishes, struct avoid_wish, i);

		if (w->guid == guid && w->num == num &&
		    (!only_errors || w->causes == AVOID_ERRORS))
			g_array_remove_index(s->wishes, i);
	}
	if (s->wishes->len == n)
		return false;
	wishes_changed(s, guid);
	return true;
}
