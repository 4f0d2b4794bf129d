// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A whole subnet manager on the simulated fabric, judged by the data plane:
 * does a packet from every host reach every other one?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/lib/sim_lab.h"

#define SECOND		((int64_t)G_USEC_PER_SEC)
#define HOUR		(3600 * SECOND)
#define SEED		20u

#if defined(__SANITIZE_ADDRESS__)
#define CPU_LIMIT	20.0
#else
#define CPU_LIMIT	1.0
#endif

struct bench {
	struct snapshot *s;
	struct sim *sim;
	struct lab_sm sm;
};

static double
cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* A fabric, and a manager that has not done anything yet. */
static void
bench_open(struct bench *b, const char *spec, const struct sim_params *params)
{
	b->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(b->s);
	b->sim = sim_new(b->s, params);
	lab_sm_start(&b->sm, b->sim, b->s->local_port, 8);
}

static void
bench_up(struct bench *b, const char *spec)
{
	bench_open(b, spec, NULL);
	assert_true(lab_sm_wait_up(&b->sm, 10 * SECOND));
}

static void
bench_close(struct bench *b)
{
	lab_sm_stop(&b->sm);
	sim_free(b->sim);
	snapshot_unref(b->s);
}

static void
run_for(struct bench *b, int64_t us)
{
	sim_run(b->sim, sim_now(b->sim) + us);
}

static unsigned
hosts_and_lost(struct bench *b, unsigned *lost)
{
	GArray *hosts = lab_hosts(b->sim, b->s, b->s->local_port);
	unsigned n = hosts->len;

	*lost = lab_lost_pairs(b->sim, hosts);
	g_array_unref(hosts);
	return n;
}

static void
assert_all_reach(struct bench *b, unsigned n_hosts)
{
	unsigned lost;

	assert_int_equal(hosts_and_lost(b, &lost), n_hosts);
	assert_int_equal(lost, 0);
}

/* The nth cable between two switches. */
static uint32_t
trunk(const struct bench *b, unsigned nth)
{
	for (uint32_t p = 0; p < b->s->n_ports; p++) {
		uint32_t peer = b->s->ports[p].peer;

		if (peer != SNAPSHOT_NONE && p < peer &&
		    snapshot_is_switch(snapshot_node_of(b->s, p)) &&
		    snapshot_is_switch(snapshot_node_of(b->s, peer)) && !nth--)
			return p;
	}
	fail_msg("not so many trunks");
	return SNAPSHOT_NONE;
}

/* Two ports never share a LID. */
static void
assert_lids_unique(struct bench *b)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	for (uint32_t p = 0; p < b->s->n_ports; p++) {
		const struct port_info *info = sim_port_info(b->sim, p);

		for (unsigned i = 0; info->lid && i < 1u << info->lmc; i++)
			assert_true(g_hash_table_add(seen,
					GUINT_TO_POINTER(info->lid + i)));
	}
}

static void
test_fabrics_come_up_and_every_pair_is_reached(void **state)
{
	static const struct {
		const char *spec;
		unsigned hosts;		/* that reach each other */
	} cases[] = {
		{ "PGFT(4,4;1,4)", 16 }, { "PGFT(4,4,4;1,4,4)", 64 },
		{ "PGFT(4,8;1,2;1,2)", 32 }, { "ring(7;2)", 14 },
		{ "torus(3,3;2)", 18 }, { "mesh(2,3,2;1)", 12 },
		{ "single(36)", 36 }, { "pair()", 2 },
		{ "random(12,4,2)", 24 }, { "rails(4;6,2)", 12 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct bench b;
		unsigned lost;

		bench_up(&b, cases[i].spec);
		assert_lids_unique(&b);
		assert_int_equal(hosts_and_lost(&b, &lost), cases[i].hosts);
		assert_int_equal(lost, 0);
		/* nothing is left to do, and nothing went wrong */
		assert_int_equal(sim_stats(b.sim)->returned, 0);
		assert_int_equal(sim_stats(b.sim)->lost_nobody, 0);
		bench_close(&b);
	}
}

static void
test_pulled_cable_is_routed_around_in_50_ms(void **state)
{
	struct bench b;
	unsigned lost;

	bench_up(&b, "PGFT(18,18;1,9)");
	run_for(&b, SECOND);
	sim_link_cut(b.sim, trunk(&b, 5));
	hosts_and_lost(&b, &lost);
	assert_true(lost > 0);
	run_for(&b, 50 * 1000);
	assert_all_reach(&b, 324);
	/* and the cable is used again when it is back */
	sim_link_mend(b.sim, trunk(&b, 5));
	run_for(&b, SECOND);
	assert_int_equal(sim_port_info(b.sim, trunk(&b, 5))->state,
			 PORT_STATE_ACTIVE);
	assert_all_reach(&b, 324);
	bench_close(&b);
}

static void
test_hour_of_rest_is_cheap(void **state)
{
	const struct sim_stats *st;
	uint64_t sent;
	double began;
	struct bench b;

	bench_up(&b, "PGFT(18,18;1,9)");
	run_for(&b, SECOND);
	st = sim_stats(b.sim);
	sent = st->sent;
	began = cpu_seconds();
	run_for(&b, HOUR);
	print_message("# an hour: %.3f s of CPU, %" G_GUINT64_FORMAT
		      " MADs\n", cpu_seconds() - began,
		      (guint64)(st->sent - sent));
	assert_true(cpu_seconds() - began < CPU_LIMIT);
	/* every 10 s it looks at each switch at least */
	assert_true(st->sent - sent >= 27 * 359);
	assert_int_equal(b.sm.ends, 1);
	bench_close(&b);
}

/* --------------------------------------------- changes of the fabric */

static void
test_two_fabrics_become_one(void **state)
{
	uint32_t cut[2][2] = { { 0 } };
	unsigned n = 0, lost;
	struct bench b;

	bench_open(&b, "ring(6;2)", NULL);
	/* a ring without two of its cables is two islands */
	for (unsigned i = 0; i < 6 && n < 2; i += 3) {
		cut[n][0] = trunk(&b, i);
		cut[n][1] = sim_peer(b.sim, cut[n][0]);
		sim_cable_unplug(b.sim, cut[n++][0]);
	}
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	assert_true(hosts_and_lost(&b, &lost) < 12);
	assert_int_equal(lost, 0);
	run_for(&b, SECOND);
	sim_cable_plug(b.sim, cut[0][0], cut[0][1]);
	run_for(&b, SECOND);
	assert_all_reach(&b, 12);
	sim_cable_plug(b.sim, cut[1][0], cut[1][1]);
	run_for(&b, SECOND);
	assert_all_reach(&b, 12);
	assert_lids_unique(&b);
	bench_close(&b);
}

static void
test_reset_switch_is_programmed_again(void **state)
{
	struct bench b;

	bench_up(&b, "PGFT(4,4;1,4)");
	for (uint32_t i = 0; i < b.s->n_switches; i++) {
		run_for(&b, SECOND);
		sim_node_reset(b.sim, b.s->switches[i]);
		run_for(&b, 15 * SECOND);
		assert_all_reach(&b, 16);
		assert_lids_unique(&b);
	}
	bench_close(&b);
}

static void
test_replaced_and_swapped_hosts_are_served(void **state)
{
	uint32_t a, c;
	struct bench b;

	bench_up(&b, "PGFT(4,4;1,4)");
	a = trunk(&b, 0);
	for (uint32_t p = 0; p < b.s->n_ports; p++)
		if (!snapshot_is_switch(snapshot_node_of(b.s, p)) &&
		    b.s->ports[p].peer != SNAPSHOT_NONE &&
		    p != b.s->local_port)
			a = p;
	sim_node_replace(b.sim, b.s->ports[a].node, 0xdddd0000);
	run_for(&b, 12 * SECOND);
	assert_all_reach(&b, 16);
	assert_lids_unique(&b);
	/* two leaves change places under one switch */
	c = sim_peer(b.sim, b.s->local_port);
	sim_cable_swap(b.sim, c, sim_peer(b.sim, a));
	run_for(&b, 12 * SECOND);
	assert_all_reach(&b, 16);
	bench_close(&b);
}

static void
test_guid_clash_spares_the_others(void **state)
{
	GArray *hosts;
	uint32_t a, c;
	struct bench b;

	bench_up(&b, "PGFT(4,4;1,4)");
	hosts = lab_hosts(b.sim, b.s, b.s->local_port);
	a = g_array_index(hosts, uint32_t, 5);
	c = g_array_index(hosts, uint32_t, 9);
	sim_node_set_guid(b.sim, b.s->ports[a].node,
			  b.s->nodes[b.s->ports[c].node].info.node_guid);
	sweep_request(b.sm.sweep, SWEEP_CAUSE_SIGNAL);
	run_for(&b, SECOND);
	g_array_remove_index(hosts, 9);
	g_array_remove_index(hosts, 5);
	assert_int_equal(lab_lost_pairs(b.sim, hosts), 0);
	g_array_unref(hosts);
	sim_node_set_guid(b.sim, b.s->ports[a].node,
			  b.s->nodes[b.s->ports[a].node].info.node_guid);
	sweep_request(b.sm.sweep, SWEEP_CAUSE_SIGNAL);
	run_for(&b, 5 * SECOND);
	assert_all_reach(&b, 16);
	bench_close(&b);
}

static void
cut_it(struct sim *sim, void *data)
{
	sim_link_cut(sim, GPOINTER_TO_UINT(data));
}

static void
mend_it(struct sim *sim, void *data)
{
	sim_link_mend(sim, GPOINTER_TO_UINT(data));
}

/* A cable goes in the middle of each phase of the first sweep, and comes back
 * in the middle of what that has caused. */
static void
test_change_in_the_middle_of_every_phase(void **state)
{
	static const struct {
		uint16_t attr_id;
		uint8_t method;
		unsigned nth;
	} when[] = {
		{ MAD_ATTR_NODE_INFO, MAD_METHOD_GET, 1 },
		{ MAD_ATTR_NODE_INFO, MAD_METHOD_GET, 20 },
		{ MAD_ATTR_NODE_INFO, MAD_METHOD_GET, 36 },
		{ MAD_ATTR_SWITCH_INFO, MAD_METHOD_GET, 4 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_GET, 1 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_GET, 50 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, 1 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, 30 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, 60 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, 100 },
		{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, 130 },
		{ MAD_ATTR_LINEAR_FT, MAD_METHOD_SET, 1 },
		{ MAD_ATTR_LINEAR_FT, MAD_METHOD_SET, 5 },
		{ MAD_ATTR_SWITCH_INFO, MAD_METHOD_SET, 3 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(when); i++) {
		for (unsigned t = 0; t < 16; t += 5) {
			struct sim_match match = {
				.node = SIM_ANY, .attr_id = when[i].attr_id,
				.method = when[i].method,
			};
			struct bench b;
			gpointer cable;

			bench_open(&b, "PGFT(4,4;1,4)", NULL);
			cable = GUINT_TO_POINTER(trunk(&b, t));
			sim_at_mad(b.sim, &match, when[i].nth, cut_it, cable);
			run_for(&b, 15 * SECOND);
			assert_int_equal(sim_port_info(b.sim, trunk(&b, t))
					 ->state, PORT_STATE_DOWN);
			assert_all_reach(&b, 16);
			match.attr_id = MAD_ATTR_NODE_INFO;
			match.method = MAD_METHOD_GET;
			sim_at_mad(b.sim, &match, 10, mend_it, cable);
			sim_link_flap(b.sim, trunk(&b, (t + 1) % 16), 2,
				      5000, 30000);
			run_for(&b, 15 * SECOND);
			assert_all_reach(&b, 16);
			assert_int_equal(sim_port_info(b.sim, trunk(&b, t))
					 ->state, PORT_STATE_ACTIVE);
			bench_close(&b);
		}
	}
}

/* ------------------------------------------------------------ bad manners */

static void
test_bad_wire_is_survived(void **state)
{
	static const struct {
		enum sim_fault_kind kind;
		unsigned per_mille;
	} wires[] = {
		{ SIM_FAULT_LOSS, 20 }, { SIM_FAULT_DELAY, 30 },
		{ SIM_FAULT_REORDER, 300 }, { SIM_FAULT_DUPLICATE, 100 },
	};

	print_message("# seed %u\n", SEED);
	for (size_t i = 0; i <= G_N_ELEMENTS(wires); i++) {
		struct sim_params params = sim_params_default;
		struct bench b;

		params.seed = SEED + i;
		bench_open(&b, "PGFT(4,4;1,4)", &params);
		/* the last turn has all of them */
		for (size_t k = 0; k < G_N_ELEMENTS(wires); k++) {
			struct sim_rule rule = {
				.match = { .node = SIM_ANY },
				.kind = wires[k].kind,
				.per_mille = wires[k].per_mille,
				.us = 3000,
			};

			if (i == k || i == G_N_ELEMENTS(wires))
				sim_rule_add(b.sim, &rule);
		}
		assert_true(lab_sm_wait_up(&b.sm, 60 * SECOND));
		assert_all_reach(&b, 16);
		bench_close(&b);
	}
}

static void
test_corrupted_answers_do_not_stick(void **state)
{
	for (unsigned i = 0; i < 10; i++) {
		struct sim_params params = sim_params_default;
		struct sim_rule rule = {
			.match = {
				.node = SIM_ANY,
				.method = MAD_METHOD_GET_RESP,
			},
			.kind = SIM_FAULT_CORRUPT, .per_mille = 50,
		};
		struct bench b;
		unsigned id;

		params.seed = SEED + i;
		bench_open(&b, "PGFT(4,4;1,4)", &params);
		id = sim_rule_add(b.sim, &rule);
		run_for(&b, 20 * SECOND);
		sim_rule_remove(b.sim, id);
		sweep_request(b.sm.sweep, SWEEP_CAUSE_SIGNAL);
		run_for(&b, 30 * SECOND);
		assert_all_reach(&b, 16);
		bench_close(&b);
	}
}

static void
test_silent_node_costs_only_itself(void **state)
{
	struct bench b;
	GArray *hosts;

	bench_open(&b, "PGFT(4,4;1,4)", NULL);
	hosts = lab_hosts(b.sim, b.s, b.s->local_port);
	sim_node_set_mood(b.sim, b.s->ports[g_array_index(hosts, uint32_t,
							  7)].node,
			  SIM_MOOD_SILENT);
	run_for(&b, 20 * SECOND);
	g_array_remove_index(hosts, 7);
	assert_int_equal(lab_lost_pairs(b.sim, hosts), 0);
	g_array_unref(hosts);
	bench_close(&b);
}

static void
test_babbling_port_does_not_keep_the_fabric_busy(void **state)
{
	uint64_t sent;
	unsigned ends;
	struct bench b;

	bench_up(&b, "PGFT(4,4;1,4)");
	run_for(&b, SECOND);
	sent = sim_stats(b.sim)->sent;
	ends = b.sm.ends;
	/* ten seconds of it */
	sim_babble(b.sim, trunk(&b, 0), 128, 100000, 100);
	run_for(&b, 10 * SECOND);
	/* a heavy sweep each 50 ms is the most it can get */
	assert_true(b.sm.ends > ends);
	assert_true(b.sm.ends - ends <= 200);
	assert_true(sim_stats(b.sim)->sent - sent < 400000);
	run_for(&b, SECOND);
	assert_int_equal(b.sm.last, SWEEP_END_UP);
	assert_all_reach(&b, 16);
	bench_close(&b);
}

static void
test_second_manager_takes_over(void **state)
{
	struct lab_sm other;
	GArray *hosts;
	uint32_t port;
	struct bench b;

	bench_up(&b, "PGFT(4,4;1,4)");
	hosts = lab_hosts(b.sim, b.s, b.s->local_port);
	port = g_array_index(hosts, uint32_t, 11);
	g_array_unref(hosts);
	lab_sm_start(&other, b.sim, port, 3);
	run_for(&b, 3 * SECOND);
	assert_int_equal(other.last, SWEEP_END_STANDBY);
	assert_int_equal(b.sm.last, SWEEP_END_UP);
	/* the master's node loses power */
	sim_node_off(b.sim, b.s->ports[b.s->local_port].node);
	run_for(&b, 20 * SECOND);
	assert_int_equal(other.last, SWEEP_END_UP);
	hosts = lab_hosts(b.sim, b.s, port);
	assert_int_equal(hosts->len, 15);
	assert_int_equal(lab_lost_pairs(b.sim, hosts), 0);
	for (guint i = 0; i < hosts->len; i++)
		assert_int_equal(sim_port_info(b.sim, g_array_index(hosts,
						uint32_t, i))->sm_lid,
				 sim_port_info(b.sim, port)->lid);
	g_array_unref(hosts);
	lab_sm_stop(&other);
	bench_close(&b);
}

/* ------------------------------------------------------------------- scale */

/* Too long for every `make check`: ask for it. */
static void
test_45056_hosts_fit_in_4_gib(void **state)
{
	struct rusage usage;
	double began = cpu_seconds();
	struct bench b;

	bench_open(&b, "PGFT(32,32,44;1,32,32)", NULL);
	assert_true(lab_sm_wait_up(&b.sm, 600 * SECOND));
	getrusage(RUSAGE_SELF, &usage);
	print_message("# 45,056 hosts: %.1f s of CPU, %ld MiB, %"
		      G_GINT64_FORMAT " ms of virtual time, %"
		      G_GUINT64_FORMAT " SMPs\n",
		      cpu_seconds() - began, usage.ru_maxrss / 1024,
		      sim_now(b.sim) / 1000,
		      (guint64)sim_stats(b.sim)->served);
	assert_true(usage.ru_maxrss < 4L * 1024 * 1024);
	/* some of two thousand million pairs */
	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t a = i * 7919u % b.s->n_ports;
		uint32_t c = i * 104729u % b.s->n_ports;

		if (snapshot_is_end_port(b.s, a) &&
		    snapshot_is_end_port(b.s, c))
			assert_int_equal(sim_probe(b.sim, a,
					sim_port_info(b.sim, c)->lid, 0xffff,
					0, NULL), SIM_DELIVERED);
	}
	bench_close(&b);
}

static bool
tops_are(struct bench *b, uint16_t top)
{
	for (uint32_t sw = 0; sw < b->s->n_switches; sw++)
		if (sim_switch_info(b->sim, b->s->switches[sw])->
		    multicast_fdb_top != top)
			return false;
	return true;
}

/* OpenSM writes 0xbfff on a switch that carries no group; it drops all
 * multicast from then on. */
static void
test_multicast_top_of_another_manager_is_written_over(void **state)
{
	struct sim_params params = sim_params_default;
	struct switch_info *sw;
	struct bench b;

	params.mcast_top = SIM_MCAST_TOP_NONE;
	bench_open(&b, "PGFT(2,2;1,2)", &params);
	assert_true(tops_are(&b, SIM_MCAST_TOP_NONE));
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	assert_true(tops_are(&b, 0xcfff));
	run_for(&b, SECOND);

	/* A device is changed behind our back; no trap tells. */
	sw = (struct switch_info *)sim_switch_info(b.sim, b.s->switches[1]);
	sw->multicast_fdb_top = SIM_MCAST_TOP_NONE;
	run_for(&b, 15 * SECOND);
	assert_true(tops_are(&b, 0xcfff));
	bench_close(&b);
}

/* A port that babbles must not keep the fabric busy, nor may it put off a
 * change that another one tells of. */
static void
test_stream_of_traps_costs_a_sweep_a_second(void **state)
{
	struct bench b;
	unsigned ends, lost;
	uint32_t cable;

	bench_up(&b, "PGFT(2,4;1,2)");
	run_for(&b, 5 * SECOND);
	cable = trunk(&b, 0);
	ends = b.sm.ends;
	sim_babble(b.sim, b.s->local_port, 144, 2000, 10000);
	run_for(&b, SECOND / 2);
	assert_int_equal(b.sm.ends - ends, 3);
	run_for(&b, 9 * SECOND);
	assert_in_range(b.sm.ends - ends, 9, 12);
	sim_link_cut(b.sim, cable);
	run_for(&b, 3 * SECOND / 2);
	hosts_and_lost(&b, &lost);
	assert_int_equal(lost, 0);
	run_for(&b, 9 * SECOND);
	assert_in_range(b.sm.ends - ends, 18, 26);
	bench_close(&b);
}

/* Cables that were narrowed by hand are enabled for all that they can, which
 * counts at their next training; nothing is written twice. */
static void
test_narrowed_cables_train_up_again(void **state)
{
	static const struct sim_match sets = {
		.node = SIM_ANY, .method = MAD_METHOD_SET,
	};
	struct sim_rule count = { .match = sets, .kind = SIM_FAULT_DELAY,
				  .per_mille = 1000 };
	const struct port_info *now;
	struct bench b;
	uint32_t cable;
	unsigned rule;

	b.s = generate_fabric("PGFT(2,4;1,2)", NULL, NULL);
	for (uint32_t p = 0; p < b.s->n_ports; p++) {
		struct port_info *info = &b.s->ports[p].info;

		info->width_enabled = info->width_active = 1;
		info->speed_enabled = info->speed_active = 1;
		info->speed_ext_enabled = 30;
		info->speed_ext_active = 0;
	}
	b.sim = sim_new(b.s, NULL);
	lab_sm_start(&b.sm, b.sim, b.s->local_port, 8);
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	cable = trunk(&b, 1);
	now = sim_port_info(b.sim, cable);
	assert_int_equal(now->width_enabled, now->width_supported);
	assert_int_equal(now->speed_enabled, now->speed_supported);
	assert_int_equal(now->speed_ext_enabled, now->speed_ext_supported);
	assert_int_equal(now->width_active, 1);
	assert_int_equal(now->state, PORT_STATE_ACTIVE);

	sim_link_flap(b.sim, cable, 1, 1000, 1000);
	run_for(&b, SECOND);
	now = sim_port_info(b.sim, cable);
	assert_int_equal(now->state, PORT_STATE_ACTIVE);
	assert_int_equal(now->width_active, 2);
	assert_int_equal(now->speed_ext_active, 2);

	rule = sim_rule_add(b.sim, &count);
	sweep_request(b.sm.sweep, SWEEP_CAUSE_SIGNAL);
	run_for(&b, SECOND);
	assert_int_equal(sim_rule_hits(b.sim, rule), 0);
	bench_close(&b);
}

/* Answers to Set(PortInfo) show and say that 15, 31 and 255 are not known. */
static bool
refuse_training(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	uint8_t *at = smp_data(answer);
	struct mad_header h;
	struct port_info info;

	mad_header_read(answer, MAD_SIZE, &h);
	if (h.attr_id != MAD_ATTR_PORT_INFO)
		return true;
	port_info_decode(at, &info);
	info.width_enabled = info.speed_enabled = info.speed_ext_enabled = 1;
	port_info_encode(at, &info);
	return true;
}

static void
test_speeds_that_are_not_taken_are_not_sent_again(void **state)
{
	static const struct sim_match sets = {
		.node = SIM_ANY, .method = MAD_METHOD_SET,
	};
	struct sim_rule count = { .match = sets, .kind = SIM_FAULT_DELAY,
				  .per_mille = 1000 };
	struct bench b;
	unsigned rule;

	bench_open(&b, "PGFT(2,4;1,2)", NULL);
	sim_set_liar(b.sim, refuse_training, NULL);
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	rule = sim_rule_add(b.sim, &count);
	sweep_request(b.sm.sweep, SWEEP_CAUSE_TRAP);
	run_for(&b, SECOND);
	assert_int_equal(b.sm.last, SWEEP_END_UP);
	assert_int_equal(sim_rule_hits(b.sim, rule), 0);
	bench_close(&b);
}

/* The rates that the manager sees are those of the cables. */
static void
assert_speeds_seen(struct bench *b)
{
	const struct snapshot *seen = b->sm.seen;

	for (uint32_t p = 0; p < seen->n_ports; p++)
		if (seen->ports[p].peer != SNAPSHOT_NONE)
			assert_string_equal(
				port_speed(&seen->ports[p].info)->name, "EDR");
}

static void
test_speeds_that_are_hidden_are_asked_for(void **state)
{
	struct sim_params params = sim_params_default;
	struct bench b;

	params.hide_ext_speeds = true;
	bench_open(&b, "PGFT(2,4;1,2)", &params);
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	assert_speeds_seen(&b);
	/* also without a Set */
	sweep_request(b.sm.sweep, SWEEP_CAUSE_SIGNAL);
	run_for(&b, SECOND);
	assert_speeds_seen(&b);
	bench_close(&b);
}

static bool
defer_active(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	uint8_t *at = smp_data(answer);
	struct mad_header h;
	struct port_info info;

	mad_header_read(answer, MAD_SIZE, &h);
	if (h.attr_id != MAD_ATTR_PORT_INFO)
		return true;
	port_info_decode(at, &info);
	if (info.state == PORT_STATE_ACTIVE && node % 2)
		info.state = PORT_STATE_ACTIVE_DEFER;
	port_info_encode(at, &info);
	return true;
}

static void
test_active_defer_is_active(void **state)
{
	unsigned ends;
	struct bench b;

	bench_open(&b, "PGFT(2,4;1,2)", NULL);
	sim_set_liar(b.sim, defer_active, NULL);
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	assert_all_reach(&b, 8);
	/* and going there or back is no change for a light sweep */
	sim_set_liar(b.sim, NULL, NULL);
	run_for(&b, SECOND);
	ends = b.sm.ends;
	run_for(&b, 30 * SECOND);
	assert_int_equal(b.sm.ends, ends);
	bench_close(&b);
}

/* As bench_open(), with a LinearFDBCap for the second switch and hosts that
 * have LIDs from `first` on. */
static void
bench_open_small(struct bench *b, const char *spec, unsigned cap,
		 unsigned first)
{
	b->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(b->s);
	b->s->nodes[b->s->switches[1]].sw.linear_fdb_cap = cap;
	for (uint32_t p = 0; first && p < b->s->n_ports; p++)
		if (snapshot_is_end_port(b->s, p))
			b->s->ports[p].info.lid = first++;
	b->sim = sim_new(b->s, NULL);
	lab_sm_start(&b->sm, b->sim, b->s->local_port, 8);
}

static void
test_lids_are_those_that_all_switches_can_route(void **state)
{
	struct bench b;

	/* 8 hosts, 6 switches */
	bench_open_small(&b, "PGFT(2,4;1,2)", 15, 100);
	assert_true(lab_sm_wait_up(&b.sm, 10 * SECOND));
	assert_all_reach(&b, 8);
	for (uint32_t p = 0; p < b.s->n_ports; p++)
		assert_true(sim_port_info(b.sim, p)->lid < 15);
	bench_close(&b);
}

static void
test_lids_that_a_switch_cannot_route_are_not_up(void **state)
{
	unsigned lost;
	struct bench b;

	bench_open_small(&b, "PGFT(2,4;1,2)", 14, 0);
	assert_false(lab_sm_wait_up(&b.sm, 10 * SECOND));
	assert_int_equal(b.sm.last, SWEEP_END_NOT_UP);
	assert_non_null(strstr(b.sm.said->str, "has LinearFDBCap 14 and "
			       "cannot route LIDs 14 to 14"));
	assert_non_null(strstr(b.sm.said->str, "without a way"));
	hosts_and_lost(&b, &lost);
	assert_int_not_equal(lost, 0);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_fabrics_come_up_and_every_pair_is_reached),
		cmocka_unit_test(test_pulled_cable_is_routed_around_in_50_ms),
		cmocka_unit_test(test_hour_of_rest_is_cheap),
		cmocka_unit_test(test_stream_of_traps_costs_a_sweep_a_second),
		cmocka_unit_test(test_two_fabrics_become_one),
		cmocka_unit_test(test_reset_switch_is_programmed_again),
		cmocka_unit_test(test_replaced_and_swapped_hosts_are_served),
		cmocka_unit_test(test_guid_clash_spares_the_others),
		cmocka_unit_test(test_change_in_the_middle_of_every_phase),
		cmocka_unit_test(test_bad_wire_is_survived),
		cmocka_unit_test(test_corrupted_answers_do_not_stick),
		cmocka_unit_test(test_silent_node_costs_only_itself),
		cmocka_unit_test(
			test_babbling_port_does_not_keep_the_fabric_busy),
		cmocka_unit_test(test_second_manager_takes_over),
		cmocka_unit_test(test_narrowed_cables_train_up_again),
		cmocka_unit_test(
			test_speeds_that_are_not_taken_are_not_sent_again),
		cmocka_unit_test(test_speeds_that_are_hidden_are_asked_for),
		cmocka_unit_test(test_active_defer_is_active),
		cmocka_unit_test(
			test_lids_are_those_that_all_switches_can_route),
		cmocka_unit_test(
			test_lids_that_a_switch_cannot_route_are_not_up),
		cmocka_unit_test(
			test_multicast_top_of_another_manager_is_written_over),
		cmocka_unit_test(test_45056_hosts_fit_in_4_gib),
	};

	/* 7 s and 0.8 GiB, far more with sanitizers: on request. */
	if (!getenv("MINISM_TEST_LARGE"))
		cmocka_set_skip_filter("test_45056_hosts_fit_in_4_gib");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
