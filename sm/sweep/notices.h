/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The nodes that reported a change, and when they are read again.
 */
#ifndef MINISM_SWEEP_NOTICES_H
#define MINISM_SWEEP_NOTICES_H

#include <glib.h>
#include <stdint.h>

struct notices;

struct notices *notices_new(void);
void notices_free(struct notices *n);

/* A node has reported a change, for the first or for another time. */
void notices_add(struct notices *n, uint64_t node_guid, int64_t now);
/* From when on one of them may be read; INT64_MAX: none has reported. */
int64_t notices_due(const struct notices *n);
/* Of uint64_t, ascending: those that may be read now. They are, and have
 * reported nothing since. */
GArray *notices_take(struct notices *n, int64_t now);
/* All of them are read now. */
void notices_take_all(struct notices *n, int64_t now);

#endif
