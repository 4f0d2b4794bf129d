/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A view that was read: a fabric as its manager publishes it (minism-view(5)),
 * with what a program asks of it.
 */
#ifndef MINISM_TOOLS_VIEW_H
#define MINISM_TOOLS_VIEW_H

#include "routing/tables.h"
#include "tools/client.h"
#include "topology/lid.h"
#include "topology/snapshot.h"
#include "topology/view_line.h"

/* A stage of the manager's last sweep. */
struct view_stage {
	char *name;
	int64_t begin_us, end_us;
	GPtrArray *mads;	/* of char *, "Get NodeInfo" .. */
	GArray *counts;		/* of uint64_t, as many */
};

/* A link that should be left out of routing. */
struct view_avoided {
	uint32_t port;		/* of the snapshot; one end */
	uint64_t errors;	/* within an hour; 0: for another reason */
	bool used;		/* all the same */
	char *why;
};

struct tool_view {
	uint64_t generation;
	uint64_t port_guid;	/* the manager's port */
	int64_t at;		/* ms since 1970 */
	char *by;		/* the program that wrote it */
	struct snapshot *s;	/* names and states as the manager has them */
	struct lid_map *lids;
	struct lft *lft;	/* NULL: it has no tables */
	char *verdict;		/* "up", ... */
	char *engine;		/* NULL: no routes */
	GPtrArray *notes;	/* of char *: complaints, warnings, notes */
	GPtrArray *faults;	/* of char *: "link leaf-1/5 - spine-1/1" */
	GPtrArray *stages;	/* of struct view_stage */
	GPtrArray *avoided;	/* of struct view_avoided */
};

/* NULL with a TEXT_ERROR: it is no fabric, or a view that is cut off or of a
 * version that this program does not know. A plain net file is a view without
 * anything but the fabric. name: for messages. */
struct tool_view *tool_view_read(const char *text, const char *name,
				 GError **error);
/* The view that `request` asks a manager for, or the one in a file. NULL: there
 * is none; an error besides CLIENT_ERROR is the manager's answer, or a file's. */
struct tool_view *tool_view_get(const struct client_place *place,
				const char *file, const char *request,
				GError **error);
void tool_view_free(struct tool_view *v);	/* NULL is ignored */

#endif
