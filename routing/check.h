/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Do the tables do what tables are for? Knows the graph and the tables, not
 * the engine that made them.
 */
#ifndef MINISM_ROUTING_CHECK_H
#define MINISM_ROUTING_CHECK_H

#include <glib.h>

#include "routing/graph.h"
#include "routing/tables.h"

/* From every switch to every LID: counted pairs (switch, LID). */
struct check_result {
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
 * and are not walked (channels_add_ordered()); NULL: none. */
void check_reachability(const struct graph *g, const struct lft *lft,
			const uint8_t *whole, struct check_result *result);

#endif
