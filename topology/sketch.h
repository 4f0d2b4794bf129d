/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric drawn, not yet described: nodes with a number of ports and cables
 * between them. What generate_fabric() makes a snapshot of; private to it.
 */
#ifndef MINISM_TOPOLOGY_SKETCH_H
#define MINISM_TOPOLOGY_SKETCH_H

#include <glib.h>

#include "topology/attr.h"

struct sketch_node {
	enum node_type type;
	unsigned level;		/* 0: hosts */
	uint32_t index;		/* within the level */
	unsigned n_ports;
};

struct sketch_cable {
	uint32_t node_a, node_b;	/* index in nodes */
	uint8_t port_a, port_b;
};

struct sketch {
	GArray *nodes;		/* struct sketch_node */
	GArray *cables;		/* struct sketch_cable, no port in two */
};

/* Which stream of random numbers of the seed is for what */
enum sketch_stream {
	SKETCH_STREAM_LINKS = 1,
	SKETCH_STREAM_FAILURES = 2,
	SKETCH_STREAM_GUIDS = 3,
};

/* Draws what generate.h calls a spec; there is at least one CA. NULL with
 * GENERATE_ERROR if the spec is wrong or too large. */
struct sketch *sketch_new(const char *text, uint64_t seed, GError **error);
void sketch_free(struct sketch *sk);

static inline const struct sketch_node *
sketch_node_at(const struct sketch *sk, uint32_t node)
{
	return &g_array_index(sk->nodes, struct sketch_node, node);
}

static inline const struct sketch_cable *
sketch_cable_at(const struct sketch *sk, uint32_t cable)
{
	return &g_array_index(sk->cables, struct sketch_cable, cable);
}

#endif
