// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work beside the main loop: order, cancelling, and an end that does not wait
 * for a job that was cancelled. Jobs wait for the test, never for a time.
 */
#include "sm/io/beside.h"
#include "tests/lib/unit.h"

#define PATIENCE	(60 * G_TIME_SPAN_SECOND)	/* only if it fails */

struct bench {
	struct transport t;
	struct beside *b;
	GThread *loop;
	GMutex lock;
	GCond changed;
	bool is_shut;		/* jobs do not end */
	unsigned begun, freed;
	char done[8];		/* a letter for each */
	unsigned n_done;
};

struct letter {
	struct bench *s;
	char name;
	bool again;		/* done() starts another one */
};

static void
bench_open(struct bench *s)
{
	*s = (struct bench){
		.t = { .in_real_time = true },
		.loop = g_thread_self(),
	};
	g_mutex_init(&s->lock);
	g_cond_init(&s->changed);
	s->b = beside_new(&s->t, 0);
}

static void
bench_clear(struct bench *s)
{
	g_mutex_clear(&s->lock);
	g_cond_clear(&s->changed);
}

static void
letter_work(void *values)
{
	struct letter *l = values;

	assert_true(g_thread_self() != l->s->loop);
	g_mutex_lock(&l->s->lock);
	l->s->begun++;
	g_cond_broadcast(&l->s->changed);
	while (l->s->is_shut)
		g_cond_wait(&l->s->changed, &l->s->lock);
	g_mutex_unlock(&l->s->lock);
}

static void
letter_free(void *values)
{
	struct letter *l = values;
	struct bench *s = l->s;

	g_free(l);
	g_mutex_lock(&s->lock);
	s->freed++;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
}

static struct beside_job *bench_run(struct bench *s, char name, bool again);

static void
letter_done(void *values, void *data)
{
	struct letter *l = values;

	assert_true(g_thread_self() == l->s->loop);
	assert_ptr_equal(data, l->s);
	l->s->done[l->s->n_done++] = l->name;
	if (l->again)
		bench_run(l->s, (char)(l->name + 1), false);
}

static struct beside_job *
bench_run(struct bench *s, char name, bool again)
{
	static const struct beside_task task = {
		letter_work, letter_done, letter_free,
	};
	struct letter *l = g_new(struct letter, 1);

	*l = (struct letter){ s, name, again };
	return beside_run(s->b, &task, l, s);
}

/* Until this counter is n. */
static void
bench_await(struct bench *s, const unsigned *counter, unsigned n)
{
	int64_t end = g_get_monotonic_time() + PATIENCE;

	g_mutex_lock(&s->lock);
	while (*counter != n)
		if (!g_cond_wait_until(&s->changed, &s->lock, end))
			fail_msg("%u of %u", *counter, n);
	g_mutex_unlock(&s->lock);
}

static void
bench_shut(struct bench *s, bool is_shut)
{
	g_mutex_lock(&s->lock);
	s->is_shut = is_shut;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
}

TEST(test_jobs_are_done_on_the_loop_in_order)
{
	int64_t end = g_get_monotonic_time() + PATIENCE;
	AUTO_VALUE(bench_clear) struct bench s;
	struct beside_job *b;

	bench_open(&s);
	bench_shut(&s, true);
	bench_run(&s, 'a', false);
	b = bench_run(&s, 'b', false);
	bench_run(&s, 'c', false);
	bench_await(&s, &s.begun, 1);
	/* the loop is free while the job runs */
	assert_false(g_main_context_iteration(NULL, FALSE));
	beside_cancel(b);
	bench_shut(&s, false);
	while (s.n_done < 2 && g_get_monotonic_time() < end)
		g_main_context_iteration(NULL, FALSE);
	assert_string_equal(s.done, "ac");
	assert_int_equal(s.begun, 2);
	assert_int_equal(s.freed, 3);
	assert_true(beside_free(s.b, 0));
}

/* The loop has ended: what was started is still done, and what it starts. */
TEST(test_end_finishes_what_was_not_cancelled)
{
	AUTO_VALUE(bench_clear) struct bench s;

	bench_open(&s);
	bench_run(&s, 'a', true);
	bench_run(&s, 'c', false);
	assert_true(beside_free(s.b, PATIENCE));
	assert_string_equal(s.done, "acb");
	assert_int_equal(s.freed, 3);
}

/* A computation that was cancelled, and a disk that does not answer in time:
 * the thread is left behind, and frees its values when it can. */
TEST(test_end_does_not_wait_for_ever)
{
	for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
		AUTO_VALUE(bench_clear) struct bench s;
		struct beside_job *a;

		bench_open(&s);
		bench_shut(&s, true);
		a = bench_run(&s, 'a', false);
		bench_run(&s, 'b', false);
		bench_await(&s, &s.begun, 1);
		if (cancelled)
			beside_cancel(a);
		assert_false(beside_free(s.b, 0));
		assert_int_equal(s.freed, 0);
		bench_shut(&s, false);
		bench_await(&s, &s.freed, 2);
		assert_int_equal(s.n_done, 0);
	}
}

TEST(test_end_leaves_a_cancelled_job_at_once)
{
	AUTO_VALUE(bench_clear) struct bench s;
	struct beside_job *a;

	bench_open(&s);
	bench_shut(&s, true);
	a = bench_run(&s, 'a', false);
	bench_await(&s, &s.begun, 1);
	beside_cancel(a);
	assert_true(beside_free(s.b, PATIENCE));
	bench_shut(&s, false);
	bench_await(&s, &s.freed, 1);
}
