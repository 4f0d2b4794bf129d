/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics as text: the format that ibnetdiscover writes and ibsim reads. A
 * manager writes it; tools/net_file_parse.h reads it without loss (nodes, GUIDs,
 * descriptions, cables, LIDs, LMC, width, speed, enhanced port 0).
 */
#ifndef MINISM_TOPOLOGY_NET_FILE_H
#define MINISM_TOPOLOGY_NET_FILE_H

#include "topology/snapshot.h"

/* Appends the whole snapshot to `out`. Node ids are S-, H- and R-<guid>, as
 * ibnetdiscover makes them; the node of the local port comes first. */
void net_file_write(const struct snapshot *s, GString *out);

/* One node and its neighbours, of which only the cables to it are written: a
 * net file by itself. */
void net_file_write_around(const struct snapshot *s, uint32_t node,
			   GString *out);

#endif
