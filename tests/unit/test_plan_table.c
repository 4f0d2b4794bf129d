// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The plan for tables of ports, and what goes with them in PortInfo. */
#include <string.h>

#include "tests/lib/plan_lab.h"
#include "tests/lib/unit.h"

/* The devices take all tables; how many blocks that was. */
static uint32_t
apply_tables(struct fabric *f)
{
	struct plan *plan = fabric_plan(f);
	uint32_t n = plan_count(plan, PLAN_TABLE);

	for (uint32_t i = plan->first[PLAN_TABLE];
	     i < plan->first[PLAN_TABLE + 1]; i++) {
		const struct plan_step *step = &plan->steps[i];

		port_tables_set(f->held, step->table, step->port, step->block,
				port_tables_get(f->w.tables, step->table,
						step->port, step->block));
	}
	plan_free(plan);
	return n;
}

static void
add_member(struct fabric *f, uint16_t pkey, uint32_t port,
	   enum partition_membership membership)
{
	const struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = f->s->ports[port].guid,
		.membership = membership, .line = 3,
	};

	g_array_append_val(partition_rules_get(f->params.rules, pkey)->rules,
			   rule);
}

/* 3 hosts and a port 0 of two blocks each; what is the same costs nothing. */
TEST(test_a_table_is_written_once, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;

	assert_int_equal(apply_tables(f), 8);
	fabric_isolate(f);
	assert_int_equal(apply_tables(f), 0);
}

TEST(test_a_member_costs_its_own_blocks_only, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	const struct plan_step *step;
	struct plan *plan;

	f->params.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT;
	add_member(f, 7, f->host, PARTITION_FULL);
	fabric_isolate(f);
	apply_tables(f);
	add_member(f, 9, f->host, PARTITION_FULL);
	fabric_isolate(f);
	plan = fabric_plan(f);
	assert_int_equal(plan_count(plan, PLAN_TABLE), 2);
	for (uint32_t i = 0; i < 2; i++) {
		step = &plan->steps[plan->first[PLAN_TABLE] + i];
		assert_int_equal(step->table, PORT_TABLE_PKEY);
		assert_int_equal(step->block, 0);
		assert_true(step->port == f->host || step->port == f->gate);
	}
	plan_free(plan);
}

TEST(test_what_is_not_wanted_is_left_alone, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	union port_block odd = { .vl = { 3 } };

	apply_tables(f);
	port_tables_set(f->held, PORT_TABLE_SL2VL, f->host, 0, &odd);
	port_tables_set(f->held, PORT_TABLE_PKEY, f->gate, 0, &odd);
	assert_int_equal(apply_tables(f), 0);
}

TEST(test_enforcement_is_a_field_of_the_gate, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info info;
	unsigned fields;

	f->params.enforce = PKEY_ENFORCE_IN;
	add_member(f, 7, f->host, PARTITION_FULL);
	fabric_isolate(f);
	fields = desired_port(f->s, &f->w, f->gate, &info);
	assert_true(fields & PORT_FIELD_ENFORCE);
	assert_true(info.enforce_inbound);
	assert_false(info.enforce_outbound);
	fields = desired_port(f->s, &f->w, f->host, &info);
	assert_false(fields & PORT_FIELD_ENFORCE);

	/* and it is taken back */
	f->s->ports[f->gate].info.enforce_inbound = true;
	f->params.enforce = 0;
	fabric_isolate(f);
	fields = desired_port(f->s, &f->w, f->gate, &info);
	assert_true(fields & PORT_FIELD_ENFORCE);
	assert_false(info.enforce_inbound);
}

TEST(test_qos_limits_the_vls, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	struct qos qos = { .enabled = true, .all = {
		.given = QOS_MAX_VLS | QOS_HIGH_LIMIT, .max_vls = 2,
		.high_limit = 9,
	} };
	struct port_info info;
	unsigned fields;

	f->s->ports[f->host].info.vl_cap = 4;
	f->s->ports[f->gate].info.vl_cap = 4;
	f->s->ports[f->host].info.oper_vls = 1;
	desired_port(f->s, &f->w, f->host, &info);
	assert_int_equal(info.oper_vls, 4);
	f->w.qos = &qos;
	fields = desired_port(f->s, &f->w, f->host, &info);
	assert_int_equal(info.oper_vls, 2);
	assert_int_equal(info.vl_high_limit, 9);
	assert_true(fields & PORT_FIELD_VL_HIGH_LIMIT);
}

TEST(test_clients_are_asked_to_register_if_they_can,
     fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	g_autofree uint8_t *again = g_new0(uint8_t, f->s->n_ports);
	struct port_info info;
	unsigned fields;

	again[f->host] = true;
	f->w.reregister = again;
	f->s->ports[f->host].info.cap_mask = PORT_CAP_HAS_CLIENT_REREGISTER;
	fields = desired_port(f->s, &f->w, f->host, &info);
	assert_true(fields & PORT_FIELD_REREGISTER);
	assert_true(info.client_reregister);
	f->s->ports[f->host].info.cap_mask = 0;
	fields = desired_port(f->s, &f->w, f->host, &info);
	assert_false(fields & PORT_FIELD_REREGISTER);
	assert_false(info.client_reregister);
}

/* By kind: does a step of this port tell its clients? */
static unsigned
telling_kinds(const struct fabric *f, uint32_t port)
{
	struct plan *plan = fabric_plan(f);
	unsigned kinds = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].port == port &&
		    plan->steps[i].fields & PORT_FIELD_REREGISTER)
			kinds |= 1u << plan->steps[i].kind;
	plan_free(plan);
	return kinds;
}

TEST(test_clients_are_told_when_the_port_is_up,
     fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	g_autofree uint8_t *again = g_new0(uint8_t, f->s->n_ports);
	struct port_info *info = &f->s->ports[f->host].info;

	again[f->host] = true;
	f->w.reregister = again;
	info->cap_mask = PORT_CAP_HAS_CLIENT_REREGISTER;
	info->state = f->s->ports[f->gate].info.state = PORT_STATE_INIT;
	assert_int_equal(telling_kinds(f, f->host), 1u << PLAN_ACTIVATE);
	info->state = PORT_STATE_ARMED;
	assert_int_equal(telling_kinds(f, f->host), 1u << PLAN_ACTIVATE);
	info->state = PORT_STATE_ACTIVE;
	assert_int_equal(telling_kinds(f, f->host), 1u << PLAN_PORT);
}

TEST(test_the_plan_says_who_gets_in_and_out, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	GString *out = g_string_new(NULL);
	union port_block b = { .pkeys = { 0xffff, 0x8005 } };
	struct plan *plan;

	apply_tables(f);
	port_tables_forget(f->held, PORT_TABLE_PKEY, f->host);
	port_tables_set(f->held, PORT_TABLE_PKEY, f->host, 0, &b);
	add_member(f, 7, f->host, PARTITION_LIMITED);
	fabric_isolate(f);
	plan = fabric_plan(f);
	plan_print(plan, f->s, &f->w, f->seen, f->held, false, out);
	assert_has(out->str, "2 blocks of ports' tables");
	assert_has(out->str, "  P_Key table of H-0 port 1 (0x");
	assert_has(out->str, "), block 0: + 0x0007, - 0x8005\n");
	assert_has(out->str, "), block 1: no keys\n");
	g_string_truncate(out, 0);
	plan_print(plan, f->s, &f->w, f->seen, f->held, true, out);
	assert_has(out->str, "\"port\":1,\"table\":\"P_Key table\",\"block\":0,"
		   "\"known\":true,\"added\":[\"0x0007\"],\"removed\":"
		   "[\"0x8005\"]}");
	assert_has(out->str, "\"known\":false,\"added\":[],\"removed\":[]}");
	plan_free(plan);
	g_string_free(out, TRUE);
}

TEST(test_vls_are_told_whole, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	GString *out = g_string_new(NULL);
	struct port_tables *wanted = port_tables_new(f->s);
	union port_block vl = { .vl = { 0, 1, 2 } };
	union port_block arb = { .bytes = { 1, 64, 2, 0, 3, 5 } };
	struct plan *plan;

	port_tables_set(wanted, PORT_TABLE_SL2VL, f->gate, 2, &vl);
	port_tables_set(wanted, PORT_TABLE_VL_ARB, f->gate, VL_ARB_HIGH_1,
			&arb);
	f->w.tables = wanted;
	plan = fabric_plan(f);
	plan_print(plan, f->s, &f->w, f->seen, f->held, false, out);
	assert_has(out->str, "from port 2: VLs by SL not known -> "
		   "0,1,2,0,0,0,0,0,0,0,0,0,0,0,0,0\n");
	assert_has(out->str, "high priority, first half: VL:weight not known "
		   "-> 1:64,3:5\n");
	plan_free(plan);
	g_string_free(out, TRUE);
	port_tables_unref(wanted);
}

TEST(test_strangers_are_notes, fabric_single, fabric_tear_down)
{
	struct fabric *f = *state;
	const struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = 0xdead, .line = 12,
		.membership = PARTITION_FULL,
	};

	f->params.rules->source = g_strdup("p.conf");
	g_array_append_val(partition_rules_get(f->params.rules, 5)->rules,
			   rule);
	fabric_isolate(f);
	assert_int_equal(f->isolation->notes->len, 1);
	assert_string_equal(f->isolation->notes->pdata[0],
			    "p.conf:12: port 0x000000000000dead is not on the "
			    "fabric");
}
