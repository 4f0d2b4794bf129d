// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables as text. What was read for a fabric and is written must be read the
 * same.
 */
#include "tools/lft_text.h"
#include "tests/fuzz/fuzz.h"
#include "topology/generate.h"
#include "topology/text.h"

static struct lft *
read_tables(const struct lft_text *file, const struct snapshot *s,
	    const struct lid_map *lids)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	struct lft *lft = lft_text_tables(file, s, lids, notes, &error);

	if (!lft)
		g_assert_error(error, LFT_TEXT_ERROR, LFT_TEXT_ERROR_FABRIC);
	return lft;
}

static void
check_tables(const struct lft_text *file)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct snapshot *s = generate_fabric("PGFT(2,4;1,2)", NULL, NULL);
	struct lid_map *lids = lid_assign(s, 0,
		(const struct lid_range *)(const void *)file->owners->data,
		file->owners->len, NULL, NULL);
	struct lft *lft = read_tables(file, s, lids), *same;
	struct lft_text *again;

	if (lft) {
		lft_text_write(s, lids, lft, text);
		again = lft_text_parse(text->str, text->len, "again", &error);
		g_assert_no_error(error);
		same = read_tables(again, s, lids);
		for (uint32_t sw = 0; sw < lft->n_switches; sw++)
			for (uint32_t lid = 1; lid <= same->top; lid++)
				g_assert_cmpuint(lft_row(same, sw)[lid], ==,
						 lft_row(lft, sw)[lid]);
		lft_free(same);
		lft_text_free(again);
	}
	lft_free(lft);
	lid_map_free(lids);
	snapshot_unref(s);
}

FUZZ_TARGET(lft_text)
{
	g_autoptr(GError) error = NULL;
	struct lft_text *file = lft_text_parse((const char *)data,
					     MIN(size, FUZZ_MAX), "fuzz",
					     &error);

	if (!file) {
		fuzz_assert_refused(error, LFT_TEXT_ERROR, LFT_TEXT_ERROR_SYNTAX);
		return 0;
	}
	check_tables(file);
	lft_text_free(file);
	return 0;
}
