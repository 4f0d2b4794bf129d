/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * May these tables be programmed? Knows the graph and the tables, not the
 * engine that made them.
 */
#ifndef MINISM_ROUTING_VERIFY_H
#define MINISM_ROUTING_VERIFY_H

#include "routing/credit_loops.h"

/* From every switch to every LID: counted pairs (switch, LID). */
struct verify_reach {
	uint64_t arrived;
	uint64_t unrouted;	/* no entry, or the way ends in one */
	uint64_t looping;	/* goes round */
	uint64_t astray;	/* leaves by a port that leads elsewhere */
	/* Of `unrouted`: no cables lead from here to there, which is no fault
	 * of the tables. */
	uint64_t cut_off;
	/* Of the rest of `unrouted`, looping and astray: pairs of CA ports,
	 * and pairs of a CA port and a port 0, in either direction. */
	uint64_t lost_hosts, lost_mixed;
	uint32_t sw; /* the first pair that is bad and not cut off: */
	uint16_t lid;		/* switch index, LID; lid 0: there is none */
};

/* whole: by LID up to g->top, those that are known to arrive from everywhere
 * and are not walked (channels_check_ordered()); NULL: none. */
void verify_reachability(const struct graph *g, const struct lft *lft,
			const uint8_t *whole, struct verify_reach *result);

struct verify_result {
	struct verify_reach reach;	/* of the new tables */
	struct channels_result channels;
};

/* before: see channels_check(). ranks: an order in which the tables seem to be
 * made (engine_output.ranks), right or wrong: the verdict is the same, much
 * sooner if it is right, but without a loop the channels and dependencies are
 * not counted. NULL: none. */
void verify_tables(const struct graph *g, const struct lft *lft,
		   const struct lft *before, const uint32_t *ranks,
		   struct verify_result *result);
void verify_result_clear(struct verify_result *result);

/* Nothing goes round, nothing goes astray, no credit loop. Pairs without a way
 * are no danger and do not count: see result->reach. */
bool verify_is_sound(const struct verify_result *result);

#endif
