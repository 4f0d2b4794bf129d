// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of what a node is (IBA 14.2.5.3, NodeInfo.NodeType), as the diagnostics
 * print them. Those of a port are in port_info.c.
 */
#include "topology/smp_attr.h"

const char *
node_type_name(unsigned type)
{
	switch ((enum node_type)type) {
	case NODE_CA:
		return "Channel Adapter";
	case NODE_SWITCH:
		return "Switch";
	case NODE_ROUTER:
		return "Router";
	}
	return "?";
}
