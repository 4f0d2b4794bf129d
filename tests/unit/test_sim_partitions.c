// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partitions, quality of service and the asking of clients on the simulated
 * fabric: what the devices hold and what the data plane lets pass, and how
 * little is sent for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "sm/sim/state.h"
#include "sm/sim/table.h"
#include "tests/lib/world.h"

#define SECOND		((int64_t)G_USEC_PER_SEC)
#define RED		0x0001
#define BLUE		0x0002
#define SPEC		"PGFT(3,3;1,2)"
#define ENFORCE_BOTH	(PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT)

struct bench {
	struct world w;
	struct world_params params;
	struct partition_rules *rules;
	struct qos qos;
	GArray *hosts;		/* uint32_t ports */
	unsigned *told;		/* by port: asked to register again */
};

static void
on_reregister(struct sim *sim, uint32_t port, void *data)
{
	struct bench *b = data;

	b->told[port]++;
}

static void
add_rule(struct partition_rules *rules, uint16_t pkey, enum partition_who who,
	 uint64_t guid, enum partition_membership membership)
{
	const struct partition_rule rule = {
		.who = who, .guid = guid, .membership = membership,
	};

	g_array_append_val(partition_rules_get(rules, pkey)->rules, rule);
}

static uint32_t
host(const struct bench *b, unsigned i)
{
	return g_array_index(b->hosts, uint32_t, i);
}

static void
add_host(struct bench *b, uint16_t pkey, unsigned i,
	 enum partition_membership membership)
{
	add_rule(b->rules, pkey, PARTITION_GUID,
		 b->w.s->ports[host(b, i)].guid, membership);
}

/* The fabric is made, and its first sweep has not begun. */
static void
bench_open(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->params = (struct world_params){
		.spec = SPEC, .seed = 7, .engine = "auto", .sweep_s = 1,
		.isolation = { .enforce = ENFORCE_BOTH },
	};
	b->rules = partition_rules_new();
	add_rule(b->rules, PKEY_DEFAULT, PARTITION_ALL, 0,
		 PARTITION_LIMITED);
	add_rule(b->rules, PKEY_DEFAULT, PARTITION_SELF, 0, PARTITION_FULL);
	b->params.isolation.rules = b->rules;
	b->hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void
bench_start(struct bench *b)
{
	world_open(&b->w, &b->params);
	b->told = g_new0(unsigned, b->w.s->n_ports);
	sim_set_reregister(b->w.sim, on_reregister, b);
	for (uint32_t port = 0; port < b->w.s->n_ports; port++)
		if (b->w.s->ports[port].num == 1 &&
		    !snapshot_is_switch(snapshot_node_of(b->w.s, port)))
			g_array_append_val(b->hosts, port);
	assert_int_equal(b->hosts->len, 9);
}

static void
settle(struct bench *b, enum sweep_end end)
{
	assert_true(world_settle(&b->w, 60 * SECOND));
	assert_int_equal(b->w.m.last, end);
}

/* Up, with these rules from the first sweep on. */
static void
bench_up(struct bench *b)
{
	bench_open(b);
	bench_start(b);
	settle(b, SWEEP_END_UP);
}

static void
bench_close(struct bench *b)
{
	world_close(&b->w);
	partition_rules_unref(b->rules);
	g_array_unref(b->hosts);
	g_free(b->told);
}

/* The rules in force are immutable: others take their place. */
static void
rules_begin(struct bench *b)
{
	struct partition_rules *copy = partition_rules_copy(b->rules);

	partition_rules_unref(b->rules);
	b->rules = copy;
}

static void
rules_end(struct bench *b)
{
	sweep_set_partitions(b->w.m.sweep, b->rules);
	sweep_request(b->w.m.sweep, SWEEP_CAUSE_PARTITIONS);
}

static void
assert_rules_hold(struct bench *b)
{
	unsigned asked;

	assert_int_equal(world_misled(&b->w, b->rules, &asked), 0);
	assert_true(asked > 100);
}

static uint64_t
sets_of(const struct bench *b, enum mad_attr attr)
{
	return mad_client_stats(b->w.m.x)->sets[attr];
}

static uint32_t
gate(const struct bench *b, unsigned i)
{
	return b->w.s->ports[host(b, i)].peer;
}

static void
assert_enforces(const struct bench *b, unsigned i, bool enforces)
{
	const struct port_info *info = sim_port_info(b->w.sim, gate(b, i));

	assert_int_equal(info->enforce_inbound, enforces);
	assert_int_equal(info->enforce_outbound, enforces);
}

/* A sweep of a person: everything is read again, and nothing is sent. */
static void
assert_quiet(struct bench *b)
{
	uint64_t sets = mad_client_stats(b->w.m.x)->sent_set;

	sweep_request(b->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	settle(b, SWEEP_END_UP);
	assert_int_equal(mad_client_stats(b->w.m.x)->sent_set - sets, 0);
}

/* ------------------------------------------------------------- partitions */

static void
test_default_rules_change_no_table(void **state)
{
	struct bench b;

	bench_open(&b);
	b.params.isolation.rules = NULL;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	assert_int_equal(sets_of(&b, MAD_ATTR_PKEY_TABLE), 0);
	assert_enforces(&b, 0, false);
	assert_quiet(&b);
	bench_close(&b);
}

static void
test_rules_decide_who_talks(void **state)
{
	struct bench b;

	bench_up(&b);
	assert_rules_hold(&b);
	rules_begin(&b);
	for (unsigned i = 0; i < 5; i++)
		add_host(&b, RED, i, PARTITION_FULL);
	for (unsigned i = 3; i < 9; i++)
		add_host(&b, BLUE, i, PARTITION_LIMITED);
	add_host(&b, BLUE, 4, PARTITION_BOTH);
	rules_end(&b);
	settle(&b, SWEEP_END_UP);
	assert_rules_hold(&b);
	assert_enforces(&b, 4, true);
	assert_quiet(&b);
	assert_rules_hold(&b);
	bench_close(&b);
}

/* What the switch lets through is what the host has, and nothing else. */
static void
test_switches_enforce_the_same_keys(void **state)
{
	struct bench b;

	bench_up(&b);
	rules_begin(&b);
	add_host(&b, RED, 2, PARTITION_FULL);
	rules_end(&b);
	settle(&b, SWEEP_END_UP);
	for (unsigned i = 0; i < b.hosts->len; i++) {
		assert_enforces(&b, i, true);
		assert_int_equal(sim_table_has_pkey(b.w.sim, gate(&b, i),
						    RED | PKEY_FULL), i == 2);
		assert_false(sim_table_has_pkey(b.w.sim, gate(&b, i), BLUE));
	}
	bench_close(&b);
}

/* Who cannot enforce is not written to: each way counts for itself. */
static void
test_switches_enforce_what_they_can(void **state)
{
	for (unsigned can = 0; can < 4; can++) {
		const struct port_info *info;
		struct bench b;
		uint32_t sw;

		bench_open(&b);
		add_rule(b.rules, RED, PARTITION_ALL_CAS, 0, PARTITION_FULL);
		world_open(&b.w, &b.params);
		b.told = g_new0(unsigned, b.w.s->n_ports);
		for (uint32_t i = 0; i < b.w.s->n_switches; i++) {
			sw = b.w.s->switches[i];
			b.w.sim->nodes[sw].sw.enforce_inbound = can & 1;
			b.w.sim->nodes[sw].sw.enforce_outbound = can >> 1;
		}
		settle(&b, SWEEP_END_UP);
		sw = b.w.s->ports[b.w.s->local_port].peer;
		info = sim_port_info(b.w.sim, sw);
		assert_int_equal(info->enforce_inbound, can & 1);
		assert_int_equal(info->enforce_outbound, can >> 1);
		assert_int_equal(b.w.sim->ports[sw].tables != NULL, can != 0);
		assert_rules_hold(&b);
		assert_quiet(&b);
		bench_close(&b);
	}
}

static void
test_a_member_costs_two_mads(void **state)
{
	struct bench b;
	uint64_t sent, ends;

	bench_up(&b);
	for (unsigned round = 0; round < 2; round++) {
		struct mad_client_stats before = *mad_client_stats(b.w.m.x);

		rules_begin(&b);
		add_host(&b, RED, 5, round ? PARTITION_NONE : PARTITION_FULL);
		ends = b.w.m.ends;
		rules_end(&b);
		sim_run(b.w.sim, sim_now(b.w.sim) + SECOND / 2);
		assert_int_equal(b.w.m.ends, ends + 1);
		assert_int_equal(b.w.m.last, SWEEP_END_UP);
		sent = mad_client_stats(b.w.m.x)->sent - before.sent;
		assert_int_equal(sets_of(&b, MAD_ATTR_PKEY_TABLE) -
				 before.sets[MAD_ATTR_PKEY_TABLE], 2);
		assert_int_equal(sent, 2);
		assert_int_equal(sim_table_has_pkey(b.w.sim, host(&b, 5),
						    RED | PKEY_FULL), !round);
		assert_int_equal(sim_table_has_pkey(b.w.sim, gate(&b, 5),
						    RED | PKEY_FULL), !round);
	}
	bench_close(&b);
}

/* At any moment of a sweep that is under way. */
static void
test_rules_that_change_during_a_sweep_hold(void **state)
{
	struct bench b;

	bench_up(&b);
	for (unsigned i = 0; i < 40; i++) {
		rules_begin(&b);
		add_host(&b, RED, i % 9, PARTITION_FULL);
		add_host(&b, RED, (i + 4) % 9, PARTITION_NONE);
		sweep_request(b.w.m.sweep, SWEEP_CAUSE_SIGNAL);
		sim_run(b.w.sim, sim_now(b.w.sim) + 50000 + i * 50);
		rules_end(&b);
		settle(&b, SWEEP_END_UP);
		assert_rules_hold(&b);
	}
	bench_close(&b);
}

static void
test_host_that_comes_later_gets_its_keys(void **state)
{
	struct bench b;

	bench_up(&b);
	sim_node_off(b.w.sim, b.w.s->ports[host(&b, 7)].node);
	settle(&b, SWEEP_END_UP);
	rules_begin(&b);
	add_host(&b, BLUE, 7, PARTITION_FULL);
	add_host(&b, BLUE, 8, PARTITION_LIMITED);
	rules_end(&b);
	settle(&b, SWEEP_END_UP);
	assert_rules_hold(&b);
	sim_node_on(b.w.sim, b.w.s->ports[host(&b, 7)].node);
	settle(&b, SWEEP_END_UP);
	assert_true(sim_table_has_pkey(b.w.sim, host(&b, 7),
				       BLUE | PKEY_FULL));
	assert_rules_hold(&b);
	bench_close(&b);
}

/* Says no to every Set of a P_Key table at one node. */
static bool
refuse_pkeys(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	const struct bench *b = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (node == b->w.s->ports[host(b, 3)].node &&
	    h.attr_id == MAD_ATTR_PKEY_TABLE && h.attr_mod == 0 &&
	    sim_now(sim) > 0)
		answer[5] = MAD_STATUS_BAD_VALUE;
	return true;
}

static void
test_refused_table_keeps_its_link_down(void **state)
{
	struct bench b;

	bench_open(&b);
	bench_start(&b);
	sim_set_liar(b.w.sim, refuse_pkeys, &b);
	settle(&b, SWEEP_END_NOT_UP);
	for (unsigned i = 0; i < b.hosts->len; i++) {
		assert_int_equal(sim_port_info(b.w.sim, host(&b, i))->state,
				 i == 3 ? PORT_STATE_INIT :
				 PORT_STATE_ACTIVE);
		assert_int_equal(sim_port_info(b.w.sim, gate(&b, i))->state,
				 i == 3 ? PORT_STATE_INIT :
				 PORT_STATE_ACTIVE);
	}
	sim_set_liar(b.w.sim, NULL, NULL);
	sim_run(b.w.sim, sim_now(b.w.sim) + 3 * SECOND);
	settle(&b, SWEEP_END_UP);
	assert_rules_hold(&b);
	bench_close(&b);
}

static void
test_refused_table_of_an_active_port_leaves_it_active(void **state)
{
	struct bench b;

	bench_open(&b);
	b.params.isolation.rules = NULL;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	sim_set_liar(b.w.sim, refuse_pkeys, &b);
	rules_end(&b);
	settle(&b, SWEEP_END_NOT_UP);
	assert_int_equal(sim_port_info(b.w.sim, host(&b, 3))->state,
			 PORT_STATE_ACTIVE);
	assert_enforces(&b, 2, true);
	assert_enforces(&b, 3, false);
	sim_set_liar(b.w.sim, NULL, NULL);
	sim_run(b.w.sim, sim_now(b.w.sim) + 3 * SECOND);
	settle(&b, SWEEP_END_UP);
	assert_enforces(&b, 3, true);
	bench_close(&b);
}

static void
test_enforcement_ends_with_the_rules(void **state)
{
	struct bench b;
	uint64_t sets;

	bench_up(&b);
	assert_enforces(&b, 1, true);
	partition_rules_unref(b.rules);
	b.rules = partition_rules_default();
	rules_end(&b);
	settle(&b, SWEEP_END_UP);
	for (unsigned i = 0; i < b.hosts->len; i++)
		assert_enforces(&b, i, false);
	assert_rules_hold(&b);
	sets = mad_client_stats(b.w.m.x)->sent_set;
	rules_end(&b);
	settle(&b, SWEEP_END_UP);
	assert_int_equal(mad_client_stats(b.w.m.x)->sent_set, sets);
	bench_close(&b);
}

/* It keeps them for the day when it is the master. */
static void
test_standby_keeps_other_partitions_for_later(void **state)
{
	struct manager *second = g_new0(struct manager, 1);
	unsigned ends;
	struct bench b;

	bench_open(&b);
	partition_rules_unref(b.rules);
	b.rules = partition_rules_default();
	b.params.isolation.rules = b.rules;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	manager_open(second, b.w.sim, b.w.s->local_port == host(&b, 4) ?
		     host(&b, 5) : host(&b, 4), 9, &b.params);
	sim_run(b.w.sim, sim_now(b.w.sim) + 5 * SECOND);
	assert_int_equal(second->last, SWEEP_END_UP);
	assert_int_equal(b.w.m.last, SWEEP_END_STANDBY);

	rules_begin(&b);
	add_host(&b, RED, 1, PARTITION_FULL);
	add_host(&b, RED, 2, PARTITION_LIMITED);
	ends = b.w.m.ends;
	rules_end(&b);
	sim_run(b.w.sim, sim_now(b.w.sim) + 3 * SECOND);
	assert_int_equal(b.w.m.ends, ends);
	assert_false(sim_table_has_pkey(b.w.sim, host(&b, 1),
					RED | PKEY_FULL));

	manager_close(second);
	g_free(second);
	sim_run(b.w.sim, sim_now(b.w.sim) + 10 * SECOND);
	settle(&b, SWEEP_END_UP);
	assert_rules_hold(&b);
	bench_close(&b);
}

/* ------------------------------------------------------ quality of service */

static void
test_qos_tables_are_written_once(void **state)
{
	struct sim_trace trace;
	struct bench b;
	uint32_t self;

	bench_open(&b);
	b.qos.enabled = true;
	b.qos.all.given = QOS_SL2VL;
	for (unsigned sl = 0; sl < SL_COUNT; sl++)
		b.qos.all.sl2vl[sl] = sl / 5;
	b.params.isolation.qos = &b.qos;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	assert_true(sets_of(&b, MAD_ATTR_SL2VL) > 0);
	assert_true(sets_of(&b, MAD_ATTR_VL_ARB) > 0);
	assert_quiet(&b);
	self = b.w.s->local_port;
	for (unsigned sl = 0; sl < SL_COUNT; sl++) {
		assert_int_equal(sim_probe(b.w.sim, self == host(&b, 0) ?
					   host(&b, 8) : host(&b, 0),
					   sim_port_info(b.w.sim, self)->lid,
					   PKEY_DEFAULT, sl, &trace),
				 SIM_DELIVERED);
		for (unsigned i = 0; i < trace.n; i++)
			assert_int_equal(trace.hop[i].vl, sl / 5);
	}
	bench_close(&b);
}

/* ----------------------------------------------------------------- clients */

static void
assert_told(const struct bench *b, unsigned hosts)
{
	for (uint32_t port = 0; port < b->w.s->n_ports; port++)
		if (snapshot_is_end_port(b->w.s, port) &&
		    b->told[port] != hosts)
			fail_msg("%s port %u was told %u times, not %u",
				 snapshot_node_of(b->w.s, port)->desc,
				 b->w.s->ports[port].num, b->told[port],
				 hosts);
}

static void
restart(struct bench *b, enum reregister_start clients)
{
	b->params.clients = clients;
	manager_close(&b->w.m);
	manager_open(&b->w.m, b->w.sim, b->w.s->local_port, 0, &b->params);
	settle(b, SWEEP_END_UP);
}

static void
test_clients_are_asked_once_to_register(void **state)
{
	struct bench b;

	bench_open(&b);
	b.params.clients = REREGISTER_FORGOTTEN;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	assert_told(&b, 1);
	sweep_request(b.w.m.sweep, SWEEP_CAUSE_SIGNAL);
	settle(&b, SWEEP_END_UP);
	sim_run(b.w.sim, sim_now(b.w.sim) + 10 * SECOND);
	assert_told(&b, 1);

	restart(&b, REREGISTER_KNOWN);
	assert_told(&b, 1);
	restart(&b, REREGISTER_NONE);
	assert_told(&b, 1);
	restart(&b, REREGISTER_FORGOTTEN);
	assert_told(&b, 2);
	bench_close(&b);
}

static void
test_host_that_comes_up_is_asked(void **state)
{
	struct bench b;

	bench_open(&b);
	b.params.clients = REREGISTER_KNOWN;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	assert_told(&b, 1);
	sim_link_flap(b.w.sim, host(&b, 6), 1, 5000, 5000);
	settle(&b, SWEEP_END_UP);
	assert_int_equal(b.told[host(&b, 6)], 2);
	b.told[host(&b, 6)] = 1;
	assert_told(&b, 1);
	bench_close(&b);
}

/* Calls fn for each cable between this leaf and another switch. */
static void
each_uplink(const struct bench *b, uint32_t leaf,
	    void (*fn)(struct sim *sim, uint32_t port))
{
	const struct snapshot_node *n = &b->w.s->nodes[leaf];

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t peer = b->w.s->ports[n->first_port + num].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(b->w.s, peer)))
			fn(b->w.sim, n->first_port + num);
	}
}

/* Its hosts have noticed nothing, and the SA has dropped what they had. */
static void
test_island_that_comes_back_is_asked(void **state)
{
	uint32_t leaf = SNAPSHOT_NONE, own;
	struct bench b;

	bench_open(&b);
	b.params.clients = REREGISTER_KNOWN;
	bench_start(&b);
	settle(&b, SWEEP_END_UP);
	own = b.w.s->ports[b.w.s->ports[b.w.s->local_port].peer].node;
	for (unsigned i = 0; i < b.hosts->len; i++)
		if (b.w.s->ports[gate(&b, i)].node != own)
			leaf = b.w.s->ports[gate(&b, i)].node;
	each_uplink(&b, leaf, sim_link_cut);
	settle(&b, SWEEP_END_UP);
	assert_told(&b, 1);
	each_uplink(&b, leaf, sim_link_mend);
	settle(&b, SWEEP_END_UP);
	for (unsigned i = 0; i < b.hosts->len; i++)
		assert_int_equal(b.told[host(&b, i)],
				 b.w.s->ports[gate(&b, i)].node == leaf ?
				 2 : 1);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_rules_change_no_table),
		cmocka_unit_test(test_rules_decide_who_talks),
		cmocka_unit_test(test_switches_enforce_the_same_keys),
		cmocka_unit_test(test_switches_enforce_what_they_can),
		cmocka_unit_test(test_a_member_costs_two_mads),
		cmocka_unit_test(test_rules_that_change_during_a_sweep_hold),
		cmocka_unit_test(test_host_that_comes_later_gets_its_keys),
		cmocka_unit_test(test_refused_table_keeps_its_link_down),
		cmocka_unit_test(
			test_refused_table_of_an_active_port_leaves_it_active),
		cmocka_unit_test(test_enforcement_ends_with_the_rules),
		cmocka_unit_test(
			test_standby_keeps_other_partitions_for_later),
		cmocka_unit_test(test_qos_tables_are_written_once),
		cmocka_unit_test(test_clients_are_asked_once_to_register),
		cmocka_unit_test(test_host_that_comes_up_is_asked),
		cmocka_unit_test(test_island_that_comes_back_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
