// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The desk of the SA: overload, tables, long requests, Reports, bad clients.
 */
#include <string.h>

#include "sm/mad/smp.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/service.h"
#include "tests/lib/auto.h"
#include "tests/lib/sa_server_lab.h"
#include "tests/lib/unit.h"

#define PATH_SIZE	64u

/* --------------------------------------------------------------- overload */

#define STAGE_TEST(name) \
	TEST_WITH(name, struct stage *st, stage_set_up, stage_tear_down)

/* The same with other parameters: p.turn = 1, .. */
#define PARAMS_TEST(name, ...) \
	static int \
	set_up_##name(void **state) \
	{ \
		struct sa_server_params p = sa_server_params_default; \
	\
		__VA_ARGS__; \
		return stage_set_up_with(state, &p); \
	} \
	TEST_WITH(name, struct stage *st, set_up_##name, stage_tear_down)

/* A host asks as soon as its port is Active, before the sweep is over. */
STAGE_TEST(test_requests_wait_until_the_fabric_is_known)
{
	const struct sa_server_stats *d;
	struct sa_db *view;

	view = sa_db_ref(st->sa->view);
	sa_publish(st->sa, NULL, sim_now(st->sim));
	client_ask_info(&st->client[0]);
	client_join(&st->client[1], 1);
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].good + st->client[0].busy, 0);
	assert_int_equal(st->client[1].good + st->client[1].busy, 0);
	sa_publish(st->sa, view, sim_now(st->sim));
	sa_server_touch(st->desk);
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].good, 1);
	assert_int_equal(st->client[1].good, 1);
	d = sa_server_stats(st->desk);
	assert_int_equal(d->records[SA_ATTR_MC_MEMBER], 1);
	assert_int_equal(d->records[SA_ATTR_CLASS_PORT_INFO], 1);
	assert_in_range(d->us, 2 * SECOND - 1000, 2 * SECOND + 10000);
	assert_int_equal(d->within[SA_SERVER_BUCKETS - 2], 0);
	client_ask_info(&st->client[0]);
	stage_run(st, SECOND);
	assert_int_equal(d->records[SA_ATTR_CLASS_PORT_INFO], 2);
	assert_int_equal(d->within[0], 1);
	/* a first sweep of a minute: the client has given up its join */
	sa_publish(st->sa, NULL, sim_now(st->sim));
	client_join(&st->client[2], 2);
	client_ask_info(&st->client[2]);
	stage_run(st, 60 * SECOND);
	sa_publish(st->sa, view, sim_now(st->sim));
	sa_server_touch(st->desk);
	stage_run(st, SECOND);
	assert_int_equal(st->client[2].good, 1);
	assert_int_equal(d->records[SA_ATTR_MC_MEMBER], 1);
	assert_int_equal(d->dropped, 1);
	sa_db_unref(view);
}

/* A transport may hand over MADs of OPA. */
STAGE_TEST(test_request_of_another_length_is_dropped)
{
	static const uint8_t mad[2048] = { 1, 3, 2, 1 };
	const struct transport_mad m = {
		.addr = { .lid = 3 }, .mad = mad, .len = sizeof(mad),
	};

	sa_server_take(st->desk, &m);
	assert_int_equal(sa_server_stats(st->desk)->dropped, 1);
}

static bool
is_programming(void *data)
{
	return *(bool *)data;
}

/* What the present view refuses waits for the next one, and the changes of the
 * same client behind it; all others are answered. */
TEST(test_refusals_are_held_while_a_plan_is_programmed)
{
	struct sa_server_params params = sa_server_params_default;
	AUTO_VALUE(stage_close) struct stage st;
	struct sa_stats stats;
	bool busy = true;

	params.programming = is_programming;
	params.programming_data = &busy;
	stage_open(&st, SEED, &params, NULL);
	client_leave(&st.client[0], 1);
	client_join(&st.client[0], 1);
	client_ask_info(&st.client[0]);
	client_join(&st.client[1], 1);
	stage_run(&st, SECOND);
	assert_int_equal(st.client[0].good, 1);
	assert_int_equal(st.client[0].bad, 0);
	assert_int_equal(st.client[1].good, 1);
	sa_server_touch(st.desk);
	assert_int_equal(st.client[0].bad, 0);
	busy = false;
	sa_server_touch(st.desk);
	stage_run(&st, SECOND);
	assert_int_equal(st.client[0].good, 2);
	assert_int_equal(st.client[0].bad, 1);
	sa_stats(st.sa, &stats);
	assert_int_equal(stats.n_members, 2);
}

/* A plan may take minutes. What is refused is so before the client gives up,
 * and does not hold for longer what the client asks behind it. */
TEST(test_refusals_are_held_no_longer_than_clients_wait)
{
	struct sa_server_params params = sa_server_params_default;
	AUTO_VALUE(stage_close) struct stage st;
	struct client *c = &st.client[0];
	bool busy = true;

	params.programming = is_programming;
	params.programming_data = &busy;
	stage_open(&st, SEED, &params, NULL);
	client_leave(c, 1);
	stage_run(&st, SECOND);
	client_join(c, 1);
	stage_run(&st, SECOND);
	assert_int_equal(c->good + c->bad, 0);
	client_leave(&st.client[1], 2);
	stage_run(&st, SECOND);
	assert_int_equal(c->bad, 1);
	assert_int_equal(c->good, 1);
	client_join(c, 2);
	stage_run(&st, 100000);
	assert_int_equal(c->good, 2);
	assert_int_equal(st.client[1].bad, 0);
	stage_run(&st, 3 * SECOND);
	assert_int_equal(st.client[1].bad, 1);
	assert_int_equal(sa_server_stats(st.desk)->dropped, 0);
	/* a server that ends, one that shuts */
	client_leave(c, 3);
	stage_run(&st, 100000);
	sa_server_set_shut(st.desk, true);
	assert_int_equal(sa_server_stats(st.desk)->dropped, 1);
	stage_run(&st, SECOND);
	sa_server_set_shut(st.desk, false);
	client_leave(c, 4);
	stage_run(&st, 100000);
}

PARAMS_TEST(test_babbler_does_not_keep_a_polite_client_out,
	    p.max_waiting = 100, p.max_of_one = 50, p.turn = 10)
{
	const struct sa_server_stats *d = sa_server_stats(st->desk);
	struct client *babbler = &st->client[CLIENTS - 1];
	struct client *polite = &st->client[CLIENTS - 2];

	stage_run(st, SECOND);
	st->loop_asked = true;
	for (unsigned i = 0; i < 2000; i++)
		client_ask_info(babbler);
	for (unsigned i = 0; i < 5; i++)
		client_ask_info(polite);
	stage_run(st, SECOND);
	assert_int_equal(polite->good, 5);
	assert_int_equal(polite->busy, 0);
	/* one of the babbler's, one of the polite one's, and so on */
	assert_in_range(polite->rank, 10, 10 + 2 * 5 + 1);
	assert_int_equal(babbler->good, 60);
	assert_int_equal(babbler->busy, 1940);
	assert_int_equal(d->busy_of_one, 1940);
	assert_int_equal(d->busy_full, 0);
	assert_int_equal(d->taken, 2005);
	assert_int_equal(d->answered, 65);
	assert_int_equal(d->busy, 1940);
	assert_int_equal(d->longest, 55);
	/* the loop has its turn after ten answers, and each ten more */
	assert_int_equal(st->loop_came, 1);
	assert_true(st->loop_answers <= 10);
	assert_true(d->turns >= 6);
	assert_int_equal(sa_server_stats(st->desk)->waiting, 0);
}

/* What waits is not asked twice; what is answered is, another attribute and
 * another client under the same TID are. */
PARAMS_TEST(test_repeats_of_what_waits_are_dropped, p.turn = 1)
{
	struct client *c = &st->client[0];

	stage_run(st, SECOND);
	client_ask_info(c);		/* is answered at once */
	client_ask_info(c);		/* waits */
	for (unsigned i = 0; i < 3; i++)
		client_ask_again(c);
	c->last_tid--;
	client_request(c, "Get SMInfoRecord");
	st->client[1].last_tid = 1;
	client_ask_info(&st->client[1]);
	stage_run(st, SECOND);
	assert_int_equal(sa_server_stats(st->desk)->repeated, 3);
	assert_int_equal(c->good + c->bad, 3);
	assert_int_equal(st->client[1].good, 1);
	c->last_tid--;
	client_ask_info(c);
	stage_run(st, SECOND);
	assert_int_equal(c->good + c->bad, 4);
	assert_int_equal(sa_server_stats(st->desk)->repeated, 3);
}

/* A client that was turned away may come again: that is no repeat. */
PARAMS_TEST(test_refused_request_is_forgotten, p.turn = 1, p.max_of_one = 1)
{
	struct client *c = &st->client[0];

	stage_run(st, SECOND);
	for (unsigned i = 0; i < 3; i++)
		client_ask_info(c);
	stage_run(st, SECOND);
	assert_int_equal(c->good, 2);
	assert_int_equal(c->busy, 1);
	client_ask_again(c);
	stage_run(st, SECOND);
	assert_int_equal(c->good, 3);
	assert_int_equal(sa_server_stats(st->desk)->repeated, 0);
}

PARAMS_TEST(test_displaced_request_is_forgotten,
	    p.turn = 1, p.max_waiting = 3, p.max_of_one = 3)
{
	struct client *greedy = &st->client[CLIENTS - 1];
	struct client *other = &st->client[CLIENTS - 2];

	stage_run(st, SECOND);
	for (unsigned i = 0; i < 4; i++)
		client_ask_info(greedy);
	client_ask_info(other);
	stage_run(st, SECOND);
	assert_int_equal(sa_server_stats(st->desk)->busy_full, 1);
	assert_int_equal(greedy->busy, 1);
	assert_int_equal(greedy->good, 3);
	assert_int_equal(other->good, 1);
	client_ask_again(greedy);
	stage_run(st, SECOND);
	assert_int_equal(greedy->good, 4);
	assert_int_equal(sa_server_stats(st->desk)->repeated, 0);
}

/* A wrong SM_Key is for the SA to drop (IBA 15.4.1); so is nonsense. */
STAGE_TEST(test_what_the_sa_drops_gets_no_answer)
{
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];

	to = stage_address(st);
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO);
	bytes_store(mad + 36, 99, 8);
	assert_true(transport_send(st->client[0].t, &to, mad, MAD_SIZE, 0,
				   NULL));
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].good + st->client[0].bad +
			 st->client[0].busy, 0);
	assert_int_equal(sa_server_stats(st->desk)->dropped, 1);
	sa_build(mad, MAD_METHOD_TRAP, SA_ATTR_NOTICE);
	assert_true(transport_send(st->client[0].t, &to, mad, MAD_SIZE, 0,
				   NULL));
	stage_run(st, 2 * SECOND);
	assert_int_equal(st->client[0].good + st->client[0].bad +
			 st->client[0].busy, 0);
	assert_int_equal(sa_server_stats(st->desk)->dropped, 2);
}

/* A flood from all clients for a second, and a cable is pulled in it. */
PARAMS_TEST(test_sweep_goes_on_under_a_flood, p.turn = 4)
{
	unsigned ends = st->sm.ends, lost;
	GArray *hosts;
	uint32_t p = 0;

	while (snapshot_is_end_port(st->s, p) ||
	       sim_peer(st->sim, p) == SNAPSHOT_NONE ||
	       snapshot_is_end_port(st->s, sim_peer(st->sim, p)))
		p++;
	sim_link_cut(st->sim, p);
	sweep_request(st->sm.sweep, SWEEP_CAUSE_TRAP);
	for (unsigned ms = 0; ms < 1000; ms++) {
		for (unsigned c = 0; c < CLIENTS; c++)
			for (unsigned i = 0; i < 20; i++)
				client_ask_info(&st->client[c]);
		stage_run(st, 1000);
	}
	assert_true(st->sm.ends > ends);
	assert_int_equal(st->sm.last, SWEEP_END_UP);
	hosts = simlab_hosts(st->sim, st->s, st->s->local_port);
	lost = simlab_lost_pairs(st->sim, hosts);
	g_array_unref(hosts);
	assert_int_equal(lost, 0);
}

/* ----------------------------------------------------------------- tables */

TEST(test_table_arrives_through_loss)
{
	g_autoptr(GByteArray) good = g_byte_array_new();

	print_message("# seed %u\n", SEED);
	for (unsigned turn = 0; turn < 6; turn++) {
		struct client *c;
		AUTO_VALUE(stage_close) struct stage st;

		stage_open(&st, SEED + turn, NULL, NULL);
		c = &st.client[5];
		if (turn) {
			stage_add_fault(&st, SIM_FAULT_LOSS, 0, 50);
			stage_add_fault(&st, SIM_FAULT_DUPLICATE, 0, 50);
			stage_add_fault(&st, SIM_FAULT_REORDER, 0, 100);
		}
		for (unsigned i = 0; i < 5 && !c->tables; i++) {
			client_ask_paths(c);
			stage_run(&st, 40 * SECOND);
		}
		assert_true(c->tables > 0);
		assert_int_equal(c->table->len, N_ENDS * N_ENDS * PATH_SIZE);
		if (!turn)
			g_byte_array_append(good, c->table->data,
					    c->table->len);
		assert_memory_equal(c->table->data, good->data, good->len);
		assert_true(sa_server_stats(st.desk)->tables ==
			    sa_server_stats(st.desk)->tables_sent +
			    sa_server_stats(st.desk)->tables_failed);
		if (!turn)
			assert_int_equal(sa_server_stats(st.desk)->tables_sent,
					 1);
	}
}

struct refusal {
	struct transport_ops ops;
	const struct transport_ops *real;
};

static bool
send_no_table(struct transport *t, const struct mad_addr *to,
	      const uint8_t *mad, size_t len, unsigned timeout_ms,
	      GError **error)
{
	const struct refusal *refusal = (const struct refusal *)t->ops;

	if (len <= MAD_SIZE)
		return refusal->real->send(t, to, mad, len, timeout_ms, error);
	g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND, "refused");
	return false;
}

/* As a kernel without memory does. The next table is not refused. */
STAGE_TEST(test_table_that_the_transport_refuses_leaves_nothing)
{
	struct transport *t = st->sm.t;
	struct refusal refusal = { .ops = *t->ops, .real = t->ops };
	const struct sa_server_stats *d = sa_server_stats(st->desk);
	struct client *c = &st->client[2];

	refusal.ops.send = send_no_table;
	t->ops = &refusal.ops;
	for (unsigned i = 1; i <= 40; i++) {
		client_ask_paths(c);
		stage_run(st, SECOND);
		assert_int_equal(d->tables_failed, i);
	}
	assert_int_equal(c->tables, 0);
	t->ops = refusal.real;
	client_ask_paths(c);
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 1);
	assert_int_equal(d->tables_sent, 1);
}

/* The kernel has a table until its client has acknowledged all of it. */
PARAMS_TEST(test_bytes_of_tables_in_the_kernel_are_bounded,
	    p.max_handed_of_one = 30000, p.max_handed = 70000)
{
	struct client *a = &st->client[2], *b = &st->client[3];
	const struct sa_server_stats *d = sa_server_stats(st->desk);

	client_ask_paths(a);		/* 36,864 bytes */
	client_ask_paths(a);
	client_ask_info(a);
	client_ask_paths(b);
	stage_run(st, SECOND);
	assert_int_equal(a->tables, 1);
	assert_int_equal(a->busy, 1);
	assert_int_equal(a->good, 1);
	assert_int_equal(b->tables, 1);
	assert_int_equal(d->busy_tables, 1);
	/* all of them: 73,728 less those of 1 s, 7,000 */
	client_ask_paths(&st->client[4]);
	client_ask_paths(&st->client[5]);
	stage_run(st, SECOND);
	assert_int_equal(st->client[4].tables, 1);
	assert_int_equal(st->client[5].busy, 1);
	/* one after the other, after a while */
	stage_run(st, 10 * SECOND);
	client_ask_paths(a);
	client_ask_paths(&st->client[5]);
	stage_run(st, SECOND);
	assert_int_equal(a->tables, 2);
	assert_int_equal(st->client[5].tables, 1);
}

/* 108 and 176 bytes do not divide 200: records that are cut, and none. */
STAGE_TEST(test_tables_of_all_sizes_arrive_whole)
{
	struct client *c = &st->client[2];

	client_request(c, "GetTable NodeRecord");
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 1);
	assert_int_equal(c->table->len, N_ENDS * sa_record_size(SA_ATTR_NODE));
	client_request(c, "GetTable NodeRecord LID=0xbfff");
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 2);
	assert_int_equal(c->table->len, 0);
	for (unsigned i = 0; i < 5; i++)
		client_register(c, 10 + i, UINT32_MAX);
	stage_run(st, SECOND);
	assert_int_equal(c->bad, 0);
	client_request(c, "GetTable ServiceRecord");
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 3);
	assert_int_equal(c->table->len, 5 * sa_record_size(SA_ATTR_SERVICE));
	for (unsigned i = 0; i < 5; i++) {
		struct service_record r;

		sa_record_decode(SA_ATTR_SERVICE, c->table->data +
				      i * sa_record_size(SA_ATTR_SERVICE), &r);
		assert_int_equal(r.id, 10 + i);
		assert_string_equal(r.name, "test");
	}
}

static void
on_sent(enum sa_message_outcome outcome, void *data)
{
	*(enum sa_message_outcome *)data = outcome;
}

/* What is left of a message in memory. */
struct rest {
	const uint8_t *at;
	size_t left;
};

static size_t
rest_read(void *data, uint8_t *out, size_t max)
{
	struct rest *rest = data;
	size_t n = MIN(rest->left, max);

	memcpy(out, rest->at, n);
	rest->at += n;
	rest->left -= n;
	return n;
}

static void
send_long(struct client *c, const uint8_t *data, size_t len,
	  enum sa_message_outcome *outcome)
{
	struct rest rest = { .at = data, .left = len };
	uint8_t mad[MAD_SIZE];
	struct sa_message_order order = {
		.to = stage_address(c->stage), .header = mad,
		.source = rest_read, .source_data = &rest,
	};

	sa_build(mad, SA_METHOD_GET_MULTI, SA_ATTR_MULTI_PATH);
	bytes_store(mad + OFF_COMP_MASK, SA_BIT(MULTI_SGID_COUNT) |
	    SA_BIT(MULTI_DGID_COUNT) | SA_BIT(MULTI_NUMB_PATH), 8);
	mad_set_tid(mad, ++c->last_tid);
	*outcome = SA_MESSAGE_NOT_ACCEPTED;
	if (sa_message_send(c->b, &order, on_sent, outcome))
		*outcome = SA_MESSAGE_SENT;
	stage_run(c->stage, 5 * SECOND);
}

STAGE_TEST(test_request_of_several_segments_is_answered)
{
	struct multi_path_record r = {
		.path.numb_path = 127, .n_sgids = 1, .n_dgids = CLIENTS - 1,
	};
	g_autofree uint8_t *huge = g_malloc0(100000);
	uint8_t data[MULTI_PATH_GIDS_OFFSET + 16 * CLIENTS] = { 0 };
	enum sa_message_outcome outcome;
	struct client *c;

	sa_record_encode(SA_ATTR_MULTI_PATH, data, &r);
	for (unsigned i = 0; i < CLIENTS; i++)
		client_gid(&st->client[i],
			   data + MULTI_PATH_GIDS_OFFSET + 16 * i);
	c = &st->client[0];
	send_long(c, data, sizeof(data), &outcome);
	assert_int_equal(outcome, SA_MESSAGE_SENT);
	assert_int_equal(c->tables, 1);
	assert_int_equal(c->table->len, (CLIENTS - 1) * PATH_SIZE);
	/* past max_request it is refused */
	send_long(c, huge, 100000, &outcome);
	assert_int_equal(outcome, SA_MESSAGE_SENT);
	assert_int_equal(c->tables, 1);
	assert_int_equal(c->bad, 1);
	client_ask_info(c);
	stage_run(st, SECOND);
	assert_int_equal(c->good, 1);
}

TEST(test_desk_closes_in_the_middle_of_everything)
{
	struct sa_server_params params = sa_server_params_default;
	struct stage st;

	params.turn = 2;
	stage_open(&st, SEED, &params, NULL);
	client_subscribe(&st.client[0]);
	client_register(&st.client[0], 3, 100);
	stage_run(&st, SECOND);
	client_join(&st.client[1], 1);
	for (unsigned i = 0; i < 3; i++)
		client_ask_paths(&st.client[2]);
	for (unsigned i = 0; i < 20; i++)
		client_ask_info(&st.client[3]);
	while (!sa_server_stats(st.desk)->waiting)
		assert_true(sim_step(st.sim));
	stage_close(&st);	/* the sanitizers judge */
}

/* ---------------------------------------------------------------- Reports */

TEST(test_report_comes_through_loss)
{
	print_message("# seed %u\n", SEED);
	for (unsigned turn = 0; turn < 8; turn++) {
		AUTO_VALUE(stage_close) struct stage st;

		stage_open(&st, SEED + turn, NULL, NULL);
		for (unsigned c = 0; c < 6; c++)
			client_subscribe(&st.client[c]);
		stage_run(&st, SECOND);
		assert_int_equal(stage_subscriptions(&st), 6);
		stage_add_fault(&st, SIM_FAULT_LOSS, SA_METHOD_REPORT, 150);
		stage_add_fault(&st, SIM_FAULT_LOSS, METHOD_REPORT_RESP, 150);
		client_join(&st.client[10], 1);
		stage_run(&st, 10 * SECOND);
		assert_int_equal(st.client[10].good, 1);
		assert_true(st.groups_changed > 0);
		for (unsigned c = 0; c < 6; c++) {
			const uint8_t *n = st.client[c].report + SA_DATA_OFFSET;

			assert_true(st.client[c].reports > 0);
			assert_int_equal(n[5], 66);
			assert_int_equal(n[16], 0xff);	/* its MGID */
		}
		assert_int_equal(sa_server_stats(st.desk)->reports, 6);
		assert_int_equal(sa_server_stats(st.desk)->heard +
				 sa_server_stats(st.desk)->unheard, 6);
	}
}

STAGE_TEST(test_dead_subscriber_is_given_up)
{
	for (unsigned c = 0; c < 3; c++)
		client_subscribe(&st->client[c]);
	stage_run(st, SECOND);
	st->client[1].mute = true;
	client_join(&st->client[10], 1);
	stage_run(st, 100000);
	assert_int_equal(st->client[0].reports, 1);
	assert_int_equal(st->client[2].reports, 1);
	assert_int_equal(stage_subscriptions(st), 3);
	stage_run(st, 5 * SECOND);
	assert_int_equal(st->client[1].reports, 4);	/* 3 retries */
	assert_int_equal(stage_subscriptions(st), 2);
	assert_int_equal(sa_server_stats(st->desk)->unheard, 1);
	client_join(&st->client[10], 2);
	stage_run(st, 5 * SECOND);
	assert_int_equal(st->client[0].reports, 2);
	assert_int_equal(st->client[1].reports, 4);
	assert_int_equal(sa_server_stats(st->desk)->heard, 4);
}

/* The host starts anew, and has subscribed when its old Report is given up. */
STAGE_TEST(test_subscriber_that_is_back_stays)
{
	client_subscribe(&st->client[0]);
	client_subscribe(&st->client[1]);
	stage_run(st, SECOND);
	st->client[1].mute = true;
	client_join(&st->client[10], 1);
	stage_run(st, 100000);
	client_subscribe(&st->client[1]);
	stage_run(st, 5 * SECOND);
	assert_int_equal(sa_server_stats(st->desk)->unheard, 1);
	assert_int_equal(stage_subscriptions(st), 2);
	client_join(&st->client[10], 2);
	stage_run(st, 5 * SECOND);
	assert_int_equal(sa_server_stats(st->desk)->unheard, 2);
	assert_int_equal(stage_subscriptions(st), 1);
}

/* The simulator's hosts have no other QPs than 0 and 1: a transport that has
 * one more. */
struct one_more_qp {
	struct transport_ops ops;
	const struct transport_ops *real;
	unsigned reports, answers;	/* to it */
};

#define OWN_QP	0x4d2u

static bool
send_to_own_qp(struct transport *t, const struct mad_addr *to,
	       const uint8_t *mad, size_t len, unsigned timeout_ms,
	       GError **error)
{
	struct one_more_qp *more = (struct one_more_qp *)t->ops;

	if (to->qp != OWN_QP)
		return more->real->send(t, to, mad, len, timeout_ms, error);
	assert_int_equal(to->qkey, MAD_GSI_QKEY);
	*(mad[3] == SA_METHOD_REPORT ? &more->reports : &more->answers) += 1;
	return true;
}

/* As srp_daemon of rdma-core does, beside the kernel on QP 1. */
STAGE_TEST(test_subscriber_is_a_queue_pair)
{
	struct client *c = &st->client[0];
	struct transport_mad m = {
		.addr = { .lid = c->lid, .qp = OWN_QP }, .mad = c->mad,
		.len = MAD_SIZE,
	};
	struct transport *t = st->sm.t;
	struct one_more_qp more = { .ops = *t->ops, .real = t->ops };

	more.ops.send = send_to_own_qp;
	t->ops = &more.ops;
	client_subscribe(c);
	stage_run(st, SECOND);
	sa_server_take(st->desk, &m);
	assert_int_equal(more.answers, 1);
	assert_int_equal(stage_subscriptions(st), 2);
	client_join(&st->client[10], 1);
	stage_run(st, 100000);
	assert_int_equal(more.reports, 1);
	assert_int_equal(c->reports, 1);
	/* the program does not answer; the kernel's subscription stays */
	stage_run(st, 5 * SECOND);
	assert_int_equal(more.reports, 4);
	assert_int_equal(stage_subscriptions(st), 1);
	client_join(&st->client[10], 2);
	stage_run(st, SECOND);
	assert_int_equal(more.reports, 4);
	assert_int_equal(c->reports, 2);
	t->ops = more.real;
}

PARAMS_TEST(test_few_reports_are_under_way_at_a_time, p.max_reports = 2)
{
	for (unsigned c = 0; c < 8; c++)
		client_subscribe(&st->client[c]);
	stage_run(st, SECOND);
	for (unsigned n = 0; n < 5; n++)
		client_join(&st->client[10], n);
	stage_run(st, SECOND);
	for (unsigned c = 0; c < 8; c++)
		assert_int_equal(st->client[c].reports, 5);
	assert_int_equal(st->most_reports, 2);
	assert_int_equal(sa_server_stats(st->desk)->heard, 40);
}

/* Notices that few want, among many subscriptions: all in one turn would take too
 * long, and nothing but a later turn goes on. */
static void
notify_few_of_many(struct stage *st)
{
	struct inform_info info = {
		.subscribe = 1, .generic = 1, .lid_begin = 0xffff,
		.type = 0xffff, .trap = 65, .producer = 0xffffff,
	};
	const struct sa_db *v = st->sa->view;
	uint8_t notice[NOTICE_LEN], issuer[16];
	uint64_t guid;

	for (unsigned c = 0; c < CLIENTS; c++) {
		guid = st->s->ports[st->client[c].port].guid;
		for (unsigned qp = 1; qp < 128; qp++)
			assert_int_equal(informs_set(st->sa->informs, v,
					 sa_db_guid(v, guid), qp, &info, 0), 0);
	}
	client_subscribe(&st->client[0]);
	stage_run(st, SECOND);
	client_gid(&st->client[1], issuer);
	for (unsigned i = 0; i < 20; i++) {
		notice_build_gid(notice, 64, (uint16_t)(1 + i), issuer);
		notice[0] = i < 19 ? 0 : notice[0];	/* no generic one */
		informs_notify(st->sa->informs, v, notice, issuer, 0,
			       sim_now(st->sim));
	}
	sa_server_touch(st->desk);
	assert_true(st->sa->informs->waiting.length > 0);
}

STAGE_TEST(test_report_is_found_in_later_turns)
{
	notify_few_of_many(st);
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].reports, 1);
	assert_int_equal(st->sa->informs->waiting.length, 0);
}

STAGE_TEST(test_subscription_that_a_later_turn_drops_is_saved)
{
	unsigned n;

	notify_few_of_many(st);
	n = stage_subscriptions(st);
	/* no Report can be sent to it */
	st->sa->view->lids->base[st->client[0].port] = 0;
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].reports, 0);
	assert_in_range(stage_subscriptions(st), 1, n - 1);
	assert_int_equal(st->touched, sa_saved_version(st->sa));
}

/* Each takes two seconds to be given up, and then its Notice is a minute old. */
PARAMS_TEST(test_notices_are_dropped_behind_slow_subscribers, p.max_reports = 1)
{
	const struct sa_server_stats *d = sa_server_stats(st->desk);
	struct inform_info info = {
		.subscribe = 1, .generic = 1, .lid_begin = 0xffff,
		.type = 0xffff, .trap = 66, .producer = 0xffffff,
	};
	const struct log *log = st->sm.log;
	unsigned said = 0;

	st->client[0].mute = true;
	client_subscribe(&st->client[0]);
	stage_run(st, SECOND);
	for (unsigned qp = 2; qp < 100; qp++)
		assert_int_equal(informs_set(st->sa->informs, st->sa->view,
				 st->client[0].port, qp, &info, 0), 0);
	for (unsigned n = 0; n < 5; n++)
		client_join(&st->client[10], n);
	stage_run(st, 59 * SECOND);
	assert_int_equal(d->notices_dropped, 0);
	stage_run(st, 5 * SECOND);
	assert_int_equal(d->notices_dropped, 5);
	for (uint64_t n = 0; n < log->n_events; n++)
		said += g_str_has_prefix(log->events[n % LOG_EVENTS].text,
					 "Notices that not all subscribers");
	assert_in_range(said, 1, 5);
	assert_int_equal(st->sa->informs->waiting.length, 0);
}

STAGE_TEST(test_trap_is_reported_to_subscribers)
{
	client_subscribe(&st->client[0]);
	stage_run(st, SECOND);
	sim_trap(st->sim, st->client[3].port, 144);
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].reports, 1);
	assert_int_equal(st->client[0].report[SA_DATA_OFFSET + 5], 144);
}

STAGE_TEST(test_lease_ends_without_being_asked)
{
	struct sa_stats stats;

	client_register(&st->client[0], 1, 4);
	client_register(&st->client[0], 2, 10);
	stage_run(st, 3 * SECOND);
	sa_stats(st->sa, &stats);
	assert_int_equal(stats.n_services, 2);
	stage_run(st, 2 * SECOND);
	sa_stats(st->sa, &stats);
	assert_int_equal(stats.n_services, 1);
	stage_run(st, 6 * SECOND);
	sa_stats(st->sa, &stats);
	assert_int_equal(stats.n_services, 0);
	assert_int_equal(st->sa->services->next, INT64_MAX);
}

/* --------------------------------------------------------------- searching */

/* A GUIDInfoRecord with a GUID7 that no port has: all must be looked at. */
static void
ask_in_vain(struct client *c)
{
	client_request(c, "Get GUIDInfoRecord GUID[7]=0xdead");
}

PARAMS_TEST(test_long_search_lets_others_have_their_turn,
	    p.turn = 1, p.max_searchers = 1)
{
	struct client *slow = &st->client[0], *other = &st->client[1];
	unsigned done;

	stage_run(st, SECOND);
	ask_in_vain(slow);
	client_ask_again(slow);
	ask_in_vain(slow);
	ask_in_vain(slow);
	client_ask_info(other);
	stage_run(st, SECOND);
	assert_int_equal(slow->bad + slow->busy, 3);
	assert_int_equal(slow->last_bad, SA_STATUS_NO_RECORDS);
	assert_in_range(slow->busy, 1, 2);
	assert_int_equal(other->good, 1);
	assert_int_equal(sa_server_stats(st->desk)->busy_searchers, slow->busy);
	assert_int_equal(sa_server_stats(st->desk)->repeated, 1);
	assert_int_equal(sa_server_stats(st->desk)->answered, slow->bad + 1);
	done = slow->bad;
	/* a search is over: there is room, and its TID is forgotten */
	ask_in_vain(slow);
	stage_run(st, SECOND);
	assert_int_equal(slow->bad, done + 1);
	/* and one that is not over when all ends */
	ask_in_vain(slow);
	ask_in_vain(slow);
	stage_run(st, 5);
}
