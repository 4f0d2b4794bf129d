/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The light sweep: has anything changed? Reads only.
 */
#ifndef MINISM_SWEEP_LIGHT_SWEEP_H
#define MINISM_SWEEP_LIGHT_SWEEP_H

#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

struct light_sweep;

/* why: NULL if nothing has changed, else the first reason found; valid during
 * the callback. */
typedef void (*light_sweep_done_fn)(const char *why, void *data);

/* `s` is borrowed until `done`, which never comes from inside. */
struct light_sweep *light_sweep_start(struct mad_client *x,
				      const struct mkey_db *keys,
				      const struct snapshot *s,
				      light_sweep_done_fn done, void *data);
void light_sweep_cancel(struct light_sweep *l);

#endif
