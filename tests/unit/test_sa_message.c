// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long messages over a transport that does RMPP itself: they go out and come
 * in in one piece.
 */
#include "sm/io/sa_message.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

/* The transport, and the last message that came by it. */
struct desk {
	struct transport *t;
	struct sa_message seen;
};

static void
desk_open(struct desk *t)
{
	*t = (struct desk){ .t = scripted_new() };
	t->t->rmpp = true;
}

static void
desk_close(struct desk *t)
{
	transport_free(t->t);
}

#define DESK_TEST(name) \
	TEST_ON(name, struct desk, t, desk_open, desk_close)

static bool
send_table(struct desk *t, unsigned len)
{
	const struct mad_addr to = { .lid = 7, .qp = 1 };
	g_autoptr(GByteArray) message = g_byte_array_new();
	uint8_t header[MAD_SIZE];

	rmpplab_header(header, METHOD_GET_TABLE_RESP, RMPPLAB_TID);
	g_byte_array_append(message, header, RMPP_SA_HEADER_LEN);
	for (unsigned n = 0; n < len; n++) {
		uint8_t byte = rmpplab_byte(n);

		g_byte_array_append(message, &byte, 1);
	}
	return sa_message_send(t->t, &to, message);
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

		desk_open(&t);
		assert_true(send_table(&t, cases[i].len));
		sent = expect_sent(&t, cases[i].len);
		assert_int_equal(scripted_count(t.t), 1);
		assert_false(scripted_step(t.t));
		assert_int_equal(sent->to.lid, 7);
		assert_int_equal(sent->timeout_ms, 0);
		assert_true(rmpp_header_read(sent->message, 56, &r));
		assert_int_equal(r.version, 1);
		assert_int_equal(r.type, RMPP_TYPE_DATA);
		assert_int_equal(r.flags, cases[i].flags);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.segment, 1);
		assert_int_equal(r.length, cases[i].payload);
	}
}

DESK_TEST(test_what_the_transport_refuses_is_told)
{
	scripted_refuse(t->t, 1, TRANSPORT_ERROR_SEND);
	assert_false(send_table(t, 10));
	assert_int_equal(scripted_count(t->t), 0);
}

/* False: it is left to others. */
static bool
offer(struct desk *t, const uint8_t *message, size_t len)
{
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .mad = message, .len = len,
		.addr = { .lid = 5, .qp = 1 },
	};

	return sa_message_read(&m, &t->seen);
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

DESK_TEST(test_message_comes_in_in_one_piece)
{
	static const unsigned lens[] = { 0, 1, 112, 200, 201, 5000 };
	uint8_t message[6000];

	for (unsigned i = 0; i < G_N_ELEMENTS(lens); i++) {
		make_message(message, MAX(lens[i], 200), RMPP_FLAG_FIRST |
			     (lens[i] <= 200 ? RMPP_FLAG_LAST : 0),
			     rmpp_payload_length(lens[i], 56));
		assert_true(offer(t, message, 56 + lens[i]));
		assert_int_equal(t->seen.len, lens[i]);
		assert_memory_equal(t->seen.header, message, 56);
		assert_int_equal(t->seen.from.lid, 5);
		if (lens[i])
			assert_memory_equal(t->seen.data, message + 56, lens[i]);
	}
}

/* Simulators hand over 256 bytes whatever is in them. */
DESK_TEST(test_only_segment_says_how_much_of_it_counts)
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
		assert_int_equal(t->seen.len, rows[i].counts);
	}
}

DESK_TEST(test_what_is_no_message_is_left_to_others)
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
}
