/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Text files with a GUID a line. A line that cannot be read is a TEXT_ERROR
 * whose message starts with name:line:column:.
 */
#ifndef MINISM_CONFIG_GUID_FILES_H
#define MINISM_CONFIG_GUID_FILES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A list as OpenSM reads them (roots, compute nodes, I/O nodes): a hexadecimal
 * GUID a line, # comments. A GArray of uint64_t, ascending, each once; NULL
 * with an error if there is a line that is no GUID.
 */
GArray *guid_list_parse(const char *text, const char *name, GError **error);

/* The same in one line: "0x1,0x2". NULL: it is no such list, or empty. */
GArray *guid_list_of_line(const char *line);

/* Binary search. `list` may be NULL: it is empty. */
bool guid_list_has(const GArray *list, uint64_t guid);

/*
 * The names of nodes at a site: the map that infiniband-diags and OpenSM read
 * (ibnetdiscover(8), NODE NAME MAP FILE FORMAT). A line is a NodeGUID and a
 * name, which may be in quotes; # comments.
 * NodeGUID (uint64_t *) -> name (char *, UTF-8, printable); the caller has the
 * only reference. NULL with an error at the first bad line. Of two names for a
 * GUID the first one holds; the other is a line in `warnings`, which may be NULL.
 */
GHashTable *node_name_map_parse(const char *text, const char *file,
				GPtrArray *warnings, GError **error);
#define NODE_NAME_MAP_MAX	255	/* bytes of a name */

#endif
