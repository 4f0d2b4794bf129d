// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The main program of unit tests: see unit.h. An argument is a pattern, and
 * only tests whose name matches run. Those called large_* run if
 * MINISM_TEST_LARGE is set.
 */
#include <glib.h>

#include "tests/lib/unit.h"

static GArray *all;

void
unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
	 CMFixtureFunction tear_down)
{
	const struct CMUnitTest added = {
		.name = name, .test_func = test,
		.setup_func = set_up, .teardown_func = tear_down,
	};

	if (!all)
		all = g_array_new(FALSE, FALSE, sizeof(added));
	g_array_append_val(all, added);
}

int
main(int argc, char **argv)
{
	int failed;

	/* An error that is set twice is a warning of GLib's. */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
	if (!g_getenv("MINISM_TEST_LARGE"))
		cmocka_set_skip_filter("large_*");
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = _cmocka_run_group_tests(g_get_prgname(),
					 (const void *)all->data, all->len,
					 NULL, NULL);
	g_array_unref(all);
	return failed;
}
