// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Directed routes as values.
 *
 * A dr_path is IBA's InitialPath in host form (IBA 14.2.2): port[1..hops] are
 * the output ports, entry 0 is reserved and stays 0. 63 hops is what the 64
 * bytes of the SMP hold; a longer way cannot be asked along, so a push beyond
 * it is refused instead of cut.
 */
#include "topology/dr_path.h"

bool
dr_path_push(struct dr_path *path, uint8_t port)
{
	if (path->hops >= DR_MAX_HOPS)
		return false;
	path->port[++path->hops] = port;
	return true;
}
