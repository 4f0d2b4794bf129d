// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long messages over a transport that does RMPP itself: they go out and come
 * in in one piece.
 */
#include <string.h>

#include "sm/io/sa_message.h"
#include "tests/lib/auto.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

struct seen {
	unsigned ends, messages;
	enum sa_message_outcome outcome;
	uint8_t header[RMPP_SA_HEADER_LEN];
	GByteArray *data;
	struct mad_addr from;
};

static void
on_done(enum sa_message_outcome outcome, void *data)
{
	struct seen *seen = data;

	seen->ends++;
	seen->outcome = outcome;
}

static void
on_message(const struct sa_message_message *m, void *data)
{
	struct seen *seen = data;

	seen->messages++;
	seen->from = m->from;
	memcpy(seen->header, m->header, sizeof(seen->header));
	g_byte_array_set_size(seen->data, 0);
	g_byte_array_append(seen->data, m->data, (guint)m->len);
}

/* The transport, what sends and receives by it, and an order. */
struct desk {
	struct transport *t;
	struct sa_message *b;
	struct seen seen;
	bool left;		/* the last that arrived, to others */
	uint8_t header[MAD_SIZE];
	struct rmpplab_source src;
	struct sa_message_order o;
};

static void
on_left(const struct transport_mad *m, void *data)
{
	((struct desk *)data)->left = true;
}

static void
desk_open(struct desk *t, size_t max)
{
	*t = (struct desk){ .t = scripted_new() };
	t->t->rmpp = true;
	transport_set_receiver(t->t, on_left, t);
	t->seen.data = g_byte_array_new();
	t->b = sa_message_new(t->t, max, on_message, &t->seen);
}

static void
desk_close(struct desk *t)
{
	g_byte_array_unref(t->seen.data);
	g_clear_pointer(&t->b, sa_message_free);
	transport_free(t->t);
}

#define DESK_TEST(name, max) \
	TEST_ON(name, struct desk, t, desk_open, desk_close, max)

/* `source`: which of several; NULL: the desk's own. */
static void
order_table(struct desk *t, struct rmpplab_source *source, uint64_t len)
{
	struct rmpplab_source *src = source ? source : &t->src;

	rmpplab_header(t->header, METHOD_GET_TABLE_RESP, RMPPLAB_TID);
	*src = (struct rmpplab_source) { .len = len };
	t->o = (struct sa_message_order) {
		.to = { .lid = 7, .qp = 1 }, .header = t->header,
		.source = rmpplab_read, .source_data = src,
		.timeout_ms = 123,
	};
}

/* What was sent last is all of it. */
static const struct scripted_sent *
expect_sent(const struct desk *t, size_t len)
{
	const struct scripted_sent *sent = scripted_last(t->t);

	/* not filled up: the kernel counts */
	assert_int_equal(sent->len, 56 + len);
	for (unsigned n = 0; n < len; n++)
		assert_int_equal(sent->message[56 + n], rmpplab_byte(n));
	return sent;
}

TEST(test_message_goes_out_in_one_piece)
{
	static const struct {
		unsigned len, flags, payload;
	} cases[] = {
		{ 0, 7, 20 }, { 64, 7, 84 }, { 200, 7, 220 }, { 201, 3, 241 },
		{ 4096, 3, 4516 }, { 10000, 3, 11000 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct scripted_sent *sent;
		AUTO_VALUE(desk_close) struct desk t;
		struct rmpp_header r;

		desk_open(&t, SA_MESSAGE_COLLECT_MAX);
		order_table(&t, NULL, cases[i].len);
		assert_true(sa_message_send(t.b, &t.o, on_done, &t.seen));
		sent = expect_sent(&t, cases[i].len);
		assert_int_equal(scripted_count(t.t), 1);
		assert_false(scripted_step(t.t));
		assert_int_equal(sent->to.lid, 7);
		assert_int_equal(sent->timeout_ms, 123);
		assert_true(rmpp_header_read(sent->message, 56, &r));
		assert_int_equal(r.version, 1);
		assert_int_equal(r.type, RMPP_TYPE_DATA);
		assert_int_equal(r.flags, cases[i].flags);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.segment, 1);
		assert_int_equal(r.length, cases[i].payload);
		assert_int_equal(t.src.calls_after_end, 0);
		assert_int_equal(t.seen.ends, 0);
	}
}

/* Bytes of which so many are ready at a time. */
struct slow {
	struct rmpplab_source src;
	size_t ready, left;
	unsigned asked;
};

static size_t
slow_read(void *data, uint8_t *out, size_t max)
{
	struct slow *slow = data;
	size_t n = MIN(max, slow->left), got;

	slow->asked++;
	if (n < max && slow->src.at + n < slow->src.len) {
		slow->left = slow->ready;
		return RMPP_SOURCE_LATER +
			(n ? rmpplab_read(&slow->src, out, n) : 0);
	}
	got = rmpplab_read(&slow->src, out, max);
	slow->left -= MIN(got, slow->left);
	return got;
}

static void
order_slow(struct desk *t, struct slow *slow, uint64_t len, size_t ready)
{
	order_table(t, &slow->src, len);
	slow->ready = slow->left = ready;
	slow->asked = 0;
	t->o.source = slow_read;
	t->o.source_data = slow;
}

TEST(test_slow_source_is_asked_again)
{
	static const size_t ready[] = { 64, 200, 4096, 70000 };

	for (unsigned i = 0; i < G_N_ELEMENTS(ready); i++) {
		AUTO_VALUE(desk_close) struct desk t;
		struct slow slow;
		unsigned rings = 0;

		desk_open(&t, SA_MESSAGE_COLLECT_MAX);
		order_slow(&t, &slow, 200000, ready[i]);
		assert_false(sa_message_send(t.b, &t.o, on_done, &t.seen));
		while (!scripted_count(t.t)) {
			assert_true(rings++ < 10000);
			assert_true(scripted_step(t.t));
			assert_int_equal(transport_now(t.t),
					 rings * RMPP_SOURCE_PAUSE_US);
		}
		scripted_step(t.t);
		assert_int_equal(t.seen.ends, 1);
		assert_int_equal(t.seen.outcome, SA_MESSAGE_SENT);
		expect_sent(&t, 200000);
		assert_true(rings >= 200000 / MAX(ready[i], 65536));
	}
}

/* As long as they are one: all share what is collected in a turn. */
DESK_TEST(test_many_messages_share_a_turn, SA_MESSAGE_COLLECT_MAX)
{
	enum { N = 40 };
	struct rmpplab_source src[N];
	uint64_t before = N * 65536, sum;

	for (unsigned i = 0; i < N; i++) {
		order_table(t, &src[i], 200000);
		assert_false(sa_message_send(t->b, &t->o, on_done, &t->seen));
	}
	for (unsigned turn = 1; scripted_step(t->t); turn++) {
		sum = 0;
		for (unsigned i = 0; i < N; i++) {
			/* 16 pieces of 4,096 bytes a turn, in rounds */
			assert_in_range(src[i].at + 1, 65536 + 1 +
				MIN(134464, turn * 16 / N * 4096),
				65536 + 1 + (turn * 16 / N + 1) * 4096);
			sum += src[i].at;
		}
		assert_true(sum - before <= 65536);
		before = sum;
	}
	assert_int_equal(t->seen.ends, N);
	assert_int_equal(scripted_count(t->t), N);
}

DESK_TEST(test_full_memory_lets_the_oldest_go_on, 180000)
{
	struct rmpplab_source src[3];
	struct seen seen[3] = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		order_table(t, &src[i], 170000);
		t->header[15] = (uint8_t)i;	/* TID */
		sa_message_send(t->b, &t->o, on_done, &seen[i]);
	}
	while (!scripted_count(t->t)) {
		assert_true(src[1].at < 70000 && src[2].at < 70000);
		scripted_step(t->t);
	}
	while (!seen[1].ends || !seen[2].ends)
		assert_true(scripted_step(t->t));
	assert_int_equal(scripted_count(t->t), 3);

	/* The memory of what has gone is there again: two go on at once. */
	for (unsigned i = 0; i < 2; i++) {
		order_table(t, &src[i], 70000);
		sa_message_send(t->b, &t->o, on_done, &seen[i]);
	}
	scripted_step(t->t);
	assert_int_equal(scripted_count(t->t), 5);
}

static void
expect_outcome(struct desk *t, enum sa_message_outcome outcome)
{
	t->seen.ends = 0;
	assert_false(sa_message_send(t->b, &t->o, on_done, &t->seen));
	assert_int_equal(t->seen.ends, 0);
	scripted_step(t->t);
	assert_int_equal(t->seen.ends, 1);
	assert_int_equal(t->seen.outcome, outcome);
}

DESK_TEST(test_what_cannot_be_collected_is_told, 10000)
{
	order_table(t, NULL, 10000);
	assert_true(sa_message_send(t->b, &t->o, on_done, NULL));
	order_table(t, NULL, 10001);
	expect_outcome(t, SA_MESSAGE_TOO_LONG);
	assert_int_equal(scripted_count(t->t), 1);
	scripted_refuse(t->t, 1, TRANSPORT_ERROR_SEND);
	order_table(t, NULL, 10);
	expect_outcome(t, SA_MESSAGE_NOT_ACCEPTED);
}

DESK_TEST(test_all_may_be_freed_while_one_is_out, SA_MESSAGE_COLLECT_MAX)
{
	scripted_refuse(t->t, 1, TRANSPORT_ERROR_SEND);
	order_table(t, NULL, 10);
	assert_false(sa_message_send(t->b, &t->o, on_done, &t->seen));
	g_clear_pointer(&t->b, sa_message_free);
	assert_false(scripted_step(t->t));
	assert_int_equal(t->seen.ends, 0);
}

/* False: it is left to others. */
static bool
offer(struct desk *t, const uint8_t *message, size_t len)
{
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .mad = message, .len = len,
		.addr = { .lid = 5, .qp = 1 },
	};

	t->left = false;
	scripted_deliver(t->t, &m, 0);
	scripted_step(t->t);
	return !t->left;
}

static void
make_message(uint8_t *message, size_t len, unsigned flags, uint32_t payload)
{
	const struct rmpp_header r = {
		.version = 1, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = (uint8_t)(RMPP_FLAG_ACTIVE | flags),
		.length = payload,
	};

	memset(message, 0, 56 + len);
	rmpplab_header(message, METHOD_GET_TABLE_RESP, RMPPLAB_TID);
	rmpp_header_write(message, &r);
	for (size_t i = 0; i < len; i++)
		message[56 + i] = rmpplab_byte(i);
}

DESK_TEST(test_message_comes_in_in_one_piece, SA_MESSAGE_COLLECT_MAX)
{
	static const unsigned lens[] = { 0, 1, 112, 200, 201, 5000 };
	uint8_t message[6000];

	for (unsigned i = 0; i < G_N_ELEMENTS(lens); i++) {
		make_message(message, MAX(lens[i], 200), RMPP_FLAG_FIRST |
			     (lens[i] <= 200 ? RMPP_FLAG_LAST : 0),
			     rmpp_payload_length(lens[i], 56));
		assert_true(offer(t, message, 56 + lens[i]));
		assert_int_equal(t->seen.messages, i + 1);
		assert_int_equal(t->seen.data->len, lens[i]);
		assert_memory_equal(t->seen.header, message, 56);
		assert_int_equal(t->seen.from.lid, 5);
		if (lens[i])
			assert_memory_equal(t->seen.data->data, message + 56,
					    lens[i]);
	}
	assert_int_equal(scripted_count(t->t), 0);	/* no ACK of ours */
}

/* Simulators hand over 256 bytes whatever is in them. */
DESK_TEST(test_only_segment_says_how_much_of_it_counts, SA_MESSAGE_COLLECT_MAX)
{
	static const struct {
		unsigned flags, length, counts;
	} rows[] = {
		{ RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 84, 64 },
		{ RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 5000, 200 },
		{ RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 19, 200 },	/* senseless */
		{ RMPP_FLAG_FIRST, 84, 200 },
	};
	uint8_t mad[MAD_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		make_message(mad, ROOM, rows[i].flags, rows[i].length);
		assert_true(offer(t, mad, MAD_SIZE));
		assert_int_equal(t->seen.data->len, rows[i].counts);
	}
}

DESK_TEST(test_what_is_no_message_is_left_to_others, SA_MESSAGE_COLLECT_MAX)
{
	struct rmpp_header r = { .version = 1, .type = RMPP_TYPE_ACK,
		.flags = RMPP_FLAG_ACTIVE };
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, METHOD_GET_TABLE, 1);
	assert_false(offer(t, mad, MAD_SIZE));
	rmpp_header_write(mad, &r);
	assert_false(offer(t, mad, MAD_SIZE));
	make_message(mad, ROOM, RMPP_FLAG_FIRST, 0);
	for (size_t len = 1; len < 56; len++)
		assert_false(offer(t, mad, len));
	assert_true(offer(t, mad, 56));
	mad[1] = 0x04;
	assert_false(offer(t, mad, MAD_SIZE));
	assert_int_equal(t->seen.messages, 1);
}
