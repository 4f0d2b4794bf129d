/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A view that was read: a fabric as its manager publishes it (minism-view(5)),
 * with what a program asks of it.
 */
#ifndef MINISM_TOOLS_VIEW_H
#define MINISM_TOOLS_VIEW_H

#include "routing/tables.h"
#include "tools/client.h"
#include "topology/expected.h"
#include "topology/lid.h"
#include "topology/partition.h"
#include "topology/snapshot.h"
#include "topology/view_line.h"

/* A line of a view, as it stands. */
struct view_text {
	uint64_t n[VIEW_WORDS];
	char *text;		/* NULL: it has none */
};
struct view_lines {
	GPtrArray *of[VIEW_KINDS];	/* of struct view_text */
	struct expected *expected;	/* its faults are those of VIEW_FAULT */
};

/* A multicast group; of it, what is listed. */
struct view_group {
	uint8_t mgid[16];
	uint64_t mlid, pkey, q_key, mtu, rate, sl;
	uint64_t permanent;	/* bool */
	GArray *members;	/* struct view_member */
};
struct view_member {
	uint64_t guid;		/* of its port */
	unsigned joined;	/* JoinState */
};

struct tool_view {
	char *name;	/* for messages: its file, or whose it is */
	struct view_lines *lines;	/* those about the whole fabric */
	struct snapshot *s;	/* names and states as the manager has them */
	struct lid_map *lids;
	struct lft *lft;	/* what was read of it; NULL: nothing */
	struct partition_rules *rules;	/* names and SLs, no rules */
	struct memberships *memberships;
	GPtrArray *groups;	/* of struct view_group */
	GHashTable *shared;	/* names that several nodes have */
	GHashTable *by_guid;	/* PortGUID, uint64_t *, -> port + 1 */
	GHashTable *speeds;	/* port + 1 -> char *: has no cable, */
	GHashTable *could_be;	/* or is slower than that; its lower end */
	GHashTable *lost;	/* port + 1 -> struct expected_fault *: its link,
				   or the host behind it, is missing */
	bool whole;		/* it has all tables */
};

/* NULL with a TEXT_ERROR: it is no fabric, or a view that is cut off or of a
 * version that this program does not know. A plain net file is a view without
 * anything but the fabric. name: for messages. */
struct tool_view *tool_view_read(const char *text, const char *name,
				 GError **error);
/* An answer of the manager that is no view; the code is the answer's. */
#define TOOL_VIEW_ERROR tool_view_error_quark()
GQuark tool_view_error_quark(void);

/* The view that `request` asks a manager for, or the one in a file, which must have
 * nodes as well unless that is "view status"; of a node the whole one if the manager
 * does not find it. NULL: there is none; an error is of
 * CLIENT_ERROR, TOOL_VIEW_ERROR or a file's. */
struct tool_view *tool_view_get(const struct client_place *place,
				const char *file, const char *request,
				GError **error);
/* What a part of the view says besides: another request, to the same manager. A
 * file has no parts. False: the error of tool_view_get(), or G_FILE_ERROR_AGAIN:
 * the manager's fabric is another one now. */
bool tool_view_more(struct tool_view *v, const struct client_place *place,
		    const char *request, GError **error);
/* The same of a text. */
bool tool_view_add(struct tool_view *v, const char *text, const char *name,
		   GError **error);
/* A plain net file does not tell the states of ports. */
bool tool_view_has_states(const struct tool_view *v);
/* The node that is missing and has this name or NodeGUID, in words; NULL: none;
 * g_free. */
char *tool_view_missing(const struct tool_view *v, const char *word);
/* What a word may mean. */
enum find_what {
	FIND_END_PORT,
	FIND_NODE,	/* the first port of a node with several, too */
	FIND_CABLE_END,	/* any port with a number, which need not have a LID */
};
/* The port that it means; SNAPSHOT_NONE: *why, which is g_free, says that a node is
 * missing, and *missing, which may be NULL, is true, or why it means none. */
uint32_t tool_view_find(const struct tool_view *v, const char *word,
			enum find_what what, bool *missing, char **why);

/* snapshot_full_port_name(); g_free. */
char *tool_view_port_name(const struct tool_view *v, uint32_t port);
/* The port of a line that begins with a NodeGUID and a port, or SNAPSHOT_NONE. */
uint32_t tool_view_line_port(const struct tool_view *v,
			     const uint64_t numbers[VIEW_WORDS]);
/* The end port with this PortGUID, or SNAPSHOT_NONE. */
uint32_t tool_view_port(const struct tool_view *v, uint64_t guid);

/* A line of nothing if there is none. */
const struct view_text *view_lines_first(const struct view_lines *lines,
					 enum view_kind kind);

/* What follows the first bytes of a line's text, which may be NULL. */
const char *view_text_rest(const char *text, uint64_t len);

void tool_view_free(struct tool_view *v);	/* NULL is ignored */

#endif
