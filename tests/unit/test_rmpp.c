// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP: its header; each end of a lab's transfer with MADs made by hand; and
 * one against the other over a wire that loses, doubles and reorders.
 */
#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>
#include <string.h>

#include "lab/rmpp.h"
#include "tests/lib/auto.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/scripted.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"

#define FIRST	RMPP_FLAG_FIRST
#define LAST	RMPP_FLAG_LAST
#define TIMEOUT	(100 * MS)

/* ------------------------------------------------------------- the header */

/* Another writer of the same bytes: libibmad's table of fields. */
TEST(test_header_bytes_are_those_of_libibmad)
{
	const struct rmpp_header h = {
		.version = 1, .type = RMPP_TYPE_ACK, .flags = 5,
		.resp_time = 14, .status = 0x7a, .segment = 0x01020304,
		.length = 0xa1b2c3d4,
	};
	uint8_t ours[MAD_SIZE] = { 0 }, theirs[MAD_SIZE] = { 0 };
	struct rmpp_header back;

	rmpp_header_write(ours, &h);
	mad_set_field(theirs, 0, IB_SA_RMPP_VERS_F, h.version);
	mad_set_field(theirs, 0, IB_SA_RMPP_TYPE_F, h.type);
	mad_set_field(theirs, 0, IB_SA_RMPP_RESP_F, h.resp_time);
	mad_set_field(theirs, 0, IB_SA_RMPP_FLAGS_F, h.flags);
	mad_set_field(theirs, 0, IB_SA_RMPP_STATUS_F, h.status);
	mad_set_field(theirs, 0, IB_SA_RMPP_SEGNUM_F, h.segment);
	mad_set_field(theirs, 0, IB_SA_RMPP_NEWWIN_F, h.length);
	assert_memory_equal(ours, theirs, MAD_SIZE);

	assert_true(rmpp_header_read(theirs, MAD_SIZE, &back));
	memset(ours, 0, sizeof(ours));
	rmpp_header_write(ours, &back);
	assert_memory_equal(ours, theirs, MAD_SIZE);
	assert_false(rmpp_header_read(ours, RMPP_HEADER_LEN - 1, &back));
	assert_true(rmpp_header_read(ours, RMPP_HEADER_LEN, &back));
}

TEST(test_layout_is_that_of_libibumad)
{
	assert_int_equal(sizeof(((struct umad_sa_packet *)0)->data), ROOM);
	assert_int_equal(UMAD_LEN_RMPP_DATA, RMPP_PAYLOAD_MAX);
	assert_int_equal(UMAD_RMPP_FLAG_ACTIVE, RMPP_FLAG_ACTIVE);
	assert_int_equal(IB_RMPP_FLAG_FIRST, RMPP_FLAG_FIRST);
	assert_int_equal(IB_RMPP_FLAG_LAST, RMPP_FLAG_LAST);
	assert_int_equal(IB_RMPP_TYPE_DATA, RMPP_TYPE_DATA);
	assert_int_equal(IB_RMPP_TYPE_ACK, RMPP_TYPE_ACK);
	assert_int_equal(IB_RMPP_TYPE_STOP, RMPP_TYPE_STOP);
	assert_int_equal(IB_RMPP_TYPE_ABORT, RMPP_TYPE_ABORT);
}

TEST(test_payload_length_counts_every_class_header)
{
	static const struct {
		uint64_t bytes;
		uint32_t segments, length;
	} cases[] = {
		{ 0, 1, 20 }, { 1, 1, 21 }, { 199, 1, 219 }, { 200, 1, 220 },
		{ 201, 2, 241 }, { 400, 2, 440 }, { 450, 3, 510 },
		/* the longest that 32 bits can tell */
		{ 3904515715, 19522579, UINT32_MAX },
		{ 3904515716, 19522579, 0 },
		{ UINT64_C(1) << 40, 5497558139 & UINT32_MAX, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t n = rmpp_segment_count(cases[i].bytes, 56);

		assert_int_equal(n & UINT32_MAX, cases[i].segments);
		assert_int_equal(rmpp_payload_length(cases[i].bytes, 56),
				 cases[i].length);
	}
	/* without a class header nothing is counted twice */
	assert_int_equal(rmpp_payload_length(450, 36), 450);
}

/* --------------------------------------------------------------- one end */

struct end {
	struct transport *t;
	struct rmpp *x;
	uint8_t *message;	/* to send */
	unsigned seen;		/* of what it has sent */
	int outcome;		/* -1: not over */
	GByteArray *got;
	uint8_t method;		/* of what it is told */
};

static void
on_over(enum rmpp_outcome outcome, void *data)
{
	struct end *e = data;

	assert_int_equal(e->outcome, -1);
	e->outcome = outcome;
}

static void
on_message(const uint8_t *message, size_t len, void *data)
{
	struct end *e = data;

	assert_null(e->got);
	e->got = g_byte_array_new();
	g_byte_array_append(e->got, message, len);
}

static uint8_t *
make_message(uint8_t method, size_t len)
{
	uint8_t *m = g_malloc(MAX(MAD_SIZE, RMPP_SA_HEADER_LEN + len));

	rmpplab_header(m, method, RMPPLAB_TID);
	for (size_t i = 0; i < len; i++)
		m[RMPP_SA_HEADER_LEN + i] = rmpplab_byte(i);
	return m;
}

/* 3 retries after 100 ms. */
static void
sender_open(struct end *e, uint8_t method, size_t len)
{
	const struct mad_addr to = { .lid = 2, .qp = 1 };

	*e = (struct end) { .t = scripted_new(), .outcome = -1 };
	e->method = METHOD_GET_TABLE;
	e->message = make_message(method, len);
	e->x = rmpp_send(e->t, &to, RMPP_SA_HEADER_LEN, e->message,
			 RMPP_SA_HEADER_LEN + len, TIMEOUT, 3, on_over, e);
}

static void
receiver_open(struct end *e)
{
	const struct mad_addr from = { .lid = 1, .qp = 1 };

	*e = (struct end) { .t = scripted_new(), .outcome = -1 };
	e->method = METHOD_GET_TABLE_RESP;
	e->x = rmpp_receiver(e->t, &from, RMPP_SA_HEADER_LEN, on_message,
			     on_over, e);
}

static void
end_close(struct end *e)
{
	rmpp_free(e->x);
	assert_true(scripted_run_idle(e->t, INT64_MAX));
	transport_free(e->t);
	g_free(e->message);
	g_clear_pointer(&e->got, g_byte_array_unref);
}

static void
tell(struct end *e, const struct rmpp_header *h)
{
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, e->method, RMPPLAB_TID);
	rmpp_header_write(mad, h);
	for (unsigned i = 0; i < ROOM && h->segment; i++)
		mad[56 + i] = rmpplab_byte((uint64_t)(h->segment - 1) * ROOM +
					   i);
	rmpp_take(e->x, mad);
}

/* What it has sent and was not looked at. */
static bool
next(struct end *e, struct rmpp_header *h)
{
	const struct scripted_sent *sent;

	if (e->seen == scripted_count(e->t))
		return false;
	sent = scripted_get(e->t, e->seen++);
	assert_true(rmpp_header_read(sent->mad, MAD_SIZE, h));
	assert_int_equal(h->version, 1);
	assert_true(h->flags & RMPP_FLAG_ACTIVE);
	return true;
}

static void
expect_silence(struct end *e)
{
	assert_int_equal(e->seen, scripted_count(e->t));
}

static void
expect(struct end *e, unsigned type, unsigned status, uint32_t segment,
       uint32_t length)
{
	struct rmpp_header h;

	assert_true(next(e, &h));
	assert_int_equal(h.type, type);
	assert_int_equal(h.status, status);
	assert_int_equal(h.segment, segment);
	assert_int_equal(h.length, length);
	expect_silence(e);
}

/* ------------------------------------------------------------- the sender */

static void
expect_segments(struct end *e, unsigned from, unsigned to)
{
	struct rmpp_header h;

	for (unsigned i = from; i <= to; i++) {
		assert_true(next(e, &h));
		assert_int_equal(h.type, RMPP_TYPE_DATA);
		assert_int_equal(h.segment, i);
		assert_int_equal(!!(h.flags & FIRST), i == 1);
		assert_int_equal(scripted_get(e->t, e->seen - 1)->mad[56],
				 rmpplab_byte((i - 1) * ROOM));
	}
	expect_silence(e);
}

static void
ack(struct end *e, uint32_t segment, uint32_t window_last)
{
	tell(e, &(struct rmpp_header) {
		.version = 1, .type = RMPP_TYPE_ACK, .flags = 1,
		.resp_time = RMPP_NO_RESP_TIME,
		.segment = segment, .length = window_last });
}

TEST(test_short_message_is_first_and_last)
{
	static const unsigned lens[] = { 0, 1, 112, 200 };
	struct rmpp_header h;

	for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
		AUTO_VALUE(end_close) struct end e;

		sender_open(&e, METHOD_GET_TABLE_RESP, lens[i]);
		assert_true(next(&e, &h));
		assert_int_equal(h.flags, 7);
		assert_int_equal(h.segment, 1);
		assert_int_equal(h.length, lens[i] + 20);
		for (unsigned k = 0; k < ROOM; k++)
			assert_int_equal(scripted_last(e.t)->mad[56 + k],
					 k < lens[i] ? rmpplab_byte(k) : 0);
		assert_int_equal(e.outcome, -1);
		ack(&e, 1, 9);
		assert_int_equal(e.outcome, RMPP_DONE);
		expect_silence(&e);
	}
}

TEST(test_peer_may_ask_for_patience_within_limits)
{
	static const struct {
		uint8_t resp_time;
		int64_t timeout;
	} cases[] = {
		{ 0, 100 * MS },	/* less than ours: ours */
		{ 14, 100 * MS },	/* 67 ms */
		{ 16, 268435 },		/* 4.096 us * 2^16 */
		{ 30, 2000 * MS },	/* 73 minutes */
		{ 31, 100 * MS },	/* says nothing */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(end_close) struct end e;

		sender_open(&e, METHOD_GET_TABLE_RESP, 40 * ROOM);
		expect_segments(&e, 1, 1);
		tell(&e, &(struct rmpp_header) {
			.version = 1, .type = RMPP_TYPE_ACK, .segment = 1,
			.length = 9, .resp_time = cases[i].resp_time });
		expect_segments(&e, 2, 9);
		scripted_run(e.t, cases[i].timeout - 1);
		expect_silence(&e);
		scripted_run(e.t, cases[i].timeout);
		expect_segments(&e, 2, 9);
	}
}

/* ----------------------------------------------------------- the receiver */

static void
give(struct end *e, uint32_t segment, unsigned flags, uint32_t length)
{
	tell(e, &(struct rmpp_header) {
		.version = 1, .type = RMPP_TYPE_DATA,
		.flags = (uint8_t)(flags | RMPP_FLAG_ACTIVE),
		.segment = segment, .length = length });
}

static void
expect_ack(struct end *e, uint32_t segment)
{
	uint8_t header[MAD_SIZE];

	expect(e, RMPP_TYPE_ACK, 0, segment, segment + RMPP_WINDOW);
	/* back against the data: the same TID, the other direction */
	rmpplab_header(header, METHOD_GET_TABLE, RMPPLAB_TID);
	assert_memory_equal(scripted_last(e->t)->mad, header, 24);
}

static void
expect_message(const struct end *e, size_t len)
{
	assert_non_null(e->got);
	assert_int_equal(e->got->len, RMPP_SA_HEADER_LEN + len);
	assert_int_equal(e->got->data[3], METHOD_GET_TABLE_RESP);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(e->got->data[RMPP_SA_HEADER_LEN + i],
				 rmpplab_byte(i));
}

TEST(test_only_segment_may_be_of_any_length)
{
	for (unsigned len = 0; len <= ROOM; len++) {
		AUTO_VALUE(end_close) struct end e;

		receiver_open(&e);
		give(&e, 1, FIRST | LAST, 20 + len);
		expect_ack(&e, 1);
		expect_message(&e, len);
	}
}

TEST(test_too_much_is_stopped)
{
	static const struct {
		uint32_t length;
		bool fits;
	} cases[] = {
		{ UINT32_MAX, false }, { (64 << 20) + 1, false },
		{ 64 << 20, true }, { 0, true },
	};
	struct end e;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		receiver_open(&e);
		give(&e, 1, FIRST, cases[i].length);
		if (cases[i].fits)
			expect_ack(&e, 1);
		else
			expect(&e, RMPP_TYPE_STOP, RMPP_STATUS_RESOURCES, 0, 0);
		end_close(&e);
	}
	/* a peer that does not say is believed until there */
	receiver_open(&e);
	for (uint32_t n = 1; scripted_count(e.t) == 0 ||
	     scripted_last(e.t)->mad[25] == RMPP_TYPE_ACK; n++) {
		assert_in_range(n, 1, (64 << 20) / 220 + 2);
		give(&e, n, n == 1 ? FIRST : 0, 0);
	}
	assert_int_equal(scripted_last(e.t)->mad[25], RMPP_TYPE_STOP);
	end_close(&e);
}

/* ---------------------------------------------------------------- scripts */

/* What an end is told; mad: VERSION TYPE FLAGS SEGMENT LENGTH STATUS. False: no
 * such words. */
static bool
play_told(struct end *e, const char *words)
{
	unsigned a, b = 1, flags, n, length, status;
	char flag;

	if (sscanf(words, "ack %u %u", &a, &b) == 2)
		ack(e, a, b);
	else if (sscanf(words, "first %u %u", &a, &length) == 2)
		give(e, a, FIRST, length);
	else if (sscanf(words, "last %u %u", &a, &length) == 2)
		give(e, a, LAST, length);
	else if (sscanf(words, "data %u-%u %u", &a, &b, &length) == 3)
		for (unsigned i = 0; i <= MAX(a, b) - MIN(a, b); i++)
			give(e, a < b ? a + i : a - i, 0, length);
	else if (sscanf(words, "abort %u version %u", &a, &b) >= 1)
		tell(e, &(struct rmpp_header) {
			.version = (uint8_t)b, .type = RMPP_TYPE_ABORT,
			.flags = 1, .status = (uint8_t)a });
	else if (sscanf(words, "stop %u", &a) == 1)
		tell(e, &(struct rmpp_header) {
			.version = 1, .type = RMPP_TYPE_STOP, .flags = 1,
			.status = (uint8_t)a });
	else if (sscanf(words, "mad %u %u %u %u %u %u", &a, &b, &flags, &n,
			&length, &status) == 6)
		tell(e, &(struct rmpp_header) {
			.version = (uint8_t)a, .type = (uint8_t)b,
			.flags = (uint8_t)flags, .segment = n,
			.length = length, .status = (uint8_t)status });
	else if (sscanf(words, "at %u%c", &a, &flag) >= 1)
		scripted_run(e->t, a * MS - (g_str_has_suffix(words, "-")));
	else
		return false;
	return true;
}

/* What it must have said to that, and nothing else. */
static bool
play_said(struct end *e, const char *words)
{
	unsigned a, b;

	if (strcmp(words, "= nothing") == 0)
		expect_silence(e);
	else if (sscanf(words, "= data %u-%u", &a, &b) == 2)
		expect_segments(e, a, b);
	else if (strcmp(words, "= turn") == 0) {
		expect(e, RMPP_TYPE_ACK, 0, 0, 1);
		assert_int_equal(scripted_last(e->t)->mad[3], METHOD_GET_MULTI);
	} else if (sscanf(words, "= ack %u", &a) == 1)
		expect_ack(e, a);
	else if (sscanf(words, "= abort %u", &a) == 1)
		expect(e, RMPP_TYPE_ABORT, a, 0, 0);
	else if (sscanf(words, "= message %u", &a) == 1)
		expect_message(e, a);
	else if (strcmp(words, "= open") == 0)
		assert_int_equal(e->outcome, -1);
	else if (strcmp(words, "= done") == 0)
		assert_int_equal(e->outcome, RMPP_DONE);
	else if (strcmp(words, "= given up") == 0)
		assert_int_equal(e->outcome, RMPP_GAVE_UP);
	else if (strcmp(words, "= ended by the peer") == 0) {
		assert_int_equal(e->outcome, RMPP_ENDED_BY_PEER);
		assert_null(e->got);
	}
	else
		return false;
	return true;
}

/*
 * One end and its peer, in order. Times are ms, "-" is just before; a time-out
 * is 100, with 3 retries. Segments hold 200 bytes; lengths count the 20 of the
 * class header, and only in the first and the last segment do they mean
 * anything.
 */
static const struct {
	const char *name, *script;
} scripts[] = {
	/* as far as our own window lets us, however much is granted */
	{ "the window opens with the ACKs",
	  "send 80000; = data 1-1; ack 1 4; = data 2-4; ack 2 4; = nothing; "
	  "ack 3 1000; = data 5-67; ack 67 1000; = data 68-131" },
	{ "a time-out repeats from the last ACK",
	  "send 1200; = data 1-1; ack 1 9; = data 2-6; at 50; ack 3 11; "
	  "at 150-; = nothing; at 150; = data 4-6; ack 6 14; = done" },
	{ "silence ends after the retries",
	  "send 1200; = data 1-1; at 100; = data 1-1; at 200; = data 1-1; "
	  "at 300; = data 1-1; at 400; = abort 126; = given up" },
	/* the same ACK again is none */
	{ "news take the retries back",
	  "send 2000; = data 1-1; at 100; = data 1-1; at 200; = data 1-1; "
	  "at 300; = data 1-1; ack 1 2; = data 2-2; at 400; = data 2-2; "
	  "at 500; = data 2-2; at 600; = data 2-2; ack 2 3; = data 3-3; "
	  "at 700; = data 3-3; ack 2 3; at 800; = data 3-3; ack 2 3; "
	  "at 900; = data 3-3; ack 2 3; at 1000; = abort 126" },
	/* overtaken; twice; none; a window that shrinks */
	{ "old ACKs change nothing",
	  "send 8000; = data 1-1; ack 1 5; = data 2-5; ack 4 7; = data 6-7; "
	  "ack 1 5; ack 4 7; ack 0 1; ack 5 6; = nothing; at 100; "
	  "= data 5-7; = open" },
	/* IBA 13.6.6.3; the ACK got lost, and an old one */
	{ "the direction switches after a request",
	  "ask 300; ack 1 9; = data 1-2; ack 2 10; = done; = turn; "
	  "ack 2 10; = turn; ack 1 9; = nothing" },
	/* the next ACK when half the window is used, before it is at its end */
	{ "segments in order make the message",
	  "receive; first 1 21850; = ack 1; data 2-32 12345; = nothing; "
	  "data 33-33 0; = ack 33; data 34-65 0; = ack 65; data 66-97 0; "
	  "= ack 97; data 98-99 0; last 100 70; = ack 100; "
	  "= message 19850" },
	/* 66 is beyond it, and 65 is here when it comes again */
	{ "the widest window holds all that come early",
	  "receive; first 1 0; = ack 1; last 65 21; data 64-3 21; "
	  "data 66-66 0; last 4294967295 220; = nothing; at 5; last 65 21; "
	  "= ack 1; data 2-2 0; = ack 65; = message 12801" },
	/* that ACK is still on its way; nor do they keep it alive */
	{ "repeated segments get one ACK in a while",
	  "receive; first 1 0; = ack 1; first 1 0; data 2-3 0; = nothing; "
	  "at 100; first 1 0; data 2-3 0; = ack 3; at 40000; = abort 118" },
	/* an answer would be an ABORT to an ABORT, even to a wrong one */
	{ "STOP ends it in silence",
	  "send 8000; = data 1-1; stop 1; = ended by the peer; at 60000; "
	  "= nothing" },
	{ "ABORT ends it in silence",
	  "send 8000; = data 1-1; abort 118; = ended by the peer; at 60000; "
	  "= nothing" },
	{ "the last ABORT",
	  "send 8000; = data 1-1; abort 127; = ended by the peer; = nothing" },
	{ "an ABORT of no reason",
	  "send 8000; = data 1-1; abort 0; = ended by the peer; = nothing" },
	{ "an ABORT of another version",
	  "send 8000; = data 1-1; abort 200 version 9; = ended by the peer; "
	  "= nothing" },
	{ "ABORT of the sender is not answered",
	  "receive; first 1 0; = ack 1; abort 126; = ended by the peer; "
	  "= nothing" },
	{ "nor is a wrong one",
	  "receive; first 1 0; = ack 1; abort 255; = ended by the peer; "
	  "= nothing" },
	/* it is here, whatever its sender believes */
	{ "a complete message repeats its ACK",
	  "receive; first 1 0; = ack 1; last 2 70; = ack 2; = message 250; "
	  "at 100; last 2 70; = ack 2; abort 126; = nothing; at 10000-; "
	  "= open; at 10000; = done" },
};

static void
play_steps(struct end *e, const char *script)
{
	g_auto(GStrv) steps = g_strsplit(script, "; ", -1);

	for (char **step = steps; *step && **step; step++)
		if (!(**step == '=' ? play_said(e, *step) :
		      play_told(e, *step)))
			fail_msg("no step: %s", *step);
}

TEST(test_scripts_of_one_end)
{
	unsigned bytes;

	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
		AUTO_VALUE(end_close) struct end e;
		const char *script = scripts[i].script;

		print_message("%s\n", scripts[i].name);
		if (sscanf(script, "send %u", &bytes) == 1)
			sender_open(&e, METHOD_GET_TABLE_RESP, bytes);
		else if (sscanf(script, "ask %u", &bytes) == 1)
			sender_open(&e, METHOD_GET_MULTI, bytes);
		else
			receiver_open(&e);
		play_steps(&e, strchr(script, ';') + 2);
	}
}

TEST(test_bad_answers_are_aborted_with_their_status)
{
	static const struct {
		const char *answer;
		unsigned status;
	} cases[] = {
		{ "mad 2 2 0 1 9 0", RMPP_STATUS_BAD_VERSION },
		{ "mad 0 2 0 1 9 0", RMPP_STATUS_BAD_VERSION },
		{ "mad 1 0 0 0 0 0", RMPP_STATUS_BAD_TYPE },
		{ "mad 1 5 0 0 0 0", RMPP_STATUS_BAD_TYPE },
		{ "mad 1 2 0 1 9 1", RMPP_STATUS_BAD_STATUS },
		{ "mad 1 3 0 0 0 0", RMPP_STATUS_BAD_STATUS },
		{ "mad 1 3 0 0 0 118", RMPP_STATUS_BAD_STATUS },
		{ "ack 3 2", RMPP_STATUS_WINDOW_SMALL },
		{ "ack 5 9", RMPP_STATUS_SEGMENT_BIG },
		{ "ack 4294967295 4294967295", RMPP_STATUS_SEGMENT_BIG },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(end_close) struct end e;

		sender_open(&e, METHOD_GET_TABLE_RESP, 40 * ROOM);
		play_steps(&e, "ack 1 4; = data 1-4");
		play_steps(&e, cases[i].answer);
		expect(&e, RMPP_TYPE_ABORT, cases[i].status, 0, 0);
		/* whatever comes now */
		play_steps(&e, "= given up; ack 4 9; = nothing");
	}
}

TEST(test_bad_segments_are_aborted_with_their_status)
{
	static const struct {
		const char *good, *bad;
		unsigned status;
	} cases[] = {
		{ NULL, "mad 2 1 3 1 0 0", RMPP_STATUS_BAD_VERSION },
		{ "", "mad 0 1 1 2 0 0", RMPP_STATUS_BAD_VERSION },
		{ "", "mad 1 7 1 2 0 0", RMPP_STATUS_BAD_TYPE },
		{ "", "mad 1 1 1 2 0 3", RMPP_STATUS_BAD_STATUS },
		{ NULL, "data 1-1 0", RMPP_STATUS_BAD_SEGMENT },
		{ NULL, "first 2 0", RMPP_STATUS_BAD_SEGMENT },
		{ NULL, "first 0 0", RMPP_STATUS_BAD_SEGMENT },
		{ "", "data 0-0 0", RMPP_STATUS_BAD_SEGMENT },
		{ "", "first 3 0", RMPP_STATUS_BAD_SEGMENT },
		/* shorter than the class header, longer than a MAD */
		{ NULL, "mad 1 1 7 1 19 0", RMPP_STATUS_BAD_LENGTH },
		{ NULL, "mad 1 1 7 1 221 0", RMPP_STATUS_BAD_LENGTH },
		{ NULL, "mad 1 1 7 1 0 0", RMPP_STATUS_BAD_LENGTH },
		{ "", "last 2 19", RMPP_STATUS_BAD_LENGTH },
		{ "", "last 2 4294967295", RMPP_STATUS_BAD_LENGTH },
		/* the first said 2 segments, of which the last has 70 bytes */
		{ NULL, "first 1 220", RMPP_STATUS_BAD_LENGTH },
		{ "first 1 290", "data 2-2 0", RMPP_STATUS_BAD_LENGTH },
		{ "first 1 290", "last 3 70", RMPP_STATUS_BAD_LENGTH },
		{ "first 1 290", "last 2 71", RMPP_STATUS_BAD_LENGTH },
		{ "first 1 800", "last 2 70", RMPP_STATUS_BAD_LENGTH },
		/* two ends, and something behind the end */
		{ "last 3 70", "last 4 70", RMPP_STATUS_BAD_LENGTH },
		{ "last 3 70", "last 2 70", RMPP_STATUS_BAD_LENGTH },
		{ "last 3 70", "data 4-4 0", RMPP_STATUS_BAD_LENGTH },
		{ "data 5-5 0", "last 4 70", RMPP_STATUS_BAD_LENGTH },
	};
	struct rmpp_header h;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(end_close) struct end e;
		const char *good = cases[i].good;

		receiver_open(&e);
		if (good && !g_str_has_prefix(good, "first"))
			play_steps(&e, "first 1 0");
		if (good)
			play_steps(&e, good);
		while (next(&e, &h))
			assert_int_equal(h.type, RMPP_TYPE_ACK);
		play_steps(&e, cases[i].bad);
		expect(&e, RMPP_TYPE_ABORT, cases[i].status, 0, 0);
		/* sent again to a peer that goes on, and only for so long */
		play_steps(&e, "data 2-2 0; = nothing; at 50; data 2-2 0");
		expect(&e, RMPP_TYPE_ABORT, cases[i].status, 0, 0);
		play_steps(&e, "at 10000-; = open; at 10000; = given up; "
			   "data 2-2 0; = nothing");
		assert_null(e.got);
	}
}

/* ------------------------------------------------- one against the other */

struct pair {
	GRand *rand;
	unsigned loss, twice, late;	/* per cent */
	struct end s, r;
	uint64_t sent;
};

static bool
happens(struct pair *p, unsigned percent)
{
	return (unsigned)g_rand_int_range(p->rand, 0, 100) < percent;
}

static void
on_wire(struct transport *t, const struct scripted_sent *sent, void *data)
{
	struct transport_mad m = {
		.addr = sent->to, .mad = sent->mad, .len = MAD_SIZE,
	};
	struct pair *p = data;
	unsigned copies = happens(p, p->loss) ? 0 : happens(p, p->twice) ?
		2 : 1;

	p->sent++;
	for (; copies; copies--)
		scripted_deliver(t, &m, g_rand_int_range(p->rand, 5, 10) +
				 (happens(p, p->late) ?
				  g_rand_int_range(p->rand, 0, 150 * 1000) :
				  0));
}

static void
on_arrival(const struct transport_mad *m, void *data)
{
	const struct mad_addr from = { .lid = 1, .qp = 1 };
	struct pair *p = data;
	struct rmpp_header h;

	rmpp_header_read(m->mad, MAD_SIZE, &h);
	if (m->addr.lid == 2 && !p->r.x && h.type == RMPP_TYPE_DATA &&
	    h.segment == 1)
		p->r.x = rmpp_receiver(p->s.t, &from, RMPP_SA_HEADER_LEN,
				       on_message, on_over, &p->r);
	if (m->addr.lid == 1)
		rmpp_take(p->s.x, m->mad);
	else if (p->r.x)
		rmpp_take(p->r.x, m->mad);
}

/* How it ended for the sender; *sent: MADs of both. */
static int
run_pair(uint32_t seed, unsigned loss, unsigned twice, unsigned late,
	 uint64_t *sent, size_t *len)
{
	const struct mad_addr to = { .lid = 2, .qp = 1 };
	struct pair p = { .loss = loss, .twice = twice, .late = late };
	struct transport *t = scripted_new();

	p.rand = g_rand_new_with_seed(seed);
	*len = (unsigned)g_rand_int_range(p.rand, 0, 40000);
	scripted_set_peer(t, on_wire, &p);
	transport_set_receiver(t, on_arrival, &p);
	p.r.outcome = p.s.outcome = -1;
	p.s.t = t;
	p.s.message = make_message(METHOD_GET_TABLE_RESP, *len);
	p.s.x = rmpp_send(t, &to, RMPP_SA_HEADER_LEN, p.s.message,
			  RMPP_SA_HEADER_LEN + *len, TIMEOUT, 3, on_over, &p.s);
	assert_true(scripted_run_idle(t, 10000 * S));
	assert_int_not_equal(p.s.outcome, -1);
	if (p.r.x)
		assert_int_not_equal(p.r.outcome, -1);
	/* a sender that is told so can rely on it */
	if (p.s.outcome == RMPP_DONE)
		assert_non_null(p.r.got);
	if (p.r.got)
		expect_message(&p.r, *len);
	/* neither end found the other's MADs wrong */
	if (p.s.outcome != RMPP_DONE)
		assert_int_equal(p.s.outcome, RMPP_GAVE_UP);
	*sent = p.sent;
	rmpp_free(p.r.x);
	g_clear_pointer(&p.r.got, g_byte_array_unref);
	end_close(&p.s);
	g_rand_free(p.rand);
	return p.s.outcome;
}

TEST(test_what_arrives_is_what_was_sent_over_1000_schedules)
{
	uint32_t seed = (uint32_t)seed_take(1);
	unsigned done = 0;
	uint64_t sent;
	size_t len;

	for (unsigned i = 0; i < 1000; i++)
		done += run_pair(seed + i, i % 50, i % 20, i % 30, &sent,
				 &len) == RMPP_DONE;
	/* and that is no empty promise */
	print_message("# %u of 1000 went through\n", done);
	assert_in_range(done, 500, 1000);
}

TEST(test_nothing_is_repeated_on_a_good_wire)
{
	uint64_t sent, segments;
	size_t len;

	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(run_pair(4711 + i, 0, 0, 0, &sent, &len),
				 RMPP_DONE);
		segments = rmpp_segment_count(len, RMPP_SA_HEADER_LEN);
		/* an ACK for the first, each half window, the last */
		assert_in_range(sent, segments + 1, segments + 2 +
				segments / (RMPP_WINDOW / 2));
	}
}
