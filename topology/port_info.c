// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names and codes of PortInfo's components.
 *
 * The structs of attr.h are filled by whoever reads a fabric; this file only
 * says how their codes are called, so that a log line, a dump and a picture
 * agree. The words are those that the diagnostics print, since that is what an
 * operator searches for. Every function is a table in the shape of a switch:
 * the compiler then names the enumerator that was forgotten, and a code that
 * came off the wire and is in no table ends in "?".
 *
 * Source: IBA 14.2.5.6 (LinkWidthActive, LinkSpeedActive, LinkSpeedExtActive,
 * MTUCap).
 */
#include "topology/port_info.h"

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
 * carries a value for managers that do not know the extension.
 */
const char *
port_speed_name(const struct port_info *info)
{
	switch (info->speed_ext_active) {
	case 0:
		break;
	case 1:
		return "FDR";
	case 2:
		return "EDR";
	case 4:
		return "HDR";
	case 8:
		return "NDR";
	default:
		return "?";
	}
	switch (info->speed_active) {
	case 1:
		return "SDR";
	case 2:
		return "DDR";
	case 4:
		return "QDR";
	}
	return "?";
}

unsigned
port_mtu_bytes(unsigned code)
{
	if (code < 1 || code > 5)
		return 0;
	return 128u << code;
}
