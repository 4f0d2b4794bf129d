// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of transactions: its own arithmetic, and what it makes of good,
 * silent, lossy and stalled peers on a virtual clock.
 */
#include <glib.h>

#include "sm/io/window.h"
#include "sm/mad/smp.h"
#include "tests/lib/auto.h"
#include "tests/lib/mad_client_bench.h"
#include "tests/lib/unit.h"

TEST(test_window_grows_to_the_cap_and_not_past_it)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);

	assert_int_equal(mad_client_room(b->x), 4);
	bench_start_all(b, 0, 10000);
	assert_int_equal(scripted_count(b->t), 4);
	assert_int_equal(mad_client_room(b->x), 0);
	assert_int_equal(b->x->pending, 10000);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 10000);
	assert_int_equal(scripted_most_flying(b->t), 128);
	assert_int_equal(b->x->window.size, 128);
	assert_int_equal(mad_client_room(b->x), 128);
	/* first come, first served */
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(b->order[i], i);
	/* 4, 5, .. 16, 18, .. 128 in 32 rounds, then 128 a round */
	assert_in_range(b->when[9999], 90 * delay, 110 * delay);
}

TEST(test_window_stays_where_it_is_while_it_is_empty)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);

	for (unsigned i = 0; i < 500; i++) {
		bench_start(b, i);
		scripted_run(b->t, transport_now(b->t) + 200);
	}
	assert_int_equal(b->ends, 500);
	assert_int_equal(b->x->window.size, 4);
}

/* One agent that takes 20 us an SMP, one after the other: more on the wire
 * would only wait longer. */
static void
peer_in_line(struct transport *t, const struct scripted_sent *s, void *data)
{
	int64_t *free_at = data;

	*free_at = MAX(*free_at, transport_now(t)) + 20;
	scripted_reply(t, s, *free_at - transport_now(t));
}

TEST(test_window_stays_where_round_trips_are_short)
{
	int64_t free_at = 0;
	AUTO(bench) *b = bench_new(&bench_usual, peer_in_line, &free_at);

	bench_start_all(b, 0, 20000);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 20000);
	/* 500 us are 25 SMPs; a step further it sees that it is too large */
	assert_in_range(scripted_most_flying(b->t), 25, 32);
	assert_in_range(b->x->window.size, 22, 32);
}

/* The first attempts of ten. */
static void
peer_loses_ten(struct transport *t, const struct scripted_sent *s, void *data)
{
	if (sent_attr_mod(s) < 2000 || sent_attr_mod(s) >= 2010 ||
	    (sent_tid(s) & 0xf) > 1)
		peer_good(t, s, data);
}

TEST(test_window_halves_once_for_a_burst_and_grows_slowly_after)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);

	bench_start_all(b, 0, 2000);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->x->window.size, 128);

	scripted_set_peer(b->t, peer_loses_ten, &delay);
	bench_start_all(b, 2000, 2128);
	scripted_run(b->t, transport_now(b->t) + TIMEOUT - MS);
	assert_int_equal(b->x->window.size, 128);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_int_equal(b->x->window.size, 64);

	/* the 2000 answers before the loss do not count */
	bench_start_all(b, 2128, 2128 + 512);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_int_equal(b->x->window.size, 64);
	bench_start_all(b, 2128 + 512, 2128 + 1024 * 3);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_in_range(b->x->window.size, 66, 67);
}

static void
answers(struct window *w, unsigned n)
{
	w->out = w->size;
	while (n--)
		window_adapt(w, 100);
}

/* Answers from before a loss are no reason to grow after it. */
TEST(test_a_loss_ends_the_calm)
{
	struct window w;

	window_init(&w, 128);
	w.size = w.threshold = 128;
	window_halve(&w, window_take(&w, false));
	assert_int_equal(w.size, 64);
	answers(&w, 15 * 64);
	window_halve(&w, window_take(&w, false));
	assert_int_equal(w.size, 32);
	answers(&w, 31 * 32);
	assert_int_equal(w.size, 32);
	answers(&w, 32);
	assert_int_equal(w.size, 33);
	window_clear(&w);
}

/* Loses every first attempt. */
static void
peer_hears_twice(struct transport *t, const struct scripted_sent *s, void *data)
{
	if ((sent_tid(s) & 0xf) > 1)
		scripted_reply(t, s, 100);
}

/* Late is not lost. */
TEST(test_answers_after_their_time_out_leave_the_window_as_it_is)
{
	int64_t delay = TIMEOUT + MS;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);

	bench_start_all(b, 0, 100);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_int_equal(b->ends, 100);
	assert_true(b->x->stats.retried > 0);
	assert_int_equal(b->x->window.size, 4);
}

TEST(test_window_never_falls_below_two)
{
	AUTO(bench) *b = bench_new(&bench_usual, peer_hears_twice, NULL);

	bench_start_all(b, 0, 100);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_int_equal(b->ends, 100);
	assert_int_equal(b->x->window.size, 2);
}

static int64_t
run_10000(scripted_peer_fn peer, unsigned first, struct bench **out)
{
	int64_t delay = 100;
	struct bench *b = bench_new(&bench_usual, peer, &delay);
	int64_t last = 0;

	bench_start_all(b, first, first + 10000);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	for (unsigned i = MAX(first, 1u); i < first + 10000; i++) {
		assert_int_equal(b->answered[i], 1);
		last = MAX(last, b->when[i]);
	}
	*out = b;
	return last;
}

TEST(test_silent_peer_costs_the_others_nothing)
{
	AUTO(bench) *alone, *with;
	int64_t t_alone = run_10000(peer_good, 1, &alone);
	int64_t t_with = run_10000(peer_deaf_to_zero, 0, &with);

	/* it holds one place of the window until its time-out */
	assert_in_range(t_with, 1, t_alone + 10 * 100);
	assert_int_equal(with->timed_out[0], 1);
	assert_int_equal(with->when[0], 4 * TIMEOUT);
}

/* 120 silent ones in a row, when the window has grown to 128. */
static void
peer_deaf_in_the_middle(struct transport *t, const struct scripted_sent *s,
			void *data)
{
	if (sent_attr_mod(s) < 5000 || sent_attr_mod(s) >= 5120)
		peer_good(t, s, data);
}

TEST(test_silent_peers_leave_the_others_a_part_of_the_window)
{
	AUTO(bench) *alone, *with;
	int64_t t_alone = run_10000(peer_good, 1, &alone);
	int64_t delay = 100;

	with = bench_new(&bench_usual, peer_deaf_in_the_middle, &delay);
	bench_start_all(with, 1, 10001);
	assert_true(scripted_run_idle(with->t, 100 * TIMEOUT));
	/* 5000 answers through the 8 places that are left, 62 ms */
	assert_in_range(with->when[10000], 1, t_alone + 70 * MS);
	for (unsigned i = 5000; i < 5120; i++)
		assert_int_equal(with->timed_out[i], 1);
}

/* A simulator that stops for a while: whatever times out meanwhile, no more
 * than the window and the retry window may be in its queue. */
struct stall {
	int64_t until;
	int64_t delay;
};

static void
peer_stalls(struct transport *t, const struct scripted_sent *s, void *data)
{
	const struct stall *stall = data;
	int64_t now = transport_now(t);

	if (now < 50 * MS || now >= stall->until)
		scripted_reply(t, s, stall->delay);
	else
		scripted_reply(t, s, stall->until + stall->delay - now);
}

TEST(test_stalled_peer_never_holds_more_than_the_cap)
{
	struct stall stall = { .until = 3000 * MS, .delay = 300 };
	AUTO(bench) *b = bench_new(&bench_usual, peer_stalls, &stall);

	bench_start_all(b, 0, 20000);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_int_equal(b->ends, 20000);
	assert_in_range(scripted_most_flying(b->t), 100, 128 + 16);
	assert_true(b->x->stats.retried > 0);
}

/* Cancelled requests are still in that queue. */
TEST(test_cancelling_makes_no_room_in_a_stalled_peer)
{
	struct stall stall = { .until = 3000 * MS, .delay = 300 };
	AUTO(bench) *b = bench_new(&bench_usual, peer_stalls, &stall);
	uint32_t ids[1000];

	bench_start_all(b, 0, 4000);
	scripted_run(b->t, 100 * MS);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < G_N_ELEMENTS(ids); i++)
			ids[i] = bench_start(b, 4000 + i);
		scripted_run(b->t, transport_now(b->t) + MS);
		for (unsigned i = 0; i < G_N_ELEMENTS(ids); i++)
			mad_client_cancel(b->x, ids[i]);
	}
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	assert_in_range(scripted_most_flying(b->t), 100, 128 + 16);
	assert_int_equal(b->x->pending, 0);
}

/* There is no peer at all, not even to return a MAD: all requests end. */
TEST(test_dead_fabric_ends_every_request)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);

	bench_start_all(b, 0, 1000);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	scripted_set_peer(b->t, NULL, NULL);
	bench_start_all(b, 1000, 2000);
	assert_true(scripted_run_idle(b->t, 100000 * (int64_t)TIMEOUT));
	for (unsigned i = 1000; i < 2000; i++)
		assert_int_equal(b->timed_out[i], 1);
	assert_int_equal(b->ends, 2000);
	assert_int_equal(b->x->pending, 0);
}

/* Every fourth time. */
static void
peer_sometimes_busy(struct transport *t, const struct scripted_sent *s,
		    void *data)
{
	uint8_t mad[MAD_SIZE];

	if (scripted_count(t) % 4) {
		peer_good(t, s, data);
		return;
	}
	memcpy(mad, s->mad, sizeof(mad));
	smp_make_response(mad, MAD_STATUS_BUSY);
	scripted_answer(t, mad, *(int64_t *)data);
}

/* With everything refused, a window's worth is tried at once, not a queue's. */
TEST(test_refused_sends_are_not_tried_all_at_once)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	scripted_refuse(b->t, 1000, TRANSPORT_ERROR_SEND);
	bench_start_all(b, 0, 100);
	assert_int_equal(b->drops, 4);
}

/* Nor over and over, if the transport may accept them in a moment: 1, 2, 4 ..
 * 64 ms later, 8 times within a time-out. */
TEST(test_sends_that_are_put_off_are_tried_less_and_less_often)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	scripted_refuse(b->t, 1000, TRANSPORT_ERROR_AGAIN);
	bench_start_all(b, 0, 100);
	assert_int_equal(b->drops, 4);
	scripted_run(b->t, TIMEOUT);
	assert_int_equal(b->drops, 4 * 8);
}

/* It says nothing about the peers: the window goes on growing. */
TEST(test_refused_and_busy_attempts_do_not_shrink_the_window)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_sometimes_busy, &delay);

	for (unsigned i = 0; i < 5000; i++) {
		if (i % 5 == 0)
			scripted_refuse(b->t, 1, TRANSPORT_ERROR_AGAIN);
		bench_start(b, i);
		if (i % 100 == 0)
			scripted_run(b->t, transport_now(b->t) + MS);
	}
	assert_true(scripted_run_idle(b->t, 5 * TIMEOUT));
	assert_int_equal(b->ends, 5000);
	assert_true(b->x->stats.timed_out == 0 && b->x->stats.retried == 0);
	assert_int_equal(b->x->window.size, 128);
}

/* ---------------------------------------------------- the arithmetic */

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

TEST(test_retries_have_half_of_the_window)
{
	AUTO_VALUE(window_clear) struct window w;

	window_init(&w, 128);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(window_left(&w, true), 2 - i);
		window_take(&w, true);
	}
	assert_int_equal(window_left(&w, true), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(window_left(&w, false), 2 - i);
		window_take(&w, false);
	}
	assert_int_equal(window_left(&w, false), 0);
	window_release(&w, false);
	assert_int_equal(window_left(&w, true), 0);
	window_release(&w, true);
	assert_int_equal(window_left(&w, true), 1);
}

struct late_feeder {
	struct bench *b;
	unsigned next, end;
};

static void
feed_late(void *data)
{
	struct late_feeder *f = data;

	while (mad_client_room(f->b->x) > 0 && f->next < f->end)
		bench_start(f->b, f->next++);
}

/* Every request is lost without a sign, so their ghosts fill the window. Who
 * waits with a pump is called when they are gone, though nothing is queued and
 * nothing is on the wire. */
TEST(test_pump_is_called_once_the_ghosts_are_gone)
{
	const struct mad_client_params params = { .timeout_ms = 1,
						  .max_wire = 1 };
	AUTO(bench) *b = bench_new(&params, NULL, NULL);
	struct late_feeder f = { .b = b, .next = 1000, .end = 1003 };
	int64_t delay = 100;

	for (unsigned i = 0; mad_client_room(b->x) > 0 || i < 2; i++) {
		bench_start(b, i);
		scripted_run(b->t, transport_now(b->t) + 5 * MS);
	}
	assert_int_equal(b->x->pending, 0);
	assert_int_equal(mad_client_room(b->x), 0);
	scripted_set_peer(b->t, peer_good, &delay);
	mad_client_set_pump(b->x, feed_late, &f);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
	for (unsigned i = 1000; i < 1003; i++)
		assert_int_equal(b->answered[i], 1);
}
