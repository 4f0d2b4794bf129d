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

#include "topology/lid.h"

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

/*
 * The memory of LIDs, in OpenSM's guid2lid format: a line "0xPORTGUID 0xMIN
 * 0xMAX", hexadecimal, and a blank one after it. A GArray of lid_range sorted
 * by GUID. A line that is no range, a range that is no aligned power of two of
 * unicast LIDs, a GUID or LID that comes twice: NULL with an error.
 */
GArray *guid2lid_parse(const char *text, const char *name, GError **error);
void guid2lid_format(const GArray *ranges, GString *out);

/*
 * The order of the switches: the engine that made it, and a rank for each
 * NodeGUID. It keeps old and new tables acyclic together across a restart. An
 * engine without ranks that came into force since then is named as well; "-": the
 * tables of the engine are not all written yet.
 *
 *	engine updn
 *	in-force minhop
 *	0x0002c90300000001 65536
 */
struct rank_line {
	uint64_t guid;		/* NodeGUID */
	uint32_t rank;
};

struct rank_list {
	char *engine;		/* that made the ranks */
	char *in_force;		/* the engine in force; NULL: none is */
	GArray *lines;		/* struct rank_line, by GUID, each once */
};

/* NULL with an error for a list that is damaged anywhere. */
struct rank_list *rank_file_parse(const char *text, const char *name,
				  GError **error);
void rank_file_format(const struct rank_list *list, GString *out);
void rank_list_free(struct rank_list *list);

/* Without a line; the engine is not in force. */
struct rank_list *rank_list_new(const char *engine);

/* NULL if no line has that GUID. */
const struct rank_line *rank_list_find(const struct rank_list *list,
				       uint64_t guid);

#endif
