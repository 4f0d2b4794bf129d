// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The simulated fabric: its clients, full buffers, a main loop, and that the same
 * run is the same run.
 */
#include "tests/lib/sim_lab.h"
#include "tests/lib/unit.h"
#include "tests/lib/sim_script.h"

#define SEED	4711u

#define SIM_TEST(name, args...) \
	TEST_ON(name, struct simlab, lab, simlab_open, simlab_close, ##args)

/* ------------------------------------------------------------- clients */

struct heard {
	unsigned answers, returned, others;
	int64_t at;		/* of the last one */
	uint64_t tid;
	struct transport *t;
	struct transport *victim;	/* freed when anything is heard */
};

static void
on_heard(const struct transport_mad *m, void *data)
{
	struct heard *heard = data;
	struct mad_header h;

	assert_true(mad_header_read(m->mad, m->len, &h));
	heard->tid = h.tid;
	if (m->event == TRANSPORT_RETURNED)
		heard->returned++;
	else if (h.method & MAD_METHOD_RESPONSE)
		heard->answers++;
	else
		heard->others++;
	heard->at = transport_now(heard->t);
	if (heard->victim)
		transport_free(g_steal_pointer(&heard->victim));
}

static struct transport *
listen_at(struct simlab *lab, uint32_t port, enum sim_role role,
	  struct heard *heard)
{
	memset(heard, 0, sizeof(*heard));
	heard->t = sim_attach(lab->sim, port, role);
	transport_set_receiver(heard->t, on_heard, heard);
	return heard->t;
}

/* The first switch. */
static void
ask(struct simlab *lab, struct transport *t, unsigned attr_id, uint64_t tid,
    unsigned timeout_ms)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	assert_true(snapshot_path(lab->s, simlab_end(lab, NODE_SWITCH, 0),
				  &path));
	smp_build_direct(mad, MAD_METHOD_GET, attr_id, 0, 0, &path);
	mad_set_tid(mad, tid);
	assert_true(transport_send(t, &to, mad, MAD_SIZE, timeout_ms, NULL));
}

SIM_TEST(test_clients_of_one_port_get_their_own_answers, "single(2)", NULL)
{
	struct heard a, b;

	listen_at(lab, lab->s->local_port, SIM_ROLE_CLIENT, &a);
	listen_at(lab, lab->s->local_port, SIM_ROLE_CLIENT, &b);
	ask(lab, a.t, MAD_ATTR_NODE_INFO, 7, 100);
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_int_equal(a.answers, 1);
	assert_int_equal((uint32_t)a.tid, 7);
	assert_int_equal(b.answers + b.others + b.returned, 0);
	assert_false(lab->answered);
	/* the same TID at the same time */
	ask(lab, a.t, MAD_ATTR_NODE_INFO, 9, 100);
	ask(lab, b.t, MAD_ATTR_NODE_DESC, 9, 100);
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_int_equal(a.answers, 2);
	assert_int_equal(b.answers, 1);
	assert_int_equal(a.returned + b.returned, 0);
}

TEST(test_unanswered_request_is_returned_in_time)
{
	struct heard heard;
	struct simlab lab;

	simlab_open(&lab, "single(2)", NULL);
	listen_at(&lab, lab.s->local_port, SIM_ROLE_CLIENT, &heard);
	sim_node_set_mood(lab.sim, simlab_node(&lab, NODE_SWITCH, 0),
			  SIM_MOOD_SILENT);
	ask(&lab, heard.t, MAD_ATTR_NODE_INFO, 1, 70);
	ask(&lab, heard.t, MAD_ATTR_NODE_INFO, 2, 30);
	ask(&lab, heard.t, MAD_ATTR_NODE_INFO, 3, 0);
	sim_run(lab.sim, 29999);
	assert_int_equal(heard.returned, 0);
	sim_run(lab.sim, 30000);
	assert_int_equal(heard.returned, 1);
	assert_int_equal((uint32_t)heard.tid, 2);
	/* 0: that one is not waited for */
	assert_true(sim_run_idle(lab.sim, G_USEC_PER_SEC));
	assert_int_equal(heard.returned, 2);
	assert_int_equal((uint32_t)heard.tid, 1);
	assert_int_equal(heard.at, 70000);
	simlab_close(&lab);
}

static void
on_ring(void *data)
{
	fail_msg("its client is gone");
}

/* It may free itself, and what was on its way to it goes nowhere. */
SIM_TEST(test_client_may_be_freed_in_its_callback, "single(2)", NULL)
{
	struct heard heard;

	heard.victim = NULL;
	listen_at(lab, lab->s->local_port, SIM_ROLE_CLIENT, &heard);
	heard.victim = heard.t;
	transport_timer_start(heard.t, G_USEC_PER_SEC / 2, on_ring, NULL);
	for (unsigned i = 1; i <= 3; i++)
		ask(lab, heard.t, MAD_ATTR_NODE_INFO, i, 100);
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_int_equal(heard.answers, 1);
	assert_int_equal(sim_stats(lab->sim)->lost_nobody, 2);
	assert_true(sim_now(lab->sim) < 1000);	/* its timer is gone */
}

SIM_TEST(test_short_mad_is_not_accepted, "pair()", NULL)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE] = { 1 };
	g_autoptr(GError) error = NULL;

	assert_false(transport_send(lab->t, &to, mad, MAD_SIZE - 1, 10,
				    &error));
	assert_gerror(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND);
}

TEST(test_full_vl15_buffer_loses_smps)
{
	struct sim_params params = sim_params_default;
	struct heard heard;
	AUTO_VALUE(simlab_close) struct simlab lab;

	params.vl15_depth = 10;
	simlab_open(&lab, "single(2)", &params);
	listen_at(&lab, lab.s->local_port, SIM_ROLE_CLIENT, &heard);
	for (unsigned i = 1; i <= 25; i++)
		ask(&lab, heard.t, MAD_ATTR_NODE_INFO, i, 50);
	assert_true(sim_run_idle(lab.sim, G_USEC_PER_SEC));
	assert_int_equal(heard.answers, 10);
	assert_int_equal(heard.returned, 15);
	assert_int_equal(sim_stats(lab.sim)->lost_vl15, 15);
}

/* ------------------------------------------------------------ a main loop */

static void
on_quit(void *data)
{
	g_main_loop_quit(data);
}

static int64_t
run_loop(enum sim_pace pace, int64_t virtual_us)
{
	g_autoptr(GMainContext) context = g_main_context_new();
	g_autoptr(GMainLoop) loop = g_main_loop_new(context, FALSE);
	int64_t began = g_get_monotonic_time();
	g_autoptr(GSource) source = NULL;
	struct simlab lab;

	simlab_open(&lab, "pair()", NULL);
	source = sim_source_new(lab.sim, pace);
	g_source_attach(source, context);
	transport_timer_start(lab.t, virtual_us, on_quit, loop);
	g_main_loop_run(loop);
	assert_true(sim_now(lab.sim) >= virtual_us);
	g_source_destroy(source);
	simlab_close(&lab);
	return g_get_monotonic_time() - began;
}

TEST(test_main_loop_drives_it_at_either_pace)
{
	/* a day in less than a minute, which a busy machine may need */
	assert_true(run_loop(SIM_PACE_FAST, INT64_C(86400) * G_USEC_PER_SEC) <
		    60 * G_USEC_PER_SEC);
	/* it may come 100 us early */
	assert_true(run_loop(SIM_PACE_REAL, 50000) >= 50000 - 100);
}

/* A name that is cut could end within a character. */
TEST(test_port_is_named_in_full)
{
	AUTO(snapshot) *s = generate_fabric("pair()", NULL, NULL);
	char *name = s->nodes[s->ports[s->local_port].node].desc;
	struct transport *t;
	struct sim *sim;

	memset(name, 'x', NODE_DESC_LEN);
	sim = sim_new(s, &sim_params_default);
	t = sim_attach(sim, s->local_port, SIM_ROLE_MANAGER);
	assert_true(g_str_has_suffix(t->name, name));
	transport_free(t);
	sim_free(sim);
}

/* -------------------------------------------------------------- the same */

/* A run with faults of all kinds, as a number. */
static guint64
fingerprint(uint64_t seed)
{
	struct sim_params params = sim_params_default;
	struct sim_rule rule = {
		.match = { .node = SIM_ANY }, .per_mille = 20, .us = 400,
	};
	guint64 sum = 14695981039346656037u;
	const struct sim_stats *st;
	struct manager sm;
	AUTO(snapshot) *s = NULL;
	struct sim *sim;

	params.seed = seed;
	s = generate_fabric("PGFT(4,4;1,4)", NULL, NULL);
	sim = sim_new(s, &params);
	for (rule.kind = 0; rule.kind <= SIM_FAULT_CORRUPT; rule.kind++)
		sim_rule_add(sim, &rule);
	manager_open(&sm, sim, s->local_port, NULL, NULL);
	sim_run(sim, 3 * G_USEC_PER_SEC);
	st = sim_stats(sim);
	for (size_t i = 0; i < sizeof(*st); i++)
		sum = (sum ^ ((const uint8_t *)st)[i]) * 1099511628211u;
	manager_close(&sm);
	sim_free(sim);
	return sum;
}

TEST(test_same_seed_gives_the_same_run)
{
	guint64 first = fingerprint(SEED);

	assert_true(fingerprint(SEED) == first);
	assert_true(fingerprint(SEED + 1) != first);
}
