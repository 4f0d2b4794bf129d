// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers in a GLib main loop.
 *
 * One source for all: with a GSource for each timer every start and cancel would
 * cost an allocation in GLib, and every turn of the loop a check of each of them.
 * The timers are in a sequence, sorted by time and then by start, and the source
 * is ready when the first one is due. A table finds them by id.
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

struct timer {
	int64_t when;
	uint64_t order;		/* of the starts, from 1 */
	unsigned id;
	transport_timer_fn fn;
	void *data;
};

struct timers {
	GSource source;
	GSequence *sorted;	/* struct timer, owned */
	GHashTable *by_id;	/* id -> GSequenceIter */
	uint64_t started;
	unsigned last_id;
};

static int
timer_compare(const void *a, const void *b, void *data)
{
	const struct timer *ta = a, *tb = b;

	if (ta->when != tb->when)
		return ta->when < tb->when ? -1 : 1;
	return ta->order < tb->order ? -1 : ta->order > tb->order;
}

static const struct timer *
first_timer(const struct timers *t)
{
	if (g_sequence_is_empty(t->sorted))
		return NULL;
	return g_sequence_get(g_sequence_get_begin_iter(t->sorted));
}

int64_t
timers_next(const struct timers *t)
{
	const struct timer *first = first_timer(t);

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

	while (timers_next(t) <= now && first_timer(t)->order <= newest) {
		struct timer timer = *first_timer(t);

		/* Its id is valid until it expires, so it is removed first. */
		g_hash_table_remove(t->by_id, GUINT_TO_POINTER(timer.id));
		g_sequence_remove(g_sequence_get_begin_iter(t->sorted));
		timer.fn(timer.data);
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

	t->sorted = g_sequence_new(g_free);
	t->by_id = g_hash_table_new(NULL, NULL);
	g_source_attach(source, context);
	return t;
}

void
timers_free(struct timers *t)
{
	g_source_destroy(&t->source);
	g_hash_table_destroy(t->by_id);
	g_sequence_free(t->sorted);
	g_source_unref(&t->source);
}

unsigned
timers_start(struct transport *transport, int64_t when, transport_timer_fn fn,
	     void *data)
{
	struct timers *t = transport->timers;
	struct timer *timer = g_new(struct timer, 1);

	do
		t->last_id++;
	while (!t->last_id ||
	       g_hash_table_contains(t->by_id, GUINT_TO_POINTER(t->last_id)));
	/* never before now, or a callback that starts a timer for a past moment
	 * again and again would always be the first */
	*timer = (struct timer) {
		.when = MAX(when, g_get_monotonic_time()),
		.order = ++t->started,
		.id = t->last_id, .fn = fn, .data = data,
	};
	g_hash_table_insert(t->by_id, GUINT_TO_POINTER(timer->id),
			    g_sequence_insert_sorted(t->sorted, timer,
						     timer_compare, NULL));
	return timer->id;
}

void
timers_cancel(struct transport *transport, unsigned id)
{
	struct timers *t = transport->timers;
	void *key = GUINT_TO_POINTER(id);
	GSequenceIter *iter = g_hash_table_lookup(t->by_id, key);

	if (!iter)
		return;
	g_hash_table_remove(t->by_id, key);
	g_sequence_remove(iter);
}
