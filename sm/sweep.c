/*
 * The sweep. One function a state; read them in this order and you have seen
 * the whole life of a subnet manager:
 *
 *	request -> begin -> discover	who is there, how is it cabled
 *		-> elect		are we the master
 *		-> read_tables		what do the switches hold
 *		-> read_ports		what do the ports hold
 *		-> decide		routes, isolation, plan (pure, no I/O)
 *		-> program		send the plan
 *		-> conclude		is the fabric up; publish; rest
 *
 * At rest a timer starts light sweeps. Whatever happens meanwhile (a trap, a
 * signal) is a cause that is noted; a cause at rest waits a few milliseconds
 * for more of its kind (WAITING), and one in the middle of a sweep starts the
 * next sweep when this one is over. Two heavy sweeps are HOLD_US apart at
 * least, so a babbling port cannot keep the fabric busy.
 *
 * Everything between the answers of two stages is done without I/O in one go,
 * on values: the snapshot, the LIDs, the tables. At the end the view, which
 * others read, is exchanged in one piece.
 */
#include "sm/sweep.h"

#include <string.h>

#include "sm/discover.h"
#include "sm/lftread.h"
#include "sm/light.h"
#include "sm/peers.h"
#include "sm/program.h"
#include "sm/rekey.h"
#include "sm/sent.h"
#include "sm/tabread.h"

#define QUIET_US	(5 * 1000)	/* of a trap: wait for its fellows */
#define HOLD_US		(50 * 1000)	/* between two heavy sweeps */
#define POLL_MS		1000u	/* standby asks the master */
#define POLLS_LOST	2u	/* until it is taken for dead */

/* Somebody has just told of a change: no waiting for the dead. The other one
 * may be noted besides, since with the dead no fabric is up. */
#define HURRY		(1u << SWEEP_CAUSE_TRAP | 1u << SWEEP_CAUSE_MEANWHILE)
#define HURRY_BESIDES	(1u << SWEEP_CAUSE_RETRY)

struct sweep {
	struct xact *x;
	struct sweep_params params;
	const struct keyring *keys;	/* the keystore's, or NULL */
	struct clients *clients;
	struct memory *memory;
	struct choose_memo *memo;	/* of the routing engines */
	struct log *log;
	sweep_end_fn end;
	void *data;

	enum sweep_state state;
	unsigned causes;		/* noted, 1 << enum sweep_cause */
	unsigned timer;
	int64_t last_end;		/* of a heavy sweep, us */

	struct sm_info self;
	struct view view;		/* published */
	struct subnet *elected;		/* standby: where the master is */
	uint32_t master;		/* standby: its port in `elected` */
	unsigned polls_lost;
	bool up;			/* what the log said last */

	/* The sweep that is under way. */
	unsigned why;			/* its causes */
	int64_t began;
	struct xact_stats stats;	/* at its beginning */
	struct discover *discover;
	struct peers *peers;
	struct lftread *lftread;
	struct tabread *tabread;
	GArray *items;			/* what it reads */
	struct port_tables *qos;	/* of these, what QoS wants */
	struct rekey *rekey;		/* comes before: */
	struct program *program;
	program_done_fn programmed;	/* told when that is over */
	struct light *light;
	struct view next;
	struct plan *plan;
	struct wanted wanted;
	struct lft *bridge;		/* on the way to next.lft */
	struct choice choice;
	uint8_t *fresh;			/* see struct sweep_report */
	char *said;			/* choice.reason, last told */
	GPtrArray *table_faults;
	struct isolation *isolation;
	uint8_t *reregister;		/* by port, see struct wanted */
};

static const char *const state_names[] = {
	[SWEEP_IDLE] = "idle",
	[SWEEP_WAITING] = "waiting",
	[SWEEP_LIGHT] = "light sweep",
	[SWEEP_DISCOVERING] = "discovering",
	[SWEEP_ELECTING] = "electing",
	[SWEEP_READING] = "reading tables",
	[SWEEP_PROGRAMMING] = "programming",
	[SWEEP_POLLING] = "polling the master",
};

static const char *const cause_names[] = {
	[SWEEP_CAUSE_START] = "start",
	[SWEEP_CAUSE_SIGNAL] = "signal",
	[SWEEP_CAUSE_TRAP] = "trap",
	[SWEEP_CAUSE_LIGHT] = "change seen",
	[SWEEP_CAUSE_MEANWHILE] = "change during the sweep",
	[SWEEP_CAUSE_RETRY] = "fabric not up",
	[SWEEP_CAUSE_ELECTION] = "election",
	[SWEEP_CAUSE_PARTITIONS] = "other partitions",
};

static void begin(struct sweep *s);
static void decide(struct sweep *s);
static void rest(struct sweep *s);

const char *
sweep_state_name(enum sweep_state state)
{
	return state_names[state];
}

const char *
sweep_cause_name(enum sweep_cause cause)
{
	return cause_names[cause];
}

/* The one place where the state changes. */
static void
set_state(struct sweep *s, enum sweep_state state)
{
	if (s->state == state)
		return;
	log_say(s->log, LOG_DEBUG, "sweep", "%s -> %s",
		state_names[s->state], state_names[state]);
	s->state = state;
}

static void
set_sm_state(struct sweep *s, enum sm_state state)
{
	if (s->self.state == state)
		return;
	log_say(s->log, LOG_INFO, "sweep", "SM state %s -> %s",
		sm_state_name(s->self.state), sm_state_name(state));
	s->self.state = state;
	/* What clients told the other master we have not heard. */
	if (state == SM_STATE_STANDBY)
		clients_forget(s->clients);
}

static void
view_clear(struct view *v)
{
	if (v->subnet)
		subnet_unref(v->subnet);
	lid_map_free(v->lids);
	lft_free(v->lft);
	lft_seen_free(v->seen);
	port_tables_unref(v->tables);
	partition_rules_unref(v->rules);
	memberships_unref(v->memberships);
	*v = (struct view){ 0 };
}

static int64_t
now(struct sweep *s)
{
	return transport_now(xact_transport(s->x));
}

static void
set_timer(struct sweep *s, int64_t when, transport_timer_fn fn)
{
	if (s->timer)
		transport_timer_cancel(xact_transport(s->x), s->timer);
	s->timer = transport_timer_start(xact_transport(s->x), when, fn, s);
}

static void
log_sent(struct sweep *s, enum log_level level)
{
	sent_log(s->log, level, &s->stats, xact_stats(s->x));
}

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

/* The end of a heavy sweep, whatever came of it. */
static void
conclude(struct sweep *s, const struct sweep_report *r)
{
	g_autofree char *causes = causes_text(s->why);
	struct sweep_report told = *r;

	told.causes = causes;
	told.took_us = now(s) - s->began;
	log_sent(s, LOG_INFO);
	log_say(s->log, LOG_VERBOSE, "sweep", "sweep took %.1f ms",
		(double)told.took_us / 1000);
	s->end(&told, s->data);
	g_clear_pointer(&s->plan, plan_free);
	g_clear_pointer(&s->table_faults, g_ptr_array_unref);
	g_clear_pointer(&s->bridge, lft_free);
	g_clear_pointer(&s->fresh, g_free);
	g_clear_pointer(&s->items, g_array_unref);
	g_clear_pointer(&s->qos, port_tables_unref);
	g_clear_pointer(&s->isolation, isolation_free);
	g_clear_pointer(&s->reregister, g_free);
	view_clear(&s->next);
	s->last_end = now(s);
	s->why = 0;
	rest(s);
}

static void
fail(struct sweep *s, const char *message)
{
	struct sweep_report r = { .end = SWEEP_END_FAILED,
				  .error = message };

	log_say(s->log, LOG_ERROR, "sweep", "%s; the fabric is left as it is",
		message);
	s->up = false;
	s->causes |= 1u << SWEEP_CAUSE_RETRY;
	conclude(s, &r);
}

/* Program: the plan goes out; the answers are what is published. */

static void
log_verdict(struct sweep *s, const struct verdict *v, bool changed)
{
	const struct subnet *n = s->view.subnet;
	double ms = (double)(now(s) - s->began) / 1000;

	for (guint i = 0; i < v->lines->len; i++)
		log_limited(s->log, LOG_WARNING, "fabric", "not as it should "
			    "be", "%s", (char *)v->lines->pdata[i]);
	if (!v->up)
		log_say(s->log, LOG_WARNING, "sweep", "SUBNET NOT QUITE UP: "
			"%u complaints; %u switches, %u hosts, %u of %u links "
			"Active, after %.1f ms", v->lines->len, n->n_switches,
			v->n_hosts, v->n_active, v->n_links, ms);
	else if (!s->up || changed)
		log_say(s->log, LOG_INFO, "sweep", "SUBNET UP: %u switches, "
			"%u hosts, %u links, all Active; %s routes LIDs to %u; "
			"%.1f ms", n->n_switches, v->n_hosts, v->n_links,
			s->choice.engine->name, s->view.lids->top, ms);
	s->up = v->up;
}

static void
publish(struct sweep *s, struct subnet *after)
{
	view_clear(&s->view);
	s->view = s->next;
	s->next = (struct view){ 0 };
	if (after) {
		subnet_unref(s->view.subnet);
		s->view.subnet = subnet_ref(after);
	}
}

static void
judge(struct sweep *s, GPtrArray *problems, bool changed)
{
	struct sweep_report r = { .view = &s->view, .choice = &s->choice,
				  .fresh = s->fresh };
	struct verdict v;

	verdict_judge(&v, s->view.subnet, &s->choice);
	for (guint i = 0; i < s->table_faults->len; i++)
		g_ptr_array_add(v.lines,
				g_strdup(s->table_faults->pdata[i]));
	for (guint i = 0; problems && i < problems->len; i++)
		g_ptr_array_add(v.lines, g_strdup(problems->pdata[i]));
	v.up = v.lines->len == 0;
	log_verdict(s, &v, changed);
	if (!v.up)
		s->causes |= 1u << SWEEP_CAUSE_RETRY;
	r.end = v.up ? SWEEP_END_UP : SWEEP_END_NOT_UP;
	r.verdict = &v;
	conclude(s, &r);
	verdict_clear(&v);
}

static void
on_programmed(struct program_result *result, void *data)
{
	struct sweep *s = data;

	s->program = NULL;
	log_say(s->log, LOG_VERBOSE, "sweep", "plan: %u steps done, %u "
		"failed, %u held back", result->done, result->failed,
		result->held_back);
	memory_learn(s->memory, s->next.subnet, result->forgot);
	clients_told(s->clients, s->next.subnet, result->told);
	if (keystore_lock(s->params.keystore, result->locked) ||
	    result->changed)
		s->causes |= 1u << SWEEP_CAUSE_MEANWHILE;
	keystore_learn(s->params.keystore, result->after);
	keystore_save(s->params.keystore);
	publish(s, result->after);
	judge(s, result->problems, true);
	program_result_clear(result);
}

static void
on_keys(void *data)
{
	struct sweep *s = data;

	s->rekey = NULL;
	s->program = program_start(s->x, s->keys, s->next.subnet, &s->wanted,
				   s->plan, s->next.seen, s->next.tables,
				   s->programmed, s);
}

static void
send_plan(struct sweep *s, program_done_fn done)
{
	set_state(s, SWEEP_PROGRAMMING);
	s->programmed = done;
	s->rekey = rekey_start(s->x, s->params.keystore, s->next.subnet,
			       &s->wanted, s->plan, on_keys, s);
	if (!s->rekey)
		on_keys(s);
}

static void
program(struct sweep *s)
{
	if (s->plan->n_steps) {
		send_plan(s, on_programmed);
		return;
	}
	publish(s, NULL);
	judge(s, NULL, false);
}

static void
make_plan(struct sweep *s, const struct lft *lft)
{
	const struct subnet *n = s->next.subnet;
	g_autofree uint32_t *forgotten = memory_forgotten(s->memory, n);

	s->wanted = (struct wanted){
		.policy = s->params.policy,
		.keys = s->keys,
		.lids = s->next.lids,
		.lft = lft,
		.sm_lid = s->next.lids->base[n->local_port],
		.tables = s->isolation->wanted,
		.enforce = s->isolation->enforce,
		.qos = s->params.isolation.qos,
		.reregister = s->reregister,
	};
	g_clear_pointer(&s->plan, plan_free);
	s->plan = plan_diff(n, &s->wanted, s->next.seen, s->next.tables,
			    forgotten);
}

/* What the bridge could not do, the plan behind it tries again and tells. */
static void
on_drained(struct program_result *result, void *data)
{
	struct sweep *s = data;

	s->program = NULL;
	log_say(s->log, LOG_VERBOSE, "sweep", "drained: %u blocks",
		result->done);
	program_result_clear(result);
	make_plan(s, s->next.lft);
	program(s);
}

/* Old and new tables must not be on the fabric together: first what differs
 * is taken out, nothing else. */
static void
drain(struct sweep *s)
{
	s->bridge = choose_bridge(s->next.seen->lft, s->next.lft);
	make_plan(s, s->bridge);
	plan_keep(s->plan, PLAN_LFT);
	if (s->plan->n_steps)
		send_plan(s, on_drained);
	else
		program(s);
}

/* Decide: everything is known; what should be? */

/* What was chosen is told when it is another thing than before. */
static void
report_choice(struct sweep *s)
{
	bool news = g_strcmp0(s->said, s->choice.reason) != 0 ||
		s->choice.safety != CHOICE_SAFE;

	route_report(&s->choice, s->next.subnet, s->next.lids, s->log,
		     news ? LOG_INFO : LOG_VERBOSE);
	g_free(s->said);
	s->said = g_strdup(s->choice.reason);
}

static bool
route(struct sweep *s, GError **error)
{
	if (!route_fabric(&s->params.route, s->memory, s->memo, s->next.subnet,
			  s->next.lids, s->next.seen->lft, s->log, &s->choice,
			  error))
		return false;
	report_choice(s);
	s->next.lft = lft_ref(s->choice.lft);
	return true;
}

static void
report_plan(struct sweep *s)
{
	struct sweep_report r = { .end = SWEEP_END_PLANNED, .view = &s->view,
				  .plan = s->plan, .wanted = &s->wanted,
				  .choice = &s->choice };

	publish(s, NULL);
	conclude(s, &r);
}

/* Who may talk to whom; a member that is away is told, and no fault. */
static void
isolate(struct sweep *s)
{
	struct isolation *i = isolation_new(&s->params.isolation,
					    s->next.subnet, s->next.tables);

	for (guint k = 0; k < i->notes->len; k++)
		log_limited(s->log, LOG_WARNING, "partitions", "not as "
			    "configured", "%s", (char *)i->notes->pdata[k]);
	s->isolation = i;
	s->next.rules = partition_rules_ref(s->params.isolation.rules);
	s->next.memberships = memberships_ref(i->memberships);
	s->reregister = clients_want(s->clients, s->next.subnet,
				     s->next.lids);
}

static void
decide(struct sweep *s)
{
	g_autoptr(GError) error = NULL;
	const struct subnet *n = s->next.subnet;

	if (!route(s, &error)) {
		fail(s, error->message);
		return;
	}
	s->fresh = lftread_fresh(n);
	isolate(s);
	make_plan(s, s->next.lft);
	if (s->params.goal == SWEEP_GOAL_PLAN) {
		report_plan(s);
		return;
	}
	keystore_save(s->params.keystore);
	memory_keep_lids(s->memory, n, s->next.lids);
	memory_keep_ranks(s->memory, s->choice.engine->name, n,
			  s->choice.ranks);
	if (s->choice.safety == CHOICE_DRAIN)
		drain(s);
	else
		program(s);
}

/* Read tables: what the switches and ports hold, as far as we do not know
 * it. */

static bool
trusts_memory(const struct sweep *s)
{
	return s->view.subnet && !(s->why & 1u << SWEEP_CAUSE_SIGNAL);
}

static void
add_faults(struct sweep *s, const GPtrArray *faults)
{
	for (guint i = 0; i < faults->len; i++)
		g_ptr_array_add(s->table_faults,
				g_strdup(faults->pdata[i]));
}

static void
on_port_tables(GPtrArray *faults, void *data)
{
	struct sweep *s = data;

	s->tabread = NULL;
	add_faults(s, faults);
	decide(s);
}

static void
read_ports(struct sweep *s)
{
	const struct subnet *n = s->next.subnet;
	const struct isolation_params *p = &s->params.isolation;

	s->items = g_array_new(FALSE, FALSE, sizeof(struct tabread_item));
	s->qos = port_tables_new(n);
	qos_want(n, p->qos, s->qos);
	for (uint32_t port = 0; port < n->n_ports; port++)
		for (unsigned t = 0; t < PORT_N_TABLES; t++) {
			const struct tabread_item item = {
				.port = port, .table = t,
				.only = t == PORT_TABLE_PKEY ? NULL : s->qos,
			};

			if (isolation_reads(p, n, t, port))
				g_array_append_val(s->items, item);
		}
	s->next.tables = port_tables_new(n);
	if (trusts_memory(s) && s->view.tables)
		tabread_recall(n, s->next.tables, s->view.subnet,
			       s->view.tables);
	s->tabread = tabread_start(s->x, s->keys, n, s->items,
				   s->next.tables, on_port_tables, s);
}

static void
on_tables(struct lft_seen *seen, GPtrArray *faults, void *data)
{
	struct sweep *s = data;

	s->lftread = NULL;
	s->next.seen = seen;
	s->table_faults = g_ptr_array_new_with_free_func(g_free);
	add_faults(s, faults);
	read_ports(s);
}

static void
read_tables(struct sweep *s)
{
	struct lft_memory known = { s->view.subnet, s->view.seen };
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	const struct lid_range *ranges;
	size_t n;

	ranges = memory_ranges(s->memory, &n);
	s->next.lids = lids_assign(s->next.subnet, s->params.lmc, ranges, n,
				   notes, &error);
	for (guint i = 0; i < notes->len; i++)
		log_limited(s->log, LOG_WARNING, "lids", "LID conflict", "%s",
			    (char *)notes->pdata[i]);
	if (!s->next.lids) {
		fail(s, error->message);
		return;
	}
	set_state(s, SWEEP_READING);
	s->lftread = lftread_start(s->x, s->keys, s->next.subnet,
				   s->next.lids->top,
				   trusts_memory(s) ? &known : NULL,
				   s->log, on_tables, s);
}

/* Elect: are we the one? */

static void
obey(struct sweep *s, uint32_t port)
{
	struct sweep_report r = { .end = SWEEP_END_STANDBY };
	const struct subnet_node *n = subnet_node_of(s->next.subnet, port);

	r.master = n;
	log_say(s->log, LOG_INFO, "sweep", "standby: the master is on %s "
		"(0x%016" G_GINT64_MODIFIER "x)", n->desc,
		n->info.node_guid);
	set_sm_state(s, SM_STATE_STANDBY);
	if (s->elected)
		subnet_unref(s->elected);
	s->elected = subnet_ref(s->next.subnet);
	s->master = port;
	s->polls_lost = 0;
	s->up = false;
	view_clear(&s->view);
	conclude(s, &r);
}

static void
hand_over(struct sweep *s, uint32_t port)
{
	log_say(s->log, LOG_INFO, "sweep", "handing over to an SM of higher "
		"rank");
	peers_control(s->x, s->keys, s->next.subnet, port,
		      SM_CONTROL_HANDOVER, &s->self, NULL, NULL);
	obey(s, port);
}

static void
name_strangers(struct sweep *s, const struct election_peer *peers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (election_is_stranger(&s->self, &peers[i].info))
			log_limited(s->log, LOG_WARNING, "sweep", "an SM of "
				    "another SM_Key", "0x%016"
				    G_GINT64_MODIFIER "x (%s) takes no part",
				    peers[i].info.guid,
				    sm_state_name(peers[i].info.state));
}

static void
on_peers(GArray *found, void *data)
{
	struct sweep *s = data;
	const struct election_peer *peers = (void *)found->data;
	size_t who = 0;

	s->peers = NULL;
	name_strangers(s, peers, found->len);
	switch (election_decide(&s->self, peers, found->len, &who)) {
	case ELECTION_MASTER:
		set_sm_state(s, SM_STATE_MASTER);
		read_tables(s);
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
		read_tables(s);
		return;
	}
	set_state(s, SWEEP_ELECTING);
	s->peers = peers_ask(s->x, s->keys, s->next.subnet,
			     SUBNET_NONE, on_peers, s);
}

/* Discover. */

static void
on_discovered(struct subnet *n, void *data)
{
	struct sweep *s = data;

	s->discover = NULL;
	s->next.subnet = n;
	keystore_learn(s->params.keystore, n);
	if (!n->n_nodes || n->local_port == SUBNET_NONE) {
		fail(s, "our own port does not answer");
		return;
	}
	if (n->ports[n->local_port].info.state < PORT_STATE_INIT) {
		fail(s, "our own port is down: no cable, or nobody at its "
		     "other end");
		return;
	}
	log_say(s->log, LOG_VERBOSE, "sweep", "found %u nodes, %u switches, "
		"%u faults in %.1f ms", n->n_nodes, n->n_switches,
		n->n_faults, (double)(now(s) - s->began) / 1000);
	elect(s);
}

/* Other partitions, and nothing else: all that we know of the fabric is still
 * good, and so are its routes. */
static bool
can_replan(const struct sweep *s)
{
	return s->why == 1u << SWEEP_CAUSE_PARTITIONS && s->up &&
		s->view.subnet && s->self.state == SM_STATE_MASTER &&
		s->params.goal == SWEEP_GOAL_FABRIC;
}

static void
replan(struct sweep *s)
{
	s->next = (struct view){
		.subnet = subnet_ref(s->view.subnet),
		.lids = lid_map_ref(s->view.lids),
		.lft = lft_ref(s->view.lft),
		.seen = g_steal_pointer(&s->view.seen),
		.tables = port_tables_copy(s->view.tables),
	};
	s->fresh = g_new0(uint8_t, s->next.subnet->n_switches + 1);
	s->table_faults = g_ptr_array_new_with_free_func(g_free);
	isolate(s);
	make_plan(s, s->next.lft);
	program(s);
}

static void
begin(struct sweep *s)
{
	g_autofree char *causes = causes_text(s->causes);

	s->why = s->causes;
	s->causes = 0;
	s->began = now(s);
	s->stats = *xact_stats(s->x);
	if (can_replan(s)) {
		log_say(s->log, LOG_INFO, "sweep", "other partitions");
		replan(s);
		return;
	}
	log_say(s->log, LOG_INFO, "sweep", "heavy sweep: %s", causes);
	choice_clear(&s->choice);
	if (s->params.keystore && s->why & 1u << SWEEP_CAUSE_SIGNAL)
		keyring_unlock_all(keystore_ring(s->params.keystore));
	set_state(s, SWEEP_DISCOVERING);
	s->discover = discover_start(s->x, s->keys, on_discovered, s);
	if (s->view.subnet && s->why & HURRY &&
	    !(s->why & ~(HURRY | HURRY_BESIDES)))
		discover_hurry(s->discover, s->view.subnet);
}

/* Rest: until something happens. */

static void
on_wake(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	begin(s);
}

/* A standby of higher rank may have been still discovering when we asked it
 * in the last heavy sweep. */
static void
on_light_peers(GArray *found, void *data)
{
	struct sweep *s = data;
	const struct election_peer *peers = (void *)found->data;
	size_t who;

	s->peers = NULL;
	log_sent(s, LOG_DEBUG);
	if (election_decide(&s->self, peers, found->len, &who) !=
	    ELECTION_MASTER)
		s->causes |= 1u << SWEEP_CAUSE_ELECTION;
	rest(s);
}

static void
on_light(const char *why, void *data)
{
	struct sweep *s = data;

	s->light = NULL;
	if (why) {
		log_say(s->log, LOG_INFO, "sweep", "light sweep: %s", why);
		s->causes |= 1u << SWEEP_CAUSE_LIGHT;
		rest(s);
		return;
	}
	s->peers = peers_ask(s->x, s->keys, s->view.subnet,
			     SUBNET_NONE, on_light_peers, s);
}

static void
on_light_timer(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	if (s->causes || !s->view.subnet) {
		s->causes |= 1u << SWEEP_CAUSE_RETRY;
		begin(s);
		return;
	}
	s->stats = *xact_stats(s->x);
	set_state(s, SWEEP_LIGHT);
	s->light = light_start(s->x, s->keys, s->view.subnet,
			       on_light, s);
}

static void
on_poll(GArray *found, void *data)
{
	struct sweep *s = data;
	const struct election_peer *p = (void *)found->data;

	s->peers = NULL;
	if (found->len && p->info.state == SM_STATE_MASTER)
		s->polls_lost = 0;
	else
		s->polls_lost++;
	if (s->polls_lost >= s->params.polls_lost) {
		log_say(s->log, LOG_WARNING, "sweep", "the master is gone");
		set_sm_state(s, SM_STATE_DISCOVERING);
		s->causes |= 1u << SWEEP_CAUSE_ELECTION;
	}
	rest(s);
}

static void
on_poll_timer(void *data)
{
	struct sweep *s = data;

	s->timer = 0;
	set_state(s, SWEEP_POLLING);
	s->peers = peers_ask(s->x, s->keys, s->elected, s->master,
			     on_poll, s);
}

/*
 * What comes next: a noted cause, after a moment of quiet; else the next look.
 * A fabric that is not up is tried again at the pace of the light sweeps, for
 * what did not work a moment ago rarely works now.
 */
static void
rest(struct sweep *s)
{
	unsigned urgent = s->causes & ~(1u << SWEEP_CAUSE_RETRY);
	int64_t quiet = s->causes & 1u << SWEEP_CAUSE_TRAP ? QUIET_US : 0;

	if (urgent && s->params.goal == SWEEP_GOAL_FABRIC) {
		set_state(s, SWEEP_WAITING);
		set_timer(s, MAX(now(s) + quiet, s->last_end + HOLD_US),
			  on_wake);
		return;
	}
	set_state(s, SWEEP_IDLE);
	if (s->self.state == SM_STATE_STANDBY && s->elected)
		set_timer(s, now(s) + (int64_t)s->params.poll_ms * 1000,
			  on_poll_timer);
	else if (s->params.sweep_s)
		set_timer(s, now(s) + (int64_t)s->params.sweep_s *
			  G_USEC_PER_SEC, on_light_timer);
}

void
sweep_set_route(struct sweep *s, const struct route_params *route)
{
	s->params.route = *route;
}

void
sweep_set_partitions(struct sweep *s, struct partition_rules *rules)
{
	partition_rules_ref(rules);
	partition_rules_unref(s->params.isolation.rules);
	s->params.isolation.rules = rules;
}

void
sweep_request(struct sweep *s, enum sweep_cause cause)
{
	bool resting = s->state == SWEEP_IDLE || s->state == SWEEP_WAITING;

	/* A standby leaves traps and changes to the master. */
	if (s->self.state == SM_STATE_STANDBY && cause == SWEEP_CAUSE_TRAP)
		return;
	s->causes |= 1u << cause;
	if (!resting)
		return;
	/* The quiet is counted from the first trap, not from the last: else
	 * a port that babbles would put us off for ever. */
	if (s->state == SWEEP_WAITING && cause == SWEEP_CAUSE_TRAP)
		return;
	if (s->params.goal == SWEEP_GOAL_PLAN)
		begin(s);
	else
		rest(s);
}

void
sweep_control(struct sweep *s, enum sm_control control,
	      const struct sm_info *from)
{
	log_say(s->log, LOG_INFO, "sweep", "SMInfo control %u from 0x%016"
		G_GINT64_MODIFIER "x (%s)", control, from->guid,
		sm_state_name(from->state));
	switch (control) {
	case SM_CONTROL_HANDOVER:
		if (s->self.state == SM_STATE_STANDBY && s->elected)
			peers_control(s->x, s->keys, s->elected,
				      s->master, SM_CONTROL_ACKNOWLEDGE,
				      &s->self, NULL, NULL);
		set_sm_state(s, SM_STATE_MASTER);
		sweep_request(s, SWEEP_CAUSE_ELECTION);
		break;
	case SM_CONTROL_STANDBY:
	case SM_CONTROL_DISCOVER:
		if (s->self.state != SM_STATE_MASTER) {
			set_sm_state(s, SM_STATE_DISCOVERING);
			sweep_request(s, SWEEP_CAUSE_ELECTION);
		}
		break;
	case SM_CONTROL_ACKNOWLEDGE:
		break;
	case SM_CONTROL_DISABLE:
		/* Only a standby may be told to be quiet, and one that is
		 * quiet for ever helps nobody: we stay a standby. */
		break;
	}
}

void
sweep_sm_info(const struct sweep *s, struct sm_info *out)
{
	*out = s->self;
	out->act_count = (uint32_t)xact_stats(s->x)->sent;
}

enum sweep_state
sweep_state(const struct sweep *s)
{
	return s->state;
}

struct sweep *
sweep_new(struct xact *x, const struct sweep_params *params,
	  struct memory *memory, struct log *log, sweep_end_fn end, void *data)
{
	struct sweep *s = g_new0(struct sweep, 1);

	s->x = x;
	s->params = *params;
	if (params->keystore)
		s->keys = keystore_ring(params->keystore);
	if (!s->params.poll_ms)
		s->params.poll_ms = POLL_MS;
	if (!s->params.polls_lost)
		s->params.polls_lost = POLLS_LOST;
	if (params->isolation.rules)
		partition_rules_ref(params->isolation.rules);
	else
		s->params.isolation.rules = partition_rules_default();
	s->clients = clients_new(params->clients);
	s->memory = memory;
	s->memo = choose_memo_new();
	s->log = log;
	s->end = end;
	s->data = data;
	s->master = SUBNET_NONE;
	s->last_end = now(s) - HOLD_US;
	s->self = (struct sm_info){
		.guid = params->port_guid,
		.sm_key = params->sm_key,
		.priority = params->priority,
		.state = SM_STATE_DISCOVERING,
	};
	return s;
}

static void
cancel_all(struct sweep *s)
{
	g_clear_pointer(&s->discover, discover_cancel);
	g_clear_pointer(&s->peers, peers_cancel);
	g_clear_pointer(&s->lftread, lftread_cancel);
	g_clear_pointer(&s->tabread, tabread_cancel);
	g_clear_pointer(&s->rekey, rekey_cancel);
	g_clear_pointer(&s->program, program_cancel);
	g_clear_pointer(&s->light, light_cancel);
	xact_cancel_owner(s->x, s);
	if (s->timer)
		transport_timer_cancel(xact_transport(s->x), s->timer);
	s->timer = 0;
}

void
sweep_free(struct sweep *s)
{
	if (!s)
		return;
	cancel_all(s);
	g_clear_pointer(&s->plan, plan_free);
	g_clear_pointer(&s->table_faults, g_ptr_array_unref);
	g_clear_pointer(&s->bridge, lft_free);
	g_clear_pointer(&s->fresh, g_free);
	g_clear_pointer(&s->items, g_array_unref);
	g_clear_pointer(&s->qos, port_tables_unref);
	g_clear_pointer(&s->isolation, isolation_free);
	g_clear_pointer(&s->reregister, g_free);
	partition_rules_unref(s->params.isolation.rules);
	choice_clear(&s->choice);
	view_clear(&s->next);
	view_clear(&s->view);
	if (s->elected)
		subnet_unref(s->elected);
	clients_free(s->clients);
	choose_memo_free(s->memo);
	g_free(s->said);
	g_free(s);
}
