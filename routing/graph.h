/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as routing sees it: switches, the cables between them, and the
 * LIDs behind each. Built once a sweep from a snapshot; engines read it.
 *
 * Only links that are up (snapshot_link_up) and not avoided count; a cable from a
 * switch to itself is left out. Edges of a switch are sorted by (peer switch, port), so
 * parallel links are neighbours in the array. CAs and routers do not forward.
 */
#ifndef MINISM_ROUTING_GRAPH_H
#define MINISM_ROUTING_GRAPH_H

#include "topology/lid.h"
#include "topology/snapshot.h"

struct graph_edge {
	uint32_t peer;		/* switch index */
	uint32_t back; /* index of the edge of the same cable at peer */
	uint8_t port;		/* of the switch that owns the edge */
	uint16_t capacity;	/* active width times speed, in 2.5 Gb/s */
};

/* One owner of LIDs: a CA port behind a switch, or a switch's port 0. */
struct graph_target {
	uint16_t lid;		/* base */
	uint16_t n_lids;	/* 2^LMC */
	uint32_t sw;		/* the switch that it hangs on (or is) */
	uint8_t port;		/* of that switch; 0: the switch itself */
};

#define GRAPH_PORTS	256u

struct graph {
	const struct snapshot *subnet;	/* borrowed, for names */
	const struct graph *whole;	/* this is a sample of it; NULL */
	uint32_t n_switches, n_edges, n_targets;
	uint16_t top;
	uint32_t *first_edge;	/* n_switches + 1 */
	struct graph_edge *edges;
	uint32_t *first_target;	/* n_switches + 1: targets are sorted by */
	struct graph_target *targets;	/* (switch, base LID) */
	uint32_t *n_hosts;	/* by switch: CA and router ports behind it */
	uint32_t n_all_hosts;
	uint16_t widest;	/* capacity of the widest cable, at least 1 */
	uint32_t *edge_of;	/* [switch][port], see graph_edge_at() */
	uint32_t *target_of;	/* by LID, to top; SNAPSHOT_NONE: no owner */
	uint32_t *island;	/* by switch: the lowest one of those that it is
				   cabled together with */
};

/* `s` stays as it is for as long as names are asked for. */
struct graph *graph_new(const struct snapshot *s, const struct lid_map *lids);
/* With the links, too, that are to be avoided: tables in force may use them. */
struct graph *graph_new_whole(const struct snapshot *s,
			      const struct lid_map *lids);
void graph_free(struct graph *g);

/* The same fabric with the LIDs of a few of its switches: what goes wrong for
 * these does so for all, which takes much longer to see. NULL if there are not
 * many switches. Of no use without `g`. */
struct graph *graph_sample(const struct graph *g);

#define for_each_edge(g, sw, e) \
	for ((e) = (g)->first_edge[sw]; (e) < (g)->first_edge[(sw) + 1]; (e)++)

/* SNAPSHOT_NONE: the port leads to no switch. */
static inline uint32_t
graph_edge_at(const struct graph *g, uint32_t sw, uint8_t port)
{
	return g->edge_of[(size_t)sw * GRAPH_PORTS + port];
}

/* A cable leads from here to a switch, and no tables may use it: it is to be
 * avoided, or joins a switch with itself. */
bool graph_is_barred(const struct graph *g, uint32_t sw, uint8_t port);

/* The owner of a LID; NULL: it has none. */
static inline const struct graph_target *
graph_target_at(const struct graph *g, uint32_t lid)
{
	return lid > g->top || g->target_of[lid] == SNAPSHOT_NONE ? NULL :
		&g->targets[g->target_of[lid]];
}

/* The switch from which an edge leads away. */
static inline uint32_t
graph_owner(const struct graph *g, uint32_t edge)
{
	return g->edges[g->edges[edge].back].peer;
}

/*
 * Breadth first over all cables, from the n switches in the queue, whose hops[]
 * are set; those of the others are GRAPH_FAR where they are to be found. Adds
 * the switches to the queue, near to far, and returns its length.
 */
#define GRAPH_FAR	UINT32_MAX
uint32_t graph_search(const struct graph *g, uint32_t *hops, uint32_t *queue,
		      uint32_t n);

/*
 * Puts n switches, of which there is the first, in an order of growth, so that
 * what is meshed stays together: next is the switch with the widest cables to
 * those before it, of these, if `latest`, the one that got the last of these
 * latest, or else the first.
 */
void graph_grow(const struct graph *g, uint32_t *queue, uint32_t n,
		bool latest);

/*
 * next[]: by switch, the edge by which it forwards, or SNAPSHOT_NONE. Lists the
 * switches, each before the one to which it forwards; returns how many: those
 * on a loop and behind it are not listed. waits: by switch, work space.
 */
uint32_t graph_sort(const struct graph *g, const uint32_t *next,
		    uint32_t *waits, uint32_t *queue);

/* "'leaf 3' (0x0002c90000000003)", g_free. */
char *graph_switch_name(const struct graph *g, uint32_t sw);

#endif
