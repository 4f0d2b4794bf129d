/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The light sweep: reads a little to find whether anything has changed.
 */
#ifndef MINISM_SWEEP_LIGHT_SWEEP_H
#define MINISM_SWEEP_LIGHT_SWEEP_H

#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

struct light_sweep;

/* Valid during the callback. */
struct light_sweep_result {
	char *why;		/* the first change found; NULL: none */
	GArray *changed;	/* of uint64_t: NodeGUIDs of nodes to be read
				   again */
	bool silent;		/* one of these nodes did not answer */
};

typedef void (*light_sweep_done_fn)(const struct light_sweep_result *r,
				    void *data);

/* `s` is borrowed until `done`, which is never called from inside this
 * function. behind: of uint32_t, ports through which NodeInfo is sent, and
 * nothing else; NULL: a light sweep of the fabric. */
struct light_sweep *light_sweep_start(struct mad_client *x,
				      const struct mkey_db *keys,
				      const struct snapshot *s, GArray *behind,
				      light_sweep_done_fn done, void *data);
void light_sweep_cancel(struct light_sweep *l);

#endif
