/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The light sweep: has anything changed? Reads only.
 */
#ifndef MINISM_SM_LIGHT_H
#define MINISM_SM_LIGHT_H

#include "sm/io/xact.h"
#include "sm/plan/keyring.h"
#include "topology/subnet.h"

struct light;

/* why: NULL if nothing has changed, else the first reason found; valid during
 * the callback. */
typedef void (*light_done_fn)(const char *why, void *data);

/* `s` is borrowed until `done`, which never comes from inside. */
struct light *light_start(struct xact *x, const struct keyring *keys,
			  const struct subnet *s, light_done_fn done,
			  void *data);
void light_cancel(struct light *l);

#endif
