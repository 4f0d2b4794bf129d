/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch ports with a link behind which no node answers, and the times of their
 * next queries.
 */
#ifndef MINISM_SWEEP_SILENT_H
#define MINISM_SWEEP_SILENT_H

#include "topology/snapshot.h"

struct silent_port {
	uint64_t node_guid;
	uint8_t num;
	int64_t pause, due;	/* us */
};

/* The silent ports of a snapshot, in its order: a GArray of struct
 * silent_port. known: those of the last snapshot, freed here, or NULL; ports
 * in both keep their pause. */
GArray *silent_update(GArray *known, const struct snapshot *s, int64_t now);
/* INT64_MAX: there are none. */
int64_t silent_due(const GArray *silent);
/* Of uint32_t: ports of s to be queried now; the next query of each is after
 * twice the pause. */
GArray *silent_take(GArray *silent, const struct snapshot *s, int64_t now);

#endif
