// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bench of the desk: see sa_server_lab.h. The SM is that of simlab; its
 * server gives way to one that hands SA requests and traps to the desk.
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/sa_server_lab.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/request.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"

#define SPEC		"PGFT(4,4;1,4)"	/* 16 hosts, 8 switches */

/* ---------------------------------------------------------------- clients */

static void
on_report(struct client *c, const struct transport_mad *m)
{
	uint8_t mad[MAD_SIZE];
	struct mad_addr to = m->addr;

	c->reports++;
	memcpy(c->report, m->mad, MAD_SIZE);
	if (c->mute)
		return;
	memcpy(mad, m->mad, MAD_SIZE);
	mad[3] = METHOD_REPORT_RESP;
	to.qkey = MAD_GSI_QKEY;
	assert_true(transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL));
}

static void
on_answer(struct client *c, const struct mad_header *h)
{
	uint32_t tid = (uint32_t)h->tid;

	if (h->status == MAD_STATUS_BUSY) {
		c->busy++;
	} else if (h->status) {
		c->bad++;
		c->last_bad = h->status;
	} else {
		c->good++;
		c->rank = ++c->stage->ranks;
		g_array_append_val(c->tids, tid);
	}
}

static void
on_client_mad(const struct transport_mad *m, void *data)
{
	struct client *c = data;
	struct mad_header h;

	assert_true(mad_header_read(m->mad, m->len, &h));
	if (m->event == TRANSPORT_RETURNED)
		return;
	assert_int_equal(h.mgmt_class, MAD_CLASS_SA);
	if (h.method == SA_METHOD_REPORT)
		on_report(c, m);
	else if (h.method & MAD_METHOD_RESPONSE)
		on_answer(c, &h);
}

static void
on_client_message(const struct sa_message_message *m, void *data)
{
	struct client *c = data;

	c->tables++;
	g_byte_array_set_size(c->table, 0);
	g_byte_array_append(c->table, m->data, (guint)m->len);
}

static void
client_open(struct stage *st, struct client *c, uint32_t port)
{
	memset(c, 0, sizeof(*c));
	c->stage = st;
	c->port = port;
	c->lid = sim_port_info(st->sim, port)->lid;
	c->tids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->table = g_byte_array_new();
	c->t = sim_attach(st->sim, port, SIM_ROLE_CLIENT);
	transport_set_receiver(c->t, on_client_mad, c);
	c->b = sa_message_new(c->t, SA_MESSAGE_COLLECT_MAX, on_client_message,
			      c);
}

struct mad_addr
stage_address(const struct stage *st)
{
	return (struct mad_addr){
		.qp = 1, .qkey = MAD_GSI_QKEY,
		.lid = sim_port_info(st->sim, st->s->local_port)->lid,
	};
}

void
client_ask_again(struct client *c)
{
	struct mad_addr to = stage_address(c->stage);

	mad_set_tid(c->mad, c->last_tid);
	assert_true(transport_send(c->t, &to, c->mad, MAD_SIZE, 0, NULL));
}

void
client_gid(const struct client *c, uint8_t gid[16])
{
	bytes_store64(gid, UINT64_C(0xfe80000000000000));
	bytes_store64(gid + 8, c->stage->s->ports[c->port].guid);
}

static bool
find_name(void *fixture, const char *name, struct request_name *out)
{
	if (strcmp(name, "self"))
		return false;
	client_gid(fixture, out->gid);
	return true;
}

void
client_request(struct client *c, const char *format, ...)
{
	static const struct request_kind kind = { .name = find_name };
	va_list args;

	va_start(args, format);
	request_write(&kind, c, c->mad, format, args);
	va_end(args);
	c->last_tid++;
	client_ask_again(c);
}

void
client_ask_info(struct client *c)
{
	sa_build(c->mad, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO);
	c->last_tid++;
	client_ask_again(c);
}

void
client_ask_paths(struct client *c)
{
	client_request(c, "GetTable PathRecord");
}

#define GROUP	"MCMemberRecord PortGID=self Q_Key=0x0b1b P_Key=0xffff " \
	"TClass=0 SL=0 FlowLabel=0 JoinState=1 MGID=ff12:401b:ffff::%x"

void
client_join(struct client *c, unsigned n)
{
	client_request(c, "Set " GROUP, 0x1000 + n);
}

void
client_leave(struct client *c, unsigned n)
{
	client_request(c, "Delete " GROUP, 0x1000 + n);
}

void
client_subscribe(struct client *c)
{
	client_request(c, "Set InformInfo LIDRangeBegin=0xffff IsGeneric=1 "
		   "Subscribe=1 Type=0xffff TrapNumberDeviceID=0xffff "
		   "ProducerTypeVendorID=0xffffff");
}

void
client_register(struct client *c, uint64_t id, uint32_t lease)
{
	client_request(c, "Set ServiceRecord ServiceGID=self ServiceP_Key=0xffff "
		   "ServiceName=test ServiceID=%" G_GUINT64_FORMAT
		   " ServiceLease=%u", id, lease);
}

/* -------------------------------------------------------------- the stage */

static void
give_sm_info(struct sm_info *out, void *data)
{
	sweep_sm_info(((struct stage *)data)->sm.sweep, out);
}

static void
on_trap(const struct notice *n, const uint8_t *raw, void *data)
{
	struct stage *st = data;

	sa_forward_trap(st->sa, raw, n->issuer_lid, sim_now(st->sim));
	sa_server_touch(st->desk);
}

static void
on_control(enum sm_control control, const struct sm_info *from, void *data)
{
	fail_msg("no SM controls us");
}

static void
on_loop_turn(void *data)
{
	struct stage *st = data;

	st->loop_came++;
	st->loop_answers =
		sa_server_stats(st->desk)->answered - st->loop_answers;
}

static void
on_sa(const struct transport_mad *m, void *data)
{
	struct stage *st = data;

	if (st->loop_asked) {
		st->loop_asked = false;
		st->loop_answers = sa_server_stats(st->desk)->answered;
		transport_timer_start(st->sm.t, sim_now(st->sim),
				      on_loop_turn, st);
	}
	sa_server_take(st->desk, m);
}

static void
on_touched(void *data)
{
	struct stage *st = data;
	const struct sa_server_stats *d = sa_server_stats(st->desk);

	if (st->archive)
		state_touch(st->archive, &sa_part, 0);
	st->touched = sa_saved_version(st->sa);
	st->most_reports = MAX(st->most_reports,
			       (unsigned)(d->reports - d->heard - d->unheard));
}

static void
on_groups(void *data)
{
	((struct stage *)data)->groups_changed++;
}

/* The fabric as it is now is what the SA answers from. */
static void
stage_publish(struct stage *st)
{
	AUTO(lid_map) *lids;
	AUTO(lft) *lft;
	struct sa_db *v;

	for (uint32_t p = 0; p < st->s->n_ports; p++)
		st->s->ports[p].info = *sim_port_info(st->sim, p);
	lids = lid_assign(st->s, 0, NULL, 0, NULL, NULL);
	lft = engine_tables(&engine_minhop, st->s, lids);
	v = sa_db_new(st->s, lids, lft, NULL, st->rules,
			memberships_new(st->rules, st->s, NULL),
			UINT64_C(0xfe80000000000000), 18, 18);
	for (uint32_t p = 0; p < st->s->n_ports; p++)
		if (snapshot_is_end_port(st->s, p))
			assert_int_equal(lid_map_owner(v->lids,
				st->s->ports[p].info.lid), p);
	sa_publish(st->sa, v, sim_now(st->sim));
	sa_db_unref(v);
}

void
stage_start(struct stage *st, const struct sa_server_params *params,
	    const char *cache_dir)
{
	const struct sa_params sa_params = { .sm_key = 0 };
	const struct sm_agent_hooks hooks = {
		.sm_info = give_sm_info, .trap = on_trap,
		.control = on_control, .sa = on_sa, .data = st,
	};
	struct sa_server_params p = params ? *params : sa_server_params_default;
	struct state_params state_params = {
		.owners = { { .part = &sa_part } }, .n = 1,
	};

	p.touched = on_touched;
	p.touched_data = st;
	st->sa = sa_new(&sa_params);
	state_params.cache_dir = cache_dir;
	state_params.owners[0].owner = st->sa;
	state_params.log = st->sm.log;
	st->archive = state_open(&state_params, st->sm.t);
	st->desk =
		sa_server_new(st->sm.x, st->sa, st->sm.log, &p, on_groups, st);
	sm_agent_free(st->sm.sm->agent);
	st->sm.sm->agent = sm_agent_new(st->sm.x, &hooks, st->sm.log);
	stage_publish(st);
	st->has_clients = state_has_clients(st->archive);
	state_know_clients(st->archive);
	sa_server_touch(st->desk);
}

void
stage_stop(struct stage *st)
{
	state_close(st->archive);
	sa_server_free(st->desk);
	sa_free(st->sa);
}

void stage_open(struct stage *st, uint64_t seed,
		const struct sa_server_params *params, const char *cache_dir)
{
	struct sim_params even = sim_params_default;
	unsigned n = 0;

	memset(st, 0, sizeof(*st));
	even.seed = seed;
	even.hop_ns = 1000;	/* all at whole microseconds */
	st->s = generate_fabric(SPEC, NULL, NULL);
	/* GUIDInfoRecords: enough that a search for one takes several turns */
	for (uint32_t p = 0; p < st->s->n_ports; p++)
		st->s->ports[p].info.guid_cap = UINT8_MAX;
	st->sim = sim_new(st->s, &even);
	manager_open(&st->sm, st->sim, st->s->local_port, NULL, NULL);
	assert_true(manager_wait_up(&st->sm, 10 * SECOND));
	st->rules = partition_rules_default();
	stage_start(st, params, cache_dir);
	for (uint32_t p = 0; p < st->s->n_ports && n < CLIENTS; p++)
		if (snapshot_is_end_port(st->s, p) && p != st->s->local_port &&
		    !snapshot_is_switch(snapshot_node_of(st->s, p)))
			client_open(st, &st->client[n++], p);
	assert_int_equal(n, CLIENTS);
}

void
stage_close(struct stage *st)
{
	for (struct client *c = st->client; c < st->client + CLIENTS; c++) {
		sa_message_free(c->b);
		if (c->t)
			transport_free(c->t);
		g_array_unref(c->tids);
		g_byte_array_unref(c->table);
	}
	stage_stop(st);
	manager_close(&st->sm);
	partition_rules_unref(st->rules);
	sim_free(st->sim);
	snapshot_unref(st->s);
}

void
stage_run(struct stage *st, int64_t us)
{
	sim_run(st->sim, sim_now(st->sim) + us);
}

void
stage_add_fault(struct stage *st, enum sim_fault_kind kind, unsigned method,
		unsigned per_mille)
{
	const struct sim_rule rule = {
		.match = { .node = SIM_ANY, .mgmt_class = MAD_CLASS_SA,
			   .method = (uint8_t)method },
		.kind = kind, .per_mille = per_mille, .us = 50000,
	};

	sim_rule_add(st->sim, &rule);
}

unsigned
stage_subscriptions(const struct stage *st)
{
	struct sa_stats stats;

	sa_stats(st->sa, &stats);
	return stats.n_subscriptions;
}

int
stage_set_up(void **state)
{
	return stage_set_up_with(state, NULL);
}

int
stage_set_up_with(void **state, const struct sa_server_params *params)
{
	struct stage *new = g_new0(struct stage, 1);

	stage_open(new, SEED, params, NULL);
	*state = new;
	return 0;
}

int
stage_tear_down(void **state)
{
	stage_close(*state);
	g_free(*state);
	return 0;
}
