// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of what a node is (IBA 14.2.5.3, NodeInfo.NodeType), as the diagnostics
 * print them.
 */
#include "topology/smp_attr.h"

#include <stddef.h>

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

/*
 * Names and codes of PortInfo's components.
 *
 * The structs of smp_attr.h are filled by the code that reads a fabric; this
 * file only says how their codes are called, so that a log line, a dump and a
 * picture agree. The words are those that the diagnostics print, since that is
 * what an operator searches for. Every function is a table in the shape of a
 * switch: the compiler then names the enumerator that was forgotten, and a code
 * that came off the wire and is in no table ends in "?".
 *
 * Source: IBA 14.2.5.6 (LinkWidthActive, LinkSpeedActive, LinkSpeedExtActive,
 * MTUCap); libibmad of rdma-core for LinkSpeedExtActive2.
 */

const char *
port_state_name(unsigned state)
{
	switch ((enum port_state)state) {
	case PORT_STATE_NOP:
		return "NoChange";
	case PORT_STATE_DOWN:
		return "Down";
	case PORT_STATE_INIT:
		return "Initialize";
	case PORT_STATE_ARMED:
		return "Armed";
	case PORT_STATE_ACTIVE:
		return "Active";
	case PORT_STATE_ACTIVE_DEFER:
		return "ActiveDefer";
	}
	return "?";
}

const char *
port_phys_name(unsigned phys)
{
	switch ((enum port_phys)phys) {
	case PORT_PHYS_NOP:
		return "NoChange";
	case PORT_PHYS_SLEEP:
		return "Sleep";
	case PORT_PHYS_POLLING:
		return "Polling";
	case PORT_PHYS_DISABLED:
		return "Disabled";
	case PORT_PHYS_TRAINING:
		return "PortConfigurationTraining";
	case PORT_PHYS_LINK_UP:
		return "LinkUp";
	case PORT_PHYS_RECOVERY:
		return "LinkErrorRecovery";
	case PORT_PHYS_TEST:
		return "PhyTest";
	}
	return "?";
}

const char *
port_width_name(const struct port_info *info)
{
	switch (info->width_active) {
	case 1:
		return "1x";
	case 2:
		return "4x";
	case 4:
		return "8x";
	case 8:
		return "12x";
	case 16:
		return "2x";
	}
	return "?";
}

/*
 * The extended speed wins: on an FDR or faster link LinkSpeedActive still
 * carries a value for managers that do not know the extension, and so does
 * LinkSpeedExtActive on an XDR link.
 */
const struct port_speed *
port_speed(const struct port_info *info)
{
	static const struct {
		uint8_t ext2, ext, base;
		struct port_speed speed;
	} speeds[] = {
		{ 1, 0, 0, { "XDR", "200", 200000 } },
		{ 0, 8, 0, { "NDR", "100", 100000 } },
		{ 0, 4, 0, { "HDR", "50", 50000 } },
		{ 0, 2, 0, { "EDR", "25", 25000 } },
		{ 0, 1, 0, { "FDR", "14", 14000 } },
		{ 0, 0, 4, { "QDR", "10", 10000 } },
		{ 0, 0, 2, { "DDR", "5", 5000 } },
		{ 0, 0, 1, { "SDR", "2.5", 2500 } },
		{ 0, 0, 0, { "?", "??", 0 } },
	};
	size_t i;

	for (i = 0; speeds[i].speed.mbps; i++) {
		if (info->speed_ext2_active ?
		    info->speed_ext2_active == speeds[i].ext2 :
		    info->speed_ext_active ?
		    info->speed_ext_active == speeds[i].ext :
		    info->speed_active && info->speed_active == speeds[i].base)
			break;
	}
	return &speeds[i].speed;
}

unsigned
port_lanes(const struct port_info *info)
{
	switch (info->width_active) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	}
	return 0;
}

unsigned
port_mbps(const struct port_info *info)
{
	return port_lanes(info) * port_speed(info)->mbps;
}

unsigned
port_mtu_bytes(unsigned code)
{
	if (code < 1 || code > 5)
		return 0;
	return 128u << code;
}
