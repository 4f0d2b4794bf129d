// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A standby asks the master at the pace that was configured, and takes over
 * after as many questions in vain as was configured; not before, and not much
 * later. Two managers on a simulated fabric; the master is switched off.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/sim_lab.h"
#include "tests/lib/unit.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)

/* With a pace. A request waits 50 ms, once. */
static void
standby_start(struct manager *sm, struct sim *sim, uint32_t port,
	      unsigned poll_ms, unsigned polls_lost)
{
	const struct sm_instance_params params = {
		.wire = { .timeout_ms = 50, .retries = 0, .max_wire = 16 },
		.sweep = {
			.sweep_s = 10, .poll_ms = poll_ms,
			.polls_lost = polls_lost, .policy = &policy_default,
		},
	};

	manager_open(sm, sim, port, &params, NULL);
}

static void
master_start(struct manager *sm, struct sim *sim, uint32_t port)
{
	struct sm_instance_params params = manager_defaults;

	params.sweep.priority = 9;
	manager_open(sm, sim, port, &params, NULL);
}

static enum sm_state
role(const struct manager *sm)
{
	struct sm_info info;

	sweep_sm_info(sm->sweep, &info);
	return info.state;
}

/* Until the role is another, for `limit_us` at most. */
static int64_t
run_while(struct manager *sm, enum sm_state state, int64_t limit_us)
{
	int64_t began = sim_now(sm->sim);

	while (role(sm) == state && sim_now(sm->sim) - began < limit_us)
		assert_true(sim_step(sm->sim));
	return sim_now(sm->sim) - began;
}

/* From the master's death to the standby's doubt. */
static int64_t
takeover(unsigned poll_ms, unsigned polls_lost)
{
	struct simlab lab;
	struct manager master, standby;
	int64_t took;

	simlab_open(&lab, "single(4)", NULL);
	master_start(&master, lab.sim, simlab_end(&lab, NODE_CA, 1));
	assert_true(manager_wait_up(&master, 10 * SECOND));
	standby_start(&standby, lab.sim, simlab_end(&lab, NODE_CA, 2), poll_ms,
		      polls_lost);
	run_while(&standby, SM_STATE_DISCOVERING, 10 * SECOND);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	/* it lives, and is asked */
	run_while(&standby, SM_STATE_STANDBY, 20 * SECOND);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	manager_close(&master);
	took = run_while(&standby, SM_STATE_STANDBY, 100 * SECOND);
	manager_close(&standby);
	simlab_close(&lab);
	return took;
}

TEST(test_a_standby_waits_as_configured)
{
	static const struct {
		unsigned poll_ms, polls_lost;
	} cases[] = {
		{ 1000, 2 }, { 1000, 5 }, { 200, 5 }, { 5000, 3 }, { 0, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		int64_t poll = cases[i].poll_ms ? cases[i].poll_ms : 250;
		unsigned lost = cases[i].polls_lost ? cases[i].polls_lost : 2;
		int64_t took = takeover(cases[i].poll_ms,
					cases[i].polls_lost) / 1000;

		/* the first question comes somewhere in the first pause; each
		 * costs its time-out before the next pause */
		assert_in_range(took, (lost - 1) * poll,
				lost * (poll + 50) + 50);
	}
}

/* Any port can send SMInfo controls. The fabric is taken from its master only,
 * and foreign ports make it ask for no master. */
TEST(test_a_standby_takes_over_from_its_master_only)
{
	struct sm_info from = { .guid = 0x666, .state = SM_STATE_MASTER };
	AUTO_VALUE(simlab_close) struct simlab lab;
	struct manager master, standby;

	simlab_open(&lab, "single(4)", NULL);
	master_start(&master, lab.sim, simlab_end(&lab, NODE_CA, 1));
	assert_true(manager_wait_up(&master, 10 * SECOND));
	standby_start(&standby, lab.sim, simlab_end(&lab, NODE_CA, 2), 1000, 2);
	run_while(&standby, SM_STATE_DISCOVERING, 10 * SECOND);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	sweep_control(standby.sweep, SM_CONTROL_HANDOVER, &from);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	sweep_control(standby.sweep, SM_CONTROL_DISCOVER, &from);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	from.guid = master.t->port_guid;
	sweep_control(standby.sweep, SM_CONTROL_HANDOVER, &from);
	assert_int_equal(role(&standby), SM_STATE_MASTER);
	manager_close(&master);
	manager_close(&standby);
}
