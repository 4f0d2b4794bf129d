// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long messages over a transport that does RMPP itself: they go out and come
 * in in one piece. The transport here writes down what it is given.
 */
#include <string.h>

#include "sm/io/sa_message.h"
#include "tests/lib/auto.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/unit.h"

struct kernel {
	struct transport base;
	int64_t now, when;
	transport_timer_fn fn;	/* of the only timer */
	void *data;
	unsigned sends, timeout_ms;
	bool refuses, left;	/* left: by the last offer() */
	struct mad_addr to;
	GByteArray *message;	/* the last one */
};

static struct kernel *
kernel_of(struct transport *t)
{
	return (struct kernel *)t;
}

static bool
kernel_send(struct transport *t, const struct mad_addr *to,
	    const uint8_t *mad, size_t len, unsigned timeout_ms,
	    GError **error)
{
	struct kernel *k = kernel_of(t);

	if (k->refuses) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND,
			    "refused");
		return false;
	}
	k->sends++;
	k->to = *to;
	k->timeout_ms = timeout_ms;
	g_byte_array_set_size(k->message, 0);
	g_byte_array_append(k->message, mad, (guint)len);
	return true;
}

static int64_t
kernel_now(struct transport *t)
{
	return kernel_of(t)->now;
}

static unsigned
kernel_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		   void *data)
{
	struct kernel *k = kernel_of(t);

	assert_null(k->fn);
	k->when = when;
	k->fn = fn;
	k->data = data;
	return 1;
}

static void
kernel_timer_cancel(struct transport *t, unsigned id)
{
	kernel_of(t)->fn = NULL;
}

static void
kernel_free(struct transport *t)
{
	g_byte_array_unref(kernel_of(t)->message);
	g_free(t);
}

static void
on_left(const struct transport_mad *m, void *data)
{
	((struct kernel *)data)->left = true;
}

static struct kernel *
kernel_new(void)
{
	static const struct transport_ops ops = {
		.send = kernel_send, .now = kernel_now,
		.timer_start = kernel_timer_start,
		.timer_cancel = kernel_timer_cancel, .free = kernel_free,
	};
	struct kernel *k = g_new0(struct kernel, 1);

	k->base.ops = &ops;
	k->base.rmpp = true;
	k->message = g_byte_array_new();
	transport_set_receiver(&k->base, on_left, k);
	return k;
}

static void
kernel_ring(struct kernel *k)
{
	transport_timer_fn fn = g_steal_pointer(&k->fn);

	if (!fn)
		return;
	k->now = MAX(k->now, k->when);
	fn(k->data);
}

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

/* The kernel, what sends and receives by it, and an order. */
struct desk {
	struct kernel *k;
	struct sa_message *b;
	struct seen seen;
	uint8_t header[MAD_SIZE];
	struct rmpplab_source src;
	struct sa_message_order o;
};

static struct kernel *
desk_open(struct desk *t, size_t max)
{
	*t = (struct desk){ .k = kernel_new() };
	t->seen.data = g_byte_array_new();
	t->b = sa_message_new(&t->k->base, max, on_message, &t->seen);
	return t->k;
}

static void
desk_close(struct desk *t)
{
	g_byte_array_unref(t->seen.data);
	g_clear_pointer(&t->b, sa_message_free);
	transport_free(&t->k->base);
}

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

TEST(test_message_goes_out_in_one_piece)
{
	static const struct {
		unsigned len, flags, payload;
	} cases[] = {
		{ 0, 7, 20 }, { 64, 7, 84 }, { 200, 7, 220 }, { 201, 3, 241 },
		{ 4096, 3, 4516 }, { 10000, 3, 11000 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		unsigned len = cases[i].len;
		AUTO_VALUE(desk_close) struct desk t;
		struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
		struct rmpp_header r;

		order_table(&t, NULL, len);
		assert_true(sa_message_send(t.b, &t.o, on_done, &t.seen));
		assert_int_equal(k->sends, 1);
		assert_null(k->fn);
		assert_int_equal(k->to.lid, 7);
		assert_int_equal(k->timeout_ms, 123);
		/* not filled up: the kernel counts */
		assert_int_equal(k->message->len, 56 + len);
		assert_true(rmpp_header_read(k->message->data, 56, &r));
		assert_int_equal(r.version, 1);
		assert_int_equal(r.type, RMPP_TYPE_DATA);
		assert_int_equal(r.flags, cases[i].flags);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.segment, 1);
		assert_int_equal(r.length, cases[i].payload);
		for (unsigned n = 0; n < len; n++)
			assert_int_equal(k->message->data[56 + n],
					 rmpplab_byte(n));
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
		struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
		struct slow slow;
		unsigned rings = 0;

		order_slow(&t, &slow, 200000, ready[i]);
		assert_false(sa_message_send(t.b, &t.o, on_done, &t.seen));
		while (!k->sends) {
			assert_true(rings++ < 10000);
			assert_int_equal(k->when, k->now +
					 RMPP_SOURCE_PAUSE_US);
			kernel_ring(k);
		}
		kernel_ring(k);
		assert_int_equal(t.seen.ends, 1);
		assert_int_equal(t.seen.outcome, SA_MESSAGE_SENT);
		assert_int_equal(k->message->len, 56 + 200000);
		for (unsigned n = 0; n < 200000; n++)
			assert_int_equal(k->message->data[56 + n],
					 rmpplab_byte(n));
		assert_true(rings >= 200000 / MAX(ready[i], 65536));
	}
}

/* A source that never pauses does not keep the caller for all of it. */
TEST(test_long_message_is_collected_in_goes)
{
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
	size_t before = 0;

	order_table(&t, NULL, 1000000);
	assert_false(sa_message_send(t.b, &t.o, on_done, &t.seen));
	while (!k->sends) {
		assert_true(t.src.at - before <= 65536);
		before = t.src.at;
		kernel_ring(k);
	}
	assert_int_equal(k->message->len, 56 + 1000000);
	kernel_ring(k);
	assert_int_equal(t.seen.ends, 1);
}

/* As long as they are one: all share what is collected in a turn. */
TEST(test_many_messages_share_a_turn)
{
	enum { N = 40 };
	struct rmpplab_source src[N];
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
	uint64_t before = N * 65536, sum;

	for (unsigned i = 0; i < N; i++) {
		order_table(&t, &src[i], 200000);
		assert_false(sa_message_send(t.b, &t.o, on_done, &t.seen));
	}
	for (unsigned turn = 1; k->fn; turn++) {
		kernel_ring(k);
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
	assert_int_equal(t.seen.ends, N);
	assert_int_equal(k->sends, N);
}

TEST(test_full_memory_lets_the_oldest_go_on)
{
	struct rmpplab_source src[3];
	struct seen seen[3] = { 0 };
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, 180000);

	for (unsigned i = 0; i < 3; i++) {
		order_table(&t, &src[i], 170000);
		t.header[15] = (uint8_t)i;	/* TID */
		sa_message_send(t.b, &t.o, on_done, &seen[i]);
	}
	while (!k->sends) {
		assert_true(src[1].at < 70000 && src[2].at < 70000);
		kernel_ring(k);
	}
	while (!seen[1].ends || !seen[2].ends) {
		assert_non_null(k->fn);
		kernel_ring(k);
	}
	assert_int_equal(k->sends, 3);

	/* The memory of what has gone is there again: two go on at once. */
	for (unsigned i = 0; i < 2; i++) {
		order_table(&t, &src[i], 70000);
		sa_message_send(t.b, &t.o, on_done, &seen[i]);
	}
	kernel_ring(k);
	assert_int_equal(k->sends, 5);
}

/* Tables that are gone leave their room to the next ones, any number of times. */
TEST(test_memory_is_given_back)
{
	struct rmpplab_source src[2];
	struct seen seen[2] = { 0 };
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, 180000);

	for (unsigned i = 0; i < 5; i++) {
		order_table(&t, NULL, 100000);
		sa_message_send(t.b, &t.o, on_done, &t.seen);
		while (k->fn)
			kernel_ring(k);
	}
	assert_int_equal(k->sends, 5);
	for (unsigned i = 0; i < 2; i++) {
		order_table(&t, &src[i], 80000);
		sa_message_send(t.b, &t.o, on_done, &seen[i]);
	}
	kernel_ring(k);
	assert_int_equal(k->sends, 7);
	assert_true(seen[0].ends && seen[1].ends);
}

static void
expect_outcome(struct desk *t, enum sa_message_outcome outcome)
{
	t->seen.ends = 0;
	assert_false(sa_message_send(t->b, &t->o, on_done, &t->seen));
	assert_int_equal(t->seen.ends, 0);
	kernel_ring(t->k);
	assert_int_equal(t->seen.ends, 1);
	assert_int_equal(t->seen.outcome, outcome);
}

TEST(test_what_cannot_be_collected_is_told)
{
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, 10000);

	order_table(&t, NULL, 10000);
	assert_true(sa_message_send(t.b, &t.o, on_done, NULL));
	order_table(&t, NULL, 10001);
	expect_outcome(&t, SA_MESSAGE_TOO_LONG);
	assert_int_equal(k->sends, 1);
	k->refuses = true;
	order_table(&t, NULL, 10);
	expect_outcome(&t, SA_MESSAGE_NOT_ACCEPTED);
}

TEST(test_all_may_be_freed_while_one_is_out)
{
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);

	k->refuses = true;
	order_table(&t, NULL, 10);
	assert_false(sa_message_send(t.b, &t.o, on_done, &t.seen));
	g_clear_pointer(&t.b, sa_message_free);
	assert_null(k->fn);
	assert_int_equal(t.seen.ends, 0);
}

/* False: it is left to others. */
static bool
offer(struct kernel *k, const uint8_t *message, size_t len)
{
	/* no longer than it is, if too much is read */
	g_autofree uint8_t *exact = g_memdup2(message, len);
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .mad = exact, .len = len,
		.addr = { .lid = 5, .qp = 1 },
	};

	k->left = false;
	k->base.on_recv(&m, k->base.recv_data);
	return !k->left;
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

TEST(test_message_comes_in_in_one_piece)
{
	static const unsigned lens[] = { 0, 1, 112, 200, 201, 5000 };
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
	uint8_t message[6000];

	for (unsigned i = 0; i < G_N_ELEMENTS(lens); i++) {
		make_message(message, MAX(lens[i], 200), RMPP_FLAG_FIRST |
			     (lens[i] <= 200 ? RMPP_FLAG_LAST : 0),
			     rmpp_payload_length(lens[i], 56));
		assert_true(offer(k, message, 56 + lens[i]));
		assert_int_equal(t.seen.messages, i + 1);
		assert_int_equal(t.seen.data->len, lens[i]);
		assert_memory_equal(t.seen.header, message, 56);
		assert_int_equal(t.seen.from.lid, 5);
		if (lens[i])
			assert_memory_equal(t.seen.data->data, message + 56,
					    lens[i]);
	}
	assert_int_equal(k->sends, 0);	/* no ACK of ours */
}

/* Simulators hand over 256 bytes whatever is in them. */
TEST(test_only_segment_says_how_much_of_it_counts)
{
	static const struct {
		unsigned flags, length, counts;
	} rows[] = {
		{ RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 84, 64 },
		{ RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 5000, 200 },
		{ RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 19, 200 },	/* senseless */
		{ RMPP_FLAG_FIRST, 84, 200 },
	};
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
	uint8_t mad[MAD_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		make_message(mad, ROOM, rows[i].flags, rows[i].length);
		assert_true(offer(k, mad, MAD_SIZE));
		assert_int_equal(t.seen.data->len, rows[i].counts);
	}
}

TEST(test_what_is_no_message_is_left_to_others)
{
	AUTO_VALUE(desk_close) struct desk t;
	struct kernel *k = desk_open(&t, SA_MESSAGE_COLLECT_MAX);
	struct rmpp_header r = { .version = 1, .type = RMPP_TYPE_ACK,
		.flags = RMPP_FLAG_ACTIVE };
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, METHOD_GET_TABLE, 1);
	assert_false(offer(k, mad, MAD_SIZE));
	rmpp_header_write(mad, &r);
	assert_false(offer(k, mad, MAD_SIZE));
	make_message(mad, ROOM, RMPP_FLAG_FIRST, 0);
	for (size_t len = 1; len < 56; len++)
		assert_false(offer(k, mad, len));
	assert_true(offer(k, mad, 56));
	mad[1] = 0x04;
	assert_false(offer(k, mad, MAD_SIZE));
	assert_int_equal(t.seen.messages, 1);
}
