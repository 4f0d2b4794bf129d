/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nodes and cables that a discovery leaves out, each with a fault.
 */
#ifndef MINISM_SWEEP_FAULTS_H
#define MINISM_SWEEP_FAULTS_H

#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

/* "leaf-1 (0x..) port 3"; SNAPSHOT_NONE: our own port. g_free. */
char *faults_place(const struct snapshot *s, uint32_t port);
/* What is invalid in a NodeInfo that came through `from`; NULL: nothing. */
const char *faults_node_info(const struct node_info *i, uint32_t from);
/* The NodeGUID was found behind the first port, and behind the second. */
void faults_duplicate(struct builder *b, uint64_t guid, uint32_t first,
		      uint32_t second);
/* Is the PortGUID of a reply that of another node's port? Keys, partitions and
 * LIDs go by it, so the second node is left out, which of a CA and a switch is the
 * CA. port: the one that replied; SNAPSHOT_NONE: its node is new. */
bool faults_port_guid(struct builder *b, uint32_t from, uint32_t port,
		      const struct node_info *info);

/* When all is read. Cables whose other end says that it is down are removed: the
 * link has gone in the meantime, or another node uses the GUID of the one at that
 * end. */
void faults_half_cables(struct builder *b);
/* Ports that hide their M_Key, and accept none of ours. */
void faults_locked(struct builder *b, const struct mkey_db *keys);

#endif
