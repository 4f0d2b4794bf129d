// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming a simulated fabric: a plan leaves the fabric as it was
 * wanted, in an order that harms no traffic and lets no link up before its
 * tables, and a device that refuses or falls silent holds back only what depends
 * on it.
 */
#include <string.h>

#include "lab/sim/state.h"
#include "sm/sweep/program.h"
#include "tests/lib/auto.h"
#include "tests/lib/plan_lab.h"
#include "tests/lib/scripted.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"

struct bench {
	struct fabric *l;	/* known: none of the forwarding tables */
	struct port_tables *held;	/* NULL: no tables of ports */
	struct plan *plan;	/* of the last run */
	struct sim *sim;
	struct mad_client *x;
	struct program_result r;
	bool done;
	uint32_t host, gate;	/* not the SM's, and its switch's port */
};

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 1000,
};

#define HOP_US	10	/* so long that requests to one switch could overtake */

static void
bench_open(struct bench *b, const char *spec)
{
	struct sim_params params = sim_params_default;

	params.hop_ns = HOP_US * NS_PER_US;
	memset(b, 0, sizeof(*b));
	b->l = fabric_new(spec);
	for (uint32_t port = 0; port < b->l->s->n_ports; port++)
		if (snapshot_is_end_port(b->l->s, port) &&
		    b->l->s->ports[port].num && port != b->l->host)
			b->host = port;
	b->gate = b->l->s->ports[b->host].peer;
	b->sim = sim_new(b->l->s, &params);
	for (uint32_t i = 0; i < b->l->s->n_switches; i++)	/* it is known */
		b->sim->nodes[b->l->s->switches[i]].sw.port_state_change = false;
	b->x = mad_client_new(sim_attach(b->sim, b->l->host, SIM_ROLE_MANAGER),
			      &wire);
}

static void
on_done(struct program_result *r, void *data)
{
	struct bench *b = data;

	b->r = *r;
	b->done = true;
}

/* All that was not done is told. */
static void
check_left(const struct bench *b)
{
	const struct fabric *l = b->l;
	AUTO(plan) *left = plan_diff(b->r.after, &l->w, l->seen, b->held, NULL);
	bool is_told = b->r.failed || b->r.held_back || b->r.problems->len;

	for (uint32_t i = 0; i < left->n_steps && !is_told; i++)
		assert_true(left->steps[i].fields == PORT_FIELD_REREGISTER ||
			    (left->steps[i].port != SNAPSHOT_NONE &&
			     b->r.untaken[left->steps[i].port]));
}

/* Plans from what is known, and carries it out. */
static void
bench_run(struct bench *b)
{
	program_result_clear(&b->r);
	plan_free(b->plan);
	b->plan = plan_diff(b->l->s, &b->l->w, b->l->seen, b->held, NULL);
	b->done = false;
	program_start(b->x, NULL, b->l->s, &b->l->w, b->plan, b->l->seen,
		      b->held, NULL, on_done, b);
	assert_false(b->done);
	assert_true(sim_run_idle(b->sim, sim_now(b->sim) +
				 600 * G_USEC_PER_SEC));
	assert_true(b->done);
	assert_int_equal(b->r.done + b->r.failed + b->r.held_back,
			 b->plan->n_steps);
	check_left(b);
}

static void
bench_close(struct bench *b)
{
	program_result_clear(&b->r);
	mad_client_free(b->x);
	sim_free(b->sim);
	plan_free(b->plan);
	fabric_free(b->l);
}

/* The order, seen from the devices: nothing is armed before the tables of the
 * switches at both ends are written, nothing activated before both ends are
 * armed, no top raised before the blocks. */
struct order {
	struct bench *b;
	bool violated;
	unsigned looks;		/* at ports with a table */
};

/* The switch holds the wanted table. */
static bool
has_table(const struct bench *b, uint32_t sw)
{
	for (uint32_t lid = 1; lid <= b->l->lft->top; lid++)
		if (sim_lft_entry(b->sim, b->l->s->switches[sw], lid) !=
		    lft_row(b->l->lft, sw)[lid])
			return false;
	return true;
}

static bool
is_routed(struct bench *b, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(b->l->s, port);

	return !snapshot_is_switch(n) || (has_table(b, n->sw_index) &&
		sim_node_of(b->sim, port)->sw.linear_fdb_top ==
		b->l->lft->top);
}

static bool
tamper_order(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;

	for (uint32_t p = 0; p < sim->n_ports; p++) {
		uint32_t q = sim->ports[p].peer;
		unsigned state = sim->ports[p].info.state;

		if (q == SNAPSHOT_NONE)
			continue;
		if (state >= PORT_STATE_ARMED && (!is_routed(o->b, p) ||
						  !is_routed(o->b, q)))
			o->violated = true;
		if (state == PORT_STATE_ACTIVE &&
		    sim->ports[q].info.state < PORT_STATE_ARMED)
			o->violated = true;
	}
	return true;
}

TEST(test_order_is_safe_at_every_moment)
{
	AUTO_VALUE(bench_close) struct bench b;
	struct order o = { .b = &b };

	bench_open(&b, "PGFT(3,4;1,3)");
	sim_set_liar(b.sim, tamper_order, &o);
	bench_run(&b);
	assert_false(o.violated);
	assert_int_equal(b.r.failed, 0);
}

/* The answers to Sets of the blocks of one switch are lost. */
static bool
tamper_tables(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	return node != *(uint32_t *)data ||
		mad_header_of(answer).attr_id != MAD_ATTR_LINEAR_FT;
}

static bool
tamper_hosts(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;
	bool all_routed = true;

	for (uint32_t i = 0; i < o->b->l->s->n_switches; i++)
		all_routed = all_routed && has_table(o->b, i);
	for (uint32_t p = 0; p < sim->n_ports; p++)
		if (!sim_is_switch(sim_node_of(sim, p)) &&
		    sim->ports[p].info.state >= PORT_STATE_ARMED &&
		    !all_routed)
			o->violated = true;
	return true;
}

/* A host that would close a credit loop with tables of before. */
TEST(test_hosts_wait_for_all_tables)
{
	for (unsigned wait = 0; wait < 3; wait++) {
		AUTO_VALUE(bench_close) struct bench b;
		struct order o = { .b = &b };

		bench_open(&b, "PGFT(3,4;1,3)");
		b.l->w.hosts_wait = wait;
		if (wait < 2)
			sim_set_liar(b.sim, tamper_hosts, &o);
		else
			sim_set_liar(b.sim, tamper_tables, &b.l->s->switches[3]);
		bench_run(&b);
		assert_int_equal(o.violated, !wait);
		assert_int_equal(b.r.failed > 0, wait == 2);
		assert_int_equal(b.r.held_back > 0, wait == 2);
		assert_int_equal(b.sim->ports[b.host].info.state, wait == 2 ?
				 PORT_STATE_INIT : PORT_STATE_ACTIVE);
	}
}

/* Acknowledges NeighborMTU and keeps the old one, like ibsim. */
static bool
tamper_mtu(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);
	struct sim_port *port = sim->ports + sim->nodes[node].first_port;

	if (h.attr_id != MAD_ATTR_PORT_INFO)
		return true;
	port_info_decode(smp_data(answer), &info);
	info.neighbor_mtu = 1;
	port[h.attr_mod & 0xff].info.neighbor_mtu = 1;
	port_info_encode(smp_data(answer), &info);
	return true;
}

static void
bench_open_mtu(struct bench *b)
{
	bench_open(b, "single(4)");
	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		b->l->s->ports[p].info.neighbor_mtu = 1;
}

static bool
tamper_mtu_of_armed(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	const struct mad_header h = mad_header_of(answer);
	struct port_info info;

	port_info_decode(smp_data(answer), &info);
	if (h.attr_id != MAD_ATTR_PORT_INFO || info.state == PORT_STATE_ACTIVE)
		return true;
	++*(unsigned *)data;
	return tamper_mtu(sim, node, answer, NULL);
}

/* The last of two answers counts. */
TEST(test_field_that_is_taken_with_the_link_is_taken)
{
	AUTO_VALUE(bench_close) struct bench b;
	unsigned n = 0;

	bench_open_mtu(&b);
	sim_set_liar(b.sim, tamper_mtu_of_armed, &n);
	bench_run(&b);
	assert_true(n >= 8);
	for (uint32_t p = 0; p < b.l->s->n_ports; p++)
		assert_int_equal(b.r.untaken[p], 0);
}

/* Refuses the Set to Active, for the other end has brought it up already; all:
 * a switch, and all questions. */
struct refusal {
	const struct bench *b;
	bool all;
	uint64_t sets;	/* at the last one */
};

static bool
tamper_already_active(struct sim *sim, uint32_t node, uint8_t *answer,
		      void *data)
{
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);
	struct refusal *r = data;
	uint64_t sets = r->b->x->stats.sets[MAD_ATTR_PORT_INFO];

	port_info_decode(smp_data(answer), &info);
	if (h.attr_id == MAD_ATTR_PORT_INFO && (h.attr_mod & 0xff) > 0 &&
	    info.state == PORT_STATE_ACTIVE && (r->all ?
			sim_is_switch(&sim->nodes[node]) : sets > r->sets)) {
		r->sets = sets;
		answer[5] = MAD_STATUS_BAD_VALUE;
	}
	return true;
}

#define BENCH_TEST(name, args...) \
	TEST_ON(name, struct bench, b, bench_open, bench_close, ##args)

BENCH_TEST(test_refused_activation_of_an_active_port_is_no_failure, "single(4)")
{
	static const uint8_t all[16] = { [0 ... 15] = 1 };
	struct refusal r = { .b = b };
	unsigned n = 0;

	b->l->w.reregister = all;
	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		b->l->s->ports[p].info.cap_mask |=
			PORT_CAP_HAS_CLIENT_REREGISTER;
	sim_set_liar(b->sim, tamper_already_active, &r);
	bench_run(b);
	assert_true(r.sets > 0);
	/* those whose clients were not asked are read again */
	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		n += snapshot_is_end_port(b->l->s, p) && !b->r.told[p];
	assert_true(n > 0);
	assert_int_equal(b->r.changed->len, n);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(b->r.problems->len, 0);
}

BENCH_TEST(test_port_that_refuses_all_is_told, "single(4)")
{
	struct refusal r = { .b = b, .all = true };

	sim_set_liar(b->sim, tamper_already_active, &r);
	bench_run(b);
	assert_true(b->r.problems->len > 0);
}

static void
note_change(struct bench *b, uint32_t sw)
{
	b->l->s->nodes[sw].sw.port_state_change = true;
	b->sim->nodes[sw].sw.port_state_change = true;
}

static void
put_entry(const struct bench *b, uint32_t sw, uint16_t lid, uint8_t port)
{
	struct sim_node *n = &b->sim->nodes[b->l->s->switches[sw]];

	if (!n->lft_len) {
		n->lft_len = b->l->lft->stride;
		n->lft = g_malloc(n->lft_len);
		memset(n->lft, LFT_NO_PATH, n->lft_len);
	}
	n->lft[lid] = port;
}

/* Two Sets of one SwitchInfo must never be under way together: the one that
 * clears carries the old top and may come second. */
struct overtake {
	uint32_t node;
	int64_t busy_until;
	unsigned sets;
	bool violated;
};

static bool
tamper_overtake(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct overtake *o = data;
	const struct mad_header h = mad_header_of(answer);
	int64_t now = sim_now(sim);

	if (node != o->node || h.attr_id != MAD_ATTR_SWITCH_INFO)
		return true;
	o->violated |= now < o->busy_until;
	/* to and fro */
	o->busy_until = now + 2 * HOP_US * h.hop_count;
	o->sets++;
	return true;
}

BENCH_TEST(test_sets_of_one_switch_info_do_not_overtake, "ring(4;1)")
{
	struct overtake o = { 0 };

	o.node = b->l->s->switches[2];
	note_change(b, o.node);
	/* Its table is right already, so nothing else holds the top back. */
	lft_seen_set(b->l->seen, 2, 0, lft_row(b->l->lft, 2));
	for (uint16_t lid = 1; lid <= b->l->lft->top; lid++)
		put_entry(b, 2, lid, lft_row(b->l->lft, 2)[lid]);
	sim_set_liar(b->sim, tamper_overtake, &o);
	bench_run(b);
	assert_int_equal(o.sets, 2);
	assert_false(o.violated);
	assert_int_equal(b->sim->nodes[o.node].sw.linear_fdb_top,
			 b->l->lft->top);
}

/* What the run has left is where the next one begins. */
static void
bench_go_on(struct bench *b)
{
	snapshot_unref(b->l->s);
	b->l->s = snapshot_ref(b->r.after);
}

/* How many blocks of a slow switch are under way at a time. */
struct crowd {
	uint32_t node;
	unsigned most, blocks;
};

static bool
tamper_crowd(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct crowd *c = data;

	if (node != c->node ||
	    mad_header_of(answer).attr_id != MAD_ATTR_LINEAR_FT)
		return true;
	c->most = MAX(c->most, 1 + sim->nodes[node].queued);
	c->blocks++;
	return true;
}

BENCH_TEST(test_blocks_of_one_switch_come_a_few_at_a_time, "ring(3;200)")
{
	struct crowd c = { 0 };

	bench_run(b);
	bench_go_on(b);
	for (unsigned i = 0; i <= b->l->lft->top / LFT_BLOCK; i++)
		lft_seen_forget(b->l->seen, 0, i);
	c.node = b->l->s->switches[0];
	sim_node_set_speed(b->sim, c.node, 300 * NS_PER_US);
	sim_set_liar(b->sim, tamper_crowd, &c);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(c.blocks, 10);
	assert_int_equal(c.most, 8);
}

/* A port of one switch that leads to another. */
static uint8_t
port_to(const struct snapshot *s, uint32_t sw, uint32_t peer)
{
	uint32_t port = s->nodes[s->switches[sw]].first_port + 1;

	while (s->ports[port].peer == SNAPSHOT_NONE ||
	       s->ports[s->ports[port].peer].node != s->switches[peer])
		port++;
	return s->ports[port].num;
}

static uint8_t
entry(const struct bench *b, uint32_t sw, uint16_t lid)
{
	return sim_lft_entry(b->sim, b->l->s->switches[sw], lid);
}

struct bounce {
	const struct bench *b;
	uint8_t there, back;	/* entries of switches 0 and 1 */
	uint8_t old;		/* of switch 0; its link comes up */
	uint16_t lid;
	bool is_met;
	uint32_t deaf;		/* the node of switch 1, if Sets to it are lost */
};

static bool
tamper_bounce(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct bounce *o = data;
	const struct sim_port *first = sim->ports +
		sim->nodes[o->b->l->s->switches[0]].first_port;

	if (node == o->deaf)
		put_entry(o->b, 1, o->lid, o->back);
	o->is_met |= entry(o->b, 0, o->lid) == o->there &&
		entry(o->b, 1, o->lid) == o->back;
	o->is_met |= entry(o->b, 0, o->lid) == o->old &&
		first[o->old].info.state >= PORT_STATE_ARMED;
	return node != o->deaf;
}

static void
put_to_init(struct bench *b, unsigned num)
{
	struct snapshot *s = b->l->s;
	uint32_t port = s->nodes[s->switches[0]].first_port + num;
	uint32_t ends[] = { port, s->ports[port].peer };

	for (unsigned i = 0; i < 2; i++) {
		s->ports[ends[i]].info.state = PORT_STATE_INIT;
		b->sim->ports[ends[i]].info.state = PORT_STATE_INIT;
	}
}

/* Switch 1 sent to a LID through switch 0, which has lost its path; from now on
 * it is the other way round. The new entry of switch 0 alone would send packets
 * from one to the other for ever, also if switch 1 does not change. The link of
 * the old entry comes up again: without it, for nothing was verified so. */
BENCH_TEST(test_an_entry_waits_while_its_next_hop_leads_back, "ring(4;1)")
{
	const struct snapshot *s = b->l->s;
	struct bounce o = {
		.b = b, .there = port_to(s, 0, 1), .back = port_to(s, 1, 0),
		.old = port_to(s, 0, 3),
		.lid = b->l->lids->base[s->nodes[s->switches[3]].first_port],
		.deaf = s->switches[1],
	};
	AUTO(lft) *lft = lft_copy(b->l->lft);

	lft_row(lft, 0)[o.lid] = o.there;
	lft_row(lft, 1)[o.lid] = port_to(s, 1, 2);
	lft_row(b->l->lft, 0)[o.lid] = o.old;
	lft_row(b->l->lft, 1)[o.lid] = o.back;
	bench_run(b);
	bench_go_on(b);
	put_to_init(b, o.old);
	b->l->w.lft = lft;
	sim_set_liar(b->sim, tamper_bounce, &o);
	bench_run(b);
	assert_false(o.is_met);
	assert_true(b->r.failed > 0);
	bench_go_on(b);
	o.deaf = SNAPSHOT_NONE;
	bench_run(b);
	assert_false(o.is_met);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(entry(b, 0, o.lid), o.there);
}

/* ---- tables of ports ---- */

/* All CAs are in a partition, and switches enforce it. */
static void
bench_open_isolated(struct bench *b)
{
	const struct partition_rule red = {
		.who = PARTITION_ALL_CAS, .membership = PARTITION_FULL,
	};

	bench_open(b, "PGFT(3,3;1,2)");
	b->held = b->l->held;
	b->l->params.rules = partition_rules_default();
	g_array_append_val(partition_rules_get(b->l->params.rules, 1)->rules,
			   red);
	b->l->params.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT;
	fabric_isolate(b->l);
}

/* Whether the P_Key table of the port is the desired one. */
static bool
is_written(const struct bench *b, uint32_t port)
{
	unsigned n = b->l->w.tables->n_blocks[PORT_TABLE_PKEY][port];
	const struct sim_tables *have = b->sim->ports[port].tables;
	uint8_t data[SMP_DATA_LEN];

	for (unsigned i = 0; i < n; i++) {
		const union port_block *want = port_tables_get(b->l->w.tables,
			PORT_TABLE_PKEY, port, i);

		if (!want)
			continue;
		smp_table_encode(PORT_TABLE_PKEY, data, want);
		if (!have || !have->pkeys ||
		    memcmp(data, have->pkeys[i], sizeof(data)))
			return false;
	}
	return true;
}

/* No port is armed, and none enforces, before the tables at both ends are
 * written. */
static bool
tamper_table_order(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;

	for (uint32_t port = 0; port < sim->n_ports; port++) {
		const struct port_info *info = &sim->ports[port].info;
		uint32_t peer = sim->ports[port].peer;

		if (peer == SNAPSHOT_NONE ||
		    (info->state != PORT_STATE_ARMED &&
		     !info->enforce_inbound && !info->enforce_outbound))
			continue;
		o->looks++;
		o->violated |= !is_written(o->b, port) ||
			!is_written(o->b, peer);
	}
	return true;
}

/* As it is before anything is to be enforced. */
static void
make_active(struct bench *b)
{
	const struct partition_rule blue = {
		.who = PARTITION_ALL, .membership = PARTITION_LIMITED,
	};
	unsigned enforce = b->l->params.enforce;

	b->l->params.enforce = 0;
	partition_rules_unref(b->l->params.rules);
	b->l->params.rules = partition_rules_default();
	fabric_isolate(b->l);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	bench_go_on(b);
	b->l->params.enforce = enforce;
	g_array_append_val(partition_rules_get(b->l->params.rules, 2)->rules,
			   blue);
	fabric_isolate(b->l);
}

TEST(test_tables_go_before_links_and_enforcement)
{
	for (unsigned is_active = 0; is_active < 2; is_active++) {
		AUTO_VALUE(bench_close) struct bench b;
		struct order o = { .b = &b };

		bench_open_isolated(&b);
		if (is_active)
			make_active(&b);
		assert_false(b.sim->ports[b.gate].info.enforce_inbound);
		sim_set_liar(b.sim, tamper_table_order, &o);
		bench_run(&b);
		assert_int_equal(b.r.failed, 0);
		assert_int_equal(b.r.held_back, 0);
		assert_true(o.looks > 0);
		assert_false(o.violated);
		assert_true(b.sim->ports[b.gate].info.enforce_inbound);
		bench_go_on(&b);
		fabric_isolate(b.l);
		bench_run(&b);
		assert_int_equal(b.plan->n_steps, 0);
	}
}
