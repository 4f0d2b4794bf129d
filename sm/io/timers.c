// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers in a GLib main loop.
 *
 * One source for all: with a GSource for each timer every start and cancel would
 * cost an allocation in GLib, and every turn of the loop a check of each of them.
 * The timers, a dozen, are a list by time and then by start, and the source is
 * ready when the first one is due.
 *
 * prepare_timers() returns when that is, instead of g_source_set_ready_time(),
 * which wakes the loop through its descriptor: three system calls and an empty
 * turn for each start of a nearer timer. All starts come from the loop's own
 * thread, which calls prepare_timers() before it sleeps.
 *
 * A turn runs the timers that were due when it began: a timer that is started by
 * another one's callback waits for the next turn, so sockets are served in
 * between.
 */
#include "sm/io/timers.h"

#include <limits.h>

struct timer {
	int64_t when;
	uint64_t order;		/* of the starts, from 1; its id */
	transport_timer_fn fn;
	void *data;
};

struct timers {
	GSource source;
	GQueue sorted;		/* struct timer, owned */
	uint64_t started;
};

int64_t
timers_next(const struct timers *t)
{
	const struct timer *first = g_queue_peek_head((GQueue *)&t->sorted);

	return first ? first->when : INT64_MAX;
}

/* In ms, as poll() counts: not before the first one is due. */
static gboolean
prepare_timers(GSource *source, gint *timeout)
{
	int64_t when = timers_next((struct timers *)source), left;

	*timeout = -1;
	if (when == INT64_MAX)
		return FALSE;
	left = MAX(when - g_get_monotonic_time(), 0);
	*timeout = (gint)MIN((left + 999) / 1000, G_MAXINT);
	return left == 0;
}

static gboolean
check(GSource *source)
{
	return timers_next((struct timers *)source) <= g_get_monotonic_time();
}

static gboolean
dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	struct timers *t = (struct timers *)source;
	int64_t now = g_get_monotonic_time();
	uint64_t newest = t->started;
	struct timer *timer;

	while ((timer = g_queue_peek_head(&t->sorted)) && timer->when <= now &&
	       timer->order <= newest) {
		/* its id is valid until it expires */
		g_queue_pop_head(&t->sorted);
		timer->fn(timer->data);
		g_free(timer);
	}
	return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
	.prepare = prepare_timers, .check = check, .dispatch = dispatch,
};

struct timers *
timers_new(GMainContext *context)
{
	GSource *source = g_source_new(&source_funcs, sizeof(struct timers));
	struct timers *t = (struct timers *)source;

	g_source_attach(source, context);
	return t;
}

void
timers_free(struct timers *t)
{
	g_source_destroy(&t->source);
	g_queue_clear_full(&t->sorted, g_free);
	g_source_unref(&t->source);
}

unsigned
timers_start(struct transport *transport, int64_t when, transport_timer_fn fn,
	     void *data)
{
	struct timers *t = transport->timers;
	struct timer *timer = g_new(struct timer, 1), *other;
	GList *behind = t->sorted.tail;

	t->started += (unsigned)t->started == UINT_MAX ? 2 : 1;
	/* never before now, or a callback that starts a timer for a past moment
	 * again and again would always be the first */
	*timer = (struct timer) {
		.when = MAX(when, g_get_monotonic_time()),
		.order = t->started, .fn = fn, .data = data,
	};
	while (behind && (other = behind->data)->when > timer->when)
		behind = behind->prev;
	g_queue_insert_after(&t->sorted, behind, timer);
	return (unsigned)timer->order;
}

void
timers_cancel(struct transport *transport, unsigned id)
{
	struct timers *t = transport->timers;

	for (GList *l = t->sorted.head; l; l = l->next) {
		struct timer *timer = l->data;

		if ((unsigned)timer->order != id)
			continue;
		g_queue_delete_link(&t->sorted, l);
		g_free(timer);
		return;
	}
}
