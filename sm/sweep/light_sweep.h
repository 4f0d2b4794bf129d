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

/* A light sweep of the fabric. `s` and `silent` (of struct silent_port) are
 * borrowed until `done`, which is never called from inside this function. probe:
 * what is silent and due is asked, and the links whose turn it is are read, and
 * nothing else; a port behind which a host answers no more is added to `silent`. */
struct smp_batch *light_sweep_start(struct mad_client *x,
				    const struct mkey_db *keys,
				    const struct snapshot *s, GArray *silent,
				    const struct light_turn *probe,
				    light_sweep_done_fn done, void *data);

/* What had no answer, and the time of its next query: NodeInfo through a port with
 * a link, or another attribute of this port of a node. */
struct silent_port {
	uint64_t node_guid;
	uint32_t modifier;
	enum mad_attr attr;
	uint8_t num;
	uint8_t state;		/* PortState; only of NodeInfo */
	int64_t pause, due;	/* us */
};

/* Appends a request without an answer, or with a status for one. */
void silent_note(GArray *lost, const struct snapshot *s,
		 const struct smp_request *r);
/* The silent ports of a snapshot, and what was lost (of silent_note()): a GArray
 * of struct silent_port. known: those of the last snapshot, freed here, or NULL;
 * what is in both keeps its pause, but a port is due now if its switch has reported
 * a change. */
GArray *silent_update(GArray *known, const struct snapshot *s,
		      const GArray *lost, int64_t now);
/* INT64_MAX: there are none. */
int64_t silent_due(const GArray *silent);
/* A port behind which no node answers. NULL: it is none, or silent is NULL. */
const struct silent_port *silent_find(const GArray *silent,
				      const struct snapshot *s, uint32_t port);

#endif
