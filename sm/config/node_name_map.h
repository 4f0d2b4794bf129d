/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a site calls its nodes: the map that infiniband-diags and OpenSM read
 * (ibnetdiscover(8), NODE NAME MAP FILE FORMAT). A line is a NodeGUID and a
 * name, which may be in quotes; # comments.
 */
#ifndef MINISM_CONFIG_NODE_NAME_MAP_H
#define MINISM_CONFIG_NODE_NAME_MAP_H

#include <glib.h>

#define NODE_NAME_MAP_MAX	255	/* bytes of a name */

enum node_name_map_error {
	NODE_NAME_MAP_ERROR_SYNTAX,	/* starts with file:line:column: */
};
#define NODE_NAME_MAP_ERROR node_name_map_error_quark()
GQuark node_name_map_error_quark(void);

/* NodeGUID (uint64_t *) -> name (char *, UTF-8, printable); the caller has the
 * only reference. NULL with an error at the first line that is none. Of two
 * names for a GUID the first one holds; the other is a line in `warnings`,
 * which may be NULL.
 * `file` is for the messages. */
GHashTable *node_name_map_parse(const char *text, const char *file,
			    GPtrArray *warnings, GError **error);

#endif
