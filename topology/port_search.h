/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ports by what a person calls them.
 */
#ifndef MINISM_TOPOLOGY_PORT_SEARCH_H
#define MINISM_TOPOLOGY_PORT_SEARCH_H

#include "topology/lid.h"
#include "topology/snapshot.h"

#define GUID_DIGITS	16u

/*
 * An end port by the name of its node ("NODE", "NODE/PORT", "NODE (0xNODEGUID)"), the
 * NodeGUID in its place, NodeDescription, PortGUID or, with lids, LID; a number with
 * 0x is looked up as a GUID first. SNAPSHOT_NONE: *n ports match, none or several.
 */
uint32_t port_search_one(const struct snapshot *s, const struct lid_map *lids,
			 const char *word, unsigned *n);
/* Is this an end port with that name? */
bool port_search_names(const struct snapshot *s, uint32_t port,
		       const char *word);
/* The same; *wrong: why it is SNAPSHOT_NONE, in a line or more (g_free). Not for the
 * manager. */
uint32_t port_search(const struct snapshot *s, const struct lid_map *lids,
		     const char *word, char **wrong);

/* The end port by which the node is read with this name, NodeGUID, or both as they are
 * printed. SNAPSHOT_NONE: there is none, or several nodes have it. */
uint32_t port_search_node(const struct snapshot *s, const char *word);

/* Any port but port 0, as links and faults have it: "NODE/PORT", also with the
 * NodeGUID in place of the name or as "NODE (0xNODEGUID)/PORT"; the node alone of
 * an adapter with one port. SNAPSHOT_NONE: none, or several. */
uint32_t port_search_any(const struct snapshot *s, const char *word);

#endif
