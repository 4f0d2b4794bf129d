/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a device says of itself when it was just switched on: the values that
 * fabrics from a formula or from a text start with, where these name none.
 */
#ifndef MINISM_TOPOLOGY_DEVICE_H
#define MINISM_TOPOLOGY_DEVICE_H

#include "topology/smp_attr.h"

/* An end port or external port of a 4x EDR device with nothing plugged in. */
extern const struct port_info device_idle_port;

/* 49,152 linear and 4,096 multicast entries, partition enforcement, base
 * port 0. */
extern const struct switch_info device_switch;

/* CapabilityMask of an end port, and of a switch's port 0. */
#define DEVICE_END_PORT_CAPS	(PORT_CAP_HAS_SL_MAPPING | \
				 PORT_CAP_HAS_EXT_SPEEDS | \
				 PORT_CAP_HAS_CLIENT_REREGISTER)
#define DEVICE_PORT0_CAPS	(DEVICE_END_PORT_CAPS | \
				 PORT_CAP_HAS_MCAST_FDB_TOP)

#endif
