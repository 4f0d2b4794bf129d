/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Discovery of the fabric by directed route.
 */
#ifndef MINISM_SWEEP_DISCOVER_H
#define MINISM_SWEEP_DISCOVER_H

#include "sm/sweep/smp_batch.h"

/* Takes over the reference on the snapshot. Its faults are nodes that did
 * not answer, gave invalid replies, or are there twice; n_nodes is 0 if not
 * even the own port answered. lost: see silent_note(); borrowed. */
typedef void (*discover_done_fn)(struct snapshot *s, GArray *lost, void *data);

struct discover_params {
	/* Of struct silent_port: these ports are left out, if their state is
	 * the same. NULL: none is. Borrowed. */
	const GArray *silent;
	/* Of uint64_t, NodeGUIDs: only the neighbourhood of these nodes of
	 * `last` is read again. The result may only be used if its faults
	 * are ports behind which no node answers (snapshot_defect()); of those
	 * of `last` it has none, which may be such ports, or stay
	 * (snapshot_fault_stays()). NULL: the whole fabric is read. */
	const GArray *told;
	/* The last snapshot, or what is expected. Of a whole discovery, a node
	 * whose NodeDescription is not answered keeps the one that it had there,
	 * a switch its SwitchInfo, unless it has been reset; and of two nodes
	 * with one GUID the one that is where it was there is taken. NULL: there
	 * is none. Takes a reference. */
	struct snapshot *last;
	/* Configured node names, by NodeGUID; NULL: none. Not used with `told`,
	 * since `last` has them. */
	GHashTable *names;
};

/* Uses the pump of `x`; borrows the keys, which may be NULL. */
struct smp_batch *discover_start(struct mad_client *x,
				 const struct mkey_db *keys,
				 const struct discover_params *params,
				 discover_done_fn done, void *data);

#endif
