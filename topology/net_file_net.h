/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What stands in a netfile, block by block, before it is a snapshot: between
 * net_file_parse.c, which reads it, and net_file_build.c. Private to the two.
 */
#ifndef MINISM_TOPOLOGY_NET_FILE_NET_H
#define MINISM_TOPOLOGY_NET_FILE_NET_H

#include "topology/snapshot.h"

/* One block. Its cables are contiguous. */
struct net_node {
	char *id;
	char *desc;
	unsigned line;
	unsigned n_ports;
	uint32_t first_cable, n_cables;
	uint32_t vendor_id;
	uint16_t device_id;
	uint16_t lid;		/* port 0's */
	uint8_t lmc;
	bool enhanced_port0;
	enum node_type type;
	uint64_t guid, system_guid;
	uint64_t port0_guid;
};

/* What one end has enabled: PortInfo's masks (IBA 14.2.5.6), and XDR, which
 * there is in a mask of its own. */
#define NET_SPEEDS_EXT	15u
#define NET_SPEED_XDR	16u
struct net_rate {
	uint8_t width, speed, speed_ext;
};

/* One line of a block: the end of a cable as that block tells it. */
struct net_cable {
	unsigned line;
	uint32_t node;
	uint32_t mate;		/* the other end's line; once it is matched */
	char *peer_id;
	unsigned num, peer_num;
	uint64_t guid, peer_guid;	/* 0: not given */
	uint16_t lid;
	uint8_t lmc;
	struct net_rate rate;
};

struct net {
	GArray *nodes;		/* struct net_node, in the order of the file */
	GArray *cables;		/* struct net_cable */
};

static inline struct net_node *
net_node_at(const struct net *net, uint32_t node)
{
	return &g_array_index(net->nodes, struct net_node, node);
}

static inline struct net_cable *
net_cable_at(const struct net *net, uint32_t cable)
{
	return &g_array_index(net->cables, struct net_cable, cable);
}

/* The snapshot, of a net whose cables are matched. */
struct snapshot *net_build(const struct net *net);

#endif
