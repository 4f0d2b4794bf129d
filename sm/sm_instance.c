// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A running subnet manager.
 *
 *	transport -> mad_client -> sm_agent -- SMInfo, traps ------> sweep
 *				      |				       | end
 *				      +------- SA requests -> sa_server
 *								 | groups
 *							   mcast_manager
 *
 * A sweep ends in sm_instance_on_end(): the multicast manager and the SA get
 * the view that it published first, then the daemon is called.
 */
#include "sm/sm_instance.h"

#include "sm/sa/mcmember.h"
#include "topology/each.h"

#define DISK_END_US	(10 * (int64_t)G_USEC_PER_SEC)	/* at the end */
/* The text of the expected fabric has 2.6 MB at 11,664 hosts: a repair does not
 * wait for it, and a link that flaps does not keep the disk busy. A crash before
 * that loses the times since when nodes and links are missing. */
#define EXPECTED_PAUSE_US	(10 * (int64_t)G_USEC_PER_SEC)

/* From now on only the next master gets answers. */
static void
close_sa(struct sm_instance *sm)
{
	mcast_manager_fabric(sm->mcast, NULL, NULL, NULL, NULL, NULL);
	sa_publish(sm->sa, NULL, transport_now(sm->t));
	sa_server_set_shut(sm->sa_server, true);
}

/* Groups whose configured values are not in force yet. */
static void
log_waiting(struct sm_instance *sm)
{
	const GPtrArray *groups = sm->sa->groups->all.list;

	EACH_PTR(const struct group, g, groups) {
		const struct mcmember_record *r = &g->r, *w = &g->wanted;

		if (!g->waits)
			continue;
		log_limited(sm->log, LOG_WARNING, "sa",
			    "values of a group not in force", "MLID 0x%04x, "
			    "P_Key 0x%04x keeps Q_Key 0x%08x, MTU %u, rate %u, "
			    "SL %u until all members (%u) have left; "
			    "configured: 0x%08x, %u, %u, %u", r->mlid, r->pkey,
			    r->q_key, r->mtu, r->rate, r->sl,
			    g->members.list->len, w->q_key, w->mtu, w->rate, w->sl);
	}
}

/* The SA answers from the sweep's snapshot and tables from now on; all are
 * references. */
static void
sm_instance_publish(struct sm_instance *sm, const struct sweep_report *r)
{
	const struct view *v = r->view;
	const struct sa_params *params = &sm->sa->params;
	GArray *sms = sm->sa->sms;
	struct sa_sm one = { .lid = v->lids->base[v->subnet->local_port] };
	struct sa_db *view;

	view = sa_db_new(v->subnet, v->lids, v->lft, sm->mcast->told, v->rules,
			 memberships_ref(v->memberships), params->gid_prefix,
			 params->packet_life, params->subnet_timeout);
	view->qos = params->qos;
	if (v->tables)
		view->tables = port_tables_ref(v->tables);
	/* This SM first, then those of the last election, as they were. That
	 * may have been on another snapshot, so they are found by GUID. */
	sweep_sm_info(sm->sweep, &one.info);
	g_array_set_size(sms, 0);
	g_array_append_val(sms, one);
	EACH_ITEM(const struct election_peer, peer, r->peers) {
		uint32_t port = sa_db_guid(view, peer->info.guid);

		one.info = peer->info;
		if (port == SNAPSHOT_NONE)
			continue;
		one.lid = v->lids->base[port];
		g_array_append_val(sms, one);
	}
	sa_publish(sm->sa, view, transport_now(sm->t));
	log_waiting(sm);
	sa_db_unref(view);
}

/* One line for each sweep that has news. */
static void
log_verdict(struct sm_instance *sm, const struct sweep_report *r)
{
	const struct expected *e = sm->resident ? sm->expected : NULL;
	bool contested = sm->sweep->contested;
	g_autofree char *line = health_line(r->verdict, r->view->subnet, e,
					    contested);
	bool whole = r->end == SWEEP_END_UP && !(e && e->faults->len) &&
		!contested;

	if (r->is_news || g_strcmp0(line, sm->verdict))
		log_say(sm->log, whole ? LOG_INFO : LOG_WARNING, "sweep",
			"%s; %s routes LIDs to %u; %.1f %s", line,
			r->choice->engine->name, r->view->lids->top,
			(double)r->took_us / 1000, transport_ms(sm->t));
	g_free(sm->verdict);
	sm->verdict = g_steal_pointer(&line);
}

/* The SA answers from the result of the sweep. A sweep that failed changes
 * nothing: the last snapshot is still the best one. */
static void
tell_sa(struct sm_instance *sm, const struct sweep_report *r, bool is_read)
{
	const struct snapshot *where;

	/* Blocks that could not be written may be another SM's when the link is
	 * back, or at once. */
	if (r->end == SWEEP_END_FAILED &&
	    (r->cut_off || sm->sweep->self.state != SM_STATE_MASTER))
		mcast_manager_fabric(sm->mcast, NULL, NULL, NULL, NULL, NULL);
	standby_wait(sm->standby, sm->sweep->left_until);
	if (is_read && r->is_anew)
		mcast_manager_read_again(sm->mcast);
	if (is_read) {
		mcast_manager_fabric(sm->mcast, r->view->subnet, r->view->lids,
				     r->choice, r->view->seen->lft, r->fresh);
		sm_instance_publish(sm, r);
		standby_follow(sm->standby, NULL);
	} else if (sm->resident && r->end == SWEEP_END_STANDBY) {
		close_sa(sm);
		state_leave_clients(sm->state);
		sweep_peers(sm->sweep, &where);
		standby_follow(sm->standby, (struct snapshot *)where);
	}
	sa_server_touch(sm->sa_server);
}

static bool
observes(const struct sm_instance *sm)
{
	return sm->sweep->params.goal == SWEEP_GOAL_OBSERVE;
}

static void
sm_instance_on_end(const struct sweep_report *r, void *data)
{
	struct sm_instance *sm = data;
	bool is_read = sm->resident &&
		(r->end == SWEEP_END_UP || r->end == SWEEP_END_NOT_UP);

	if (is_read)
		state_touch(sm->state, &expected_part, EXPECTED_PAUSE_US);
	if (is_read && !observes(sm))
		state_know_clients(sm->state);
	if (r->verdict)
		log_verdict(sm, r);
	if (sm->sa && !observes(sm))
		tell_sa(sm, r, is_read);
	else if (sm->sa && is_read)
		sm_instance_publish(sm, r);	/* only commands read it */
	if (sm->end)
		sm->end(r, sm->data);
}

/* ------------------------------------------------- from the wire: sm_agent */

static void
sm_instance_sm_info(struct sm_info *out, void *data)
{
	const struct sweep *s = ((struct sm_instance *)data)->sweep;

	sweep_sm_info(s, out);
	if (s->params.guest && out->state != SM_STATE_MASTER &&
	    (s->params.hidden || s->params.goal == SWEEP_GOAL_ONCE))
		out->state = SM_STATE_NOT_ACTIVE;
}

static void
sm_instance_on_trap(const struct notice *n, const uint8_t *raw, void *data)
{
	struct sm_instance *sm = data;
	const struct view *v = &sm->sweep->view;
	uint32_t from = sweep_lid_owner(v, n->issuer_lid);
	g_autofree char *issuer = from == SNAPSHOT_NONE ?
		g_strdup_printf("LID %u", n->issuer_lid) :
		g_strdup_printf("%s (LID %u)", snapshot_name_of(v->subnet, from),
				n->issuer_lid);
	g_autofree char *port = n->port ?
		g_strdup_printf(", port %u", n->port) : g_strdup("");

	if (sm->sa) {
		sa_forward_trap(sm->sa, raw, n->issuer_lid,
				transport_now(sm->t));
		sa_server_touch(sm->sa_server);
	}
	/* 256 to 259: a request with a wrong key */
	log_limited(sm->log, n->trap >= 256 && n->trap <= 259 ? LOG_WARNING :
		    LOG_INFO, "trap", n->generic ?
		    notice_trap_name(n->trap) : "vendor trap", "from %s%s",
		    issuer, port);
	sweep_count_trap(sm->sweep, n->issuer_lid, n->port);
	if (n->generic &&
	    (n->trap == 128 || n->trap == 144 || n->trap == 145))
		sweep_trap(sm->sweep, n->issuer_lid);
}

static bool
is_port_of_both(const struct view *v, uint16_t lid, uint16_t other)
{
	uint32_t port = sweep_lid_owner(v, lid);

	return port != SNAPSHOT_NONE && port == sweep_lid_owner(v, other);
}

/* Before the first sweep every LID is that of a port. */
static bool
sm_instance_is_issuer(uint16_t lid, uint16_t issuer, void *data)
{
	const struct sweep *s = ((struct sm_instance *)data)->sweep;

	return !s->view.lids || is_port_of_both(&s->view, lid, issuer) ||
		is_port_of_both(&s->next, lid, issuer);
}

static void
sm_instance_on_control(enum sm_control control, const struct sm_info *from,
		       void *data)
{
	sweep_control(((struct sm_instance *)data)->sweep, control, from);
}

static void
sm_instance_on_sa(const struct transport_mad *m, void *data)
{
	sa_server_take(((struct sm_instance *)data)->sa_server, m);
}

/* ------------------------------------------------------------------ the SA */

/* One of the allowed SMs that answered in the last election with our SM_Key, or
 * the first of them, which may have been starved for a second then. */
static bool
sm_instance_is_manager(uint16_t lid, void *data)
{
	struct sm_instance *sm = data;
	const struct snapshot *where;
	const GArray *peers = sweep_peers(sm->sweep, &where);
	struct sm_info self;

	sweep_sm_info(sm->sweep, &self);
	EACH_ITEM(const struct election_peer, p, where ? peers : NULL) {
		uint32_t port = snapshot_find_port(where, p->info.guid);

		if (port != SNAPSHOT_NONE && !p->is_foreign &&
		    p->info.sm_key == self.sm_key &&
		    where->ports[port].info.lid == lid)
			return true;
	}
	return sweep_is_heir(sm->sweep, lid);
}

static void
sm_instance_on_sa_touched(void *data)
{
	struct sm_instance *sm = data;
	uint64_t version = sm->sa->groups->all.version;

	if (version != sm->groups_version)
		mcast_manager_touch(sm->mcast);
	sm->groups_version = version;
	state_touch(sm->state, &sa_part, 0);
	standby_touch(sm->standby);
}

static bool
sm_instance_is_programming(void *data)
{
	return sweep_is_programming(((struct sm_instance *)data)->sweep);
}

static bool
sm_instance_is_in_doubt(void *data)
{
	return sweep_settle_doubt(((struct sm_instance *)data)->sweep);
}

static void
sm_instance_on_sure(void *data)
{
	struct sm_instance *sm = data;

	if (sm->sa_server)
		sa_server_touch(sm->sa_server);
}

static void
open_sa(struct sm_instance *sm)
{
	const struct mkey_db *keys = sm->keys->ring;
	struct sa_server_params server = sa_server_params_default;

	sm->sa->is_manager = sm_instance_is_manager;
	sm->sa->is_manager_data = sm;
	server.touched = sm_instance_on_sa_touched;
	server.programming = sm_instance_is_programming;
	server.in_doubt = sm_instance_is_in_doubt;
	server.data = sm;
	sm->mcast = mcast_manager_new(sm->sa, sm->sweep);
	sm->groups_version = sm->sa->groups->all.version;
	sm->sa_server = sa_server_new(sm->x, sm->sa, sm->log, &server);
	sm->standby = standby_new(sm->x, keys, sm->sa, sm->state,
				  &sm->sweep->params.isolation, sm->log);
}

static bool
sm_instance_on_prepare(const struct sweep *s, void *data)
{
	struct sm_instance *sm = data;

	return mcast_manager_prepare(sm->mcast, s->next.subnet, s->next.lids,
				     s->run.fresh);
}

static void
sm_instance_on_cut(struct mft *trees, void *data)
{
	mcast_manager_cut(((struct sm_instance *)data)->mcast, trees);
}

/* ------------------------------------------------------------ another master */

static uint16_t
sm_instance_on_mastered(int64_t heard, GHashTable **clients, void *data)
{
	struct sm_instance *sm = data;
	uint16_t former = standby_take(sm->standby, heard);

	sa_server_set_shut(sm->sa_server, false);
	if (former)
		*clients = sa_clients(sm->sa);
	return former;
}

static void
sm_instance_on_offered(void *data)
{
	struct sm_instance *sm = data;

	standby_read_last(sm->standby, sweep_accept, sm->sweep);
}

static void
sm_instance_on_released(void *data)
{
	struct sm_instance *sm = data;
	void (*retired)(void *data) = sm->retired;

	transport_timer_clear(sm->t, &sm->retire_timer);
	sm->retired = NULL;
	if (retired)
		retired(sm->retired_data);
}

static void
sm_instance_on_late(void *data)
{
	struct sm_instance *sm = data;

	sm->retire_timer = 0;
	log_say(sm->log, LOG_WARNING, "sweep", "no standby has taken over");
	sm_instance_on_released(sm);
}

bool
sm_instance_retire(struct sm_instance *sm, void (*done)(void *data), void *data)
{
	if (!sm->resident || !sm->sa || !sweep_retire(sm->sweep))
		return false;
	close_sa(sm);
	sm->retired = done;
	sm->retired_data = data;
	sm->retire_timer = transport_timer_in(sm->t, RETIRE_MS * 1000,
					      sm_instance_on_late, sm);
	return true;
}

/* --------------------------------------------------------------- interface */

/* A run that ends by itself neither answers clients nor keeps the expected
 * fabric: what is known of them stays in the file as it is. */
static void
open_state(struct sm_instance *sm, const struct sm_instance_params *params)
{
	struct state_params p = {
		.cache_dir = params->cache_dir,
		.is_read_only = params->sweep.goal == SWEEP_GOAL_PLAN,
		.disk = sm->disk, .log = sm->log,
		.owners = {
			{ &lid_part, &sm->persist->lids },
			{ &persist_part, sm->persist },
		},
		.n = 2,
	};
	struct sa_stats st;

	if (sm->resident)
		p.owners[p.n++] = (struct state_owner){
			&expected_part, sm->expected,
		};
	/* an observer keeps the lines of clients as they are */
	if (sm->resident && sm->sa &&
	    params->sweep.goal != SWEEP_GOAL_OBSERVE)
		p.owners[p.n++] = (struct state_owner){ &sa_part, sm->sa };
	sm->state = state_open(&p, sm->t);
	sm->persist->state = sm->state;
	if (!state_has_clients(sm->state) || !sm->sa)
		return;
	sa_stats(sm->sa, &st);
	log_say(sm->log, LOG_INFO, "sa", "remembered: groups %u with %u "
		"members, services %u, subscriptions %u", st.n_groups,
		st.n_members, st.n_services, st.n_subscriptions);
}

struct sm_instance *
sm_instance_new(struct transport *t, const struct sm_instance_params *params,
		struct log *log, sweep_end_fn end, void *data)
{
	struct sm_instance *sm = g_new(struct sm_instance, 1);
	struct sweep_params sweep = params->sweep;
	struct mad_client_params wire = params->wire;
	bool reads = sweep_goal_reads(sweep.goal), is_kept;

	*sm = (struct sm_instance){
		.t = t, .log = log, .end = end, .data = data,
		.resident = sweep_goal_stays(sweep.goal),
	};
	/* Files are no part of a run that is repeated: at once there. */
	if (t->in_real_time || params->disk_us)
		sm->disk = beside_new(t, params->disk_us);
	sm->persist = persist_new(log);
	sm->keys = persist_keys_open(params->key_dir, reads, params->m_key,
				     params->key_mode, t, sm->disk, log);
	sm->expected = expected_new();
	wire.only_reads = reads;
	sm->x = mad_client_new(t, &wire);
	if (params->sa) {
		sm->sa = sa_new(params->sa);
		sweep.hooks = (struct sweep_hooks){
			.mastered = sm_instance_on_mastered,
			.prepare = sm_instance_on_prepare,
			.cut = sm_instance_on_cut,
			.offered = sm_instance_on_offered,
			.released = sm_instance_on_released,
			.sure = sm_instance_on_sure, .data = sm,
		};
	}
	open_state(sm, params);
	sweep.keystore = sm->keys;
	sweep.expected = sm->expected;
	sweep.port_guid = t->port_guid;
	is_kept = sweep.clients == REREGISTER_FORGOTTEN && sm->sa &&
		state_has_clients(sm->state);
	if (is_kept)
		sweep.clients = REREGISTER_KNOWN;
	sm->sweep = sweep_new(sm->x, &sweep, sm->persist, log,
			      sm_instance_on_end, sm);
	if (is_kept)
		reregister_trust(sm->sweep->clients, LID_NONE,
				 sa_clients(sm->sa));
	if (sm->sa)
		open_sa(sm);
	sm->agent = (struct sm_agent){
		.x = sm->x, .log = log, .keys = sm->keys->ring,
		.sm_info = sm_instance_sm_info,
		.trap = sm_instance_on_trap,
		.is_issuer = sm_instance_is_issuer,
		.control = sm_instance_on_control,
		.sa = params->sa ? sm_instance_on_sa : NULL,
		.data = sm,
	};
	sm_agent_start(&sm->agent);
	if (observes(sm))
		sm->x->serve = NULL;	/* other managers do not see it */
	return sm;
}

void
sm_instance_free(struct sm_instance *sm)
{
	if (!sm)
		return;
	transport_timer_clear(sm->t, &sm->retire_timer);
	mcast_manager_free(sm->mcast);
	sweep_free(sm->sweep);
	standby_free(sm->standby);
	sa_server_free(sm->sa_server);
	state_close(sm->state);
	sa_free(sm->sa);
	mad_client_free(sm->x);
	expected_free(sm->expected);
	g_free(sm->verdict);
	persist_free(sm->persist);
	persist_keys_close(sm->keys);
	if (!beside_free(sm->disk, DISK_END_US))
		log_say(sm->log, LOG_WARNING, "memory", "the disk does not "
			"answer: the last changes may be lost");
	g_free(sm);
}

/* A command must not be lost in a crash. */
unsigned
sm_instance_accept(struct sm_instance *sm, const char *word)
{
	unsigned n = expected_accept(sm->expected, word);

	if (n)
		state_save(sm->state, &expected_part);
	return n;
}
