/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the ftree engine knows from its last run.
 */
#ifndef MINISM_ROUTING_FTREE_MEMO_H
#define MINISM_ROUTING_FTREE_MEMO_H

#include "routing/ftree_transfer.h"

/* A tree with all that was made of it, and two arenas. `spare` holds the tables
 * of the run before the last one, and differs from `last` in the blocks of
 * `stale`; NULL: in nobody knows which. */
struct engine_memo {
	bool ready;		/* there is a tree, and `last` is of it */
	struct graph *g;
	struct tree *t;
	struct hosts *h;
	struct fill *f;
	uint64_t *reach;	/* struct detour's, when all was done */
	uint8_t *lifts;		/* by switch: transfer_has_old() */
	GArray *sign;		/* transfer_sign() */
	struct transfer_proof proof;
	struct lft *last, *spare;
	GArray *stale;		/* of uint32_t */
};

struct engine_memo *memo_new(void);
void memo_free(struct engine_memo *m);

/* Forgets all but the arenas. */
void memo_forget(struct engine_memo *m);

/* Takes over a tree and what was made of it; `d` loses its reach. */
void memo_keep_tree(struct engine_memo *m, struct tree *t, struct hosts *h,
		    struct fill *f, struct detour *d);
void memo_keep_transfers(struct engine_memo *m, const struct transfer *x);

/* Are the members, and their ways to each other, those of the last run? */
bool memo_knows_transfers(const struct engine_memo *m,
			  const struct transfer *x);

/* An arena to fill, which holds anything; the same as `last` does. */
struct lft *memo_take_arena(struct engine_memo *m, const struct graph *g);
struct lft *memo_copy_last(struct engine_memo *m);

/* Takes over a reference to the tables of this run. `changed`, another one, is
 * what differs from `last`, NULL: to be found out. Says it in `out`. */
void memo_keep_tables(struct engine_memo *m, struct lft *lft, GArray *changed,
		      struct engine_output *out);

#endif
