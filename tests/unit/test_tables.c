// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The arena of forwarding tables and what is known of the switches' own.
 */
#include "tests/lib/unit.h"

static void
assert_row_empty(const struct lft *lft, uint32_t sw)
{
	for (uint32_t i = 0; i < lft->stride; i++)
		assert_int_equal(lft_row(lft, sw)[i], LFT_NO_PATH);
}

/* A row has room for LIDs 0 to top, and for no block more. Small arenas and those
 * that ask for large pages alike. */
TEST(test_rows_are_empty_aligned_and_apart)
{
	static const struct {
		uint32_t n;
		uint16_t top;
		uint32_t stride;
	} cases[] = {
		{ 1, 0, 64 }, { 1, 1, 64 }, { 1, 63, 64 }, { 1, 64, 128 },
		{ 3, 127, 128 }, { 3, 128, 192 }, { 1, LID_UNICAST_MAX, 0xc000 },
		{ 0, 20000, 20032 }, { 130, 20000, 20032 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO(lft) *lft = lft_new(cases[i].n, cases[i].top);

		assert_int_equal(lft->stride, cases[i].stride);
		assert_int_equal((uintptr_t)lft->ports % LFT_BLOCK, 0);
		for (uint32_t sw = 0; sw < lft->n_switches; sw += 2) {
			assert_row_empty(lft, sw);
			memset(lft_row(lft, sw), 7, lft->stride);
		}
		for (uint32_t sw = 1; sw < lft->n_switches; sw += 2)
			assert_row_empty(lft, sw);
		if (cases[i].n)
			assert_int_equal(lft_row(lft, 0)[lft->stride - 1], 7);
	}
}

/* The same memory, until one of them is changed. */
TEST(test_seen_shares_tables)
{
	AUTO(lft_seen) *seen = lft_seen_new(2, 100), *copy = NULL;
	AUTO(lft) *lft = lft_new(2, 100), *wide = NULL;
	uint8_t bytes[LFT_BLOCK] = { 7 };

	lft_seen_set(seen, 1, 1, bytes);
	lft_seen_share(seen, lft);
	assert_ptr_not_equal(seen->lft, lft);
	lft_seen_forget(seen, 1, 1);
	lft_seen_share(seen, lft);
	assert_ptr_not_equal(seen->lft, lft);
	memcpy(lft_row(lft, 1) + LFT_BLOCK, bytes, LFT_BLOCK);
	lft_row(lft, 0)[0] = 3;		/* of switch 0 nothing was read */
	lft_seen_share(seen, lft);
	lft_seen_set(seen, 1, 1, bytes);
	assert_ptr_equal(seen->lft, lft);
	assert_null(lft_seen_block(seen, 0, 0));

	copy = lft_seen_copy(seen);
	bytes[0] = 8;
	lft_seen_set(copy, 0, 0, bytes);
	assert_int_equal(lft_seen_block(copy, 0, 0)[0], 8);
	assert_int_equal(lft_seen_block(copy, 1, 1)[0], 7);
	assert_null(lft_seen_block(seen, 0, 0));
	lft_seen_forget_all(seen);
	assert_null(lft_seen_block(seen, 1, 1));
	assert_ptr_equal(seen->lft, lft);
	assert_int_equal(lft_row(lft, 0)[0], 3);
	wide = lft_widen(lft, 101);	/* a block ends above the top */
	assert_int_equal(lft_row(wide, 1)[101], LFT_NO_PATH);
}

/* Of several Sets each may have been executed, those of another block as well. */
TEST(test_all_that_may_be_held_is_compared)
{
	AUTO(lft) *lft = lft_new(2, 100), *all = NULL;
	g_autoptr(GArray) parts = g_array_new(FALSE, FALSE,
					      sizeof(struct lft_part));
	struct lft_part part = { .sw = 0, .block = 0, .bytes = { 2 } };
	unsigned sets[2] = { 0 }, n = 0;

	g_array_append_val(parts, part);
	for (part.sw = part.block = 1; n < LFT_PARTS_MAX + 1; n++) {
		part.bytes[0] = (uint8_t)n;
		g_array_append_val(parts, part);
	}
	all = lft_with(lft, parts);
	assert_int_equal(lft_row(all, 1)[LFT_BLOCK], LFT_NO_PATH);
	for (const struct lft *o = all->other; o; o = o->other) {
		sets[0] |= 1u << lft_row(o, 0)[0] % 32;
		sets[1] |= 1u << lft_row(o, 1)[LFT_BLOCK];
	}
	assert_int_equal(sets[0], 1u << 2 | 1u << 31);
	assert_int_equal(sets[1], (1u << LFT_PARTS_MAX) - 1);
}

TEST(test_seen_ignores_what_is_past_the_end)
{
	AUTO(lft_seen) *seen = lft_seen_new(2, 63);
	uint8_t bytes[LFT_BLOCK] = { 1 };

	/* Were it stored, it would be block 0 of the next switch. */
	lft_seen_set(seen, 0, 1, bytes);
	assert_null(lft_seen_block(seen, 0, 1));
	assert_null(lft_seen_block(seen, 1, 0));
	assert_row_empty(seen->lft, 1);
	assert_null(lft_seen_block(seen, 2, 0));
	assert_null(lft_seen_block(NULL, 0, 0));
}
