// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work beside the main loop.
 *
 * Purpose. A subnet manager that answers no SMInfo for 2 s is taken for dead.
 * Routes of a large fabric take longer, and so does a write to a disk that
 * stalls; the loop does neither.
 *
 * Method. A thread pool of one thread takes one job after the other, and puts it
 * into `did`, which a source of the loop empties. With a clock that is not that
 * of this machine a timer takes the thread's place, so that a seed repeats a
 * run.
 *
 * Safety. A job owns its values; the loop sees them before and after work(),
 * the thread during it. `jobs` is the loop's. beside_free() does not wait for
 * a computation that was cancelled: a job has references on what its thread needs
 * then, and the last one on `did` frees the jobs in it, if the thread gets there
 * before the end of the process.
 */
#include "sm/io/beside.h"

struct beside_job {
	struct beside_task task;
	void *values, *data;
	gint is_cancelled;	/* atomic */
	GAsyncQueue *did;	/* references of the thread's */
	GSource *source;
};

struct beside {
	struct transport *t;	/* NULL: a thread in any case */
	int64_t takes_us;
	unsigned timer;		/* without a thread; 0: not running */
	GQueue jobs;		/* those that have not ended, in order */

	GThreadPool *thread;	/* NULL: not started */
	GAsyncQueue *did;
	GSource *source;	/* calls settle_jobs() */
};

static bool
has_thread(const struct beside *b)
{
	return !b->t || b->t->in_real_time;
}

static bool
is_cancelled(const struct beside_job *job)
{
	return g_atomic_int_get(&job->is_cancelled);
}

static void
job_work(struct beside_job *job)
{
	if (!is_cancelled(job))
		job->task.work(job->values);
}

static void
job_end(struct beside_job *job)
{
	if (job->task.done && !is_cancelled(job))
		job->task.done(job->values, job->data);
	job->task.free(job->values);
	g_free(job);
}

static void
job_drop(gpointer job)
{
	beside_cancel(job);
	job_end(job);
}

/* -------------------------------------------------------------- the thread */

static void
beside_thread(gpointer data, gpointer unused)
{
	struct beside_job *job = data;
	g_autoptr(GSource) source = job->source;
	GAsyncQueue *did = job->did;

	job_work(job);
	g_async_queue_push(did, job);	/* now the loop's */
	g_source_set_ready_time(source, 0);
	g_async_queue_unref(did);
}

static gboolean
settle_jobs(GSource *source, GSourceFunc fn, gpointer data)
{
	struct beside *b = data;
	struct beside_job *job;

	g_source_set_ready_time(source, -1);
	while ((job = g_async_queue_try_pop(b->did))) {
		g_queue_remove(&b->jobs, job);
		job_end(job);
	}
	return G_SOURCE_CONTINUE;
}

static void
start_thread(struct beside *b)
{
	static GSourceFuncs funcs = { .dispatch = settle_jobs };
	GMainContext *context = g_main_context_ref_thread_default();
	GError *error = NULL;

	b->source = g_source_new(&funcs, sizeof(GSource));
	g_source_set_callback(b->source, NULL, b, NULL);
	g_source_attach(b->source, context);
	g_main_context_unref(context);
	b->did = g_async_queue_new_full(job_drop);
	b->thread = g_thread_pool_new(beside_thread, NULL, 1, TRUE, &error);
	if (error)
		g_error("%s", error->message);
}

static gint
compare_wanted(gconstpointer job, gconstpointer unused)
{
	return is_cancelled(job);
}

/* Until all jobs that were not cancelled have ended. False: not in time. */
static bool
wait_for_thread(struct beside *b, int64_t until)
{
	struct beside_job *job;

	while (g_queue_find_custom(&b->jobs, NULL, compare_wanted)) {
		job = g_async_queue_timeout_pop(b->did, (guint64)
				MAX(until - g_get_monotonic_time(), 0));
		if (!job)
			return false;
		g_queue_remove(&b->jobs, job);
		job_end(job);
	}
	return true;
}

/* ------------------------------------------------------ instead of a thread */

static void
on_timer(void *data)
{
	struct beside *b = data;
	struct beside_job *job = g_queue_pop_head(&b->jobs);

	b->timer = b->jobs.length ?
		transport_timer_in(b->t, b->takes_us, on_timer, b) : 0;
	job_work(job);
	job_end(job);
}

/* --------------------------------------------------------------- interface */

struct beside *
beside_new(struct transport *t, int64_t takes_us)
{
	struct beside *b = g_new(struct beside, 1);

	*b = (struct beside){ .t = t, .takes_us = takes_us };
	return b;
}

bool
beside_free(struct beside *b, int64_t wait_us)
{
	bool ok = true;

	if (!b)
		return true;
	while (!has_thread(b) && b->jobs.length) {
		transport_timer_clear(b->t, &b->timer);
		on_timer(b);
	}
	if (b->thread) {
		ok = wait_for_thread(b, g_get_monotonic_time() + wait_us);
		for (const GList *l = b->jobs.head; l; l = l->next)
			beside_cancel(l->data);
		/* it ends, or is left behind in a job */
		g_thread_pool_free(b->thread, FALSE, !b->jobs.length);
		g_queue_clear(&b->jobs);
		g_source_destroy(b->source);
		g_source_unref(b->source);
		g_async_queue_unref(b->did);
	}
	g_free(b);
	return ok;
}

struct beside_job *
beside_run(struct beside *b, const struct beside_task *task, void *values,
	   void *data)
{
	struct beside_job *job = g_new(struct beside_job, 1);

	*job = (struct beside_job){
		.task = *task, .values = values, .data = data,
	};
	if (!b) {
		job_work(job);
		job_end(job);
		return NULL;
	}
	g_queue_push_tail(&b->jobs, job);
	if (has_thread(b)) {
		if (!b->thread)
			start_thread(b);
		job->did = g_async_queue_ref(b->did);
		job->source = g_source_ref(b->source);
		g_thread_pool_push(b->thread, job, NULL);
	} else if (!b->timer) {
		b->timer = transport_timer_in(b->t, b->takes_us, on_timer, b);
	}
	return job;
}

void
beside_cancel(struct beside_job *job)
{
	g_atomic_int_set(&job->is_cancelled, 1);
}
