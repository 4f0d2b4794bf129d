// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches as text: round trip, and nothing of a file that is
 * damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "sm/config/rank_file.h"

static const char good[] =
	"engine updn\n"
	"0x0002c90300000001 0\n"
	"0x0002c90300000002 4294967294\n";

static void
test_what_is_written_is_read(void **state)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	struct rank_list *list = rank_file_parse(good, "ranks", &error);

	assert_null(error);
	assert_string_equal(list->engine, "updn");
	assert_int_equal(rank_list_find(list, 0x0002c90300000002)->rank,
			 4294967294u);
	assert_int_equal(rank_list_find(list, 0x0002c90300000001)->rank, 0);
	assert_null(rank_list_find(list, 0x0002c90300000003));
	rank_file_format(list, out);
	assert_string_equal(out->str, good);
	rank_list_free(list);
}

static void
test_damaged_list_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{ "", 1 },
		{ "engine\n", 1 },
		{ "engine updn ftree\n", 1 },
		{ "0x1 2\n", 1 },
		{ "engine updn\n0x1\n", 2 },
		{ "engine updn\n0x1 2 3\n", 2 },
		{ "engine updn\n0x1 4294967295\n", 2 },
		{ "engine updn\n1 2\n", 2 },
		{ "engine updn\n0x2 2\n0x1 3\n", 3 },
		{ "engine updn\n0x2 2\n0x2 3\n", 3 },
		{ "engine updn\n0x2 2", 3 },
		{ "engine updn\n\n0x2 2\n", 2 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *text = g_strdup_printf("ranks:%u: damaged",
							bad[i].line);

		assert_null(rank_file_parse(bad[i].text, "ranks", &error));
		assert_string_equal(error->message, text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_damaged_list_is_refused_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
