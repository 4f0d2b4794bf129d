/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tree over the switches for each multicast group, free of credit loops
 * together with unicast. See multicast.c.
 */
#ifndef MINISM_ROUTING_MULTICAST_H
#define MINISM_ROUTING_MULTICAST_H

#include "routing/credit_loops.h"
#include "routing/tables.h"

struct multicast_member {
	uint32_t sw;		/* the switch that the port is cabled to (or
				   is) */
	uint8_t port;		/* of that switch; 0: the switch itself */
	bool receives;		/* false: it only sends */
};

struct multicast_group {
	uint16_t mlid;		/* different for all groups */
	uint32_t n_members;
	const struct multicast_member *members;	/* in any order */
};

struct multicast_input {
	const struct graph *g;
	/* multicast_channels() of these ranks. NULL: unicast is not
	 * considered. */
	const struct channels *channels;
	/* By switch, as engine_output.ranks: trees prefer to go up and then
	 * down. NULL: in an order made here. */
	const uint32_t *ranks;
	const struct multicast_group *groups;
	uint32_t n_groups;
	/* The tables that the switches hold, with any content, in the
	 * numbering of g; or NULL. A tree that is in them and still right is
	 * kept. One that would have to grow over a busy channel is laid anew,
	 * if that helps: its members miss packets until it is written. The new
	 * tables have all their blocks. */
	const struct mft *previous;
};

/* A member that is not in its group's tree: no cables lead there, its switch
 * cannot hold the MLID, or any tree would close a loop. */
struct multicast_lost {
	uint16_t mlid;
	uint32_t sw;
	uint8_t port;
	bool for_loop;		/* a loop; other unicast tables might help */
};

struct multicast_output {
	struct mft *mft;
	GArray *lost;		/* struct multicast_lost, one group after
				   another (those with a former tree first),
				   by switch and port */
	uint32_t *load;		/* by edge of g: groups that use the cable */
};

/* An order for trees where the engine has none. g_free. */
uint32_t *multicast_ranks(const struct graph *g);

/* The graph of dependencies in which trees are laid: those of unicast with the
 * tables `lft` and `before`, as for channels_check_ordered(), and all turns of
 * the order unless these close a loop. lft NULL: without unicast. NULL: the tables
 * have a loop. channels_free. */
struct channels *multicast_channels(const struct graph *g,
				    const struct lft *lft,
				    const struct lft *before,
				    const uint32_t *ranks);

/* The caller clears `out`; it may take the mft out of it and set it to NULL. */
void multicast_route(const struct multicast_input *in,
		     struct multicast_output *out);
void multicast_output_clear(struct multicast_output *out);

/* Adds the turns of all packets to groups with these tables to a sorted graph.
 * A port by which one would close a loop leaves its mask. Returns the number of
 * these ports. */
uint32_t multicast_cut(struct channels *c, struct mft *mft);

/* The channel dependencies of unicast and of a tree to all hosts, as far as it
 * closes no loop: whoever adds unicast paths to these leaves room for groups.
 * parent[]: by switch, the edge towards the root of the tree; SNAPSHOT_NONE: it
 * is *root, or not in the tree. NULL: the unicast tables have a loop. */
struct channels *multicast_reserve(const struct graph *g,
				   const struct lft *lft,
				   const uint32_t *ranks, uint32_t *parent,
				   uint32_t *root);

#endif
