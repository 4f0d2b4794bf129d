// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The receiver of RMPP, with segments made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/rmpp_lab.h"

static void
make_segment(uint8_t *mad, uint32_t segment, unsigned flags, uint32_t length)
{
	const struct rmpp_header h = {
		.version = 1, .type = RMPP_TYPE_DATA,
		.flags = (uint8_t)(flags | RMPP_FLAG_ACTIVE),
		.segment = segment, .length = length,
	};

	rmpplab_header(mad, METHOD_GET_TABLE_RESP, RMPPLAB_TID);
	rmpp_header_write(mad, &h);
	for (unsigned i = 0; i < ROOM; i++)
		mad[56 + i] = rmpplab_byte((uint64_t)(segment - 1) * ROOM + i);
}

static void
give(struct rmpp_receiver *r, uint32_t segment, unsigned flags,
     uint32_t length, int64_t now)
{
	uint8_t mad[MAD_SIZE];

	make_segment(mad, segment, flags, length);
	rmpp_receiver_receive(r, mad, now);
}

static void
give_header(struct rmpp_receiver *r, const struct rmpp_header *h,
	    int64_t now)
{
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, METHOD_GET_TABLE_RESP, RMPPLAB_TID);
	rmpp_header_write(mad, h);
	rmpp_receiver_receive(r, mad, now);
}

static void
expect_silence(struct rmpp_receiver *r, int64_t now)
{
	uint8_t mad[MAD_SIZE];

	assert_false(rmpp_receiver_next(r, mad, now));
}

static void
expect_answer(struct rmpp_receiver *r, unsigned type, unsigned status,
	      uint32_t segment, uint32_t window_last, int64_t now)
{
	uint8_t mad[MAD_SIZE], header[MAD_SIZE];
	struct rmpp_header h;

	assert_true(rmpp_receiver_next(r, mad, now));
	assert_true(rmpp_header_read(mad, MAD_SIZE, &h));
	assert_int_equal(h.version, 1);
	assert_int_equal(h.flags, RMPP_FLAG_ACTIVE);
	assert_int_equal(h.type, type);
	assert_int_equal(h.status, status);
	assert_int_equal(h.segment, segment);
	assert_int_equal(h.length, window_last);
	/* back against the data: the same TID, the other direction */
	rmpplab_header(header, METHOD_GET_TABLE, RMPPLAB_TID);
	assert_memory_equal(mad, header, 24);
	expect_silence(r, now);
}

static void
expect_ack(struct rmpp_receiver *r, uint32_t segment, uint32_t window_last,
	   int64_t now)
{
	expect_answer(r, RMPP_TYPE_ACK, 0, segment, window_last, now);
}

static void
expect_data(struct rmpp_receiver *r, size_t len)
{
	g_autoptr(GByteArray) data = NULL;

	assert_int_equal(rmpp_receiver_outcome(r), RMPP_DONE);
	assert_int_equal(rmpp_receiver_size(r), len);
	data = rmpp_receiver_steal_data(r);
	assert_int_equal(data->len, len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(data->data[i], rmpplab_byte(i));
	assert_int_equal(rmpp_receiver_size(r), 0);
}

static void
test_segments_in_order_make_the_message(void **state)
{
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give(r, 1, RMPP_FLAG_FIRST, 11 * 220 + 70, 0);
	expect_ack(r, 1, 9, 0);
	/* the next ACK when half the window is used, before it is at its end */
	for (unsigned i = 2; i <= 4; i++) {
		give(r, i, 0, 0, i);
		expect_silence(r, i);
	}
	give(r, 5, 0, 12345, 5);	/* means nothing here */
	expect_ack(r, 5, 13, 5);
	for (unsigned i = 6; i <= 9; i++)
		give(r, i, 0, 0, i);
	expect_ack(r, 9, 17, 9);
	for (unsigned i = 10; i <= 11; i++)
		give(r, i, 0, 0, i);
	expect_silence(r, 11);
	assert_int_equal(rmpp_receiver_outcome(r), RMPP_GOING_ON);
	give(r, 12, RMPP_FLAG_LAST, 70, 12);
	expect_ack(r, 12, 20, 12);
	assert_int_equal(rmpp_receiver_header(r)[3], METHOD_GET_TABLE_RESP);
	expect_data(r, 11 * ROOM + 50);
	rmpp_receiver_free(r);
}

static void
test_only_segment_may_be_of_any_length(void **state)
{
	for (unsigned len = 0; len <= ROOM; len++) {
		struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

		give(r, 1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 20 + len, 0);
		expect_ack(r, 1, 9, 0);
		expect_data(r, len);
		rmpp_receiver_free(r);
	}
}

static void
test_segments_that_come_early_are_kept(void **state)
{
	static const unsigned order[] = { 9, 3, 2, 8, 7, 6, 5, 4 };
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give(r, 1, RMPP_FLAG_FIRST, 0, 0);
	expect_ack(r, 1, 9, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) {
		give(r, order[i], order[i] == 9 ? RMPP_FLAG_LAST : 0, 21, i);
		if (i < G_N_ELEMENTS(order) - 1)
			expect_silence(r, i);
	}
	expect_ack(r, 9, 17, 10);
	expect_data(r, 8 * ROOM + 1);
	rmpp_receiver_free(r);
}

static void
test_widest_window_holds_all_that_come_early(void **state)
{
	struct rmpp_params params = rmpplab_usual;
	struct rmpp_receiver *r;

	params.window = RMPP_WINDOW_MAX;
	r = rmpp_receiver_new(&params, 0);
	give(r, 1, RMPP_FLAG_FIRST, 0, 0);
	expect_ack(r, 1, 65, 0);
	for (unsigned i = 65; i >= 3; i--)
		give(r, i, i == 65 ? RMPP_FLAG_LAST : 0, 220, 1);
	give(r, 66, 0, 0, 1);		/* beyond it */
	give(r, 65, RMPP_FLAG_LAST, 220, 5 * MS);	/* is here */
	expect_ack(r, 1, 65, 5 * MS);
	assert_int_equal(rmpp_receiver_outcome(r), RMPP_GOING_ON);
	give(r, 2, 0, 0, 6 * MS);
	expect_ack(r, 65, 129, 6 * MS);
	expect_data(r, 65 * ROOM);
	rmpp_receiver_free(r);
}

static void
test_segment_beyond_the_window_is_dropped(void **state)
{
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give(r, 1, RMPP_FLAG_FIRST, 0, 0);
	expect_ack(r, 1, 9, 0);
	give(r, 10, 0, 0, 5 * MS);
	give(r, UINT32_MAX, RMPP_FLAG_LAST, 220, 5 * MS);
	expect_silence(r, 5 * MS);
	assert_int_equal(rmpp_receiver_size(r), ROOM);
	assert_int_equal(rmpp_receiver_outcome(r), RMPP_GOING_ON);
	rmpp_receiver_free(r);
}

static void
test_repeated_segments_get_one_ack_in_a_while(void **state)
{
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give(r, 1, RMPP_FLAG_FIRST, 0, 0);
	expect_ack(r, 1, 9, 0);
	give(r, 1, RMPP_FLAG_FIRST, 0, 10);
	expect_silence(r, 10);		/* that ACK is still on its way */
	for (unsigned i = 2; i <= 3; i++)
		give(r, i, 0, 0, 20);
	expect_silence(r, 20);
	for (unsigned i = 2; i <= 3; i++)
		give(r, i, 0, 0, 100 * MS);
	expect_ack(r, 3, 11, 100 * MS);
	give(r, 3, 0, 0, 100 * MS + 1);
	expect_silence(r, 100 * MS + 1);
	/* nor do they keep it alive */
	assert_true(rmpp_receiver_deadline(r) == 40 * S + 20);
	rmpp_receiver_free(r);
}

struct bad {
	struct rmpp_header before[3];	/* good ones; version 0: none */
	struct rmpp_header h;
	unsigned status;
};

#define DATA(n, flag, len) { .version = 1, .type = RMPP_TYPE_DATA, \
	.flags = 1 | (flag), .segment = (n), .length = (len) }
#define FIRST RMPP_FLAG_FIRST
#define LAST RMPP_FLAG_LAST

static const struct bad bads[] = {
	{ .h = { .version = 2, .type = 1, .flags = 3, .segment = 1 },
	  .status = RMPP_STATUS_BAD_VERSION },
	{ { DATA(1, FIRST, 0) }, { .version = 0, .type = 1, .flags = 1,
	  .segment = 2 }, RMPP_STATUS_BAD_VERSION },
	{ { DATA(1, FIRST, 0) }, { .version = 1, .type = 7, .flags = 1,
	  .segment = 2 }, RMPP_STATUS_BAD_TYPE },
	{ { DATA(1, FIRST, 0) }, { .version = 1, .type = 1, .flags = 1,
	  .segment = 2, .status = 3 }, RMPP_STATUS_BAD_STATUS },
	{ .h = DATA(1, 0, 0), .status = RMPP_STATUS_BAD_SEGMENT },
	{ .h = DATA(2, FIRST, 0), .status = RMPP_STATUS_BAD_SEGMENT },
	{ .h = DATA(0, FIRST, 0), .status = RMPP_STATUS_BAD_SEGMENT },
	{ { DATA(1, FIRST, 0) }, DATA(0, 0, 0), RMPP_STATUS_BAD_SEGMENT },
	{ { DATA(1, FIRST, 0) }, DATA(3, FIRST, 0), RMPP_STATUS_BAD_SEGMENT },
	/* shorter than the class header, longer than a MAD */
	{ .h = DATA(1, FIRST | LAST, 19), .status = RMPP_STATUS_BAD_LENGTH },
	{ .h = DATA(1, FIRST | LAST, 221), .status = RMPP_STATUS_BAD_LENGTH },
	{ .h = DATA(1, FIRST | LAST, 0), .status = RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 0) }, DATA(2, LAST, 19), RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 0) }, DATA(2, LAST, UINT32_MAX),
	  RMPP_STATUS_BAD_LENGTH },
	/* the first said 2 segments, of which the last has 70 bytes */
	{ .h = DATA(1, FIRST, 220), .status = RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 290) }, DATA(2, 0, 0), RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 290) }, DATA(3, LAST, 70),
	  RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 290) }, DATA(2, LAST, 71),
	  RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 800) }, DATA(2, LAST, 70),
	  RMPP_STATUS_BAD_LENGTH },
	/* two ends, and something behind the end */
	{ { DATA(1, FIRST, 0), DATA(3, LAST, 70) }, DATA(4, LAST, 70),
	  RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 0), DATA(3, LAST, 70) }, DATA(2, LAST, 70),
	  RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 0), DATA(3, LAST, 70) }, DATA(4, 0, 0),
	  RMPP_STATUS_BAD_LENGTH },
	{ { DATA(1, FIRST, 0), DATA(5, 0, 0) }, DATA(4, LAST, 70),
	  RMPP_STATUS_BAD_LENGTH },
};

static void
test_bad_segments_are_aborted_with_their_status(void **state)
{
	for (size_t i = 0; i < G_N_ELEMENTS(bads); i++) {
		struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);
		uint8_t mad[MAD_SIZE];

		for (unsigned k = 0; bads[i].before[k].version; k++)
			give_header(r, &bads[i].before[k], 0);
		while (rmpp_receiver_next(r, mad, 0))
			;
		assert_int_equal(rmpp_receiver_outcome(r), RMPP_GOING_ON);
		give_header(r, &bads[i].h, 1);
		if (rmpp_receiver_status(r) != bads[i].status)
			print_message("case %zu\n", i);
		expect_answer(r, RMPP_TYPE_ABORT, bads[i].status, 0, 0, 1);
		assert_int_equal(rmpp_receiver_outcome(r), RMPP_GAVE_UP);
		assert_int_equal(rmpp_receiver_status(r), bads[i].status);
		assert_int_equal(rmpp_receiver_size(r), 0);
		/* said again to who goes on, and only for so long */
		give(r, 2, 0, 0, 2);
		expect_silence(r, 2);
		give(r, 2, 0, 0, 50 * MS);
		expect_answer(r, RMPP_TYPE_ABORT, bads[i].status, 0, 0,
			      50 * MS);
		assert_true(rmpp_receiver_deadline(r) == 10 * S + 1);
		rmpp_receiver_expire(r, 10 * S + 1);
		assert_true(rmpp_receiver_deadline(r) == RMPP_NO_DEADLINE);
		give(r, 2, 0, 0, 20 * S);
		expect_silence(r, 20 * S);
		rmpp_receiver_free(r);
	}
}

static void
test_too_much_is_stopped(void **state)
{
	struct rmpp_params params = rmpplab_usual;
	struct rmpp_receiver *r;

	params.limit = 1000;
	/* who says so beforehand need not send it */
	r = rmpp_receiver_new(&params, 0);
	give(r, 1, FIRST, 6 * 20 + 1001, 0);
	expect_answer(r, RMPP_TYPE_STOP, RMPP_STATUS_RESOURCES, 0, 0, 0);
	rmpp_receiver_free(r);

	r = rmpp_receiver_new(&params, 0);
	give(r, 1, FIRST, UINT32_MAX, 0);
	expect_answer(r, RMPP_TYPE_STOP, RMPP_STATUS_RESOURCES, 0, 0, 0);
	rmpp_receiver_free(r);

	/* exactly the limit */
	r = rmpp_receiver_new(&params, 0);
	give(r, 1, FIRST, 5 * 220, 0);
	expect_ack(r, 1, 9, 0);
	for (unsigned i = 2; i <= 5; i++)
		give(r, i, i == 5 ? LAST : 0, 220, i);
	expect_ack(r, 5, 13, 5);
	expect_data(r, 1000);
	rmpp_receiver_free(r);

	/* who does not say is believed until there */
	r = rmpp_receiver_new(&params, 0);
	give(r, 1, FIRST, 0, 0);
	expect_ack(r, 1, 9, 0);
	give(r, 6, 0, 0, 1);
	expect_answer(r, RMPP_TYPE_STOP, RMPP_STATUS_RESOURCES, 0, 0, 1);
	assert_int_equal(rmpp_receiver_status(r), RMPP_STATUS_RESOURCES);
	rmpp_receiver_free(r);
}

static void
test_no_news_for_too_long_is_an_abort(void **state)
{
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give(r, 1, FIRST, 0, 0);
	expect_ack(r, 1, 9, 0);
	give(r, 4, 0, 0, 5 * S);
	assert_true(rmpp_receiver_deadline(r) == 45 * S);
	rmpp_receiver_expire(r, 45 * S - 1);
	expect_silence(r, 45 * S - 1);
	rmpp_receiver_expire(r, 45 * S);
	expect_answer(r, RMPP_TYPE_ABORT, RMPP_STATUS_TOO_LONG, 0, 0, 45 * S);
	rmpp_receiver_free(r);
}

static void
test_abort_of_the_sender_is_not_answered(void **state)
{
	static const unsigned statuses[] = { 126, 0, 255 };

	for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++) {
		struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

		give(r, 1, FIRST, 0, 0);
		expect_ack(r, 1, 9, 0);
		give_header(r, &(struct rmpp_header) {
			.version = 1, .type = RMPP_TYPE_ABORT, .flags = 1,
			.status = (uint8_t)statuses[i] }, 1);
		expect_silence(r, 1);
		assert_int_equal(rmpp_receiver_outcome(r),
				 RMPP_ENDED_BY_PEER);
		assert_int_equal(rmpp_receiver_status(r), statuses[i]);
		assert_int_equal(rmpp_receiver_size(r), 0);
		assert_true(rmpp_receiver_deadline(r) == RMPP_NO_DEADLINE);
		rmpp_receiver_free(r);
	}
}

static void
test_complete_message_repeats_its_ack(void **state)
{
	const struct rmpp_header late_abort = {
		.version = 1, .type = RMPP_TYPE_ABORT, .flags = 1,
		.status = 126,
	};
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give(r, 1, FIRST, 0, 0);
	give(r, 2, LAST, 70, 0);
	expect_ack(r, 2, 10, 0);
	expect_data(r, 250);
	give(r, 2, LAST, 70, 100 * MS);
	expect_ack(r, 2, 10, 100 * MS);
	/* it is here, whatever its sender believes */
	give_header(r, &late_abort, 200 * MS);
	expect_silence(r, 200 * MS);
	assert_int_equal(rmpp_receiver_outcome(r), RMPP_DONE);
	assert_true(rmpp_receiver_deadline(r) == 10 * S);
	rmpp_receiver_expire(r, 10 * S);
	assert_true(rmpp_receiver_deadline(r) == RMPP_NO_DEADLINE);
	rmpp_receiver_free(r);
}

static void
test_switch_of_direction_grants_the_window(void **state)
{
	struct rmpp_header h = {
		.version = 1, .type = RMPP_TYPE_ACK, .flags = 1, .length = 5,
	};
	struct rmpp_receiver *r = rmpp_receiver_new(&rmpplab_usual, 0);

	give_header(r, &h, 0);		/* before there is anything */
	assert_int_equal(rmpp_receiver_reply_window(r), 1);
	give(r, 1, FIRST | LAST, 70, 0);
	expect_ack(r, 1, 9, 0);
	h.segment = 1;			/* not that one */
	give_header(r, &h, 1);
	assert_int_equal(rmpp_receiver_reply_window(r), 1);
	h.segment = 0;
	give_header(r, &h, 1);
	assert_int_equal(rmpp_receiver_reply_window(r), 5);
	h.length = 0;
	give_header(r, &h, 1);
	assert_int_equal(rmpp_receiver_reply_window(r), 5);
	expect_silence(r, 2 * S);
	rmpp_receiver_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments_in_order_make_the_message),
		cmocka_unit_test(test_only_segment_may_be_of_any_length),
		cmocka_unit_test(test_segments_that_come_early_are_kept),
		cmocka_unit_test(test_widest_window_holds_all_that_come_early),
		cmocka_unit_test(test_segment_beyond_the_window_is_dropped),
		cmocka_unit_test(test_repeated_segments_get_one_ack_in_a_while),
		cmocka_unit_test(
		    test_bad_segments_are_aborted_with_their_status),
		cmocka_unit_test(test_too_much_is_stopped),
		cmocka_unit_test(test_no_news_for_too_long_is_an_abort),
		cmocka_unit_test(test_abort_of_the_sender_is_not_answered),
		cmocka_unit_test(test_complete_message_repeats_its_ack),
		cmocka_unit_test(test_switch_of_direction_grants_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
