/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How many requests may be out at once: the window of transactions.
 *
 * Arithmetic only: no MADs, no clock of its own, no callbacks. An attempt
 * takes room when it is sent and gets a sequence number; its owner says when
 * it was answered, lost or given up.
 */
#ifndef MINISM_IO_WINDOW_H
#define MINISM_IO_WINDOW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Whose room an attempt takes. */
enum window_room {
	WINDOW_NONE,
	WINDOW_FIRST,		/* first attempts: the window itself */
	WINDOW_RETRY,		/* later ones: a small window beside it */
};

struct window {
	unsigned max, max_retry;	/* the caps */
	unsigned size;			/* now, 1 to max */
	unsigned threshold, grown;
	unsigned first_out, retry_out;	/* room taken */
	uint64_t seq;			/* of the last attempt */
	uint64_t answered_seq;		/* the highest that was answered */
	uint64_t halved_seq;		/* the last when it was halved */
	GArray *ghosts;			/* struct ghost, by their end */
	uint64_t ghost_min;		/* no ghost's seq is lower */
};

void window_init(struct window *w, unsigned max);
void window_clear(struct window *w);

/* How many more may go out. */
unsigned window_left(const struct window *w, enum window_room room);

/* Takes room for an attempt; returns its sequence number, from 1. */
uint64_t window_take(struct window *w, enum window_room room);
void window_release(struct window *w, enum window_room room);

/* Attempt `seq` left its queue: it was answered. True if that may have
 * overtaken others. */
bool window_answered(struct window *w, uint64_t seq);
bool window_overtook(const struct window *w, uint64_t seq);

/* An answer to a first attempt came, called before its room is released. */
void window_grow(struct window *w);
/* First attempt `seq` is lost. */
void window_halve(struct window *w, uint64_t seq);

/* Nobody waits any more for this attempt, which may still be on its way; its
 * room was released, and now the ghost counts. Times are us. */
void window_add_ghost(struct window *w, uint64_t seq, uint32_t tid,
		      int64_t now);
/* Its TID came back; returns its seq, 0 if there is no such ghost. */
uint64_t window_end_ghost(struct window *w, uint32_t tid);
void window_expire_ghosts(struct window *w, int64_t now);
/* When the next ghost expires; -1 if there is none. */
int64_t window_next_expiry(const struct window *w);

#endif
