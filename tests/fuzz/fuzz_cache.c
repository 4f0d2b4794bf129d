// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of the cache folder that are not guid2lid: the order of the
 * switches, the state of the SA; and lists of GUIDs. The first byte picks
 * which. What is read is written the same, or it is an error.
 */
#include "sm/config/guid_files.h"
#include "sm/sa/sa.h"
#include "tests/fuzz/fuzz.h"
#include "topology/expected.h"
#include "topology/text.h"

static void
try_ranks(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct rank_list *list = rank_file_parse(text, "fuzz", &error);

	if (!list) {
		g_assert_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		return;
	}
	fuzz_assert_comes_back(list, rank_file_parse, rank_file_format,
			       rank_list_free,
			       again->lines->len == list->lines->len);
	rank_list_free(list);
}

static void
try_state(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	struct sa *sa = sa_new(&(struct sa_params){ 0 });

	if (sa_load(sa, text, 0, &error)) {
		sa_save(sa, once, 0);
		g_assert_true(sa_load(sa, once->str, 0, NULL));
		sa_save(sa, twice, 0);
		g_assert_cmpstr(once->str, ==, twice->str);
	} else {
		g_assert_nonnull(error);
	}
	sa_free(sa);
}

static void
try_guids(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = guid_list_parse(text, "fuzz", &error);

	g_assert_true((list == NULL) == (error != NULL));
	for (guint i = 1; list && i < list->len; i++)
		g_assert_cmpuint(g_array_index(list, uint64_t, i - 1), <,
				 g_array_index(list, uint64_t, i));
}

static void
try_expected(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct expected *e = expected_parse(text, "fuzz", &error);

	if (!e) {
		g_assert_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		return;
	}
	fuzz_assert_comes_back(e, expected_parse, expected_format,
			       expected_free, true);
	expected_accept(e, NULL);
	expected_free(e);
}

FUZZ_TARGET(cache)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	uint8_t which = fuzz_byte(&in);
	g_autofree char *text = fuzz_text(&in);

	if (which % 4 == 0)
		try_ranks(text);
	else if (which % 4 == 1)
		try_state(text);
	else if (which % 4 == 2)
		try_guids(text);
	else
		try_expected(text);
	return 0;
}
