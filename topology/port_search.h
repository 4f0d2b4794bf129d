/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ports and partitions by what a person calls them.
 */
#ifndef MINISM_TOPOLOGY_PORT_SEARCH_H
#define MINISM_TOPOLOGY_PORT_SEARCH_H

#include "topology/lid.h"
#include "topology/partition.h"
#include "topology/snapshot.h"

/*
 * An end port by the name of its node ("NODE", "NODE/PORT", "NODE (0xNODEGUID)"), the
 * NodeGUID in its place, NodeDescription, PortGUID or, with lids, LID; a number with
 * 0x is looked up as a GUID first.
 * SNAPSHOT_NONE: no port or several ports match, and *wrong says so in a line or
 * more (g_free); with `absent` a GUID of 16 digits that no port has is no error,
 * and *absent is that GUID, else 0. s NULL: there are no ports.
 */
uint32_t port_search(const struct snapshot *s, const struct lid_map *lids,
		     const char *word, uint64_t *absent, char **wrong);

/* The end port by which the node is read with this name, NodeGUID, or both as they are
 * printed. SNAPSHOT_NONE: there is none, or several nodes have it. */
uint32_t port_search_node(const struct snapshot *s, const char *word);

/* Any port but port 0, as links and faults have it: "NODE/PORT", also with the
 * NodeGUID in place of the name or as "NODE (0xNODEGUID)/PORT"; the node alone of
 * an adapter with one port. SNAPSHOT_NONE: none, or several. */
uint32_t port_search_any(const struct snapshot *s, const char *word);

/* A partition by name or P_Key; a name goes before a number, as in the file. NULL
 * and *wrong: there is none. */
const struct partition *
partition_rules_search(const struct partition_rules *rules, const char *word,
		       char **wrong);

/* "BEFORE word AFTER", and the nearest of the names that are valid. g_free. */
char *port_search_wrong(const char *before, const char *word,
			const char *after, const char *const *names, size_t n);

#endif
