// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers in a GLib main loop: when they ring, and what it costs to start one.
 */
#include "sm/io/timers.h"
#include "tests/lib/unit.h"

static void
count(void *data)
{
	++*(unsigned *)data;
}

/* A poll function has no data of its own. */
static unsigned polls_woken;

static gint
count_woken(GPollFD *fds, guint n, gint timeout)
{
	gint ready = g_poll(fds, n, timeout);

	polls_woken += ready > 0;
	return ready;
}

static void
settle(void)
{
	while (g_main_context_iteration(NULL, FALSE))
		;
}

/* Each start of a nearer timer would be a descriptor written, polled and read,
 * and a turn of the loop for nothing. */
TEST(test_starting_a_timer_wakes_no_loop)
{
	struct transport t = {
		.timers = timers_new(g_main_context_default()),
	};
	int64_t far = g_get_monotonic_time() + G_TIME_SPAN_HOUR;
	unsigned id = 0, rang = 0;

	settle();
	polls_woken = 0;
	g_main_context_set_poll_func(NULL, count_woken);
	for (unsigned i = 0; i < 10; i++) {
		id = timers_start(&t, far - i * G_TIME_SPAN_SECOND, count,
				  &rang);
		assert_false(g_main_context_iteration(NULL, FALSE));
	}
	timers_cancel(&t, id);
	assert_false(g_main_context_iteration(NULL, FALSE));
	assert_int_equal(polls_woken, 0);
	g_main_context_set_poll_func(NULL, NULL);
	assert_int_equal(rang, 0);
	timers_free(t.timers);
}

/* The loop sleeps until then, with nothing else to wake it, and not longer. */
TEST(test_sleeping_loop_wakes_for_a_timer)
{
	struct transport t = {
		.timers = timers_new(g_main_context_default()),
	};
	int64_t began = g_get_monotonic_time(), took;
	unsigned rang = 0, turns = 0;

	timers_start(&t, began + G_TIME_SPAN_HOUR, count, &rang);
	timers_start(&t, began + 20000, count, &rang);
	while (!rang) {
		g_main_context_iteration(NULL, TRUE);
		turns++;
	}
	took = g_get_monotonic_time() - began;
	assert_true(took >= 20000);
	assert_in_range(turns, 1, 5);	/* it slept */
	assert_int_equal(rang, 1);
	timers_free(t.timers);
}

TEST(test_next_is_the_nearest)
{
	struct transport t = {
		.timers = timers_new(g_main_context_default()),
	};
	int64_t now = g_get_monotonic_time(), far = now + G_TIME_SPAN_HOUR;
	unsigned id, rang = 0;
	int64_t next;

	assert_true(timers_next(t.timers) == INT64_MAX);
	timers_start(&t, far, count, &rang);
	assert_true(timers_next(t.timers) == far);
	id = timers_start(&t, far - 5, count, &rang);
	timers_start(&t, far + 5, count, &rang);
	assert_true(timers_next(t.timers) == far - 5);
	timers_cancel(&t, id);
	assert_true(timers_next(t.timers) == far);
	/* one for a moment that is over is due now */
	timers_start(&t, now - 5, count, &rang);
	next = timers_next(t.timers);
	assert_in_range(next, now, g_get_monotonic_time());
	settle();
	assert_int_equal(rang, 1);
	assert_true(timers_next(t.timers) == far);
	timers_free(t.timers);
}
