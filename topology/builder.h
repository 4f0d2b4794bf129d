/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Puts a snapshot together from facts that come in any order.
 *
 * A builder numbers nodes and ports in order of arrival; builder_finish() sorts
 * them and gives the final numbers. Until then nodes and ports may be changed
 * in place. Port indices stay valid as the builder grows, pointers do not.
 */
#ifndef MINISM_TOPOLOGY_BUILDER_H
#define MINISM_TOPOLOGY_BUILDER_H

#include "topology/snapshot.h"

struct builder;

struct builder *builder_new(void);
/* The nodes and ports of a snapshot with their indices, its cables and its
 * local port, but not its faults. names: as of builder_set_names(), or NULL. */
struct builder *builder_new_from(const struct snapshot *s, GHashTable *names);
void builder_free(struct builder *b);

/* The node name map, by NodeGUID (uint64_t * -> char *, UTF-8): nodes that are
 * added from now on have these names. Takes a reference, which the snapshot
 * inherits. Once at most. */
void builder_set_names(struct builder *b, GHashTable *names);

/* Adds a node with all its ports (none known, none cabled). The NodeGUID must
 * be new. The port info->local_port gets info->port_guid (of a switch: port
 * 0). Returns its index in the builder. */
uint32_t builder_add(struct builder *b, const struct node_info *info);

/* The node with this NodeGUID, or SNAPSHOT_NONE. */
uint32_t builder_find(const struct builder *b, uint64_t node_guid);

uint32_t builder_n_nodes(const struct builder *b);
uint32_t builder_port(const struct builder *b, uint32_t node, unsigned num);
/* Like snapshot_holder_of(). */
uint32_t builder_holder_of(const struct builder *b, uint32_t port);
struct snapshot_node *builder_node_at(const struct builder *b, uint32_t node);
struct snapshot_port *builder_port_at(const struct builder *b, uint32_t port);

/* Sets the description from `len` raw bytes: cut at the first NUL,
 * unprintable bytes become '?'. */
void builder_describe(struct builder *b, uint32_t node, const uint8_t *desc,
		      size_t len);

/* Cables two ports (a == b: a loopback plug). Neither may be cabled. */
void builder_link(struct builder *b, uint32_t port_a, uint32_t port_b);
void builder_unlink(struct builder *b, uint32_t port);

void builder_set_local(struct builder *b, uint32_t port);
/* SNAPSHOT_NONE: none so far. */
uint32_t builder_local(const struct builder *b);
/* Sets the entry of each node on one of the shortest paths from the local port,
 * by the cables as they are now; SNAPSHOT_NONE where there is none. */
void builder_find_entries(struct builder *b);

void builder_fault(struct builder *b, enum snapshot_fault_kind kind,
		   uint64_t guid, const char *format, ...) G_GNUC_PRINTF(4, 5);
unsigned builder_n_faults(const struct builder *b);

/* Sorts, renumbers, finds the shortest path from the local port to every node
 * (breadth first, ties to the lower GUID and port), and drops nodes without a
 * path; a CA port that is cabled to one counts as never seen. Without a local
 * port nothing is dropped. Frees the builder; the caller owns the result. */
struct snapshot *builder_finish(struct builder *b);

#endif
