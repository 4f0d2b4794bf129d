// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The agents of the simulated fabric: what IBA 14.2 lets a Get and a Set do.
 */
#include <string.h>

#include "sm/sim/state.h"
#include "sm/mad/bytes.h"
#include "tests/lib/sim_lab.h"
#include "tests/lib/unit.h"
#include "tests/lib/sim_script.h"

#define KEY	0x1122334455667788u

static unsigned
get(struct simlab *lab, uint32_t port, unsigned attr_id, uint32_t mod,
    uint8_t *data)
{
	memset(data, 0xa5, SMP_DATA_LEN);
	return simlab_ask(lab, port, MAD_METHOD_GET, attr_id, mod, data);
}

TEST(test_who_is_asked_says_who_it_is, simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	struct node_info info;
	uint32_t sw, ca;
	struct simlab *lab = *state;

	sw = simlab_end(lab, NODE_SWITCH, 0);
	ca = simlab_end(lab, NODE_CA, 2);
	assert_int_equal(get(lab, sw, MAD_ATTR_NODE_INFO, 0, data), 0);
	node_info_decode(data, &info);
	assert_int_equal(info.node_type, NODE_SWITCH);
	assert_int_equal(info.num_ports, 3);
	/* where the question came in */
	assert_int_equal(info.local_port, lab->s->ports[
			 lab->s->ports[lab->s->local_port].peer].num);
	assert_true(info.port_guid == lab->s->ports[sw].guid);
	assert_int_equal(get(lab, ca, MAD_ATTR_NODE_INFO, 0, data), 0);
	node_info_decode(data, &info);
	assert_int_equal(info.node_type, NODE_CA);
	assert_int_equal(info.local_port, 1);
	assert_true(info.port_guid == lab->s->ports[ca].guid);
	assert_int_equal(get(lab, ca, MAD_ATTR_NODE_DESC, 0, data), 0);
	assert_string_equal((char *)data,
			    snapshot_node_of(lab->s, ca)->desc);
}

/* C14-9: a CA lets a directed route out by the port that it names, which is
 * the port where it begins; and it passes on what others send to nobody. */
TEST(test_ca_is_no_way_through)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	static const struct dr_path paths[] = {
		{ .hops = 1, .port = { 0, 2 } },	/* the other rail */
		{ .hops = 1, .port = { 0, 3 } },	/* no such port */
		{ .hops = 3, .port = { 0, 1, 2, 1 } },
		{ .hops = 3, .port = { 0, 1, 2, 2 } },
	};
	uint8_t mad[MAD_SIZE];
	struct simlab lab;

	simlab_open(&lab, "rails(2;4,2)", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0,
				 0, &paths[i]);
		lab.answered = false;
		transport_send(lab.t, &to, mad, MAD_SIZE, LAB_TIMEOUT_MS,
			       NULL);
		assert_true(sim_run_idle(lab.sim, G_USEC_PER_SEC));
		assert_true(lab.answered);
		assert_int_equal(lab.status, LAB_SILENT);
		assert_int_equal(sim_stats(lab.sim)->lost[SIM_NO_LINK] +
				 sim_stats(lab.sim)->lost[SIM_NO_ROUTE],
				 i + 1);
	}
	assert_int_equal(sim_stats(lab.sim)->served, 0);
	simlab_close(&lab);
}

TEST(test_what_an_agent_does_not_have_is_refused,
     simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN] = { 0 };
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;
	uint32_t sw, ca;
	struct simlab *lab = *state;

	sw = simlab_end(lab, NODE_SWITCH, 0);
	ca = simlab_end(lab, NODE_CA, 1);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_NODE_INFO, 0, data),
			 MAD_STATUS_BAD_ATTRIBUTE);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_GET, 0x0099, 0, data),
			 MAD_STATUS_BAD_ATTRIBUTE);
	assert_int_equal(simlab_ask(lab, ca, MAD_METHOD_GET,
				    MAD_ATTR_SWITCH_INFO, 0, data),
			 MAD_STATUS_BAD_ATTRIBUTE);
	assert_int_equal(simlab_ask(lab, ca, MAD_METHOD_GET,
				    MAD_ATTR_LINEAR_FT, 0, data),
			 MAD_STATUS_BAD_ATTRIBUTE);
	assert_int_equal(simlab_ask(lab, sw, 0x12, MAD_ATTR_NODE_INFO, 0,
				    data),
			 MAD_STATUS_BAD_METHOD);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_GET,
				    MAD_ATTR_PORT_INFO, 4, data),
			 MAD_STATUS_BAD_VALUE);
	snapshot_path(lab->s, sw, &path);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &path);
	mad[2] = 2;		/* ClassVersion */
	lab->answered = false;
	transport_send(lab->t, &to, mad, MAD_SIZE, LAB_TIMEOUT_MS, NULL);
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_int_equal(lab->status, MAD_STATUS_BAD_VERSION);
}

/* --------------------------------------------------------------- PortInfo */

static void
put_state(struct simlab *lab, uint32_t port, unsigned state)
{
	sim_link_set_state(lab->sim, port, state);
}

TEST(test_port_states_change_by_the_rules_only)
{
	static const struct {
		uint8_t have, want;
		unsigned refused, accepted;	/* by enum sim_same_state */
		uint8_t then;
	} cases[] = {
		{ 2, 0, 0, 0, 2 }, { 2, 3, 0, 0, 3 }, { 2, 4, 0x1c, 0x1c, 2 },
		{ 2, 2, 0x1c, 0x1c, 2 }, { 3, 0, 0, 0, 3 },
		{ 3, 4, 0, 0, 4 }, { 3, 2, 0x1c, 0x1c, 3 },
		{ 3, 3, 0x1c, 0, 3 }, { 4, 3, 0x1c, 0x1c, 4 },
		{ 4, 4, 0x1c, 0, 4 }, { 4, 2, 0x1c, 0x1c, 4 },
		{ 4, 5, 0x1c, 0x1c, 4 }, { 4, 0, 0, 0, 4 },
		{ 4, 1, 0, 0, 1 }, { 3, 1, 0, 0, 1 }, { 2, 1, 0, 0, 1 },
	};

	for (unsigned i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
		struct sim_params params = sim_params_default;
		size_t c = i / 2;
		struct port_info want;
		uint32_t port;
		struct simlab lab;

		params.same_state = i % 2;
		simlab_open(&lab, "single(3)", &params);
		/* a switch port whose other end we do not ask through */
		port = sim_peer(lab.sim, simlab_end(&lab, NODE_CA, 2));
		put_state(&lab, port, cases[c].have);
		simlab_port_wish(&lab, port, &want);
		want.state = cases[c].want;
		assert_int_equal(simlab_set_port(&lab, port, &want),
				 i % 2 ? cases[c].accepted :
				 cases[c].refused);
		assert_int_equal(sim_port_info(lab.sim, port)->state,
				 cases[c].then);
		simlab_close(&lab);
	}
}

/* Each of these alone spoils the whole Set. */
TEST(test_one_bad_component_spoils_a_set, simlab_single, simlab_tear_down)
{
	static const struct {
		size_t offset;
		unsigned size, value;
	} bad[] = {
#define BAD(m, v) { G_STRUCT_OFFSET(struct port_info, m), \
		    sizeof(((struct port_info *)0)->m), v }
		BAD(lid, 0), BAD(lid, 0xc000), BAD(lid, 0xffff),
		BAD(sm_lid, 0), BAD(sm_lid, 0xc001),
		BAD(state, PORT_STATE_ACTIVE), BAD(state, 7),
		BAD(phys_state, PORT_PHYS_LINK_UP), BAD(phys_state, 7),
		BAD(link_down_default, 3), BAD(neighbor_mtu, 0),
		BAD(neighbor_mtu, 6), BAD(oper_vls, 6),
		BAD(width_enabled, 0x10), BAD(speed_enabled, 8),
		BAD(speed_ext_enabled, 4),
#undef BAD
	};
	struct port_info before, want;
	uint32_t port;
	struct simlab *lab = *state;

	port = simlab_end(lab, NODE_CA, 2);
	simlab_port_wish(lab, port, &want);
	want.lid = 9;
	assert_int_equal(simlab_set_port(lab, port, &want), MAD_STATUS_OK);
	before = *sim_port_info(lab->sim, port);
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		uint8_t *member = (uint8_t *)&want + bad[i].offset;
		uint16_t v16 = bad[i].value;

		simlab_port_wish(lab, port, &want);
		want.lid = 12;
		want.gid_prefix = 0x1234;
		want.subnet_timeout = 3;
		want.hoq_life = 1;
		if (bad[i].size == sizeof(v16))
			memcpy(member, &v16, sizeof(v16));
		else
			*member = bad[i].value;
		assert_int_equal(simlab_set_port(lab, port, &want),
				 MAD_STATUS_BAD_VALUE);
		assert_memory_equal(sim_port_info(lab->sim, port), &before,
				    sizeof(before));
	}
}

TEST(test_zero_changes_nothing_and_read_only_stays,
     simlab_single, simlab_tear_down)
{
	const struct port_info *have;
	struct port_info before, want;
	uint8_t data[SMP_DATA_LEN];
	uint32_t port;
	struct simlab *lab = *state;

	port = simlab_end(lab, NODE_CA, 2);
	assert_int_equal(get(lab, port, MAD_ATTR_PORT_INFO, 1, data), 0);
	simlab_port_wish(lab, port, &want);
	want.lid = 9;
	assert_int_equal(simlab_set_port(lab, port, &want), MAD_STATUS_OK);
	/* the answer, and the next one, say what it has become */
	port_info_decode(smp_data(lab->mad), &before);
	assert_int_equal(before.lid, 9);
	assert_int_equal(get(lab, port, MAD_ATTR_PORT_INFO, 0, data), 0);
	port_info_decode(data, &before);
	assert_int_equal(before.lid, 9);
	before = *sim_port_info(lab->sim, port);
	want.width_enabled = want.speed_enabled = want.speed_ext_enabled = 0;
	want.oper_vls = want.link_down_default = 0;
	/* read-only */
	want.cap_mask = 0xffffffff;
	want.cap_mask2 = 0xffff;
	want.mtu_cap = want.vl_cap = 1;
	want.width_supported = want.width_active = 16;
	want.local_port = 77;
	want.guid_cap = 1;
	want.enforce_inbound = true;	/* of a switch port only */
	assert_int_equal(simlab_set_port(lab, port, &want), MAD_STATUS_OK);
	have = sim_port_info(lab->sim, port);
	assert_memory_equal(have, &before, sizeof(before));
	/* "all" is what is supported */
	want.width_enabled = 255;
	want.speed_enabled = 15;
	want.speed_ext_enabled = 31;
	assert_int_equal(simlab_set_port(lab, port, &want), MAD_STATUS_OK);
	assert_int_equal(have->width_enabled, have->width_supported);
	assert_int_equal(have->speed_enabled, have->speed_supported);
	assert_int_equal(have->speed_ext_enabled, have->speed_ext_supported);
}

TEST(test_lid_and_lmc_are_for_end_ports, simlab_single, simlab_tear_down)
{
	struct port_info want;
	uint32_t ca, sw, ext;
	struct simlab *lab = *state;

	ca = simlab_end(lab, NODE_CA, 2);
	sw = simlab_end(lab, NODE_SWITCH, 0);
	ext = sim_peer(lab->sim, ca);
	simlab_port_wish(lab, ca, &want);
	want.lid = 0x1235;
	want.lmc = 2;
	assert_int_equal(simlab_set_port(lab, ca, &want), MAD_STATUS_OK);
	assert_int_equal(sim_port_info(lab->sim, ca)->lid, 0x1234);
	assert_int_equal(sim_port_info(lab->sim, ca)->lmc, 2);
	want.lid = 0xbfff;
	want.lmc = 1;
	assert_int_equal(simlab_set_port(lab, ca, &want),
			 MAD_STATUS_BAD_VALUE);
	/* a base port 0 has one LID and no link */
	simlab_port_wish(lab, sw, &want);
	want.lid = 21;
	want.lmc = 3;
	want.neighbor_mtu = 0;
	want.state = PORT_STATE_INIT;
	assert_int_equal(simlab_set_port(lab, sw, &want), MAD_STATUS_OK);
	assert_int_equal(sim_port_info(lab->sim, sw)->lid, 21);
	assert_int_equal(sim_port_info(lab->sim, sw)->lmc, 0);
	assert_int_equal(sim_port_info(lab->sim, sw)->state,
			 PORT_STATE_ACTIVE);
	/* an external port has none at all */
	simlab_port_wish(lab, ext, &want);
	want.lid = 77;
	want.m_key = KEY;
	want.enforce_inbound = true;
	assert_int_equal(simlab_set_port(lab, ext, &want), MAD_STATUS_OK);
	assert_int_equal(sim_port_info(lab->sim, ext)->lid, 0);
	assert_true(sim_port_info(lab->sim, ext)->m_key == 0);
	assert_true(sim_port_info(lab->sim, ext)->enforce_inbound);
}

static void
count_reregister(struct sim *sim, uint32_t port, void *data)
{
	uint32_t *told = data;

	told[0]++;
	told[1] = port;
}

TEST(test_client_reregister_is_echoed_once, simlab_single, simlab_tear_down)
{
	uint32_t told[2] = { 0, 0 };
	uint8_t data[SMP_DATA_LEN];
	struct port_info want, read;
	uint32_t port;
	struct simlab *lab = *state;

	sim_set_reregister(lab->sim, count_reregister, told);
	port = simlab_end(lab, NODE_CA, 2);
	simlab_port_wish(lab, port, &want);
	want.client_reregister = true;
	assert_int_equal(simlab_set_port(lab, port, &want), MAD_STATUS_OK);
	port_info_decode(smp_data(lab->mad), &read);
	assert_true(read.client_reregister);
	assert_int_equal(told[0], 1);
	assert_int_equal(told[1], port);
	assert_int_equal(get(lab, port, MAD_ATTR_PORT_INFO, 1, data), 0);
	port_info_decode(data, &read);
	assert_false(read.client_reregister);
}

/* ------------------------------------------------------------------ M_Key */

static void
protect(struct simlab *lab, uint32_t port, unsigned level, unsigned lease)
{
	struct port_info want;

	simlab_port_wish(lab, port, &want);
	want.m_key = KEY;
	want.m_key_protect = level;
	want.m_key_lease = lease;
	assert_int_equal(simlab_set_port(lab, port, &want), MAD_STATUS_OK);
}

TEST(test_m_key_protects_by_level)
{
	for (unsigned level = 0; level <= 3; level++) {
		uint8_t data[SMP_DATA_LEN], set[SMP_DATA_LEN];
		struct port_info want, read;
		bool hidden = level >= 2;
		uint32_t port;
		struct simlab lab;

		simlab_open(&lab, "single(3)", NULL);
		port = simlab_end(&lab, NODE_CA, 2);
		protect(&lab, port, level, 0);
		assert_int_equal(get(&lab, port, MAD_ATTR_PORT_INFO, 1, data),
				 hidden ? LAB_SILENT : MAD_STATUS_OK);
		if (!hidden) {
			port_info_decode(data, &read);
			assert_true(read.m_key == (level ? 0 : KEY));
		}
		assert_int_equal(sim_port_info(lab.sim, port)
				 ->m_key_violations, hidden);
		simlab_port_wish(&lab, port, &want);
		want.m_key = KEY + 1;
		port_info_encode(set, &want);
		memcpy(data, set, SMP_DATA_LEN);
		assert_int_equal(simlab_ask_key(&lab, port, MAD_METHOD_SET,
						MAD_ATTR_PORT_INFO, 1, KEY - 1,
						data), LAB_SILENT);
		assert_int_equal(sim_port_info(lab.sim, port)
				 ->m_key_violations, hidden + 1);
		assert_int_equal(simlab_ask_key(&lab, port, MAD_METHOD_SET,
						MAD_ATTR_PORT_INFO, 1, KEY, data),
				 MAD_STATUS_OK);
		assert_true(sim_port_info(lab.sim, port)->m_key == KEY + 1);
		simlab_close(&lab);
	}
}

/* Of a switch port 0 has the key. */
TEST(test_m_key_of_a_switch_guards_all_its_ports,
     simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	uint32_t sw;
	struct simlab *lab = *state;

	sw = simlab_end(lab, NODE_SWITCH, 0);
	protect(lab, sw, 2, 0);
	for (unsigned num = 0; num <= 3; num++)
		assert_int_equal(get(lab, sw, MAD_ATTR_PORT_INFO, num, data),
				 LAB_SILENT);
	assert_int_equal(get(lab, sw, MAD_ATTR_SWITCH_INFO, 0, data),
			 LAB_SILENT);
	assert_int_equal(simlab_ask_key(lab, sw, MAD_METHOD_GET,
					MAD_ATTR_SWITCH_INFO, 0, KEY, data),
			 MAD_STATUS_OK);
}

TEST(test_m_key_lease_runs_out_unless_the_key_comes,
     simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	int64_t began;
	uint32_t port;
	struct simlab *lab = *state;

	port = simlab_end(lab, NODE_CA, 2);
	protect(lab, port, 2, 10);
	/* nobody has violated it: it does not run */
	sim_run(lab->sim, INT64_C(100) * G_USEC_PER_SEC);
	assert_int_equal(get(lab, port, MAD_ATTR_NODE_INFO, 0, data),
			 LAB_SILENT);
	began = sim_now(lab->sim);
	sim_run(lab->sim, began + INT64_C(5) * G_USEC_PER_SEC);
	assert_int_equal(simlab_ask_key(lab, port, MAD_METHOD_GET,
					MAD_ATTR_NODE_INFO, 0, KEY, data), 0);
	sim_run(lab->sim, began + INT64_C(20) * G_USEC_PER_SEC);
	assert_int_equal(get(lab, port, MAD_ATTR_NODE_INFO, 0, data),
			 LAB_SILENT);
	sim_run(lab->sim, sim_now(lab->sim) + INT64_C(9) * G_USEC_PER_SEC);
	assert_int_equal(get(lab, port, MAD_ATTR_NODE_INFO, 0, data),
			 LAB_SILENT);
	/* that did not start it again */
	sim_run(lab->sim, sim_now(lab->sim) + INT64_C(1) * G_USEC_PER_SEC);
	assert_int_equal(get(lab, port, MAD_ATTR_NODE_INFO, 0, data), 0);
	assert_int_equal(sim_port_info(lab->sim, port)->m_key_protect, 0);
}

/* ----------------------------------------------------------------- tables */

static void
fill(uint8_t *data, uint8_t first)
{
	for (unsigned i = 0; i < SMP_DATA_LEN; i++)
		data[i] = first + i;
}

/* Written and read back, block by block; beyond the last one: 0x1c. */
static void
assert_table(struct simlab *lab, uint32_t port, unsigned attr_id,
	     uint32_t first, uint32_t last, uint32_t beyond)
{
	uint8_t data[SMP_DATA_LEN], expected[SMP_DATA_LEN];
	const uint32_t mods[] = { first, last };

	for (size_t i = 0; i < G_N_ELEMENTS(mods); i++) {
		fill(data, 1 + i);
		memcpy(expected, data, SMP_DATA_LEN);
		assert_int_equal(simlab_ask(lab, port, MAD_METHOD_SET, attr_id,
					    mods[i], data), MAD_STATUS_OK);
		assert_memory_equal(data, expected, SMP_DATA_LEN);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(mods); i++) {
		fill(expected, 1 + i);
		assert_int_equal(get(lab, port, attr_id, mods[i], data), 0);
		assert_memory_equal(data, expected, SMP_DATA_LEN);
	}
	assert_int_equal(get(lab, port, attr_id, beyond, data),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(simlab_ask(lab, port, MAD_METHOD_SET, attr_id, beyond,
				    data), MAD_STATUS_BAD_VALUE);
}

TEST(test_tables_hold_what_is_written_and_end)
{
	uint8_t data[SMP_DATA_LEN], none[SMP_DATA_LEN];
	uint32_t sw, ca;
	struct simlab lab;

	simlab_open(&lab, "single(20)", NULL);
	sw = simlab_end(&lab, NODE_SWITCH, 0);
	ca = simlab_end(&lab, NODE_CA, 2);
	/* 49,152 entries of 64; what was not written leads nowhere */
	assert_table(&lab, sw, MAD_ATTR_LINEAR_FT, 0, 500, 768);
	memset(none, 0xff, sizeof(none));
	assert_int_equal(get(&lab, sw, MAD_ATTR_LINEAR_FT, 499, data), 0);
	assert_memory_equal(data, none, sizeof(none));
	assert_int_equal(get(&lab, sw, MAD_ATTR_LINEAR_FT, 767, data), 0);
	assert_memory_equal(data, none, sizeof(none));
	assert_int_equal(sim_lft_entry(lab.sim, lab.s->ports[sw].node,
				       500 * 64 + 3), 5);
	/* 4,096 MLIDs of 32 a block; 20 ports are two positions */
	assert_table(&lab, sw, MAD_ATTR_MULTICAST_FT, 0,
		     1u << 28 | 127, 128);
	assert_int_equal(get(&lab, sw, MAD_ATTR_MULTICAST_FT, 2u << 28, data),
			 MAD_STATUS_BAD_VALUE);
	/* 128 P_Keys of a CA, 32 of a switch port, 32 a block */
	assert_table(&lab, ca, MAD_ATTR_PKEY_TABLE, 0, 3, 4);
	assert_table(&lab, sw, MAD_ATTR_PKEY_TABLE, 0, 20u << 16,
		     20u << 16 | 1);
	assert_int_equal(get(&lab, sw, MAD_ATTR_PKEY_TABLE, 21u << 16, data),
			 MAD_STATUS_BAD_VALUE);
	simlab_close(&lab);
}

TEST(test_pkey_tables_begin_with_the_default_key,
     simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	uint32_t ca;
	struct simlab *lab = *state;

	ca = simlab_end(lab, NODE_CA, 2);
	assert_int_equal(get(lab, ca, MAD_ATTR_PKEY_TABLE, 0, data), 0);
	assert_int_equal(bytes_load16(data), 0xffff);
	assert_int_equal(bytes_load16(data + 2), 0);
	/* a Set of another block does not take it away */
	memset(data, 0, sizeof(data));
	assert_int_equal(simlab_ask(lab, ca, MAD_METHOD_SET,
				    MAD_ATTR_PKEY_TABLE, 1, data), 0);
	assert_int_equal(get(lab, ca, MAD_ATTR_PKEY_TABLE, 0, data), 0);
	assert_int_equal(bytes_load16(data), 0xffff);
}

TEST(test_sl_to_vl_is_by_entry_and_departure, simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN] = { 0x01, 0x23, 0x45, 0x67 };
	uint32_t sw;
	struct simlab *lab = *state;

	sw = simlab_end(lab, NODE_SWITCH, 0);
	data[7] = 0xff;
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET, MAD_ATTR_SL2VL,
				    1 << 8 | 2, data), MAD_STATUS_OK);
	assert_int_equal(get(lab, sw, MAD_ATTR_SL2VL, 1 << 8 | 2, data), 0);
	assert_int_equal(data[3], 0x67);
	assert_int_equal(data[7], 0xff);
	/* the same departure from elsewhere: SL modulo the 8 VLs there are */
	assert_int_equal(get(lab, sw, MAD_ATTR_SL2VL, 3 << 8 | 2, data), 0);
	assert_int_equal(data[3], 0x67);
	assert_int_equal(data[4], 0x01);
	assert_int_equal(data[7], 0x67);
	assert_int_equal(get(lab, sw, MAD_ATTR_SL2VL, 4 << 8 | 2, data),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(get(lab, sw, MAD_ATTR_SL2VL, 1 << 8 | 4, data),
			 MAD_STATUS_BAD_VALUE);
}

TEST(test_vl_arbitration_ends_at_its_capability,
     simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	uint32_t ca;
	struct simlab *lab = *state;

	ca = simlab_end(lab, NODE_CA, 2);
	fill(data, 1);
	assert_int_equal(simlab_ask(lab, ca, MAD_METHOD_SET, MAD_ATTR_VL_ARB,
				    1u << 16, data), MAD_STATUS_OK);
	/* 8 entries of two bytes */
	assert_int_equal(data[15], 16);
	assert_int_equal(data[16], 0);
	assert_int_equal(get(lab, ca, MAD_ATTR_VL_ARB, 3u << 16, data), 0);
	assert_int_equal(data[0], 0);
	assert_int_equal(get(lab, ca, MAD_ATTR_VL_ARB, 2u << 16, data),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(get(lab, ca, MAD_ATTR_VL_ARB, 5u << 16, data),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(get(lab, simlab_end(lab, NODE_SWITCH, 0),
			     MAD_ATTR_VL_ARB, 1u << 16, data),
			 MAD_STATUS_BAD_VALUE);	/* base port 0 */
}

TEST(test_first_guid_is_the_ports_own, simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN], own[8];
	uint32_t ca;
	struct simlab *lab = *state;

	ca = simlab_end(lab, NODE_CA, 2);
	bytes_store(own, lab->s->ports[ca].guid, sizeof(own));
	fill(data, 3);
	assert_int_equal(simlab_ask(lab, ca, MAD_METHOD_SET,
				    MAD_ATTR_GUID_INFO, 0, data), MAD_STATUS_OK);
	assert_memory_equal(data, own, sizeof(own));
	assert_int_equal(data[8], 11);
	assert_int_equal(get(lab, ca, MAD_ATTR_GUID_INFO, 1, data),
			 MAD_STATUS_BAD_VALUE);
}

TEST(test_switch_info_takes_what_is_writable, simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	const struct switch_info *have;
	struct switch_info want;
	uint32_t sw;
	struct simlab *lab = *state;

	sw = simlab_end(lab, NODE_SWITCH, 0);
	have = sim_switch_info(lab->sim, lab->s->ports[sw].node);
	assert_true(have->port_state_change);	/* it was just switched on */
	want = *have;
	want.linear_fdb_top = want.linear_fdb_cap;
	want.life_time = 7;
	switch_info_encode(data, &want);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_SWITCH_INFO, 0, data),
			 MAD_STATUS_BAD_VALUE);
	assert_int_equal(have->life_time, 18);
	want.linear_fdb_top--;
	want.linear_fdb_cap = 5;
	want.enhanced_port0 = true;
	want.port_state_change = false;
	switch_info_encode(data, &want);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_SWITCH_INFO, 0, data), 0);
	assert_int_equal(have->life_time, 7);
	assert_int_equal(have->linear_fdb_top, 49151);
	assert_int_equal(have->linear_fdb_cap, 49152);
	assert_false(have->enhanced_port0);
	assert_true(have->port_state_change);	/* 0 does not clear */
	want.port_state_change = true;
	switch_info_encode(data, &want);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_SWITCH_INFO, 0, data), 0);
	assert_false(have->port_state_change);
}
