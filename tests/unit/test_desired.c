// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the SM wants of one port or switch, part by part: end port, end of a
 * cable, output of a switch.
 */
#include <string.h>

#include "tests/lib/plan_lab.h"
#include "tests/lib/unit.h"

#define ALL_FIELDS	(0x7fffu | PORT_FIELDS_TRAINING)
#define END_PORT_FIELDS	(PORT_FIELD_LID | PORT_FIELD_LMC | \
			 PORT_FIELD_SM_LID | PORT_FIELD_SM_SL | \
			 PORT_FIELD_M_KEY | PORT_FIELD_M_KEY_PROTECT | \
			 PORT_FIELD_M_KEY_LEASE | PORT_FIELD_GID_PREFIX | \
			 PORT_FIELD_SUBNET_TIMEOUT)

TEST(test_names_are_there_for_every_bit)
{
	for (unsigned bit = 1; bit <= PORT_FIELD_SPEED_EXT; bit <<= 1) {
		assert_string_not_equal(port_field_name(bit), "?");
		for (unsigned b = 1; b < bit; b <<= 1)
			assert_string_not_equal(port_field_name(b),
						port_field_name(bit));
	}
	assert_string_equal(port_field_name(1u << 21), "?");
	assert_string_equal(port_field_name(3), "?");
}

TEST(test_differ_tells_each_field_from_the_others)
{
	const struct port_info zero = { 0 };
	const struct {
		unsigned bit;
		struct port_info info;
	} cases[] = {
		{ PORT_FIELD_LID, { .lid = 1 } },
		{ PORT_FIELD_LMC, { .lmc = 1 } },
		{ PORT_FIELD_SM_LID, { .sm_lid = 1 } },
		{ PORT_FIELD_SM_SL, { .sm_sl = 1 } },
		{ PORT_FIELD_M_KEY, { .m_key = 1ull << 63 } },
		{ PORT_FIELD_M_KEY_PROTECT, { .m_key_protect = 1 } },
		{ PORT_FIELD_M_KEY_LEASE, { .m_key_lease = 1 } },
		{ PORT_FIELD_GID_PREFIX, { .gid_prefix = 1ull << 63 } },
		{ PORT_FIELD_SUBNET_TIMEOUT, { .subnet_timeout = 1 } },
		{ PORT_FIELD_MTU, { .neighbor_mtu = 1 } },
		{ PORT_FIELD_OPER_VLS, { .oper_vls = 1 } },
		{ PORT_FIELD_HOQ_LIFE, { .hoq_life = 1 } },
		{ PORT_FIELD_VL_STALL, { .vl_stall_count = 1 } },
		{ PORT_FIELD_ERROR_THRESHOLDS, { .local_phy_errors = 1 } },
		{ PORT_FIELD_ERROR_THRESHOLDS, { .overrun_errors = 1 } },
		{ PORT_FIELD_STATE, { .state = 1 } },
		{ PORT_FIELD_WIDTH, { .width_enabled = 1 } },
		{ PORT_FIELD_SPEED, { .speed_enabled = 1 } },
		{ PORT_FIELD_SPEED_EXT, { .speed_ext_enabled = 1 } },
		{ 0, { .p_key_violations = 1, .cap_mask = 1 } },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct port_info *info = &cases[i].info;
		unsigned bit = cases[i].bit;

		assert_int_equal(port_fields_differ(&zero, info, ALL_FIELDS),
				 bit);
		assert_int_equal(port_fields_differ(info, &zero, bit), bit);
		assert_int_equal(port_fields_differ(info, &zero,
						    ALL_FIELDS & ~bit), 0);
	}
}

TEST(test_defaults_are_those_of_opensm)
{
	assert_int_equal(policy_default.m_key, 0);
	assert_true(policy_default.gid_prefix == 0xfe80000000000000ull);
	assert_int_equal(policy_default.subnet_timeout, 18);
	assert_int_equal(policy_default.packet_life_time, 18);
	assert_int_equal(policy_default.hoq_life, 18);
	assert_int_equal(policy_default.leaf_hoq_life, 16);
	assert_int_equal(policy_default.vl_stall, 7);
	assert_int_equal(policy_default.leaf_vl_stall, 7);
	assert_int_equal(policy_default.max_oper_vls, 5);
	assert_int_equal(policy_default.local_phy_errors, 8);
	assert_int_equal(policy_default.overrun_errors, 8);
}

TEST(test_host_port_gets_all_that_an_end_port_has,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info out;
	unsigned fields;

	f->policy.m_key = 0x1234;
	f->policy.m_key_protect = 2;
	f->policy.m_key_lease = 60;
	f->policy.sm_sl = 3;
	f->policy.gid_prefix = 0xfec0000000000000ull;
	f->policy.subnet_timeout = 17;
	f->lids->lmc[f->host] = 2;
	fields = desired_port(f->s, &f->w, f->host, &out);
	assert_int_equal(fields & END_PORT_FIELDS, END_PORT_FIELDS);
	assert_int_equal(out.lid, f->lids->base[f->host]);
	assert_int_equal(out.lmc, 2);
	assert_int_equal(out.sm_lid, f->w.sm_lid);
	assert_int_equal(out.sm_sl, 3);
	assert_int_equal(out.m_key, 0x1234);
	assert_int_equal(out.m_key_protect, 2);
	assert_int_equal(out.m_key_lease, 60);
	assert_true(out.gid_prefix == 0xfec0000000000000ull);
	assert_int_equal(out.subnet_timeout, 17);
	/* A host has no output queue of a switch. */
	assert_int_equal(fields & (PORT_FIELD_HOQ_LIFE | PORT_FIELD_VL_STALL),
			 0);
}

TEST(test_lease_is_left_alone_where_no_key_is, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info *seen = &f->s->ports[f->host].info, out;
	unsigned key = PORT_FIELD_M_KEY | PORT_FIELD_M_KEY_PROTECT |
		PORT_FIELD_M_KEY_LEASE;

	seen->m_key_lease = 4089;
	seen->m_key_protect = 1;
	assert_int_equal(desired_port(f->s, &f->w, f->host, &out) & key, 0);
	assert_int_equal(out.m_key_lease, 4089);
	/* A key of somebody else's is taken away with all that it had. */
	seen->m_key = 7;
	assert_int_equal(desired_port(f->s, &f->w, f->host, &out) & key, key);
	assert_int_equal(out.m_key, 0);
	assert_int_equal(out.m_key_lease, 0);
}

TEST(test_switch_port0_has_lid_but_no_link, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info out;
	unsigned fields;

	f->s->ports[f->port0].info.neighbor_mtu = 1;
	f->s->ports[f->port0].info.state = PORT_STATE_NOP;
	fields = desired_port(f->s, &f->w, f->port0, &out);
	assert_int_equal(fields, PORT_FIELD_LID | PORT_FIELD_SM_LID);
	assert_int_equal(out.lid, f->lids->base[f->port0]);
	assert_int_equal(out.neighbor_mtu, 1);
}

TEST(test_external_switch_port_has_no_lid, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info out;

	f->policy.m_key = 0x1234;
	f->policy.gid_prefix = 1;
	f->policy.subnet_timeout = 1;
	assert_int_equal(desired_port(f->s, &f->w, f->up, &out) &
			 END_PORT_FIELDS, 0);
	assert_int_equal(out.lid, 0);
	assert_int_equal(out.m_key, 0);
}

TEST(test_output_to_host_has_shorter_life_than_to_switch,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info out;

	f->policy.vl_stall = 6;
	f->policy.leaf_vl_stall = 5;
	desired_port(f->s, &f->w, f->gate, &out);
	assert_int_equal(out.hoq_life, 16);
	assert_int_equal(out.vl_stall_count, 5);
	desired_port(f->s, &f->w, f->up, &out);
	assert_int_equal(out.hoq_life, 18);
	assert_int_equal(out.vl_stall_count, 6);
}

TEST(test_link_takes_the_lesser_of_both_ends, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info *near = &f->s->ports[f->gate].info;
	struct port_info *far = &f->s->ports[f->host].info;
	struct port_info out;
	unsigned fields;

	near->mtu_cap = 5;
	far->mtu_cap = 4;
	near->vl_cap = 3;
	far->vl_cap = 5;
	near->oper_vls = far->oper_vls = 5;
	for (unsigned i = 0; i < 2; i++) {
		fields = desired_port(f->s, &f->w, i ? f->host : f->gate, &out);
		assert_true(fields & PORT_FIELD_MTU);
		assert_true(fields & PORT_FIELD_OPER_VLS);
		assert_int_equal(out.neighbor_mtu, 4);
		assert_int_equal(out.oper_vls, 3);
	}
	f->policy.max_oper_vls = 1;
	desired_port(f->s, &f->w, f->gate, &out);
	assert_int_equal(out.oper_vls, 1);
}

TEST(test_operational_vls_stay_on_an_active_port,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info *near = &f->s->ports[f->gate].info;
	struct port_info out;

	near->vl_cap = 2;
	near->oper_vls = 4;
	near->state = PORT_STATE_ARMED;
	assert_true(desired_port(f->s, &f->w, f->gate, &out) &
		    PORT_FIELD_OPER_VLS);
	near->state = PORT_STATE_ACTIVE;
	assert_false(desired_port(f->s, &f->w, f->gate, &out) &
		     PORT_FIELD_OPER_VLS);
	assert_int_equal(out.oper_vls, 0);
}

TEST(test_capability_of_zero_changes_nothing, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info out;

	f->s->ports[f->host].info.mtu_cap = 0;
	f->s->ports[f->host].info.vl_cap = 0;
	assert_int_equal(desired_port(f->s, &f->w, f->gate, &out) &
			 (PORT_FIELD_MTU | PORT_FIELD_OPER_VLS), 0);
	assert_int_equal(out.neighbor_mtu, 5);
}

/* A port that was narrowed by hand is to train as it can again. */
TEST(test_enabled_widths_and_speeds_are_raised_to_what_is_supported,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info *seen = &f->s->ports[f->gate].info;
	struct port_info *host = &f->s->ports[f->host].info;
	unsigned before, fields;
	struct port_info out;

	before = desired_port(f->s, &f->w, f->gate, &out);
	assert_int_equal(before & PORT_FIELDS_TRAINING, 0);
	assert_int_equal(out.width_enabled, 0);
	assert_int_equal(out.speed_enabled, 0);
	assert_int_equal(out.speed_ext_enabled, 0);
	seen->width_enabled = 1;
	seen->speed_enabled = 1;
	seen->speed_ext_enabled = 30;		/* disabled */
	fields = desired_port(f->s, &f->w, f->gate, &out);
	assert_int_equal(fields, before | PORT_FIELDS_TRAINING);
	assert_int_equal(out.width_enabled, seen->width_supported);
	assert_int_equal(out.speed_enabled, seen->speed_supported);
	assert_int_equal(out.speed_ext_enabled, seen->speed_ext_supported);
	/* Extended speeds are for two that know them. */
	host->cap_mask &= ~PORT_CAP_HAS_EXT_SPEEDS;
	fields = desired_port(f->s, &f->w, f->gate, &out);
	assert_int_equal(fields & PORT_FIELDS_TRAINING,
			 PORT_FIELD_WIDTH | PORT_FIELD_SPEED);
	assert_int_equal(out.speed_ext_enabled, 0);
	/* What is not said to be supported is not asked for. */
	seen->width_supported = seen->speed_supported = 0;
	fields = desired_port(f->s, &f->w, f->gate, &out);
	assert_int_equal(fields & PORT_FIELDS_TRAINING, 0);
}

TEST(test_half_a_link_is_left_alone, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct snapshot_port *host = &f->s->ports[f->host];
	struct port_info out;

	f->policy.hoq_life = f->policy.leaf_hoq_life = 3;
	f->policy.overrun_errors = 1;
	assert_int_not_equal(desired_port(f->s, &f->w, f->gate, &out), 0);
	host->known = false;
	assert_int_equal(desired_port(f->s, &f->w, f->gate, &out), 0);
	host->known = true;
	host->info.state = PORT_STATE_DOWN;
	assert_int_equal(desired_port(f->s, &f->w, f->gate, &out), 0);
	/* And a host's port that is down needs no LID. */
	assert_int_equal(desired_port(f->s, &f->w, f->host, &out), 0);
}

TEST(test_set_asks_for_no_change_of_the_rest, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info *seen = &f->s->ports[f->host].info;
	struct port_info out;

	seen->client_reregister = true;
	seen->p_key_violations = 7;
	seen->m_key_violations = 8;
	seen->cap_mask = 0xdeadbeef;
	desired_port(f->s, &f->w, f->host, &out);
	assert_int_equal(out.state, 0);
	assert_int_equal(out.phys_state, 0);
	assert_int_equal(out.link_down_default, 0);
	assert_int_equal(out.width_enabled, 0);
	assert_int_equal(out.speed_enabled, 0);
	assert_int_equal(out.speed_ext_enabled, 0);
	assert_int_equal(out.oper_vls, 0);
	assert_false(out.client_reregister);
	assert_int_equal(out.p_key_violations, 7);
	assert_int_equal(out.m_key_violations, 8);
	assert_int_equal(out.cap_mask, 0xdeadbeef);
}

TEST(test_port_without_assignment_keeps_its_lid, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	struct port_info out;

	f->s->ports[f->host].info.lid = 77;
	f->s->ports[f->host].info.lmc = 1;
	f->lids->base[f->host] = 0;
	assert_int_equal(desired_port(f->s, &f->w, f->host, &out) &
			 (PORT_FIELD_LID | PORT_FIELD_LMC), 0);
	assert_int_equal(out.lid, 77);
	assert_int_equal(out.lmc, 1);
}

TEST(test_switch_top_ends_at_its_capability, fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	uint32_t node = f->s->ports[f->port0].node;
	struct switch_info *sw = &f->s->nodes[node].sw;
	struct switch_info out;

	sw->multicast_fdb_top = 0xcfff;
	assert_int_equal(desired_switch(f->s, &f->w, node, &out),
			 SWITCH_FIELD_TOP);
	assert_int_equal(out.linear_fdb_top, f->lft->top);
	sw->linear_fdb_cap = f->lft->top + 1;
	desired_switch(f->s, &f->w, node, &out);
	assert_int_equal(out.linear_fdb_top, f->lft->top);
	sw->linear_fdb_cap = f->lft->top;
	desired_switch(f->s, &f->w, node, &out);
	assert_int_equal(out.linear_fdb_top, f->lft->top - 1);
	sw->linear_fdb_cap = 0;
	assert_int_equal(desired_switch(f->s, &f->w, node, &out), 0);
}

TEST(test_switch_change_is_cleared_only_where_it_is_set,
     fabric_tree, fabric_tear_down)
{
	struct fabric *f = *state;
	uint32_t node = f->s->ports[f->port0].node;
	struct switch_info *sw = &f->s->nodes[node].sw;
	struct switch_info out;

	sw->linear_fdb_top = f->lft->top;
	sw->multicast_fdb_top = 0xcfff;
	sw->life_time = 3;
	assert_int_equal(desired_switch(f->s, &f->w, node, &out),
			 SWITCH_FIELD_LIFE_TIME);
	assert_int_equal(out.life_time, 18);
	assert_false(out.port_state_change);
	sw->port_state_change = true;
	assert_int_equal(desired_switch(f->s, &f->w, node, &out),
			 SWITCH_FIELD_LIFE_TIME | SWITCH_FIELD_CHANGE);
	assert_true(out.port_state_change);
}

/* OpenSM leaves a switch without a group at 0xbfff, others at a low block. */
TEST(test_multicast_top_is_the_end_of_the_table, fabric_tree, fabric_tear_down)
{
	static const struct {
		uint16_t cap, seen, wanted;
	} cases[] = {
		{ 4096, 0, 0xcfff }, { 4096, 0xbfff, 0xcfff },
		{ 4096, 0xc01f, 0xcfff }, { 4096, 0xcfff, 0xcfff },
		{ 1024, 0xcfff, 0xc3ff }, { 0, 0xbfff, 0xbfff },
		{ 16384, 0, 0xfffe },
	};
	struct fabric *f = *state;
	uint32_t node = f->s->ports[f->port0].node;
	struct switch_info *sw = &f->s->nodes[node].sw;
	struct switch_info out;

	sw->linear_fdb_top = f->lft->top;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		sw->multicast_fdb_cap = cases[i].cap;
		sw->multicast_fdb_top = cases[i].seen;
		assert_int_equal(desired_switch(f->s, &f->w, node, &out),
				 cases[i].seen == cases[i].wanted ? 0 :
				 SWITCH_FIELD_MCAST_TOP);
		assert_int_equal(out.multicast_fdb_top, cases[i].wanted);
	}
	/* Without the capability the bytes mean nothing. */
	f->s->ports[f->port0].info.cap_mask &= ~PORT_CAP_HAS_MCAST_FDB_TOP;
	sw->multicast_fdb_cap = 4096;
	sw->multicast_fdb_top = 0xbfff;
	assert_int_equal(desired_switch(f->s, &f->w, node, &out), 0);
	assert_int_equal(out.multicast_fdb_top, 0xbfff);
}
