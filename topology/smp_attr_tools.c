// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names that tools and the laboratory print, and a manager does not: of node
 * types (IBA 14.2.5.3) and PortPhysicalState (14.2.5.6).
 */
#include "topology/smp_attr.h"

#include <glib.h>

const char *
node_type_name(unsigned type)
{
	static const char *const names[] = {
		[NODE_CA] = "Channel Adapter",
		[NODE_SWITCH] = "Switch",
		[NODE_ROUTER] = "Router",
	};

	return type && type < G_N_ELEMENTS(names) ? names[type] : "?";
}

const char *
port_phys_name(unsigned phys)
{
	static const char *const names[] = {
		[PORT_PHYS_NOP] = "NoChange",
		[PORT_PHYS_SLEEP] = "Sleep",
		[PORT_PHYS_POLLING] = "Polling",
		[PORT_PHYS_DISABLED] = "Disabled",
		[PORT_PHYS_TRAINING] = "PortConfigurationTraining",
		[PORT_PHYS_LINK_UP] = "LinkUp",
		[PORT_PHYS_RECOVERY] = "LinkErrorRecovery",
		[PORT_PHYS_TEST] = "PhyTest",
	};

	return phys < G_N_ELEMENTS(names) ? names[phys] : "?";
}
