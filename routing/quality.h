/*
 * How good are the tables? Load of all-to-all traffic on the links.
 */
#ifndef MINISM_ROUTING_QUALITY_H
#define MINISM_ROUTING_QUALITY_H

#include "routing/graph.h"
#include "routing/tables.h"

/*
 * Every host port sends one flow to the base LID of every other: the load of
 * a channel (one direction of a switch-to-switch cable) is the number of
 * flows over it; its maximum is the edge forwarding index (Heydemann et al.
 * 1989). Channels without a flow count in the mean.
 */
struct quality_load {
	uint64_t max;
	double mean;
	uint32_t channels;
	uint64_t lost;		/* flows that do not arrive */
};

void quality_all_to_all(const struct graph *g, const struct lft *lft,
			struct quality_load *load);

#endif
