/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The attributes of a device that was just switched on: the values of fabrics
 * from a formula or a net file, where these give none.
 */
#ifndef MINISM_TOOLS_DEVICE_H
#define MINISM_TOOLS_DEVICE_H

#include "topology/snapshot.h"

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

/* Adds a switch with all its ports, a CA or router with its local one. Of info
 * the capacity of P_Keys and the versions need not be set. idle: of its ports.
 * Returns the node. */
uint32_t device_add(struct builder *b, const struct node_info *info,
		    const char *desc, const struct port_info *idle);

/* A port of a CA or router. */
void device_add_port(struct builder *b, uint32_t node, unsigned num,
		     uint64_t guid, const struct port_info *idle);

#endif
