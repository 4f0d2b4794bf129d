/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Identifiers of a subnet: LIDs, directed routes (IBA 4.1.3, 14.2.2).
 * GUIDs are uint64_t in host order, LIDs uint16_t.
 */
#ifndef MINISM_TOPOLOGY_DR_PATH_H
#define MINISM_TOPOLOGY_DR_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* For qsort(), bsearch() and GArray: two structs that begin with a GUID. */
static inline int
guid_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

#define LID_NONE		0u
#define LID_UNICAST_MIN		1u
#define LID_UNICAST_MAX		0xbfffu	/* 49,151 */
#define LID_MULTICAST_MIN	0xc000u
#define LID_PERMISSIVE		0xffffu
#define LMC_MAX			7u

#define DR_MAX_HOPS		63u

/* A directed route: leave the node at hand by port[1], the next by port[2],
 * ... IBA's InitialPath, of which entry 0 is not used. 63 hops is what the 64
 * bytes of the SMP hold. */
struct dr_path {
	uint8_t hops;
	uint8_t port[DR_MAX_HOPS + 1];
};

/* Appends `port`; false if the path is full already. */
static inline bool
dr_path_push(struct dr_path *path, uint8_t port)
{
	if (path->hops >= DR_MAX_HOPS)
		return false;
	path->port[++path->hops] = port;
	return true;
}

#endif
