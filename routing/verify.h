/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Verifies forwarding tables before they are programmed, whatever engine made
 * them.
 */
#ifndef MINISM_ROUTING_VERIFY_H
#define MINISM_ROUTING_VERIFY_H

#include "routing/credit_loops.h"

/* From every switch to every LID: numbers of pairs (switch, LID). */
struct verify_reach {
	uint64_t arrived;
	uint64_t unrouted;	/* no entry on the path */
	uint64_t looping;	/* forwarding loops */
	uint64_t astray;	/* the path ends at a wrong port */
	/* Of `unrouted`: not connected by cables, which no tables can
	 * change. */
	uint64_t cut_off;
	/* Of the rest of `unrouted`, of looping and astray: pairs of CA
	 * ports, and pairs of a CA port and a port 0, in both directions. */
	uint64_t lost_hosts, lost_mixed;
	uint32_t sw; /* the first such pair: */
	uint16_t lid;		/* LID 0: there is none */
};

/* whole: by LID up to g->top, 1 for those known to arrive from everywhere,
 * which are not walked (channels_check_ordered()); or NULL. */
void verify_reachability(const struct graph *g, const struct lft *lft,
			const uint8_t *whole, struct verify_reach *result);

/*
 * Follows the entries of a LID, which is within the rows of `lft`, from *sw to
 * the switch whose entry leads to no switch. Stores that switch in *sw and
 * returns the hops; VERIFY_HOPS_MAX: the path is longer, or a loop.
 */
#define VERIFY_HOPS_MAX	64u
uint32_t verify_follow(const struct graph *g, const struct lft *lft,
		       uint32_t lid, uint32_t *sw);

struct verify_result {
	struct verify_reach reach;	/* of the new tables */
	struct channels_result channels;
};

/* before: see channels_check_ordered(). ranks: an order in which the tables were
 * probably made (engine_output.ranks), or NULL. A wrong one gives the same
 * verdict, a right one much sooner; then channels and dependencies are not
 * counted if there is no loop. */
void verify_tables(const struct graph *g, const struct lft *lft,
		   const struct lft *before, const uint32_t *ranks,
		   struct verify_result *result);
void verify_result_clear(struct verify_result *result);

/* No forwarding loop, no path to a wrong port, no credit loop. Pairs without
 * a path are not dangerous and do not count; see result->reach. */
bool verify_is_sound(const struct verify_result *result);

#endif
