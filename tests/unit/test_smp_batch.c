// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A batch of SMPs: how many are in flight, how it ends, and which nodes are
 * not queried after a time-out; on a chain of switches
 *
 *	SM -- A -- B -- C		a host at each
 *
 * where a switch that does not answer hides the nodes to its right.
 */
#include "lab/generate.h"
#include "sm/sweep/smp_batch.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

#define N	3u

struct bench {
	struct snapshot *s;
	struct transport *t;
	struct mad_client *x;
	struct smp_batch *batch;
	uint32_t sw[N];		/* ports 0, by distance */
	uint32_t host[N];	/* at them, not the SM's */
	uint32_t out[N];	/* sw[i]'s port towards sw[i + 1] */
	uint32_t ports[32];	/* to be queried; the tag is the index */
	unsigned n, next;	/* of them */
	uint32_t silent;	/* tag whose node is unreachable after a
				   time-out; or NOBODY */
	GArray *replies;	/* struct seen */
	bool (*again)(void *data, const struct smp_request *r);
	unsigned done;
};

#define NOBODY	UINT32_MAX

struct seen {
	uint64_t tag;
	enum smp_outcome outcome;
};

static bool
bench_next(void *data, struct smp_request *r)
{
	struct bench *b = data;

	assert_int_equal(r->tag, 0);
	assert_false(r->set);
	if (b->next == b->n)
		return false;
	r->tag = b->next;
	r->port = b->ports[b->next++];
	r->attr = MAD_ATTR_PORT_INFO;
	return true;
}

static void
bench_reply(void *data, const struct smp_request *r,
	    const struct smp_reply *a)
{
	struct bench *b = data;
	const struct seen seen = { r->tag, a->outcome };

	assert_int_equal(r->port, b->ports[r->tag]);
	assert_int_equal(a->data != NULL, a->outcome == SMP_ANSWERED);
	g_array_append_val(b->replies, seen);
	if (a->outcome == SMP_TIMED_OUT && b->silent != NOBODY &&
	    r->tag == b->silent)
		smp_batch_set_unreachable(b->batch, r->port);
}

static bool
bench_done(void *data)
{
	struct bench *b = data;

	assert_int_equal(b->next, b->n);
	assert_int_equal(b->replies->len, b->n);
	b->done++;
	return b->next < b->n;
}

static void
find_ports(struct bench *b)
{
	for (uint32_t i = 0; i < b->s->n_switches; i++) {
		const struct snapshot_node *n = &b->s->nodes[b->s->switches[i]];
		struct dr_path path;
		unsigned at;

		assert_true(snapshot_path(b->s, n->first_port, &path));
		at = path.hops - 1u;
		assert_true(at < N);
		b->sw[at] = n->first_port;
	}
	for (unsigned i = 0; i < N; i++) {
		const struct snapshot_node *n =
			snapshot_node_of(b->s, b->sw[i]);

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t port = b->sw[i] + num;
			uint32_t peer = b->s->ports[port].peer;

			if (peer == SNAPSHOT_NONE || peer == b->s->local_port)
				continue;
			if (!snapshot_is_switch(snapshot_node_of(b->s, peer)))
				b->host[i] = peer;
			else if (i + 1 < N && snapshot_node_of(b->s, peer)
				 ->first_port == b->sw[i + 1])
				b->out[i] = port;
		}
	}
}

static void
bench_open(struct bench *b)
{
	const struct mad_client_params wire = {
		.timeout_ms = 10, .retries = 0, .max_wire = 16,
	};

	b->s = generate_fabric("mesh(3,1;2)", NULL, NULL);
	assert_non_null(b->s);
	assert_int_equal(b->s->n_switches, N);
	b->t = scripted_new();
	b->x = mad_client_new(b->t, &wire);
	b->replies = g_array_new(FALSE, FALSE, sizeof(struct seen));
	b->silent = NOBODY;
	find_ports(b);
}

static void
bench_start(struct bench *b, unsigned max_in_flight)
{
	const struct smp_stage stage = {
		.next = bench_next, .reply = bench_reply,
		.done = bench_done, .data = b, .again = b->again,
		.max_in_flight = max_in_flight,
	};

	b->batch = smp_batch_start(b->x, b->s, NULL, &stage);
}

static void
add(struct bench *b, uint32_t port)
{
	assert_true(b->n < G_N_ELEMENTS(b->ports));
	b->ports[b->n++] = port;
}

static void
run(struct bench *b)
{
	assert_true(scripted_run_idle(b->t, transport_now(b->t) +
				      600 * G_USEC_PER_SEC));
}

static const struct seen *
reply_at(const struct bench *b, guint i)
{
	assert_true(i < b->replies->len);
	return &g_array_index(b->replies, struct seen, i);
}

static void
bench_close(struct bench *b)
{
	smp_batch_free(b->batch);
	g_array_unref(b->replies);
	mad_client_free(b->x);
	transport_free(b->t);
	snapshot_unref(b->s);
}

FIXTURE(bench)

static void
peer(struct transport *t, const struct scripted_sent *sent, void *data)
{
	scripted_reply(t, sent, 100);
}

#define BENCH_TEST(name) \
	TEST_WITH(name, struct bench *b, bench_new, bench_free)

BENCH_TEST(test_no_more_in_flight_than_allowed)
{
	scripted_set_peer(b->t, peer, NULL);
	for (unsigned i = 0; i < 20; i++)
		add(b, b->sw[i % N]);
	bench_start(b, 3);
	run(b);
	assert_int_equal(b->done ? scripted_most_flying(b->t) : 0, 3);
}

/* Other requests hold all of the window: the batch waits. */
static void
ignore(const struct mad_client_answer *a, void *data, uint64_t tag)
{
}

BENCH_TEST(test_window_of_others_is_respected)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct dr_path own = { .hops = 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &own);
	while (mad_client_room(b->x))
		mad_client_start(b->x, &direct, mad, ignore, NULL, 0);
	scripted_forget(b->t);
	bench_start(b, 0);
	add(b, b->sw[0]);
	scripted_run(b->t, transport_now(b->t) + 1000);
	assert_int_equal(scripted_count(b->t), 0);
	run(b);
	assert_int_equal(b->done, 1);
}

/* A second loss is final, but not behind an agent that lost one, too. */
BENCH_TEST(test_losses_may_be_of_an_agent_on_the_way)
{
	for (unsigned i = 0; i < 4; i++)
		add(b, b->sw[i != 2]);
	b->again = smp_batch_again;
	bench_start(b, 1);
	run(b);
	assert_int_equal(scripted_count(b->t), 2 + 1 + 2 + 2);
}

/* The window has one pump: the second batch goes on by its own answers. */
BENCH_TEST(test_two_batches_share_the_window)
{
	const struct smp_stage stage = {
		.next = bench_next, .reply = bench_reply, .data = b,
	};
	struct smp_batch *first;

	scripted_set_peer(b->t, peer, NULL);
	for (unsigned i = 0; i < 30; i++)
		add(b, b->sw[i % N]);
	first = smp_batch_start(b->x, b->s, NULL, &stage);
	b->batch = smp_batch_start(b->x, b->s, NULL, &stage);
	scripted_run(b->t, transport_now(b->t));
	smp_batch_free(first);
	run(b);
	assert_int_equal(b->next, 30);
}

/* Queries `port` until it has timed out, then all nodes: which are not sent? NULL:
 * none is. */
static void
assert_hides(struct bench *b, uint32_t port, bool (*hides)(struct bench *b,
							   uint32_t port))
{
	b->n = b->next = 0;
	add(b, port);
	b->silent = 0;
	bench_start(b, 1);
	run(b);
	assert_int_equal(reply_at(b, 0)->outcome, SMP_TIMED_OUT);
	scripted_forget(b->t);
	for (uint32_t p = 0; p < b->s->n_ports; p++) {
		struct dr_path path;

		if (!b->s->ports[p].known || !snapshot_path(b->s, p, &path))
			continue;
		b->n = b->next = 0;
		add(b, p);
		b->silent = NOBODY;
		g_array_set_size(b->replies, 0);
		smp_batch_wake(b->batch);
		run(b);
		assert_int_equal(reply_at(b, 0)->outcome,
				 !hides || hides(b, p) ?
				 SMP_UNREACHABLE : SMP_TIMED_OUT);
	}
}

static bool
is_right_of_a(struct bench *b, uint32_t port)
{
	struct dr_path path;

	return snapshot_path(b->s, port, &path) && path.hops >= 2 &&
		path.port[2] == b->s->ports[b->out[0]].num;
}

static bool
is_host_b(struct bench *b, uint32_t port)
{
	return port == b->host[1];
}

BENCH_TEST(test_silent_switch_hides_all_behind_it)
{
	assert_hides(b, b->out[1], is_right_of_a);	/* by any port of it */
}

BENCH_TEST(test_silent_host_hides_itself_only)
{
	assert_hides(b, b->host[1], is_host_b);
}

BENCH_TEST(test_the_port_of_the_sm_hides_all)
{
	assert_hides(b, b->s->local_port, NULL);
}

BENCH_TEST(test_requests_behind_are_cancelled_in_order)
{
	add(b, b->sw[1]);	/* times out first: sent first */
	add(b, b->host[2]);
	add(b, b->sw[0]);
	add(b, b->sw[1]);
	add(b, b->sw[2]);
	b->silent = 0;
	bench_start(b, 8);
	run(b);
	for (unsigned i = 0; i < 5; i++) {
		static const unsigned order[] = { 0, 1, 3, 4, 2 };

		assert_int_equal(reply_at(b, i)->tag, order[i]);
		assert_int_equal(reply_at(b, i)->outcome, i % 4 ?
				 SMP_CANCELLED : SMP_TIMED_OUT);
	}
	assert_int_equal(b->x->ended[MAD_CLIENT_SMP][MAD_ATTR_PORT_INFO]
			 [MAD_CLIENT_CANCELLED], 3);
	assert_int_equal(b->done, 1);
}
