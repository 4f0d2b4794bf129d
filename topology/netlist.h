/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric drawn, not yet described: nodes with a number of ports and cables
 * between them. What generate_fabric() makes a snapshot of; private to it.
 */
#ifndef MINISM_TOPOLOGY_NETLIST_H
#define MINISM_TOPOLOGY_NETLIST_H

#include <glib.h>

#include "topology/smp_attr.h"

struct netlist_node {
	enum node_type type;
	unsigned level;		/* 0: hosts */
	uint32_t index;		/* within the level */
	unsigned n_ports;
};

struct netlist_cable {
	uint32_t node_a, node_b;	/* index in nodes */
	uint8_t port_a, port_b;
};

struct netlist {
	GArray *nodes;		/* struct netlist_node */
	GArray *cables;		/* struct netlist_cable, no port in two */
};

/* Which stream of random numbers of the seed is for what */
enum netlist_stream {
	NETLIST_STREAM_LINKS = 1,
	NETLIST_STREAM_FAILURES = 2,
	NETLIST_STREAM_GUIDS = 3,
};

/* Draws what generate.h calls a spec; there is at least one CA. NULL with
 * GENERATE_ERROR if the spec is wrong or too large. */
struct netlist *netlist_new(const char *text, uint64_t seed, GError **error);
void netlist_free(struct netlist *sk);

static inline const struct netlist_node *
netlist_node_at(const struct netlist *sk, uint32_t node)
{
	return &g_array_index(sk->nodes, struct netlist_node, node);
}

static inline const struct netlist_cable *
netlist_cable_at(const struct netlist *sk, uint32_t cable)
{
	return &g_array_index(sk->cables, struct netlist_cable, cable);
}

#endif
