// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming against the fake fabric: a plan leaves the fabric as it was
 * wanted, in an order that harms no traffic and lets no link up before its
 * tables, and a device that refuses or falls silent holds back only what depends
 * on it.
 */
#include <string.h>

#include "sm/sweep/program.h"
#include "tests/lib/auto.h"
#include "tests/lib/fake.h"
#include "tests/lib/plan_lab.h"
#include "tests/lib/unit.h"

struct bench {
	struct fabric *l;	/* known: none of the forwarding tables */
	struct port_tables *held;	/* NULL: no tables of ports */
	struct plan *plan;	/* of the last run */
	struct fake *f;
	struct mad_client *x;
	struct program_result r;
	bool done;
	uint32_t host, gate;	/* not the SM's, and its switch's port */
};

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 16,
};

static void
bench_open(struct bench *b, const char *spec)
{
	memset(b, 0, sizeof(*b));
	b->l = fabric_new(spec);
	for (uint32_t port = 0; port < b->l->s->n_ports; port++)
		if (snapshot_is_end_port(b->l->s, port) &&
		    b->l->s->ports[port].num && port != b->l->host)
			b->host = port;
	b->gate = b->l->s->ports[b->host].peer;
	b->f = fake_new(b->l->s);
	b->x = mad_client_new(b->f->t, &wire);
}

static void
on_done(struct program_result *r, void *data)
{
	struct bench *b = data;

	b->r = *r;
	b->done = true;
}

/* plan_left() finds the steps that plan_diff() of the whole fabric finds. */
static void
check_left(const struct bench *b)
{
	const struct fabric *l = b->l;
	AUTO(plan) *all = plan_diff(b->r.after, &l->w, l->seen, b->held, NULL);
	AUTO(plan) *left = plan_left(b->plan, b->r.after, &l->w, l->seen,
				      b->held);

	assert_int_equal(left->n_steps, all->n_steps);
	if (all->n_steps)
		assert_memory_equal(left->steps, all->steps,
				    all->n_steps * sizeof(*all->steps));
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
		      b->held, on_done, b);
	assert_false(b->done);
	assert_true(scripted_run_idle(b->f->t, transport_now(b->f->t) +
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
	fake_free(b->f);
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

static bool
is_routed(struct bench *b, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(b->f->s, port);

	return !snapshot_is_switch(n) ||
		(memcmp(lft_row(b->f->lft, n->sw_index),
			lft_row(b->l->lft, n->sw_index),
			b->l->lft->top + 1u) == 0 &&
		 n->sw.linear_fdb_top == b->l->lft->top);
}

static bool
tamper_order(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;

	for (uint32_t p = 0; p < f->s->n_ports; p++) {
		uint32_t q = f->s->ports[p].peer;
		unsigned state = f->s->ports[p].info.state;

		if (q == SNAPSHOT_NONE)
			continue;
		if (state >= PORT_STATE_ARMED && (!is_routed(o->b, p) ||
						  !is_routed(o->b, q)))
			o->violated = true;
		if (state == PORT_STATE_ACTIVE &&
		    f->s->ports[q].info.state < PORT_STATE_ARMED)
			o->violated = true;
	}
	return true;
}

TEST(test_order_is_safe_at_every_moment)
{
	AUTO_VALUE(bench_close) struct bench b;
	struct order o = { .b = &b };

	bench_open(&b, "PGFT(3,4;1,3)");
	fake_tamper(b.f, tamper_order, &o);
	bench_run(&b);
	assert_false(o.violated);
	assert_int_equal(b.r.failed, 0);
}

/* The answers to Sets of the blocks of one switch are lost. */
static bool
tamper_tables(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	return node != *(uint32_t *)data ||
		mad_header_of(answer).attr_id != MAD_ATTR_LINEAR_FT;
}

static bool
tamper_hosts(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;
	bool all_routed = true;

	for (uint32_t i = 0; i < f->s->n_switches; i++)
		all_routed = all_routed && memcmp(lft_row(f->lft, i),
			lft_row(o->b->l->lft, i), o->b->l->lft->top + 1u) == 0;
	for (uint32_t p = 0; p < f->s->n_ports; p++)
		if (!snapshot_is_switch(snapshot_node_of(f->s, p)) &&
		    f->s->ports[p].info.state >= PORT_STATE_ARMED &&
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
			fake_tamper(b.f, tamper_hosts, &o);
		else
			fake_tamper(b.f, tamper_tables, &b.l->s->switches[3]);
		bench_run(&b);
		assert_int_equal(o.violated, !wait);
		assert_int_equal(b.r.failed > 0, wait == 2);
		assert_int_equal(b.r.held_back > 0, wait == 2);
		assert_int_equal(b.f->s->ports[b.host].info.state, wait == 2 ?
				 PORT_STATE_INIT : PORT_STATE_ACTIVE);
	}
}

/* Acknowledges NeighborMTU and keeps the old one, like ibsim. */
static bool
tamper_mtu(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);
	uint32_t port;

	if (h.attr_id != MAD_ATTR_PORT_INFO)
		return true;
	port = snapshot_port_of(f->s, node, h.attr_mod & 0xff);
	port_info_decode(smp_data(answer), &info);
	info.neighbor_mtu = 1;
	f->s->ports[port].info.neighbor_mtu = 1;
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
tamper_mtu_of_armed(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const struct mad_header h = mad_header_of(answer);
	struct port_info info;

	port_info_decode(smp_data(answer), &info);
	if (h.attr_id != MAD_ATTR_PORT_INFO || info.state == PORT_STATE_ACTIVE)
		return true;
	++*(unsigned *)data;
	return tamper_mtu(f, node, answer, NULL);
}

/* The last of two answers counts. */
TEST(test_field_that_is_taken_with_the_link_is_taken)
{
	AUTO_VALUE(bench_close) struct bench b;
	unsigned n = 0;

	bench_open_mtu(&b);
	fake_tamper(b.f, tamper_mtu_of_armed, &n);
	bench_run(&b);
	assert_true(n >= 8);
	for (uint32_t p = 0; p < b.l->s->n_ports; p++)
		assert_int_equal(b.r.untaken[p], 0);
}

/* Refuses the Set to Active, for the other end has brought it up already; without
 * data: and all questions. */
static bool
tamper_already_active(struct fake *f, uint32_t node, uint8_t *answer,
		      void *data)
{
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);
	unsigned *n = data;

	port_info_decode(smp_data(answer), &info);
	if (h.attr_id == MAD_ATTR_PORT_INFO && (h.attr_mod & 0xff) > 0 &&
	    info.state == PORT_STATE_ACTIVE && (!n || f->sets > *n)) {
		if (n)
			*n = f->sets;
		answer[5] = MAD_STATUS_BAD_VALUE;
	}
	return true;
}

#define BENCH_TEST(name, args...) \
	TEST_ON(name, struct bench, b, bench_open, bench_close, ##args)

BENCH_TEST(test_refused_activation_of_an_active_port_is_no_failure, "single(4)")
{
	unsigned last_set = 0;

	fake_tamper(b->f, tamper_already_active, &last_set);
	bench_run(b);
	assert_true(last_set > 0);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(b->r.problems->len, 0);
}

BENCH_TEST(test_port_that_refuses_all_is_told, "single(4)")
{
	fake_tamper(b->f, tamper_already_active, NULL);
	bench_run(b);
	assert_true(b->r.problems->len > 0);
}

static void
note_change(struct bench *b, uint32_t sw)
{
	b->l->s->nodes[sw].sw.port_state_change = true;
	b->f->s->nodes[sw].sw.port_state_change = true;
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
tamper_overtake(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct overtake *o = data;
	const struct mad_header h = mad_header_of(answer);
	int64_t now = transport_now(f->t);

	if (node != o->node || h.attr_id != MAD_ATTR_SWITCH_INFO)
		return true;
	o->violated |= now < o->busy_until;
	o->busy_until = now + 20 * (1 + h.hop_count);
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
	memcpy(lft_row(b->f->lft, 2), lft_row(b->l->lft, 2), LFT_BLOCK);
	fake_tamper(b->f, tamper_overtake, &o);
	bench_run(b);
	assert_int_equal(o.sets, 2);
	assert_false(o.violated);
	assert_int_equal(b->f->s->nodes[o.node].sw.linear_fdb_top,
			 b->l->lft->top);
}

/* How many blocks of one switch are under way at a time. */
struct crowd {
	GArray *ends;		/* of int64_t, when answers arrive, by node */
	uint32_t node;
	unsigned most, blocks;
};

static bool
tamper_crowd(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct crowd *c = data;
	int64_t now = transport_now(f->t), end;
	const struct mad_header h = mad_header_of(answer);
	unsigned busy = 1;

	if (node != c->node || h.attr_id != MAD_ATTR_LINEAR_FT)
		return true;
	for (guint i = 0; i < c->ends->len; i++)
		busy += g_array_index(c->ends, int64_t, i) > now;
	end = now + 20 * (1 + h.hop_count);
	g_array_append_val(c->ends, end);
	c->most = MAX(c->most, busy);
	c->blocks++;
	return true;
}

BENCH_TEST(test_blocks_of_one_switch_come_a_few_at_a_time, "PGFT(18,36;1,18)")
{
	struct crowd c = { .ends = g_array_new(FALSE, FALSE, 8) };

	c.node = b->l->s->switches[0];
	fake_tamper(b->f, tamper_crowd, &c);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	assert_true(c.blocks > 8);
	assert_in_range(c.most, 1, 8);
	g_array_unref(c.ends);
}

/* What the run has left is where the next one begins. */
static void
bench_go_on(struct bench *b)
{
	snapshot_unref(b->l->s);
	b->l->s = snapshot_ref(b->r.after);
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

struct bounce {
	uint8_t there, back;	/* entries of switches 0 and 1 */
	uint8_t old;		/* of switch 0; its link comes up */
	uint16_t lid;
	bool is_met;
	uint32_t deaf;		/* the node of switch 1, if Sets to it are lost */
};

static bool
tamper_bounce(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct bounce *o = data;
	const struct snapshot_port *first = f->s->ports +
		f->s->nodes[f->s->switches[0]].first_port;

	if (node == o->deaf)
		lft_row(f->lft, 1)[o->lid] = o->back;
	o->is_met |= lft_row(f->lft, 0)[o->lid] == o->there &&
		lft_row(f->lft, 1)[o->lid] == o->back;
	o->is_met |= lft_row(f->lft, 0)[o->lid] == o->old &&
		first[o->old].info.state >= PORT_STATE_ARMED;
	return node != o->deaf;
}

static void
put_to_init(struct snapshot *s, unsigned num)
{
	uint32_t port = s->nodes[s->switches[0]].first_port + num;

	s->ports[port].info.state = PORT_STATE_INIT;
	s->ports[s->ports[port].peer].info.state = PORT_STATE_INIT;
}

/* Switch 1 sent to a LID through switch 0, which has lost its path; from now on
 * it is the other way round. The new entry of switch 0 alone would send packets
 * from one to the other for ever, also if switch 1 does not change. The link of
 * the old entry comes up again: without it, for nothing was verified so. */
BENCH_TEST(test_an_entry_waits_while_its_next_hop_leads_back, "ring(4;1)")
{
	const struct snapshot *s = b->l->s;
	struct bounce o = {
		.there = port_to(s, 0, 1), .back = port_to(s, 1, 0),
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
	put_to_init(b->l->s, o.old);
	put_to_init(b->f->s, o.old);
	b->l->w.lft = lft;
	fake_tamper(b->f, tamper_bounce, &o);
	bench_run(b);
	assert_false(o.is_met);
	assert_true(b->r.failed > 0);
	bench_go_on(b);
	o.deaf = SNAPSHOT_NONE;
	bench_run(b);
	assert_false(o.is_met);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(lft_row(b->f->lft, 0)[o.lid], o.there);
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

	for (unsigned i = 0; i < n; i++) {
		const union port_block *want = port_tables_get(b->l->w.tables,
			PORT_TABLE_PKEY, port, i);
		const union port_block *have = port_tables_get(b->f->tables,
			PORT_TABLE_PKEY, port, i);

		if (want && (!have || memcmp(want, have, sizeof(*want))))
			return false;
	}
	return true;
}

/* No port is armed, and none enforces, before the tables at both ends are
 * written. */
static bool
tamper_table_order(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;

	for (uint32_t port = 0; port < f->s->n_ports; port++) {
		const struct port_info *info = &f->s->ports[port].info;
		uint32_t peer = f->s->ports[port].peer;

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
		assert_false(b.f->s->ports[b.gate].info.enforce_inbound);
		fake_tamper(b.f, tamper_table_order, &o);
		bench_run(&b);
		assert_int_equal(b.r.failed, 0);
		assert_int_equal(b.r.held_back, 0);
		assert_true(o.looks > 0);
		assert_false(o.violated);
		assert_true(b.f->s->ports[b.gate].info.enforce_inbound);
		bench_go_on(&b);
		fabric_isolate(b.l);
		bench_run(&b);
		assert_int_equal(b.plan->n_steps, 0);
	}
}
