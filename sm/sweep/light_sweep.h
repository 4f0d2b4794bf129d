/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The light sweep: reads a little to find whether anything has changed.
 */
#ifndef MINISM_SWEEP_LIGHT_SWEEP_H
#define MINISM_SWEEP_LIGHT_SWEEP_H

#include "sm/sweep/smp_batch.h"

/* Valid during the callback. */
struct light_sweep_result {
	char *why;		/* the first change found; NULL: none */
	GArray *changed;	/* of uint64_t: NodeGUIDs of nodes to be read
				   again */
	bool silent;		/* one of these nodes did not answer */
};

typedef void (*light_sweep_done_fn)(const struct light_sweep_result *r,
				    void *data);

/* All links are read within this time. */
#define LIGHT_TURN_S	300u

/* Every of-th link is read, from `now` on, which is less; of 0: none is. */
struct light_turn {
	unsigned now, of;
};

/* `s` is borrowed until `done`, which is never called from inside this
 * function. silent: of struct silent_port: NodeInfo is sent through those that
 * are due, and the links whose turn it is are read, and nothing else; a port
 * behind which a node answers is removed from it, and one behind which a host
 * answers no more is added. NULL: a light sweep of the fabric. */
struct smp_batch *light_sweep_start(struct mad_client *x,
				    const struct mkey_db *keys,
				    const struct snapshot *s, GArray *silent,
				    struct light_turn turn,
				    light_sweep_done_fn done, void *data);

/* A switch port with a link behind which no node answers, and the time of its
 * next query. */
struct silent_port {
	uint64_t node_guid;
	uint8_t num;
	uint8_t state;		/* PortState */
	int64_t pause, due;	/* us */
};

/* The silent ports of a snapshot, in its order: a GArray of struct
 * silent_port. With them the end ports of nodes that answered NodeInfo and then
 * nothing, or with a status: of its faults, and mute (of uint32_t, or NULL).
 * known: those of the last snapshot, freed here, or NULL; ports in both keep their
 * pause, but are due now if their switch has reported a change. */
GArray *silent_update(GArray *known, const struct snapshot *s,
		      const GArray *mute, int64_t now);
/* INT64_MAX: there are none. */
int64_t silent_due(const GArray *silent);
/* NULL: the port is not among them, or silent is NULL. */
const struct silent_port *silent_find(const GArray *silent, uint64_t node_guid,
				      uint8_t num);

#endif
