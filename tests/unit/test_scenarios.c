// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plays tests/scenarios/: each scenario is a test. Three programs that run side
 * by side play every third each; with arguments one plays all: of files, or those
 * whose name matches a pattern. MINISM_TEST_LOG shows what the subnet managers
 * log. Those called "large: .." are played if MINISM_TEST_LARGE is set.
 */
#include "tests/lib/scenario.h"
#include "tests/lib/unit.h"

static void
test_scenario(void **state)
{
	g_autofree char *why = NULL;

	if (!scenario_play(*state, &why))
		fail_msg("%s", why);
}

int
main(int argc, char **argv)
{
	g_autoptr(GArray) tests = g_array_new(FALSE, TRUE,
					      sizeof(struct CMUnitTest));
	g_autofree char *path = folder_source("tests/scenarios", NULL);
	g_autoptr(GPtrArray) files = folder_list(path, ".scn");
	g_autoptr(GPtrArray) all =
		g_ptr_array_new_with_free_func((GDestroyNotify)
					       g_ptr_array_unref);
	unsigned n = 0, part = g_str_has_suffix(argv[0], "_1") ? 1 :
		g_str_has_suffix(argv[0], "_2") ? 2 : 0;

	if (!g_getenv("MINISM_TEST_LARGE"))
		cmocka_set_skip_filter("large: *");
	g_assert(files->len > 0);
	if (argc > 1 && g_str_has_suffix(argv[1], ".scn"))
		g_ptr_array_set_size(files, 0);
	for (int i = 1; i < argc; i++)
		if (g_str_has_suffix(argv[i], ".scn"))
			g_ptr_array_add(files, g_strdup(argv[i]));
		else
			cmocka_set_test_filter(argv[i]);
	for (guint i = 0; i < files->len; i++) {
		GPtrArray *list = scenarios_read(files->pdata[i]);

		g_ptr_array_add(all, list);
		EACH_PTR(struct scenario, s, list) {
			struct CMUnitTest test = {
				.name = s->title, .test_func = test_scenario,
				.initial_state = s,
			};

			if (argc > 1 || n++ % 3 == part)
				g_array_append_val(tests, test);
		}
	}
	return _cmocka_run_group_tests("scenarios",
				       (const struct CMUnitTest *)tests->data,
				       tests->len, NULL, NULL);
}
