// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plan: what becomes a step, in which order, and that a fabric that is as
 * wanted needs none.
 */
#include <string.h>

#include "tests/lib/plan_lab.h"
#include "tests/lib/unit.h"

static const struct plan_step *
find_port_step(const struct plan *plan, enum plan_kind kind, uint32_t port)
{
	for (uint32_t i = plan->first[kind]; i < plan->first[kind + 1]; i++)
		if (plan->steps[i].port == port)
			return &plan->steps[i];
	return NULL;
}

/* What an honest device makes of a Set: "no change" for zeros. */
static void
port_take(struct port_info *have, const struct port_info *set, unsigned state)
{
	struct port_info now = *set;

	now.state = state ? state : have->state;
	now.phys_state = have->phys_state;
	now.link_down_default = have->link_down_default;
	now.width_enabled = have->width_enabled;
	now.speed_enabled = have->speed_enabled;
	now.speed_ext_enabled = have->speed_ext_enabled;
	if (set->oper_vls == 0)
		now.oper_vls = have->oper_vls;
	*have = now;
}

static void
step_take(struct fabric *f, const struct snapshot *before,
	  const struct plan_step *step)
{
	struct switch_info *sw = &f->s->nodes[step->node].sw;
	struct switch_info wanted_sw;
	struct port_info wanted;

	switch ((enum plan_kind)step->kind) {
	case PLAN_CHANGE_CLEAR:
		sw->port_state_change = false;
		break;
	case PLAN_SWITCH:
		desired_switch(before, &f->w, step->node, &wanted_sw);
		wanted_sw.port_state_change = sw->port_state_change;
		*sw = wanted_sw;
		break;
	case PLAN_LFT:
		lft_seen_set(f->seen, f->s->nodes[step->node].sw_index,
			     step->block,
			     lft_row(f->lft, f->s->nodes[step->node].sw_index) +
			     step->block * LFT_BLOCK);
		break;
	case PLAN_TABLE:
		fail_msg("tables are test_plan_table.c's");
		break;
	case PLAN_PORT:
		desired_port(before, &f->w, step->port, &wanted);
		port_take(&f->s->ports[step->port].info, &wanted, 0);
		break;
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		desired_port(before, &f->w, step->port, &wanted);
		port_take(&f->s->ports[step->port].info, &wanted,
			  step->kind == PLAN_ARM ? PORT_STATE_ARMED :
			  PORT_STATE_ACTIVE);
		break;
	case PLAN_N_KINDS:
		fail();
	}
}

/* Carries the plan out as it stands. Returns the number of steps. */
static uint32_t
apply(struct fabric *f)
{
	struct snapshot *before = snapshot_copy(f->s);
	struct plan *plan = fabric_plan(f);
	uint32_t n = plan->n_steps;

	for (uint32_t i = 0; i < n; i++)
		step_take(f, before, &plan->steps[i]);
	plan_free(plan);
	snapshot_unref(before);
	return n;
}

static void
assert_sorted(const struct plan *plan)
{
	assert_int_equal(plan->first[0], 0);
	assert_int_equal(plan->first[PLAN_N_KINDS], plan->n_steps);
	for (unsigned k = 0; k < PLAN_N_KINDS; k++)
		for (uint32_t i = plan->first[k]; i < plan->first[k + 1]; i++)
			assert_int_equal(plan->steps[i].kind, k);
	for (uint32_t i = 1; i < plan->n_steps; i++) {
		const struct plan_step *a = &plan->steps[i - 1], *b = a + 1;

		if (a->kind != b->kind)
			continue;
		assert_true(a->node <= b->node);
		if (a->node < b->node)
			continue;
		if (a->kind == PLAN_LFT)
			assert_true(a->block < b->block);
		else
			assert_true(a->port < b->port);
	}
}

TEST(test_fresh_tree_gets_every_step_it_needs)
{
	struct fabric *f = fabric_new("PGFT(4,4;1,2)");
	struct plan *plan;

	f->s->nodes[f->sw].sw.port_state_change = true;
	plan = fabric_plan(f);
	/* 6 switches, 16 hosts, 24 cables, 22 LIDs: one block. */
	assert_int_equal(plan_count(plan, PLAN_CHANGE_CLEAR), 1);
	assert_int_equal(plan_count(plan, PLAN_PORT), 6);
	assert_int_equal(plan_count(plan, PLAN_LFT), 6);
	assert_int_equal(plan_count(plan, PLAN_SWITCH), 6);
	assert_int_equal(plan_count(plan, PLAN_ARM), 48);
	assert_int_equal(plan_count(plan, PLAN_ACTIVATE), 48);
	assert_sorted(plan);
	assert_int_equal(plan->steps[0].node, f->sw);
	plan_free(plan);
	fabric_free(f);
}

TEST(test_plan_is_empty_after_it_was_carried_out)
{
	static const char *const specs[] = {
		"PGFT(4,4;1,2)", "PGFT(3,3,3;1,2,3)", "ring(5;2)",
		"torus(3,3;2)", "single(70)", "random(9,3,4)", "rails(4;6,2)",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct fabric *f = fabric_new(specs[i]);

		f->policy.m_key = 99;
		f->policy.max_oper_vls = 2;
		f->s->nodes[f->sw].sw.port_state_change = true;
		assert_int_not_equal(apply(f), 0);
		assert_int_equal(apply(f), 0);
		assert_int_equal(f->s->ports[f->gate].info.state,
				 PORT_STATE_ACTIVE);
		assert_int_equal(f->s->ports[f->host].info.oper_vls, 2);
		fabric_free(f);
	}
}

TEST(test_pair_without_switch_is_planned)
{
	struct fabric *f = fabric_new("pair()");
	struct plan *plan = fabric_plan(f);

	assert_int_equal(plan->n_steps, 4);
	assert_int_equal(plan_count(plan, PLAN_ARM), 2);
	plan_free(plan);
	apply(f);
	assert_int_equal(apply(f), 0);
	fabric_free(f);
}

TEST(test_only_the_block_that_differs_is_a_step)
{
	struct fabric *f = fabric_new("single(200)");
	uint8_t block[LFT_BLOCK];
	struct plan *plan;

	apply(f);
	memcpy(block, lft_row(f->lft, 0) + 2 * LFT_BLOCK, LFT_BLOCK);
	block[63] ^= 1;
	lft_seen_set(f->seen, 0, 2, block);
	plan = fabric_plan(f);
	assert_int_equal(plan->n_steps, 1);
	assert_int_equal(plan->steps[0].kind, PLAN_LFT);
	assert_int_equal(plan->steps[0].node, f->sw);
	assert_int_equal(plan->steps[0].block, 2);
	plan_free(plan);

	/* Nothing known: all four of them, 201 LIDs and the empty LID 0. */
	plan = plan_diff(f->s, &f->w, NULL, NULL, NULL);
	assert_int_equal(plan->n_steps, 4);
	assert_sorted(plan);
	plan_free(plan);
	fabric_free(f);
}

TEST(test_last_block_counts_even_for_one_lid)
{
	struct fabric *f = fabric_new("single(63)");
	struct plan *plan = fabric_plan(f);

	assert_int_equal(f->lft->top, LFT_BLOCK);
	assert_int_equal(plan_count(plan, PLAN_LFT), 2);
	plan_free(plan);
	fabric_free(f);
}

TEST(test_blocks_past_the_capability_make_no_step)
{
	struct fabric *f = fabric_new("single(200)");
	struct plan *plan;
	uint8_t block[LFT_BLOCK];

	f->s->nodes[f->sw].sw.linear_fdb_cap = 100;
	plan = fabric_plan(f);
	assert_int_equal(plan_count(plan, PLAN_LFT), 2);
	plan_free(plan);
	apply(f);
	assert_int_equal(f->s->nodes[f->sw].sw.linear_fdb_top, 99);

	/* Entries that the switch does not have read as anything... */
	memcpy(block, lft_row(f->lft, 0) + LFT_BLOCK, LFT_BLOCK);
	block[100 - LFT_BLOCK] ^= 1;
	lft_seen_set(f->seen, 0, 1, block);
	assert_int_equal(apply(f), 0);
	/* ...the last that it has does not. */
	block[99 - LFT_BLOCK] ^= 1;
	lft_seen_set(f->seen, 0, 1, block);
	assert_int_equal(apply(f), 1);

	f->s->nodes[f->sw].sw.linear_fdb_cap = 0;
	assert_int_equal(apply(f), 0);
	fabric_free(f);
}

TEST(test_what_is_not_known_gets_no_step, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct plan *plan;

	f->s->nodes[f->sw].sw_known = false;
	f->s->ports[f->host].known = false;
	plan = fabric_plan(f);
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];

		assert_int_not_equal(step->port, f->host);
		assert_int_not_equal(step->port, f->gate);
		if (step->kind == PLAN_LFT || step->kind == PLAN_SWITCH)
			assert_int_not_equal(step->node, f->sw);
	}
	assert_int_equal(plan_count(plan, PLAN_SWITCH), f->s->n_switches - 1);
	plan_free(plan);
}

TEST(test_link_with_one_end_down_gets_no_step, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct plan *plan;

	f->s->ports[f->host].info.state = PORT_STATE_DOWN;
	plan = fabric_plan(f);
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		assert_int_not_equal(plan->steps[i].port, f->host);
		assert_int_not_equal(plan->steps[i].port, f->gate);
	}
	plan_free(plan);
}

TEST(test_end_in_init_rises_whatever_the_other_is)
{
	static const unsigned peer_states[] = {
		PORT_STATE_INIT, PORT_STATE_ARMED, PORT_STATE_ACTIVE,
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(peer_states); i++) {
		struct fabric *f = fabric_new("PGFT(2,2;1,2)");
		struct plan *plan;
		unsigned peer = peer_states[i];

		apply(f);
		f->s->ports[f->host].info.state = PORT_STATE_INIT;
		f->s->ports[f->gate].info.state = peer;
		plan = fabric_plan(f);
		assert_non_null(find_port_step(plan, PLAN_ARM, f->host));
		assert_non_null(find_port_step(plan, PLAN_ACTIVATE, f->host));
		assert_true(!find_port_step(plan, PLAN_ARM, f->gate) ==
			    (peer != PORT_STATE_INIT));
		assert_true(!find_port_step(plan, PLAN_ACTIVATE, f->gate) ==
			    (peer == PORT_STATE_ACTIVE));
		assert_int_equal(plan_count(plan, PLAN_PORT), 0);
		plan_free(plan);
		fabric_free(f);
	}
}

TEST(test_init_port_gets_its_fields_with_the_arm,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	const struct plan_step *step;
	struct plan *plan;

	f->s->ports[f->host].info.neighbor_mtu = 1;
	plan = fabric_plan(f);
	assert_null(find_port_step(plan, PLAN_PORT, f->host));
	step = find_port_step(plan, PLAN_ARM, f->host);
	assert_non_null(step);
	assert_int_equal(step->fields, PORT_FIELD_LID | PORT_FIELD_SM_LID |
			 PORT_FIELD_MTU);
	plan_free(plan);

	/* Armed already: the fields need a step of their own. */
	f->s->ports[f->host].info.state = PORT_STATE_ARMED;
	plan = fabric_plan(f);
	assert_null(find_port_step(plan, PLAN_ARM, f->host));
	assert_non_null(find_port_step(plan, PLAN_PORT, f->host));
	assert_non_null(find_port_step(plan, PLAN_ACTIVATE, f->host));
	plan_free(plan);
}

TEST(test_forgotten_fields_are_no_difference, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	g_autofree uint32_t *forgotten = g_new0(uint32_t, f->s->n_ports);
	struct plan *plan, *left;

	apply(f);
	f->s->ports[f->host].info.m_key = 5;
	f->s->ports[f->host].info.neighbor_mtu = 1;
	forgotten[f->host] = PORT_FIELD_MTU;
	plan = plan_diff(f->s, &f->w, f->seen, NULL, forgotten);
	assert_int_equal(plan->n_steps, 1);
	assert_int_equal(plan->steps[0].fields, PORT_FIELD_M_KEY);
	plan_free(plan);

	forgotten[f->host] |= PORT_FIELD_M_KEY;
	plan = plan_diff(f->s, &f->w, f->seen, NULL, forgotten);
	assert_int_equal(plan->n_steps, 0);
	left = plan_left(plan, f->s, &f->w, f->seen, NULL);
	assert_int_equal(left->n_steps, 1);
	assert_int_equal(left->steps[0].fields, forgotten[f->host]);
	plan_free(left);
	plan_free(plan);

	/* But it still rises. */
	f->s->ports[f->host].info.state = PORT_STATE_INIT;
	plan = plan_diff(f->s, &f->w, f->seen, NULL, forgotten);
	assert_int_equal(plan->n_steps, 2);
	assert_int_equal(plan->steps[0].kind, PLAN_ARM);
	assert_int_equal(plan->steps[0].fields, 0);
	assert_int_equal(plan->steps[1].kind, PLAN_ACTIVATE);
	assert_int_equal(plan->steps[1].fields, 0);
	plan_free(plan);
}

/* A port's answer can change what its neighbour is to be. */
TEST(test_what_is_left_is_found_at_the_other_end, fabric_tree,
     fabric_tear_down)
{
	struct fabric *f = *state;
	struct plan *plan, *left;

	apply(f);
	f->s->ports[f->host].info.m_key = 5;
	plan = fabric_plan(f);
	assert_int_equal(plan->n_steps, 1);
	f->s->ports[f->host].info.mtu_cap--;
	left = plan_left(plan, f->s, &f->w, f->seen, f->held);
	assert_int_equal(left->n_steps, 2);
	assert_non_null(find_port_step(left, PLAN_PORT, f->gate));
	plan_free(left);
	plan_free(plan);
}

TEST(test_port_in_init_without_known_peer_is_not_armed,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct snapshot_port *gate, *host;
	struct plan *plan;

	apply(f);
	gate = &f->s->ports[f->gate];
	host = &f->s->ports[f->host];
	gate->peer = host->peer = SNAPSHOT_NONE;
	gate->info.state = host->info.state = PORT_STATE_INIT;
	plan = fabric_plan(f);
	assert_int_equal(plan->n_steps, 0);
	plan_free(plan);
}

TEST(test_cable_from_a_switch_to_itself_comes_up,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct snapshot_port *gate;
	struct plan *plan;

	apply(f);
	gate = &f->s->ports[f->gate];
	f->s->ports[f->host].peer = SNAPSHOT_NONE;
	gate->peer = f->gate;
	gate->info.state = PORT_STATE_INIT;
	plan = fabric_plan(f);
	/* It leads to a switch now, hence another HOQLife. */
	assert_int_equal(plan->n_steps, 2);
	assert_int_equal(find_port_step(plan, PLAN_ARM, f->gate)->fields,
			 PORT_FIELD_HOQ_LIFE);
	assert_non_null(find_port_step(plan, PLAN_ACTIVATE, f->gate));
	plan_free(plan);
	apply(f);
	assert_int_equal(apply(f), 0);
}

/* Printing. */

static char *
print_text(const struct fabric *f)
{
	struct plan *plan = fabric_plan(f);
	GString *out = g_string_new(NULL);

	plan_print(plan, f->s, &f->w, f->seen, NULL, false, out);
	plan_free(plan);
	return g_string_free(out, FALSE);
}

static char *
print_json(const struct fabric *f)
{
	struct plan *plan = fabric_plan(f);
	GString *out = g_string_new(NULL);

	plan_print(plan, f->s, &f->w, f->seen, NULL, true, out);
	plan_free(plan);
	return g_string_free(out, FALSE);
}

TEST(test_text_of_the_empty_plan_says_so)
{
	struct fabric *f = fabric_new("single(3)");
	g_autofree char *text = NULL;

	apply(f);
	text = print_text(f);
	assert_string_equal(text, "plan: empty, the fabric is as wanted\n");
	fabric_free(f);
}

TEST(test_text_names_who_and_what)
{
	struct fabric *f = fabric_new("single(2)");
	g_autofree char *text = NULL;
	struct snapshot_port *host = &f->s->ports[f->host];
	char line[256];

	host->info.neighbor_mtu = 1;
	f->s->nodes[f->sw].sw.port_state_change = true;
	text = print_text(f);
	assert_has(text, "plan: 12 steps: 1 PortStateChange to clear, "
		   "1 PortInfo, 1 LFT block on 1 switch, 1 SwitchInfo, "
		   "4 ports to arm, 4 ports to activate\n");
	g_snprintf(line, sizeof(line), "  PortInfo of H-0 port 1 (0x%016"
		   G_GINT64_MODIFIER "x): LID 0 -> %u, SMLID 0 -> %u, "
		   "NeighborMTU 256 -> 4096; arm\n", host->guid,
		   f->w.sm_lid, f->w.sm_lid);
	assert_has(text, line);
	g_snprintf(line, sizeof(line), "  PortInfo of H-0 port 1 (0x%016"
		   G_GINT64_MODIFIER "x): activate\n", host->guid);
	assert_has(text, line);
	assert_has(text, "): clear PortStateChange\n");
	assert_has(text, "): LinearFDBTop 0 -> 3, "
		      "MulticastFDBTop 0x0000 -> 0xcfff\n");
	assert_has(text, "): block 0: 3 entries, not known so far\n");
	fabric_free(f);
}

TEST(test_text_puts_blocks_of_a_switch_in_one_line)
{
	struct fabric *f = fabric_new("single(250)");
	static const uint32_t touched[] = { 0, 1, 3 };
	g_autofree char *text = NULL;
	uint8_t block[LFT_BLOCK];

	apply(f);
	for (unsigned i = 0; i < G_N_ELEMENTS(touched); i++) {
		memcpy(block, lft_row(f->lft, 0) + touched[i] * LFT_BLOCK,
		       LFT_BLOCK);
		block[1] ^= 0x80;
		block[2] ^= 0x80;
		lft_seen_set(f->seen, 0, touched[i], block);
	}
	text = print_text(f);
	assert_has(text, "plan: 3 steps: 3 LFT blocks on 1 switch\n");
	assert_has(text, "): blocks 0-1, 3: 6 entries change\n");
	fabric_free(f);
}

TEST(test_text_groups_thousands)
{
	struct fabric *f = fabric_new("PGFT(18,18;1,9)");
	g_autofree char *text = print_text(f);

	/* 486 cables: 972 ends armed and activated; 27 switches with
	 * 27 port 0s, 351 LIDs in 6 blocks each, 27 tops. */
	assert_has(text, "plan: 2,160 steps: 27 PortInfos, "
		   "162 LFT blocks on 27 switches, 27 SwitchInfos, "
		   "972 ports to arm, 972 ports to activate\n");
	fabric_free(f);
}

TEST(test_switch_with_small_table_is_warned_about)
{
	struct fabric *f = fabric_new("single(200)");
	g_autofree char *text = NULL, *json = NULL;

	apply(f);
	f->s->nodes[f->sw].sw.linear_fdb_cap = 100;
	f->s->nodes[f->sw].sw.linear_fdb_top = 99;
	text = print_text(f);
	json = print_json(f);
	assert_has(text, "plan: empty");
	assert_has(text, "its LFT ends at LID 99, the subnet has LIDs up to "
		   "201\n");
	assert_has(json, "its LFT ends at LID 99, ");
	fabric_free(f);
}

TEST(test_print_never_shows_an_m_key)
{
	struct fabric *f = fabric_new("single(2)");
	g_autofree char *text = NULL, *json = NULL;

	f->policy.m_key = 0x5ec3e7;
	f->s->ports[f->host].info.m_key = 0x01d5ec3e7;
	text = print_text(f);
	json = print_json(f);
	assert_has(text, "M_Key (secret) -> (secret)");
	assert_has(json, "\"M_Key\":{\"from\":\"(secret)\"");
	assert_null(strstr(text, "5ec3e7"));
	assert_null(strstr(json, "5ec3e7"));
	assert_null(strstr(text, "6210535"));	/* in decimal */
	assert_null(strstr(json, "6210535"));
	fabric_free(f);
}

TEST(test_json_is_json_whatever_a_node_is_called,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	g_autofree char *json = NULL, *named = NULL, *empty = NULL;

	g_strlcpy(f->s->nodes[f->s->ports[f->host].node].desc,
		  "a\"b\\c\x01\xe9\x7f{}", NODE_DESC_LEN);
	f->s->nodes[f->sw].sw.port_state_change = true;
	json = print_json(f);
	assert_json(json);
	assert_has(json, "\"node\":\"a\\\"b\\\\c\\u0001\\u00e9\\u007f{}\"");
	assert_has(json, "\"PortStateChange\":{\"from\":1,\"to\":0}");
	assert_has(json, "\"arm\":16,\"activate\":16,\"total\":45}");
	/* and the name that its site gave it may be of any language */
	f->s->nodes[f->s->ports[f->host].node].name = "R\303\244ck \"1\"";
	named = print_json(f);
	assert_json(named);
	assert_has(named, "\"node\":\"R\303\244ck \\\"1\\\"\"");
	apply(f);
	empty = print_json(f);
	assert_json(empty);
	assert_has(empty, "\"total\":0}");
}

TEST(test_kinds_have_names_of_their_own)
{
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		assert_string_not_equal(plan_kind_name(k), "?");
		for (unsigned i = 0; i < k; i++)
			assert_string_not_equal(plan_kind_name(i),
						plan_kind_name(k));
	}
}
