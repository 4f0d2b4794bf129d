/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of the switches as a file: which engine made it, and a rank for
 * each NodeGUID. What keeps old and new tables acyclic together across a
 * restart. An engine without ranks that came into force since then is named
 * as well.
 *
 *	engine updn
 *	in-force minhop
 *	0x0002c90300000001 65536
 */
#ifndef MINISM_CONFIG_RANK_FILE_H
#define MINISM_CONFIG_RANK_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum rank_file_error {
	RANK_FILE_ERROR_SYNTAX,	/* message starts with name:line: */
};
#define RANK_FILE_ERROR rank_file_error_quark()
GQuark rank_file_error_quark(void);

struct rank_line {
	uint64_t guid;		/* NodeGUID */
	uint32_t rank;
};

struct rank_list {
	char *engine;		/* that made the ranks */
	char *in_force;		/* the engine in force */
	GArray *lines;		/* struct rank_line, by GUID, each once */
};

/* NULL with an error for a list that is damaged anywhere. */
struct rank_list *rank_file_parse(const char *text, const char *name,
				 GError **error);
void rank_file_format(const struct rank_list *list, GString *out);
void rank_list_free(struct rank_list *list);

/* Without a line; both engines are this one. */
struct rank_list *rank_list_new(const char *engine);

/* NULL if nobody of that GUID is on the list. */
const struct rank_line *rank_list_find(const struct rank_list *list,
				       uint64_t guid);

#endif
