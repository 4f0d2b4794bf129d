// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The arithmetic of the window. What it makes of peers: tests/scripts/window.scn.
 */
#include "sm/io/window.h"
#include "tests/lib/unit.h"

#define MS	1000

TEST(test_overtaken_needs_a_margin)
{
	AUTO_VALUE(window_clear) struct window w;

	window_init(&w, 128);
	assert_true(window_answered(&w, 65));
	assert_false(window_overtook(&w, 1));
	assert_true(window_answered(&w, 66));
	assert_true(window_overtook(&w, 1));
	assert_false(window_overtook(&w, 2));
	/* an answer to an older one is no news */
	assert_false(window_answered(&w, 60));
}

TEST(test_ghosts_count_until_answered_overtaken_or_old)
{
	AUTO_VALUE(window_clear) struct window w;

	window_init(&w, 1);	/* the queue's bound is 144 */
	for (uint32_t tid = 1; tid <= 144; tid++) {
		assert_int_equal(window_left(&w, false), 1);
		window_add_ghost(&w, window_take(&w, false), tid, tid);
		window_release(&w, false);
	}
	assert_int_equal(window_left(&w, false), 0);
	assert_int_equal(window_left(&w, true), 0);

	assert_true(window_end_ghost(&w, 999) == 0);
	assert_true(window_end_ghost(&w, 12) == 12);
	assert_true(window_end_ghost(&w, 12) == 0);
	assert_int_equal(window_left(&w, false), 1);
	assert_true(window_answered(&w, 144));
	assert_int_equal(window_next_expiry(&w), 80 + 5 * 1000 * MS);
	window_expire_ghosts(&w, 143 + 5 * 1000 * MS);
	assert_int_equal(window_next_expiry(&w), 144 + 5 * 1000 * MS);
	window_expire_ghosts(&w, 144 + 5 * 1000 * MS);
	assert_int_equal(window_next_expiry(&w), -1);
}
