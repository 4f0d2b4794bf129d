// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP: its header, and its two machines, one against the other over a wire
 * that loses, doubles and reorders.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>
#include <string.h>

#include "tests/lib/rmpp_lab.h"

/* ------------------------------------------------------------- the header */

/* Another writer of the same bytes: libibmad's table of fields. */
static void
test_header_bytes_are_those_of_libibmad(void **state)
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
	assert_int_equal(back.version, h.version);
	assert_int_equal(back.type, h.type);
	assert_int_equal(back.flags, h.flags);
	assert_int_equal(back.resp_time, h.resp_time);
	assert_int_equal(back.status, h.status);
	assert_int_equal(back.segment, h.segment);
	assert_int_equal(back.length, h.length);
	assert_false(rmpp_header_read(ours, RMPP_HEADER_LEN - 1, &back));
	assert_true(rmpp_header_read(ours, RMPP_HEADER_LEN, &back));
}

static void
test_layout_is_that_of_libibumad(void **state)
{
	assert_int_equal(offsetof(struct umad_sa_packet, rmpp_hdr), 24);
	assert_int_equal(offsetof(struct umad_sa_packet, data),
			 RMPP_SA_HEADER_LEN);
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

static void
test_payload_length_counts_every_class_header(void **state)
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

static void
test_every_type_has_its_own_statuses(void **state)
{
	struct rmpp_header h = { .version = 1, .flags = 1 };

	for (unsigned status = 0; status < 256; status++) {
		bool fit[5] = { false, status == 0, status == 0, status == 1,
			status >= 118 && status <= 127 };

		h.status = (uint8_t)status;
		for (h.type = 1; h.type <= 4; h.type++)
			assert_int_equal(rmpp_header_judge(&h),
					 fit[h.type] ? 0 : 124);
	}
	h.status = 0;
	for (unsigned type = 5; type <= 256; type++) {
		h.type = (uint8_t)type;
		assert_int_equal(rmpp_header_judge(&h), 121);
	}
	h.type = 1;
	h.version = 2;
	assert_int_equal(rmpp_header_judge(&h), 125);
	assert_string_equal(rmpp_status_name(126), "too many retries");
	assert_string_equal(rmpp_status_name(118), "total time too long");
	assert_string_equal(rmpp_status_name(127), "unspecified");
	assert_string_equal(rmpp_status_name(128), "?");
	assert_string_equal(rmpp_status_name(2), "?");
}

/* ------------------------------------------------- one against the other */

enum side { TO_RECEIVER, TO_SENDER };

struct flying {
	int64_t at;
	enum side to;
	uint8_t mad[MAD_SIZE];
};

struct pair {
	GRand *rand;
	unsigned loss, twice, late;	/* per cent */
	int64_t now;
	GArray *wire;			/* struct flying */
	struct rmpp_sender *s;
	struct rmpplab_source src;
	struct rmpp_receiver *r;	/* NULL: nothing has come */
	struct rmpp_params params;
	uint64_t sent;			/* MADs */
};

static void
launch(struct pair *p, enum side to, const uint8_t *mad)
{
	struct flying f = { .to = to };
	unsigned copies = 1;

	p->sent++;
	if ((unsigned)g_rand_int_range(p->rand, 0, 100) < p->loss)
		copies = 0;
	else if ((unsigned)g_rand_int_range(p->rand, 0, 100) < p->twice)
		copies = 2;
	memcpy(f.mad, mad, MAD_SIZE);
	while (copies-- > 0) {
		f.at = p->now + g_rand_int_range(p->rand, 5, 10);
		if ((unsigned)g_rand_int_range(p->rand, 0, 100) < p->late)
			f.at += g_rand_int_range(p->rand, 0, 150 * 1000);
		g_array_append_val(p->wire, f);
	}
}

static void
pair_send(struct pair *p)
{
	uint8_t mad[MAD_SIZE];

	while (rmpp_sender_next(p->s, mad, p->now))
		launch(p, TO_RECEIVER, mad);
	while (p->r && rmpp_receiver_next(p->r, mad, p->now))
		launch(p, TO_SENDER, mad);
}

static int
next_flying(const struct pair *p)
{
	int best = -1;

	for (guint i = 0; i < p->wire->len; i++)
		if (best < 0 || g_array_index(p->wire, struct flying, i).at <
		    g_array_index(p->wire, struct flying, best).at)
			best = (int)i;
	return best;
}

static void
land(struct pair *p, guint index)
{
	struct flying f = g_array_index(p->wire, struct flying, index);
	struct rmpp_header h;

	g_array_remove_index(p->wire, index);
	p->now = MAX(p->now, f.at);
	if (f.to == TO_SENDER) {
		rmpp_sender_receive(p->s, f.mad, p->now);
		return;
	}
	rmpp_header_read(f.mad, MAD_SIZE, &h);
	if (!p->r && h.type == RMPP_TYPE_DATA && h.segment == 1)
		p->r = rmpp_receiver_new(&p->params, p->now);
	if (p->r)
		rmpp_receiver_receive(p->r, f.mad, p->now);
}

/* The next thing that happens; false: nothing ever will. */
static bool
pair_step(struct pair *p)
{
	int64_t s = rmpp_sender_deadline(p->s);
	int64_t r = p->r ? rmpp_receiver_deadline(p->r) : RMPP_NO_DEADLINE;
	int64_t when = s < 0 ? r : r < 0 ? s : MIN(s, r);
	int f = next_flying(p);

	if (f >= 0 && (when < 0 ||
		       g_array_index(p->wire, struct flying, f).at <= when)) {
		land(p, (guint)f);
	} else if (when < 0) {
		return false;
	} else {
		p->now = MAX(p->now, when);
		rmpp_sender_expire(p->s, p->now);
		if (p->r)
			rmpp_receiver_expire(p->r, p->now);
	}
	pair_send(p);
	return true;
}

static void
expect_message(struct pair *p)
{
	g_autoptr(GByteArray) data = rmpp_receiver_steal_data(p->r);

	assert_int_equal(data->len, p->src.len);
	for (guint i = 0; i < data->len; i++)
		assert_int_equal(data->data[i], rmpplab_byte(i));
}

static void
pair_check(struct pair *p)
{
	enum rmpp_outcome s = rmpp_sender_outcome(p->s);
	enum rmpp_outcome r = p->r ? rmpp_receiver_outcome(p->r) :
		RMPP_GAVE_UP;

	assert_int_not_equal(s, RMPP_GOING_ON);
	assert_int_not_equal(r, RMPP_GOING_ON);
	/* who is told that it was sent can rely on it */
	if (s == RMPP_DONE)
		assert_int_equal(r, RMPP_DONE);
	if (r == RMPP_DONE)
		expect_message(p);
	/* neither machine found the other's frames wrong */
	if (s != RMPP_DONE)
		assert_int_equal(rmpp_sender_status(p->s),
				 RMPP_STATUS_RETRIES);
	if (p->r && r == RMPP_GAVE_UP)
		assert_int_equal(rmpp_receiver_status(p->r),
				 RMPP_STATUS_TOO_LONG);
}

static void
pair_open(struct pair *p, uint32_t seed)
{
	struct rmpp_message message = {
		.source = rmpplab_read, .data = &p->src, .window = 1,
		.length = RMPP_LENGTH_UNKNOWN,
	};
	uint8_t header[MAD_SIZE];

	p->rand = g_rand_new_with_seed(seed);
	p->wire = g_array_new(FALSE, FALSE, sizeof(struct flying));
	p->params = rmpplab_usual;
	p->params.window = (unsigned)g_rand_int_range(p->rand, 1, 65);
	p->src.len = (unsigned)g_rand_int_range(p->rand, 0, 20000);
	if (g_rand_boolean(p->rand))
		message.length = p->src.len;
	rmpplab_header(header, g_rand_boolean(p->rand) ?
		       METHOD_GET_TABLE_RESP : METHOD_GET_MULTI, RMPPLAB_TID);
	p->s = rmpp_sender_new(&p->params, header, &message, 0);
}

struct result {
	enum rmpp_outcome outcome;	/* as the sender knows it */
	uint64_t repeated, sent;
};

static struct result
run_pair(uint32_t seed, unsigned loss, unsigned twice, unsigned late)
{
	struct pair p = { .loss = loss, .twice = twice, .late = late };
	struct result result;
	unsigned steps = 0;

	pair_open(&p, seed);
	pair_send(&p);
	while (pair_step(&p))
		assert_true(++steps < 100000);
	pair_check(&p);
	assert_int_equal(p.src.calls_after_end, 0);
	result.outcome = rmpp_sender_outcome(p.s);
	result.repeated = rmpp_sender_repeated(p.s);
	result.sent = p.sent;
	rmpp_sender_free(p.s);
	rmpp_receiver_free(p.r);
	g_array_unref(p.wire);
	g_rand_free(p.rand);
	return result;
}

static void
test_what_arrives_is_what_was_sent_over_1000_schedules(void **state)
{
	uint32_t seed = g_random_int();
	unsigned done = 0;

	print_message("# seed %" PRIu32 "\n", seed);
	for (unsigned i = 0; i < 1000; i++)
		done += run_pair(seed + i, i % 50, i % 20, i % 30).outcome ==
			RMPP_DONE;
	/* and that is no empty promise */
	print_message("# %u of 1000 went through\n", done);
	assert_in_range(done, 500, 1000);
}

static void
test_nothing_is_repeated_on_a_good_wire(void **state)
{
	for (unsigned i = 0; i < 50; i++) {
		struct result result = run_pair(4711 + i, 0, 0, 0);

		assert_int_equal(result.outcome, RMPP_DONE);
		assert_int_equal(result.repeated, 0);
	}
}

static void
test_moderate_loss_always_gets_through(void **state)
{
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(run_pair(815 + i, 5, 5, 10).outcome,
				 RMPP_DONE);
}

static void
test_dead_wire_ends_on_both_sides(void **state)
{
	for (unsigned i = 0; i < 20; i++) {
		struct result result = run_pair(i, 100, 0, 0);

		assert_int_equal(result.outcome, RMPP_GAVE_UP);
		/* the first segment, 3 times again, the ABORT */
		assert_int_equal(result.sent, 5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_bytes_are_those_of_libibmad),
		cmocka_unit_test(test_layout_is_that_of_libibumad),
		cmocka_unit_test(test_payload_length_counts_every_class_header),
		cmocka_unit_test(test_every_type_has_its_own_statuses),
		cmocka_unit_test(
		    test_what_arrives_is_what_was_sent_over_1000_schedules),
		cmocka_unit_test(test_nothing_is_repeated_on_a_good_wire),
		cmocka_unit_test(test_moderate_loss_always_gets_through),
		cmocka_unit_test(test_dead_wire_ends_on_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
