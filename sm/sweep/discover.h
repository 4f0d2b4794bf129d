/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Discovery of the fabric by directed route.
 */
#ifndef MINISM_SWEEP_DISCOVER_H
#define MINISM_SWEEP_DISCOVER_H

#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

struct discover;

/* Takes over the reference on the snapshot. Its faults are nodes that did
 * not answer, gave invalid replies, or are there twice; n_nodes is 0 if not
 * even the own port answered. */
typedef void (*discover_done_fn)(struct snapshot *s, void *data);

/* Uses the pump of `x`; borrows the keys, which may be NULL. */
struct discover *discover_start(struct mad_client *x,
				const struct mkey_db *keys,
				discover_done_fn done, void *data);
/* Reads the neighbourhood of some nodes of `before` again. told: of
 * uint64_t, NodeGUIDs. The result may only be used if its faults are ports
 * behind which no node answers (snapshot_is_whole()), and so must those of
 * `before` be. */
struct discover *discover_amend(struct mad_client *x,
				const struct mkey_db *keys,
				struct snapshot *before, const GArray *told,
				discover_done_fn done, void *data);
/* Does not wait long for ports behind which no node answered in this
 * snapshot. Takes a reference. */
void discover_hurry(struct discover *d, struct snapshot *before);
/* Configured node names, see builder_set_names(). Call it before the first
 * reply. */
void discover_set_names(struct discover *d, GHashTable *names);
void discover_cancel(struct discover *d);

#endif
