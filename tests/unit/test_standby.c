// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A standby next to a master that the test plays: it answers well, badly, in
 * part or not at all. Nothing of that replaces what was read before.
 */
#include <string.h>

#include "lab/generate.h"
#include "sm/mad/rmpp.h"
#include "sm/mad/sa_record.h"
#include "sm/mad/smp.h"
#include "sm/sa/query.h"
#include "sm/standby.h"
#include "tests/lib/auto.h"
#include "tests/lib/scripted.h"
#include "tests/lib/state_text.h"
#include "tests/lib/unit.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)
#define KEY	UINT64_C(77)
#define EVERY	10u
#define MASTER	5u

/* How the master answers the request for its state. */
enum end { COMES, SILENT, RETURNED };
struct manner {
	const char *name;
	uint8_t flags;		/* of RMPP */
	bool is_mad;		/* of the length of a MAD */
	uint8_t at, flip;	/* bits of a byte of the message */
	uint8_t words;		/* of a record, as it says; 0: of a state's */
	uint8_t more;		/* bytes at its end */
	enum end end;
};
#define FIRST	(RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST)
#define WHOLE	(FIRST | RMPP_FLAG_LAST)
#define LONG	((MAD_SIZE - RMPP_SA_HEADER_LEN) / 8)

static const struct manner manners[] = {
	{ .name = "well", .flags = WHOLE },
	{ .name = "silent", .end = SILENT },
	{ .name = "returned", .end = RETURNED },
	{ .name = "refusing", .flags = WHOLE, .is_mad = true, .at = 5,
	  .flip = MAD_STATUS_BAD_ATTRIBUTE },
	{ .name = "no records", .flags = WHOLE, .is_mad = true, .at = 4,
	  .flip = SA_STATUS_NO_RECORDS >> 8 },
	{ .name = "cut", .flags = FIRST, .is_mad = true },
	{ .name = "cut between two long records", .flags = FIRST,
	  .is_mad = true, .words = LONG },
	{ .name = "no RMPP", .is_mad = true },
	{ .name = "ragged", .flags = WHOLE, .more = 3 },
	{ .name = "small records", .flags = WHOLE, .words = 1 },
	{ .name = "other attribute", .flags = WHOLE, .at = 17, .flip = 1 },
	{ .name = "other method", .flags = WHOLE, .at = 3,
	  .flip = SA_METHOD_GET_TABLE ^ MAD_METHOD_GET },
	{ .name = "senseless", .flags = WHOLE, .at = 70, .flip = 1 },
};

struct stage {
	struct transport *t;
	struct mad_client *x;
	struct snapshot *s;
	struct sa *sa, *other;	/* ours, the master's */
	struct state *state, *others;
	struct log *log;
	struct standby *b;
	const struct manner *manner;
	bool is_minism, is_dark, is_down;
	unsigned n_tables, n_class, n_told;
	unsigned n_refused;	/* requests for a table that cannot be sent */
	uint16_t master;	/* its LID */
	int64_t table_us;	/* it takes so long */
	unsigned lasts;
};

static void
answer_port(struct stage *st, const struct scripted_sent *sent)
{
	struct port_info info = { .lid = 3, .sm_lid = st->master,
				  .state = st->is_down ? PORT_STATE_INIT :
				  PORT_STATE_ACTIVE };
	struct scripted_sent changed = *sent;

	port_info_encode(smp_data(changed.mad), &info);
	scripted_reply(st->t, &changed, 10);
}

static void
answer_class(struct stage *st, const struct scripted_sent *sent)
{
	struct scripted_sent changed = *sent;
	struct sa_mark mark = sa_mark_of(st->other);

	st->n_class++;
	if (st->is_dark)
		return;
	scripted_refuse(st->t, st->n_refused, TRANSPORT_ERROR_SEND);
	st->n_refused = 0;
	if (st->is_minism)
		sa_mark_write(changed.mad, &mark);
	else
		memset(changed.mad + SA_DATA_OFFSET, 0, SA_DATA_LEN);
	scripted_reply(st->t, &changed, 10);
}

/* The state that the other SA would send, in one message. */
static GByteArray *
state_of(struct stage *st, const uint8_t *request)
{
	struct sa_request q = { .mad = request, .len = MAD_SIZE, .slid = 0 };
	GByteArray *bytes = g_byte_array_new();
	uint8_t record[SA_DATA_LEN];
	struct sa_reply reply;
	struct sa_header h;

	g_byte_array_append(bytes, request, RMPP_SA_HEADER_LEN);
	sa_header_read(request, MAD_SIZE, &h);
	assert_int_equal(h.sm_key, KEY);
	assert_int_equal(h.mad.attr_id, SA_ATTR_STATE);
	sa_answer(st->other, &q, &reply);
	assert_int_equal(reply.kind, SA_REPLY_TABLE);
	while (sa_records_draw(reply.records, record) == SA_DRAW_RECORD)
		g_byte_array_append(bytes, record, 64);
	sa_records_free(reply.records);
	return bytes;
}

static void
answer_table(struct stage *st, const struct scripted_sent *sent)
{
	const struct manner *how = st->manner;
	struct rmpp_header r = {
		.version = RMPP_VERSION, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = how->flags,
	};
	g_autoptr(GByteArray) bytes = state_of(st, sent->mad);
	struct transport_mad m = { .addr = sent->to };

	st->n_tables++;
	if (how->end == RETURNED)
		scripted_return(st->t, sent->mad, 10);
	if (how->end != COMES)
		return;
	g_byte_array_append(bytes, (const uint8_t *)"abc", how->more);
	r.length = (uint32_t)bytes->len - RMPP_SA_HEADER_LEN + 20;
	bytes->data[3] |= MAD_METHOD_RESPONSE;
	bytes->data[45] = how->words ?:
		(uint8_t)(sa_record_size(SA_ATTR_STATE) / 8);
	bytes->data[how->at] ^= how->flip;
	rmpp_header_write(bytes->data, &r);
	g_byte_array_set_size(bytes, how->is_mad ? MAD_SIZE : bytes->len);
	m.mad = bytes->data;
	m.len = bytes->len;
	scripted_deliver(st->t, &m, 10 + st->table_us);
}

static void
peer(struct transport *t, const struct scripted_sent *sent, void *data)
{
	struct stage *st = data;
	const struct mad_header h = mad_header_of(sent->mad);

	if (h.mgmt_class == MAD_CLASS_SMP_DIRECT) {
		answer_port(st, sent);
	} else if (h.method == SA_METHOD_GET_TABLE) {
		assert_int_equal(sent->to.lid, st->master);
		answer_table(st, sent);
	} else if (h.attr_id == SA_ATTR_CLASS_PORT_INFO) {
		assert_int_equal(sent->to.lid, st->master);
		answer_class(st, sent);
	} else if (h.attr_id == SA_ATTR_STATE) {
		st->n_told++;
	}
}

/* Of one group with this many members, by text. */
static void
set_members(struct stage *st, unsigned n)
{
	g_autoptr(GString) text = g_string_new("group "
		"0xff12401bffff00000000000000000001 0xc007 0xffff 0x00000b1b "
		"0x00000 4 3 18 0 0 0 0 0x0000000000000000\n");

	for (unsigned i = 1; i <= n; i++)
		g_string_append_printf(text, "member "
			"0xff12401bffff00000000000000000001 "
			"0xfe80000000000000%016x 1 0\n", i);
	assert_true(sa_load(st->other, text->str, 0, NULL));
}

static struct state *
open_state(const struct stage *st, struct sa *sa)
{
	const struct state_params params = {
		.log = st->log, .owners = { { &sa_part, sa } }, .n = 1,
	};

	return state_open(&params, st->t);
}

static void
stage_open(struct stage *st)
{
	static const struct mad_client_params wire = {
		.timeout_ms = 50, .retries = 1, .max_wire = 8,
	};
	const struct sa_params params = { .sm_key = KEY };

	memset(st, 0, sizeof(*st));
	st->is_minism = true;
	st->manner = manners;
	st->master = MASTER;
	st->t = scripted_new();
	scripted_set_peer(st->t, peer, st);
	st->x = mad_client_new(st->t, &wire);
	st->s = generate_fabric("single(3)", NULL, NULL);
	st->sa = sa_new(&params);
	st->other = sa_new(&params);
	set_members(st, 2);
	st->log = log_open("/dev/null", LOG_DEBUG, NULL);
	st->state = open_state(st, st->sa);
	st->others = open_state(st, st->other);
	state_know_clients(st->others);
	st->other->write_state = state_write;
	st->other->write_state_data = st->others;
	st->b = standby_new(st->x, NULL, st->sa, st->state, st->log);
	standby_follow(st->b, st->s);
}

static void
stage_close(struct stage *st)
{
	standby_free(st->b);
	state_close(st->state);
	state_close(st->others);
	mad_client_free(st->x);
	transport_free(st->t);
	log_free(st->log);
	sa_free(st->sa);
	sa_free(st->other);
	snapshot_unref(st->s);
}

FIXTURE(stage)

#define STANDBY_TEST(name) \
	TEST_WITH(name, struct stage *st, stage_new, stage_free)

static struct standby_status
after(struct stage *st, int64_t us)
{
	struct standby_status status;

	scripted_run(st->t, transport_now(st->t) + us);
	standby_status(st->b, &status);
	return status;
}

/* A minism is read once, and again when its version is another. */
STANDBY_TEST(test_a_minism_is_read_when_there_is_news)
{
	struct standby_status status;

	status = after(st, SECOND / 2);
	assert_true(status.warm);
	assert_int_equal(status.stats.n_members, 2);
	assert_int_equal(st->n_tables, 1);
	status = after(st, 60 * SECOND);
	assert_int_equal(st->n_tables, 1);
	assert_in_range(st->n_class, 55, 65);
	assert_true(transport_now(st->t) - status.as_of < 2 * SECOND);
	set_members(st, 5);
	status = after(st, 2 * SECOND);
	assert_int_equal(st->n_tables, 2);
	assert_int_equal(status.stats.n_members, 5);
}

/* Nothing is read of it, and a minism that was the master before counts for a
 * moment only. */
STANDBY_TEST(test_a_master_that_is_no_minism_gives_nothing)
{
	struct standby_status status;

	st->is_minism = false;
	status = after(st, 5 * SECOND);
	assert_has(status.why, "it is no minism, has not found this manager");
	assert_false(status.warm);
	st->is_minism = true;
	status = after(st, 2 * SECOND);
	assert_true(status.warm);
	assert_null(status.why);
	assert_int_equal(st->n_tables, 1);
	st->is_minism = false;
	status = after(st, 2 * SECOND);
	assert_true(status.warm);
	status = after(st, 4 * SECOND);
	assert_false(status.warm);
	assert_int_equal(st->n_tables, 1);
	assert_int_equal(standby_take(st->b, transport_now(st->t)), 0);
}

/* Whatever the master does, what was read first is held; and once it answers
 * well again, that is read. */
TEST(test_a_bad_answer_replaces_nothing)
{
	for (size_t i = 1; i < G_N_ELEMENTS(manners); i++) {
		AUTO_VALUE(stage_close) struct stage st;
		struct standby_status status;

		print_message("# %s\n", manners[i].name);
		stage_open(&st);
		status = after(&st, SECOND / 2);
		assert_int_equal(status.stats.n_members, 2);
		assert_null(status.why);
		set_members(&st, 4);
		st.manner = &manners[i];
		status = after(&st, 2 * EVERY * SECOND);
		assert_non_null(status.why);
		if (manners[i].flags == FIRST)
			assert_has(status.why,
				   "is truncated: this transport has no");
		assert_true(status.warm);
		assert_int_equal(status.stats.n_members, 2);
		assert_true(status.as_of < 2 * SECOND);
		assert_int_equal(status.reads, 1);
		st.manner = manners;
		status = after(&st, 7 * EVERY * SECOND);
		assert_null(status.why);
		assert_true(status.reads > 1);
		assert_int_equal(status.stats.n_members, 4);
	}
}

STANDBY_TEST(test_a_request_that_cannot_be_sent_is_told_and_tried_again)
{
	struct standby_status status;

	after(st, SECOND / 2);
	set_members(st, 5);
	st->n_refused = 1;
	for (unsigned i = 0; i < 20 && st->n_refused; i++)
		status = after(st, SECOND / 10);
	assert_string_equal(status.why, "the transport accepts no request");
	assert_int_equal(status.stats.n_members, 2);
	status = after(st, 3 * SECOND);
	assert_null(status.why);
	assert_int_equal(status.stats.n_members, 5);
}

STANDBY_TEST(test_another_master_is_read_though_it_has_the_same_marks)
{
	after(st, 5 * SECOND);
	assert_int_equal(st->n_tables, 1);
	st->master = MASTER + 1;
	after(st, 5 * SECOND);
	assert_int_equal(st->n_tables, 2);
}

/* It is old by then: members left, others joined. */
STANDBY_TEST(test_what_no_master_confirms_is_dropped)
{
	after(st, 5 * SECOND);
	st->is_dark = true;
	assert_true(after(st, 290 * SECOND).warm);
	assert_false(after(st, 20 * SECOND).warm);
	st->is_dark = false;
	assert_true(after(st, 5 * SECOND).warm);
	/* of the master before */
	st->is_dark = true;
	st->master = MASTER + 1;
	assert_true(after(st, 2 * SECOND).warm);
	assert_false(after(st, 5 * SECOND).warm);
}

/* Of a table that takes 200 ms: no more than a part of the master's time. */
STANDBY_TEST(test_a_standby_rests_after_a_long_table)
{
	st->table_us = SECOND / 5;
	for (unsigned i = 0; i < 60; i++) {
		set_members(st, 2 + i % 2);
		after(st, SECOND);
	}
	assert_in_range(st->n_tables, 2, 40);
}

static void
notify(struct stage *st, uint64_t key)
{
	uint8_t mad[MAD_SIZE];
	const struct transport_mad m = {
		.addr = { .lid = MASTER, .qp = 1 }, .mad = mad, .len = MAD_SIZE,
	};

	sa_build(mad, MAD_METHOD_GET, SA_ATTR_STATE);
	sa_set_sm_key(mad, key);
	scripted_deliver(st->t, &m, 10);
}

STANDBY_TEST(test_news_are_read_at_once_if_they_have_the_key)
{
	after(st, SECOND / 10);
	notify(st, KEY + 1);
	after(st, SECOND / 10);
	assert_int_equal(st->n_class, 1);
	notify(st, KEY);
	after(st, SECOND / 10);
	assert_int_equal(st->n_class, 2);
}

/* Notifications may be lost. */
STANDBY_TEST(test_a_master_tells_its_standby_of_news_until_it_asks)
{
	sa_follow(st->sa, MASTER, transport_now(st->t));
	st->sa->n_views++;
	standby_touch(st->b);
	after(st, SECOND / 10);
	assert_int_equal(st->n_told, 4);
	/* another change does not wait for the next repetition */
	st->sa->n_views++;
	standby_touch(st->b);
	after(st, SECOND / 80);
	assert_int_equal(st->n_told, 5);
	sa_follow(st->sa, MASTER, transport_now(st->t));
	after(st, 2 * SECOND);
	assert_int_equal(st->n_told, 5);
	st->sa->n_views++;
	standby_touch(st->b);
	after(st, 2 * SECOND);
	assert_int_equal(st->n_told, 5 + 8);
}

STANDBY_TEST(test_a_standby_says_why_it_is_not_warm)
{
	struct standby_status status;
	unsigned n_class;

	st->is_dark = true;
	status = after(st, 3 * SECOND);
	assert_string_equal(status.why, "its SA does not answer");
	assert_false(status.warm);
	st->is_down = true;
	status = after(st, 3 * SECOND);
	assert_string_equal(status.why, "it has not activated our port yet");
	assert_int_equal(st->n_tables, 0);
	/* our own port is no master */
	st->is_dark = st->is_down = false;
	st->master = 3;
	n_class = st->n_class;
	status = after(st, 5 * SECOND);
	assert_non_null(status.why);
	assert_int_equal(st->n_class, n_class);
}

/* ------------------------------------------------------------------- taking */

TEST(test_clients_are_known_if_nothing_can_be_missing)
{
	static const struct {
		int64_t dark_us;	/* the SA is silent, the master not */
		uint16_t lid;
	} cases[] = {
		{ 0, MASTER }, { 2 * SECOND, MASTER }, { 20 * SECOND, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct sa_stats stats;
		AUTO_VALUE(stage_close) struct stage st;

		stage_open(&st);
		after(&st, 2 * SECOND);
		st.is_dark = true;
		after(&st, cases[i].dark_us);
		assert_int_equal(standby_take(st.b, transport_now(st.t)),
				 cases[i].lid);
		sa_stats(st.sa, &stats);
		assert_int_equal(stats.n_members, 2);
		/* once */
		assert_int_equal(standby_take(st.b, transport_now(st.t)), 0);
	}
}

static void
on_last(void *data)
{
	((struct stage *)data)->lasts++;
}

/* What changed a moment before the hand-over is there, and what changes while
 * that is read; nothing is read twice. */
TEST(test_the_last_is_read_before_it_is_taken)
{
	static const struct {
		unsigned then, meanwhile;	/* members; 0: no news */
		unsigned members, asked, tables;
	} cases[] = {
		{ 0, 0, 2, 1, 0 }, { 7, 0, 7, 1, 1 }, { 5, 7, 7, 2, 2 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(stage_close) struct stage st;
		unsigned n_class, n_tables;
		struct sa_stats stats;

		stage_open(&st);
		after(&st, SECOND / 2);
		n_class = st.n_class;
		n_tables = st.n_tables;
		if (cases[i].then)
			set_members(&st, cases[i].then);
		st.table_us = 5000;
		standby_read_last(st.b, on_last, &st);
		assert_int_equal(st.lasts, 0);
		after(&st, 1000);
		if (cases[i].meanwhile) {
			set_members(&st, cases[i].meanwhile);
			notify(&st, KEY);
		}
		after(&st, 20 * 1000);
		assert_int_equal(st.lasts, 1);
		assert_int_equal(st.n_class, n_class + cases[i].asked);
		assert_int_equal(st.n_tables, n_tables + cases[i].tables);
		assert_int_equal(standby_take(st.b, transport_now(st.t)),
				 MASTER);
		sa_stats(st.sa, &stats);
		assert_int_equal(stats.n_members, cases[i].members);
	}
}

/* A master that does not answer is not waited for. That it has news was seen. */
STANDBY_TEST(test_the_last_is_not_waited_for_long)
{
	after(st, SECOND / 2);
	set_members(st, 7);
	st->manner = &manners[1];	/* silent */
	standby_read_last(st->b, on_last, st);
	standby_read_last(st->b, on_last, st);
	after(st, (STANDBY_LAST_MS - 1) * 1000);
	assert_int_equal(st->lasts, 0);
	after(st, 2 * 1000);
	assert_int_equal(st->lasts, 1);
	assert_int_equal(standby_take(st->b, transport_now(st->t)), LID_NONE);
}
