// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links and nodes of the simulated fabric that come and go, and how switches
 * tell of it.
 */
#include <string.h>

#include "sm/sim/state.h"
#include "sm/mad/bytes.h"
#include "tests/lib/sim_lab.h"
#include "tests/lib/unit.h"
#include "tests/lib/sim_script.h"

#define TRAIN_US	10000	/* sim_params_default.train_us */

static unsigned
state_of(struct simlab *lab, uint32_t port)
{
	return sim_port_info(lab->sim, port)->state;
}

static bool
told_change(struct simlab *lab, unsigned nth)
{
	return sim_switch_info(lab->sim, simlab_node(lab, NODE_SWITCH, nth))
		->port_state_change;
}

static void
clear_changes(struct simlab *lab)
{
	for (uint32_t i = 0; i < lab->s->n_nodes; i++)
		lab->sim->nodes[i].sw.port_state_change = false;
}

/* A cable between two switches. */
static uint32_t
trunk(struct simlab *lab)
{
	for (uint32_t p = 0; p < lab->s->n_ports; p++) {
		uint32_t peer = lab->s->ports[p].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(lab->s, p)) &&
		    snapshot_is_switch(snapshot_node_of(lab->s, peer)))
			return p;
	}
	fail_msg("no trunk");
	return SNAPSHOT_NONE;
}

static void
run_us(struct simlab *lab, int64_t us)
{
	sim_run(lab->sim, sim_now(lab->sim) + us);
}

TEST(test_cut_link_goes_down_and_trains_again, simlab_ring, simlab_tear_down)
{
	uint32_t a, b;
	struct simlab *lab = *state;

	a = trunk(lab);
	b = sim_peer(lab->sim, a);
	simlab_activate(lab, a);
	clear_changes(lab);
	sim_link_cut(lab->sim, a);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	assert_int_equal(state_of(lab, b), PORT_STATE_DOWN);
	assert_true(sim_node_of(lab->sim, a)->sw.port_state_change);
	assert_true(sim_node_of(lab->sim, b)->sw.port_state_change);
	run_us(lab, 10 * TRAIN_US);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	clear_changes(lab);
	sim_link_mend(lab->sim, b);
	assert_int_equal(sim_port_info(lab->sim, a)->phys_state,
			 PORT_PHYS_TRAINING);
	run_us(lab, TRAIN_US - 1);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	run_us(lab, 1);
	assert_int_equal(state_of(lab, a), PORT_STATE_INIT);
	assert_int_equal(state_of(lab, b), PORT_STATE_INIT);
	assert_true(sim_node_of(lab->sim, a)->sw.port_state_change);
	assert_true(sim_node_of(lab->sim, b)->sw.port_state_change);
	/* cut again before it is trained: it stays down */
	sim_link_cut(lab->sim, a);
	sim_link_mend(lab->sim, a);
	run_us(lab, TRAIN_US / 2);
	sim_link_cut(lab->sim, a);
	run_us(lab, 10 * TRAIN_US);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	/* the others never noticed */
	for (unsigned i = 0; i < 4; i++)
		if (simlab_node(lab, NODE_SWITCH, i) != lab->s->ports[a].node &&
		    simlab_node(lab, NODE_SWITCH, i) != lab->s->ports[b].node)
			assert_false(told_change(lab, i));
}

/* IBA 14.2.5.4: not what a Set does at this port, but what follows from it
 * at the other. */
TEST(test_set_down_is_a_change_at_the_far_end_only,
     simlab_ring, simlab_tear_down)
{
	struct port_info want;
	uint32_t a, b;
	struct simlab *lab = *state;

	a = trunk(lab);
	b = sim_peer(lab->sim, a);
	clear_changes(lab);
	simlab_port_wish(lab, a, &want);
	want.state = PORT_STATE_DOWN;
	assert_int_equal(simlab_set_port(lab, a, &want), MAD_STATUS_OK);
	assert_int_equal(state_of(lab, b), PORT_STATE_DOWN);
	assert_false(sim_node_of(lab->sim, a)->sw.port_state_change);
	assert_true(sim_node_of(lab->sim, b)->sw.port_state_change);
	/* and it comes back by itself */
	run_us(lab, TRAIN_US);
	assert_int_equal(state_of(lab, a), PORT_STATE_INIT);
	assert_int_equal(state_of(lab, b), PORT_STATE_INIT);
	/* Init to Armed and on is no change either */
	clear_changes(lab);
	simlab_activate(lab, a);
	assert_false(sim_node_of(lab->sim, a)->sw.port_state_change);
	assert_false(sim_node_of(lab->sim, b)->sw.port_state_change);
}

TEST(test_disabled_port_stays_down_until_it_polls,
     simlab_ring, simlab_tear_down)
{
	struct port_info want;
	uint32_t a, b;
	struct simlab *lab = *state;

	a = trunk(lab);
	b = sim_peer(lab->sim, a);
	simlab_port_wish(lab, a, &want);
	want.phys_state = PORT_PHYS_DISABLED;
	assert_int_equal(simlab_set_port(lab, a, &want), MAD_STATUS_OK);
	run_us(lab, 10 * TRAIN_US);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	assert_int_equal(sim_port_info(lab->sim, a)->phys_state,
			 PORT_PHYS_DISABLED);
	assert_int_equal(sim_port_info(lab->sim, b)->phys_state,
			 PORT_PHYS_POLLING);
	want.phys_state = PORT_PHYS_POLLING;
	assert_int_equal(simlab_set_port(lab, a, &want), MAD_STATUS_OK);
	run_us(lab, TRAIN_US);
	assert_int_equal(state_of(lab, a), PORT_STATE_INIT);
	assert_int_equal(state_of(lab, b), PORT_STATE_INIT);
}

TEST(test_ends_that_have_no_speed_in_common_stay_down,
     simlab_ring, simlab_tear_down)
{
	struct port_info want;
	uint32_t a, b;
	struct simlab *lab = *state;

	a = trunk(lab);
	b = sim_peer(lab->sim, a);
	simlab_port_wish(lab, a, &want);
	want.width_enabled = 1;
	assert_int_equal(simlab_set_port(lab, a, &want), MAD_STATUS_OK);
	/* what is enabled counts when the link trains, not before */
	assert_int_equal(state_of(lab, a), PORT_STATE_INIT);
	sim_link_cut(lab->sim, a);
	sim_link_mend(lab->sim, a);
	run_us(lab, TRAIN_US);
	assert_int_equal(sim_port_info(lab->sim, a)->width_active, 1);
	assert_int_equal(sim_port_info(lab->sim, b)->width_active, 1);
	simlab_port_wish(lab, b, &want);
	want.width_enabled = 2;
	assert_int_equal(simlab_set_port(lab, b, &want), MAD_STATUS_OK);
	sim_link_cut(lab->sim, a);
	sim_link_mend(lab->sim, a);
	run_us(lab, 10 * TRAIN_US);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
}

TEST(test_cables_may_be_odd)
{
	uint32_t a, b, spare, far;
	struct simlab lab;

	/* back to back: the SMA of the other CA is one hop away */
	simlab_open(&lab, "pair()", NULL);
	a = simlab_end(&lab, NODE_CA, 0);
	b = simlab_end(&lab, NODE_CA, 1);
	assert_int_equal(simlab_ask(&lab, b, MAD_METHOD_GET, MAD_ATTR_NODE_INFO,
				    0, NULL), MAD_STATUS_OK);
	/* a loopback plug */
	sim_cable_unplug(lab.sim, b);
	sim_cable_plug(lab.sim, b, b);
	run_us(&lab, TRAIN_US);
	assert_int_equal(state_of(&lab, a), PORT_STATE_DOWN);
	assert_int_equal(state_of(&lab, b), PORT_STATE_INIT);
	sim_link_cut(lab.sim, b);
	assert_int_equal(state_of(&lab, b), PORT_STATE_DOWN);
	/* the plug goes to the other port, which then has no other cable */
	sim_cable_swap(lab.sim, b, a);
	assert_int_equal(sim_peer(lab.sim, a), a);
	assert_int_equal(sim_peer(lab.sim, b), SNAPSHOT_NONE);
	simlab_close(&lab);

	/* two hosts change places */
	simlab_open(&lab, "single(3)", NULL);
	a = simlab_end(&lab, NODE_CA, 1);
	b = simlab_end(&lab, NODE_CA, 2);
	spare = sim_peer(lab.sim, a);
	far = sim_peer(lab.sim, b);
	sim_cable_swap(lab.sim, spare, far);
	assert_int_equal(sim_peer(lab.sim, far), a);
	assert_int_equal(sim_peer(lab.sim, spare), b);
	run_us(&lab, TRAIN_US);
	assert_int_equal(state_of(&lab, a), PORT_STATE_INIT);
	assert_int_equal(state_of(&lab, spare), PORT_STATE_INIT);
	/* a cable moves to an empty socket */
	sim_cable_unplug(lab.sim, far);
	sim_cable_swap(lab.sim, far, spare);
	assert_int_equal(sim_peer(lab.sim, spare), SNAPSHOT_NONE);
	assert_int_equal(sim_peer(lab.sim, far), b);
	simlab_close(&lab);
}

TEST(test_flapping_link_ends_up, simlab_ring, simlab_tear_down)
{
	uint32_t a;
	struct simlab *lab = *state;

	a = trunk(lab);
	sim_link_flap(lab->sim, a, 3, 1000, 50000);
	run_us(lab, 500);
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	run_us(lab, 1000 + TRAIN_US);		/* the first time up */
	assert_int_equal(state_of(lab, a), PORT_STATE_INIT);
	run_us(lab, 40000);			/* the second time down */
	assert_int_equal(state_of(lab, a), PORT_STATE_DOWN);
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_int_equal(state_of(lab, a), PORT_STATE_INIT);
	assert_int_equal(sim_now(lab->sim), 3 * 1000 + 2 * 50000 + TRAIN_US);
}

/* ------------------------------------------------------------------- nodes */

TEST(test_reset_switch_forgets_everything, simlab_single, simlab_tear_down)
{
	uint8_t block[SMP_DATA_LEN] = { 0 };
	uint32_t sw, ext, host;
	struct port_info want;
	struct simlab *lab = *state;

	sw = simlab_end(lab, NODE_SWITCH, 0);
	host = simlab_end(lab, NODE_CA, 1);
	ext = sim_peer(lab->sim, host);
	simlab_activate(lab, ext);
	simlab_port_wish(lab, sw, &want);
	assert_int_equal(simlab_set_port(lab, sw, &want), MAD_STATUS_OK);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_LINEAR_FT, 0, block), 0);
	clear_changes(lab);
	sim_node_reset(lab->sim, lab->s->ports[sw].node);
	assert_int_equal(sim_port_info(lab->sim, sw)->lid, 0);
	assert_int_equal(sim_port_info(lab->sim, sw)->sm_lid, 0);
	assert_int_equal(sim_lft_entry(lab->sim, lab->s->ports[sw].node, 1),
			 255);
	assert_true(told_change(lab, 0));
	assert_int_equal(state_of(lab, ext), PORT_STATE_DOWN);
	/* a host keeps its LID when its link goes down */
	assert_int_equal(state_of(lab, host), PORT_STATE_DOWN);
	assert_int_not_equal(sim_port_info(lab->sim, host)->lid, 0);
	run_us(lab, TRAIN_US);
	assert_int_equal(state_of(lab, ext), PORT_STATE_INIT);
	assert_int_equal(state_of(lab, host), PORT_STATE_INIT);
}

TEST(test_node_without_power_is_gone, simlab_single, simlab_tear_down)
{
	uint8_t data[SMP_DATA_LEN];
	struct node_info info;
	uint32_t host, node;
	struct simlab *lab = *state;

	host = simlab_end(lab, NODE_CA, 1);
	node = lab->s->ports[host].node;
	clear_changes(lab);
	sim_node_off(lab->sim, node);
	assert_true(told_change(lab, 0));
	assert_int_equal(state_of(lab, sim_peer(lab->sim, host)),
			 PORT_STATE_DOWN);
	assert_int_equal(simlab_ask(lab, host, MAD_METHOD_GET,
				    MAD_ATTR_NODE_INFO, 0, NULL), LAB_SILENT);
	sim_node_on(lab->sim, node);
	run_us(lab, TRAIN_US);
	assert_int_equal(simlab_ask(lab, host, MAD_METHOD_GET,
				    MAD_ATTR_NODE_INFO, 0, NULL), MAD_STATUS_OK);
	/* another one under the same cable */
	sim_node_replace(lab->sim, node, 0xabc0);
	run_us(lab, TRAIN_US);
	assert_int_equal(simlab_ask(lab, host, MAD_METHOD_GET,
				    MAD_ATTR_NODE_INFO, 0, data), MAD_STATUS_OK);
	node_info_decode(data, &info);
	assert_true(info.node_guid == 0xabc0);
	assert_true(info.port_guid == 0xabc1);
}

/* What waited in the line of the life before is not served in the next. */
TEST(test_smp_does_not_outlive_its_agent)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	struct sim_params params = sim_params_default;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;
	uint32_t host;
	struct simlab lab;

	params.vl15_depth = 1;
	simlab_open(&lab, "single(3)", &params);
	host = simlab_end(&lab, NODE_CA, 1);
	snapshot_path(lab.s, host, &path);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &path);
	transport_send(lab.t, &to, mad, MAD_SIZE, LAB_TIMEOUT_MS, NULL);
	run_us(&lab, 10);	/* of the 20 that it takes */
	sim_node_reset(lab.sim, lab.s->ports[host].node);
	assert_true(sim_run_idle(lab.sim, G_USEC_PER_SEC));
	assert_int_equal(lab.status, LAB_SILENT);
	assert_int_equal(sim_stats(lab.sim)->lost_at_node, 1);
	assert_int_equal(sim_stats(lab.sim)->served, 0);
	/* nor does it take up room there */
	assert_int_equal(simlab_ask(&lab, host, MAD_METHOD_GET,
				    MAD_ATTR_NODE_INFO, 0, NULL), MAD_STATUS_OK);
	simlab_close(&lab);
}

/* ------------------------------------------------------------------- traps */

/* The SM's port, the switch and a host have LIDs 1, 2, 3; the switch knows
 * the ways to 1 and 2. */
static void
open_told(struct simlab *lab, const struct sim_params *params)
{
	uint8_t block[SMP_DATA_LEN];
	struct switch_info info;
	struct port_info want;
	uint32_t sw;
	const uint32_t *p;

	simlab_open(lab, "single(3)", params);
	sw = simlab_end(lab, NODE_SWITCH, 0);
	p = (uint32_t[]){ lab->s->local_port, sw, simlab_end(lab, NODE_CA, 1) };
	for (unsigned i = 0; i < 3; i++) {
		simlab_port_wish(lab, p[i], &want);
		want.lid = i + 1;
		want.sm_lid = 1;
		want.subnet_timeout = 18;
		assert_int_equal(simlab_set_port(lab, p[i], &want), 0);
	}
	memset(block, 255, sizeof(block));
	block[1] = lab->s->ports[lab->s->ports[lab->s->local_port].peer].num;
	block[2] = 0;
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_LINEAR_FT, 0, block), 0);
	info = *sim_switch_info(lab->sim, lab->s->ports[sw].node);
	info.linear_fdb_top = 3;
	switch_info_encode(block, &info);
	assert_int_equal(simlab_ask(lab, sw, MAD_METHOD_SET,
				    MAD_ATTR_SWITCH_INFO, 0, block), 0);
}

static int
set_up_told(void **state)
{
	struct simlab *new = g_new0(struct simlab, 1);

	open_told(new, NULL);
	*state = new;
	return 0;
}

static void
repress(struct simlab *lab, const uint8_t *trap, uint16_t lid)
{
	const struct mad_addr to = { .lid = lid };
	uint8_t mad[MAD_SIZE];

	memcpy(mad, trap, MAD_SIZE);
	smp_make_response(mad, 0);
	assert_true(transport_send(lab->t, &to, mad, MAD_SIZE, 0, NULL));
}

/* An SMP by LID came in by the port of its last hop (IBA 14.2.5.3). */
TEST(test_smp_by_lid_says_where_it_came_in, set_up_told, simlab_tear_down)
{
	const struct mad_addr to = { .lid = 2 };
	struct node_info info;
	uint8_t mad[MAD_SIZE];
	struct simlab *lab = *state;

	smp_build_lid(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0);
	lab->answered = false;
	transport_send(lab->t, &to, mad, MAD_SIZE, LAB_TIMEOUT_MS, NULL);
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_true(lab->answered);
	assert_int_equal(lab->status, MAD_STATUS_OK);
	node_info_decode(smp_data(lab->mad), &info);
	assert_int_equal(info.node_type, NODE_SWITCH);
	assert_int_equal(info.local_port, lab->s->ports[
			 lab->s->ports[lab->s->local_port].peer].num);
}

TEST(test_trap_128_repeats_until_it_is_repressed)
{
	struct sim_params params = sim_params_default;
	struct notice notice;
	uint32_t host;
	struct simlab lab;

	params.trap_repeat_us = 2000;
	open_told(&lab, &params);
	host = simlab_end(&lab, NODE_CA, 2);
	assert_int_equal(lab.traps, 0);
	sim_link_cut(lab.sim, host);
	run_us(&lab, 1999);
	assert_int_equal(lab.traps, 1);
	notice_decode(smp_data(lab.trap), &notice);
	assert_true(notice.generic);
	assert_int_equal(notice.trap, 128);
	assert_int_equal(notice.issuer_lid, 2);
	assert_int_equal(notice.lid, 2);
	assert_int_equal(notice.producer, NODE_SWITCH);
	run_us(&lab, 3 * 2000 + 1000);
	assert_int_equal(lab.traps, 5);
	/* half a period before the next one */
	repress(&lab, lab.trap, 2);
	run_us(&lab, 100 * 2000);
	assert_int_equal(lab.traps, 5);
	simlab_close(&lab);

	/* 4.096 us * 2^18, if nothing else is said */
	open_told(&lab, NULL);
	sim_link_cut(lab.sim, simlab_end(&lab, NODE_CA, 2));
	run_us(&lab, 1073741 * 10 + 100);
	assert_int_equal(lab.traps, 11);
	simlab_close(&lab);
}

TEST(test_old_repress_does_not_silence_a_new_trap)
{
	struct sim_params params = sim_params_default;
	uint8_t first[MAD_SIZE];
	struct simlab lab;

	params.trap_repeat_us = 2000;
	params.trap_repeats = 3;
	open_told(&lab, &params);
	sim_link_cut(lab.sim, simlab_end(&lab, NODE_CA, 2));
	run_us(&lab, 100);
	memcpy(first, lab.trap, MAD_SIZE);
	/* the next change is told at once */
	sim_link_cut(lab.sim, simlab_end(&lab, NODE_CA, 1));
	run_us(&lab, 100);
	assert_int_equal(lab.traps, 2);
	repress(&lab, first, 2);
	assert_true(sim_run_idle(lab.sim, G_USEC_PER_SEC));
	assert_int_equal(lab.traps, 2 + 3);	/* then it gave up */
	assert_memory_not_equal(lab.trap + 8, first + 8, 8);
	simlab_close(&lab);
}

TEST(test_who_has_no_way_to_the_sm_keeps_silent)
{
	struct simlab lab;

	/* nobody has a LID */
	simlab_open(&lab, "single(3)", NULL);
	sim_link_cut(lab.sim, simlab_end(&lab, NODE_CA, 2));
	assert_true(sim_run_idle(lab.sim, G_USEC_PER_SEC));
	assert_int_equal(sim_stats(lab.sim)->traps, 0);
	simlab_close(&lab);

	/* it tries, and its table leads nowhere */
	open_told(&lab, NULL);
	lab.sim->nodes[simlab_node(&lab, NODE_SWITCH, 0)].lft[1] = 255;
	sim_link_cut(lab.sim, simlab_end(&lab, NODE_CA, 2));
	run_us(&lab, 1000);
	assert_int_equal(lab.traps, 0);
	assert_int_equal(sim_stats(lab.sim)->lost[SIM_NO_ROUTE], 1);
	simlab_close(&lab);
}

TEST(test_each_trap_says_where_and_what)
{
	static const unsigned traps[] = {
		128, 129, 130, 131, 144, 145, 256, 257, 258, 259,
	};
	struct sim_params params = sim_params_default;
	struct notice notice;
	uint32_t port;
	struct simlab lab;

	params.trap_repeats = 1;
	open_told(&lab, &params);
	port = sim_peer(lab.sim, simlab_end(&lab, NODE_CA, 2));
	for (size_t i = 0; i < G_N_ELEMENTS(traps); i++) {
		unsigned before = lab.traps;

		sim_trap(lab.sim, port, traps[i]);
		run_us(&lab, 100);
		assert_int_equal(lab.traps, before + 1);
		notice_decode(smp_data(lab.trap), &notice);
		assert_int_equal(notice.trap, traps[i]);
		assert_int_equal(notice.issuer_lid, 2);
		if (traps[i] <= 131 || traps[i] == 144)
			assert_int_equal(notice.lid, 2);
		if (traps[i] >= 129 && traps[i] <= 131)
			assert_int_equal(notice.port, lab.s->ports[port].num);
	}
	sim_node_describe(lab.sim, lab.s->ports[port].node, "renamed");
	run_us(&lab, 100);
	notice_decode(smp_data(lab.trap), &notice);
	assert_int_equal(notice.trap, 144);
	simlab_close(&lab);
}

TEST(test_wrong_m_key_is_told)
{
	struct sim_params params = sim_params_default;
	uint8_t data[SMP_DATA_LEN];
	struct notice notice;
	struct port_info want;
	uint32_t sw;
	struct simlab lab;

	params.trap_repeat_us = 2000;
	open_told(&lab, &params);
	sw = simlab_end(&lab, NODE_SWITCH, 0);
	simlab_port_wish(&lab, sw, &want);
	want.m_key = 77;
	want.m_key_protect = 2;
	assert_int_equal(simlab_set_port(&lab, sw, &want), MAD_STATUS_OK);
	/* ten violations, one notice */
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(simlab_ask_key(&lab, sw, MAD_METHOD_GET,
						MAD_ATTR_PORT_INFO, 2, 0xbad,
						data), LAB_SILENT);
	assert_in_range(lab.traps, 250, 251);
	notice_decode(smp_data(lab.trap), &notice);
	assert_int_equal(notice.trap, 256);
	assert_int_equal(notice.issuer_lid, 2);
	/* method, attribute, modifier, key, as IBA 14.2.5.1 lays them out */
	assert_int_equal(smp_data(lab.trap)[16], MAD_METHOD_GET);
	assert_int_equal(bytes_load16(smp_data(lab.trap) + 18),
			 MAD_ATTR_PORT_INFO);
	assert_int_equal(smp_data(lab.trap)[23], 2);
	assert_int_equal(bytes_load16(smp_data(lab.trap) + 30), 0xbad);
	/* a TrapRepress needs the key as well */
	repress(&lab, lab.trap, 2);
	run_us(&lab, 10000);
	assert_true(lab.traps > 252);
	bytes_store(lab.trap + 24, 77, 8);
	repress(&lab, lab.trap, 2);
	run_us(&lab, 100);
	lab.traps = 0;
	run_us(&lab, 20000);
	assert_int_equal(lab.traps, 0);
	simlab_close(&lab);
}
