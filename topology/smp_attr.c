// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names and codes of PortInfo's components.
 *
 * Log, dumps and answers take the names of codes from here. They are those
 * that the diagnostics print, since operators search for them. The name of an
 * unknown code is "?".
 *
 * Source: IBA 14.2.5.6 (LinkWidthActive, LinkSpeedActive, LinkSpeedExtActive,
 * MTUCap); libibmad of rdma-core for LinkSpeedExtActive2.
 */
#include "topology/smp_attr.h"

#include <glib.h>

const char *
port_state_name(unsigned state)
{
	static const char *const names[] = {
		[PORT_STATE_NOP] = "NoChange",
		[PORT_STATE_DOWN] = "Down",
		[PORT_STATE_INIT] = "Initialize",
		[PORT_STATE_ARMED] = "Armed",
		[PORT_STATE_ACTIVE] = "Active",
		[PORT_STATE_ACTIVE_DEFER] = "ActiveDefer",
	};

	return state < G_N_ELEMENTS(names) ? names[state] : "?";
}

/* LinkWidth's bits, the widest first. */
static const struct port_width widths[] = {
	{ 8, 12, "12x" }, { 4, 8, "8x" }, { 2, 4, "4x" }, { 16, 2, "2x" },
	{ 1, 1, "1x" }, { 0, 0, "?" },
};

const struct port_width *
port_width(const struct port_info *info)
{
	const struct port_width *w = widths;

	while (w->bit && w->bit != info->width_active)
		w++;
	return w;
}

uint8_t
port_widest(unsigned mask)
{
	const struct port_width *w = widths;

	while (w->bit && !(w->bit & mask))
		w++;
	return w->bit;
}

/*
 * The extended speed has priority: on an FDR or faster link LinkSpeedActive
 * still has a value for managers without support for extended speeds, and so
 * does LinkSpeedExtActive on an XDR link.
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

uint8_t
port_fastest(unsigned mask)
{
	return mask ? (uint8_t)(1u << (g_bit_storage(mask) - 1)) : 0;
}

unsigned
port_mbps(const struct port_info *info)
{
	return port_width(info)->lanes * port_speed(info)->mbps;
}

unsigned
port_mtu(const struct port_info *info)
{
	return info->neighbor_mtu ? MIN(info->mtu_cap, info->neighbor_mtu) :
		info->mtu_cap;
}

unsigned
port_mtu_bytes(unsigned code)
{
	if (code < 1 || code > 5)
		return 0;
	return 128u << code;
}

unsigned
port_vls(unsigned code)
{
	return code < 1 || code > 5 ? 0 : MIN(1u << (code - 1), 15);
}
