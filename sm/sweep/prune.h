/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Parts that discovery found and leaves out, as faults of the snapshot.
 */
#ifndef MINISM_SWEEP_PRUNE_H
#define MINISM_SWEEP_PRUNE_H

#include "sm/plan/mkey_db.h"
#include "topology/builder.h"

/* "leaf-1 (0x..) port 3"; SNAPSHOT_NONE: our own port. g_free. */
char *prune_place(struct builder *b, uint32_t port);

/* Removes cables of which one end is down. */
void prune_half_cables(struct builder *b);
/* Removes ports that hide their M_Key and accept none of ours. */
void prune_locked(struct builder *b, const struct mkey_db *keys);

#endif
