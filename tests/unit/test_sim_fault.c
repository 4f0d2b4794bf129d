// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The faults of the simulated fabric do what they say, and no more.
 */
#include "tests/lib/sim_lab.h"
#include "tests/lib/unit.h"
#include "tests/lib/sim_script.h"

#define N	2000u

/* Answers by the order in which they came. */
struct tally {
	struct simlab lab;
	struct transport *t;
	unsigned answers, disorder, flipped;
	uint32_t last;		/* TID */
	uint8_t expected[SMP_DATA_LEN];
};

static void
on_answer(const struct transport_mad *m, void *data)
{
	struct tally *tally = data;
	struct mad_header h;

	if (m->event != TRANSPORT_RECEIVED)
		return;
	mad_header_read(m->mad, m->len, &h);
	tally->answers++;
	if ((uint32_t)h.tid < tally->last)
		tally->disorder++;
	tally->last = h.tid;
	for (size_t i = 0; i < SMP_DATA_LEN; i++)
		tally->flipped += __builtin_popcount(smp_data_const(m->mad)[i] ^
						     tally->expected[i]);
}

/* Get of the nth node of a type: the status. */
static unsigned
get(struct simlab *lab, enum node_type type, unsigned nth, enum mad_attr attr,
    uint8_t *data)
{
	return simlab_ask(lab, simlab_end(lab, type, nth), MAD_METHOD_GET, attr,
			  0, data);
}

static void
tally_open(struct tally *tally)
{
	struct sim_params params = sim_params_default;

	memset(tally, 0, sizeof(*tally));
	params.smp_ns = 1000;
	params.vl15_depth = 2 * N;
	simlab_open(&tally->lab, "single(3)", &params);
	tally->t = sim_attach(tally->lab.sim, tally->lab.s->local_port,
			      SIM_ROLE_CLIENT);
	transport_set_receiver(tally->t, on_answer, tally);
	assert_int_equal(get(&tally->lab, NODE_SWITCH, 0, MAD_ATTR_NODE_INFO,
			     tally->expected), 0);
}

/* n questions, one a microsecond. */
static void
tally_ask(struct tally *tally, unsigned n)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	snapshot_path(tally->lab.s, simlab_end(&tally->lab, NODE_SWITCH, 0),
		    &path);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &path);
	tally->answers = tally->disorder = tally->last = tally->flipped = 0;
	for (unsigned i = 1; i <= n; i++) {
		mad_set_tid(mad, i);
		transport_send(tally->t, &to, mad, MAD_SIZE, 100, NULL);
		sim_run(tally->lab.sim, sim_now(tally->lab.sim) + 1);
	}
	assert_true(sim_run_idle(tally->lab.sim, INT64_C(100) *
				 G_USEC_PER_SEC));
}

static void
tally_close(struct tally *tally)
{
	simlab_close(&tally->lab);
}

/* n questions with this fault of answers, `times` or always; how many were lost
 * by it. */
static uint64_t
strike(struct tally *tally, enum sim_fault_kind kind, unsigned per_mille,
       unsigned times, unsigned n)
{
	const struct sim_rule rule = {
		.match = {
			.node = simlab_node(&tally->lab, NODE_SWITCH, 0),
			.method = MAD_METHOD_GET_RESP,
		},
		.kind = kind, .per_mille = per_mille, .times = times, .us = 500,
	};
	uint64_t before = sim_stats(tally->lab.sim)->lost_by_fault;

	sim_rule_add(tally->lab.sim, &rule);
	tally_ask(tally, n);
	sim_rules_clear(tally->lab.sim, rule.match.node);
	return sim_stats(tally->lab.sim)->lost_by_fault - before;
}

#define TALLY_TEST(name) \
	TEST_ON(name, struct tally, tally, tally_open, tally_close)

TALLY_TEST(test_loss_has_the_rate_that_was_asked_for)
{
	uint64_t hits;

	/* 200 of 2,000, six standard deviations of 13.4 either way */
	hits = strike(tally, SIM_FAULT_LOSS, 100, 0, N);
	assert_in_range(hits, 120, 280);
	assert_int_equal(tally->answers, N - hits);
	tally_ask(tally, 100);
	assert_int_equal(tally->answers, 100);
	strike(tally, SIM_FAULT_LOSS, 1000, 7, 100);
	assert_int_equal(tally->answers, 93);
	strike(tally, SIM_FAULT_LOSS, 0, 0, 100);
	assert_int_equal(tally->answers, 100);
}

TALLY_TEST(test_duplicates_delays_and_disorder_lose_nothing)
{
	int64_t began;

	strike(tally, SIM_FAULT_DUPLICATE, 1000, 0, 100);
	assert_int_equal(tally->answers, 200);
	began = sim_now(tally->lab.sim);
	strike(tally, SIM_FAULT_DELAY, 1000, 0, 1);
	assert_int_equal(sim_now(tally->lab.sim) - began, 1 + 1 + 1 + 500);
	strike(tally, SIM_FAULT_DELAY, 1000, 0, 100);
	assert_int_equal(tally->answers, 100);
	assert_int_equal(tally->disorder, 0);
	strike(tally, SIM_FAULT_REORDER, 500, 0, 100);
	assert_int_equal(tally->answers, 100);
	assert_true(tally->disorder > 10);
}

TALLY_TEST(test_corruption_flips_one_bit)
{
	tally_ask(tally, 100);
	assert_int_equal(tally->flipped, 0);
	strike(tally, SIM_FAULT_CORRUPT, 1000, 0, N);
	/* a quarter of a MAD's bits are data: 500, within six sigma; a few
	 * have lost their way */
	assert_in_range(tally->flipped, 380, 620);
	assert_in_range(tally->answers, N - N / 10, N - 1);
}
