/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Amending: decides which parts of a known fabric are read again when some of
 * its nodes report a change, and when.
 */
#ifndef MINISM_SWEEP_AMEND_H
#define MINISM_SWEEP_AMEND_H

#include "topology/snapshot.h"

struct amend;

struct amend_query {
	uint32_t port;
	bool is_node;		/* all attributes of its node; for a CA, of the
				   port; else PortInfo of the port */
	uint32_t entry;		/* is_node: the port that leads to it; SNAPSHOT_NONE
				   for the manager's own, and else */
};

/* b: from builder_new_from(); borrowed. told: of uint64_t, NodeGUIDs; nodes
 * that are not in the builder are ignored. */
struct amend *amend_new(struct builder *b, const GArray *told);
void amend_free(struct amend *a);

/* The queries of the next round, of struct amend_query, after all replies of
 * the last one. Empty: it is complete. */
GArray *amend_wave(struct amend *a);

/* PortInfo of the port was read and is in the builder; was: the last one.
 * is_silent: the node behind it answers no more. */
void amend_on_port(struct amend *a, uint32_t port,
		   const struct port_info *was, bool is_silent);
/* The node of this port was found through another port; the builder has the
 * cable. */
void amend_on_cable(struct amend *a, uint32_t port);
/* A cable end was found elsewhere, but in the builder it is behind `first`. False:
 * `first` was read, and it is still so. True: it is read now. */
bool amend_defer(struct amend *a, uint32_t first);

/* A token bucket: BUCKET_BURST at once, then one each `each` us. */
#define BUCKET_BURST	3
struct bucket {
	int64_t full;		/* when all tokens are back, us: what is beyond
				   now is owed */
	int64_t taken;		/* the last one */
};

/* The time of the next token; with a shorter `each` than before not later than
 * that. */
static inline int64_t
bucket_due(const struct bucket *b, int64_t each)
{
	return MIN(b->full - (BUCKET_BURST - 1) * each, b->taken + each);
}

/* Takes one, also before it is due. */
static inline void
bucket_take(struct bucket *b, int64_t each, int64_t now)
{
	b->full = CLAMP(b->full, now, now + (BUCKET_BURST - 1) * each) + each;
	b->taken = now;
}

/* The nodes that reported a change, and the time when they are read: by
 * NodeGUID. */
GHashTable *notices_new(void);

/* Adds a report of a node. */
void notices_add(GHashTable *notices, uint64_t node_guid, int64_t now);
/* The time from which one of them may be read; INT64_MAX: there are none. */
int64_t notices_due(GHashTable *notices);
/* Of uint64_t, ascending: takes the nodes that may be read until then;
 * INT64_MAX: all nodes. */
GArray *notices_take(GHashTable *notices, int64_t now, int64_t until);

#endif
