/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as routing uses it: switches, the cables between them, and the
 * LIDs of each switch and its hosts. Built once in a sweep, from a snapshot.
 *
 * Only links that are up (snapshot_link_up) and not to be avoided are in it; a
 * cable from a switch to itself is not. The edges of a switch are sorted by
 * (peer switch, port), so parallel links are next to each other. CAs and
 * routers do not forward.
 *
 * A CA may be inside a switch: the aggregation node of a switch is one, on a
 * port of its own. It sends and gets data like a host, but little of it, and it
 * says nothing about the place of its switch in the fabric: it makes no leaf,
 * and adds no load. Its LIDs and those of port 0 are for management: they have
 * paths wherever paths exist without a credit loop, and no host has a worse
 * path for them.
 */
#ifndef MINISM_ROUTING_GRAPH_H
#define MINISM_ROUTING_GRAPH_H

#include "topology/lid.h"
#include "topology/snapshot.h"

struct graph_edge {
	uint32_t peer;		/* switch index */
	uint32_t back; /* index of the edge in the other direction */
	uint8_t port;		/* of the switch that owns the edge */
	uint16_t capacity;	/* active width times speed, in 2.5 Gb/s */
};

/* An owner of LIDs: a CA port that is cabled to a switch, or a switch's port
 * 0. */
struct graph_target {
	uint16_t lid;		/* base */
	uint16_t n_lids;	/* 2^LMC */
	uint32_t sw;		/* the switch it is cabled to (or is) */
	uint8_t port;		/* of that switch; 0: the switch itself */
	bool is_host;		/* false: port 0, or a CA inside the switch */
};

#define GRAPH_PORTS	256u
#define GRAPH_NO_EDGE	255u	/* more than a switch has */

struct graph {
	const struct snapshot *subnet;	/* a reference, for names; NULL: given
					   up */
	uint32_t n_switches, n_edges, n_targets;
	uint16_t top;
	uint32_t *first_edge;	/* n_switches + 1 */
	struct graph_edge *edges;
	uint32_t *first_target;	/* n_switches + 1: targets are sorted by */
	struct graph_target *targets;	/* (switch, base LID) */
	uint32_t *n_hosts;	/* by switch: hosts, which are the CA and
				   router ports cabled to it, but those of
				   CAs inside it */
	uint32_t *n_senders;	/* by switch: with those inside it */
	uint32_t n_all_hosts;
	uint16_t widest;	/* capacity of the widest cable, at least 1 */
	uint16_t n_words;	/* of 64 bits, of a mask of the ports to other
				   switches; at least 1 */
	uint8_t *nth_edge;	/* [switch][port], see graph_edge_at(): which
				   of the switch's edges; GRAPH_NO_EDGE */
	uint32_t *target_of;	/* by LID, to top; SNAPSHOT_NONE: no owner */
	uint32_t *island;	/* by switch: the lowest switch of its
				   connected component */
};

/* Is it a port that carries packets, or may do so if it did not answer, to a node
 * which does not answer or is left out? That may be a switch. SNAPSHOT_NONE is none. */
static inline bool
graph_is_blind(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p;

	if (port == SNAPSHOT_NONE)
		return false;
	p = &s->ports[port];
	return p->num && p->peer == SNAPSHOT_NONE &&
		(!p->known || p->info.state >= PORT_STATE_ACTIVE);
}

/* SwitchInfo is not known: it is not written, and forwards by what it holds. */
static inline bool
graph_is_mute(const struct graph *g, uint32_t sw)
{
	return !g->subnet->nodes[g->subnet->switches[sw]].sw_known;
}

static inline bool
graph_has_mute(const struct graph *g)
{
	uint32_t sw = 0;

	while (sw < g->n_switches && !graph_is_mute(g, sw))
		sw++;
	return sw < g->n_switches;
}

struct graph *graph_new(const struct snapshot *s, const struct lid_map *lids);
/* With the links that only the held tables may use: those to be avoided, and those
 * between switches of which an end did not answer, which may be in use; and with
 * senders where a host may be that did not answer. */
struct graph *graph_new_whole(const struct snapshot *s,
			      const struct lid_map *lids);
/* The same without some cables: is_out[] of both their edges. */
struct graph *graph_without(const struct graph *g, const uint8_t *is_out);
void graph_free(struct graph *g);
/* Gives up the snapshot, by far the largest part. */
void graph_forget_subnet(struct graph *g);

#define for_each_edge(g, sw, e) \
	for ((e) = (g)->first_edge[sw]; (e) < (g)->first_edge[(sw) + 1]; (e)++)

/* SNAPSHOT_NONE: the port does not lead to a switch. */
static inline uint32_t
graph_edge_at(const struct graph *g, uint32_t sw, uint8_t port)
{
	uint32_t nth = g->nth_edge[(size_t)sw * GRAPH_PORTS + port];

	return nth == GRAPH_NO_EDGE ? SNAPSHOT_NONE : g->first_edge[sw] + nth;
}

/* Is the port cabled to a switch, and no tables may use the cable, since it
 * is to be avoided or joins a switch with itself? */
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
 * Breadth-first search over all cables from the n switches in the queue, whose
 * hops[] are set; those of other switches are GRAPH_FAR if they are to be
 * visited. Adds these to the queue, the nearest first, and returns its length.
 */
#define GRAPH_FAR	UINT32_MAX
uint32_t graph_search(const struct graph *g, uint32_t *hops, uint32_t *queue,
		      uint32_t n);
/* The same from one switch, which sets hops[] of all. */
uint32_t graph_hops(const struct graph *g, uint32_t from, uint32_t *hops,
		    uint32_t *queue);

/*
 * Puts n switches, of which the first is given, in an order of growth, so that
 * meshed switches stay together: the next one has the widest cables to those
 * before it; of several, the one whose last such cable was added last, if
 * `latest`, or else the first.
 */
void graph_grow(const struct graph *g, uint32_t *queue, uint32_t n,
		bool latest);

/*
 * next[]: by switch, the edge by which it forwards, or SNAPSHOT_NONE. Lists
 * each switch before the one to which it forwards; returns how many: switches
 * in and before a forwarding loop are not listed. waits: by switch, work space.
 */
uint32_t graph_sort(const struct graph *g, const uint32_t *next,
		    uint32_t *waits, uint32_t *queue);

/* "'leaf 3' (0x0002c90000000003)", g_free. */
char *graph_switch_name(const struct graph *g, uint32_t sw);

#endif
