// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The expected fabric. Its text, of 2.6 MB at 11,664 hosts, is written 10 s after
 * a change: a repair does not wait for it, and a link that flaps does not keep
 * the disk busy. A crash before that loses the times since when nodes and links
 * are missing.
 */
#include "sm/fabric_watch.h"

#include "sm/state.h"

#define PAUSE_US	(10 * (int64_t)G_USEC_PER_SEC)

struct fabric_watch *
fabric_watch_new(struct log *log)
{
	struct fabric_watch *w = g_new0(struct fabric_watch, 1);

	w->log = log;
	w->expected = expected_new();
	return w;
}

void
fabric_watch_free(struct fabric_watch *w)
{
	if (!w)
		return;
	expected_free(w->expected);
	g_free(w);
}

void
fabric_watch_note(struct fabric_watch *w, const struct snapshot *s)
{
	if (expected_update(w->expected, s,
			    g_get_real_time() / G_USEC_PER_SEC))
		state_touch(w->state, &expected_part, PAUSE_US);
}

unsigned
fabric_watch_accept(struct fabric_watch *w, const char *word)
{
	unsigned n = expected_accept(w->expected, word);

	/* A command must not be lost in a crash. */
	if (n)
		state_save(w->state);
	return n;
}
