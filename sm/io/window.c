// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The window of transactions.
 *
 * VL15 has no flow control: an SMP that finds the buffer of a management agent
 * full is lost, and all SMPs by directed route pass the agent of the first
 * switch, which takes 20 to 100 us for one and holds few. So the window starts
 * small and grows by an eighth a round (as many answers as it holds) as long as
 * the median round trip is below ROUND_TRIP_US; beyond, it shrinks by a
 * sixteenth, to WINDOW_START at the least. By Little's law its size is then the
 * rate of answers times ROUND_TRIP_US: it grows only with that rate, to a dozen
 * on such a switch, to a hundred on a simulator. It does not change while less
 * than half of it is used: answers then say nothing about its size.
 *
 * A retry that is answered says that its first attempt was lost on the way, and
 * not that the peer is dead: the buffer was full. The window is halved then, at
 * most once a window's worth of sends, and remembers the new size as a
 * threshold, beyond which it grows by one in CALM_ANSWERS answers (as TCP's
 * congestion avoidance, Jacobson 1988, but far slower, since the next loss is
 * one step away).
 *
 * A lost attempt keeps its room until its time-out. So a window that is too
 * large loses only its excess, and does so once a time-out; freeing the room
 * earlier would fill the buffer again and again. A lost retry is the sign of a
 * dead peer: it gives its room back when answers to many later SMPs are here
 * (`overtook`; answers pass each other on the way back, hence the margin), and
 * all retries together have half of the window at most.
 *
 * Attempts that may still be in a queue have a bound of their own: a simulator
 * stops for good when its socket overflows. So an attempt that is given up
 * without a sign that it left that queue (its answer, its return, overtaken)
 * leaves a `struct ghost`, which counts against that bound for GHOST_LIFE.
 */
#include "sm/io/window.h"

#define WINDOW_START	4u	/* what OpenSM has on the wire */
#define ROUND_TRIP_US	500
#define CALM_ANSWERS	1024u
#define LOSS_MIN	2u	/* losses do not bring it below */
#define MARGIN_MIN	64u
#define QUEUE_MIN	144u	/* of the 167 places of ibsim's socket */
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

unsigned
window_left(const struct window *w, bool retry)
{
	unsigned queue = MAX(w->max, QUEUE_MIN);
	unsigned queued = w->out + w->ghosts->len;
	unsigned used = retry ? MAX(w->out, w->retries + w->size / 2) : w->out;

	if (used >= w->size || queued >= queue)
		return 0;
	return MIN(w->size - used, queue - queued);
}

uint64_t
window_take(struct window *w, bool retry)
{
	w->out++;
	w->retries += retry;
	return ++w->seq;
}

void
window_release(struct window *w, bool retry)
{
	w->out--;
	w->retries -= retry;
}

/* ------------------------------------------------------------------ size */

void
window_adapt(struct window *w, int64_t waited)
{
	if (2 * w->out < w->size)
		return;
	w->quick += waited < ROUND_TRIP_US;
	if (++w->answers < w->size)
		return;
	w->calm += w->answers;
	if (2 * w->quick > w->answers) {
		if (w->size == w->threshold && w->size < w->max &&
		    w->calm >= CALM_ANSWERS) {
			w->threshold++;
			w->calm = 0;
		}
		w->size = MIN(w->size + MAX(w->size / 8, 1u), w->threshold);
	} else if (w->size > WINDOW_START) {
		w->size -= MAX(w->size / 16, 1u);
	}
	w->answers = 0;
	w->quick = 0;
}

void
window_halve(struct window *w, uint64_t seq)
{
	if (seq <= w->halved_seq)
		return;
	w->halved_seq = w->seq;
	w->size = MAX(w->size / 2, MIN(LOSS_MIN, w->max));
	w->threshold = MAX(w->size, MIN(WINDOW_START, w->max));
	w->calm = 0;
	w->answers = 0;
	w->quick = 0;
}

/* -------------------------------------------------- overtaken, and ghosts */

bool
window_overtook(const struct window *w, uint64_t seq)
{
	return seq + MAX(MARGIN_MIN, w->size) < w->answered_seq;
}

bool
window_answered(struct window *w, uint64_t seq)
{
	uint64_t min = UINT64_MAX;
	guint i = 0;

	if (seq <= w->answered_seq)
		return false;
	w->answered_seq = seq;
	if (w->ghosts->len == 0 || !window_overtook(w, w->ghost_min))
		return true;
	while (i < w->ghosts->len) {
		uint64_t ghost = g_array_index(w->ghosts, struct ghost, i).seq;

		if (window_overtook(w, ghost)) {
			g_array_remove_index(w->ghosts, i);
			continue;
		}
		min = MIN(min, ghost);
		i++;
	}
	w->ghost_min = min;
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
