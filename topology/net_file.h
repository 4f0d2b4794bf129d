/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics as text: the format that ibnetdiscover writes and ibsim reads.
 * What one writes the other reads without loss (nodes, GUIDs, descriptions,
 * cables, LIDs, LMC, width, speed, enhanced port 0).
 */
#ifndef MINISM_TOPOLOGY_NET_FILE_H
#define MINISM_TOPOLOGY_NET_FILE_H

#include "topology/generate.h"
#include "topology/snapshot.h"

/* Appends the whole snapshot to `out`. Node ids are S-, H- and R-<guid>, as
 * ibnetdiscover makes them; the node of the local port comes first. */
void net_file_write(const struct snapshot *s, GString *out);

/* One node and its neighbours, of which only the cables to it are written: a
 * net file by itself. */
void net_file_write_around(const struct snapshot *s, uint32_t node,
			   GString *out);

/*
 * Reads ibnetdiscover's or ibsim's text (no `include`, no `do`). `name` is the
 * file's name for messages. GUIDs that are not given follow from the order of
 * the nodes, as in ibsim. The local port is the first listed port of the first
 * CA; nodes that it does not reach are left out (builder_finish). Returns a new
 * snapshot or NULL with a TEXT_ERROR that names the line.
 */
struct snapshot *net_file_parse(const char *text, const char *name,
			     GError **error);

/* Is it a formula (generate.h)? One has a bracket, and no file that name. */
bool net_file_is_formula(const char *name);
/* The fabric of a formula or of a file. NULL with an error that names it. */
struct snapshot *net_file_open(const char *name,
			       const struct generate_options *options,
			       GError **error);

#endif
