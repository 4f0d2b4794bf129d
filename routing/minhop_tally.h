/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who sends how much to whom, and what of it each cable has by now: what
 * min-hop's ways to decide have in common.
 */
#ifndef MINISM_ROUTING_MINHOP_TALLY_H
#define MINISM_ROUTING_MINHOP_TALLY_H

#include "routing/aim.h"
#include "routing/fold_rows.h"

#define TALLY_NOWHERE	UINT32_MAX

/* Loads are in flows: what one sender has for one LID. */
struct tally {
	const struct graph *g;
	const struct fold *fold;
	struct aim *aim;	/* at the destination at hand */
	struct lft *out;	/* rows as fold_store() leaves them */
	uint64_t *load;		/* by cable, see struct group */
	uint64_t *sum;		/* hop -> load over all members */
	uint32_t *weight;	/* slot -> flows that start there */
	bool all_send;		/* every switch does, not only hosts */
	uint64_t total;		/* flows so far: no cable has more */
	uint64_t n_flows;	/* that a LID adds, the sum of the weights */
	uint32_t here;		/* slot of the destination, or TALLY_NOWHERE */
	uint32_t here_weight;	/* what starts there otherwise */
	uint32_t n_columns;	/* LIDs side by side */
	uint8_t *choices;	/* [group][column] -> position: goes to `out`
				   in one go, so that a row is touched once
				   for many LIDs */
};

struct tally *tally_new(const struct graph *g, const struct fold *fold,
			struct lft *out);
void tally_free(struct tally *t);

/* What is done for some LIDs of a pass, n_columns at most. They are
 * sorted by slot; `here` is TALLY_NOWHERE before and has to be afterwards. */
typedef void (*tally_fn)(void *data, const struct fold_column *columns,
			 uint32_t n);

/* Goes through all LIDs: base LIDs of CAs and routers, to which every host
 * sends, the other LIDs of their ranges, those of ports 0, to which every
 * switch sends. wanted: NULL, or by LID: only these. */
void tally_pass_all(struct tally *t, const uint8_t *wanted, tally_fn fn,
		    void *data);

/* The destination is in this slot from now on: nothing starts there. */
void tally_move(struct tally *t, uint32_t slot);
void tally_leave(struct tally *t);

/* A load more than any way can have. */
static inline uint64_t
tally_extra(const struct tally *t)
{
	return (t->total + t->n_flows) * t->aim->depth + 1;
}

/* How the load is spread over the cables. */
struct burden {
	uint64_t max, sum;
	uint32_t n_cables;
};

struct burden tally_weigh_burden(const struct tally *t);

#endif
