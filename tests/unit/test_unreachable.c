// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who is silent, and who is behind him: on a chain of switches
 *
 *	SM -- A -- B -- C		a host at each
 *
 * whoever falls silent hides what is to his right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sm/sweep/unreachable.h"
#include "sm/mad/smp.h"
#include "tests/lib/scripted.h"
#include "topology/generate.h"

#define N	3u

struct bench {
	struct snapshot *s;
	struct transport *t;
	struct mad_client *x;
	struct unreachable *silent;
	uint32_t sw[N];		/* ports 0, by distance */
	uint32_t host[N];	/* at them, not the SM's */
	uint32_t out[N];	/* sw[i]'s port towards sw[i + 1] */
	GArray *lost;		/* uint64_t tags */
};

static void
on_lost(void *data, uint64_t tag)
{
	struct bench *b = data;

	g_array_append_val(b->lost, tag);
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

	*b = (struct bench){ 0 };
	b->s = generate_fabric("mesh(3,1;2)", NULL, NULL);
	assert_non_null(b->s);
	assert_int_equal(b->s->n_switches, N);
	b->t = scripted_new();
	b->x = mad_client_new(b->t, &wire);
	b->silent = unreachable_new(b->x, b->s, on_lost, b);
	b->lost = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	find_ports(b);
}

static void
bench_close(struct bench *b)
{
	g_array_unref(b->lost);
	unreachable_free(b->silent);
	mad_client_free(b->x);
	transport_free(b->t);
	snapshot_unref(b->s);
}

static void
fail_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	fail_msg("a question that was given up is over");
}

/* A question under way. */
static void
ask(struct bench *b, uint32_t port, uint64_t tag)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	struct dr_path path;
	uint8_t mad[MAD_SIZE];

	assert_true(snapshot_path(b->s, port, &path));
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 0, 0,
			 &path);
	unreachable_asked(b->silent, port, mad_client_start(b->x, &direct, mad,
						 fail_done, b, tag), tag);
}

static void
test_at_first_everybody_talks(void **state)
{
	struct bench b;

	bench_open(&b);
	for (uint32_t port = 0; port < b.s->n_ports; port++)
		assert_false(unreachable_covers(b.silent, port));
	bench_close(&b);
}

static void
test_silent_switch_covers_all_behind_it(void **state)
{
	struct bench b;

	bench_open(&b);
	unreachable_add(b.silent, b.out[1]);		/* by any port of it */
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(unreachable_covers(b.silent, b.sw[i]), i >= 1);
		assert_int_equal(unreachable_covers(b.silent, b.host[i]),
				 i >= 1);
	}
	assert_false(unreachable_covers(b.silent, b.s->local_port));
	assert_false(unreachable_covers(b.silent, b.out[0]));
	bench_close(&b);
}

static void
test_silent_host_covers_itself_only(void **state)
{
	struct bench b;

	bench_open(&b);
	unreachable_add(b.silent, b.host[1]);
	for (uint32_t port = 0; port < b.s->n_ports; port++)
		assert_int_equal(unreachable_covers(b.silent, port),
				 port == b.host[1]);
	bench_close(&b);
}

static void
test_the_sm_itself_hides_everybody(void **state)
{
	struct bench b;

	bench_open(&b);
	unreachable_add(b.silent, b.s->local_port);
	assert_true(unreachable_covers(b.silent, b.s->local_port));
	assert_true(unreachable_covers(b.silent, b.host[2]));
	bench_close(&b);
}

static void
test_questions_behind_are_given_up_in_order(void **state)
{
	struct bench b;

	bench_open(&b);
	ask(&b, b.host[2], 70);
	ask(&b, b.sw[0], 50);
	ask(&b, b.sw[1], 60);
	ask(&b, b.sw[2], 10);
	unreachable_add(b.silent, b.sw[1]);
	assert_int_equal(b.lost->len, 3);
	assert_int_equal(g_array_index(b.lost, uint64_t, 0), 70);
	assert_int_equal(g_array_index(b.lost, uint64_t, 1), 60);
	assert_int_equal(g_array_index(b.lost, uint64_t, 2), 10);
	assert_int_equal(mad_client_stats(b.x)->cancelled, 3);
	/* Given up once: nothing is left to be lost. */
	unreachable_add(b.silent, b.sw[1]);
	assert_int_equal(b.lost->len, 3);
	mad_client_cancel_owner(b.x, &b);
	bench_close(&b);
}

static void
test_question_that_is_over_is_not_given_up(void **state)
{
	struct bench b;

	bench_open(&b);
	ask(&b, b.sw[2], 10);
	unreachable_over(b.silent, 10);
	unreachable_add(b.silent, b.sw[1]);
	assert_int_equal(b.lost->len, 0);
	mad_client_cancel_owner(b.x, &b);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_first_everybody_talks),
		cmocka_unit_test(test_silent_switch_covers_all_behind_it),
		cmocka_unit_test(test_silent_host_covers_itself_only),
		cmocka_unit_test(test_the_sm_itself_hides_everybody),
		cmocka_unit_test(test_questions_behind_are_given_up_in_order),
		cmocka_unit_test(test_question_that_is_over_is_not_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
