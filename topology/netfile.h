/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fabrics as text: the format that ibnetdiscover writes and ibsim reads.
 * What one writes the other reads without loss (nodes, GUIDs, descriptions,
 * cables, LIDs, LMC, width, speed, enhanced port 0).
 */
#ifndef MINISM_TOPOLOGY_NETFILE_H
#define MINISM_TOPOLOGY_NETFILE_H

#include "topology/subnet.h"

/* Appends the whole snapshot to `out`. Node ids are S-, H- and R-<guid>, as
 * ibnetdiscover makes them; the node of the local port comes first. */
void netfile_write(const struct subnet *s, GString *out);

enum netfile_error {
	NETFILE_ERROR_SYNTAX,	/* message starts with name:line: */
};
#define NETFILE_ERROR netfile_error_quark()
GQuark netfile_error_quark(void);

/*
 * Reads ibnetdiscover's or ibsim's text (no `include`, no `do`). `name` is
 * the file's name for messages. GUIDs that are not given are made up from the
 * order of the nodes, as ibsim does. The local port is the one that is listed
 * first of the first CA; what it has no way to is left out (builder_finish).
 * Returns a new snapshot or NULL with an error that names the line.
 */
struct subnet *netfile_parse(const char *text, const char *name,
			     GError **error);

#endif
