// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of transactions.
 *
 * Its size follows TCP: slow start, then one more a window (Jacobson,
 * "Congestion Avoidance and Control", SIGCOMM 1988), half when a first
 * attempt is lost. It is halved at most once a window's worth of sends, since
 * what was sent before a halving says nothing about what came of it, and it
 * does not grow while it is mostly empty: answers then prove nothing.
 *
 * What may still sit in a queue on the way has a bound of its own, the caps
 * of the two windows together: a simulator stops for good when its socket
 * overflows. So an attempt counts until something says that it has left that
 * queue: its answer, its return, or the answer to one that was sent a good
 * while after it (`overtook`; answers pass each other a little on the way
 * back, hence the margin). An attempt that is given up without such a sign
 * leaves a `struct ghost`, which counts in its place and ends for the same
 * reasons; without any sign at all after GHOST_LIFE, which is long for a
 * stalled peer and short for an operator with a dead one.
 */
#include "sm/io/window.h"

#define WINDOW_START	8u
#define MARGIN_MIN	64u
#define GHOST_LIFE	(5 * G_USEC_PER_SEC)

struct ghost {
	uint64_t seq;
	int64_t end;
	uint32_t tid;
};

void
window_init(struct window *w, unsigned max)
{
	g_assert(max >= 1);
	*w = (struct window) {
		.max = max,
		.max_retry = MAX(1u, max / 8),
		.size = MIN(WINDOW_START, max),
		.threshold = max,
		.ghosts = g_array_new(FALSE, FALSE, sizeof(struct ghost)),
		.ghost_min = UINT64_MAX,
	};
}

void
window_clear(struct window *w)
{
	g_array_free(w->ghosts, TRUE);
	w->ghosts = NULL;
}

/* ------------------------------------------------------------------ room */

static unsigned
difference(unsigned limit, unsigned used)
{
	return used < limit ? limit - used : 0;
}

unsigned
window_left(const struct window *w, enum window_room room)
{
	unsigned out = w->first_out + w->retry_out + w->ghosts->len;
	unsigned left = 0;

	switch (room) {
	case WINDOW_NONE:
		break;
	case WINDOW_FIRST:
		left = difference(w->size, w->first_out);
		break;
	case WINDOW_RETRY:
		left = difference(w->max_retry, w->retry_out);
		break;
	}
	return MIN(left, difference(w->max + w->max_retry, out));
}

uint64_t
window_take(struct window *w, enum window_room room)
{
	switch (room) {
	case WINDOW_NONE:
		break;
	case WINDOW_FIRST:
		w->first_out++;
		break;
	case WINDOW_RETRY:
		w->retry_out++;
		break;
	}
	return ++w->seq;
}

void
window_release(struct window *w, enum window_room room)
{
	switch (room) {
	case WINDOW_NONE:
		break;
	case WINDOW_FIRST:
		w->first_out--;
		break;
	case WINDOW_RETRY:
		w->retry_out--;
		break;
	}
}

/* ------------------------------------------------------------------ size */

void
window_grow(struct window *w)
{
	if (w->size >= w->max || 2 * w->first_out < w->size)
		return;
	w->grown++;
	if (w->size >= w->threshold && w->grown < w->size)
		return;
	w->grown = 0;
	w->size++;
}

void
window_halve(struct window *w, uint64_t seq)
{
	if (seq <= w->halved_seq)
		return;
	w->halved_seq = w->seq;
	w->size = MAX(w->size / 2, 1u);
	w->threshold = w->size;
	w->grown = 0;
}

/* -------------------------------------------------- overtaken, and ghosts */

bool
window_overtook(const struct window *w, uint64_t seq)
{
	return seq + MAX(MARGIN_MIN, w->size) < w->answered_seq;
}

static void
drop_overtaken_ghosts(struct window *w)
{
	uint64_t min = UINT64_MAX;
	guint i = 0;

	while (i < w->ghosts->len) {
		uint64_t seq = g_array_index(w->ghosts, struct ghost, i).seq;

		if (window_overtook(w, seq)) {
			g_array_remove_index(w->ghosts, i);
			continue;
		}
		min = MIN(min, seq);
		i++;
	}
	w->ghost_min = min;
}

bool
window_answered(struct window *w, uint64_t seq)
{
	if (seq <= w->answered_seq)
		return false;
	w->answered_seq = seq;
	if (w->ghosts->len > 0 && window_overtook(w, w->ghost_min))
		drop_overtaken_ghosts(w);
	return true;
}

void
window_add_ghost(struct window *w, uint64_t seq, uint32_t tid, int64_t now)
{
	struct ghost g = { .seq = seq, .end = now + GHOST_LIFE, .tid = tid };

	g_array_append_val(w->ghosts, g);
	w->ghost_min = MIN(w->ghost_min, seq);
}

uint64_t
window_end_ghost(struct window *w, uint32_t tid)
{
	for (guint i = 0; i < w->ghosts->len; i++) {
		struct ghost g = g_array_index(w->ghosts, struct ghost, i);

		if (g.tid == tid) {
			g_array_remove_index(w->ghosts, i);
			return g.seq;
		}
	}
	return 0;
}

void
window_expire_ghosts(struct window *w, int64_t now)
{
	while (w->ghosts->len > 0 && window_next_expiry(w) <= now)
		g_array_remove_index(w->ghosts, 0);
}

int64_t
window_next_expiry(const struct window *w)
{
	if (w->ghosts->len == 0)
		return -1;
	return g_array_index(w->ghosts, struct ghost, 0).end;
}
