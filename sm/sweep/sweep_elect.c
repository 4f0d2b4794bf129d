// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sweep's part in elections: it asks the other managers, and becomes master
 * or standby by their answers.
 *
 *	sweep_elect		in a heavy sweep: master, or standby and its end
 *	sweep_poll_peers	after a light sweep, as the master
 *	sweep_poll_master	as a standby, at intervals
 *	sweep_settle_doubt	at a request to the SA, as the master: if no MAD
 *				came for a second, this process may have stood
 *				still; MasterSMLID of its port names the master
 *
 * election.c decides which manager is the master.
 *
 * A guest is a subnet manager without a configured priority. By the rules of the
 * election (IBA 14.4.1) a manager that is started to have a look would take over a
 * fabric from a master of the same priority and a higher GUID, and write all that
 * it decides otherwise. A guest does not.
 * If its port obeys another manager, IsSM is not set at the start, so that a
 * master does not see it, and cannot hand over to it. If there is a living master,
 * whatever its rank and SM_Key, the guest polls it, unseen, like a standby. Without
 * one it sets IsSM, looks once more, since another guest may do the same at this
 * moment, and takes part in the election. A guest that outranks a manager that is
 * still discovering queries it again until that has become something else: it may
 * have looked before this one was seen.
 * SMInfo of a guest that is not seen says NOT ACTIVE (14.4.1): a manager in this
 * state takes no part.
 */
#include "sm/sweep/sweep.h"

#include "sm/config/guid_files.h"
#include "topology/each.h"

#define GUEST_WAIT_US	(100 * 1000)
#define GUEST_WAITS_MAX	10u
#define VAIN_US		(10 * (int64_t)G_USEC_PER_SEC)	/* a discovery, of most */
#define LOOKS_MAX	3u	/* of a process that always stands still */

/* Sets IsSM, or clears it. */
static void
set_is_sm(struct sweep *s, bool shown)
{
	if (s->params.hidden == !shown)
		return;
	s->params.hidden = !shown;
	if (s->params.show)
		s->params.show(shown, s->params.show_data);
}

static void
obey(struct sweep *s, const struct election_peer *master)
{
	struct sweep_report r = { .end = SWEEP_END_STANDBY };
	const struct snapshot_node *n = snapshot_node_of(s->next.subnet,
							 master->port);

	r.master = n;
	log_say(s->log, LOG_INFO, "sweep", "SUBNET STANDBY: the master is on "
		"%s (0x%016" G_GINT64_MODIFIER "x)", snapshot_node_name(n),
		n->info.node_guid);
	sweep_set_sm_state(s, SM_STATE_STANDBY);
	snapshot_unref(s->elected);
	s->elected = snapshot_ref(s->next.subnet);
	s->master = master->port;
	s->polls_lost = 0;
	s->heard = transport_now(s->t);
	s->up = s->cut_off = s->owes_lfts = false;
	if (s->params.guest) {
		set_is_sm(s, false);
		log_say(s->log, LOG_INFO, "sweep", "no priority is configured: "
			"this manager leaves the fabric to the master on %s, "
			"and takes over when that ends; to take over now: "
			"\"minismctl takeover\", or start it with --takeover "
			"or a priority", snapshot_node_name(n));
	}
	sweep_view_clear(&s->view);
	sweep_set_last(s, NULL);
	sweep_conclude(s, &r);
}

/* Keeps the other managers, found in `n`, and logs those that are foreign or
 * manage the same ports. */
static void
note_peers(struct sweep *s, GArray *found, const struct snapshot *n)
{
	const GArray *before = s->self.state == SM_STATE_MASTER ? s->others :
		NULL;
	const struct election_peer *heir;

	EACH_ITEM(struct election_peer, p, s->params.allowed_sms ? found : NULL)
		p->is_foreign = !guid_list_has(s->params.allowed_sms,
					       n->ports[p->port].guid);
	g_clear_pointer(&s->rivals, g_ptr_array_unref);
	s->rivals = election_rivals(&s->self, before, found, n, &s->contested);
	s->contested &= s->params.goal == SWEEP_GOAL_FABRIC;
	g_clear_pointer(&s->others, g_array_unref);
	s->others = g_array_ref(found);
	heir = election_highest(&s->self, found, SM_STATE_STANDBY,
				ELECTION_HAND_OVER);
	if (heir)
		s->heir = heir->info.guid;
	EACH_PTR(const char, line, s->rivals)
		log_limited(s->log, LOG_WARNING, "sweep", "another subnet "
			    "manager", "%s", line);
}

/* Is there no master, and a manager that may be one? It has as many polls as a
 * standby's master, which is not asked once more here, unless this process stood
 * still since the discovery. */
static bool
asks_again(struct sweep *s, const GArray *found, uint32_t silent)
{
	const struct snapshot *n = s->next.subnet;

	if (silent == SNAPSHOT_NONE || s->self.state == SM_STATE_MASTER ||
	    election_highest(&s->self, found, SM_STATE_MASTER, ELECTION_OBEY))
		return false;
	if (s->x->stalled >= s->run.began && sweep_stood(s))
		return true;
	if (s->polls_lost >= s->params.polls_lost)
		return false;
	s->polls_lost++;
	log_limited(s->log, LOG_INFO, "sweep", "a silent subnet manager",
		    "%s port %u has a subnet manager that does not answer: it "
		    "is asked again",
		    snapshot_node_name(snapshot_node_of(n, silent)),
		    n->ports[silent].num);
	sweep_wait(s, (int64_t)s->params.poll_ms * 1000, sweep_look_again);
	return true;
}

/* To take over: the priority goes above that of the master. */
static void
outrank(struct sweep *s, const GArray *found)
{
	const struct election_peer *master = election_highest(&s->self, found,
					SM_STATE_MASTER, ELECTION_OBEY);
	unsigned priority = master ? master->info.priority : 0;

	if (!s->params.take_over || !master ||
	    election_outranks(&s->self, &master->info))
		return;
	if (priority == SM_PRIORITY_MAX) {
		log_say(s->log, LOG_WARNING, "sweep", "cannot take over: the "
			"master has the highest priority, %u, and the lower "
			"GUID", SM_PRIORITY_MAX);
		return;
	}
	log_say(s->log, LOG_INFO, "sweep", "taking over: priority %u -> %u",
		s->self.priority, priority + 1);
	s->self.priority = (uint8_t)(priority + 1);
}

/* A guest before the election. False: that decides. */
static bool
goes_another_way(struct sweep *s, const GArray *found)
{
	const struct election_peer *p;

	if (!s->params.guest || s->self.state == SM_STATE_MASTER)
		return false;
	p = election_highest(&s->self, found, SM_STATE_MASTER, ELECTION_ANY);
	if (p) {
		obey(s, p);
		return true;
	}
	if (s->params.hidden) {
		set_is_sm(s, true);
		if (s->params.goal == SWEEP_GOAL_FABRIC) {
			sweep_look_again(s);
			return true;
		}
	}
	p = election_highest(&s->self, found, SM_STATE_DISCOVERING,
			     ELECTION_OBEY);
	if (p && election_outranks(&s->self, &p->info) &&
	    s->waits++ < GUEST_WAITS_MAX) {
		sweep_wait(s, GUEST_WAIT_US, sweep_elect);
		return true;
	}
	s->waits = 0;
	return false;
}

void
sweep_show(struct sweep *s)
{
	s->params.guest = false;
	set_is_sm(s, true);
	sweep_request(s, SWEEP_CAUSE_ELECTION);
}

/* An agent takes SMPs in turn: none waits where all were answered at once. */
static void
inherit_late(struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;

	if (s->self.state == SM_STATE_MASTER ||
	    n->ports[n->local_port].info.state < PORT_STATE_ACTIVE ||
	    !(n->n_faults || mad_client_knows_slow(s->x)))
		return;
	late_inherit(s->late, transport_now(s->t));
}

static void
sweep_on_peers(GArray *found, uint32_t silent, void *data)
{
	struct sweep *s = data;
	const struct election_peer *chosen;
	enum election_outcome outcome;
	/* one of the last election that is none any more may have written until a
	 * moment ago */
	bool is_shared = election_has_master(s->others) ||
		election_has_master(found);

	s->run.batch = NULL;
	note_peers(s, found, s->next.subnet);
	sweep_note(s, SWEEP_NOTE_ELECTED);
	if (s->params.goal == SWEEP_GOAL_OBSERVE) {
		heavy_sweep_start(s);
		return;
	}
	s->astray |= is_shared;
	if (asks_again(s, found, silent))
		return;
	outrank(s, found);
	if (goes_another_way(s, found))
		return;
	outcome = election_decide(&s->self, found, &chosen);
	/* it may reach nothing, and never become the master */
	if (outcome == ELECTION_STANDBY && chosen->info.guid == s->vain_guid &&
	    chosen->info.state == SM_STATE_DISCOVERING &&
	    transport_now(s->t) - s->vain_since >= VAIN_US)
		outcome = ELECTION_MASTER;
	switch (outcome) {
	case ELECTION_MASTER:
		s->polls_lost = 0;
		s->vain_guid = 0;
		/* clients may have registered with it while this one stood
		 * still */
		s->cut_off |= s->in_doubt && election_highest(&s->self, found,
					SM_STATE_MASTER, ELECTION_ANY);
		inherit_late(s);
		sweep_set_sm_state(s, SM_STATE_MASTER);
		sweep_be_sure(s, s->run.elected);
		if (s->next.lft)	/* it was computed for long */
			heavy_sweep_decide(s);
		else
			heavy_sweep_start(s);
		break;
	case ELECTION_HANDOVER:
		log_say(s->log, LOG_INFO, "sweep", "handing over to an SM of "
			"higher rank");
		election_control(s->x, s->keys, s->next.subnet, chosen->port,
				 SM_CONTROL_HANDOVER, &s->self);
		obey(s, chosen);
		break;
	case ELECTION_STANDBY:
		obey(s, chosen);
		break;
	}
}

void
sweep_be_sure(struct sweep *s, int64_t asked)
{
	s->in_doubt = false;
	s->sure_at = asked;
	if (s->params.hooks.sure)
		s->params.hooks.sure(s->params.hooks.data);
}

static void
sweep_on_doubt(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct sweep *s = data;
	uint16_t other = s->view.subnet ? election_looked(s->view.subnet, a) :
		LID_NONE;

	s->doubt = 0;
	if (other && !(s->in_doubt && s->paused))
		sweep_replaced(s, other);
	else if (!other && (!s->in_doubt || s->state == SWEEP_IDLE))
		sweep_be_sure(s, s->looks < LOOKS_MAX ? s->doubted :
			      transport_now(s->t));
}

bool
sweep_settle_doubt(struct sweep *s)
{
	if (s->self.state != SM_STATE_MASTER)
		return s->self.state == SM_STATE_DISCOVERING;
	if (s->doubt || (s->in_doubt && s->state != SWEEP_IDLE))
		return true;
	if ((s->x->quiet_until <= s->sure_at && !s->in_doubt) ||
	    !s->view.subnet || s->state == SWEEP_SUSPENDED) {
		s->looks = 0;
		return false;
	}
	s->looks++;
	s->doubted = transport_now(s->t);
	s->doubt = election_look(s->x, s->keys, s->view.subnet, sweep_on_doubt,
				 s);
	return true;
}

void
sweep_elect(struct sweep *s)
{
	sweep_set_state(s, SWEEP_ELECTING);
	s->run.elected = transport_now(s->t);
	s->run.batch = election_poll_start(s->x, s->keys, s->next.subnet,
			     SNAPSHOT_NONE, sweep_on_peers, s);
}

/* A standby of higher priority may have been discovering during the last
 * heavy sweep, and was not counted in the election. What another master wrote is read
 * when it has come, and when it has ended. */
static void
sweep_on_light_peers(GArray *found, uint32_t silent, void *data)
{
	struct sweep *s = data;
	const struct election_peer *master = observe_master(s), *chosen;
	uint64_t was = master ? master->info.guid : 0;
	bool other, was_contested = s->contested;
	/* one may have been found once alone, and hand over unheard */
	bool has_ended = s->params.goal == SWEEP_GOAL_FABRIC &&
		election_has_master(s->others) && !election_has_master(found);

	s->run.batch = NULL;
	note_peers(s, found, s->view.subnet);
	sweep_log_sent(s, LOG_DEBUG);
	master = observe_master(s);
	other = s->params.goal == SWEEP_GOAL_OBSERVE ?
		was != (master ? master->info.guid : 0) :
		election_decide(&s->self, found, &chosen) != ELECTION_MASTER;
	s->astray |= has_ended;
	if (other || has_ended || s->contested != was_contested)
		s->causes |= 1u << SWEEP_CAUSE_ELECTION;
	sweep_rest(s);
}

void
sweep_poll_peers(struct sweep *s)
{
	s->run.batch = election_poll_start(s->x, s->keys, s->view.subnet,
			     SNAPSHOT_NONE, sweep_on_light_peers, s);
}

static void
sweep_on_poll(GArray *found, uint32_t silent, void *data)
{
	struct sweep *s = data;
	const struct election_peer *p = (void *)found->data;

	s->run.batch = NULL;
	/* What the election recorded about the master is outdated. */
	EACH_ITEM(struct election_peer, other, found->len ? s->others : NULL)
		if (other->info.guid == p->info.guid)
			other->info = p->info;
	s->polls_lost++;
	if (found->len && p->info.state == SM_STATE_MASTER) {
		s->polls_lost = 0;
		s->vain_guid = 0;
		s->heard = transport_now(s->t);
	}
	if (s->polls_lost >= s->params.polls_lost) {
		log_say(s->log, LOG_WARNING, "sweep", "the master does not "
			"answer");
		if (s->vain_guid != s->elected->ports[s->master].guid)
			s->vain_since = transport_now(s->t);
		s->vain_guid = s->elected->ports[s->master].guid;
		sweep_set_sm_state(s, SM_STATE_DISCOVERING);
		s->causes |= 1u << SWEEP_CAUSE_ELECTION;
	}
	sweep_rest(s);
}

void
sweep_poll_master(struct sweep *s)
{
	int64_t now = transport_now(s->t);

	/* If this process stood still, the master has answered clients since. */
	if (!s->polls_lost && now - s->heard > 2000 * (int64_t)s->params.poll_ms)
		s->heard = now;
	sweep_set_state(s, SWEEP_POLLING);
	s->run.batch = election_poll_start(s->x, s->keys, s->elected, s->master,
			     sweep_on_poll, s);
}
