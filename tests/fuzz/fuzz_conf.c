// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The configuration file.
 */
#include "sm/config/options.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

/* Each line says where, but the last may say how many more there are. */
static void
assert_lines(const char *message)
{
	g_auto(GStrv) lines = g_strsplit(message, "\n", -1);
	guint n = g_strv_length(lines);

	g_assert_cmpuint(n, <=, 21);
	for (guint i = 0; i < MIN(n, 20); i++)
		g_assert_true(g_str_has_prefix(lines[i], "fuzz.conf:"));
}

FUZZ_TARGET(conf)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	struct options *conf = options_new();

	if (options_parse(conf, text, "fuzz.conf", warnings, &error)) {
		g_assert_no_error(error);
		g_assert_cmpuint(conf->max_smps, >=, 1);
		g_assert_cmpuint(conf->priority, <=, 15);
		g_assert_cmpuint(conf->lmc, <=, 7);
	} else {
		g_assert_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		assert_lines(error->message);
	}
	options_free(conf);
	return 0;
}
