/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The differences of two snapshots of a fabric, as text.
 */
#ifndef MINISM_TOPOLOGY_CHANGES_H
#define MINISM_TOPOLOGY_CHANGES_H

#include "topology/lid.h"
#include "topology/snapshot.h"

/* In the order of the list. */
enum change_kind {
	CHANGE_SWITCH_LEFT,
	CHANGE_HOST_LEFT,	/* CA or router; those of a switch that left are
				   counted in its line */
	CHANGE_LINK_DOWN,	/* between switches that stay */
	CHANGE_MOVED,		/* a CA to another switch port */
	CHANGE_RENAMED,		/* another NodeDescription */
	CHANGE_SLOW,		/* a link below what both its ends support */
	CHANGE_SWITCH_CAME,
	CHANGE_HOST_CAME,
	CHANGE_LINK_UP,
	CHANGE_FULL_SPEED,
	CHANGE_KINDS
};
/* Something is worse than before. */
bool change_is_loss(enum change_kind kind);

struct change {
	enum change_kind kind;
	uint64_t guid;		/* of the node, of a link's lower one */
	char *name;		/* "node-05", "link leaf-1/5 - spine-1/1" */
	char *text;		/* a line; begins with the name */
};

/* The link at `port` is slower than what both its ends support, which *best has
 * as if it were active. */
bool link_is_slow(const struct snapshot *s, uint32_t port,
		  struct port_info *best);

/* The nodes that are away, since when and where they were; for
 * changes_find(). */
GHashTable *changes_away_new(void);
/* where: the port that it was cabled to, or NULL */
void changes_away_add(GHashTable *away, uint64_t guid, int64_t since,
		      const char *name, const char *where);

/*
 * struct change by kind, then GUID and port; the cables of a switch that left
 * or came are not listed. old NULL: only slow links of `new`. lids: of `old`,
 * for LIDs in the text; NULL: none. away: is updated, and has the time since
 * which a node was away; may be NULL.
 */
GPtrArray *changes_find(const struct snapshot *old,
			const struct lid_map *lids,
			const struct snapshot *new, GHashTable *away,
			int64_t now);

/* For a log: struct change, where above `most` of a kind are one, without a
 * name. To be freed with g_ptr_array_unref(). */
GPtrArray *changes_group(const GPtrArray *changes, unsigned most);

#endif
