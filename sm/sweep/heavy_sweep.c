// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The heavy sweep of a master, after discovery:
 *
 *	heavy_sweep_start	assign LIDs; read the tables that switches and
 *				ports hold
 *	-> heavy_sweep_on_tables route and verify, beside the loop
 *	-> heavy_sweep_on_routed after a long computation: elect once more
 *	-> heavy_sweep_decide	isolate, plan (pure, no I/O)
 *	-> prepare, send_plan	change keys, cut trees of groups, send the plan
 *	-> publish, judge	the new view; is the fabric up
 *
 *	observe			of an observer, in place of the last two
 *
 * Everything is computed from values: the snapshot, the LIDs, the tables. At the
 * end the published view is replaced as a whole.
 */
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/program.h"
#include "sm/sweep/sweep.h"
#include "sm/sweep/table_reader.h"
#include "topology/each.h"
#include "topology/expected.h"
#include "topology/text.h"

#define NOTES_MAX	20u	/* lines of an engine that are logged */
#define CHANGES_MAX	8u	/* of each kind, a line each */
#define UNMET_MAX	4u	/* on partitions, in the status */
#define LONG_US		G_USEC_PER_SEC	/* half of the time after which a master
					   that is silent is given up */
#define RETRY_MIN_US	(100 * (int64_t)1000)
#define RETRY_MAX_US	(10 * G_USEC_PER_SEC)
#define RETRY_RARE_US	(300 * G_USEC_PER_SEC)	/* links are up, only
							   protection is
							   missing; or a heavy
							   sweep without news */

/* Counts by attribute and method. Retries have their own line, so that lost
 * SMPs do not look like a larger fabric. */
void
sweep_log_sent(struct sweep *s, enum log_level level)
{
	const struct mad_client_stats *before = &s->run.stats;
	const struct mad_client_stats *after = &s->x->stats;
	g_autoptr(GString) line = g_string_new(NULL);

	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		const uint64_t n[] = { after->gets[i] - before->gets[i],
				       after->sets[i] - before->sets[i] };

		for (unsigned k = 0; k < 2; k++)
			if (n[k])
				g_string_append_printf(line,
					"%s %s.%s %" G_GUINT64_FORMAT,
					line->len ? "," : ":",
					mad_attr_name(i), k ? "Set" : "Get",
					n[k]);
	}
	log_say(s->log, level, "sweep", "sent %" G_GUINT64_FORMAT " MADs%s",
		after->sent - before->sent, line->str);
	if (after->retried != before->retried)
		log_say(s->log, level, "sweep", "%" G_GUINT64_FORMAT
			" of them a second time or more, %" G_GUINT64_FORMAT
			" requests without an answer",
			after->retried - before->retried,
			after->timed_out - before->timed_out);
}

/* -------------------------------------------------------- program, publish */

/* A node that was reset may be back before it is missed: its end port has lost
 * the LID that it had in the last sweep. */
static void
log_resets(struct sweep *s)
{
	const struct snapshot *n = s->next.subnet, *was = s->view.subnet;
	g_autofree uint32_t *nodes = snapshot_map_nodes(n, was);
	unsigned lines = 0;

	for (uint32_t port = 0; was && port < n->n_ports; port++) {
		g_autofree char *name = NULL;
		uint32_t before;

		if (!snapshot_is_end_port(n, port) || !n->ports[port].known ||
		    n->ports[port].info.lid)
			continue;
		before = snapshot_same_port(n, port, nodes, was);
		if (before == SNAPSHOT_NONE || !was->ports[before].known ||
		    !was->ports[before].info.lid || ++lines > CHANGES_MAX)
			continue;
		name = snapshot_port_name(n, port);
		log_say(s->log, LOG_WARNING, "fabric", "%s has been reset: it "
			"has lost its LID", name);
	}
	if (lines > CHANGES_MAX)
		log_say(s->log, LOG_WARNING, "fabric", "%u more ports have "
			"lost their LIDs", lines - CHANGES_MAX);
}

/* Logs links whose name, verdict or causes changed. */
static void
log_avoided(struct sweep *s, const GPtrArray *old, const GPtrArray *new)
{
	unsigned lines = 0;

	EACH_PTR(const struct avoid_link, l, new) {
		const struct avoid_link *was = old ? avoid_find(old, l->name) :
			NULL;
		g_autofree char *why = avoid_why(l);

		if ((was && was->verdict == l->verdict &&
		     was->causes == l->causes) || ++lines > CHANGES_MAX)
			continue;
		log_say(s->log, LOG_WARNING, "route", "link %s %s: %s",
			l->name, avoid_verdict_texts[l->verdict], why);
	}
	for (guint i = 0; old && i < old->len; i++) {
		const struct avoid_link *l = old->pdata[i];

		if (avoid_find(new, l->name) || l->verdict != AVOID_DONE ||
		    ++lines > CHANGES_MAX)
			continue;
		log_say(s->log, LOG_INFO, "route", "link %s is no longer "
			"avoided", l->name);
	}
	if (lines > CHANGES_MAX)
		log_say(s->log, LOG_WARNING, "route", "%u more links are "
			"avoided or used again: \"minismctl avoid\" lists "
			"them", lines - CHANGES_MAX);
}

/* The cost of a repair, and the pairs that have no path. */
static void
log_rerouted(const struct sweep *s)
{
	uint32_t first = s->run.plan->first[PLAN_LFT], n = 0;
	uint32_t end = s->run.plan->first[PLAN_LFT + 1];
	const struct plan_step *steps = s->run.plan->steps;
	uint64_t lost = s->next.choice.alone.reach.lost_hosts;
	g_autofree char *pairs = g_strdup_printf("without a path: %"
		G_GUINT64_FORMAT " pair%s of hosts", lost, text_plural(lost));

	for (uint32_t i = first; i < end; i++)
		n += i == first || steps[i].node != steps[i - 1].node;
	if (n)
		log_say(s->log, LOG_INFO, "sweep", "rerouted in %.1f %s: %u "
			"LFT block%s on %u switch%s; %s",
			(double)(transport_now(s->t) - s->run.began) / 1000,
			transport_ms(s->t), end - first,
			text_plural(end - first), n, text_plural_es(n),
			lost ? pairs :
			"all hosts found reach each other");
}

/* Of the first view only links that are slow are logged. A run that ends by itself
 * expects nothing of a later one. */
static void
log_changes(const struct sweep *s, const struct snapshot *now)
{
	struct expected *own = sweep_goal_stays(s->params.goal) ? NULL :
		expected_new(), *e = own ?: s->params.expected;

	expected_update(e, now, s->next.lids, g_get_real_time() /
			G_USEC_PER_SEC, transport_now(s->t));
	EACH_PTR(const struct change, c, e->changes)
		if (s->view.subnet || c->kind == CHANGE_SLOW)
			log_say(s->log, change_is_loss(c->kind) ? LOG_WARNING :
				LOG_INFO, "fabric", "%s", c->text);
	expected_free(own);
}

/* The next view becomes the published one, and its changes are logged by name.
 * after: the snapshot after programming; NULL: nothing was sent. */
static void
publish(struct sweep *s, struct snapshot *after)
{
	struct snapshot *now = after ? after : s->next.subnet;

	log_changes(s, now);
	log_resets(s);
	log_avoided(s, s->view.avoided, s->next.avoided);
	if (after && s->view.subnet)
		log_rerouted(s);
	s->next.silent = silent_update(g_steal_pointer(&s->view.silent),
				       s->next.subnet, s->run.lost,
				       transport_now(s->t));
	sweep_view_clear(&s->view);
	s->view = s->next;
	s->next = (struct view){ 0 };
	lft_seen_share(s->view.seen, s->view.lft);
	s->cut_off = s->astray = s->failed = false;
	if (after) {
		snapshot_unref(s->view.subnet);
		s->view.subnet = snapshot_ref(after);
	}
	sweep_set_last(s, s->view.subnet);
	late_end(s->late, s->view.subnet, s->view.seen, s->run.began);
}

/* Partitions that are not as configured, the first by name: they leave the subnet
 * up. isolate() has logged each. */
static void
judge_isolation(const struct sweep *s, GPtrArray *lines)
{
	const struct isolation *i = s->run.isolation;
	guint first = i ? i->n_away : 0, n = i ? i->notes->len - first : 0;

	for (guint k = 0; k < MIN(n, UNMET_MAX); k++)
		g_ptr_array_add(lines, g_strdup(i->notes->pdata[first + k]));
	if (n > UNMET_MAX)
		g_ptr_array_add(lines, g_strdup_printf("partitions of %u more "
				"ports are not as configured", n - UNMET_MAX));
}

/*
 * A sweep that left the fabric not up may have lost a MAD, or believed a wrong one:
 * all is read once more. After that, only what was not done is sent again, as long
 * as there is something to send, and what was not answered is asked by itself
 * (sm/sweep/light_sweep.c). Without news a heavy sweep is for what no answer tells,
 * and becomes rare.
 */
static void
retry(struct sweep *s, bool is_up)
{
	int64_t each = (int64_t)s->params.sweep_s * G_USEC_PER_SEC;
	bool is_news = s->run.why & ~(SWEEP_RETRIES | 1u << SWEEP_CAUSE_LATE);
	bool is_useless = s->run.is_repair && !is_news &&
		s->x->stats.sent == s->run.stats.sent;
	bool is_untaken = s->causes & 1u << SWEEP_CAUSE_UNTAKEN;

	s->has_retried = (!is_up || is_untaken) &&
		(!is_news || (s->run.is_repair && s->has_retried));
	if (is_untaken) {	/* a protection waits longer than the rest may */
		if (!is_up && each && (!s->has_retried || sweep_is_whole(s)))
			s->retry_due = MIN(s->retry_due,
					   transport_now(s->t) + each);
		return;
	}
	if (is_up)
		s->causes &= ~(1u << SWEEP_CAUSE_RETRY);
	if (is_up ? !s->run.is_repair || !is_news : is_news)
		s->retry_us = 0;
	if (!is_up && !is_useless)
		sweep_retry(s, SWEEP_CAUSE_RETRY, each, sweep_is_whole(s) ?
			    each : MAX(each, RETRY_RARE_US));
}

/* Sweeps wait for them. Logged if there are more than before. */
static void
note_slow(struct sweep *s, GPtrArray *warnings)
{
	const struct snapshot *n = s->view.subnet;
	uint32_t n_ports = mad_client_knows_slow(s->x) ? n->n_ports : 0;
	struct field_tally slow = { 0 };
	g_autofree char *ports = NULL;
	struct dr_path path;

	for (uint32_t port = 0; port < n_ports; port++)
		if (snapshot_holder_of(n, port) == port &&
		    snapshot_path(n, port, &path) &&
		    mad_client_is_slow(s->x, &path))
			field_tally_add(&slow, port, 1);
	ports = field_tally_ports(&slow, 0, n);
	if (ports)
		text_add(warnings, "slow to answer, which makes sweeps long: "
			 "%s", ports);
	if (slow.count[0] > s->n_slow)
		log_limited(s->log, LOG_WARNING, "fabric", "also", "%s",
			    (char *)warnings->pdata[warnings->len - 1]);
	s->n_slow = slow.count[0];
}

static void
judge(struct sweep *s)
{
	const struct choice *choice = &s->view.choice;
	struct sweep_report r = { .view = &s->view, .choice = choice,
				  .fresh = s->run.fresh };
	const struct snapshot *n = s->view.subnet;
	bool observes = s->params.goal == SWEEP_GOAL_OBSERVE;
	const struct election_peer *master = observes ?
		observe_master(s) : NULL;
	struct health v;

	if (!sweep_goal_stays(s->params.goal))
		g_ptr_array_extend_and_steal(s->run.problems,
				g_ptr_array_ref(s->run.remarks));
	if (s->view.lids->lack)
		g_ptr_array_add(s->run.problems, g_strdup(s->view.lids->lack));
	health_judge(&v, n, choice, s->run.problems, s->run.untaken,
		     sweep_goal_stays(s->params.goal));
	g_ptr_array_extend_and_steal(v.warnings,
				     g_steal_pointer(&s->run.remarks));
	EACH_PTR(const char, line, v.lines)
		log_limited(s->log, LOG_WARNING, "fabric", "problem", "%s",
			    line);
	EACH_PTR(const char, line, v.warnings)
		log_limited(s->log, LOG_WARNING, "fabric", "also", "%s", line);
	note_slow(s, v.warnings);
	judge_isolation(s, v.warnings);
	r.is_news = s->run.why & 1u << SWEEP_CAUSE_SIGNAL ||
		(!observes && (!v.up || !s->up || s->run.plan->n_steps));
	s->up = v.up;
	/* our port is closed again once that master has had time to find us */
	if (s->run.wanted.is_unseen && !s->contested)
		sweep_retry(s, SWEEP_CAUSE_UNTAKEN, RETRY_MAX_US, RETRY_MAX_US);
	retry(s, v.up);
	r.end = v.up ? SWEEP_END_UP : SWEEP_END_NOT_UP;
	r.verdict = &v;
	r.master = master ? snapshot_node_of(n, master->port) : NULL;
	sweep_conclude(s, &r);
	health_clear(&v);
}

static void
keep_ranks(struct sweep *s)
{
	const struct choice *c = &s->next.choice;

	persist_keep_ranks(s->memory, c->engine->name, s->next.subnet,
			   c->ranks, !s->owes_lfts);
}

/* A repair, and not one that is to send fields once more that were not taken. */
static bool
is_partial(const struct sweep *s)
{
	return s->run.is_repair && !(s->run.why & 1u << SWEEP_CAUSE_UNTAKEN);
}

static void
heavy_sweep_on_programmed(struct program_result *result, void *data)
{
	struct sweep *s = data;
	unsigned fields = 0;
	bool is_rare;

	s->run.batch = NULL;
	log_say(s->log, LOG_VERBOSE, "sweep", "plan: %u steps done, %u "
		"failed, %u held back", result->done, result->failed,
		result->held_back);
	if (result->rushed)
		log_say(s->log, LOG_INFO, "sweep", "%u forwarding entries were "
			"changed although their new path did not work yet",
			result->rushed);
	persist_learn(s->memory, s->next.subnet, result->untaken,
		      is_partial(s));
	if (s->owes_lfts && !result->lfts_left) {
		s->owes_lfts = false;
		keep_ranks(s);
	}
	/* An address or a protection that was acknowledged and not taken is
	 * sent again soon, then less and less often: most devices that do so
	 * are being reset. */
	for (uint32_t port = 0; port < result->after->n_ports; port++) {
		fields |= result->untaken[port];
		s->run.untaken[port] |= result->untaken[port];
	}
	if (fields & (PORT_FIELDS_ADDRESS | PORT_FIELDS_GUARD) ||
	    result->excused) {
		is_rare = !(fields & PORT_FIELDS_ADDRESS) ||
			!sweep_is_whole(s);
		sweep_retry(s, SWEEP_CAUSE_UNTAKEN, RETRY_MIN_US,
			    is_rare ? RETRY_RARE_US : RETRY_MAX_US);
	}
	reregister_told(s->clients, result->after, result->told);
	if (persist_keys_lock(s->params.keystore, result->locked))
		s->causes |= 1u << SWEEP_CAUSE_MEANWHILE;
	EACH_ITEM(const uint64_t, guid, result->changed)
		sweep_changed(s, SWEEP_CAUSE_MEANWHILE, *guid);
	if (s->params.keystore)
		mkey_db_learn(s->params.keystore->ring, result->after);
	persist_keys_save(s->params.keystore);
	g_ptr_array_extend_and_steal(s->run.problems,
				     g_steal_pointer(&result->problems));
	g_ptr_array_extend_and_steal(s->run.remarks,
				     g_steal_pointer(&result->remarks));
	if (result->failed || result->held_back)
		g_ptr_array_add(s->run.problems, g_strdup_printf("%u of %u "
				"steps of the plan are not done",
				result->failed + result->held_back,
				s->run.plan->n_steps));
	publish(s, result->after);
	judge(s);
	program_result_clear(result);
}

/*
 * Has another manager programmed the fabric last? A switch with adaptive routing
 * on ignores its LFT, until a block of it is written; nothing in it tells. So all
 * blocks are written once after another manager. Tables of ours are known by the
 * engine that is remembered and by the SMLID of our port: ours, or that of the
 * minism whose state we have; and if the other one ran on this port, by
 * MulticastFDBTop, which OpenSM lowers to the last group. That is written after
 * the blocks of its switch, so it also tells that they are not all written.
 */
static bool
is_inherited(const struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;
	const struct port_info *own = &n->ports[n->local_port].info;

	if ((s->view.subnet && !s->cut_off) || !own->sm_lid)
		return false;
	for (uint32_t sw = 0; sw < n->n_switches; sw++) {
		const struct switch_info *i = &n->nodes[n->switches[sw]].sw;

		if (n->nodes[n->switches[sw]].sw_known && i->linear_fdb_top &&
		    i->multicast_fdb_top !=
		    desired_mcast_top(n, n->switches[sw]))
			return true;
	}
	return !persist_engine(s->memory, n) ||
		(own->sm_lid != own->lid && own->sm_lid != s->former);
}

/* Ports that babble are disabled for a time. */
static uint8_t *
want_phys(const struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;
	g_autoptr(GPtrArray) list = flaps_list(s->flaps, transport_now(s->t));
	uint8_t *phys = g_new0(uint8_t, n->n_ports);

	EACH_PTR(const struct flap, p, list) {
		uint32_t port = sweep_disabled_port(p, n);

		if (port != SNAPSHOT_NONE)
			phys[port] = MAX(phys[port], p->held ?
					 PORT_PHYS_DISABLED :
					 PORT_PHYS_POLLING);
	}
	return phys;
}

/* Is this the LID of a manager that has handed over, or obeys? */
static bool
is_of_standby(const struct sweep *s, uint16_t lid)
{
	EACH_ITEM(const struct election_peer, peer, s->others)
		if (peer->info.state == SM_STATE_STANDBY &&
		    s->next.subnet->ports[peer->port].info.lid == lid)
			return true;
	return false;
}

/* Has a master that is not found written over what we have? It does not find us, or
 * one of both would hand over; both may have the same LID. */
static bool
is_overwritten(const struct sweep *s)
{
	const struct snapshot *n = s->next.subnet, *last = s->view.subnet;
	uint16_t own = last ? s->view.lids->base[last->local_port] : LID_NONE;
	g_autofree uint32_t *nodes = snapshot_map_nodes(n, last);

	for (uint32_t port = 0; own && port < n->n_ports; port++) {
		const struct port_info *now = &n->ports[port].info, *then;
		uint32_t was = snapshot_same_port(n, port, nodes, last);

		if (was == SNAPSHOT_NONE || !n->ports[port].known ||
		    !snapshot_is_end_port(n, port))
			continue;
		then = &last->ports[was].info;
		if (then->sm_lid == own &&
		    ((now->sm_lid && now->sm_lid != own &&
		      !is_of_standby(s, now->sm_lid)) ||
		     (now->lid && now->lid != then->lid)))
			return true;
	}
	return false;
}

static void
make_plan(struct sweep *s, bool keys_stay)
{
	const struct snapshot *n = s->next.subnet;

	s->owes_lfts |= is_inherited(s);
	if (s->params.goal == SWEEP_GOAL_FABRIC && !s->run.phys)
		s->run.phys = want_phys(s);
	s->run.wanted = (struct desired){
		.policy = s->params.policy,
		.keys = s->keys,
		.is_unseen = is_overwritten(s) || (s->contested &&
			election_highest(&s->self, s->others, SM_STATE_MASTER,
					 ELECTION_HAND_OVER)),
		.keys_stay = keys_stay,
		.lids = s->next.lids,
		.lft = s->next.lft,
		.all_blocks = s->owes_lfts,
		.bridge = s->next.choice.bridge,
		.later = s->next.choice.later,
		.hosts_wait = s->next.choice.hosts_wait,
		.sm_lid = s->next.lids->base[n->local_port],
		.tables = s->run.isolation->wanted,
		.enforce = s->run.isolation->enforce,
		.qos = s->params.isolation.qos,
		.reregister = s->run.reregister,
		.phys = s->run.phys,
	};
	g_clear_pointer(&s->run.plan, plan_free);
	g_free(s->run.untaken);
	s->run.untaken = persist_not_sent(s->memory, n, is_partial(s));
	s->run.plan = plan_diff(n, &s->run.wanted, s->next.seen, s->next.tables,
			      s->run.untaken);
	if (s->run.wanted.all_blocks)
		log_say(s->log, LOG_INFO, "sweep", "another manager has "
			"programmed this fabric: all forwarding tables are "
			"written once, since adaptive routing would ignore "
			"them");
}

static void
send_plan(struct sweep *s)
{
	const struct plan *plan = s->run.plan;
	bool is_known;

	/* after the keys, for which this sweep waits */
	persist_keys_save(s->params.keystore);
	persist_keep_lids(s->memory, s->next.subnet, s->next.lids);
	s->owes_lfts &= plan->n_steps > 0;
	keep_ranks(s);
	if (!plan->n_steps) {
		persist_learn(s->memory, s->next.subnet, NULL, is_partial(s));
		publish(s, NULL);
		judge(s);
		return;
	}
	s->totals.lft_blocks += plan->first[PLAN_LFT + 1] -
		plan->first[PLAN_LFT];
	for (uint32_t i = plan->first[PLAN_LFT];
	     i < plan->first[PLAN_LFT + 1]; i++)
		s->totals.lft_entries += plan_entries(s->next.subnet,
			&s->run.wanted, s->next.seen, &plan->steps[i],
			&is_known);
	/* a new fabric's switches will answer with what is sent */
	lft_seen_share(s->next.seen, s->next.lft);
	s->run.batch = program_start(s->x, s->keys, s->next.subnet,
				     &s->run.wanted, plan, s->next.seen,
				     s->next.tables, sweep_note_late,
				     heavy_sweep_on_programmed, s);
}

/* What work beside the loop needs of the sweep; the caller adds the rest. */
static struct route_job *
job_new(struct sweep *s)
{
	struct route_job *job = route_job_new(&s->params.route);

	job->subnet = snapshot_ref(s->next.subnet);
	job->lids = lid_map_ref(s->next.lids);
	job->seen = lft_ref(s->next.seen->lft);
	job->parts = late_parts(s->late, s->next.subnet, s->next.seen,
				s->run.began, &job->late_until);
	return job;
}

static void
job_done(struct sweep *s, struct route_job *job)
{
	s->run.routing = NULL;
	if (job->repair && !s->run.is_outdated)
		s->repair = g_steal_pointer(&job->repair);
}

static void
heavy_sweep_on_cut(void *values, void *data)
{
	struct route_job *job = values;
	struct sweep *s = data;
	uint32_t n = job->n_cut;

	job_done(s, job);
	log_say(s->log, LOG_VERBOSE, "route", "compared with multicast trees "
		"in %.1f ms", (double)job->us / 1000);
	if (n)
		log_say(s->log, LOG_INFO, "route", "multicast trees could "
			"deadlock with old and new routes: %u port%s cut from "
			"them until the update is written", n,
			n == 1 ? " is" : "s are");
	s->params.hooks.cut(g_steal_pointer(&job->trees), s->params.hooks.data);
}

void
sweep_cut_trees(struct sweep *s, struct mft *trees)
{
	struct choice *c = &s->next.choice;
	struct route_job *job;

	if (!s->run.is_preparing) {
		mft_free(trees);
		return;
	}
	job = job_new(s);
	job->trees = trees;
	if (s->next.is_repaired)
		job->repair = g_steal_pointer(&s->repair);
	job->choice = (struct choice){
		.hosts_wait = c->hosts_wait, .held_loop = c->held_loop,
		.lft = lft_ref(c->lft),
		.bridge = c->bridge ? lft_ref(c->bridge) : NULL,
		.later = c->later ? g_array_ref(c->later) : NULL,
		.ranks = g_memdup2(c->ranks, job->subnet->n_switches *
				   sizeof(*c->ranks)),
	};
	s->run.routing = route_job_start(job, s->beside, heavy_sweep_on_cut, s);
}

void
sweep_prepared(struct sweep *s)
{
	if (!s->run.is_preparing)
		return;
	s->run.is_preparing = false;
	send_plan(s);
}

/* If packets will take other ways, or new ones are sent. */
static void
prepare(struct sweep *s)
{
	const struct sweep_hooks *h = &s->params.hooks;
	const uint32_t *first = s->run.plan->first;

	s->run.is_preparing = h->prepare &&
		(first[PLAN_LFT] < first[PLAN_LFT + 1] ||
		 first[PLAN_ACTIVATE] < first[PLAN_ACTIVATE + 1]) &&
		h->prepare(s, h->data);
	if (!s->run.is_preparing)
		send_plan(s);
}

/* A key that is recorded nowhere could close a port for ever: without the disk
 * the fabric is managed with the keys that the ports have. */
static void
heavy_sweep_on_keys(bool saved, void *data)
{
	struct sweep *s = data;

	s->run.batch = NULL;
	if (!saved) {
		g_ptr_array_add(s->run.problems, g_strdup("the M_Keys "
				"are not written: ports keep those that they "
				"have"));
		make_plan(s, true);
	}
	prepare(s);
}

/* A port that does not answer now has done so in the discovery. */
static void
heavy_sweep_on_look(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct sweep *s = data;
	uint16_t other = election_looked(s->next.subnet, a);

	s->run.look = 0;
	if (other) {
		sweep_replaced(s, other);
		return;
	}
	s->run.batch = rekey_start(s->x, s->params.keystore, s->next.subnet,
				   &s->run.wanted, s->run.plan,
				   heavy_sweep_on_keys, s);
	if (!s->run.batch)
		prepare(s);
}

/* ----------------------------------------------------------------- decide */

/* Computes partition memberships; a configured member that is away is
 * logged, and is no fault. */
static void
isolate(struct sweep *s)
{
	struct isolation *i = isolation_new(&s->params.isolation,
					    s->next.subnet, s->next.tables);

	EACH_PTR(const char, note, i->notes)
		log_limited(s->log, LOG_WARNING, "partitions", "not as "
			    "configured", "%s", note);
	s->run.isolation = i;
	s->next.rules = partition_rules_ref(s->params.isolation.rules);
	s->next.memberships = memberships_ref(i->memberships);
	s->run.reregister = reregister_want(s->clients, s->next.subnet,
				     s->next.lids, s->params.policy->gid_prefix);
}

/* Is the plan the one that was asked for? If not, nothing is written. */
static bool
is_as_asked(struct sweep *s)
{
	g_autofree char *digest = s->params.digest ?
		plan_digest(s->run.plan, s->next.subnet, &s->run.wanted,
			    s->next.seen, s->next.tables) : NULL;
	g_autofree char *text = NULL;

	if (!digest || strcmp(digest, s->params.digest) == 0)
		return true;
	text = g_strdup_printf("the plan has the digest %s now, not %s: see "
			       "--plan again", digest, s->params.digest);
	sweep_fail(s, text);
	return false;
}

/* What the switches hold is judged, and nothing is planned. */
static void
observe(struct sweep *s)
{
	s->next.rules = partition_rules_ref(s->params.isolation.rules);
	s->next.memberships = observe_memberships(s->next.subnet,
						  s->next.tables);
	observe_judge(s, s->run.problems);
	s->run.plan = g_new0(struct plan, 1);
	publish(s, NULL);
	judge(s);
}

void
heavy_sweep_decide(struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;
	struct sweep_report planned = {
		.end = SWEEP_END_PLANNED, .view = &s->view,
		.wanted = &s->run.wanted, .choice = &s->view.choice,
	};

	s->run.fresh = table_reader_fresh(n, s->cut_off || s->astray ? NULL :
				      s->view.subnet);
	for (uint32_t sw = 0; sw < n->n_switches; sw++)
		s->run.fresh[sw] |= late_is_due(s->late,
			n->nodes[n->switches[sw]].info.node_guid, s->run.began);
	if (s->cut_off)
		reregister_doubt(s->clients);
	isolate(s);
	make_plan(s, false);
	sweep_note(s, SWEEP_NOTE_PLANNED);
	if (s->params.goal == SWEEP_GOAL_PLAN) {
		planned.plan = s->run.plan;
		publish(s, NULL);
		sweep_conclude(s, &planned);
		return;
	}
	if (!is_as_asked(s))
		return;
	if (!s->run.plan->n_steps) {
		prepare(s);
		return;
	}
	sweep_set_state(s, SWEEP_PROGRAMMING);
	s->run.look = election_look(s->x, s->keys, n, heavy_sweep_on_look, s);
}

/* ------------------------------------------------------------------ route */

/* Logs the engine and its reason, if they changed; dangers as warnings, with
 * the credit loop in words. */
static void
report_choice(struct sweep *s, const char *cycle)
{
	const struct choice *c = &s->next.choice;
	struct log *log = s->log;
	bool news = g_strcmp0(s->said, c->reason) != 0 ||
		c->safety != CHOICE_SAFE;
	enum log_level level = news ? LOG_INFO : LOG_VERBOSE;

	g_free(s->said);
	s->said = g_strdup(c->reason);

	log_say(log, level, "route", "engine %s: %s", c->engine->name,
		c->reason);
	for (guint i = 0; c->compared && i < c->compared->len; i++)
		log_say(log, LOG_VERBOSE, "route", "candidate %s",
			(char *)c->compared->pdata[i]);
	for (guint i = 0; i < MIN(c->notes->len, NOTES_MAX); i++)
		log_say(log, level, "route", "%s: %s", c->engine->name,
			(char *)c->notes->pdata[i]);
	if (c->notes->len > NOTES_MAX)
		log_say(log, level, "route", "%s: %u more remarks",
			c->engine->name, c->notes->len - NOTES_MAX);
	if (c->warning)
		log_say(log, LOG_WARNING, "route", "%s: %s", c->engine->name,
			c->warning);
	if (c->hosts_wait)
		log_say(log, LOG_INFO, "route", "with the traffic of new "
			"hosts, old and new routes could deadlock: the hosts' "
			"links are activated after all tables are written");
	switch (c->safety) {
	case CHOICE_SAFE:
		if (c->held_loop)
			log_say(log, LOG_WARNING, "route", "the forwarding "
				"tables in the switches have a credit loop; "
				"this update removes it");
		break;
	case CHOICE_DRAIN:
		log_say(log, LOG_INFO, "route", "the new routes are written in "
			"stages, since %s%s%s", c->is_blind ?
			"not all that the switches hold is known: what changes "
			"has no path until all of it is cleared" :
			"old and new mixed could deadlock",
			cycle ? ". " : "", cycle ?: "");
		break;
	case CHOICE_LOOP:
		log_say(log, LOG_WARNING, "route", "CREDIT LOOP: traffic can "
			"deadlock: %u channels are in credit loops; programmed "
			"because %s is configured by name. %s",
			c->alone.channels.n_looped, c->engine->name, cycle);
		break;
	}
}

/* What a slow switch passes on late is back after it was cleared: if it may have a
 * loop together with the new tables, nothing is written until none can be on the
 * way. */
static bool
may_be_overtaken(struct sweep *s, const struct route_job *job)
{
	if (!s->next.choice.waits || !s->params.sweep_s)
		return false;
	sweep_fail(s, "new routes wait for Sets of an earlier sweep that had no "
		   "answer: a slow switch may pass them on late");
	s->retry_due = job->late_until;
	sweep_reread(s);
	return true;
}

static void
heavy_sweep_on_routed(void *values, void *data)
{
	struct route_job *job = values;
	struct sweep *s = data;
	const GPtrArray *avoided = s->next.avoided;
	bool is_late = transport_now(s->t) - s->run.elected >= LONG_US;

	job_done(s, job);
	s->next.choice = job->choice;
	job->choice = (struct choice){ 0 };
	s->next.is_repaired = job->is_repaired;
	if (job->all) {
		EACH_PTR(struct avoid_link, l, avoided)
			l->verdict = AVOID_NEEDED;
		snapshot_unref(s->next.subnet);
		s->next.subnet = g_steal_pointer(&job->all);
	}
	log_say(s->log, LOG_VERBOSE, "route", "%s: LIDs to %u on %u switch%s "
		"%s and verified in %.1f ms",
		job->ok ? s->next.choice.engine->name : "no tables",
		s->next.lids->top, s->next.subnet->n_switches,
		text_plural_es(s->next.subnet->n_switches),
		job->is_repaired ? "repaired" : "routed",
		(double)job->us / 1000);
	s->totals.verdicts[job->ok ? (enum sweep_verdict)s->next.choice.safety :
			   SWEEP_VERDICT_REFUSED]++;
	if (!job->ok) {
		sweep_fail(s, job->error->message);
		return;
	}
	s->next.lft = lft_ref(s->next.choice.lft);
	if (job->observes) {
		observe(s);
		return;
	}
	if (may_be_overtaken(s, job))
		return;
	report_choice(s, job->cycle);
	sweep_note(s, SWEEP_NOTE_ROUTED);
	if (is_late && s->params.goal != SWEEP_GOAL_PLAN)
		sweep_elect(s);
	else
		heavy_sweep_decide(s);
}

static void
route(struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;
	const GPtrArray *avoided = s->next.avoided;
	struct route_job *job = job_new(s);
	const char *by;

	job->unread = table_reader_unread(n, s->next.seen, job->parts);
	job->ranks = persist_ranks(s->memory, n, &by);
	job->ranks_by = g_strdup(by);
	job->in_force = g_strdup(persist_engine(s->memory, n));
	job->observes = s->params.goal == SWEEP_GOAL_OBSERVE;
	job->makes_room = s->run.why & 1u << SWEEP_CAUSE_GROUPS;
	job->repair = g_steal_pointer(&s->repair);
	EACH_PTR(const struct avoid_link, l, avoided)
		job->is_avoiding |= l->verdict == AVOID_DONE;
	s->run.is_outdated = false;
	sweep_set_state(s, SWEEP_ROUTING);
	s->run.routing = route_job_start(job, s->beside,
					 heavy_sweep_on_routed, s);
}

/* ------------------------------------------------------------------- read */

static void
heavy_sweep_on_tables(const GArray *faults, void *data)
{
	struct sweep *s = data;
	struct snapshot *n = NULL;

	s->run.batch = NULL;
	s->run.problems = g_ptr_array_new_with_free_func(g_free);
	s->run.remarks = g_ptr_array_new_with_free_func(g_free);
	EACH_ITEM(const struct table_fault, fault, faults) {
		/* the only thing that is wrong with an end port, which a fabric
		 * may be without */
		bool is_own = !fault->is_lft &&
			snapshot_is_other_end(s->next.subnet, fault->port);

		g_ptr_array_add(is_own ? s->run.remarks : s->run.problems,
				g_strdup(fault->text));
		if (is_own && !n)
			n = snapshot_copy(s->next.subnet);
		if (is_own)
			n->ports[fault->port].trouble = SNAPSHOT_NO_TABLE;
	}
	if (n) {
		snapshot_unref(s->next.subnet);
		s->next.subnet = n;
	}
	route(s);
}

/* The LID that this port had in the last view; that of the memory, if it was away
 * and a Set for the node that was in its place may have reached it; or LID_NONE.
 * was: in the view. */
static uint16_t
last_lid(const struct sweep *s, uint32_t port, uint32_t was)
{
	const struct snapshot *n = s->next.subnet;
	const GArray *ranges = s->memory->lids.ranges;
	guint i;

	if (was != SNAPSHOT_NONE)
		return s->view.lids->base[was];
	return s->run.strays &&
		g_array_binary_search((GArray *)ranges, &n->ports[port].guid,
				      guid_compare, &i) ?
		g_array_index(ranges, struct lid_range, i).min : LID_NONE;
}

/* Has a repair read another port in the place of this one, by a way that has
 * changed without a report? It tells that one's LID, as it did not before. */
static bool
is_mistaken(const struct sweep *s, uint32_t port, uint32_t was)
{
	uint16_t lid = s->next.subnet->ports[port].info.lid;
	uint32_t owner = sweep_lid_owner(&s->view, lid);

	return s->run.is_repair && was != SNAPSHOT_NONE &&
		owner != SNAPSHOT_NONE && owner != was &&
		s->view.subnet->ports[was].info.lid != lid;
}

/* The fabric as it was found, but each port other than our own has the LID of the
 * last view, unless another manager may have given it one. While cables are moved,
 * a Set may reach another port than that it is meant for, and what is told of one
 * port may be another's. A new reference; NULL: all is to be read again. */
static struct snapshot *
found_but_lids(const struct sweep *s)
{
	struct snapshot *n = s->next.subnet, *found = snapshot_ref(n);
	g_autofree uint32_t *nodes = NULL;
	uint32_t was;
	uint16_t lid;

	if (!s->view.subnet || s->cut_off || (s->astray && !s->run.strays) ||
	    s->params.goal == SWEEP_GOAL_OBSERVE)
		return found;
	nodes = snapshot_map_nodes(n, s->view.subnet);
	for (uint32_t port = 0; port < n->n_ports; port++) {
		if (!snapshot_is_end_port(n, port) || port == n->local_port ||
		    !n->ports[port].info.lid)
			continue;
		was = snapshot_same_port(n, port, nodes, s->view.subnet);
		lid = last_lid(s, port, was);
		if (!lid || lid == n->ports[port].info.lid)
			continue;
		if (is_mistaken(s, port, was)) {
			g_autofree char *name = snapshot_port_name(n, port);

			log_say(s->log, LOG_INFO, "sweep", "heavy sweep: %s "
				"tells another port's LID", name);
			snapshot_unref(found);
			return NULL;
		}
		if (found == n) {
			found = snapshot_copy(n);
			snapshot_unref(n);
		}
		found->ports[port].info.lid = lid;
	}
	return found;
}

/* See late.h. */
static void
forget_late(struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;

	late_forget(s->late, n, s->next.seen, s->run.began);
	for (uint32_t i = 0; i < n->n_nodes; i++) {
		const struct snapshot_node *node = &n->nodes[i];

		if (!late_is_due(s->late, node->info.node_guid, s->run.began))
			continue;
		for (unsigned num = 0; num <= node->info.num_ports; num++)
			for (unsigned t = 0; t < PORT_N_TABLES; t++)
				port_tables_forget(s->next.tables, t,
						   node->first_port + num);
	}
}

/* False: the sweep has failed. */
static bool
assign_lids(struct sweep *s, const struct snapshot *found)
{
	bool observes = s->params.goal == SWEEP_GOAL_OBSERVE;
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) ranges = s->params.expected ?
		expected_bequeath(s->params.expected, found,
				  s->memory->lids.ranges) :
		g_array_ref(s->memory->lids.ranges);

	s->next.lids = lid_assign(found, observes ? 0 : s->params.lmc,
				  (const void *)ranges->data,
				  observes ? 0 : ranges->len, notes, &error);
	EACH_PTR(const char, note, notes)
		log_limited(s->log, LOG_WARNING, "lids", "LIDs", "%s", note);
	if (s->next.lids)
		snapshot_sort_switches(s->next.subnet, s->next.lids->base);
	else
		sweep_fail(s, error->message);
	return s->next.lids != NULL;
}

void
heavy_sweep_start(struct sweep *s)
{
	const struct snapshot *n = s->next.subnet;
	const struct isolation_params *p = &s->params.isolation;
	bool observes = s->params.goal == SWEEP_GOAL_OBSERVE;
	bool ours = s->view.subnet && !s->cut_off && !s->astray && !observes;
	bool trust = ours && !(s->run.why & 1u << SWEEP_CAUSE_SIGNAL);
	g_autoptr(GArray) items = NULL;
	struct snapshot *found = found_but_lids(s);
	bool ok;

	if (!found) {
		sweep_look_again(s);
		return;
	}
	ok = assign_lids(s, found);
	snapshot_unref(found);
	if (!ok)
		return;
	if (observes)
		observe_lids(n, s->next.lids);
	sweep_note(s, SWEEP_NOTE_LIDS);
	sweep_set_state(s, SWEEP_READING);
	items = g_array_new(FALSE, FALSE, sizeof(struct table_reader_item));
	s->run.qos = port_tables_new(n);
	isolation_want_vls(n, p->qos, s->run.qos);
	for (uint32_t port = 0; port < n->n_ports; port++)
		for (unsigned t = 0; t < PORT_N_TABLES; t++) {
			const struct table_reader_item item = {
				.port = port, .table = t,
				.only = t == PORT_TABLE_PKEY || observes ?
					NULL : s->run.qos,
			};

			if (observes ? observe_reads(n, t, port) :
			    isolation_reads(p, n, t, port))
				g_array_append_val(items, item);
		}
	s->next.seen = table_reader_recall_lfts(n, s->next.lids->top,
						s->view.subnet,
						ours ? s->view.seen : NULL);
	/* its memory stays, where it will be read again as it was */
	if (!trust)
		lft_seen_forget_all(s->next.seen);
	s->next.tables = port_tables_new(n);
	if (trust && s->view.tables)
		table_reader_recall(s->next.subnet, s->next.tables, s->view.subnet,
				    s->view.tables);
	forget_late(s);
	s->run.batch = table_reader_start(s->x, s->keys, n, s->next.seen,
					  items, s->next.tables, s->run.lost,
					  s->log, heavy_sweep_on_tables, s);
}
