// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sweep. There is one function for each state; in this order they are the
 * life of a subnet manager:
 *
 *	sweep_request -> sweep_begin	read nodes and cables (discover.c)
 *		-> sweep_elect		is this SM the master (sweep_elect.c)
 *		-> heavy_sweep_start	read tables, route, program
 *		-> sweep_conclude	report
 *		-> sweep_rest		wait for a cause
 *
 * When idle, a timer starts light sweeps. A trap, a signal or another cause is
 * recorded. When idle, the sweep waits a few milliseconds for more causes
 * (WAITING); during a sweep, a cause starts the next sweep. There are at least
 * HOLD_US between two sweeps.
 *
 * Values. struct sweep is the life; what belongs to one sweep is in `run`, and
 * the view that it makes in `next`: both are freed as a whole when it ends. A
 * sweep that succeeds has moved `next` to the published `view` before.
 *
 * Repair. If all causes are about known nodes (traps, PortStateChange in a
 * light sweep, a link that changed while the plan was sent), only these nodes
 * are read again, by an amended discovery (sm/sweep/amend.c); all other stages
 * are the same. If only the partitions have changed, or what was not done is sent
 * again, no node is read. A heavy sweep is needed
 *
 *	- without a published view, or if this SM is not the master,
 *	- after a sweep that failed: the published view is older,
 *	- for every other cause, such as a signal or a node without a LID,
 *	- if a node of the view did not answer, other than behind a port,
 *	- if the repair finds a fault: a node that reported a change does not
 *	  answer, a GUID is there twice, a port tells another one's LID, or
 *	  another manager has taken our port.
 *
 * A node that reports changes all the time is read once a second, see
 * sm/sweep/amend.c. Traps that need a heavy sweep are limited likewise: three
 * at once, then one a second, in a large fabric less often. One that waits for
 * that delays neither repairs nor light sweeps.
 */
#include "sm/sweep/sweep.h"

#include "sm/sweep/discover.h"
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/program.h"
#include "sm/sweep/table_reader.h"
#include "topology/each.h"
#include "topology/text.h"

#define QUIET_US	(5 * 1000)	/* after a trap: collect more */
#define HOLD_US		(50 * 1000)	/* between two heavy sweeps */
#define TRAP_US		(1000 * 1000)	/* between two for traps, */
#define TRAP_TIMES	10	/* and so many times what the last took */
#define TRAP_US_MAX	(30 * 1000 * 1000)	/* the most */
#define NAMES_MAX	4u	/* names in a log line */
#define STANDS_MAX	3u	/* a sweep begins anew so often */

/* A change was just reported: nodes that did not answer last time are left
 * out. RETRY may be set as well, since a fabric with such nodes is
 * not up. */
#define HURRY		(1u << SWEEP_CAUSE_TRAP | 1u << SWEEP_CAUSE_MEANWHILE)
#define HURRY_BESIDES	(1u << SWEEP_CAUSE_RETRY)

const char *const sweep_state_names[] = {
	[SWEEP_IDLE] = "idle",
	[SWEEP_WAITING] = "waiting",
	[SWEEP_LIGHT] = "light sweep",
	[SWEEP_PROBING] = "querying ports",
	[SWEEP_REREADING] = "reading switches again",
	[SWEEP_DISCOVERING] = "discovering",
	[SWEEP_ELECTING] = "electing",
	[SWEEP_READING] = "reading tables",
	[SWEEP_ROUTING] = "routing",
	[SWEEP_PROGRAMMING] = "programming",
	[SWEEP_POLLING] = "polling the master",
	[SWEEP_SUSPENDED] = "waiting for the port",
};

static const char *const cause_names[] = {
	[SWEEP_CAUSE_START] = "start",
	[SWEEP_CAUSE_SIGNAL] = "requested",
	[SWEEP_CAUSE_TRAP] = "trap",
	[SWEEP_CAUSE_LIGHT] = "change seen",
	[SWEEP_CAUSE_MEANWHILE] = "change during the sweep",
	[SWEEP_CAUSE_RELEASED] = "no longer held down",
	[SWEEP_CAUSE_AVOID] = "links to be avoided",
	[SWEEP_CAUSE_GROUPS] = "groups not reached",
	[SWEEP_CAUSE_RETRY] = "fabric not up",
	[SWEEP_CAUSE_UNTAKEN] = "a field was not taken",
	[SWEEP_CAUSE_LATE] = "a Set may have come late",
	[SWEEP_CAUSE_ELECTION] = "election",
	[SWEEP_CAUSE_PARTITIONS] = "partitions changed",
	[SWEEP_CAUSE_TIME] = "periodic",
};

static void discover_all(struct sweep *s);

/* "trap, election" for bits of enum sweep_cause; g_free. */
static char *
causes_text(unsigned causes)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned c = 0; c < G_N_ELEMENTS(cause_names); c++)
		if (causes & 1u << c)
			g_string_append_printf(text, "%s%s", text->len ?
					       ", " : "", cause_names[c]);
	return g_strdup(text->str);
}

/* "leaf-1, spine-2 and 3 more" for NodeGUIDs; g_free. */
static char *
names_text(const struct sweep *s, const GArray *guids)
{
	const struct snapshot *n = s->view.subnet;
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < MIN(guids->len, NAMES_MAX); i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);
		uint32_t node = snapshot_find_node(n, guid);
		g_autofree char *name = s->params.expected ?
			expected_name(s->params.expected, guid) : NULL;

		g_string_append_printf(text, "%s%s", i ? ", " : "", name ?:
				       node == SNAPSHOT_NONE ? "?" :
				       snapshot_node_name(&n->nodes[node]));
	}
	if (guids->len > NAMES_MAX)
		g_string_append_printf(text, " and %u more",
				       guids->len - NAMES_MAX);
	return g_strdup(text->str);
}

/* All changes of the state go through here. */
void
sweep_set_state(struct sweep *s, enum sweep_state state)
{
	struct sweep_phase *phase = &s->phases[s->state];
	int64_t now = transport_now(s->t), us = now - s->state_since;
	int64_t bound = 1000;

	if (s->state == state)
		return;
	for (unsigned i = 0; i < SWEEP_BUCKETS; i++, bound *= 10)
		phase->within[i] += us <= bound;
	phase->n++;
	phase->us += us;
	s->state_since = now;
	log_say(s->log, LOG_DEBUG, "sweep", "%s -> %s",
		sweep_state_names[s->state], sweep_state_names[state]);
	s->state = state;
	sweep_note(s, SWEEP_NOTE_STATE);
}

void
sweep_set_sm_state(struct sweep *s, enum sm_state state)
{
	GHashTable *clients = NULL;
	/* it was asked for once, not for each election to come */
	if (state == SM_STATE_MASTER)
		s->params.take_over = false;
	if (s->self.state == state || s->params.goal == SWEEP_GOAL_OBSERVE)
		return;
	log_say(s->log, LOG_INFO, "sweep", "SM state %s -> %s",
		sm_state_name(s->self.state), sm_state_name(state));
	s->self.state = state;
	/* Clients now register with the other master. */
	if (state == SM_STATE_STANDBY)
		reregister_forget(s->clients);
	if (state != SM_STATE_MASTER || !s->params.hooks.mastered)
		return;
	s->former = s->params.hooks.mastered(s->cut_off ? INT64_MAX : s->heard,
					  &clients, s->params.hooks.data);
	flaps_enable(s->flaps, s->memory->disabled, transport_now(s->t));
	if (s->former)
		reregister_trust(s->clients, s->former, clients);
}

void
sweep_view_clear(struct view *v)
{
	if (v->subnet)
		snapshot_unref(v->subnet);
	lid_map_free(v->lids);
	lft_free(v->lft);
	lft_seen_free(v->seen);
	port_tables_unref(v->tables);
	partition_rules_unref(v->rules);
	memberships_unref(v->memberships);
	choice_clear(&v->choice);
	g_clear_pointer(&v->avoided, g_ptr_array_unref);
	g_clear_pointer(&v->silent, g_array_unref);
	*v = (struct view){ 0 };
}

/* What a sweep that waits does next, and when. */
struct next {
	int64_t when;
	void (*run)(struct sweep *s);	/* NULL: it waits for a cause */
	enum sweep_state state;		/* until then */
};

static void
sweep_on_timer(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	s->what(s);
}

static void
set_timer(struct sweep *s, struct next n)
{
	transport_timer_clear(s->t, &s->timer);
	s->what = n.run;
	if (n.run)
		s->timer = transport_timer_start(s->t, n.when, sweep_on_timer,
						 s);
}

void
sweep_wait(struct sweep *s, int64_t us, void (*run)(struct sweep *s))
{
	set_timer(s, (struct next){ transport_now(s->t) + us, run, s->state });
}

/* Ends what is under way, without a report, and frees all values of it. */
static void
clear_run(struct sweep *s)
{
	struct sweep_run *r = &s->run;
	struct choice *c = &s->view.choice;

	g_clear_pointer(&r->batch, smp_batch_free);
	g_clear_pointer(&r->routing, beside_cancel);
	mad_client_cancel(s->x, r->look);
	plan_free(r->plan);
	g_clear_pointer(&r->problems, g_ptr_array_unref);
	g_clear_pointer(&r->remarks, g_ptr_array_unref);
	g_clear_pointer(&r->lost, g_array_unref);
	g_free(r->fresh);
	port_tables_unref(r->qos);
	isolation_free(r->isolation);
	g_free(r->reregister);
	g_free(r->phys);
	g_free(r->untaken);
	*r = (struct sweep_run){ 0 };
	/* the stages of its update are written */
	g_clear_pointer(&c->bridge, lft_free);
	g_clear_pointer(&c->later, g_array_unref);
	c->hosts_wait = false;
	sweep_view_clear(&s->next);
}

void
sweep_stop(struct sweep *s)
{
	mad_client_cancel_owner(s->x, s);
	s->doubt = 0;
	transport_timer_clear(s->t, &s->timer);
	clear_run(s);
}

static void
set_light_due(struct sweep *s)
{
	s->light_due = transport_now(s->t) + (int64_t)s->params.sweep_s *
		G_USEC_PER_SEC;
}

void
sweep_conclude(struct sweep *s, const struct sweep_report *r)
{
	g_autofree char *causes = causes_text(s->run.why);
	struct sweep_report told = *r;

	told.causes = causes;
	told.is_repair = s->run.is_repair;
	told.is_anew = s->run.why & 1u << SWEEP_CAUSE_SIGNAL;
	told.peers = s->others;
	told.took_us = transport_now(s->t) - s->run.began;
	sweep_log_sent(s, LOG_VERBOSE);
	log_say(s->log, LOG_VERBOSE, "sweep", "sweep took %.1f %s",
		(double)told.took_us / 1000, transport_ms(s->t));
	s->end(&told, s->data);
	clear_run(s);
	s->stands = 0;
	s->last_end = transport_now(s->t);
	s->last_took = told.took_us;
	if (!told.is_repair) {
		set_light_due(s);
		s->trap_us = CLAMP(TRAP_TIMES * told.took_us, TRAP_US,
				   TRAP_US_MAX);
	}
	if (sweep_goal_stays(s->params.goal)) {
		sweep_rest(s);
		return;
	}
	s->over = true;
	sweep_set_state(s, SWEEP_IDLE);
}

void
sweep_retry(struct sweep *s, enum sweep_cause cause, int64_t min, int64_t max)
{
	int64_t now = transport_now(s->t);
	bool waits = s->causes & 1u << cause && s->retry_due > now;

	/* repairs meanwhile do not put it off */
	s->retry_us = CLAMP(waits ? s->retry_us : 2 * s->retry_us, min, max);
	s->retry_due = waits ? MIN(s->retry_due, now + s->retry_us) :
		now + s->retry_us;
	s->causes |= 1u << cause;
}

bool
sweep_is_whole(const struct sweep *s)
{
	return s->view.subnet && !s->failed &&
		!snapshot_defect(s->view.subnet, false);
}

void
sweep_note_late(void *sweep, uint64_t node_guid, const struct smp_request *r,
		bool is_refused)
{
	struct sweep *s = sweep;
	const struct snapshot *n = s->next.subnet ?: s->view.subnet;
	uint32_t node = n ? snapshot_find_node(n, node_guid) : SNAPSHOT_NONE;

	late_note(s->late, node_guid, r, is_refused ? 0 : transport_now(s->t),
		  s->run.began, node == SNAPSHOT_NONE ||
		  snapshot_is_switch(&n->nodes[node]));
	if (!is_refused)
		sweep_reread(s);
}

void
sweep_fail(struct sweep *s, const char *message)
{
	struct sweep_report r = { .end = SWEEP_END_FAILED,
				  .error = message, .cut_off = s->cut_off };
	int64_t each = (int64_t)s->params.sweep_s * G_USEC_PER_SEC;

	/* once for as long as it lasts; its end is logged as news */
	log_say(s->log, g_strcmp0(s->said, message) ? LOG_ERROR : LOG_VERBOSE,
		"sweep", "SUBNET FAILED: %s; the fabric was left as it was",
		message);
	g_free(s->said);
	s->said = g_strdup(message);
	s->up = false;
	s->failed = true;
	sweep_retry(s, SWEEP_CAUSE_RETRY, MIN(each, G_USEC_PER_SEC), each);
	sweep_conclude(s, &r);
}

/* --------------------------------------------------------------- discover */

/* Takes over n, as discovered, and returns it without the links that are held
 * down. A link that flaps is logged at the start, and again for each hold. */
static struct snapshot *
hold_flaps(struct sweep *s, struct snapshot *n)
{
	g_autoptr(GPtrArray) told = g_ptr_array_new();
	g_autoptr(GPtrArray) needed = g_ptr_array_new();

	if (s->last)
		flaps_note(s->flaps, s->last, n, transport_now(s->t), told);
	n = flaps_apply(s->flaps, n, needed);
	EACH_PTR(const struct flap, p, told) {
		g_autofree char *held = p->held ?
			g_strdup_printf("; held down for %" G_GINT64_FORMAT
					" s", p->pause / G_USEC_PER_SEC) :
			g_strdup("");

		log_say(s->log, LOG_WARNING, "fabric", "flapping: %s went down "
			"%u time%s within an hour%s", p->name, p->downs,
			text_plural(p->downs), held);
	}
	EACH_PTR(const struct flap, p, needed)
		log_say(s->log, LOG_WARNING, "fabric", "%s is not held down: "
			"nodes would be more than %u hops away", p->name,
			DR_MAX_HOPS);
	return n;
}

/* A directed route by which Sets may have been sent, and what it led to. */
struct sweep_way {
	struct dr_path path;
	uint64_t node_guid, port_guid;
	int64_t until;	/* us; see follow_way() */
};

/* The port of another node to which it leads now, since cables have changed places,
 * or SNAPSHOT_NONE: that one may have got its Sets. If it leads to none, since the
 * port was down when it was read, a Set of that time may still have come through
 * it: it is looked at again, until links that are trained should be up. */
static uint32_t
follow_way(struct sweep *s, const struct snapshot *n,
	   const struct sweep_way *way)
{
	uint32_t end = snapshot_path_end(n, &way->path);

	if (end == SNAPSHOT_NONE && way->until > transport_now(s->t))
		g_array_append_vals(s->ways, way, 1);
	if (end == SNAPSHOT_NONE ||
	    snapshot_node_of(n, end)->info.node_guid == way->node_guid)
		return SNAPSHOT_NONE;
	reregister_missed(s->clients, way->port_guid);
	return end;
}

/* Sets go by the directed routes of the published view: a port of `n` may have got
 * those for another one, whose clients are asked again. Why, or NULL; g_free. */
static char *
find_astray(struct sweep *s, const struct snapshot *n)
{
	const struct snapshot *then = s->view.subnet;
	/* beside a sweep, and maybe after the change that this one reads */
	bool wrote = s->x->set_at > MAX(s->last_end, s->run.began -
					 G_USEC_PER_SEC);
	g_autoptr(GArray) ways = s->ways;
	uint32_t end = SNAPSHOT_NONE;
	g_autofree char *name = NULL;
	struct sweep_way w = {
		.until = wrote ? transport_now(s->t) + LATE_SET_US : 0,
	};

	s->ways = g_array_new(FALSE, FALSE, sizeof(w));
	EACH_ITEM(const struct sweep_way, way, ways)
		end = MIN(end, follow_way(s, n, way));
	for (uint32_t port = 0; then && port < then->n_ports; port++) {
		if (!snapshot_is_end_port(then, port) ||
		    !snapshot_path(then, port, &w.path))
			continue;
		w.node_guid = snapshot_node_of(then, port)->info.node_guid;
		w.port_guid = then->ports[port].guid;
		end = MIN(end, follow_way(s, n, &w));
	}
	if (end != SNAPSHOT_NONE)
		name = snapshot_port_name(n, end);
	return !name ? NULL : g_strdup_printf("%s was moved and may have got "
					      "Sets for another node", name);
}

/* The LID of another manager that is the master since the last sweep. */
static uint16_t
find_other(const struct sweep *s, const struct snapshot *n)
{
	return s->self.state == SM_STATE_MASTER && s->view.subnet &&
		n->local_port != SNAPSHOT_NONE ?
		election_lost_to(s->view.subnet,
				 &n->ports[n->local_port].info) : LID_NONE;
}

void
sweep_set_last(struct sweep *s, struct snapshot *n)
{
	struct snapshot *before = s->last;

	s->last = n ? snapshot_ref(n) : NULL;
	snapshot_unref(before);
}

/*
 * A node that answers nothing although its link to us is up: nothing of the fabric
 * can be read, and what is published is still the best that is known. A manager
 * that saw no other port than its own would also become a second master. At
 * protection level 2 the node wants its key, which is made of its GUID. A new
 * string; NULL: it is not so.
 */
static char *
mute_neighbor(const struct sweep *s, const struct snapshot *n)
{
	unsigned level = s->params.policy ? s->params.policy->m_key_protect : 0;
	const struct snapshot_port *own = &n->ports[n->local_port];
	g_autofree char *name = snapshot_port_name(n, n->local_port);
	uint32_t was = s->last ? snapshot_find_port(s->last, own->guid) :
		SNAPSHOT_NONE;
	uint32_t far = was == SNAPSHOT_NONE ? was : s->last->ports[was].peer;

	if (!own->num || own->peer != SNAPSHOT_NONE || own->held)
		return NULL;
	if (s->self.state == SM_STATE_MASTER || !s->keys || level < 2 ||
	    s->keys->mode != MKEY_DB_PER_PORT ||
	    mkey_db_behind(s->keys, own->guid, own->num))
		return g_strdup_printf("%s, the manager's own port, has a link, "
				       "and %s behind it does not answer: hung, "
				       "without a driver, or a foreign M_Key",
				       name, far == SNAPSHOT_NONE ? "the node" :
				       snapshot_name_of(s->last, far));
	return g_strdup_printf("the node behind %s answers nothing: with "
			       "m_key_per_port at protection level %u it wants "
			       "a key that is made of its GUID, which this "
			       "manager does not have; copy guid2mkey and "
			       "neighbors from the master's cache folder",
			       name, level);
}

/*
 * A master that reaches nothing, while a standby at another switch may reach all but
 * that neighbor: the standby takes over once this one does not say that it is the
 * master. After the second sweep that failed, since most such switches answer again
 * soon. So may any other manager once our port is in INIT: its cable was moved.
 */
static void
yield_to_standby(struct sweep *s, const struct snapshot *n)
{
	const struct snapshot *where;
	const GArray *peers = sweep_peers(s, &where);
	bool is_moved = n->ports[n->local_port].info.state <= PORT_STATE_INIT;
	const struct election_peer *heir = peers && where ?
		election_highest(&s->self, peers,
				 is_moved ? 0 : SM_STATE_STANDBY,
				 ELECTION_HAND_OVER) : NULL;
	/* the election may have been on a snapshot that was not published */
	uint32_t port = heir ? snapshot_find_port(where, heir->info.guid) :
		SNAPSHOT_NONE;
	const struct port_info *info = &n->ports[n->local_port].info;
	/* one that has started since waits for the lease, which this one renews */
	bool is_hidden = is_moved && info->m_key_protect > 1 && info->m_key_lease;
	uint32_t own = where ? where->ports[where->local_port].peer :
		SNAPSHOT_NONE;
	uint32_t far;

	if (s->self.state != SM_STATE_MASTER || !s->failed ||
	    (port == SNAPSHOT_NONE && !is_hidden))
		return;
	if (!is_moved) {
		far = snapshot_is_switch(snapshot_node_of(where, port)) ? port :
			where->ports[port].peer;
		if (own == SNAPSHOT_NONE || far == SNAPSHOT_NONE ||
		    where->ports[own].node == where->ports[far].node)
			return;
	}
	log_say(s->log, LOG_WARNING, "sweep", "the manager on %s may take over",
		port == SNAPSHOT_NONE ? "any other port" :
		snapshot_name_of(where, port));
	sweep_set_sm_state(s, SM_STATE_DISCOVERING);
}

/* True: the sweep has ended, since nothing behind our port answers. */
static bool
fail_mute(struct sweep *s, const struct snapshot *n)
{
	g_autofree char *text = mute_neighbor(s, n);

	if (!text)
		return false;
	s->astray = true;	/* others may have written meanwhile */
	yield_to_standby(s, n);
	/* another master may not find it, whatever was written to it before */
	if (s->params.goal == SWEEP_GOAL_FABRIC &&
	    s->self.state != SM_STATE_MASTER)
		s->left_until = election_leave_port(s->x, n,
			&n->ports[n->local_port].info, s->log);
	sweep_fail(s, text);
	return true;
}

/* A repair has read its nodes. False: all of the fabric is read instead, and n is
 * freed. objection: why, or NULL. */
static bool
take_repair(struct sweep *s, struct snapshot *n, const char *objection)
{
	const unsigned trap = 1u << SWEEP_CAUSE_TRAP;

	if (objection) {
		log_say(s->log, LOG_INFO, "sweep", "heavy sweep: %s",
			objection);
		snapshot_unref(n);
		if (s->causes & trap)	/* it serves those that wait, too */
			bucket_take(&s->traps, s->trap_us,
				    transport_now(s->t));
		s->causes &= ~trap;
		discover_all(s);
	} else if (snapshot_defect(s->view.subnet, false)) {
		/* A node that is left out may be the only one by now: it is
		 * found by a heavy sweep, which waits as for a trap. */
		snapshot_inherit_faults(n, s->view.subnet);
		s->causes |= trap;
	}
	return !objection;
}

static void
sweep_on_discovered(struct snapshot *n, GArray *lost, void *data)
{
	struct sweep *s = data;
	g_autofree char *astray = find_astray(s, n);
	uint16_t other = find_other(s, n);
	const char *objection = astray ?: other ? "another manager has written "
		"to our port" : snapshot_defect(n, false);
	g_autofree char *name = NULL, *text = NULL;

	s->run.batch = NULL;
	s->run.lost = g_array_ref(lost);
	if (other && sweep_is_heir(s, other)) {
		snapshot_unref(n);
		sweep_replaced(s, other);
		return;
	}
	s->astray |= astray || other;
	s->run.strays = astray && !other;
	if (s->run.is_repair && !take_repair(s, n, objection))
		return;
	n = hold_flaps(s, n);
	s->next.avoided = avoid_choose(n, s->wishes,
				       s->params.avoid & AVOID_SLOW);
	if (s->next.avoided->len || (s->view.avoided && s->view.avoided->len))
		n = avoid_mark(n, s->next.avoided);
	s->next.subnet = n;
	if (s->params.keystore)
		mkey_db_learn(s->params.keystore->ring, n);
	if (!n->n_nodes || n->local_port == SNAPSHOT_NONE) {
		sweep_fail(s, "our own port does not answer: its adapter "
			   "hangs, or it has a foreign M_Key (see m_key in "
			   "minism.conf(5))");
		return;
	}
	if (n->ports[n->local_port].num > 0 &&
	    n->ports[n->local_port].info.state < PORT_STATE_INIT) {
		s->cut_off = s->view.subnet || s->elected;
		name = snapshot_port_name(n, n->local_port);
		text = g_strdup_printf("%s, the manager's own port, is down: "
				       "no cable, or no link at its other end",
				       name);
		sweep_fail(s, text);
		return;
	}
	if (fail_mute(s, n))
		return;
	sweep_set_last(s, n);
	s->cut_off |= (s->view.subnet || s->elected) &&
		n->ports[n->local_port].info.state < PORT_STATE_ACTIVE;
	log_say(s->log, LOG_VERBOSE, "sweep", "found in %.1f %s: nodes "
		"%u, switches %u, faults %u",
		(double)(transport_now(s->t) - s->run.began) / 1000,
		transport_ms(s->t), n->n_nodes, n->n_switches, n->n_faults);
	if (s->params.goal == SWEEP_GOAL_PLAN)
		heavy_sweep_start(s);
	else
		sweep_elect(s);
}

static void
discover_all(struct sweep *s)
{
	unsigned why = s->run.why;
	bool hurry = why & HURRY && !(why & ~(HURRY | HURRY_BESIDES));
	struct snapshot *expected = s->last || !s->params.expected ? NULL :
		expected_snapshot(s->params.expected);
	const struct discover_params params = {
		.silent = hurry ? s->view.silent : NULL,
		.last = s->last ?: expected,
		.names = s->params.names,
	};

	s->run.is_repair = false;
	g_clear_pointer(&s->run.lost, g_array_unref);	/* of the repair */
	g_array_unref(notices_take(s->notices, transport_now(s->t), INT64_MAX));
	sweep_set_state(s, SWEEP_DISCOVERING);
	s->run.batch = discover_start(s->x, s->keys, &params,
				      sweep_on_discovered, s);
	snapshot_unref(expected);
}

void
sweep_look_again(struct sweep *s)
{
	sweep_view_clear(&s->next);
	discover_all(s);
}

/* The recorded causes that need a heavy sweep now. A trap that waits for its turn
 * is none: meanwhile, all else goes on. */
static unsigned
urgent_causes(const struct sweep *s)
{
	unsigned urgent = s->causes & ~SWEEP_RETRIES;

	/* our port repeats a trap that was sent to its former master, us */
	if (s->left_until > transport_now(s->t))
		urgent &= ~(1u << SWEEP_CAUSE_TRAP);
	return urgent == 1u << SWEEP_CAUSE_TRAP &&
		bucket_due(&s->traps, s->trap_us) > transport_now(s->t) ?
		0 : urgent;
}

/* Another master may have written to any port. */
static bool
can_repair(const struct sweep *s)
{
	return s->view.subnet &&
		!(urgent_causes(s) & ~(1u << SWEEP_CAUSE_PARTITIONS |
				       1u << SWEEP_CAUSE_LATE)) &&
		s->self.state == SM_STATE_MASTER &&
		s->params.goal == SWEEP_GOAL_FABRIC &&
		s->view.subnet->names == s->params.names &&
		!s->astray && !s->failed &&
		!election_has_master(s->others) &&
		!snapshot_defect(s->view.subnet, true);
}

static void
begin(struct sweep *s, bool may_repair)
{
	int64_t now = transport_now(s->t);
	unsigned wait = s->retry_due > now ? SWEEP_RETRIES : 0;
	g_autoptr(GArray) nodes = may_repair ?
		notices_take(s->notices, now, now) : NULL;
	const struct discover_params repair = {
		.last = s->view.subnet, .told = nodes,
		.silent = s->view.silent,
	};
	g_autofree char *causes = NULL, *names = NULL;

	transport_timer_clear(s->t, &s->timer);
	clear_run(s);
	s->run.is_repair = nodes && (nodes->len || s->causes & ~wait);
	s->run.why = s->run.is_repair ? s->causes & ~wait : s->causes;
	if (s->run.is_repair && nodes->len)
		s->run.why |= s->notice_causes;
	/* those of nodes that are not due yet stay */
	if (!s->run.is_repair || notices_due(s->notices) == INT64_MAX)
		s->notice_causes = 0;
	s->causes &= s->run.is_repair ? wait | 1u << SWEEP_CAUSE_TRAP : 0u;
	s->left_until = 0;
	s->run.began = now;
	s->run.stats = s->x->stats;
	causes = causes_text(s->run.why);
	if (s->run.is_repair) {
		names = names_text(s, nodes);
		log_say(s->log, LOG_INFO, "sweep", "repair: %s (%s)",
			*names ? names : "no node is read", causes);
		sweep_set_state(s, SWEEP_REREADING);
		s->run.batch = discover_start(s->x, s->keys, &repair,
					      sweep_on_discovered, s);
		return;
	}
	if (s->run.why & 1u << SWEEP_CAUSE_TRAP)
		bucket_take(&s->traps, s->trap_us, now);
	log_say(s->log, s->run.why == 1u << SWEEP_CAUSE_TIME ? LOG_VERBOSE :
		LOG_INFO, "sweep", "heavy sweep: %s", causes);
	if (s->run.why & 1u << SWEEP_CAUSE_SIGNAL) {
		g_array_set_size(s->memory->untaken, 0);
		if (s->params.keystore)
			g_hash_table_remove_all(s->params.keystore->ring->
						locked);
	}
	discover_all(s);
}

static void
sweep_begin(struct sweep *s)
{
	begin(s, can_repair(s));
}

/* ------------------------------------------------------------------- rest */

/* Of so many light sweeps each reads a part of the links. */
static unsigned
n_turns(const struct sweep *s)
{
	return MAX(LIGHT_TURN_S / MAX(s->params.sweep_s, 1u), 1u);
}

static void
sweep_on_light(const struct light_sweep_result *r, void *data)
{
	struct sweep *s = data;
	bool probed = s->state == SWEEP_PROBING;

	s->run.batch = NULL;
	if (!probed)
		set_light_due(s);
	if (probed && s->turn_state)
		s->turn = (s->turn + 1) % n_turns(s);
	s->turn_state = probed ? TURN_DONE : TURN_DUE;
	if (r->why)
		log_say(s->log, LOG_INFO, "sweep", "%s%s", probed ? "" :
			"light sweep: ", r->why);
	if (!probed && !r->why) {
		sweep_poll_peers(s);
		return;
	}
	if (r->silent)
		s->causes |= 1u << SWEEP_CAUSE_LIGHT;
	EACH_ITEM(const uint64_t, guid, r->changed)
		sweep_changed(s, SWEEP_CAUSE_LIGHT, *guid);
	sweep_rest(s);
}

/* Sends NodeInfo through silent ports, and reads links whose turn it is. */
static void
probe(struct sweep *s)
{
	struct light_turn turn = { s->turn, s->turn_state ? n_turns(s) : 0 };

	sweep_set_state(s, SWEEP_PROBING);
	s->run.batch = light_sweep_start(s->x, s->keys, s->view.subnet,
					 s->view.silent, &turn, sweep_on_light,
					 s);
}

static void
start_light(struct sweep *s)
{
	if (observe_is_due(s))
		s->causes |= 1u << SWEEP_CAUSE_TIME;
	/* all of it: repairs alone, of nodes that report all the time, would not
	 * find a switch whose path has gone */
	if (!s->view.subnet || urgent_causes(s)) {
		begin(s, false);
		return;
	}
	/* what a disk did not take; no other sweep may follow */
	persist_keys_save(s->params.keystore);
	s->run.stats = s->x->stats;
	sweep_set_state(s, SWEEP_LIGHT);
	s->run.batch = light_sweep_start(s->x, s->keys, s->view.subnet,
					 s->view.silent, NULL, sweep_on_light,
					 s);
}

/* Once more, and the second time as a repair that reads no node, if that can send
 * all that there is. */
static void
begin_retry(struct sweep *s)
{
	begin(s, s->has_retried && can_repair(s) && sweep_is_whole(s));
}

static void
begin_late(struct sweep *s)
{
	s->causes |= 1u << SWEEP_CAUSE_LATE;
	begin(s, true);
}

static void
sweep_on_knock(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct sweep *s = data;

	if (a->outcome == MAD_CLIENT_ANSWERED && s->left_until && !s->paused)
		begin_retry(s);
}

/* Does the node behind our port answer again? Then no cable was moved: it was off.
 * Our port is not asked, so the lease of its M_Key runs on. */
static void
knock(struct sweep *s)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	struct dr_path path = { .hops = 0 };
	uint8_t mad[MAD_SIZE];

	dr_path_push(&path, s->t->port_num);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0,
			 !s->keys ? 0 : mkey_db_of(s->keys, mkey_db_behind(
				s->keys, s->t->port_guid, s->t->port_num)),
			 &path);
	mad_client_start(s->x, &direct, mad, sweep_on_knock, s, 0);
	sweep_retry(s, SWEEP_CAUSE_RETRY, G_USEC_PER_SEC,
		    MAX(s->params.sweep_s, 1u) * (int64_t)G_USEC_PER_SEC);
	sweep_rest(s);
}

/* When the next heavy sweep is due; INT64_MAX: none is. */
static int64_t
urgent_due(const struct sweep *s)
{
	int64_t now = transport_now(s->t);
	int64_t when = MAX(now, s->last_end + HOLD_US);
	unsigned urgent = urgent_causes(s);

	if (!urgent)
		return INT64_MAX;
	if (urgent & 1u << SWEEP_CAUSE_TRAP)
		when = MAX(when, s->trap_at + QUIET_US);
	return when;
}

static void
earlier(struct next *n, int64_t when, void (*run)(struct sweep *s))
{
	if (when < n->when)
		*n = (struct next){ when, run, n->state };
}

/*
 * The agenda: the only place that decides what comes next. What was reported
 * goes before all else, also if that is due earlier; but nodes that report
 * changes all the time must not prevent light sweeps. A fabric that is not up is
 * swept again at the interval of light sweeps or less often, since a Set that
 * failed a moment ago rarely works now; for addresses and protections that a port
 * did not take the interval begins shorter.
 */
static struct next
agenda(const struct sweep *s)
{
	struct next n = { INT64_MAX, NULL, SWEEP_WAITING };
	int64_t repair = can_repair(s) ? notices_due(s->notices) : INT64_MAX;

	earlier(&n, urgent_due(s), sweep_begin);
	if (repair < s->light_due || !s->params.sweep_s)
		earlier(&n, MAX(repair, s->last_end + HOLD_US), sweep_begin);
	if (n.run)
		return n;
	n.state = SWEEP_IDLE;
	if (s->left_until > transport_now(s->t)) {
		earlier(&n, s->left_until, begin_retry);
		earlier(&n, s->retry_due, knock);
		return n;
	}
	if (s->causes & 1u << SWEEP_CAUSE_UNTAKEN)
		earlier(&n, MAX(s->retry_due, s->last_end + HOLD_US),
			begin_retry);
	if (s->causes & 1u << SWEEP_CAUSE_TRAP)
		earlier(&n, bucket_due(&s->traps, s->trap_us), sweep_begin);
	if (s->self.state == SM_STATE_STANDBY && s->elected)
		earlier(&n, transport_now(s->t) +
			(int64_t)s->params.poll_ms * 1000, sweep_poll_master);
	else if (s->params.sweep_s) {
		if (s->causes & 1u << SWEEP_CAUSE_RETRY)
			earlier(&n, s->retry_due, begin_retry);
		earlier(&n, s->light_due, start_light);
	}
	if (can_repair(s))	/* else the next sweep does it */
		earlier(&n, late_due(s->late), begin_late);
	if (s->view.subnet) {
		earlier(&n, s->turn_state ? transport_now(s->t) :
			silent_due(s->view.silent), probe);
		if (sweep_has_fabric(s))
			earlier(&n, flaps_due(s->flaps), sweep_rest);
	}
	return n;
}

/* The time is that of the first trap, not of the last: else a port that sends
 * traps all the time would delay the sweep for ever. */
static void
add_causes(struct sweep *s, unsigned causes)
{
	if (causes & ~s->causes & 1u << SWEEP_CAUSE_TRAP)
		s->trap_at = transport_now(s->t);
	s->causes |= causes;
}

void
sweep_rest(struct sweep *s)
{
	struct next n;

	/* Every other cause goes before them: a host whose cable was pulled
	 * does not hang. Links are read once more then, and that is not
	 * interrupted, whatever sends traps all the time. */
	if (s->state == SWEEP_PROBING && s->run.batch) {
		if (s->turn_state == TURN_LATE)
			return;
		if (s->turn_state == TURN_DUE)
			s->turn_state = TURN_LATE;
		g_clear_pointer(&s->run.batch, smp_batch_free);
	}
	if (s->paused) {
		transport_timer_clear(s->t, &s->timer);
		sweep_set_state(s, SWEEP_IDLE);
		return;
	}
	sweep_release_flaps(s);
	if (notices_due(s->notices) < INT64_MAX && !can_repair(s)) {
		add_causes(s, s->notice_causes);
		s->notice_causes = 0;
	}
	n = agenda(s);
	sweep_set_state(s, n.state);
	set_timer(s, n);
}

/* Ends what is under way; what its Sets have done is not known. */
void
sweep_begin_anew(struct sweep *s)
{
	s->causes |= s->run.why | 1u << SWEEP_CAUSE_ELECTION;
	s->astray = s->in_doubt = true;
	clear_run(s);
	sweep_rest(s);
}

/* This process stood still: another manager may be the master by now, and what was
 * read is old. A machine that does so all the time gets a sweep all the same. */
bool
sweep_stood(struct sweep *s)
{
	if (s->stands++ >= STANDS_MAX)
		return false;
	log_say(s->log, LOG_WARNING, "sweep", "this process stood still: the "
		"sweep begins anew");
	sweep_begin_anew(s);
	return true;
}

static void
sweep_on_stood(void *data)
{
	struct sweep *s = data;

	if (s->state >= SWEEP_REREADING && s->state <= SWEEP_PROGRAMMING &&
	    !sweep_goal_reads(s->params.goal))
		sweep_stood(s);
}

static bool
rests(const struct sweep *s)
{
	return s->state == SWEEP_IDLE || s->state == SWEEP_WAITING ||
		s->state == SWEEP_PROBING;
}

void
sweep_request(struct sweep *s, enum sweep_cause cause)
{
	/* Only the master handles traps and changes. */
	if (s->self.state == SM_STATE_STANDBY &&
	    (cause == SWEEP_CAUSE_TRAP || cause == SWEEP_CAUSE_PARTITIONS))
		return;
	add_causes(s, 1u << cause);
	if (sweep_goal_stays(s->params.goal))
		sweep_reread(s);
	else if (rests(s) && !s->over)
		sweep_begin(s);
}

void
sweep_changed(struct sweep *s, enum sweep_cause cause, uint64_t guid)
{
	notices_add(s->notices, guid, transport_now(s->t));
	s->notice_causes |= 1u << cause;
	/* not a heavy sweep, which has many hosts, and its own traps */
	if (s->state == SWEEP_PROGRAMMING && s->run.is_repair)
		smp_batch_hurry(s->run.batch);
}

void
sweep_reread(struct sweep *s)
{
	if (!s->over && rests(s))
		sweep_rest(s);
}

void
sweep_trap(struct sweep *s, uint16_t lid)
{
	uint32_t port = sweep_lid_owner(&s->view, lid);

	if (s->self.state == SM_STATE_STANDBY)
		return;
	if (port == SNAPSHOT_NONE) {
		sweep_request(s, SWEEP_CAUSE_TRAP);
		return;
	}
	sweep_changed(s, SWEEP_CAUSE_TRAP,
		      snapshot_node_of(s->view.subnet, port)->info.node_guid);
	sweep_reread(s);
}

void
sweep_set_paused(struct sweep *s, bool paused)
{
	if (s->paused == paused)
		return;
	log_say(s->log, LOG_INFO, "sweep", paused ? "paused: no sweeps and no "
		"programming until \"minismctl resume\"" :
		"sweeps are resumed");
	s->paused = paused;
	if (!paused)
		sweep_request(s, SWEEP_CAUSE_SIGNAL);
	else
		sweep_reread(s);
}

struct sweep *
sweep_new(struct mad_client *x, const struct sweep_params *params,
	  struct persist *memory, struct log *log, sweep_end_fn end, void *data)
{
	struct sweep *s = g_new0(struct sweep, 1);
	int64_t now;

	s->x = x;
	s->t = x->transport;
	now = transport_now(s->t);
	s->params = *params;
	if (params->keystore)
		s->keys = params->keystore->ring;
	if (params->isolation.rules)
		partition_rules_ref(params->isolation.rules);
	else
		s->params.isolation.rules = partition_rules_default();
	if (params->names)
		g_hash_table_ref(params->names);
	if (params->allowed_sms)
		g_array_ref(params->allowed_sms);
	s->clients = reregister_new(params->clients);
	s->notices = notices_new();
	s->late = late_new();
	s->ways = g_array_new(FALSE, FALSE, sizeof(struct sweep_way));
	s->flaps = flaps_new(&params->flaps);
	if (!sweep_goal_reads(params->goal))
		flaps_enable(s->flaps, memory->disabled, now);
	s->wishes = g_array_new(FALSE, FALSE, sizeof(struct avoid_wish));
	s->memory = memory;
	s->beside = beside_new(s->t, params->route_us);
	x->stood = sweep_on_stood;
	x->stood_data = s;
	s->log = log;
	s->end = end;
	s->data = data;
	s->master = SNAPSHOT_NONE;
	s->last_end = now - HOLD_US;
	s->trap_us = TRAP_US;
	set_light_due(s);
	s->state_since = transport_now(s->t);
	s->self = (struct sm_info){
		.guid = params->port_guid,
		.sm_key = params->sm_key,
		.priority = params->priority,
		.state = params->goal == SWEEP_GOAL_OBSERVE ?
			SM_STATE_NOT_ACTIVE : SM_STATE_DISCOVERING,
	};
	return s;
}

void
sweep_free(struct sweep *s)
{
	if (!s)
		return;
	sweep_stop(s);
	s->x->stood = NULL;
	beside_free(s->beside, 0);
	g_clear_pointer(&s->others, g_array_unref);
	g_clear_pointer(&s->rivals, g_ptr_array_unref);
	partition_rules_unref(s->params.isolation.rules);
	g_clear_pointer(&s->params.names, g_hash_table_unref);
	g_clear_pointer(&s->params.allowed_sms, g_array_unref);
	sweep_view_clear(&s->view);
	snapshot_unref(s->last);
	snapshot_unref(s->elected);
	reregister_free(s->clients);
	g_hash_table_unref(s->notices);
	late_free(s->late);
	g_array_unref(s->ways);
	flaps_free(s->flaps);
	g_array_unref(s->wishes);
	repair_free(s->repair);
	g_free(s->said);
	g_free(s);
}
