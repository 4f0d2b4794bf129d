/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Discovery: the fabric by directed route, without barriers. Every answer
 * starts the next questions.
 */
#ifndef MINISM_SWEEP_DISCOVER_H
#define MINISM_SWEEP_DISCOVER_H

#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

struct discover;

/* The snapshot is the callee's to unref. Its faults tell what did not answer,
 * lied, or is there twice; n_nodes is 0 if not even the own port answered. */
typedef void (*discover_done_fn)(struct snapshot *s, void *data);

/* Uses the pump of `x`; borrows the keys, which may be NULL. */
struct discover *discover_start(struct mad_client *x,
				const struct mkey_db *keys,
				discover_done_fn done, void *data);
/* The snapshot `before`, with what hangs on some of its nodes read again. told: of
 * uint64_t, NodeGUIDs. It may only be used if its faults are ports behind which
 * no node answers (snapshot_is_whole()), and so it is with `before`. */
struct discover *discover_amend(struct mad_client *x,
				const struct mkey_db *keys,
				struct snapshot *before, const GArray *told,
				discover_done_fn done, void *data);
/* Do not wait for ports behind which nobody answered in this snapshot, either;
 * they get a moment. Takes a reference. */
void discover_hurry(struct discover *d, struct snapshot *before);
/* What the site calls nodes, see builder_set_names(). Before the first answer,
 * so right after the start. */
void discover_set_names(struct discover *d, GHashTable *names);
void discover_cancel(struct discover *d);

#endif
