// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sweep. There is one function for each state; in this order they are the
 * life of a subnet manager:
 *
 *	sweep_request -> begin -> discover	nodes and cables
 *		-> elect			is this SM the master
 *		-> heavy_sweep_start		read, route, program
 *		-> sweep_conclude		report; rest
 *
 * When idle, a timer starts light sweeps. A trap, a signal or another cause is
 * recorded. When idle, the sweep waits a few milliseconds for more causes
 * (WAITING); during a sweep, a cause starts the next sweep. There are at least
 * HOLD_US between two sweeps.
 *
 * Repair. If all causes are about known nodes (traps, PortStateChange in a
 * light sweep, a link that changed while the plan was sent), only these nodes
 * are read again, by an amended discovery (sm/sweep/amend.c); all other stages
 * are the same. A heavy sweep is needed
 *
 *	- without a published view, or if this SM is not the master,
 *	- for every other cause, such as a signal or a node without a LID,
 *	- if the view has faults other than ports behind which no node answers,
 *	- if the repair finds such a fault: a node that reported a change does
 *	  not answer, or a GUID is there twice.
 *
 * A node that reports changes all the time is read once a second, see
 * sm/sweep/amend.c. Traps that need a heavy sweep are limited likewise: three
 * at once, then one a second.
 */
#include "sm/sweep/sweep.h"

#include "sm/sweep/amend.h"
#include "sm/sweep/discover.h"
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/program.h"
#include "sm/sweep/rekey.h"
#include "sm/sweep/table_reader.h"
#include "topology/changes.h"

#define QUIET_US	(5 * 1000)	/* after a trap: collect more */
#define HOLD_US		(50 * 1000)	/* between two heavy sweeps */
#define TRAP_US		(1000 * 1000)	/* between two for traps */
#define TRAP_BURST	3	/* without this interval */
#define POLL_MS		250u	/* a standby polls the master */
#define POLLS_LOST	2u	/* until it counts as dead */

/* A change was just reported: nodes that did not answer last time are not
 * waited for. RETRY may be set as well, since a fabric with such nodes is
 * not up. */
#define HURRY		(1u << SWEEP_CAUSE_TRAP | 1u << SWEEP_CAUSE_MEANWHILE)
#define HURRY_BESIDES	(1u << SWEEP_CAUSE_RETRY)

static const char *const state_names[] = {
	[SWEEP_IDLE] = "idle",
	[SWEEP_WAITING] = "waiting",
	[SWEEP_LIGHT] = "light sweep",
	[SWEEP_PROBING] = "querying silent ports",
	[SWEEP_REREADING] = "reading switches again",
	[SWEEP_DISCOVERING] = "discovering",
	[SWEEP_ELECTING] = "electing",
	[SWEEP_READING] = "reading tables",
	[SWEEP_PROGRAMMING] = "programming",
	[SWEEP_POLLING] = "polling the master",
	[SWEEP_SUSPENDED] = "waiting for the port",
};

static void begin(struct sweep *s);
static void discover_all(struct sweep *s);
static void rest(struct sweep *s);

const char *
sweep_state_name(enum sweep_state state)
{
	return state_names[state];
}

static void
count_phase(struct sweep_phase *phase, int64_t us)
{
	int64_t bound = 1000;

	for (unsigned i = 0; i < SWEEP_BUCKETS; i++, bound *= 10)
		phase->within[i] += us <= bound;
	phase->n++;
	phase->us += us;
}

/* All changes of the state go through here. */
void
sweep_set_state(struct sweep *s, enum sweep_state state)
{
	int64_t now = sweep_now(s);

	if (s->state == state)
		return;
	sweep_note_stage(s, now);
	count_phase(&s->phases[s->state], now - s->state_since);
	s->state_since = now;
	log_say(s->log, LOG_DEBUG, "sweep", "%s -> %s",
		sweep_state_name(s->state), sweep_state_name(state));
	s->state = state;
	sweep_note(s, SWEEP_NOTE_STATE);
}

void
sweep_set_sm_state(struct sweep *s, enum sm_state state)
{
	GHashTable *clients = NULL;
	uint16_t former;

	if (s->self.state == state)
		return;
	log_say(s->log, LOG_INFO, "sweep", "SM state %s -> %s",
		sm_state_name(s->self.state), sm_state_name(state));
	s->self.state = state;
	/* Clients now register with the other master. */
	if (state == SM_STATE_STANDBY)
		reregister_forget(s->clients);
	if (state != SM_STATE_MASTER || !s->params.hooks.mastered)
		return;
	former = s->params.hooks.mastered(s->cut_off ? INT64_MAX : s->heard,
					  &clients, s->params.hooks.data);
	if (former)
		reregister_trust(s->clients, former, clients);
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
	*v = (struct view){ 0 };
}

static void
set_timer(struct sweep *s, int64_t when, transport_timer_fn fn)
{
	transport_timer_clear(mad_client_transport(s->x), &s->timer);
	s->timer =
		transport_timer_start(mad_client_transport(s->x), when, fn, s);
}

/* Frees the values of a sweep. */
static void
clear_run(struct sweep *s)
{
	g_clear_pointer(&s->plan, plan_free);
	g_clear_pointer(&s->table_faults, g_ptr_array_unref);
	g_clear_pointer(&s->fresh, g_free);
	g_clear_pointer(&s->items, g_array_unref);
	g_clear_pointer(&s->qos, port_tables_unref);
	g_clear_pointer(&s->isolation, isolation_free);
	g_clear_pointer(&s->reregister, g_free);
	g_clear_pointer(&s->avoid, g_ptr_array_unref);
	sweep_view_clear(&s->next);
}

/* Ends a sweep in progress without a report. */
void
sweep_stop(struct sweep *s)
{
	g_clear_pointer(&s->discover, discover_cancel);
	g_clear_pointer(&s->peers, election_poll_cancel);
	g_clear_pointer(&s->tabread, table_reader_cancel);
	g_clear_pointer(&s->rekey, rekey_cancel);
	g_clear_pointer(&s->program, program_cancel);
	g_clear_pointer(&s->light, light_sweep_cancel);
	mad_client_cancel_owner(s->x, s);
	transport_timer_clear(mad_client_transport(s->x), &s->timer);
	clear_run(s);
}

static void
set_light_due(struct sweep *s)
{
	s->light_due = sweep_now(s) + (int64_t)s->params.sweep_s *
		G_USEC_PER_SEC;
}

void
sweep_conclude(struct sweep *s, const struct sweep_report *r)
{
	g_autofree char *causes = sweep_causes_text(s->why);
	struct sweep_report told = *r;

	told.causes = causes;
	told.is_repair = s->is_repair;
	told.peers = s->others;
	told.took_us = sweep_now(s) - s->began;
	sweep_note_stage(s, sweep_now(s));
	told.stages = s->stages;
	told.n_stages = s->n_stages;
	s->n_stages = SWEEP_STAGES;	/* further stages are not recorded */
	sweep_log_sent(s, LOG_VERBOSE);
	log_say(s->log, LOG_VERBOSE, "sweep", "sweep took %.1f %s",
		(double)told.took_us / 1000, sweep_ms(s));
	s->end(&told, s->data);
	clear_run(s);
	s->last_end = sweep_now(s);
	if (!s->is_repair)
		set_light_due(s);
	s->is_repair = false;
	s->why = 0;
	if (s->params.goal == SWEEP_GOAL_FABRIC) {
		rest(s);
		return;
	}
	s->over = true;
	sweep_set_state(s, SWEEP_IDLE);
}

void
sweep_fail(struct sweep *s, const char *message)
{
	struct sweep_report r = { .end = SWEEP_END_FAILED,
				  .error = message, .cut_off = s->cut_off };

	log_say(s->log, LOG_ERROR, "sweep", "%s; the fabric is not changed",
		message);
	s->up = false;
	s->causes |= 1u << SWEEP_CAUSE_RETRY;
	sweep_conclude(s, &r);
}

/* ------------------------------------------------------------------ elect */

static void
obey(struct sweep *s, uint32_t port)
{
	struct sweep_report r = { .end = SWEEP_END_STANDBY };
	const struct snapshot_node *n = snapshot_node_of(s->next.subnet, port);

	r.master = n;
	log_say(s->log, LOG_INFO, "sweep", "standby: the master is on %s "
		"(0x%016" G_GINT64_MODIFIER "x)", snapshot_node_name(n),
		n->info.node_guid);
	sweep_set_sm_state(s, SM_STATE_STANDBY);
	if (s->elected)
		snapshot_unref(s->elected);
	s->elected = snapshot_ref(s->next.subnet);
	s->master = port;
	s->polls_lost = 0;
	s->heard = sweep_now(s);
	s->up = s->cut_off = false;
	sweep_view_clear(&s->view);
	g_ptr_array_set_size(s->avoided, 0);
	g_clear_pointer(&s->silent, g_array_unref);
	sweep_conclude(s, &r);
}

static void
hand_over(struct sweep *s, uint32_t port)
{
	log_say(s->log, LOG_INFO, "sweep", "handing over to an SM of higher "
		"rank");
	election_control(s->x, s->keys, s->next.subnet, port,
		      SM_CONTROL_HANDOVER, &s->self);
	obey(s, port);
}

/* Keeps the other managers, found in `n`, and logs those that manage the same
 * ports. */
static void
note_peers(struct sweep *s, GArray *found, const struct snapshot *n)
{
	g_clear_pointer(&s->rivals, g_ptr_array_unref);
	s->rivals = election_rivals(&s->self,
				    s->self.state == SM_STATE_MASTER ?
				    s->others : NULL, found, n);
	g_clear_pointer(&s->others, g_array_unref);
	s->others = g_array_ref(found);
	for (guint i = 0; i < s->rivals->len; i++)
		log_limited(s->log, LOG_WARNING, "sweep", "another subnet "
			    "manager", "%s", (char *)s->rivals->pdata[i]);
}

static void
sweep_on_peers(GArray *found, void *data)
{
	struct sweep *s = data;
	const struct election_peer *peers = (void *)found->data;
	size_t who = 0;

	s->peers = NULL;
	note_peers(s, found, s->next.subnet);
	sweep_note(s, SWEEP_NOTE_ELECTED);
	switch (election_decide(&s->self, peers, found->len, &who)) {
	case ELECTION_MASTER:
		sweep_set_sm_state(s, SM_STATE_MASTER);
		heavy_sweep_start(s);
		break;
	case ELECTION_STANDBY:
		obey(s, peers[who].port);
		break;
	case ELECTION_HANDOVER:
		hand_over(s, peers[who].port);
		break;
	}
}

static void
elect(struct sweep *s)
{
	if (s->params.goal == SWEEP_GOAL_PLAN) {
		heavy_sweep_start(s);
		return;
	}
	sweep_set_state(s, SWEEP_ELECTING);
	s->peers = election_poll_start(s->x, s->keys, s->next.subnet,
			     SNAPSHOT_NONE, sweep_on_peers, s);
}

/* --------------------------------------------------------------- discover */

static void
sweep_on_discovered(struct snapshot *n, void *data)
{
	struct sweep *s = data;
	uint32_t astray = s->view.subnet ? snapshot_astray(s->view.subnet, n) :
		SNAPSHOT_NONE;
	g_autofree char *name = astray == SNAPSHOT_NONE ? NULL :
		snapshot_port_name(n, astray);
	g_autofree char *text = NULL;

	s->discover = NULL;
	s->astray |= astray != SNAPSHOT_NONE;
	if (s->is_repair && (s->astray || !snapshot_is_whole(n))) {
		log_say(s->log, LOG_INFO, "sweep", "heavy sweep: %s%s",
			name ?: n->faults[0].text, name ?
			" was moved and may have got Sets for another node" :
			"");
		snapshot_unref(n);
		discover_all(s);
		return;
	}
	n = sweep_mark_avoided(s, sweep_hold_flaps(s, n));
	s->next.subnet = n;
	persist_keys_learn(s->params.keystore, n);
	if (!n->n_nodes || n->local_port == SNAPSHOT_NONE) {
		sweep_fail(s, "our own port does not answer");
		return;
	}
	if (n->ports[n->local_port].info.state < PORT_STATE_INIT) {
		s->cut_off = s->view.subnet || s->elected;
		g_free(name);
		name = snapshot_port_name(n, n->local_port);
		text = g_strdup_printf("%s, the manager's own port, is down: "
				       "no cable, or no link at its other end",
				       name);
		sweep_fail(s, text);
		return;
	}
	s->cut_off |= (s->view.subnet || s->elected) &&
		n->ports[n->local_port].info.state < PORT_STATE_ACTIVE;
	log_say(s->log, LOG_VERBOSE, "sweep", "found %u nodes, %u switches, "
		"%u faults in %.1f %s", n->n_nodes, n->n_switches,
		n->n_faults, (double)(sweep_now(s) - s->began) / 1000,
		sweep_ms(s));
	elect(s);
}

static void
discover_all(struct sweep *s)
{
	bool hurry = s->why & HURRY && !(s->why & ~(HURRY | HURRY_BESIDES));
	const struct discover_params params = {
		.before = hurry ? s->view.subnet : NULL,
		.names = s->params.names,
	};

	s->is_repair = false;
	notices_take_all(s->notices, sweep_now(s));
	sweep_set_state(s, SWEEP_DISCOVERING);
	s->discover = discover_start(s->x, s->keys, &params,
				     sweep_on_discovered, s);
}

/* The recorded causes that need no sweep of their own now. */
static unsigned
urgent_causes(const struct sweep *s)
{
	return s->causes & ~(1u << SWEEP_CAUSE_RETRY |
			     1u << SWEEP_CAUSE_UNTAKEN);
}

static bool
can_repair(const struct sweep *s)
{
	return s->view.subnet && !urgent_causes(s) &&
		s->self.state == SM_STATE_MASTER &&
		s->params.goal == SWEEP_GOAL_FABRIC &&
		s->view.subnet->names == s->params.names &&
		snapshot_is_whole(s->view.subnet);
}

static void
begin_repair(struct sweep *s, const GArray *nodes)
{
	g_autofree char *causes = sweep_causes_text(s->why);
	g_autofree char *names = sweep_names_text(s->view.subnet, nodes);
	const struct discover_params params = {
		.before = s->view.subnet, .told = nodes,
	};

	log_say(s->log, LOG_INFO, "sweep", "repair: %s (%s)", names, causes);
	s->is_repair = true;
	sweep_set_state(s, SWEEP_REREADING);
	s->discover = discover_start(s->x, s->keys, &params,
				     sweep_on_discovered, s);
}

/* Only the partitions have changed: the view and its routes are still valid. */
static bool
can_replan(const struct sweep *s)
{
	return s->why == 1u << SWEEP_CAUSE_PARTITIONS && s->up &&
		s->view.subnet && s->self.state == SM_STATE_MASTER &&
		s->params.goal == SWEEP_GOAL_FABRIC;
}

static void
begin(struct sweep *s)
{
	g_autoptr(GArray) nodes = NULL;
	g_autofree char *causes = NULL;
	bool repair = can_repair(s);

	if (repair) {
		nodes = notices_take(s->notices, sweep_now(s));
		repair = nodes->len > 0;
	}
	s->why = s->causes;
	if (repair) {
		s->why |= s->notice_causes;
		s->notice_causes = 0;
	}
	s->causes = 0;
	s->began = sweep_now(s);
	s->n_stages = 0;
	s->stats = *mad_client_stats(s->x);
	if (repair) {
		begin_repair(s, nodes);
		return;
	}
	if (s->why & 1u << SWEEP_CAUSE_TRAP)
		s->trap_due = MAX(s->trap_due, sweep_now(s)) + TRAP_US;
	if (can_replan(s)) {
		log_say(s->log, LOG_INFO, "sweep", "partitions changed");
		heavy_sweep_replan(s);
		return;
	}
	causes = sweep_causes_text(s->why);
	log_say(s->log, LOG_INFO, "sweep", "heavy sweep: %s", causes);
	choice_clear(&s->choice);
	if (s->why & 1u << SWEEP_CAUSE_SIGNAL) {
		persist_forget_untaken(s->memory);
		if (s->params.keystore)
			mkey_db_unlock_all(
				persist_keys_ring(s->params.keystore));
	}
	discover_all(s);
}

/* ------------------------------------------------------------------- rest */

static void
sweep_on_wake(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	begin(s);
}

/* A standby of higher priority may have been discovering during the last
 * heavy sweep, and was not counted in the election. */
static void
sweep_on_light_peers(GArray *found, void *data)
{
	struct sweep *s = data;
	const struct election_peer *peers = (void *)found->data;
	size_t who;

	s->peers = NULL;
	note_peers(s, found, s->view.subnet);
	sweep_log_sent(s, LOG_DEBUG);
	if (election_decide(&s->self, peers, found->len, &who) !=
	    ELECTION_MASTER)
		s->causes |= 1u << SWEEP_CAUSE_ELECTION;
	rest(s);
}

static void
sweep_on_light(const struct light_sweep_result *r, void *data)
{
	struct sweep *s = data;

	s->light = NULL;
	set_light_due(s);
	if (r->why) {
		log_say(s->log, LOG_INFO, "sweep", "light sweep: %s", r->why);
		if (r->silent)
			s->causes |= 1u << SWEEP_CAUSE_LIGHT;
		sweep_changed(s, SWEEP_CAUSE_LIGHT, r->changed);
		rest(s);
		return;
	}
	s->peers = election_poll_start(s->x, s->keys, s->view.subnet,
			     SNAPSHOT_NONE, sweep_on_light_peers, s);
}

static void
sweep_on_probe(const struct light_sweep_result *r, void *data)
{
	struct sweep *s = data;

	s->light = NULL;
	if (r->why)
		log_say(s->log, LOG_INFO, "sweep", "%s", r->why);
	sweep_changed(s, SWEEP_CAUSE_LIGHT, r->changed);
	rest(s);
}

/* Are there M_Keys of ports that are not in the view? Such a node may have
 * been moved, with its key, to a port behind which no node answers. */
static bool
has_strays(const struct sweep *s)
{
	g_autoptr(GHashTable) found = NULL;
	g_autoptr(GArray) strays = NULL;

	if (!s->keys)
		return false;
	found = g_hash_table_new(g_int64_hash, g_int64_equal);
	for (uint32_t port = 0; port < s->view.subnet->n_ports; port++)
		g_hash_table_add(found, &s->view.subnet->ports[port].guid);
	strays = mkey_db_strays(s->keys, found, 1);
	return strays->len > 0;
}

/* A discovery also tries the M_Keys of nodes that were not found. */
static void
probe(struct sweep *s)
{
	const struct snapshot *n = s->view.subnet;
	g_autoptr(GArray) ports = silent_take(s->silent, n, sweep_now(s));
	g_autoptr(GArray) nodes = NULL;

	if (!has_strays(s)) {
		sweep_set_state(s, SWEEP_PROBING);
		s->light = light_sweep_start(s->x, s->keys, n, ports,
					     sweep_on_probe, s);
		return;
	}
	nodes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (guint i = 0; i < ports->len; i++)
		g_array_append_val(nodes, snapshot_node_of(n,
				   g_array_index(ports, uint32_t, i))->
				   info.node_guid);
	sweep_changed(s, SWEEP_CAUSE_SILENT, nodes);
	rest(s);
}

static void
sweep_on_light_timer(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	if (flaps_due(s->flaps) <= sweep_now(s)) {
		rest(s);
		return;
	}
	if (sweep_now(s) < s->light_due) {
		probe(s);
		return;
	}
	if (s->causes || !s->view.subnet)
		s->causes |= 1u << SWEEP_CAUSE_RETRY;
	else if (s->params.force_heavy)
		s->causes |= 1u << SWEEP_CAUSE_TIME;
	if (s->causes) {
		begin(s);
		return;
	}
	s->stats = *mad_client_stats(s->x);
	sweep_set_state(s, SWEEP_LIGHT);
	s->light = light_sweep_start(s->x, s->keys, s->view.subnet, NULL,
				     sweep_on_light, s);
}

/* What the election recorded about the master is outdated. */
static void
update_peer(struct sweep *s, const struct sm_info *info)
{
	for (guint i = 0; s->others && i < s->others->len; i++) {
		struct election_peer *p =
			&g_array_index(s->others, struct election_peer, i);

		if (p->info.guid == info->guid)
			p->info = *info;
	}
}

static void
sweep_on_poll(GArray *found, void *data)
{
	struct sweep *s = data;
	const struct election_peer *p = (void *)found->data;

	s->peers = NULL;
	if (found->len)
		update_peer(s, &p->info);
	s->polls_lost++;
	if (found->len && p->info.state == SM_STATE_MASTER) {
		s->polls_lost = 0;
		s->heard = sweep_now(s);
	}
	if (s->polls_lost >= s->params.polls_lost) {
		log_say(s->log, LOG_WARNING, "sweep", "the master does not "
			"answer");
		sweep_set_sm_state(s, SM_STATE_DISCOVERING);
		s->causes |= 1u << SWEEP_CAUSE_ELECTION;
	}
	rest(s);
}

static void
sweep_on_poll_timer(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	sweep_set_state(s, SWEEP_POLLING);
	s->peers = election_poll_start(s->x, s->keys, s->elected, s->master,
			     sweep_on_poll, s);
}

/* When the next heavy sweep is due; INT64_MAX: none is. */
static int64_t
urgent_due(const struct sweep *s)
{
	int64_t now = sweep_now(s), when = MAX(now, s->last_end + HOLD_US);
	unsigned urgent = urgent_causes(s);

	if (!urgent)
		return INT64_MAX;
	if (urgent & 1u << SWEEP_CAUSE_TRAP)
		when = MAX(when, now + QUIET_US);
	if (urgent == 1u << SWEEP_CAUSE_TRAP)
		when = MAX(when, s->trap_due - (TRAP_BURST - 1) * TRAP_US);
	return when;
}

/*
 * Decides what comes next: a sweep for the recorded causes after a short wait,
 * or a light sweep. A fabric that is not up is swept again at the interval of
 * light sweeps, since a Set that failed a moment ago rarely works now; only
 * addresses that a port did not take have an interval of their own.
 */
static void
rest(struct sweep *s)
{
	int64_t now = sweep_now(s), due, when;

	/* Every other cause goes before silent ports. */
	if (s->state == SWEEP_PROBING)
		g_clear_pointer(&s->light, light_sweep_cancel);
	if (s->paused) {
		transport_timer_clear(mad_client_transport(s->x), &s->timer);
		sweep_set_state(s, SWEEP_IDLE);
		return;
	}
	sweep_release_flaps(s);
	due = notices_due(s->notices);
	if (due < INT64_MAX && !can_repair(s)) {
		s->causes |= s->notice_causes;
		s->notice_causes = 0;
		due = INT64_MAX;
	}
	when = urgent_due(s);
	/* Nodes that report changes all the time must not prevent light
	 * sweeps. */
	if (due < s->light_due || !s->params.sweep_s)
		when = MIN(when, MAX(due, s->last_end + HOLD_US));
	if (when < INT64_MAX) {
		sweep_set_state(s, SWEEP_WAITING);
		set_timer(s, when, sweep_on_wake);
		return;
	}
	sweep_set_state(s, SWEEP_IDLE);
	if (s->causes & 1u << SWEEP_CAUSE_UNTAKEN)
		set_timer(s, s->last_end + s->retry_us, sweep_on_wake);
	else if (s->self.state == SM_STATE_STANDBY && s->elected)
		set_timer(s, now + (int64_t)s->params.poll_ms * 1000,
			  sweep_on_poll_timer);
	else if (s->params.sweep_s)
		set_timer(s, MIN(MIN(s->light_due, silent_due(s->silent)),
				 flaps_due(s->flaps)), sweep_on_light_timer);
	else if (flaps_due(s->flaps) < INT64_MAX)
		set_timer(s, flaps_due(s->flaps), sweep_on_light_timer);
}

void
sweep_set_route(struct sweep *s, const struct route_params *route)
{
	s->params.route = *route;
	g_clear_pointer(&s->repair, repair_free);
}

void
sweep_trust(struct sweep *s, GHashTable *clients)
{
	reregister_trust(s->clients, LID_NONE, clients);
}

void
sweep_reroute(struct sweep *s)
{
	if (!s->is_repaired)
		return;
	s->is_repaired = false;
	g_clear_pointer(&s->repair, repair_free);
	sweep_request(s, SWEEP_CAUSE_GROUPS);
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

static bool
rests(const struct sweep *s)
{
	return s->state == SWEEP_IDLE || s->state == SWEEP_PROBING;
}

void
sweep_request(struct sweep *s, enum sweep_cause cause)
{
	bool resting = rests(s) || s->state == SWEEP_WAITING;
	bool noted = s->causes & 1u << cause;

	/* Only the master handles traps and changes. */
	if (s->self.state == SM_STATE_STANDBY &&
	    (cause == SWEEP_CAUSE_TRAP || cause == SWEEP_CAUSE_PARTITIONS))
		return;
	s->causes |= 1u << cause;
	if (!resting || s->over)
		return;
	/* The wait is counted from the first trap, not from the last: else a
	 * port that sends traps all the time would delay the sweep for ever. */
	if (s->state == SWEEP_WAITING && cause == SWEEP_CAUSE_TRAP && noted)
		return;
	if (s->params.goal == SWEEP_GOAL_FABRIC)
		rest(s);
	else
		begin(s);
}

static bool
has_owner(const struct lid_map *lids, uint16_t lid)
{
	return lids && lid_map_owner(lids, lid) != SNAPSHOT_NONE;
}

void
sweep_changed(struct sweep *s, enum sweep_cause cause, const GArray *nodes)
{
	for (guint i = 0; i < nodes->len; i++)
		notices_add(s->notices, g_array_index(nodes, uint64_t, i),
			    sweep_now(s));
	if (nodes->len)
		s->notice_causes |= 1u << cause;
}

void
sweep_reread(struct sweep *s, enum sweep_cause cause, const GArray *nodes)
{
	sweep_changed(s, cause, nodes);
	/* A waiting heavy sweep reads them as well. */
	if (!s->over && (rests(s) ||
			 (s->state == SWEEP_WAITING && !urgent_causes(s))))
		rest(s);
}

void
sweep_trap(struct sweep *s, uint16_t lid)
{
	g_autoptr(GArray) node = NULL;

	if (s->self.state == SM_STATE_STANDBY)
		return;
	if (!has_owner(s->view.lids, lid)) {
		sweep_request(s, SWEEP_CAUSE_TRAP);
		return;
	}
	node = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_array_append_val(node, snapshot_node_of(s->view.subnet,
		s->view.lids->owner[lid])->info.node_guid);
	sweep_reread(s, SWEEP_CAUSE_TRAP, node);
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
	else if (rests(s) || s->state == SWEEP_WAITING)
		rest(s);
}

void
sweep_set_priority(struct sweep *s, unsigned priority)
{
	log_say(s->log, LOG_INFO, "sweep", "priority %u -> %u",
		s->self.priority, priority);
	s->self.priority = (uint8_t)priority;
	sweep_request(s, SWEEP_CAUSE_ELECTION);
}

bool
sweep_has_lid(const struct sweep *s, uint16_t lid)
{
	return !s->view.lids || has_owner(s->view.lids, lid) ||
		has_owner(s->next.lids, lid);
}

const char *
sweep_lid_name(const struct sweep *s, uint16_t lid)
{
	return has_owner(s->view.lids, lid) ?
		snapshot_name_of(s->view.subnet, s->view.lids->owner[lid]) :
		"?";
}

void
sweep_sm_info(const struct sweep *s, struct sm_info *out)
{
	*out = s->self;
	out->act_count = (uint32_t)mad_client_stats(s->x)->sent;
}

const GPtrArray *
sweep_rivals(const struct sweep *s)
{
	return s->rivals && s->rivals->len ? s->rivals : NULL;
}

const GArray *
sweep_peers(const struct sweep *s, const struct snapshot **where)
{
	*where = s->self.state == SM_STATE_STANDBY ? s->elected :
		s->view.subnet;
	return s->others;
}

enum sweep_state
sweep_state(const struct sweep *s)
{
	return s->state;
}

const struct sweep_phase *
sweep_phases(const struct sweep *s)
{
	return s->phases;
}

struct sweep *
sweep_new(struct mad_client *x, const struct sweep_params *params,
	  struct persist *memory, struct log *log, sweep_end_fn end, void *data)
{
	struct sweep *s = g_new0(struct sweep, 1);

	s->x = x;
	s->params = *params;
	if (params->keystore)
		s->keys = persist_keys_ring(params->keystore);
	if (!s->params.poll_ms)
		s->params.poll_ms = POLL_MS;
	if (!s->params.polls_lost)
		s->params.polls_lost = POLLS_LOST;
	if (params->isolation.rules)
		partition_rules_ref(params->isolation.rules);
	else
		s->params.isolation.rules = partition_rules_default();
	if (params->names)
		g_hash_table_ref(params->names);
	s->away = changes_away_new();
	s->clients = reregister_new(params->clients);
	s->notices = notices_new();
	s->flaps = flaps_new(&params->flaps);
	s->wishes = g_array_new(FALSE, FALSE, sizeof(struct avoid_wish));
	s->avoided = g_ptr_array_new();
	s->memory = memory;
	for (guint i = 0; i < persist_disabled(memory)->len; i++) {
		const struct persist_port *p =
			&g_array_index(persist_disabled(memory),
				       struct persist_port, i);

		flaps_recall(s->flaps, p->guid, p->num, sweep_now(s));
	}
	s->log = log;
	s->end = end;
	s->data = data;
	s->master = SNAPSHOT_NONE;
	s->last_end = sweep_now(s) - HOLD_US;
	set_light_due(s);
	s->state_since = sweep_now(s);
	s->self = (struct sm_info){
		.guid = params->port_guid,
		.sm_key = params->sm_key,
		.priority = params->priority,
		.state = SM_STATE_DISCOVERING,
	};
	return s;
}

void
sweep_suspend(struct sweep *s, const char *why)
{
	const struct sweep_report r = {
		.end = SWEEP_END_FAILED, .causes = "", .error = why,
	};

	sweep_stop(s);
	s->up = false;
	s->why = 0;
	sweep_set_state(s, SWEEP_SUSPENDED);
	s->end(&r, s->data);
}

void
sweep_resume(struct sweep *s)
{
	sweep_set_state(s, SWEEP_IDLE);
	sweep_set_sm_state(s, SM_STATE_DISCOVERING);
	reregister_forget(s->clients);
	sweep_request(s, SWEEP_CAUSE_SIGNAL);
}

void
sweep_free(struct sweep *s)
{
	if (!s)
		return;
	sweep_stop(s);
	g_clear_pointer(&s->others, g_array_unref);
	g_clear_pointer(&s->rivals, g_ptr_array_unref);
	partition_rules_unref(s->params.isolation.rules);
	g_clear_pointer(&s->params.names, g_hash_table_unref);
	choice_clear(&s->choice);
	sweep_view_clear(&s->view);
	if (s->elected)
		snapshot_unref(s->elected);
	reregister_free(s->clients);
	notices_free(s->notices);
	flaps_free(s->flaps);
	g_array_unref(s->wishes);
	g_ptr_array_unref(s->avoided);
	repair_free(s->repair);
	g_clear_pointer(&s->silent, g_array_unref);
	g_hash_table_unref(s->away);
	g_free(s->said);
	g_free(s);
}
