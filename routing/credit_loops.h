/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Channels and credit loops.
 *
 * A channel is one direction of a cable between switches, named by the edge by
 * which a packet leaves a switch. It depends on another channel if some data
 * packet holds the first while it waits for the second. Channels that depend on
 * each other in a loop can block for ever (W. Dally, C. Seitz, "Deadlock-free
 * message routing in multiprocessor interconnection networks", 1987).
 *
 * Data is what a CA sends to any port, and what a port 0 sends to a CA; port 0
 * to port 0 uses VL15 (IBA 3.5.9). All data is taken to be on one VL. LIDs
 * without an owner count as those of CAs, since packets may still be sent to
 * them.
 */
#ifndef MINISM_ROUTING_CREDIT_LOOPS_H
#define MINISM_ROUTING_CREDIT_LOOPS_H

#include "routing/graph.h"
#include "routing/tables.h"

#define CHANNELS_WORDS	4u	/* graph.n_words at most */

/* The dependencies, and a topological order of the channels. */
struct channels {
	const struct graph *g;	/* borrowed */
	uint64_t *turns;	/* [edge][g->n_words]: mask of ports; all
				   zero: the channel is not used */
	uint32_t *place;	/* by edge; valid after channels_sort() */
	uint32_t *channel;	/* by place */
	uint8_t *mark;		/* by edge: work space, all zero */
	uint64_t work;		/* turns looked at by channels_add() so far */
};

/* Without dependencies, sorted. */
struct channels *channels_new(const struct graph *g);
struct channels *channels_copy(const struct channels *c);
void channels_free(struct channels *c);

/* Adds the dependencies of all data by these tables. Not sorted afterwards. */
void channels_add_tables(struct channels *c, const struct lft *lft);

/* Adds all turns except those from down to up and those back into the same
 * cable; up is towards the lower rank. Not sorted afterwards. */
void channels_add_order(struct channels *c, const uint32_t *ranks);

/* Does the channel lead to the lower rank or, among equals, to the lower
 * switch? */
static inline bool
channels_is_up(const uint32_t *ranks, uint32_t from, uint32_t to)
{
	return ranks[to] < ranks[from] ||
		(ranks[to] == ranks[from] && to < from);
}

/* Sorts topologically. False: there is a loop. */
bool channels_sort(struct channels *c);

/* Replaces *c (which may be NULL) by the sorted dependencies of these tables
 * (both as for channels_check_ordered()), with all turns that the order
 * permits or, if these close a loop, without them. False: the tables have a
 * loop. */
bool channels_load(struct channels **c, const struct graph *g,
		   const struct lft *lft, const struct lft *before,
		   const uint32_t *ranks);

/* Adds the turn from channel `in` to `out`, which begins where `in` ends.
 * False, and nothing is added: it would close a loop. The graph must be
 * sorted, and stays so. */
bool channels_add(struct channels *c, uint32_t in, uint32_t out);
void channels_remove(struct channels *c, uint32_t in, uint32_t out);

/* A turn from one channel into the next. */
struct turn {
	uint32_t in, out;	/* edges */
};

/* channels_add() that appends the turn to `added` (struct turn), unless the
 * graph has it already. */
bool channels_extend(struct channels *c, uint32_t in, uint32_t out,
		     GArray *added);
/* Removes the turns in `added` that follow the first n, there as well. */
void channels_undo(struct channels *c, GArray *added, guint n);

/* Joins the switch at the start of an edge to the tree at its end, if no turn
 * between this cable and those of the tree there closes a loop; else none
 * is added. parent: by switch, the edge up; SNAPSHOT_NONE. added: see
 * channels_extend(). */
bool channels_hang(struct channels *c, uint32_t *parent, uint32_t e,
		   GArray *added);

/* Where the turns from a channel are, in an array like channels.turns. */
static inline uint64_t *
channels_mask(const struct graph *g, uint64_t *turns, uint32_t edge)
{
	return turns + (size_t)edge * g->n_words;
}

/* Of such an array, in bytes. */
static inline size_t
channels_size(const struct graph *g)
{
	return (size_t)g->n_edges * g->n_words * sizeof(uint64_t);
}

/* The bit for a port in a mask: that of port 0 for those behind the mask, which
 * lead to no switch either. */
static inline uint8_t
channels_bit(const struct graph *g, uint8_t port)
{
	return port < g->n_words * 64 ? port : 0;
}

static inline void
channels_turn(struct channels *c, uint32_t edge, uint8_t port)
{
	port = channels_bit(c->g, port);
	channels_mask(c->g, c->turns, edge)[port / 64] |=
		UINT64_C(1) << port % 64;
}

static inline bool
channels_has(const struct channels *c, uint32_t in, uint32_t out)
{
	uint8_t port = c->g->edges[out].port;

	return channels_mask(c->g, c->turns, in)[port / 64] >> port % 64 & 1;
}

/* Lists the channels after an edge, GRAPH_PORTS at most, by port; returns how
 * many. */
uint32_t channels_list(const struct channels *c, uint32_t edge, uint32_t *next);

/* A packet to this LID goes from this channel to the next one of the loop. */
struct channel_turn {
	uint32_t edge;
	uint16_t lid;
};

struct channels_result {
	uint32_t n_channels;	/* in use */
	uint64_t n_dependencies;
	uint32_t n_looped;	/* channels in credit loops */
	uint8_t *looped;	/* by edge: in a loop; NULL: there is none */
	GArray *cycle;		/* struct channel_turn: the shortest loop
				   through the lowest channel in any; NULL:
				   there is none */
};

/*
 * before: NULL, or the tables that the switches hold while `lft` is written:
 * each entry of each switch may then be the old or the new one, or that of
 * another table (lft.other) of each. They may have any content; entries that
 * lead to no switch are skipped. Rows of both are in the numbering of g.
 * ranks: NULL, or of the order in which the tables were probably made (up is
 * towards the lower rank; a wrong one gives the same verdict): the same result,
 * much faster, but channels and dependencies are not counted.
 * Clears whole[lid], up to g->top, for LIDs of the new tables that may not
 * arrive everywhere; whole may be NULL.
 */
void channels_check_ordered(const struct graph *g, const struct lft *lft,
			    const struct lft *before, const uint32_t *ranks,
			    uint8_t *whole, struct channels_result *result);
void channels_clear(struct channels_result *result);

/* "LID 12: 'a' (0x..) port 1 -> 'b' (0x..) port 2 -> ...": the loop, and for
 * each turn the LID that makes it. g_free; NULL if there is no loop. */
char *channels_print(const struct graph *g,
		     const struct channels_result *result);

#endif
