/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The nodes that reported a change, and the time when they are read.
 */
#ifndef MINISM_SWEEP_NOTICES_H
#define MINISM_SWEEP_NOTICES_H

#include <glib.h>
#include <stdint.h>

struct notices;

struct notices *notices_new(void);
void notices_free(struct notices *n);

/* Adds a report of a node. */
void notices_add(struct notices *n, uint64_t node_guid, int64_t now);
/* The time from which one of them may be read; INT64_MAX: there are none. */
int64_t notices_due(const struct notices *n);
/* Of uint64_t, ascending: takes the nodes that may be read now. */
GArray *notices_take(struct notices *n, int64_t now);
/* Takes all nodes. */
void notices_take_all(struct notices *n, int64_t now);

#endif
