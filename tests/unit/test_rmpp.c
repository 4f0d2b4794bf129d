// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP: its header, and each end of a lab's transfer with MADs made by hand. One
 * against the other: tests/golden/kernel.
 */
#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>

#include "lab/rmpp.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/scripted.h"
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

/* ------------------------------------------------------------- the sender */

static void
ack(struct end *e, uint32_t segment, uint32_t window_last, unsigned resp_time)
{
	tell(e, &(struct rmpp_header) {
		.version = 1, .type = RMPP_TYPE_ACK, .flags = 1,
		.resp_time = (uint8_t)resp_time,
		.segment = segment, .length = window_last });
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

/* Back against the data: the same TID, the other direction. */
static void
assert_ack(const uint8_t *mad, const struct rmpp_header *h)
{
	uint8_t header[MAD_SIZE];

	assert_int_equal(h->status, 0);
	assert_int_equal(h->length, h->segment + RMPP_WINDOW);
	rmpplab_header(header, METHOD_GET_TABLE, RMPPLAB_TID);
	assert_memory_equal(mad, header, 24);
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

/* A peer that does not say how much is believed until there. */
TEST(test_too_much_is_stopped)
{
	AUTO_VALUE(end_close) struct end e;

	receiver_open(&e);
	for (uint32_t n = 1; scripted_count(e.t) == 0 ||
	     scripted_last(e.t)->mad[25] == RMPP_TYPE_ACK; n++) {
		assert_in_range(n, 1, (64 << 20) / 220 + 2);
		give(&e, n, n == 1 ? FIRST : 0, 0);
	}
	assert_int_equal(scripted_last(e.t)->mad[25], RMPP_TYPE_STOP);
}

/* ------------------------------------------------------------ transcripts */

/* What an end is told; ack: SEGMENT WINDOW_LAST [RESP_TIME]; mad: VERSION TYPE
 * FLAGS SEGMENT LENGTH STATUS. */
static void
play_told(struct end *e, const char *words)
{
	unsigned a, b = 1, flags, n, length = RMPP_NO_RESP_TIME, status;
	char flag;

	if (sscanf(words, "ack %u %u %u", &a, &b, &length) >= 2)
		ack(e, a, b, length);
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
		fail_msg("no step: %s", words);
}

/* A segment has its part of the message, and 0 behind it. */
static void
assert_data(const struct rmpp_header *h, const uint8_t *mad)
{
	unsigned n = h->flags & LAST ? h->length - 20 : ROOM;

	assert_true(!(h->flags & FIRST) == (h->segment != 1));
	for (unsigned i = 0; i < ROOM; i++)
		assert_int_equal(mad[56 + i], i < n ? rmpplab_byte(i + ROOM *
				 (uint64_t)(h->segment - 1)) : 0);
}

/* What it says to that: segments in a row are one word, and the last of all has
 * its length. */
static void
put_said(struct end *e, GString *out)
{
	uint32_t last = UINT32_MAX;
	struct rmpp_header h;

	while (next(e, &h)) {
		const uint8_t *mad = scripted_get(e->t, e->seen - 1)->mad;

		if (h.type == RMPP_TYPE_DATA) {
			assert_data(&h, mad);
			if (h.segment != last + 1)
				g_string_append_printf(out, " data %u-",
						       h.segment);
			else	/* up to this one, now */
				g_string_truncate(out, strrchr(out->str, '-') +
						  1 - out->str);
			g_string_append_printf(out, "%u", h.segment);
			if (h.flags & LAST)
				g_string_append_printf(out, " of %u", h.length);
			last = h.segment;
		} else if (h.type == RMPP_TYPE_ACK &&
			   mad[3] == METHOD_GET_MULTI) {
			g_string_append_printf(out, " turn %u-%u", h.segment,
					       h.length);
		} else if (h.type == RMPP_TYPE_ACK) {
			assert_ack(mad, &h);
			g_string_append_printf(out, " ack %u", h.segment);
		} else {
			assert_int_equal(h.segment + h.length, 0);
			g_string_append_printf(out, " %s %u", h.type ==
				RMPP_TYPE_ABORT ? "abort" : "stop", h.status);
		}
	}
}

static void
put_outcome(struct end *e, int before, GString *out)
{
	static const char *const names[] = {
		[RMPP_DONE] = "done", [RMPP_GAVE_UP] = "given up",
		[RMPP_ENDED_BY_PEER] = "ended by the peer",
	};

	if (e->outcome != before)
		g_string_append_printf(out, ", %s", names[e->outcome]);
	if (e->got) {
		g_string_append_printf(out, ", message %u", e->got->len -
				       RMPP_SA_HEADER_LEN);
		expect_message(e, e->got->len - RMPP_SA_HEADER_LEN);
		g_clear_pointer(&e->got, g_byte_array_unref);
	}
}

/*
 * Ends and their peers, a line for each step: what an end is told, and what it
 * says to that. Times are ms, "-" is just before; a time-out is 100, with 3
 * retries. Segments hold 200 bytes; lengths count the 20 of the class header,
 * and only in the first and the last segment do they mean anything.
 */
GOLDEN("rmpp", transcript)
{
	g_auto(GStrv) steps = g_strsplit(text, "\n", -1);
	struct end e = { .t = NULL };
	unsigned bytes;

	for (char **step = steps; **step; step++) {
		int before = e.t ? e.outcome : -1;
		bool is_send = sscanf(*step, "send %u", &bytes) == 1;

		g_string_append_printf(out, "%s:", *step);
		if (e.t && (is_send || strcmp(*step, "receive") == 0)) {
			end_close(&e);
			before = -1;
		}
		if (is_send)
			sender_open(&e, METHOD_GET_TABLE_RESP, bytes);
		else if (sscanf(*step, "ask %u", &bytes) == 1)
			sender_open(&e, METHOD_GET_MULTI, bytes);
		else if (strcmp(*step, "receive") == 0)
			receiver_open(&e);
		else
			play_told(&e, *step);
		put_said(&e, out);
		put_outcome(&e, before, out);
		g_string_append_c(out, '\n');
	}
	end_close(&e);
}
