// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work shared among threads.
 *
 * Purpose. Uses a second core for passes over rows or destinations.
 *
 * Flow. Items are handed out in chunks, some for each thread, by one counter: a
 * thread that is done early takes the next chunk, so that other load on one
 * core does not hold up the rest. The caller works too. Threads live as long as
 * the call: starting one takes some tens of microseconds, the passes take
 * milliseconds.
 */
#include "routing/work.h"

#include <glib.h>

#define CHUNKS_A_THREAD	8u

struct share {
	void (*fn)(void *data, uint32_t from, uint32_t to);
	void *data;
	uint32_t n_items, chunk;
	gint next;		/* chunk, atomic */
};

static gpointer
work_take(gpointer data)
{
	struct share *share = data;
	uint64_t from, to;

	for (;;) {
		from = (uint64_t)(guint)g_atomic_int_add(&share->next, 1) *
			share->chunk;
		if (from >= share->n_items)
			return NULL;
		to = MIN(from + share->chunk, share->n_items);
		share->fn(share->data, (uint32_t)from, (uint32_t)to);
	}
}

void
work_share(unsigned n_threads, uint32_t n_items,
	   void (*fn)(void *data, uint32_t from, uint32_t to), void *data)
{
	GThread *threads[WORK_MAX_THREADS];
	struct share share = { .fn = fn, .data = data, .n_items = n_items };
	unsigned n = MIN(MIN(n_threads, n_items), WORK_MAX_THREADS), i;

	if (n_items == 0)
		return;
	if (n <= 1) {
		fn(data, 0, n_items);
		return;
	}
	share.chunk = MAX(n_items / (n * CHUNKS_A_THREAD), 1);
	for (i = 1; i < n; i++)	/* NULL: the other threads do its share */
		threads[i] = g_thread_try_new("work", work_take, &share, NULL);
	work_take(&share);
	for (i = 1; i < n; i++)
		if (threads[i])
			g_thread_join(threads[i]);
}
