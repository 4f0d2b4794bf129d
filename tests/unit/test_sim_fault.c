// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The faults of the simulated fabric do what they say, and no more.
 */
#include <string.h>

#include "tests/lib/auto.h"
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
	assert_int_equal(simlab_ask(&tally->lab,
				    simlab_end(&tally->lab, NODE_SWITCH, 0),
				    MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0,
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

/* n questions with this fault of answers, `times` or always; how many it has
 * struck. */
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
	unsigned id = sim_rule_add(tally->lab.sim, &rule);
	uint64_t hits;

	tally_ask(tally, n);
	hits = sim_rule_hits(tally->lab.sim, id);
	sim_rule_remove(tally->lab.sim, id);
	return hits;
}

/* Get of the nth node of a type: the status. */
static unsigned
get(struct simlab *lab, enum node_type type, unsigned nth, enum mad_attr attr,
    uint8_t *data)
{
	return simlab_ask(lab, simlab_end(lab, type, nth), MAD_METHOD_GET, attr,
			  0, data);
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
	assert_int_equal(sim_stats(tally->lab.sim)->lost_by_fault, hits);
	tally_ask(tally, 100);
	assert_int_equal(tally->answers, 100);
	strike(tally, SIM_FAULT_LOSS, 1000, 7, 100);
	assert_int_equal(tally->answers, 93);
	strike(tally, SIM_FAULT_LOSS, 0, 0, 100);
	assert_int_equal(tally->answers, 100);
}

TEST(test_rule_strikes_only_what_matches)
{
	AUTO_VALUE(simlab_close) struct simlab lab;
	struct sim_rule rule = {
		.match = {
			.mgmt_class = MAD_CLASS_SMP_DIRECT,
			.method = MAD_METHOD_GET,
			.attr_id = MAD_ATTR_NODE_INFO,
		},
		.kind = SIM_FAULT_LOSS, .per_mille = 1000,
	};

	simlab_open(&lab, "single(3)", NULL);
	rule.match.node = simlab_node(&lab, NODE_SWITCH, 0);
	sim_rule_add(lab.sim, &rule);
	assert_int_equal(get(&lab, NODE_SWITCH, 0, MAD_ATTR_NODE_INFO, NULL),
			 LAB_SILENT);
	assert_int_equal(get(&lab, NODE_SWITCH, 0, MAD_ATTR_NODE_DESC, NULL),
			 MAD_STATUS_OK);
	assert_int_equal(simlab_ask(&lab, simlab_end(&lab, NODE_SWITCH, 0),
				    MAD_METHOD_SET, MAD_ATTR_NODE_INFO, 0,
				    NULL), MAD_STATUS_BAD_ATTRIBUTE);
	assert_int_equal(get(&lab, NODE_CA, 1, MAD_ATTR_NODE_INFO, NULL),
			 MAD_STATUS_OK);
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

/* Rules must not make two seeds alike, or one seed two runs. */
TEST(test_seed_decides_what_is_lost)
{
	uint64_t hits[3];

	for (unsigned i = 0; i < G_N_ELEMENTS(hits); i++) {
		struct sim_params params = sim_params_default;
		struct sim_rule rule = {
			.match = { .node = SIM_ANY },
			.kind = SIM_FAULT_LOSS, .per_mille = 300,
		};
		AUTO_VALUE(simlab_close) struct simlab lab;

		params.seed = i == 2 ? 8 : 7;
		simlab_open(&lab, "single(3)", &params);
		sim_rule_add(lab.sim, &rule);
		hits[i] = 0;
		for (unsigned k = 0; k < 60; k++)
			hits[i] = hits[i] << 1 |
				(get(&lab, NODE_SWITCH, 0, MAD_ATTR_NODE_INFO,
				     NULL) == LAB_SILENT);
	}
	assert_true(hits[0] == hits[1]);
	assert_true(hits[0] != hits[2]);
}

/* ------------------------------------------------------------ cues, liars */

struct played {
	unsigned times;
	int64_t at;
	uint32_t node;
};

static void
on_cue(struct sim *sim, void *data)
{
	struct played *p = data;

	p->times++;
	p->at = sim_now(sim);
	if (p->node != SNAPSHOT_NONE)
		sim_node_off(sim, p->node);
}

#define SIMLAB_TEST(name) \
	TEST_WITH(name, struct simlab *lab, simlab_single, simlab_tear_down)

SIMLAB_TEST(test_cue_comes_before_the_nth_of_its_kind)
{
	struct played nth = { .node = SNAPSHOT_NONE };
	struct played timed = { .node = SNAPSHOT_NONE };
	struct played fatal = { 0 };
	struct sim_match match = {
		.node = SIM_ANY, .method = MAD_METHOD_GET,
		.attr_id = MAD_ATTR_NODE_DESC,
	};

	sim_at_mad(lab->sim, &match, 3, on_cue, &nth);
	sim_at(lab->sim, 777, on_cue, &timed);
	for (unsigned i = 1; i <= 5; i++) {
		get(lab, NODE_SWITCH, 0, MAD_ATTR_NODE_INFO, NULL);
		get(lab, NODE_SWITCH, 0, MAD_ATTR_NODE_DESC, NULL);
		assert_int_equal(nth.times, i >= 3);
	}
	assert_true(sim_run_idle(lab->sim, G_USEC_PER_SEC));
	assert_int_equal(timed.times, 1);
	assert_int_equal(timed.at, 777);
	/* it may take away the node that was about to serve */
	fatal.node = simlab_node(lab, NODE_CA, 1);
	match.node = fatal.node;
	sim_at_mad(lab->sim, &match, 1, on_cue, &fatal);
	assert_int_equal(get(lab, NODE_CA, 1, MAD_ATTR_NODE_DESC, NULL),
			 LAB_SILENT);
	assert_int_equal(fatal.times, 1);
}

static bool
lie(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	uint32_t *liar = data;

	if (node != *liar)
		return true;
	if (smp_data(answer)[1] == 0x77)
		return false;
	smp_data(answer)[0] = 0x55;
	return true;
}

SIMLAB_TEST(test_liar_rewrites_or_keeps_an_answer)
{
	uint8_t data[SMP_DATA_LEN];
	uint32_t liar;

	liar = simlab_node(lab, NODE_CA, 1);
	sim_set_liar(lab->sim, lie, &liar);
	memset(data, 0, sizeof(data));
	assert_int_equal(simlab_ask(lab, simlab_end(lab, NODE_CA, 1),
				    MAD_METHOD_GET, MAD_ATTR_NODE_DESC, 0,
				    data), MAD_STATUS_OK);
	assert_int_equal(data[0], 0x55);
	assert_int_equal(simlab_ask(lab, simlab_end(lab, NODE_CA, 2),
				    MAD_METHOD_GET, MAD_ATTR_NODE_DESC, 0,
				    data), MAD_STATUS_OK);
	assert_int_not_equal(data[0], 0x55);
	sim_node_describe(lab->sim, liar, "x\x77");
	assert_int_equal(simlab_ask(lab, simlab_end(lab, NODE_CA, 1),
				    MAD_METHOD_GET, MAD_ATTR_NODE_DESC, 0,
				    data), LAB_SILENT);
	sim_set_liar(lab->sim, NULL, NULL);
	assert_int_equal(simlab_ask(lab, simlab_end(lab, NODE_CA, 1),
				    MAD_METHOD_GET, MAD_ATTR_NODE_DESC, 0,
				    data), MAD_STATUS_OK);
	assert_int_equal(data[0], 'x');
}

SIMLAB_TEST(test_silent_switch_still_forwards)
{
	uint32_t sw = simlab_node(lab, NODE_SWITCH, 0);

	sim_node_set_mood(lab->sim, sw, SIM_MOOD_SILENT);
	assert_int_equal(get(lab, NODE_SWITCH, 0, MAD_ATTR_NODE_INFO, NULL),
			 LAB_SILENT);
	assert_int_equal(get(lab, NODE_CA, 1, MAD_ATTR_NODE_INFO, NULL),
			 MAD_STATUS_OK);
	sim_node_set_mood(lab->sim, sw, SIM_MOOD_OBEDIENT);
	assert_int_equal(get(lab, NODE_SWITCH, 0, MAD_ATTR_NODE_INFO, NULL),
			 MAD_STATUS_OK);
}
