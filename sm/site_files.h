/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A site's files: what the configuration names besides itself. Partitions,
 * lists of GUIDs, names of nodes, read at the start and again on demand.
 */
#ifndef MINISM_SM_SITE_FILES_H
#define MINISM_SM_SITE_FILES_H

#include "sm/config/options.h"
#include "sm/partitions.h"
#include "sm/sweep/sweep.h"

enum site_text {
	SITE_ROOTS,
	SITE_COMPUTE_NODES,
	SITE_IO_NODES,
	SITE_NAMES,
	SITE_PARTITIONS,
	SITE_TEXTS
};

/* What is replaced as a whole at a reload; NULL: not configured, or not there. */
struct site_lists {
	char *texts[SITE_TEXTS];	/* of the files */
	GArray *guids[SITE_NAMES];	/* of the lists before the names */
	GHashTable *names;	/* the node name map, see guid_files.h */
};

struct site_files {
	const struct options *conf;	/* borrowed */
	struct policy policy;
	bool is_loaded;
	struct site_lists lists;
	struct route_params route;
	struct engine_list engines;	/* of route */
	struct partitions *partitions;
};

/* Borrows conf. NULL: `errors` has a line or more for each file (and the name
 * of the engine) that is not good. Lines: GPtrArray of char *. */
struct site_files *site_files_read(const struct options *conf,
				   GPtrArray *warnings, GPtrArray *errors);
void site_files_free(struct site_files *s);

/* What site_files_load() reads, a new GStrv; read beside the loop before (it is no
 * harm if one is not there), a disk that hangs does not stop the loop. */
char **site_files_paths(const struct site_files *s);
void site_files_try(void *paths);

/* Reads all but the engines again. False: `errors` has the reasons, and all
 * values in force stay in force. So it is if a file that was there is away, or
 * one that said something is empty. */
bool site_files_load(struct site_files *s, GPtrArray *warnings,
		     GPtrArray *errors);

#endif
