// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transactions against a scripted peer on a virtual clock: what is lost, late,
 * doubled, wrong or never answered, cancelled, and what callbacks may do. The
 * window is in test_window.c.
 */
#include <string.h>

#include <glib.h>

#include "sm/io/mad_client.h"
#include "sm/mad/smp.h"
#include "tests/lib/auto.h"
#include "tests/lib/mad_client_bench.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"

static const struct mad_addr addr = { .lid = LID_PERMISSIVE };

TEST(test_answer_reaches_its_request_once)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	assert_int_not_equal(bench_start(b, 7), 0);
	assert_int_equal(scripted_count(b->t), 1);
	assert_int_equal(b->x->pending, 1);
	bench_make_answer(b, mad, MAD_STATUS_BAD_VALUE);
	mad[SMP_DATA_OFFSET] = 0x5a;
	scripted_answer(b->t, mad, 30);
	scripted_run(b->t, 10 * MS);

	assert_int_equal(b->ends, 1);
	assert_int_equal(b->answered[7], 1);
	assert_int_equal(b->when[7], 30);
	assert_int_equal(b->last.status, MAD_STATUS_BAD_VALUE);
	assert_int_equal(b->last_data, 0x5a);
	assert_int_equal(b->x->pending, 0);
	assert_true(scripted_run_idle(b->t, 10 * TIMEOUT));
	assert_int_equal(scripted_count(b->t), 1);
	assert_int_equal(b->ends, 1);
	assert_true(b->x->stats.answered == 1);
	assert_true(b->x->stats.sent == 1);
	assert_true(b->x->stats.sent_set == 0);
}

/* What the peer makes of one attempt after the other. */
struct fate {
	const char *attempts;	/* answered, busy, returned by the kernel,
				 * silent (.), or not even taken: for good (x),
				 * or for the moment (z) */
	unsigned n_sent;
	int64_t sent[9];	/* when they went out */
	int64_t end;
	bool answered;
};

static void
peer_fate(struct transport *t, const struct scripted_sent *s, void *data)
{
	const char **next = data;
	uint8_t mad[MAD_SIZE];
	char fate = *(*next)++;

	memcpy(mad, s->mad, sizeof(mad));
	smp_make_response(mad, fate == 'b' ? MAD_STATUS_BUSY : MAD_STATUS_OK);
	if (fate == 'r')
		scripted_return(t, s->mad, 100);
	else if (fate != '.')
		scripted_answer(t, mad, 100);
}

static void
assert_fate(const struct fate *f)
{
	const char *next = f->attempts + strspn(f->attempts, "xz");
	unsigned refused = next - f->attempts;
	bool again = *f->attempts == 'z';
	unsigned attempt = again ? 1 : refused + 1, first = 0;
	const char *fates = next;
	AUTO(bench) *b = bench_new(&bench_usual, peer_fate, &next);
	const struct mad_client_stats *stats = &b->x->stats;

	print_message("%s\n", f->attempts);
	scripted_refuse(b->t, refused, again ? TRANSPORT_ERROR_AGAIN :
			TRANSPORT_ERROR_SEND);
	bench_start(b, 1);
	assert_int_equal(b->ends, 0);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(scripted_count(b->t), f->n_sent);
	for (unsigned i = 0; i < f->n_sent; i++) {
		const struct scripted_sent *sent = scripted_get(b->t, i);

		assert_int_equal(sent->when, f->sent[i]);
		/* a kernel may keep it for what is left of the request */
		assert_int_equal(sent->timeout_ms, (5 - attempt) * 200);
		for (unsigned j = 0; j < first; j++)
			assert_int_not_equal(sent_tid(sent),
					     sent_tid(scripted_get(b->t, j)));
		assert_int_equal(sent_tid(sent),
				 sent_tid(scripted_get(b->t, first)));
		if (fates[i] == 'b' && f->sent[i + 1] - f->sent[i] > 100)
			continue;
		attempt++;
		first = i + 1;
	}
	assert_int_equal(b->ends, 1);
	assert_int_equal(b->answered[1], f->answered);
	assert_int_equal(b->timed_out[1], !f->answered);
	assert_int_equal(b->when[1], f->end);
	assert_int_equal(b->drops, refused);
	assert_string_equal(b->reason, refused ? "refused by script" : "");
	assert_int_equal(stats->sent, f->n_sent);
	assert_int_equal(stats->timed_out, !f->answered);
}

TEST(test_attempts_have_their_fates)
{
	static const struct fate fates[] = {
		{ "a", 1, { 0 }, 100, true },
		{ "....", 4, { 0, TIMEOUT, 2 * TIMEOUT, 3 * TIMEOUT },
		  4 * TIMEOUT, false },
		{ "...a", 4, { 0, TIMEOUT, 2 * TIMEOUT, 3 * TIMEOUT },
		  3 * TIMEOUT + 100, true },
		/* 1 ms after the answer, 2 ms after the next one, .. */
		{ "bba", 3, { 0, 1100, 3200 }, 3300, true },
		{ "bbbbbbbba", 9, { 0, 1100, 3200, 7300, 15400, 31500, 63600,
		  127700, 127800 }, 127900, true },
		{ "rra", 3, { 0, 100, 200 }, 300, true },
		{ "rrrr", 4, { 0, 100, 200, 300 }, 400, false },
		{ "xxa", 1, { 2 * TIMEOUT }, 2 * TIMEOUT + 100, true },
		{ "zza", 1, { 3 * MS }, 3 * MS + 100, true },
		{ "zzba", 2, { 3 * MS, 7100 }, 7200, true },
		{ "xbra", 3, { TIMEOUT, TIMEOUT + 1100, TIMEOUT + 1200 },
		  TIMEOUT + 1300, true },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(fates); i++)
		assert_fate(&fates[i]);
}

TEST(test_late_answer_to_an_earlier_attempt_counts)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	bench_start(b, 1);
	scripted_run(b->t, TIMEOUT + 10);
	assert_int_equal(scripted_count(b->t), 2);
	scripted_reply(b->t, scripted_get(b->t, 0), 5);
	scripted_run(b->t, TIMEOUT + 20);
	assert_int_equal(b->answered[1], 1);
	/* and then the answer to the second finds no request */
	scripted_reply(b->t, scripted_get(b->t, 1), 5);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 1);
	assert_true(b->x->stats.late == 1);
	assert_true(b->x->stats.foreign == 0);
	assert_int_equal(scripted_count(b->t), 2);
}

/* The first attempt's answer comes when it is lost and its retry has no room
 * yet: nothing is sent for it any more. */
TEST(test_late_answer_ends_a_request_that_waits_for_its_retry)
{
	struct mad_client_params params = bench_usual;
	AUTO(bench) *b;

	params.max_wire = 2;	/* room for one retry */
	b = bench_new(&params, NULL, NULL);
	bench_start(b, 0);
	bench_start(b, 1);
	scripted_run(b->t, TIMEOUT + 10);
	assert_int_equal(scripted_count(b->t), 3);	/* only 0 again */
	scripted_reply(b->t, scripted_get(b->t, 1), 0);
	scripted_run(b->t, TIMEOUT + 20);
	assert_int_equal(b->answered[1], 1);
	scripted_reply(b->t, scripted_get(b->t, 2), 0);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->answered[0], 1);
	assert_int_equal(scripted_count(b->t), 3);
}

/* The next request: answered after `answer`, or never (0); its attempts go out
 * `pause` after each other. */
struct pace {
	int64_t answer, pause;
	unsigned timeout_ms;	/* of its first attempt */
	bool elsewhere;		/* to another node */
};

static void
assert_pace(struct bench *b, const struct pace *p, uint64_t tag)
{
	const struct dr_path path = { .hops = 2, .port = { 0, 1, 3 } };
	int64_t now = transport_now(b->t), end = 4 * p->pause;
	uint8_t mad[MAD_SIZE];

	scripted_forget(b->t);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, tag, 0,
			 &path);
	if (p->elsewhere)
		mad_client_start(b->x, &addr, mad, bench_done, b, tag);
	else
		bench_start(b, tag);
	if (p->answer) {
		scripted_reply(b->t, scripted_get(b->t, 0), p->answer);
		end = p->answer;
	}
	assert_true(scripted_run_idle(b->t, now + 100 * TIMEOUT));
	assert_int_equal(b->when[tag], now + end);
	assert_int_equal(b->answered[tag], p->answer > 0);
	assert_int_equal(scripted_count(b->t), (end - 1) / p->pause + 1);
	for (unsigned i = 0; i < scripted_count(b->t); i++)
		assert_int_equal(scripted_get(b->t, i)->when,
				 now + i * p->pause);
	assert_int_equal(scripted_get(b->t, 0)->timeout_ms, p->timeout_ms);
}

/* Retries would fill its queue, and the answers to what follows come later
 * still. Once it answers quickly, or not at all, it is like any other. */
TEST(test_slow_peer_is_waited_for_longer)
{
	static const struct pace paces[] = {
		{ 99 * MS, TIMEOUT, 800, false },
		{ 0, TIMEOUT, 800, false },
		{ 250 * MS, TIMEOUT, 800, false },
		{ 0, TIMEOUT, 800, true },
		{ 100 * MS, 3 * TIMEOUT, 2400, false },
		{ 0, 2 * TIMEOUT, 1600, false },
		{ 799 * MS, TIMEOUT, 800, false },
		{ 3999 * MS, 5 * TIMEOUT, 4000, false },
		{ 1 * MS, 5 * TIMEOUT, 4000, false },
		{ 0, TIMEOUT, 800, false },
	};
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(paces); i++)
		assert_pace(b, &paces[i], i);
}

/* Its first answer comes when the request is over. */
TEST(test_late_answer_tells_that_a_peer_is_slow)
{
	static const struct pace other = { 0, TIMEOUT, 800, true };
	static const struct pace slow = { 0, 5 * TIMEOUT, 4000, false };
	static const struct pace lost = { 0, TIMEOUT, 800, false };
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	for (unsigned round = 0; round < 2; round++) {
		scripted_forget(b->t);
		bench_start(b, 0);
		scripted_run(b->t, transport_now(b->t) + 4 * TIMEOUT + 10);
		assert_int_equal(b->timed_out[0], 1 + round);
		scripted_reply(b->t, scripted_get(b->t, 0), 5);
		scripted_run(b->t, transport_now(b->t) + 10);
		assert_pace(b, &other, 1 + 3 * round);
		assert_pace(b, &slow, 2 + 3 * round);
		assert_pace(b, &lost, 3 + 3 * round);
	}
	/* one answer more than there were requests says nothing */
	scripted_forget(b->t);
	bench_start(b, 7);
	scripted_run(b->t, transport_now(b->t) + 4 * TIMEOUT + 10);
	scripted_reply(b->t, scripted_get(b->t, 0), 5);
	scripted_run(b->t, transport_now(b->t) + 10);
	bench_start(b, 8);
	scripted_reply(b->t, scripted_get(b->t, 4), 1 * MS);
	scripted_run(b->t, transport_now(b->t) + 2 * MS);
	scripted_reply(b->t, scripted_get(b->t, 4), 1 * MS);
	scripted_run(b->t, transport_now(b->t) + 2 * MS);
	assert_int_equal(b->x->stats.late, 4);
	assert_pace(b, &lost, 9);
}

/* They would wait for each other in its queue, and retries for all of them. */
TEST(test_requests_to_a_slow_peer_go_out_one_by_one)
{
	static const struct pace first = { 150 * MS, TIMEOUT, 800, false };
	const struct dr_path path = { .hops = 2, .port = { 0, 1, 3 } };
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	assert_pace(b, &first, 0);
	scripted_forget(b->t);
	for (unsigned tag = 1; tag < 4; tag++)
		bench_start(b, tag);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 4, 0, &path);
	mad_client_start(b->x, &addr, mad, bench_done, b, 4);
	assert_int_equal(scripted_count(b->t), 2);
	scripted_reply(b->t, scripted_get(b->t, 1), 1 * MS);
	scripted_reply(b->t, scripted_get(b->t, 0), 150 * MS);
	scripted_run(b->t, transport_now(b->t) + 151 * MS);
	assert_int_equal(b->answered[4], 1);
	assert_int_equal(b->answered[1], 1);
	assert_int_equal(scripted_count(b->t), 2);
	scripted_run(b->t, transport_now(b->t) + 20 * MS);
	assert_int_equal(scripted_count(b->t), 3);
	/* now it is quick */
	scripted_reply(b->t, scripted_get(b->t, 2), 1 * MS);
	scripted_run(b->t, transport_now(b->t) + 21 * MS);
	assert_int_equal(scripted_count(b->t), 4);
	bench_start(b, 5);
	assert_int_equal(scripted_count(b->t), 5);
	mad_client_cancel_owner(b->x, b);
	assert_int_equal(b->x->pending, 0);
}

/* All peers seem slow then. */
TEST(test_a_stall_of_the_manager_makes_no_peer_slow)
{
	static const struct pace lost = { 0, TIMEOUT, 800, false };
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	bench_start(b, 0);
	scripted_reply(b->t, scripted_get(b->t, 0), 1 * MS);
	scripted_stall(b->t, 3 * TIMEOUT);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->answered[0], 1);
	assert_pace(b, &lost, 1);
}

/* It would never be found: each request is given up before its answer. That of
 * another attempt, too, comes when the request is over. */
TEST(test_a_peer_that_answers_too_late_is_waited_for_the_next_time)
{
	static const struct pace patient = { 1 * MS, 5 * TIMEOUT, 4000, false };
	static const struct pace usual = { 0, TIMEOUT, 800, false };
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	bench_start(b, 0);
	scripted_reply(b->t, scripted_get(b->t, 0), 5 * TIMEOUT);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->timed_out[0], 1);
	assert_int_equal(b->x->stats.late, 1);
	assert_pace(b, &patient, 1);
	scripted_forget(b->t);
	bench_start(b, 2);
	scripted_reply(b->t, scripted_get(b->t, 0), 1 * MS);
	scripted_reply(b->t, scripted_get(b->t, 0), 2 * MS);
	assert_true(scripted_run_idle(b->t, 200 * TIMEOUT));
	assert_int_equal(b->x->stats.late, 2);
	assert_pace(b, &usual, 3);
}

struct stood {
	struct bench *b;
	unsigned n;
	uint32_t id;		/* to be cancelled, and another one started */
};

static void
on_stood(void *data)
{
	struct stood *stood = data;

	assert_int_equal(stood->b->ends, 0);
	stood->n++;
	if (!stood->id)
		return;
	mad_client_cancel(stood->b->x, stood->id);
	bench_start(stood->b, 1);
}

/* With an answer in the socket, or without; of a second or more. */
TEST(test_a_long_stall_is_told_once_and_before_all_else)
{
	static const struct {
		int64_t us;
		bool is_answered;
		unsigned n;
	} cases[] = {
		{ TIMEOUT + 1000 * MS, true, 1 },
		{ TIMEOUT + 1000 * MS, false, 1 },
		{ TIMEOUT + 999 * MS, true, 0 },
		{ TIMEOUT + 998 * MS, false, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
		struct stood stood = { .b = b };

		b->x->stood = on_stood;
		b->x->stood_data = &stood;
		bench_start(b, 0);
		if (cases[i].is_answered)
			scripted_reply(b->t, scripted_get(b->t, 0), 1);
		scripted_stall(b->t, cases[i].us);
		assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
		assert_int_equal(stood.n, cases[i].n);
		assert_int_equal(b->answered[0], cases[i].is_answered);
	}
}

TEST(test_requests_are_cancelled_and_started_when_a_stall_is_told)
{
	for (unsigned is_answered = 0; is_answered < 2; is_answered++) {
		AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
		struct stood stood = { .b = b };

		b->x->stood = on_stood;
		b->x->stood_data = &stood;
		stood.id = bench_start(b, 0);
		if (is_answered)
			scripted_reply(b->t, scripted_get(b->t, 0), 1);
		scripted_stall(b->t, 2000 * MS);
		assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
		assert_int_equal(stood.n, 1);
		assert_int_equal(b->ends, 1);
		assert_int_equal(b->timed_out[1], 1);
		assert_int_equal(b->when[1], 2000 * MS + 4 * TIMEOUT);
	}
}

/* An answer that lies in the socket is read before its request counts as lost; a
 * process that stands still all the time does not wait for it for ever. */
TEST(test_after_a_stall_answers_are_read_first)
{
	struct mad_client_params params = bench_usual;

	params.retries = 0;
	for (unsigned is_answered = 0; is_answered < 2; is_answered++) {
		AUTO(bench) *b = bench_new(&params, NULL, NULL);

		bench_start(b, 0);
		scripted_stall(b->t, 2 * TIMEOUT);
		assert_true(scripted_step(b->t));
		assert_int_equal(b->ends, 0);
		if (is_answered)
			scripted_reply(b->t, scripted_get(b->t, 0), 5 * MS);
		scripted_stall(b->t, TIMEOUT);
		assert_true(scripted_step(b->t));
		assert_int_equal(b->answered[0], is_answered);
		assert_int_equal(b->timed_out[0], !is_answered);
	}
}

/* Another request is overdue then, and its timer is not forgotten. */
TEST(test_no_timer_is_left_after_a_stall)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	struct stood stood = { .b = b };

	b->x->stood = on_stood;
	b->x->stood_data = &stood;
	stood.id = bench_start(b, 0);
	bench_start(b, 2);
	scripted_stall(b->t, 2000 * MS);
	assert_true(scripted_step(b->t));
	assert_int_equal(stood.n, 1);
	mad_client_free(g_steal_pointer(&b->x));
	assert_false(scripted_step(b->t));
}

TEST(test_slow_peers_are_forgotten_when_there_are_too_many)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i < 1100; i++) {
		const struct dr_path path = {
			.hops = 2, .port = { 0, 1 + i / 40, 1 + i % 40 },
		};

		scripted_forget(b->t);
		smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 0, 0,
				 &path);
		mad_client_start(b->x, &addr, mad, bench_done, b, 0);
		scripted_reply(b->t, scripted_get(b->t, 0), 150 * MS);
		assert_true(scripted_run_idle(b->t, INT64_MAX));
	}
	assert_int_equal(g_hash_table_size(b->x->slow), 1100 - 1024);
}

TEST(test_foreign_tids_are_dropped)
{
	static const uint32_t tids[] = {
		0, 0x10, 0x7fffffff, 0xffffffff, 0x80000001,
	};
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	bench_start(b, 1);
	bench_make_answer(b, mad, MAD_STATUS_OK);
	for (unsigned i = 0; i < G_N_ELEMENTS(tids); i++) {
		mad_set_tid(mad, tids[i]);
		scripted_answer(b->t, mad, 1);
	}
	/* an attempt that was never made */
	mad_set_tid(mad, sent_tid(scripted_get(b->t, 0)) + 1);
	scripted_answer(b->t, mad, 1);
	scripted_run(b->t, 10);
	assert_int_equal(b->ends, 0);
	/* which is late, not foreign */
	assert_int_equal(b->drops, b->x->stats.foreign);
	assert_true(b->x->stats.foreign >= G_N_ELEMENTS(tids));
}

/* The kernel and the simulator write their agent into the upper half. */
TEST(test_upper_half_of_the_tid_is_not_compared)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	bench_start(b, 1);
	bench_make_answer(b, mad, MAD_STATUS_OK);
	mad_set_tid(mad, 0xfeedface00000000 | sent_tid(scripted_get(b->t, 0)));
	scripted_answer(b->t, mad, 1);
	scripted_run(b->t, 10);
	assert_int_equal(b->answered[1], 1);
}

TEST(test_answers_that_do_not_fit_are_dropped_and_waited_out)
{
	static const struct {
		unsigned byte;
		uint8_t value;
		const char *reason;
	} cases[] = {
		{ 1, 0x01, "class" },
		{ 1, 0x03, "class" },
		{ 3, 0x92, "method" },
		{ 4, 0x00, "direction" },
		{ 7, 0x03, "hop count" },
		{ 7, 0x00, "hop count" },
		{ 17, 0x11, "another attribute" },
		{ 16, 0xff, "another attribute" },
		{ 23, 0x02, "modifier" },
		{ 20, 0x80, "modifier" },
	};
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	bench_start(b, 1);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		bench_make_answer(b, mad, MAD_STATUS_OK);
		mad[cases[i].byte] = cases[i].value;
		scripted_answer(b->t, mad, 1);
		scripted_run(b->t, transport_now(b->t) + 10);
		assert_int_equal(b->ends, 0);
		assert_int_equal(b->drops, i + 1);
		assert_true(b->x->stats.malformed == i + 1);
		assert_has(b->reason, cases[i].reason);
	}
	scripted_reply(b->t, scripted_get(b->t, 0), 1);
	scripted_run(b->t, TIMEOUT - 1);
	assert_int_equal(b->answered[1], 1);
	assert_int_equal(scripted_count(b->t), 1);
}

TEST(test_short_mads_are_dropped)
{
	static const size_t lengths[] = { 0, 1, 8, 24, 64, 255 };
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	bench_start(b, 1);
	bench_make_answer(b, mad, MAD_STATUS_OK);
	for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
		struct transport_mad m = {
			.event = i % 2 ? TRANSPORT_RETURNED :
				TRANSPORT_RECEIVED,
			.mad = mad, .len = lengths[i],
		};

		scripted_deliver(b->t, &m, 1);
	}
	scripted_run(b->t, 10);
	assert_int_equal(b->ends, 0);
	assert_true(b->x->stats.malformed == G_N_ELEMENTS(lengths));
	assert_string_equal(b->reason, "short MAD");
}

/* A lid-routed Set is answered by GetResp too, and counted as a Set. */
TEST(test_set_is_answered_by_get_resp)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, MAD_METHOD_SET, MAD_ATTR_LINEAR_FT, 3, 0);
	mad_client_start(b->x, &addr, mad, bench_done, b, 3);
	scripted_reply(b->t, scripted_last(b->t), 1);
	scripted_run(b->t, 10);
	assert_int_equal(b->answered[3], 1);
	assert_true(b->x->stats.sent_set == 1);
}

/* ------------------------------------------------------ cancel, returned */

TEST(test_cancel_works_in_every_state)
{
	struct mad_client_params params = bench_usual;
	AUTO(bench) *b;
	uint32_t wire, queued, retry;

	params.max_wire = 2;
	b = bench_new(&params, NULL, NULL);
	wire = bench_start(b, 0);
	retry = bench_start(b, 1);
	queued = bench_start(b, 2);
	assert_int_equal(scripted_count(b->t), 2);
	mad_client_cancel(b->x, queued);
	assert_int_equal(b->x->pending, 2);
	/* 0 goes out again, 1 waits: half of the window is one */
	scripted_run(b->t, TIMEOUT + 10);
	assert_int_equal(scripted_count(b->t), 3);
	mad_client_cancel(b->x, retry);
	mad_client_cancel(b->x, wire);
	mad_client_cancel(b->x, wire);	/* over */
	mad_client_cancel(b->x, 0);
	mad_client_cancel(b->x, 0xdeadbeef);
	assert_int_equal(b->x->pending, 0);
	assert_true(b->x->stats.cancelled == 3);

	for (unsigned i = 0; i < 3; i++)
		scripted_reply(b->t, scripted_get(b->t, i), 1);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 0);
	assert_true(b->x->stats.late == 3);
	assert_int_equal(scripted_count(b->t), 3);
}

TEST(test_cancel_from_outside_lets_the_queue_move)
{
	struct mad_client_params params = bench_usual;
	int64_t delay = 100;
	AUTO(bench) *b;
	uint32_t id;

	params.max_wire = 1;
	b = bench_new(&params, peer_deaf_to_zero, &delay);
	id = bench_start(b, 0);
	bench_start(b, 1);
	mad_client_cancel(b->x, id);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->answered[1], 1);
	/* the ghost of 0 counts against the queue's bound only */
	assert_in_range(b->when[1], 1, MS);
}

struct killer {
	struct bench *b;
	uint32_t victims[3];
	unsigned calls;
};

static void
on_done_kill(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct killer *k = data;

	k->calls++;
	for (unsigned i = 0; i < G_N_ELEMENTS(k->victims); i++)
		mad_client_cancel(k->b->x, k->victims[i]);
	bench_start(k->b, 100 + k->calls);
}

/* One on the wire, two in the queue, all to be cancelled by the answer to
 * (or the end of) another; itself, too, which is over by then. */
TEST(test_cancel_inside_done_is_safe)
{
	struct mad_client_params params = { .timeout_ms = 200, .max_wire = 4 };
	AUTO(bench) *b = bench_new(&params, NULL, NULL);
	struct killer k = { .b = b };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0);
	for (unsigned round = 0; round < 2; round++) {
		scripted_forget(b->t);
		k.victims[0] =
			mad_client_start(b->x, &addr, mad, on_done_kill, &k, 0);
		k.victims[1] = bench_start(b, 1);
		k.victims[2] = bench_start(b, 2);
		if (round == 0)
			scripted_reply(b->t, scripted_get(b->t, 0), 1);
		assert_true(scripted_run_idle(b->t, transport_now(b->t) +
					      100 * TIMEOUT));
	}
	assert_int_equal(k.calls, 2);
	assert_int_equal(b->timed_out[1] + b->answered[1], 0);
	assert_int_equal(b->timed_out[2] + b->answered[2], 0);
	assert_int_equal(b->timed_out[101], 1);
	assert_int_equal(b->timed_out[102], 1);
	assert_int_equal(b->x->pending, 0);
}

TEST(test_returned_older_attempt_is_ignored)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	bench_start(b, 1);
	scripted_run(b->t, TIMEOUT + 10);
	scripted_return(b->t, scripted_get(b->t, 0)->mad, 1);
	scripted_return(b->t, scripted_get(b->t, 0)->mad, 1);
	scripted_run(b->t, 2 * TIMEOUT - 1);
	assert_int_equal(scripted_count(b->t), 2);
	assert_int_equal(b->ends, 0);
	scripted_reply(b->t, scripted_get(b->t, 1), 1);
	scripted_run(b->t, 2 * TIMEOUT + 10);
	assert_int_equal(b->answered[1], 1);
}

/* ------------------------------------------------------- ids, pump, serve */

/* An answer to a request that is over must not end the one in its slot. */
TEST(test_slot_of_an_old_request_is_told_apart)
{
	int64_t delay = 1;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);
	struct scripted_sent old;

	bench_start(b, 0);
	old = *scripted_get(b->t, 0);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	for (unsigned i = 1; i < 3 * 4096; i++) {
		scripted_forget(b->t);
		bench_start(b, 0);
		assert_int_not_equal(sent_tid(scripted_last(b->t)),
				     sent_tid(&old));
		scripted_run(b->t, transport_now(b->t) + 2);
	}
	assert_int_equal(b->answered[0], 3 * 4096);
	/* 2,000 that wait, among them one in the old one's slot */
	scripted_set_peer(b->t, NULL, NULL);
	for (unsigned i = 0; i < 2000; i++)
		bench_start(b, 1);
	scripted_reply(b->t, &old, 1);
	scripted_run(b->t, transport_now(b->t) + 10);
	assert_int_equal(b->answered[1], 0);
	assert_true(b->x->stats.late == 1);
}

struct feeder {
	struct bench *b;
	unsigned next, end;
	unsigned depth, most_room, calls;
};

static void
feed(void *data)
{
	struct feeder *f = data;

	assert_int_equal(f->depth, 0);
	f->depth++;
	f->calls++;
	f->most_room = MAX(f->most_room, mad_client_room(f->b->x));
	assert_true(mad_client_room(f->b->x) > 0);
	while (mad_client_room(f->b->x) > 0 && f->next < f->end)
		bench_start(f->b, f->next++);
	f->depth--;
}

TEST(test_pump_feeds_everything_through_a_short_queue)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);
	struct feeder f = { .b = b, .end = 10000 };

	mad_client_set_pump(b->x, feed, &f);
	assert_int_equal(f.calls, 0);	/* never from inside a call */
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 10000);
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(b->order[i], i);
	assert_int_equal(scripted_most_flying(b->t), 128);
}

TEST(test_pump_waits_for_the_queue)
{
	int64_t delay = 100;
	AUTO(bench) *b = bench_new(&bench_usual, peer_good, &delay);
	struct feeder f = { .b = b, .next = 5000, .end = 5100 };

	bench_start_all(b, 0, 1000);
	mad_client_set_pump(b->x, feed, &f);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 1100);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(b->order[i], i);
}

struct served {
	unsigned count;
	struct mad_header last;
};

static void
on_serve(const struct transport_mad *m, const struct mad_header *h,
	 void *data)
{
	struct served *s = data;

	assert_int_equal(m->len, MAD_SIZE);
	s->count++;
	s->last = *h;
}

TEST(test_requests_of_others_go_to_the_server)
{
	static const enum mad_method methods[] = {
		MAD_METHOD_GET, MAD_METHOD_SET, MAD_METHOD_TRAP,
		MAD_METHOD_TRAP_REPRESS,
	};
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	struct served served = { 0 };
	uint8_t mad[MAD_SIZE];

	bench_start(b, 1);
	b->x->serve = on_serve;
	b->x->serve_data = &served;
	for (unsigned i = 0; i < G_N_ELEMENTS(methods); i++) {
		smp_build_lid(mad, methods[i], MAD_ATTR_SM_INFO, i, 0);
		/* even under the TID of a request of ours */
		mad_set_tid(mad, sent_tid(scripted_get(b->t, 0)));
		scripted_answer(b->t, mad, 1);
		scripted_run(b->t, transport_now(b->t) + 2);
		assert_int_equal(served.count, i + 1);
		assert_int_equal(served.last.method, methods[i]);
	}
	assert_true(b->x->stats.unsolicited == 4);
	assert_int_equal(b->ends, 0);
	b->x->serve = NULL;
	scripted_answer(b->t, mad, 1);
	scripted_run(b->t, transport_now(b->t) + 2);
	assert_true(b->x->stats.unsolicited == 5);
}

TEST(test_free_with_requests_in_every_state_is_quiet)
{
	struct mad_client_params params = bench_usual;
	struct bench *b;

	params.max_wire = 8;
	b = bench_new(&params, NULL, NULL);
	bench_start_all(b, 0, 500);
	scripted_run(b->t, TIMEOUT + 10);
	scripted_reply(b->t, scripted_get(b->t, 0), 1);
	mad_client_free(b->x);
	assert_true(scripted_run_idle(b->t, 100 * TIMEOUT));
	assert_int_equal(b->ends, 0);
	transport_free(b->t);
	g_free(b);
}

/* ------------------------------------------------------------------ GMPs */

static uint32_t
start_report(struct bench *b, uint64_t tag)
{
	const struct mad_addr to = { .qp = 1, .lid = 7 };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0);
	mad[1] = MAD_CLASS_SA;
	return mad_client_start(b->x, &to, mad, bench_done, b, tag);
}

/* They pass no switch's agent: a full window does not hold them up, nor do
 * dead subscribers take places of SMPs. Each attempt has its own time-out. */
TEST(test_gmps_take_no_room_of_the_window)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);

	for (unsigned i = 0; i < 100; i++)
		start_report(b, i);
	assert_int_equal(scripted_count(b->t), 100);
	assert_int_equal(mad_client_room(b->x), 4);
	bench_start_all(b, 100, 110);
	assert_int_equal(scripted_count(b->t), 104);
	start_report(b, 110);
	assert_int_equal(scripted_count(b->t), 105);
	scripted_run(b->t, TIMEOUT);
	/* 101 of them once more, and half a window of SMPs, and two new */
	assert_int_equal(scripted_count(b->t), 105 + 101 + 4);
	for (unsigned i = 0; i < scripted_count(b->t); i++)
		if (scripted_get(b->t, i)->to.qp == 1)
			assert_int_equal(scripted_get(b->t, i)->timeout_ms,
					 200);
	scripted_run(b->t, 4 * TIMEOUT);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(b->timed_out[i], 1);
	assert_true(scripted_run_idle(b->t, 1000 * TIMEOUT));
}

/* A table that its client never acknowledged comes back under the client's
 * TID, which may be one of ours. */
TEST(test_returned_answer_is_no_request_of_ours)
{
	AUTO(bench) *b = bench_new(&bench_usual, NULL, NULL);
	uint8_t mad[MAD_SIZE];

	start_report(b, 0);
	memcpy(mad, scripted_get(b->t, 0)->mad, sizeof(mad));
	mad[3] = MAD_METHOD_GET_RESP;
	scripted_return(b->t, mad, 10);
	scripted_run(b->t, TIMEOUT / 2);
	assert_int_equal(scripted_count(b->t), 1);
	scripted_reply(b->t, scripted_get(b->t, 0), 10);
	scripted_run(b->t, TIMEOUT);
	assert_int_equal(b->answered[0], 1);
}

/* ----------------------------------------------------------------- chaos */

static void
peer_chaos(struct transport *t, const struct scripted_sent *s, void *data)
{
	GRand *rand = data;
	int64_t delay = g_rand_int_range(rand, 1, 2000);
	uint8_t mad[MAD_SIZE];

	memcpy(mad, s->mad, sizeof(mad));
	smp_make_response(mad, MAD_STATUS_OK);
	switch (g_rand_int_range(rand, 0, 12)) {
	case 0:
		return;
	case 1:
		scripted_return(t, s->mad, delay);
		return;
	case 2:
		scripted_answer(t, mad, delay + 2 * TIMEOUT);
		return;
	case 3:
		scripted_answer(t, mad, delay);
		scripted_answer(t, mad, g_rand_int_range(rand, 1, TIMEOUT));
		return;
	case 4:
		mad[g_rand_int_range(rand, 0, 24)] ^=
			1 << g_rand_int_range(rand, 0, 8);
		scripted_answer(t, mad, delay);
		return;
	case 5:
		smp_make_response(mad, MAD_STATUS_BUSY);
		scripted_answer(t, mad, delay);
		return;
	}
	scripted_answer(t, mad, delay);
}

static struct bench *
run_chaos(uint32_t seed)
{
	GRand *rand = g_rand_new_with_seed(seed);
	struct bench *b = bench_new(&bench_usual, peer_chaos, rand);
	unsigned cancelled = 0;

	for (unsigned i = 0; i < 3000; i++) {
		uint32_t id = bench_start(b, i);

		if (i % 50 != 0)
			continue;
		scripted_run(b->t, transport_now(b->t) + 500);
		if (b->answered[i] + b->timed_out[i] == 0) {
			mad_client_cancel(b->x, id);
			cancelled++;
		}
	}
	assert_true(scripted_run_idle(b->t, 100000 * (int64_t)TIMEOUT));
	assert_int_equal(b->ends + cancelled, 3000);
	for (unsigned i = 0; i < 3000; i++)
		assert_in_range(b->answered[i] + b->timed_out[i], 0, 1);
	assert_int_equal(b->x->pending, 0);
	assert_true(b->x->stats.answered +
		    b->x->stats.timed_out == b->ends);
	g_rand_free(rand);
	return b;
}

TEST(test_chaos_ends_every_request_exactly_once)
{
	uint32_t seed = (uint32_t)seed_take(1);

	for (unsigned round = 0; round < 5; round++)
		bench_free(run_chaos(seed + round));
}
