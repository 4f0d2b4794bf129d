/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric as routing sees it: switches, the cables between them, and the
 * LIDs behind each. Built once a sweep from a snapshot; engines read it.
 *
 * Only links that are up (snapshot_link_up) count; a cable from a switch to
 * itself is left out. Edges of a switch are sorted by (peer switch, port), so
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

struct graph {
	const struct snapshot *subnet;	/* borrowed, for names */
	uint32_t n_switches, n_edges, n_targets;
	uint16_t top;
	uint32_t *first_edge;	/* n_switches + 1 */
	struct graph_edge *edges;
	uint32_t *first_target;	/* n_switches + 1: targets are sorted by */
	struct graph_target *targets;	/* (switch, base LID) */
	uint32_t *n_hosts;	/* by switch: CA and router ports behind it */
};

/* `s` stays as it is for as long as names are asked for. */
struct graph *graph_new(const struct snapshot *s, const struct lid_map *lids);
void graph_free(struct graph *g);

/* Edge by switch and port: map[switch * GRAPH_PORTS + port], SNAPSHOT_NONE
 * where the port leads to no switch. The caller frees it (g_free). */
#define GRAPH_PORTS	256u
uint32_t *graph_map_ports(const struct graph *g);

/* Target by LID, top + 1 entries, SNAPSHOT_NONE for a LID that nobody owns.
 * The caller frees it (g_free). */
uint32_t *graph_map_lids(const struct graph *g);

/* By switch: the lowest one of those that it is cabled together with.
 * g_free. */
uint32_t *graph_find_islands(const struct graph *g);

/* "'leaf 3' (0x0002c90000000003)", g_free. */
char *graph_switch_name(const struct graph *g, uint32_t sw);

#endif
