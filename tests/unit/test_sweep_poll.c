// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A standby asks the master at the pace that was configured, and takes over
 * after as many questions in vain as was configured; not before, and not much
 * later. Two managers on a simulated fabric; the master is switched off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sim_lab.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)

/* Like lab_sm_start(), with a pace. A request waits 50 ms, once. */
static void
standby_start(struct lab_sm *sm, struct sim *sim, uint32_t port,
	      unsigned poll_ms, unsigned polls_lost)
{
	const struct sm_instance_params params = {
		.wire = { .timeout_ms = 50, .retries = 0, .max_wire = 16 },
		.sweep = {
			.sweep_s = 10, .poll_ms = poll_ms,
			.polls_lost = polls_lost, .policy = &policy_default,
		},
	};

	lab_sm_start_as(sm, sim, port, &params, NULL, NULL);
}

static enum sm_state
role(const struct lab_sm *sm)
{
	struct sm_info info;

	sweep_sm_info(sm->sweep, &info);
	return info.state;
}

/* Until the role is another, for `limit_us` at most. */
static int64_t
run_while(struct lab_sm *sm, enum sm_state state, int64_t limit_us)
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
	struct lab lab;
	struct lab_sm master, standby;
	int64_t took;

	lab_open(&lab, "single(4)", NULL);
	lab_sm_start(&master, lab.sim, lab_end(&lab, NODE_CA, 1), 9);
	assert_true(lab_sm_wait_up(&master, 10 * SECOND));
	standby_start(&standby, lab.sim, lab_end(&lab, NODE_CA, 2), poll_ms,
		      polls_lost);
	run_while(&standby, SM_STATE_DISCOVERING, 10 * SECOND);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	/* it lives, and is asked */
	run_while(&standby, SM_STATE_STANDBY, 20 * SECOND);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	lab_sm_stop(&master);
	took = run_while(&standby, SM_STATE_STANDBY, 100 * SECOND);
	lab_sm_stop(&standby);
	lab_close(&lab);
	return took;
}

static void
test_a_standby_waits_as_configured(void **state)
{
	static const struct {
		unsigned poll_ms, polls_lost;
	} cases[] = {
		{ 1000, 2 }, { 1000, 5 }, { 200, 5 }, { 5000, 3 }, { 0, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		int64_t poll = cases[i].poll_ms ? cases[i].poll_ms : 1000;
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
 * and a question who is master is not asked for strangers. */
static void
test_a_standby_takes_over_from_its_master_only(void **state)
{
	struct sm_info from = { .guid = 0x666, .state = SM_STATE_MASTER };
	struct lab lab;
	struct lab_sm master, standby;

	lab_open(&lab, "single(4)", NULL);
	lab_sm_start(&master, lab.sim, lab_end(&lab, NODE_CA, 1), 9);
	assert_true(lab_sm_wait_up(&master, 10 * SECOND));
	standby_start(&standby, lab.sim, lab_end(&lab, NODE_CA, 2), 1000, 2);
	run_while(&standby, SM_STATE_DISCOVERING, 10 * SECOND);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	sweep_control(standby.sweep, SM_CONTROL_HANDOVER, &from);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	sweep_control(standby.sweep, SM_CONTROL_DISCOVER, &from);
	assert_int_equal(role(&standby), SM_STATE_STANDBY);
	from.guid = master.t->port_guid;
	sweep_control(standby.sweep, SM_CONTROL_HANDOVER, &from);
	assert_int_equal(role(&standby), SM_STATE_MASTER);
	lab_sm_stop(&master);
	lab_sm_stop(&standby);
	lab_close(&lab);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_standby_waits_as_configured),
		cmocka_unit_test(
			test_a_standby_takes_over_from_its_master_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
