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
	uint32_t sw;		/* the first bad pair: switch index, LID; */
	uint16_t lid;		/* lid 0: none is bad */
};

void check_reachability(const struct graph *g, const struct lft *lft,
			struct check_result *result);

#endif
