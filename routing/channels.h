/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Channels and what they wait for.
 *
 * A channel is one direction of a cable between switches, named by the edge
 * through which a packet leaves a switch. It depends on another one if some
 * packet of data holds the first while it asks for the second. A set of
 * channels that wait for each other in a circle can stop for good (W. Dally,
 * C. Seitz, "Deadlock-free message routing in multiprocessor interconnection
 * networks", 1987).
 *
 * Data is what a CA sends to anybody and what a port 0 sends to a CA; port 0
 * to port 0 rides VL15 (IBA 3.5.9). All data is taken to ride one VL. LIDs
 * that nobody owns count as a CA's: somebody may still send there.
 */
#ifndef MINISM_ROUTING_CHANNELS_H
#define MINISM_ROUTING_CHANNELS_H

#include "routing/graph.h"
#include "routing/tables.h"

/* From this channel a packet to this LID goes on to the next of the circle. */
struct channel_turn {
	uint32_t edge;
	uint16_t lid;
};

struct channels_result {
	uint32_t n_channels;	/* that are used */
	uint64_t n_dependencies;
	uint32_t n_looped;	/* channels in credit loops, */
	uint8_t *looped;	/* by edge: which; NULL: none */
	GArray *cycle;		/* struct channel_turn: a shortest one of the
				   lowest channel in a loop; NULL: no loop */
};

/*
 * before: NULL, or what the switches hold while `lft` is written: each entry
 * may then be the old or the new one, at each switch for itself. It may say
 * anything; ports that lead nowhere are passed over. Rows in the numbering of
 * g in both.
 */
void channels_check(const struct graph *g, const struct lft *lft,
		    const struct lft *before, struct channels_result *result);
void channels_clear(struct channels_result *result);

/* "LID 12: 'a' (0x..) port 1 -> 'b' (0x..) port 2 -> ...", each with the LID
 * that turns there; back to the first. g_free; NULL without a cycle. */
char *channels_print(const struct graph *g,
		     const struct channels_result *result);

#endif
