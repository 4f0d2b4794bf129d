// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sender of RMPP, with answers made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/rmpp_lab.h"

struct bench {
	struct rmpp_sender *s;
	struct rmpplab_source src;
	uint8_t mad[MAD_SIZE];	/* the last one that went out */
	struct rmpp_header h;
};

static void
bench_open(struct bench *b, uint8_t method, uint64_t len, bool known,
	   unsigned window)
{
	uint8_t header[MAD_SIZE];
	struct rmpp_message message = {
		.source = rmpplab_read, .data = &b->src,
		.length = known ? len : RMPP_LENGTH_UNKNOWN,
		.window = window,
	};

	memset(b, 0, sizeof(*b));
	b->src.len = len;
	rmpplab_header(header, method, RMPPLAB_TID);
	b->s = rmpp_sender_new(&rmpplab_usual, header, &message, 0);
}

static void
bench_close(struct bench *b)
{
	assert_int_equal(b->src.calls_after_end, 0);
	rmpp_sender_free(b->s);
}

static bool
next(struct bench *b, int64_t now)
{
	memset(b->mad, 0xee, MAD_SIZE);
	if (!rmpp_sender_next(b->s, b->mad, now))
		return false;
	assert_true(rmpp_header_read(b->mad, MAD_SIZE, &b->h));
	assert_int_equal(b->h.version, 1);
	assert_true(b->h.flags & RMPP_FLAG_ACTIVE);
	assert_int_equal(b->mad[45], 8);
	return true;
}

/* What goes out now is the segments from..to. */
static void
expect_segments(struct bench *b, unsigned from, unsigned to, int64_t now)
{
	for (unsigned i = from; i <= to; i++) {
		assert_true(next(b, now));
		assert_int_equal(b->h.type, RMPP_TYPE_DATA);
		assert_int_equal(b->h.status, 0);
		assert_int_equal(b->h.segment, i);
		assert_int_equal(!!(b->h.flags & RMPP_FLAG_FIRST), i == 1);
		assert_int_equal(b->mad[56], rmpplab_byte((i - 1) * ROOM));
	}
	assert_false(next(b, now));
}

static void
answer(struct bench *b, const struct rmpp_header *h, int64_t now)
{
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, 0, RMPPLAB_TID);
	rmpp_header_write(mad, h);
	rmpp_sender_receive(b->s, mad, now);
}

static void
ack(struct bench *b, uint32_t segment, uint32_t window_last, int64_t now)
{
	answer(b, &(struct rmpp_header) {
		.version = 1, .type = RMPP_TYPE_ACK, .flags = 1,
		.resp_time = RMPP_NO_RESP_TIME,
		.segment = segment, .length = window_last }, now);
}

static void
expect_abort(struct bench *b, unsigned status, int64_t now)
{
	assert_true(next(b, now));
	assert_int_equal(b->h.type, RMPP_TYPE_ABORT);
	assert_int_equal(b->h.status, status);
	assert_int_equal(b->h.segment, 0);
	assert_int_equal(b->h.length, 0);
	assert_false(next(b, now));
	assert_int_equal(rmpp_sender_outcome(b->s), RMPP_GAVE_UP);
	assert_int_equal(rmpp_sender_status(b->s), status);
	assert_true(rmpp_sender_deadline(b->s) == RMPP_NO_DEADLINE);
}

static void
test_short_message_is_first_and_last(void **state)
{
	static const struct {
		unsigned len, payload;
	} cases[] = { { 0, 20 }, { 1, 21 }, { 112, 132 }, { 200, 220 } };

	for (size_t i = 0; i < G_N_ELEMENTS(cases) * 2; i++) {
		unsigned len = cases[i / 2].len;
		struct bench b;

		bench_open(&b, METHOD_GET_TABLE_RESP, len, i % 2, 1);
		assert_true(next(&b, 0));
		assert_int_equal(b.h.flags, 7);
		assert_int_equal(b.h.segment, 1);
		assert_int_equal(b.h.length, cases[i / 2].payload);
		for (unsigned k = 0; k < ROOM; k++)
			assert_int_equal(b.mad[56 + k],
					 k < len ? rmpplab_byte(k) : 0);
		assert_false(next(&b, 0));
		assert_int_equal(rmpp_sender_outcome(b.s), RMPP_GOING_ON);
		ack(&b, 1, 9, 10);
		assert_int_equal(rmpp_sender_outcome(b.s), RMPP_DONE);
		assert_false(next(&b, 10));
		assert_true(rmpp_sender_deadline(b.s) == RMPP_NO_DEADLINE);
		bench_close(&b);
	}
}

static void
test_lengths_stand_in_the_first_and_the_last_segment(void **state)
{
	for (unsigned known = 0; known < 2; known++) {
		struct bench b;

		bench_open(&b, METHOD_GET_TABLE_RESP, 450, known, 8);
		assert_true(next(&b, 0));
		assert_int_equal(b.h.flags, 3);
		assert_int_equal(b.h.length, known ? 510 : 0);
		assert_true(next(&b, 0));
		assert_int_equal(b.h.flags, 1);
		assert_true(next(&b, 0));
		assert_int_equal(b.h.flags, 5);
		assert_int_equal(b.h.length, 70);
		bench_close(&b);
	}
}

static void
test_full_last_segment_is_the_last(void **state)
{
	for (unsigned known = 0; known < 2; known++) {
		struct bench b;

		bench_open(&b, METHOD_GET_TABLE_RESP, 600, known, 8);
		expect_segments(&b, 1, 3, 0);
		ack(&b, 3, 11, 1);
		assert_int_equal(rmpp_sender_outcome(b.s), RMPP_DONE);
		bench_close(&b);
	}
}

static void
test_window_opens_with_the_acks(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 1);
	expect_segments(&b, 1, 1, 0);
	ack(&b, 1, 4, 10);
	expect_segments(&b, 2, 4, 10);
	ack(&b, 2, 4, 20);
	expect_segments(&b, 5, 4, 20);
	/* as far as our own window of 8 lets us, however much is granted */
	ack(&b, 3, 1000, 30);
	expect_segments(&b, 5, 11, 30);
	ack(&b, 11, 1000, 40);
	expect_segments(&b, 12, 19, 40);
	bench_close(&b);
}

static void
test_source_is_asked_one_segment_ahead(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 1000 * ROOM, false, 1);
	assert_int_equal(b.src.at, 0);
	expect_segments(&b, 1, 1, 0);
	for (unsigned acked = 1; acked < 900; acked += 8) {
		ack(&b, acked, 2000, 1);
		expect_segments(&b, acked + 1, acked + 8, 1);
		assert_int_equal(b.src.at, (acked + 9) * ROOM);
	}
	bench_close(&b);
}

static void
test_timeout_repeats_from_the_last_ack(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 6 * ROOM, true, 1);
	expect_segments(&b, 1, 1, 0);
	ack(&b, 1, 9, 0);
	expect_segments(&b, 2, 6, 0);
	ack(&b, 3, 11, 50 * MS);
	assert_true(rmpp_sender_deadline(b.s) == 150 * MS);
	rmpp_sender_expire(b.s, 150 * MS - 1);
	assert_false(next(&b, 150 * MS - 1));
	rmpp_sender_expire(b.s, 150 * MS);
	expect_segments(&b, 4, 6, 150 * MS);
	assert_int_equal(rmpp_sender_repeated(b.s), 3);
	ack(&b, 6, 14, 160 * MS);
	assert_int_equal(rmpp_sender_outcome(b.s), RMPP_DONE);
	bench_close(&b);
}

static void
test_silence_ends_after_the_retries(void **state)
{
	int64_t now = 0;
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 6 * ROOM, true, 1);
	expect_segments(&b, 1, 1, now);
	for (unsigned i = 0; i < 3; i++) {
		now = rmpp_sender_deadline(b.s);
		rmpp_sender_expire(b.s, now);
		expect_segments(&b, 1, 1, now);
	}
	now = rmpp_sender_deadline(b.s);
	assert_true(now == 400 * MS);
	rmpp_sender_expire(b.s, now);
	expect_abort(&b, RMPP_STATUS_RETRIES, now);
	bench_close(&b);
}

static void
test_news_take_the_retries_back(void **state)
{
	int64_t now = 0;
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 10 * ROOM, true, 1);
	expect_segments(&b, 1, 1, now);
	for (unsigned acked = 1; acked < 9; acked++) {
		for (unsigned i = 0; i < 3; i++) {
			now = rmpp_sender_deadline(b.s);
			rmpp_sender_expire(b.s, now);
			assert_true(next(&b, now));
			assert_int_equal(b.h.segment, acked);
			while (next(&b, now))
				;
		}
		ack(&b, acked, acked + 1, now);
		expect_segments(&b, acked + 1, acked + 1, now);
	}
	/* the same ACK again is no news */
	for (unsigned i = 0; i < 3; i++) {
		now = rmpp_sender_deadline(b.s);
		ack(&b, 8, 9, now - 1);
		rmpp_sender_expire(b.s, now);
		expect_segments(&b, 9, 9, now);
	}
	now = rmpp_sender_deadline(b.s);
	ack(&b, 8, 9, now - 1);
	rmpp_sender_expire(b.s, now);
	expect_abort(&b, RMPP_STATUS_RETRIES, now);
	bench_close(&b);
}

static void
test_old_and_double_acks_change_nothing(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 1);
	expect_segments(&b, 1, 1, 0);
	ack(&b, 1, 5, 1);
	expect_segments(&b, 2, 5, 1);
	ack(&b, 4, 7, 2);
	expect_segments(&b, 6, 7, 2);
	ack(&b, 1, 5, 3);	/* overtaken */
	ack(&b, 4, 7, 3);	/* twice */
	ack(&b, 0, 1, 3);
	ack(&b, 5, 6, 3);	/* a window that shrinks is an old one */
	assert_false(next(&b, 3));
	rmpp_sender_expire(b.s, rmpp_sender_deadline(b.s));
	expect_segments(&b, 5, 7, 200 * MS);
	assert_int_equal(rmpp_sender_outcome(b.s), RMPP_GOING_ON);
	bench_close(&b);
}

static void
test_bad_answers_are_aborted_with_their_status(void **state)
{
	static const struct {
		struct rmpp_header h;
		unsigned status;
	} cases[] = {
		{ { .version = 2, .type = 2, .segment = 1, .length = 9 },
			RMPP_STATUS_BAD_VERSION },
		{ { .version = 0, .type = 2, .segment = 1, .length = 9 },
			RMPP_STATUS_BAD_VERSION },
		{ { .version = 1, .type = 0 }, RMPP_STATUS_BAD_TYPE },
		{ { .version = 1, .type = 5 }, RMPP_STATUS_BAD_TYPE },
		{ { .version = 1, .type = 2, .segment = 1, .length = 9,
		    .status = 1 }, RMPP_STATUS_BAD_STATUS },
		{ { .version = 1, .type = 3, .status = 0 },
			RMPP_STATUS_BAD_STATUS },
		{ { .version = 1, .type = 3, .status = 118 },
			RMPP_STATUS_BAD_STATUS },
		{ { .version = 1, .type = 2, .segment = 3, .length = 2 },
			RMPP_STATUS_WINDOW_SMALL },
		{ { .version = 1, .type = 2, .segment = 5, .length = 9 },
			RMPP_STATUS_SEGMENT_BIG },
		{ { .version = 1, .type = 2, .segment = UINT32_MAX,
		    .length = UINT32_MAX }, RMPP_STATUS_SEGMENT_BIG },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct bench b;

		bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 4);
		expect_segments(&b, 1, 4, 0);
		answer(&b, &cases[i].h, 1);
		expect_abort(&b, cases[i].status, 1);
		/* whatever comes now */
		ack(&b, 4, 9, 2);
		assert_false(next(&b, 2));
		bench_close(&b);
	}
}

static void
test_stop_and_abort_of_the_peer_end_it_in_silence(void **state)
{
	static const struct rmpp_header cases[] = {
		{ .version = 1, .type = 3, .status = 1 },
		{ .version = 1, .type = 4, .status = 118 },
		{ .version = 1, .type = 4, .status = 127 },
		/* wrong, but an answer would be an ABORT to an ABORT */
		{ .version = 1, .type = 4, .status = 0 },
		{ .version = 9, .type = 4, .status = 200 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct bench b;

		bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 4);
		expect_segments(&b, 1, 4, 0);
		answer(&b, &cases[i], 1);
		assert_false(next(&b, 1));
		assert_int_equal(rmpp_sender_outcome(b.s),
				 RMPP_ENDED_BY_PEER);
		assert_int_equal(rmpp_sender_status(b.s), cases[i].status);
		assert_true(rmpp_sender_deadline(b.s) == RMPP_NO_DEADLINE);
		bench_close(&b);
	}
}

static void
test_peer_may_ask_for_patience_within_limits(void **state)
{
	static const struct {
		uint8_t resp_time;
		int64_t timeout;
	} cases[] = {
		{ 0, 100 * MS },	/* less than ours: ours */
		{ 14, 100 * MS },	/* 67 ms */
		{ 16, 268435 },		/* 4.096 us * 2^16 */
		{ 30, 1000 * MS },	/* 73 minutes */
		{ 31, 100 * MS },	/* says nothing */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct bench b;

		bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 1);
		expect_segments(&b, 1, 1, 0);
		answer(&b, &(struct rmpp_header) {
			.version = 1, .type = RMPP_TYPE_ACK, .segment = 1,
			.length = 9, .resp_time = cases[i].resp_time }, 0);
		expect_segments(&b, 2, 9, 0);
		assert_true(rmpp_sender_deadline(b.s) == cases[i].timeout);
		bench_close(&b);
	}
}

static void
expect_switch(struct bench *b, int64_t now)
{
	assert_true(next(b, now));
	assert_int_equal(b->h.type, RMPP_TYPE_ACK);
	assert_int_equal(b->h.segment, 0);
	assert_int_equal(b->h.length, 1);
	assert_int_equal(b->mad[3], METHOD_GET_MULTI);
	assert_false(next(b, now));
}

/* IBA 13.6.6.3 */
static void
test_direction_switches_after_a_request(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_MULTI, 300, true, 1);
	expect_segments(&b, 1, 1, 0);
	ack(&b, 1, 9, 1);
	expect_segments(&b, 2, 2, 1);
	ack(&b, 2, 10, 2);
	assert_int_equal(rmpp_sender_outcome(b.s), RMPP_DONE);
	expect_switch(&b, 2);
	assert_true(rmpp_sender_deadline(b.s) == 10 * S + 2);
	ack(&b, 2, 10, 3);	/* it got lost */
	expect_switch(&b, 3);
	ack(&b, 1, 9, 4);	/* an old one */
	assert_false(next(&b, 4));
	rmpp_sender_expire(b.s, 10 * S + 2);
	assert_true(rmpp_sender_deadline(b.s) == RMPP_NO_DEADLINE);
	assert_int_equal(rmpp_sender_outcome(b.s), RMPP_DONE);
	ack(&b, 2, 10, 11 * S);
	assert_false(next(&b, 11 * S));
	bench_close(&b);
}

static void
test_window_granted_in_advance_is_used(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 5);
	expect_segments(&b, 1, 5, 0);
	/* the ACK of 0 that was late grants more */
	ack(&b, 0, 7, 1);
	expect_segments(&b, 6, 7, 1);
	bench_close(&b);
}

static void
test_abort_from_above_tells_the_peer_once(void **state)
{
	struct bench b;

	bench_open(&b, METHOD_GET_TABLE_RESP, 40 * ROOM, true, 2);
	expect_segments(&b, 1, 2, 0);
	rmpp_sender_abort(b.s, RMPP_STATUS_UNSPECIFIED);
	rmpp_sender_abort(b.s, RMPP_STATUS_RETRIES);
	expect_abort(&b, RMPP_STATUS_UNSPECIFIED, 1);
	bench_close(&b);
}

/* ------------------------------------------- a source that is not ready */

struct slow {
	struct rmpplab_source src;
	size_t ready;		/* bytes, then it pauses until there are more */
};

static size_t
slow_read(void *data, uint8_t *out, size_t max)
{
	struct slow *slow = data;
	size_t n = MIN(max, slow->ready);

	slow->ready -= n;
	if (n < max && slow->src.at + n < slow->src.len)
		return RMPP_SOURCE_LATER +
			(n ? rmpplab_read(&slow->src, out, n) : 0);
	return rmpplab_read(&slow->src, out, max);
}

static void
bench_open_slow(struct bench *b, struct slow *slow, uint64_t len)
{
	uint8_t header[MAD_SIZE];
	struct rmpp_message message = {
		.source = slow_read, .data = slow,
		.length = RMPP_LENGTH_UNKNOWN, .window = 8,
	};

	memset(b, 0, sizeof(*b));
	memset(slow, 0, sizeof(*slow));
	slow->src.len = len;
	rmpplab_header(header, METHOD_GET_TABLE_RESP, RMPPLAB_TID);
	b->s = rmpp_sender_new(&rmpplab_usual, header, &message, 0);
}

static void
test_source_that_is_not_ready_costs_no_retry(void **state)
{
	struct slow slow;
	struct bench b;
	int64_t now = 0;

	bench_open_slow(&b, &slow, 2 * ROOM + 7);
	/* much longer than all retries take */
	for (unsigned i = 0; i < 3000; i++) {
		assert_false(next(&b, now));
		assert_true(rmpp_sender_deadline(b.s) ==
			    now + RMPP_SOURCE_PAUSE_US);
		now = rmpp_sender_deadline(b.s);
		rmpp_sender_expire(b.s, now);
		assert_int_equal(rmpp_sender_outcome(b.s), RMPP_GOING_ON);
	}
	/* the first segment, but who knows whether it is the last? */
	slow.ready = ROOM + 9;
	assert_false(next(&b, now));
	now += RMPP_SOURCE_PAUSE_US;
	rmpp_sender_expire(b.s, now);
	slow.ready = ROOM - 9;
	expect_segments(&b, 1, 1, now);
	now += RMPP_SOURCE_PAUSE_US;
	rmpp_sender_expire(b.s, now);
	slow.ready = 3 * ROOM;
	expect_segments(&b, 2, 3, now);
	assert_int_equal(b.h.flags, 5);
	assert_int_equal(b.h.length, 20 + 7);
	ack(&b, 3, 11, now);
	assert_int_equal(rmpp_sender_outcome(b.s), RMPP_DONE);
	bench_close(&b);
}

/* What is out while the source is not ready has its retries, and an end. */
static void
test_silent_peer_is_given_up_while_the_source_stalls(void **state)
{
	unsigned sent = 0, rounds = 0;
	struct slow slow;
	struct bench b;
	int64_t now = 0;

	bench_open_slow(&b, &slow, 100 * ROOM);
	slow.ready = 2 * ROOM;
	while (rmpp_sender_outcome(b.s) == RMPP_GOING_ON) {
		while (next(&b, now))
			if (b.h.type == RMPP_TYPE_DATA)
				sent++;
		assert_true(rounds++ < 2000);
		now = rmpp_sender_deadline(b.s);
		rmpp_sender_expire(b.s, now);
	}
	assert_int_equal(sent, 1 + 3);	/* 3 retries */
	expect_abort(&b, RMPP_STATUS_RETRIES, now);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_message_is_first_and_last),
		cmocka_unit_test(
		    test_lengths_stand_in_the_first_and_the_last_segment),
		cmocka_unit_test(test_full_last_segment_is_the_last),
		cmocka_unit_test(test_window_opens_with_the_acks),
		cmocka_unit_test(test_source_is_asked_one_segment_ahead),
		cmocka_unit_test(test_timeout_repeats_from_the_last_ack),
		cmocka_unit_test(test_silence_ends_after_the_retries),
		cmocka_unit_test(test_source_that_is_not_ready_costs_no_retry),
		cmocka_unit_test(
			test_silent_peer_is_given_up_while_the_source_stalls),
		cmocka_unit_test(test_news_take_the_retries_back),
		cmocka_unit_test(test_old_and_double_acks_change_nothing),
		cmocka_unit_test(
		    test_bad_answers_are_aborted_with_their_status),
		cmocka_unit_test(
		    test_stop_and_abort_of_the_peer_end_it_in_silence),
		cmocka_unit_test(test_peer_may_ask_for_patience_within_limits),
		cmocka_unit_test(test_direction_switches_after_a_request),
		cmocka_unit_test(test_window_granted_in_advance_is_used),
		cmocka_unit_test(test_abort_from_above_tells_the_peer_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
