/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is taken out of a snapshot at the end of its discovery.
 */
#ifndef MINISM_SM_WEED_H
#define MINISM_SM_WEED_H

#include "sm/doors.h"

/* Cables of which one end says that it is down. */
void weed_half_cables(struct builder *b);
/* Nodes that do not obey us; what only they lead to goes with them. */
void weed_locked(struct builder *b, const struct doors *doors);

/* "leaf-1 (0x..) port 3"; SUBNET_NONE is our own port. Free it. */
char *weed_place(struct builder *b, uint32_t port);

#endif
