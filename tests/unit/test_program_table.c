// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming tables of ports against the fake fabric: a link does not come up
 * and a switch does not enforce before the tables at both ends are written, and
 * a port that refuses one stays isolated.
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/program_lab.h"
#include "tests/lib/unit.h"

static void
bench_isolate(struct bench *b)
{
	isolation_free(b->isolation);
	b->isolation = isolation_new(&b->params, b->s, b->held);
	b->w.tables = b->isolation->wanted;
	b->w.enforce = b->isolation->enforce;
}

/* All CAs are in a partition, and switches enforce it. */
static void
bench_open_isolated(struct bench *b)
{
	const struct partition_rule red = {
		.who = PARTITION_ALL_CAS, .membership = PARTITION_FULL,
	};

	bench_open(b, "PGFT(3,3;1,2)");
	b->held = port_tables_new(b->s);
	b->params.rules = partition_rules_default();
	g_array_append_val(partition_rules_get(b->params.rules, 1)->rules, red);
	b->params.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT;
	bench_isolate(b);
}

/* What the run has left is where the next one begins. */
static void
bench_go_on(struct bench *b)
{
	snapshot_unref(b->s);
	b->s = snapshot_ref(b->r.after);
}

/* Does the device hold what is wanted? */
static bool
is_written(const struct bench *b, uint32_t port)
{
	unsigned n = b->w.tables->n_blocks[PORT_TABLE_PKEY][port];

	for (unsigned i = 0; i < n; i++) {
		const union port_block *want = port_tables_get(b->w.tables,
			PORT_TABLE_PKEY, port, i);
		const union port_block *have = port_tables_get(b->f->tables,
			PORT_TABLE_PKEY, port, i);

		if (want && (!have || memcmp(want, have, sizeof(*want))))
			return false;
	}
	return true;
}

static const struct port_info *
device(const struct bench *b, uint32_t port)
{
	return &b->f->s->ports[port].info;
}

/* At every answer: no port is armed, and none enforces, too early. */
struct order {
	struct bench *b;
	bool violated;
	unsigned looks;
};

static bool
tamper_order(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct order *o = data;

	for (uint32_t port = 0; port < f->s->n_ports; port++) {
		uint32_t peer = f->s->ports[port].peer;
		const struct port_info *info = device(o->b, port);
		bool early = info->enforce_inbound || info->enforce_outbound ||
			info->state == PORT_STATE_ARMED;

		if (peer == SNAPSHOT_NONE || !early)
			continue;
		o->looks++;
		o->violated |= !is_written(o->b, port) ||
			!is_written(o->b, peer);
	}
	return true;
}

static int
set_up(void **state)
{
	struct bench *new = g_new0(struct bench, 1);

	bench_open_isolated(new);
	*state = new;
	return 0;
}

static int
tear_down(void **state)
{
	bench_close(*state);
	g_free(*state);
	return 0;
}

#define BENCH_TEST(name) \
	TEST_WITH(name, struct bench *b, set_up, tear_down)

BENCH_TEST(test_tables_go_before_the_link)
{
	struct order o = { .b = b };

	fake_tamper(b->f, tamper_order, &o);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(b->r.held_back, 0);
	assert_true(o.looks > 0);
	assert_false(o.violated);
	assert_true(device(b, b->gate)->enforce_inbound);
	bench_go_on(b);
	bench_isolate(b);
	bench_run(b);
	assert_int_equal(b->plan->n_steps, 0);
}

static void
make_active(struct bench *b)
{
	const struct partition_rule blue = {
		.who = PARTITION_ALL, .membership = PARTITION_LIMITED,
	};
	unsigned enforce = b->params.enforce;

	b->params.enforce = 0;
	partition_rules_unref(b->params.rules);
	b->params.rules = partition_rules_default();
	bench_isolate(b);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	bench_go_on(b);
	b->params.enforce = enforce;
	g_array_append_val(partition_rules_get(b->params.rules, 2)->rules,
			   blue);
	bench_isolate(b);
}

BENCH_TEST(test_tables_go_before_the_enforcement)
{
	struct order o = { .b = b };

	make_active(b);
	assert_false(device(b, b->gate)->enforce_inbound);
	fake_tamper(b->f, tamper_order, &o);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(b->r.held_back, 0);
	assert_true(o.looks > 0);
	assert_false(o.violated);
	assert_true(device(b, b->gate)->enforce_inbound);
}

/* One node's P_Key tables cannot be written. */
struct refusal {
	uint32_t node;
	uint32_t attr_mod;	/* of the block */
	unsigned status;	/* 0: acknowledged, and something else */
};

static bool
tamper_refuse(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct refusal *r = data;
	const struct mad_header h = mad_header_of(answer);

	if (node != r->node || h.attr_id != MAD_ATTR_PKEY_TABLE ||
	    h.attr_mod != r->attr_mod)
		return true;
	if (r->status)
		answer[5] = (uint8_t)r->status;
	else
		smp_data(answer)[0] ^= 0x40;
	return true;
}

static void
refuse_at(struct bench *b, struct refusal *r, uint32_t port, unsigned status)
{
	bool is_switch = snapshot_is_switch(snapshot_node_of(b->s, port));

	*r = (struct refusal){
		.node = b->s->ports[port].node, .status = status,
		.attr_mod = is_switch ?
			(uint32_t)b->s->ports[port].num << 16 : 0,
	};
	fake_tamper(b->f, tamper_refuse, r);
}

static void
assert_only_that_link_is_down(const struct bench *b)
{
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		if (b->s->ports[port].peer != SNAPSHOT_NONE)
			assert_int_equal(device(b, port)->state,
					 port == b->host || port == b->gate ?
					 PORT_STATE_INIT : PORT_STATE_ACTIVE);
}

TEST(test_refused_table_keeps_the_link_down)
{
	const unsigned statuses[] = { MAD_STATUS_BAD_VALUE, 0 };

	for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
		for (unsigned at_gate = 0; at_gate < 2; at_gate++) {
			struct refusal r;
			AUTO_VALUE(bench_close) struct bench b;
			uint32_t port;

			bench_open_isolated(&b);
			port = at_gate ? b.gate : b.host;
			refuse_at(&b, &r, port, statuses[i]);
			bench_run(&b);
			assert_int_equal(b.r.failed, 1);
			assert_int_equal(b.r.held_back, 4);
			assert_only_that_link_is_down(&b);
			assert_int_equal(b.r.problems->len, 1);
			assert_has(b.r.problems->pdata[0],
				   snapshot_node_of(b.s, port)->desc);
			assert_has(b.r.problems->pdata[0], "P_Key table");
		}
}

/* What it holds is known, so the next plan tries again. */
BENCH_TEST(test_table_that_is_something_else_is_planned_again)
{
	struct refusal r;

	refuse_at(b, &r, b->host, 0);
	bench_run(b);
	assert_int_equal(port_tables_get(b->held, PORT_TABLE_PKEY, b->host,
					 0)->pkeys[0], 0xbfff);
	b->f->tamper = NULL;
	bench_go_on(b);
	bench_run(b);
	assert_int_equal(b->plan->first[PLAN_TABLE + 1] -
			 b->plan->first[PLAN_TABLE], 1);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(device(b, b->host)->state, PORT_STATE_ACTIVE);
}

BENCH_TEST(test_refused_table_leaves_an_active_port_alone)
{
	struct refusal r;

	make_active(b);
	refuse_at(b, &r, b->host, MAD_STATUS_BAD_VALUE);
	bench_run(b);
	assert_int_equal(b->r.failed, 1);
	assert_int_equal(b->r.held_back, 1);
	assert_int_equal(device(b, b->host)->state, PORT_STATE_ACTIVE);
	assert_int_equal(device(b, b->gate)->state, PORT_STATE_ACTIVE);
	assert_false(device(b, b->gate)->enforce_inbound);
	assert_true(device(b, b->s->ports[b->s->local_port].peer)
		    ->enforce_inbound);
}

/* To let everything pass nothing has to be written first. */
BENCH_TEST(test_enforcement_ends_whatever_tables_hold)
{
	struct refusal r;

	bench_run(b);
	bench_go_on(b);
	assert_true(device(b, b->gate)->enforce_inbound);
	b->params.enforce = 0;
	g_array_set_size(partition_rules_get(b->params.rules, 1)->rules, 0);
	bench_isolate(b);
	refuse_at(b, &r, b->host, MAD_STATUS_BAD_VALUE);
	bench_run(b);
	assert_int_equal(b->r.failed, 1);
	assert_int_equal(b->r.held_back, 0);
	assert_false(device(b, b->gate)->enforce_inbound);
}

/* Loses what one node answers to Sets. */
static bool
tamper_silent(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	return node != *(uint32_t *)data;
}

BENCH_TEST(test_silent_host_is_asked_no_more_than_needed)
{
	uint32_t node;

	node = b->s->ports[b->host].node;
	fake_tamper(b->f, tamper_silent, &node);
	bench_run(b);
	assert_true(b->r.failed > 1);	/* its blocks */
	assert_int_equal(b->r.problems->len, 1);
	assert_only_that_link_is_down(b);
}

/* A port at which Set(Active) is refused, as the other end has pulled it up:
 * its clients have not been told by that. */
struct told {
	struct bench *b;
	unsigned refused, told;
};

static bool
tamper_told(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	struct told *t = data;
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);

	if (node != t->b->s->ports[t->b->host].node ||
	    h.attr_id != MAD_ATTR_PORT_INFO)
		return true;
	port_info_decode(smp_data(answer), &info);
	if (!info.client_reregister)
		return true;
	/* A request, not a value: it does not stay. */
	f->s->ports[t->b->host].info.client_reregister = false;
	if (t->refused) {
		t->told++;
		return true;
	}
	t->refused++;
	answer[5] = MAD_STATUS_BAD_VALUE;
	return true;
}

BENCH_TEST(test_clients_are_told_though_activation_is_refused)
{
	g_autofree uint8_t *again = NULL;
	struct told t = { .b = b };

	again = g_new0(uint8_t, b->s->n_ports);
	again[b->host] = true;
	b->w.reregister = again;
	fake_tamper(b->f, tamper_told, &t);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(t.refused, 1);
	assert_int_equal(t.told, 1);
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		assert_int_equal(b->r.told[port], port == b->host);
}
