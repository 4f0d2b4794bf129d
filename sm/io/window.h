/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How many SMPs may be out at once: the window of transactions.
 *
 * Arithmetic only: no MADs, no clock of its own, no callbacks. An attempt takes
 * room when it is sent and gets a sequence number; its owner reports when it
 * was answered, lost or given up.
 */
#ifndef MINISM_IO_WINDOW_H
#define MINISM_IO_WINDOW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct window {
	unsigned max;		/* the user's cap */
	unsigned size;		/* now, 1 to max */
	unsigned threshold;	/* beyond it, growth is slow */
	unsigned out, retries;	/* attempts that have room; retries of them */
	unsigned answers, quick; /* of this round; in short round trips */
	unsigned calm;		/* answers since the last loss or slow step */
	uint64_t seq;			/* of the last attempt */
	uint64_t answered_seq;		/* the highest that was answered */
	uint64_t halved_seq;		/* the last when it was halved */
	GArray *ghosts;			/* struct ghost, by their end */
	uint64_t ghost_min;		/* no ghost's seq is lower */
};

void window_init(struct window *w, unsigned max);
void window_clear(struct window *w);

/* How many more may go out. */
unsigned window_left(const struct window *w, bool retry);

/* Takes room for an attempt; returns its sequence number, from 1. */
uint64_t window_take(struct window *w, bool retry);
void window_release(struct window *w, bool retry);

/* Attempt `seq` left its queue: it was answered. True if that may have
 * overtaken others. */
bool window_answered(struct window *w, uint64_t seq);
bool window_overtook(const struct window *w, uint64_t seq);

/* The size. A first attempt was answered after `waited` us, called before its
 * room is released; attempt `seq` was lost, and a later one answered. */
void window_adapt(struct window *w, int64_t waited);
void window_halve(struct window *w, uint64_t seq);

/* This attempt may still be on its way, though its request has given it up;
 * its room was released, and now the ghost counts. Times are us. */
void window_add_ghost(struct window *w, uint64_t seq, uint32_t tid,
		      int64_t now);
/* Its TID came back; returns its seq, 0 if there is no such ghost. */
uint64_t window_end_ghost(struct window *w, uint32_t tid);
void window_expire_ghosts(struct window *w, int64_t now);
/* When the next ghost expires; -1 if there is none. */
int64_t window_next_expiry(const struct window *w);

#endif
