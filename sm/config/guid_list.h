/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A list of GUIDs as a file, as OpenSM reads them (roots, compute nodes, I/O
 * nodes): a hexadecimal GUID a line, # comments.
 */
#ifndef MINISM_CONFIG_GUID_LIST_H
#define MINISM_CONFIG_GUID_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum guid_list_error {
	GUID_LIST_ERROR_SYNTAX,	/* starts with name:line:column: */
};
#define GUID_LIST_ERROR guid_list_error_quark()
GQuark guid_list_error_quark(void);

/* A GArray of uint64_t, ascending, each once; NULL with an error if there is a
 * line that is no GUID. */
GArray *guid_list_parse(const char *text, const char *name, GError **error);

/* Binary search. `list` may be NULL: nobody is on it. */
bool guid_list_has(const GArray *list, uint64_t guid);

#endif
