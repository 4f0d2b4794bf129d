// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The process between a lab and the programs in it.
 */
#include <signal.h>

#include "lab/keeper.h"
#include "tests/lib/unit.h"

/* An interrupt at the prompt reached it before it had blocked signals; then each
 * program had status 137. */
TEST(test_keeper_lives_through_signals_from_the_start)
{
	char *argv[] = { "true", NULL };
	g_auto(GStrv) env = g_get_environ();
	struct keeper k = { 0 };

	for (unsigned i = 0; i < 20; i++) {
		assert_true(keeper_start(&k, "none", NULL));
		kill(k.pid, SIGINT);
		assert_int_equal(keeper_run(&k, argv, env), 0);
		keeper_stop(&k);
	}
}

/* A pipeline at the prompt got SIGKILL after a second: SIGTERM was for its shell. */
TEST(test_keeper_terminates_what_a_shell_leaves)
{
	AUTO_ENTER(folder);
	char *argv[] = { "sh", "-c", "(sh -c 'trap \"touch ended; exit\" TERM; "
		"touch ready; while :; do sleep 0.01; done'; :) & "
		"until test -e ready; do sleep 0.01; done", NULL };
	g_auto(GStrv) env = g_get_environ();
	struct keeper k = { 0 };

	assert_true(keeper_start(&k, "none", NULL));
	assert_int_equal(keeper_run(&k, argv, env), 0);
	keeper_stop(&k);
	assert_int_equal(folder_remove(folder), 2);
}
