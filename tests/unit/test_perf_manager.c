// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/perf_manager.h"
#include "sm/sa/sa_db.h"
#include "tests/lib/auto.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"
#include "tests/lib/world.h"

#define SECOND		INT64_C(1000000)
#define TREE		"PGFT(4,4;1,4)"

static const struct perf_manager_params every_10_s = {
	.sweep_s = 10, .errors_limit = 100,
};

static void
perf_open(struct world *w, const struct perf_manager_params *params)
{
	struct sm_instance_params sm = manager_defaults;

	sm.perf = *params;
	sm.sa = &manager_sa;
	world_open(w, TREE, 1, &sm);
	assert_true(manager_wait_up(&w->m, 10 * SECOND));
}

static void
run_s(struct world *w, unsigned s)
{
	sim_run(w->sim, sim_now(w->sim) + s * SECOND);
}

static const struct perf_port *
port_of(const struct world *w, uint32_t port)
{
	const struct snapshot *s = sa_view_of(w->m.sm->sa)->subnet;
	const struct snapshot_port *p = &w->s->ports[port];
	uint32_t node = snapshot_find_node(s,
				w->s->nodes[p->node].info.node_guid);

	return perf_manager_ports(w->m.sm->perf, s) +
		s->nodes[node].first_port + p->num;
}

/* A port of the first switch with a cable. */
static uint32_t
some_port(const struct world *w)
{
	uint32_t port = w->s->nodes[w->s->switches[0]].first_port + 1;

	while (w->s->ports[port].peer == SNAPSHOT_NONE)
		port++;
	return port;
}

TEST(test_counters_are_what_was_added_since)
{
	const struct perf_port *p;
	AUTO_VALUE(world_close) struct world w;
	uint32_t port;

	perf_open(&w, &every_10_s);
	port = some_port(&w);
	sim_port_add_errors(w.sim, port, PERF_SYMBOL, 40);
	run_s(&w, 21);
	p = port_of(&w, port);
	assert_true(p->read_us > 0 && p->has_data);
	assert_int_equal(p->last[PERF_SYMBOL], 40);
	sim_port_add_errors(w.sim, port, PERF_SYMBOL, 7);
	sim_port_add_errors(w.sim, port, PERF_LINK_RECOVERY, 300);
	run_s(&w, 21);
	p = port_of(&w, port);
	assert_int_equal(p->last[PERF_SYMBOL], 47);
	assert_int_equal(p->last[PERF_LINK_RECOVERY], 255);	/* its end */
	assert_true(perf_wire_errors(p) >= 7 + 255);
	sim_port_add_errors(w.sim, port, PERF_LINK_RECOVERY, 300);
	run_s(&w, 21);
	assert_int_equal(port_of(&w, port)->last[PERF_LINK_RECOVERY], 255);
}

/* Another tool clears what it reads: what comes after is counted from 0. */
TEST(test_a_counter_that_was_cleared_goes_on)
{
	uint8_t mad[MAD_SIZE];
	struct mad_addr to = { .qp = 1, .qkey = 0x80010000 };
	AUTO_VALUE(world_close) struct world w;
	struct transport *t;
	uint32_t port;
	uint64_t before;

	perf_open(&w, &every_10_s);
	port = some_port(&w);
	run_s(&w, 11);
	sim_port_add_errors(w.sim, port, PERF_RCV, 50);
	run_s(&w, 21);
	before = port_of(&w, port)->total[PERF_RCV];
	assert_int_equal(before, 50);
	t = sim_attach(w.sim, w.s->local_port, SIM_ROLE_CLIENT);
	perf_build(mad, PERF_ATTR_PORT_COUNTERS, w.s->ports[port].num);
	mad[3] = MAD_METHOD_SET;
	mad[PERF_DATA_OFFSET + 2] = mad[PERF_DATA_OFFSET + 3] = 0xff;
	to.lid = sim_port_info(w.sim,
			w.s->nodes[w.s->switches[0]].first_port)->lid;
	assert_true(transport_send(t, &to, mad, MAD_SIZE, 100, NULL));
	run_s(&w, 1);
	sim_port_add_errors(w.sim, port, PERF_RCV, 20);
	run_s(&w, 21);
	assert_int_equal(port_of(&w, port)->last[PERF_RCV], 20);
	assert_int_equal(port_of(&w, port)->total[PERF_RCV], before + 20);
	transport_free(t);
}

/* A silent agent costs one request in SKIP_ROUNDS rounds, and a sweep keeps
 * what is known. */
TEST(test_silent_agents_are_left_alone)
{
	const struct perf_manager_stats *stats;
	AUTO_VALUE(world_close) struct world w;
	uint64_t failed, rounds;
	uint32_t port;

	perf_open(&w, &every_10_s);
	stats = perf_manager_stats(w.m.sm->perf);
	port = some_port(&w);
	sim_port_add_errors(w.sim, port, PERF_SYMBOL, 5);
	run_s(&w, 30);
	assert_int_equal(stats->failed, 0);
	assert_true(stats->rounds >= 2);
	sweep_request(w.m.sweep, SWEEP_CAUSE_SIGNAL);
	run_s(&w, 2);
	assert_int_equal(port_of(&w, port)->last[PERF_SYMBOL], 5);
	sim_node_set_mood(w.sim, w.s->switches[0], SIM_MOOD_SILENT);
	rounds = stats->rounds;
	run_s(&w, 70);
	failed = stats->failed;
	assert_true(stats->rounds >= rounds + 5);
	/* what was out when it fell silent, and then none */
	assert_in_range(failed, 1, 16);
}

TEST(test_nothing_is_read_unless_wanted)
{
	const struct perf_manager_params none = { .errors_limit = 100 };
	const struct snapshot *s;
	AUTO_VALUE(world_close) struct world w;

	perf_open(&w, &none);
	s = sa_view_of(w.m.sm->sa)->subnet;
	run_s(&w, 60);
	assert_null(perf_manager_ports(w.m.sm->perf, s));
	assert_int_equal(mad_client_stats(w.m.x)->gmps, 0);
}
