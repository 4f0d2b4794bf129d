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
#ifndef MINISM_ROUTING_CREDIT_LOOPS_H
#define MINISM_ROUTING_CREDIT_LOOPS_H

#include "routing/graph.h"
#include "routing/tables.h"

#define CHANNELS_WORDS	4u

/* The dependencies, and a topological order of the channels. */
struct channels {
	const struct graph *g;	/* borrowed */
	uint64_t *turns;	/* [edge][CHANNELS_WORDS]: mask of ports; all
				   zero: no packet comes through it */
	uint32_t *place;	/* by edge; right once sorted */
	uint32_t *channel;	/* by place */
	uint8_t *mark;		/* by edge: work space, all zero */
	uint64_t work;		/* of channels_add() so far, in turns */
};

/* Without a dependency, sorted. */
struct channels *channels_new(const struct graph *g);
struct channels *channels_copy(const struct channels *c);
void channels_free(struct channels *c);

/* All that data makes; `before` as for channels_check(). ranks: all that this
 * order permits, too, which is sooner done if the tables seem to be made in it;
 * NULL: none. Not sorted then. */
void channels_add_tables(struct channels *c, const struct lft *lft,
			 const struct lft *before, const uint32_t *ranks);

/* All turns but those from down to up, and back into the same cable; up is
 * towards the lower rank. Not sorted then. */
void channels_add_order(struct channels *c, const uint32_t *ranks);

/* Towards the lower rank; among equals, towards the lower switch. */
static inline bool
channels_is_up(const uint32_t *ranks, uint32_t from, uint32_t to)
{
	return ranks[to] < ranks[from] ||
		(ranks[to] == ranks[from] && to < from);
}

/* False: there is a loop. */
bool channels_sort(struct channels *c);

/* A new *c (the old one is freed) of these tables, sorted: with all that the order
 * permits, or, if that closes a loop, without. False: the tables have a loop. */
bool channels_load(struct channels **c, const struct graph *g,
		   const struct lft *lft, const struct lft *before,
		   const uint32_t *ranks);

/* Adds a turn from channel `in` to `out`, which begins where `in` ends; false:
 * that would close a loop. Of a graph that is sorted, and stays so. */
bool channels_add(struct channels *c, uint32_t in, uint32_t out);
void channels_remove(struct channels *c, uint32_t in, uint32_t out);

static inline void
channels_turn(struct channels *c, uint32_t edge, uint8_t port)
{
	c->turns[(size_t)edge * CHANNELS_WORDS + port / 64] |=
		UINT64_C(1) << port % 64;
}

static inline bool
channels_has(const struct channels *c, uint32_t in, uint32_t out)
{
	uint8_t port = c->g->edges[out].port;

	return c->turns[(size_t)in * CHANNELS_WORDS + port / 64] >>
		port % 64 & 1;
}

/* The channel after `edge` by the first turn from `*port` on; `*port` is then
 * behind it. SNAPSHOT_NONE: there are no more. */
uint32_t channels_next(const struct channels *c, uint32_t edge,
		       uint32_t *port);

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

/*
 * The same, much sooner, of tables that seem to be made in an order (ranks, up
 * is towards the lower; right or wrong: the verdict is the same), but channels
 * and dependencies are not counted. ranks NULL: they are. Clears in whole[], up
 * to g->top, the LIDs of the new tables that do not arrive everywhere, or may
 * not; NULL: that is not asked.
 */
void channels_check_ordered(const struct graph *g, const struct lft *lft,
			    const struct lft *before, const uint32_t *ranks,
			    uint8_t *whole, struct channels_result *result);
void channels_clear(struct channels_result *result);

/* "LID 12: 'a' (0x..) port 1 -> 'b' (0x..) port 2 -> ...", each with the LID
 * that turns there; back to the first. g_free; NULL without a cycle. */
char *channels_print(const struct graph *g,
		     const struct channels_result *result);

#endif
