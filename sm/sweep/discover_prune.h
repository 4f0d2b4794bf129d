/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is taken out of a snapshot at the end of its discovery.
 */
#ifndef MINISM_SWEEP_DISCOVER_PRUNE_H
#define MINISM_SWEEP_DISCOVER_PRUNE_H

#include "sm/sweep/mkey_probe.h"

/* Cables of which one end says that it is down. */
void discover_prune_half_cables(struct builder *b);
/* Nodes that do not obey us; what only they lead to goes with them. */
void discover_prune_locked(struct builder *b, const struct mkey_probe *doors);

/* "leaf-1 (0x..) port 3"; SNAPSHOT_NONE is our own port. Free it. */
char *discover_prune_place(struct builder *b, uint32_t port);

#endif
