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
