// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work beside the main loop.
 *
 * Purpose. A subnet manager that answers no SMInfo for 2 s is taken for dead.
 * Routes of a large fabric take longer, and so does a write to a disk that
 * stalls; the loop does neither.
 *
 * Method. Jobs wait in `todo`; the thread takes one after the other and puts it
 * into `did`, which a source of the loop empties. With a clock that is not that
 * of this machine a timer takes the thread's place, so that a seed repeats a
 * run.
 *
 * Safety. A job owns its values; the loop sees them before and after work(),
 * the thread during it. `lock` guards the two queues, `running` and `is_closing`;
 * it is never held while work() or done() runs. beside_free() does not wait for
 * a computation that was cancelled: its thread then frees all, if it gets there
 * before the end of the process.
 */
#include "sm/io/beside.h"

struct beside_job {
	struct beside_task task;
	void *values, *data;
	gint is_cancelled;	/* atomic */
};

struct beside {
	struct transport *t;	/* NULL: a thread in any case */
	int64_t takes_us;
	unsigned timer;		/* without a thread; 0: not running */

	GThread *thread;	/* NULL: not started */
	GSource *source;	/* calls settle_job() */
	GMutex lock;
	GCond changed;
	GQueue todo, did;	/* struct beside_job */
	struct beside_job *running;
	bool is_closing;
	bool is_left;		/* the thread frees all this */
};

static bool
has_thread(const struct beside *b)
{
	return !b->t || b->t->timers;
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

static void
beside_destroy(struct beside *b)
{
	g_queue_clear_full(&b->todo, job_drop);
	g_queue_clear_full(&b->did, job_drop);
	if (b->source)
		g_source_unref(b->source);
	g_mutex_clear(&b->lock);
	g_cond_clear(&b->changed);
	g_free(b);
}

/* -------------------------------------------------------------- the thread */

static gpointer
beside_thread(gpointer data)
{
	struct beside *b = data;
	bool is_left;

	g_mutex_lock(&b->lock);
	for (;;) {
		while (!b->todo.length && !b->is_closing)
			g_cond_wait(&b->changed, &b->lock);
		b->running = g_queue_pop_head(&b->todo);
		if (!b->running)
			break;
		g_mutex_unlock(&b->lock);
		job_work(b->running);
		g_mutex_lock(&b->lock);
		g_queue_push_tail(&b->did, b->running);
		b->running = NULL;
		if (!b->is_closing)
			g_source_set_ready_time(b->source, 0);
		g_cond_broadcast(&b->changed);
	}
	is_left = b->is_left;
	g_mutex_unlock(&b->lock);
	if (is_left)
		beside_destroy(b);
	return NULL;
}

static gboolean
settle_job(GSource *source, GSourceFunc fn, gpointer data)
{
	struct beside *b = data;
	struct beside_job *job;

	g_source_set_ready_time(source, -1);
	do {
		g_mutex_lock(&b->lock);
		job = g_queue_pop_head(&b->did);
		g_mutex_unlock(&b->lock);
		if (job)
			job_end(job);
	} while (job);
	return G_SOURCE_CONTINUE;
}

static void
start_thread(struct beside *b)
{
	static GSourceFuncs funcs = { .dispatch = settle_job };
	GMainContext *context = g_main_context_ref_thread_default();

	b->source = g_source_new(&funcs, sizeof(GSource));
	g_source_set_callback(b->source, NULL, b, NULL);
	g_source_attach(b->source, context);
	g_main_context_unref(context);
	b->thread = g_thread_new("beside", beside_thread, b);
}

/* Is there a job that was not cancelled? */
static bool
is_wanted(const struct beside *b)
{
	bool wanted = b->did.length ||
		(b->running && !is_cancelled(b->running));

	for (const GList *l = b->todo.head; l; l = l->next)
		wanted |= !is_cancelled(l->data);
	return wanted;
}

/* Until all jobs that were not cancelled have ended. False: not in time. */
static bool
wait_for_thread(struct beside *b, int64_t until)
{
	bool wanted, in_time = true;

	do {
		settle_job(b->source, NULL, b);
		g_mutex_lock(&b->lock);
		wanted = is_wanted(b);
		if (wanted && !b->did.length)
			in_time = g_cond_wait_until(&b->changed, &b->lock,
						    until);
		g_mutex_unlock(&b->lock);
	} while (wanted && in_time);
	return !wanted;
}

/* Ends the thread, or leaves it behind in a job. True: it has ended. */
static bool
close_thread(struct beside *b)
{
	GThread *thread = b->thread;
	bool is_busy;

	g_source_destroy(b->source);
	g_mutex_lock(&b->lock);
	b->is_closing = true;
	is_busy = b->is_left = b->running != NULL;
	g_cond_broadcast(&b->changed);
	g_mutex_unlock(&b->lock);
	if (is_busy)
		g_thread_unref(thread);
	else
		g_thread_join(thread);
	return !is_busy;
}

/* ------------------------------------------------------ instead of a thread */

static void
on_timer(void *data)
{
	struct beside *b = data;
	struct beside_job *job = g_queue_pop_head(&b->todo);

	b->timer = b->todo.length ?
		transport_timer_in(b->t, b->takes_us, on_timer, b) : 0;
	job_work(job);
	job_end(job);
}

/* --------------------------------------------------------------- interface */

struct beside *
beside_new(struct transport *t, int64_t takes_us)
{
	struct beside *b = g_new0(struct beside, 1);

	b->t = t;
	b->takes_us = takes_us;
	g_mutex_init(&b->lock);
	g_cond_init(&b->changed);
	return b;
}

bool
beside_free(struct beside *b, int64_t wait_us)
{
	bool ok = true;

	if (!b)
		return true;
	while (!has_thread(b) && b->todo.length) {
		transport_timer_clear(b->t, &b->timer);
		on_timer(b);
	}
	transport_timer_clear(b->t, &b->timer);
	if (b->thread) {
		ok = wait_for_thread(b, g_get_monotonic_time() + wait_us);
		if (!close_thread(b))
			return ok;
	}
	beside_destroy(b);
	return ok;
}

struct beside_job *
beside_run(struct beside *b, const struct beside_task *task, void *values,
	   void *data)
{
	struct beside_job *job = g_new0(struct beside_job, 1);

	job->task = *task;
	job->values = values;
	job->data = data;
	if (!b) {
		job_work(job);
		job_end(job);
		return NULL;
	}
	if (has_thread(b) && !b->thread)
		start_thread(b);
	g_mutex_lock(&b->lock);
	g_queue_push_tail(&b->todo, job);
	g_cond_broadcast(&b->changed);
	g_mutex_unlock(&b->lock);
	if (!b->thread && !b->timer)
		b->timer = transport_timer_in(b->t, b->takes_us, on_timer, b);
	return job;
}

void
beside_cancel(struct beside_job *job)
{
	g_atomic_int_set(&job->is_cancelled, 1);
}
