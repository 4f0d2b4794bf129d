// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long messages with frames made by hand: what is taken and what is left to
 * others, and what the transfers say to a peer that is not of our making.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sm/io/bulk.h"
#include "tests/lib/rmpplab.h"
#include "tests/lib/scripted.h"

#define PEER_LID	3u

struct bench {
	struct transport *t;
	struct bulk *b;
	struct rmpplab_source src;
	unsigned ends, messages, others;
	enum bulk_outcome outcome;
};

static void
on_other(const struct transport_mad *m, void *data)
{
	((struct bench *)data)->others++;
}

static void
on_message(const struct bulk_message *m, void *data)
{
	((struct bench *)data)->messages++;
}

static void
on_done(uint32_t id, enum bulk_outcome outcome, unsigned status, void *data)
{
	struct bench *bench = data;

	bench->ends++;
	bench->outcome = outcome;
}

static void
bench_open(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	bench->t = scripted_new();
	transport_set_receiver(bench->t, on_other, bench);
	bench->b = bulk_new(bench->t, NULL);
	bulk_set_receiver(bench->b, on_message, bench);
	bulk_intercept(bench->b);
}

static void
bench_close(struct bench *bench)
{
	bulk_free(bench->b);
	transport_free(bench->t);
}

static bool
offer(struct bench *bench, const uint8_t *mad, size_t len)
{
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .mad = mad, .len = len,
		.addr = { .lid = PEER_LID, .qp = 1 },
	};

	return bulk_offer(bench->b, &m);
}

static void
offer_frame(struct bench *bench, uint8_t method, const struct rmpp_header *r)
{
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, method, RMPPLAB_TID);
	rmpp_header_write(mad, r);
	assert_true(offer(bench, mad, MAD_SIZE));
}

static uint32_t
send_message(struct bench *bench, uint8_t method, uint64_t len)
{
	uint8_t header[MAD_SIZE];
	const struct bulk_order order = {
		.to = { .lid = PEER_LID, .qp = 1 }, .header = header,
		.source = rmpplab_read, .source_data = &bench->src,
		.length = len,
	};

	rmpplab_header(header, method, RMPPLAB_TID);
	bench->src = (struct rmpplab_source) { .len = len };
	return bulk_send(bench->b, &order, on_done, bench);
}

/* The nth MAD that went out. */
static struct rmpp_header
sent(const struct bench *bench, unsigned n)
{
	struct rmpp_header r;

	assert_true(rmpp_header_read(scripted_get(bench->t, n)->mad, MAD_SIZE,
				     &r));
	assert_int_equal(scripted_get(bench->t, n)->to.lid, PEER_LID);
	return r;
}

static void
test_only_segments_are_taken(void **state)
{
	struct rmpp_header r = {
		.version = 1, .type = RMPP_TYPE_ACK, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE,
	};
	struct bench bench;
	uint8_t mad[MAD_SIZE];

	bench_open(&bench);
	rmpplab_header(mad, METHOD_GET_TABLE, 1);
	assert_false(offer(&bench, mad, MAD_SIZE));	/* not RMPP */
	rmpp_header_write(mad, &r);
	assert_true(offer(&bench, mad, MAD_SIZE));	/* of nobody */
	assert_true(bulk_stats(bench.b)->strays == 1);
	assert_false(offer(&bench, mad, MAD_SIZE - 1));
	assert_false(offer(&bench, mad, 10));
	mad[1] = MAD_CLASS_SMP_LID;
	assert_false(offer(&bench, mad, MAD_SIZE));
	/* a segment in the middle of what nobody knows */
	mad[1] = MAD_CLASS_SA;
	r.type = RMPP_TYPE_DATA;
	r.segment = 5;
	rmpp_header_write(mad, &r);
	assert_true(offer(&bench, mad, MAD_SIZE));
	assert_true(bulk_stats(bench.b)->strays == 2);
	assert_int_equal(bulk_transfers(bench.b), 0);
	assert_int_equal(scripted_count(bench.t), 0);
	bench_close(&bench);
}

static void
test_receiver_of_before_gets_the_rest(void **state)
{
	struct rmpp_header r = {
		.version = 1, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST | RMPP_FLAG_LAST,
		.length = 84,
	};
	struct bench bench;
	uint8_t mad[MAD_SIZE];

	bench_open(&bench);
	rmpplab_header(mad, METHOD_GET_TABLE, 1);
	scripted_answer(bench.t, mad, 1);
	scripted_return(bench.t, mad, 2);
	rmpp_header_write(mad, &r);
	scripted_answer(bench.t, mad, 3);
	/* a segment of ours that comes back is not one of the peer's */
	scripted_return(bench.t, mad, 4);
	scripted_run(bench.t, 10);
	assert_int_equal(bench.others, 3);
	assert_int_equal(bench.messages, 1);
	bulk_free(bench.b);
	scripted_answer(bench.t, mad, 1);
	scripted_run(bench.t, 20);
	assert_int_equal(bench.others, 4);
	transport_free(bench.t);
}

/* IBA 13.6.6.3: the ACK of 0 after a long request opens the window of the
 * response. Linux grants 1, others may grant more. */
static void
test_window_that_the_peer_grants_is_used(void **state)
{
	const struct rmpp_header request = {
		.version = 1, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST | RMPP_FLAG_LAST,
		.length = 84,
	};
	const struct rmpp_header turn = {
		.version = 1, .type = RMPP_TYPE_ACK, .length = 5,
		.flags = RMPP_FLAG_ACTIVE,
	};

	for (unsigned turns = 0; turns < 2; turns++) {
		unsigned segments = turns ? 5 : 1;
		struct bench bench;

		bench_open(&bench);
		offer_frame(&bench, METHOD_GET_MULTI, &request);
		assert_int_equal(bench.messages, 1);
		assert_int_equal(scripted_count(bench.t), 1);
		assert_int_equal(sent(&bench, 0).type, RMPP_TYPE_ACK);
		assert_int_equal(scripted_get(bench.t, 0)->to.qkey,
				 0x80010000);
		if (turns)
			offer_frame(&bench, METHOD_GET_MULTI, &turn);
		assert_int_not_equal(send_message(&bench,
						  METHOD_GET_MULTI_RESP,
						  5000), 0);
		assert_int_equal(scripted_count(bench.t), 1 + segments);
		for (unsigned i = 1; i <= segments; i++)
			assert_int_equal(sent(&bench, i).segment, i);
		bench_close(&bench);
	}
}

/* The upper half of the TID of a request is the transport's: the peer answers
 * with another than we gave. That of a response is the peer's. */
static void
test_tid_of_a_request_is_known_by_its_lower_half(void **state)
{
	const struct rmpp_header ack = {
		.version = 1, .type = RMPP_TYPE_ACK, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE, .length = 1,
	};
	static const uint8_t methods[] = {
		METHOD_GET_MULTI, METHOD_GET_MULTI_RESP,
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(methods); i++) {
		struct bench bench;
		uint8_t mad[MAD_SIZE];

		bench_open(&bench);
		send_message(&bench, methods[i], 100);
		rmpplab_header(mad, methods[i] ^ MAD_METHOD_RESPONSE,
			       RMPPLAB_TID ^ UINT64_C(0xff) << 32);
		rmpp_header_write(mad, &ack);
		assert_true(offer(&bench, mad, MAD_SIZE));
		assert_int_equal(bench.ends, i == 0);
		assert_true(bulk_stats(bench.b)->strays == i);
		bench_close(&bench);
	}
}

static void
test_refused_send_is_a_lost_segment(void **state)
{
	const struct rmpp_header ack = {
		.version = 1, .type = RMPP_TYPE_ACK, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE, .length = 1,
	};
	struct bench bench;

	bench_open(&bench);
	scripted_refuse(bench.t, 2);
	send_message(&bench, METHOD_GET_TABLE_RESP, 100);
	assert_int_equal(scripted_count(bench.t), 0);
	scripted_run(bench.t, 399 * MS);
	assert_int_equal(scripted_count(bench.t), 0);
	scripted_run(bench.t, 400 * MS);
	assert_int_equal(scripted_count(bench.t), 1);
	offer_frame(&bench, METHOD_GET_TABLE, &ack);
	assert_int_equal(bench.ends, 1);
	assert_int_equal(bench.outcome, BULK_SENT);
	assert_true(scripted_run_idle(bench.t, 100 * S));
	assert_int_equal(scripted_count(bench.t), 1);
	bench_close(&bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_segments_are_taken),
		cmocka_unit_test(test_receiver_of_before_gets_the_rest),
		cmocka_unit_test(test_window_that_the_peer_grants_is_used),
		cmocka_unit_test(
		    test_tid_of_a_request_is_known_by_its_lower_half),
		cmocka_unit_test(test_refused_send_is_a_lost_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
