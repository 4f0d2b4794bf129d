// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long messages between clients of the simulated fabric: a manager that gives
 * tables, and clients that ask for them, over a wire that behaves or not.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sm/io/bulk.h"
#include "tests/lib/rmpplab.h"
#include "tests/lib/simlab.h"

#define GSI_QKEY	0x80010000u
#define CLIENTS		3u
#define MAX_SENDS	64u
#define OFF_ATTR_MOD	20
#define LONG		(8u << 20)	/* takes 2 ms */

struct stage;

/* An end of transfers. The first 4 bytes after the common header that nobody
 * uses, the attribute modifier, say how long an answer is wanted. */
struct end {
	struct stage *stage;
	struct transport *t;
	struct bulk *b;
	uint16_t lid;
	unsigned messages;	/* that came, all of them right */
	uint64_t last_tid;
	size_t last_len;
	unsigned others;	/* MADs that were not taken */
	unsigned returned;
};

struct sending {
	struct rmpplab_source src;
	uint32_t id;
	unsigned ends;
	enum bulk_outcome outcome;
	unsigned status;
};

struct stage {
	struct lab lab;
	struct end server, client[CLIENTS];
	struct sending sends[MAX_SENDS];
	unsigned n_sends;
	uint32_t refused;	/* bulk_send() that said 0 */
	bool corrupt;		/* what comes may be wrong */
	uint64_t asked[MAX_SENDS];	/* TIDs of short requests */
	unsigned n_asked;
	uint64_t last_tid;
};

/* --------------------------------------------------------------- the stage */

static uint32_t
wanted_len(const uint8_t *header)
{
	return (uint32_t)header[OFF_ATTR_MOD] << 24 |
		(uint32_t)header[OFF_ATTR_MOD + 1] << 16 |
		(uint32_t)header[OFF_ATTR_MOD + 2] << 8 |
		header[OFF_ATTR_MOD + 3];
}

static void
want_len(uint8_t *header, uint32_t len)
{
	header[OFF_ATTR_MOD] = (uint8_t)(len >> 24);
	header[OFF_ATTR_MOD + 1] = (uint8_t)(len >> 16);
	header[OFF_ATTR_MOD + 2] = (uint8_t)(len >> 8);
	header[OFF_ATTR_MOD + 3] = (uint8_t)len;
}

static void
on_done(uint32_t id, enum bulk_outcome outcome, unsigned status, void *data)
{
	struct sending *s = data;

	assert_int_equal(id, s->id);
	s->ends++;
	s->outcome = outcome;
	s->status = status;
}

static struct sending *
start(struct end *from, const struct mad_addr *to, const uint8_t *header,
      uint64_t len, uint64_t length)
{
	struct stage *st = from->stage;
	struct sending *s = &st->sends[st->n_sends];
	const struct bulk_order order = {
		.to = *to, .header = header, .source = rmpplab_read,
		.source_data = &s->src, .length = length,
	};

	assert_true(st->n_sends < MAX_SENDS);
	memset(s, 0, sizeof(*s));
	s->src.len = len;
	s->id = bulk_send(from->b, &order, on_done, s);
	if (!s->id) {
		st->refused++;
		return NULL;
	}
	assert_int_equal(s->ends, 0);
	st->n_sends++;
	return s;
}

/* An answer of the length that is asked for; every second one does not know
 * beforehand how long it will be. */
static struct sending *
respond(struct end *e, const struct mad_addr *to, const uint8_t *request)
{
	uint32_t len = wanted_len(request);
	uint8_t header[RMPP_SA_HEADER_LEN];
	struct mad_addr back = *to;

	memcpy(header, request, sizeof(header));
	header[3] |= MAD_METHOD_RESPONSE;
	back.qkey = GSI_QKEY;
	return start(e, &back, header, len,
		     e->stage->n_sends % 2 ? len : RMPP_LENGTH_UNKNOWN);
}

/* A server that is asked twice under one TID answers once. */
static bool
is_new(struct stage *st, uint64_t tid)
{
	for (unsigned i = 0; i < st->n_asked; i++)
		if (st->asked[i] == tid)
			return false;
	assert_true(st->n_asked < MAX_SENDS);
	st->asked[st->n_asked++] = tid;
	return true;
}

static void
on_mad(const struct transport_mad *m, void *data)
{
	struct end *e = data;
	struct mad_header h;

	assert_true(mad_header_read(m->mad, m->len, &h));
	if (m->event == TRANSPORT_RETURNED)
		e->returned++;
	else if (h.method != METHOD_GET_TABLE || h.mgmt_class != MAD_CLASS_SA)
		e->others++;
	else if (is_new(e->stage, h.tid))
		respond(e, &m->addr, m->mad);
}

static void
on_message(const struct bulk_message *m, void *data)
{
	struct end *e = data;
	struct mad_header h;
	uint8_t mad[MAD_SIZE] = { 0 };

	memcpy(mad, m->header, RMPP_SA_HEADER_LEN);
	mad_header_read(mad, sizeof(mad), &h);
	e->messages++;
	e->last_tid = h.tid;
	e->last_len = m->len;
	if (!e->stage->corrupt)
		for (size_t i = 0; i < m->len; i++)
			if (m->data[i] != rmpplab_byte(i))
				fail_msg("byte %zu of %zu", i, m->len);
	if (h.method == METHOD_GET_MULTI)
		respond(e, &m->from, m->header);
	else if (!e->stage->corrupt)
		assert_int_equal(m->len, wanted_len(m->header));
}

static void
end_open(struct stage *st, struct end *e, struct transport *t, uint32_t port,
	 const struct bulk_params *params)
{
	e->stage = st;
	e->t = t;
	e->lid = sim_port_info(st->lab.sim, port)->lid;
	transport_set_receiver(t, on_mad, e);
	e->b = bulk_new(t, params);
	bulk_set_receiver(e->b, on_message, e);
	bulk_intercept(e->b);
}

/* Two hosts; the manager and client 0 on the first, 1 and 2 on the second. */
static void
stage_open(struct stage *st, uint64_t seed, const struct bulk_params *params)
{
	struct sim_params even = sim_params_default;
	uint32_t here, there;

	memset(st, 0, sizeof(*st));
	even.seed = seed;
	lab_open(&st->lab, "pair()", &even);
	here = st->lab.s->local_port;
	there = sim_peer(st->lab.sim, here);
	lab_activate(&st->lab, here);
	end_open(st, &st->server, st->lab.t, here, params);
	for (unsigned i = 0; i < CLIENTS; i++) {
		uint32_t port = i ? there : here;

		end_open(st, &st->client[i],
			 sim_attach(st->lab.sim, port, SIM_ROLE_CLIENT), port,
			 params);
	}
}

static void
end_close(struct end *e)
{
	if (e->b)
		bulk_free(e->b);
	if (e->t)
		transport_free(e->t);
	e->b = NULL;
	e->t = NULL;
}

static void
stage_close(struct stage *st)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		end_close(&st->client[i]);
	end_close(&st->server);
	lab_close(&st->lab);
}

static struct mad_addr
address_of(const struct end *e)
{
	return (struct mad_addr) { .qp = 1, .qkey = GSI_QKEY, .lid = e->lid };
}

/* Until nothing is going to happen: every timer has rung or is stopped. */
static void
stage_run(struct stage *st)
{
	assert_true(sim_run_idle(st->lab.sim, sim_now(st->lab.sim) +
				 1000 * (int64_t)G_USEC_PER_SEC));
}

static void
stage_run_us(struct stage *st, int64_t us)
{
	sim_run(st->lab.sim, sim_now(st->lab.sim) + us);
}

static void
ask(struct end *e, uint32_t len)
{
	struct mad_addr to = address_of(&e->stage->server);
	uint8_t mad[MAD_SIZE];

	rmpplab_header(mad, METHOD_GET_TABLE, ++e->stage->last_tid);
	want_len(mad, len);
	assert_true(transport_send(e->t, &to, mad, MAD_SIZE, 0, NULL));
}

static struct sending *
ask_long(struct end *e, uint32_t request_len, uint32_t answer_len)
{
	struct mad_addr to = address_of(&e->stage->server);
	uint8_t header[MAD_SIZE];

	rmpplab_header(header, METHOD_GET_MULTI, ++e->stage->last_tid);
	want_len(header, answer_len);
	return start(e, &to, header, request_len, request_len);
}

static void
add_fault(struct stage *st, enum sim_fault_kind kind, unsigned per_mille)
{
	const struct sim_rule rule = {
		.match = { .node = SIM_ANY, .mgmt_class = MAD_CLASS_SA },
		.kind = kind, .per_mille = per_mille, .us = 50000,
	};

	if (per_mille)
		sim_rule_add(st->lab.sim, &rule);
}

static void
expect_nothing_left(struct stage *st)
{
	if (st->server.b)
		assert_int_equal(bulk_transfers(st->server.b), 0);
	for (unsigned i = 0; i < CLIENTS; i++)
		if (st->client[i].b)
			assert_int_equal(bulk_transfers(st->client[i].b), 0);
	for (unsigned i = 0; i < st->n_sends; i++)
		assert_int_equal(st->sends[i].src.calls_after_end, 0);
}

/* ------------------------------------------------------------- a good wire */

static void
test_tables_of_all_lengths_arrive(void **state)
{
	static const uint32_t lens[] = {
		0, 1, 199, 200, 201, 400, 12800, 12801, 100000, 1 << 20,
	};
	struct stage st;

	for (unsigned c = 0; c < CLIENTS; c++) {
		stage_open(&st, 1, NULL);
		for (unsigned i = 0; i < G_N_ELEMENTS(lens); i++) {
			ask(&st.client[c], lens[i]);
			stage_run(&st);
			assert_int_equal(st.client[c].messages, i + 1);
			assert_int_equal(st.client[c].last_len, lens[i]);
			assert_int_equal(st.sends[i].ends, 1);
			assert_int_equal(st.sends[i].outcome, BULK_SENT);
		}
		assert_true(bulk_stats(st.server.b)->repeated == 0);
		assert_true(bulk_stats(st.server.b)->sent ==
			    G_N_ELEMENTS(lens));
		assert_true(bulk_stats(st.server.b)->failed_out == 0);
		for (unsigned i = 0; i < CLIENTS; i++)
			assert_true(bulk_stats(st.client[i].b)->strays == 0);
		assert_int_equal(st.client[c].others + st.server.others, 0);
		expect_nothing_left(&st);
		stage_close(&st);
	}
}

/* The same TID from two clients of one port, one of another, all at once. */
static void
test_each_client_gets_its_own_table(void **state)
{
	struct stage st;

	stage_open(&st, 1, NULL);
	for (unsigned c = 0; c < CLIENTS; c++) {
		st.last_tid = 6;
		ask(&st.client[c], 3000 + 1000 * c);
	}
	stage_run(&st);
	for (unsigned c = 0; c < CLIENTS; c++) {
		assert_int_equal(st.client[c].messages, 1);
		assert_int_equal(st.client[c].last_len, 3000 + 1000 * c);
		assert_int_equal((uint32_t)st.client[c].last_tid, 7);
	}
	expect_nothing_left(&st);
	stage_close(&st);
}

/* IBA 13.6.6.3: both ways by RMPP, under one TID. */
static void
test_long_request_gets_a_long_answer(void **state)
{
	struct stage st;

	stage_open(&st, 1, NULL);
	for (unsigned c = 0; c < CLIENTS; c++) {
		struct sending *s = ask_long(&st.client[c], 1000 + c, 50000);

		stage_run(&st);
		assert_int_equal(s->ends, 1);
		assert_int_equal(s->outcome, BULK_SENT);
		assert_int_equal(st.server.messages, c + 1);
		assert_int_equal(st.server.last_len, 1000 + c);
		assert_int_equal(st.client[c].messages, 1);
		assert_int_equal(st.client[c].last_len, 50000);
		assert_int_equal(st.client[c].others, 0);
	}
	assert_true(bulk_stats(st.server.b)->strays == 0);
	expect_nothing_left(&st);
	stage_close(&st);
}

/* The simulator must not take the ACK of a request for its answer. */
static void
test_ack_does_not_end_the_wait_for_the_answer(void **state)
{
	struct rmpp_header r = {
		.version = 1, .type = RMPP_TYPE_DATA, .segment = 1,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST,
	};
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];
	struct stage st;

	stage_open(&st, 1, NULL);
	to = address_of(&st.server);
	rmpplab_header(mad, METHOD_GET_MULTI, 9);
	rmpp_header_write(mad, &r);
	assert_true(transport_send(st.client[1].t, &to, mad, MAD_SIZE, 50,
				   NULL));
	stage_run_us(&st, 49000);
	assert_true(bulk_stats(st.client[1].b)->segments_in == 1);
	assert_int_equal(st.client[1].returned, 0);
	stage_run_us(&st, 2000);
	assert_int_equal(st.client[1].returned, 1);
	stage_close(&st);
}

/* ------------------------------------------------------------- a bad wire */

/* Requests get lost, too: who has no answer asks again. */
static void
run_lossy(uint32_t seed, unsigned per_mille, unsigned turns)
{
	struct bulk_params params = bulk_params_default;
	unsigned came = 0;
	struct stage st;

	params.rmpp.retries = 12;
	stage_open(&st, seed, &params);
	add_fault(&st, SIM_FAULT_LOSS, per_mille);
	add_fault(&st, SIM_FAULT_DUPLICATE, per_mille);
	add_fault(&st, SIM_FAULT_REORDER, per_mille * 2);
	for (unsigned turn = 0; turn < turns; turn++) {
		for (unsigned c = 0; c < CLIENTS; c++) {
			ask(&st.client[c], 5000 * turn + 100 * c);
			ask_long(&st.client[c], 500 * turn, 3000 * turn + c);
		}
		stage_run(&st);
	}
	for (unsigned i = 0; i < st.n_sends; i++) {
		assert_int_equal(st.sends[i].ends, 1);
		assert_int_equal(st.sends[i].outcome, BULK_SENT);
	}
	/* the long requests, and as many answers as short ones came through */
	assert_int_equal(st.server.messages, CLIENTS * turns);
	for (unsigned c = 0; c < CLIENTS; c++)
		came += st.client[c].messages;
	assert_int_equal(came + st.server.messages, st.n_sends);
	assert_true(st.n_sends >= 2 * CLIENTS * turns);
	if (!per_mille)
		assert_int_equal(st.n_sends, 3 * CLIENTS * turns);
	expect_nothing_left(&st);
	stage_close(&st);
}

static void
test_transfers_get_through_a_lossy_wire(void **state)
{
	static const unsigned per_mille[] = { 0, 10, 50, 100, 200 };

	for (unsigned i = 0; i < G_N_ELEMENTS(per_mille); i++)
		for (uint32_t seed = 1; seed <= 5; seed++)
			run_lossy(seed, per_mille[i], 5);
}

/* In the fabric a CRC would find it. Here anything may come out of it, but
 * everything must come to an end. */
static void
test_corrupt_segments_end_everything_somehow(void **state)
{
	uint32_t seed = g_random_int();

	print_message("# seed %" PRIu32 "\n", seed);
	for (unsigned round = 0; round < 20; round++) {
		struct stage st;

		stage_open(&st, seed + round, NULL);
		st.corrupt = true;
		add_fault(&st, SIM_FAULT_CORRUPT, 50);
		for (unsigned c = 0; c < CLIENTS; c++) {
			ask(&st.client[c], 10000);
			ask_long(&st.client[c], 5000, 5000);
		}
		/* a table may have become one of gigabytes */
		stage_run_us(&st, 5 * G_USEC_PER_SEC);
		for (unsigned i = 0; i < st.n_sends; i++)
			if (!st.sends[i].ends)
				bulk_cancel(st.server.b, st.sends[i].id);
		stage_run(&st);
		for (unsigned i = 0; i < CLIENTS; i++)
			assert_int_equal(bulk_transfers(st.client[i].b), 0);
		assert_int_equal(bulk_transfers(st.server.b), 0);
		stage_close(&st);
	}
}

/* ------------------------------------------------------------------ memory */

struct stream {
	struct rmpplab_source src;
	struct stage *st;
	uint64_t most_ahead;
};

static size_t
read_stream(void *data, uint8_t *out, size_t max)
{
	struct stream *s = data;
	uint64_t arrived =
		bulk_stats(s->st->client[1].b)->segments_in * ROOM;

	if (s->src.at > arrived)
		s->most_ahead = MAX(s->most_ahead, s->src.at - arrived);
	return rmpplab_read(&s->src, out, max);
}

static void
test_ten_megabytes_are_streamed(void **state)
{
	struct stage st;
	struct stream s = { .st = &st, .src.len = 10 << 20 };
	struct sending sending = { 0 };
	struct bulk_order order = {
		.source = read_stream, .source_data = &s,
		.length = RMPP_LENGTH_UNKNOWN,
	};
	uint8_t header[MAD_SIZE];
	int64_t real = g_get_monotonic_time();

	stage_open(&st, 1, NULL);
	rmpplab_header(header, METHOD_GET_TABLE_RESP,
		       UINT64_C(3) << 32 | 5);	/* of client 1 */
	want_len(header, 10 << 20);
	order.to = address_of(&st.client[1]);
	order.header = header;
	sending.id = bulk_send(st.server.b, &order, on_done, &sending);
	stage_run_us(&st, 30 * G_USEC_PER_SEC);
	assert_int_equal(sending.ends, 1);
	assert_int_equal(sending.outcome, BULK_SENT);
	assert_int_equal(st.client[1].messages, 1);
	assert_int_equal(st.client[1].last_len, 10 << 20);
	/* what is out, and the one that follows */
	assert_in_range(s.most_ahead, ROOM, (RMPP_WINDOW_MAX + 1) * ROOM);
	print_message("# 10 MiB in %.3f s, at most %u bytes ahead\n",
		      (g_get_monotonic_time() - real) / 1e6,
		      (unsigned)s.most_ahead);
	stage_close(&st);
}

static void
test_receiver_without_memory_stops_its_sender(void **state)
{
	struct bulk_params params = bulk_params_default;
	struct stage st;

	params.max_bytes = 20000;
	stage_open(&st, 1, &params);
	/* one fits, two at a time do not */
	ask(&st.client[1], 15000);
	stage_run(&st);
	assert_int_equal(st.client[1].messages, 1);
	ask(&st.client[1], 15000);
	ask(&st.client[1], 15000);
	stage_run(&st);
	assert_int_equal(st.client[1].messages, 2);
	assert_true(bulk_stats(st.client[1].b)->failed_in == 1);
	assert_int_equal(st.sends[1].outcome == BULK_ENDED_BY_PEER,
			 st.sends[2].outcome == BULK_SENT);
	for (unsigned i = 1; i < 3; i++)
		if (st.sends[i].outcome == BULK_ENDED_BY_PEER)
			assert_int_equal(st.sends[i].status,
					 RMPP_STATUS_RESOURCES);
	expect_nothing_left(&st);
	stage_close(&st);
}

/* ------------------------------------------------------------ sudden ends */

static void
test_cancel_tells_the_peer_and_nobody_else(void **state)
{
	struct stage st;

	stage_open(&st, 1, NULL);
	ask(&st.client[1], LONG);
	stage_run_us(&st, 500);
	assert_int_equal(bulk_transfers(st.server.b), 1);
	assert_int_equal(bulk_transfers(st.client[1].b), 1);
	bulk_cancel(st.server.b, st.sends[0].id);
	bulk_cancel(st.server.b, st.sends[0].id);	/* over */
	bulk_cancel(st.server.b, 0);
	bulk_cancel(st.server.b, 0xdeadbeef);
	assert_int_equal(bulk_transfers(st.server.b), 0);
	stage_run_us(&st, 500);
	assert_int_equal(bulk_transfers(st.client[1].b), 0);
	assert_true(bulk_stats(st.client[1].b)->failed_in == 1);
	stage_run(&st);
	assert_int_equal(st.sends[0].ends, 0);
	assert_int_equal(st.client[1].messages, 0);
	stage_close(&st);
}

static void
test_peer_that_disappears_is_given_up(void **state)
{
	struct stage st;

	stage_open(&st, 1, NULL);
	ask(&st.client[1], LONG);
	stage_run_us(&st, 500);
	end_close(&st.client[1]);
	stage_run(&st);
	assert_int_equal(st.sends[0].ends, 1);
	assert_int_equal(st.sends[0].outcome, BULK_GAVE_UP);
	assert_int_equal(st.sends[0].status, RMPP_STATUS_RETRIES);
	expect_nothing_left(&st);
	/* six times 200 ms */
	assert_in_range(sim_now(st.lab.sim), 1200000, 1300000);
	stage_close(&st);
}

static void
test_sender_that_disappears_is_given_up(void **state)
{
	struct stage st;

	stage_open(&st, 1, NULL);
	ask(&st.client[1], LONG);
	stage_run_us(&st, 500);
	bulk_free(g_steal_pointer(&st.server.b));
	transport_set_receiver(st.server.t, NULL, NULL);
	stage_run_us(&st, 39 * G_USEC_PER_SEC);
	assert_int_equal(bulk_transfers(st.client[1].b), 1);
	stage_run(&st);
	assert_true(bulk_stats(st.client[1].b)->failed_in == 1);
	assert_int_equal(st.client[1].messages, 0);
	expect_nothing_left(&st);
	stage_close(&st);
}

static void
test_too_many_transfers_drop_the_oldest(void **state)
{
	struct bulk_params params = bulk_params_default;
	struct mad_addr nobody = { .qp = 1, .lid = 77 };
	uint8_t header[MAD_SIZE];
	struct stage st;

	params.max_transfers = 4;
	stage_open(&st, 1, &params);
	for (unsigned i = 0; i < 6; i++) {
		rmpplab_header(header, METHOD_GET_TABLE_RESP, 100 + i);
		assert_non_null(start(&st.server, &nobody, header, 5000,
				      5000));
		assert_int_equal(bulk_transfers(st.server.b), MIN(i + 1, 4));
	}
	/* nobody hears of it from inside bulk_send(), but soon */
	assert_int_equal(st.sends[0].ends + st.sends[1].ends, 0);
	stage_run_us(&st, 1);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(st.sends[i].ends, i < 2);
		if (i < 2)
			assert_int_equal(st.sends[i].outcome, BULK_DROPPED);
	}
	assert_true(bulk_stats(st.server.b)->dropped == 2);
	/* an ended one that is cancelled is not heard of */
	rmpplab_header(header, METHOD_GET_TABLE_RESP, 200);
	start(&st.server, &nobody, header, 5000, 5000);
	bulk_cancel(st.server.b, st.sends[2].id);
	stage_run(&st);
	assert_int_equal(st.sends[2].ends, 0);
	assert_int_equal(st.sends[3].ends, 1);
	assert_int_equal(st.sends[3].outcome, BULK_GAVE_UP);
	expect_nothing_left(&st);
	stage_close(&st);
}

/* Who is done and only lingers goes before who is not. */
static void
test_lingering_transfers_make_room_first(void **state)
{
	struct bulk_params params = bulk_params_default;
	struct stage st;

	params.max_transfers = 2;
	stage_open(&st, 1, &params);
	ask(&st.client[1], LONG);
	stage_run_us(&st, 500);
	assert_int_equal(bulk_transfers(st.client[1].b), 1);
	for (unsigned i = 0; i < 5; i++) {
		ask(&st.client[1], 100);
		stage_run_us(&st, 100);
		assert_int_equal(st.client[1].messages, i + 1);
	}
	stage_run(&st);
	assert_int_equal(st.client[1].messages, 6);
	assert_int_equal(st.client[1].last_len, LONG);
	assert_true(bulk_stats(st.client[1].b)->dropped == 4);
	stage_close(&st);
}

static void
test_same_tid_to_the_same_peer_is_refused(void **state)
{
	struct stage st;
	struct mad_addr to;
	uint8_t header[MAD_SIZE];

	stage_open(&st, 1, NULL);
	to = address_of(&st.client[1]);
	rmpplab_header(header, METHOD_GET_TABLE_RESP, UINT64_C(3) << 32 | 9);
	want_len(header, 5000);
	assert_non_null(start(&st.server, &to, header, 5000, 5000));
	assert_null(start(&st.server, &to, header, 5000, 5000));
	to.lid = st.client[0].lid;
	assert_non_null(start(&st.server, &to, header, 5000, 5000));
	to = address_of(&st.client[1]);
	to.grh = true;
	assert_non_null(start(&st.server, &to, header, 5000, 5000));
	header[3] = METHOD_GET_MULTI;	/* the other direction */
	assert_non_null(start(&st.server, &to, header, 5000, 5000));
	stage_run(&st);
	assert_int_equal(st.sends[0].outcome, BULK_SENT);
	expect_nothing_left(&st);
	stage_close(&st);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_of_all_lengths_arrive),
		cmocka_unit_test(test_each_client_gets_its_own_table),
		cmocka_unit_test(test_long_request_gets_a_long_answer),
		cmocka_unit_test(
		    test_ack_does_not_end_the_wait_for_the_answer),
		cmocka_unit_test(test_transfers_get_through_a_lossy_wire),
		cmocka_unit_test(test_corrupt_segments_end_everything_somehow),
		cmocka_unit_test(test_ten_megabytes_are_streamed),
		cmocka_unit_test(test_receiver_without_memory_stops_its_sender),
		cmocka_unit_test(test_cancel_tells_the_peer_and_nobody_else),
		cmocka_unit_test(test_peer_that_disappears_is_given_up),
		cmocka_unit_test(test_sender_that_disappears_is_given_up),
		cmocka_unit_test(test_too_many_transfers_drop_the_oldest),
		cmocka_unit_test(test_lingering_transfers_make_room_first),
		cmocka_unit_test(test_same_tid_to_the_same_peer_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
