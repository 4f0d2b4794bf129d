// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Directed routes as values.
 *
 * A dr_path is IBA's InitialPath in host form (IBA 14.2.2): port[1..hops] are
 * the output ports, entry 0 is reserved and stays 0. 63 hops is what the 64
 * bytes of the SMP hold; a longer way cannot be asked along, so a push beyond
 * it is refused instead of cut.
 */
#include <stdio.h>

#include "topology/dr_path.h"

bool
dr_path_push(struct dr_path *path, uint8_t port)
{
	if (path->hops >= DR_MAX_HOPS)
		return false;
	path->port[++path->hops] = port;
	return true;
}

const char *
dr_path_print(const struct dr_path *path, char buf[DR_PATH_TEXT])
{
	size_t used = 1;

	/* The leading 0 is the reserved entry: the tools print it too. */
	buf[0] = '0';
	buf[1] = '\0';
	for (unsigned i = 1; i <= path->hops && i <= DR_MAX_HOPS; i++)
		used += (size_t)snprintf(buf + used, DR_PATH_TEXT - used,
					 ",%u", path->port[i]);
	return buf;
}
