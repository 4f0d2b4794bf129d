/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch ports with a link behind which no node answers, and when the next
 * question goes through each.
 */
#ifndef MINISM_SWEEP_SILENT_H
#define MINISM_SWEEP_SILENT_H

#include "topology/snapshot.h"

struct silent_port {
	uint64_t node_guid;
	uint8_t num;
	int64_t pause, due;	/* us */
};

/* Those of a snapshot, in its order. known: of the snapshot before, freed, or
 * NULL; what is in both keeps its pace. A GArray of struct silent_port. */
GArray *silent_update(GArray *known, const struct snapshot *s, int64_t now);
/* INT64_MAX: there are none. */
int64_t silent_due(const GArray *silent);
/* Of uint32_t: ports of s through which a question goes now; each has the next
 * one after twice the pause. */
GArray *silent_take(GArray *silent, const struct snapshot *s, int64_t now);

#endif
