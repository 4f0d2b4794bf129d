// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of LIDs as text: what OpenSM wrote is read, what is written is
 * byte for byte what OpenSM would write, and a damaged file is not believed in
 * any of its lines.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/config/guid_files.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"
#include "topology/text.h"

static const char golden[] =
"0x0000000000001001 0x0007 0x0007\n"
"\n"
"0x0000000000100004 0x0008 0x0009\n"
"\n"
"0x0002c90300a1b2c3 0xbf80 0xbfff\n"
"\n";

static const struct lid_range ranges[] = {
	{ 0x1001, 7, 7 }, { 0x100004, 8, 9 },
	{ 0x0002c90300a1b2c3, 0xbf80, 0xbfff },
};

static void
expect_ranges(const char *text)
{
	GError *error = NULL;
	GArray *got = guid2lid_parse(text, "g2l", &error);

	if (!got)
		fail_msg("%s", error->message);
	assert_int_equal(got->len, G_N_ELEMENTS(ranges));
	for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
		struct lid_range *r = &g_array_index(got, struct lid_range, i);

		assert_int_equal(r->guid, ranges[i].guid);
		assert_int_equal(r->min, ranges[i].min);
		assert_int_equal(r->max, ranges[i].max);
	}
	g_array_free(got, TRUE);
}

TEST(test_golden_text_is_read)
{
	expect_ranges(golden);
}

TEST(test_any_order_and_spelling_is_the_same)
{
	expect_ranges("# memory\r\n"
		      "0X2C90300A1B2C3\t0xBF80  0xbfff \r\n"
		      "  0x100004 0x8 0x9\n\n\n"
		      "1001 7 7");
}

TEST(test_golden_text_is_written)
{
	GArray *array = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	GString *out = g_string_new(NULL);

	g_array_append_vals(array, ranges, G_N_ELEMENTS(ranges));
	guid2lid_format(array, out);
	assert_string_equal(out->str, golden);
	g_string_free(out, TRUE);
	g_array_free(array, TRUE);
}

TEST(test_empty_text_is_an_empty_memory)
{
	static const char *const texts[] = { "", "\n\n", "# nothing" };

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		GArray *got = guid2lid_parse(texts[i], "g2l", NULL);

		assert_non_null(got);
		assert_int_equal(got->len, 0);
		g_array_free(got, TRUE);
	}
}

#define NO_RANGE	" is no range of a port: it must be 2^LMC LIDs and " \
			"begin at a multiple of that"
#define NO_LINE		"this is not \"0xPORTGUID 0xMIN 0xMAX\""

static const struct {
	const char *text;
	const char *error;
} damaged[] = {
	{ "0x1 0x1\n", "g2l:1:1: " NO_LINE },
	{ "0x1 0x1 0x1 0x1\n", "g2l:1:1: " NO_LINE },
	{ "0x1 0x1 0x1\n\n0x2 0x2 0x", "g2l:3:1: " NO_LINE },
	{ "0x1 0x1 0x1\n\n0x2 0x2", "g2l:3:1: " NO_LINE },
	{ "0x1,0x1,0x1\n", "g2l:1:1: " NO_LINE },
	{ "guid 0x1 0x1\n", "g2l:1:1: " NO_LINE },
	{ "0x1 0x10001 0x10001\n", "g2l:1:1: " NO_LINE },
	{ "0x10000000000000001 0x1 0x1\n", "g2l:1:1: " NO_LINE },
	{ "0x1 -1 -1\n", "g2l:1:1: " NO_LINE },
	{ "\n0x0 0x1 0x1\n", "g2l:2:1: PortGUID 0 is no port's" },
	{ "0x1 0x0 0x0\n", "g2l:1:1: 0x0000 to 0x0000 are no unicast LIDs" },
	{ "0x1 0x5 0x4\n", "g2l:1:1: 0x0005 to 0x0004 are no unicast LIDs" },
	{ "0x1 0xc000 0xc000\n",
	  "g2l:1:1: 0xc000 to 0xc000 are no unicast LIDs" },
	{ "0x1 0xbfff 0xc000\n",
	  "g2l:1:1: 0xbfff to 0xc000 are no unicast LIDs" },
	{ "0x1 0xffff 0xffff\n",
	  "g2l:1:1: 0xffff to 0xffff are no unicast LIDs" },
	{ "0x1 0x4 0x6\n", "g2l:1:1: 0x0004 to 0x0006" NO_RANGE },
	{ "0x1 0x3 0x4\n", "g2l:1:1: 0x0003 to 0x0004" NO_RANGE },
	{ "0x1 0x100 0x1ff\n", "g2l:1:1: 0x0100 to 0x01ff" NO_RANGE },
	{ "0x1 0x4 0x7\n\n0x2 0x6 0x6\n",
	  "g2l:3:1: LID 0x0006 is that of line 1" },
	{ "0x5 0x4 0x4\n0x2 0x1 0x1\n0x5 0x9 0x9\n",
	  "g2l:3:1: PortGUID 0x0000000000000005 is that of line 1" },
};

TEST(test_damaged_text_is_refused)
{
	for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
		g_autoptr(GError) error = NULL;

		if (guid2lid_parse(damaged[i].text, "g2l", &error))
			fail_msg("accepted: %s", damaged[i].text);
		assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		assert_string_equal(error->message, damaged[i].error);
	}
}

/* A file that was cut while it was written is refused, or it is a shorter
 * memory that says nothing else about the ports it still has. */
TEST(test_cut_text_is_never_another_memory)
{
	for (size_t len = 0; len < strlen(golden); len++) {
		g_autofree char *text = g_strndup(golden, len);
		GArray *got = guid2lid_parse(text, "g2l", NULL);

		for (guint i = 0; got && i < got->len; i++)
			assert_memory_equal(&g_array_index(got,
						struct lid_range, i).guid,
					    &ranges[i].guid,
					    sizeof(ranges[i].guid));
		for (guint i = 0; got && i < got->len; i++)
			assert_int_equal(g_array_index(got, struct lid_range,
						       i).min, ranges[i].min);
		if (got)
			g_array_free(got, TRUE);
	}
}

/* 49,151 lines in random order come back sorted. */
TEST(test_full_memory_comes_back)
{
	const char *given = g_getenv("TEST_SEED");
	uint64_t seed = given ? g_ascii_strtoull(given, NULL, 0) : 99;
	uint64_t rng = seed;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	GArray *mixed;
	GArray *back;
	GString *text = g_string_new(NULL);

	print_message("# TEST_SEED=%" G_GUINT64_FORMAT "\n", seed);
	for (unsigned lid = LID_UNICAST_MIN; lid <= LID_UNICAST_MAX; lid++) {
		struct lid_range r = {
			.guid = UINT64_C(0x2c90300000000) + 3 * lid,
			.min = (uint16_t)lid,
			.max = (uint16_t)lid,
		};

		g_array_append_val(all, r);
	}
	mixed = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	g_array_append_vals(mixed, all->data, all->len);
	for (guint i = mixed->len; i > 1; i--) {
		struct lid_range *r = (void *)mixed->data;
		guint j = prng_below(&rng, i);
		struct lid_range held = r[i - 1];

		r[i - 1] = r[j];
		r[j] = held;
	}
	guid2lid_format(mixed, text);
	back = guid2lid_parse(text->str, "g2l", NULL);
	assert_non_null(back);
	assert_int_equal(back->len, LID_UNICAST_MAX);
	for (guint i = 0; i < back->len; i++) {
		struct lid_range *a = &g_array_index(all, struct lid_range, i);
		struct lid_range *b = &g_array_index(back, struct lid_range, i);

		assert_true(a->guid == b->guid && a->min == b->min &&
			    a->max == b->max);
	}
	g_string_free(text, TRUE);
	g_array_free(all, TRUE);
	g_array_free(mixed, TRUE);
	g_array_free(back, TRUE);
}
