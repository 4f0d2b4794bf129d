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

#include "sm/silent.h"
#include "sm/wire/smp.h"
#include "tests/lib/scripted.h"
#include "topology/generate.h"

#define N	3u

struct bench {
	struct subnet *s;
	struct transport *t;
	struct xact *x;
	struct silent *silent;
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
		const struct subnet_node *n = &b->s->nodes[b->s->switches[i]];
		struct dr_path path;
		unsigned at;

		assert_true(subnet_path(b->s, n->first_port, &path));
		at = path.hops - 1u;
		assert_true(at < N);
		b->sw[at] = n->first_port;
	}
	for (unsigned i = 0; i < N; i++) {
		const struct subnet_node *n = subnet_node_of(b->s, b->sw[i]);

		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t port = b->sw[i] + num;
			uint32_t peer = b->s->ports[port].peer;

			if (peer == SUBNET_NONE || peer == b->s->local_port)
				continue;
			if (!subnet_is_switch(subnet_node_of(b->s, peer)))
				b->host[i] = peer;
			else if (i + 1 < N && subnet_node_of(b->s, peer)
				 ->first_port == b->sw[i + 1])
				b->out[i] = port;
		}
	}
}

static void
bench_open(struct bench *b)
{
	const struct xact_params wire = {
		.timeout_ms = 10, .retries = 0, .max_wire = 16,
	};

	*b = (struct bench){ 0 };
	b->s = generate_fabric("mesh(3,1;2)", NULL, NULL);
	assert_non_null(b->s);
	assert_int_equal(b->s->n_switches, N);
	b->t = scripted_new();
	b->x = xact_new(b->t, &wire);
	b->silent = silent_new(b->x, b->s, on_lost, b);
	b->lost = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	find_ports(b);
}

static void
bench_close(struct bench *b)
{
	g_array_unref(b->lost);
	silent_free(b->silent);
	xact_free(b->x);
	transport_free(b->t);
	subnet_unref(b->s);
}

static void
fail_done(const struct xact_answer *a, void *data, uint64_t tag)
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

	assert_true(subnet_path(b->s, port, &path));
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, 0, 0,
			 &path);
	silent_asked(b->silent, port, xact_start(b->x, &direct, mad,
						 fail_done, b, tag), tag);
}

static void
test_at_first_everybody_talks(void **state)
{
	struct bench b;

	bench_open(&b);
	for (uint32_t port = 0; port < b.s->n_ports; port++)
		assert_false(silent_covers(b.silent, port));
	bench_close(&b);
}

static void
test_silent_switch_covers_all_behind_it(void **state)
{
	struct bench b;

	bench_open(&b);
	silent_add(b.silent, b.out[1]);		/* by any port of it */
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(silent_covers(b.silent, b.sw[i]), i >= 1);
		assert_int_equal(silent_covers(b.silent, b.host[i]), i >= 1);
	}
	assert_false(silent_covers(b.silent, b.s->local_port));
	assert_false(silent_covers(b.silent, b.out[0]));
	bench_close(&b);
}

static void
test_silent_host_covers_itself_only(void **state)
{
	struct bench b;

	bench_open(&b);
	silent_add(b.silent, b.host[1]);
	for (uint32_t port = 0; port < b.s->n_ports; port++)
		assert_int_equal(silent_covers(b.silent, port),
				 port == b.host[1]);
	bench_close(&b);
}

static void
test_the_sm_itself_hides_everybody(void **state)
{
	struct bench b;

	bench_open(&b);
	silent_add(b.silent, b.s->local_port);
	assert_true(silent_covers(b.silent, b.s->local_port));
	assert_true(silent_covers(b.silent, b.host[2]));
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
	silent_add(b.silent, b.sw[1]);
	assert_int_equal(b.lost->len, 3);
	assert_int_equal(g_array_index(b.lost, uint64_t, 0), 70);
	assert_int_equal(g_array_index(b.lost, uint64_t, 1), 60);
	assert_int_equal(g_array_index(b.lost, uint64_t, 2), 10);
	assert_int_equal(xact_stats(b.x)->cancelled, 3);
	/* Given up once: nothing is left to be lost. */
	silent_add(b.silent, b.sw[1]);
	assert_int_equal(b.lost->len, 3);
	xact_cancel_owner(b.x, &b);
	bench_close(&b);
}

static void
test_question_that_is_over_is_not_given_up(void **state)
{
	struct bench b;

	bench_open(&b);
	ask(&b, b.sw[2], 10);
	silent_over(b.silent, 10);
	silent_add(b.silent, b.sw[1]);
	assert_int_equal(b.lost->len, 0);
	xact_cancel_owner(b.x, &b);
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
