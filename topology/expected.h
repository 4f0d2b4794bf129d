/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The expected fabric: every node and link that was ever seen, at the highest
 * rate that the link had, until "minismctl accept" removes it.
 *
 * A link is missing if both its nodes are there and neither port has a cable: a
 * port with another cable was recabled, and the new link is expected instead. If
 * that leaves two ports without a cable, a link between these is missing. The
 * former link is told for a day.
 * Links of a missing node are not listed. If a node was replaced by another
 * one, its GUID is missing.
 */
#ifndef MINISM_TOPOLOGY_EXPECTED_H
#define MINISM_TOPOLOGY_EXPECTED_H

#include <string.h>

#include "topology/expected_kind.h"
#include "topology/lid.h"
#include "topology/view_line.h"

struct expected_fault {
	enum expected_kind kind;
	int64_t since;		/* s since 1970 */
	uint64_t guid;		/* of the node, of a link's lower one */
	uint8_t port;		/* of a link: at that node, */
	unsigned near;		/* and the length of that end in the name, "leaf-1/5";
				   a slow link has them, too; else 0 */
	uint64_t far;		/* of a link: the node at its other end; of a node
				   with one link, that to which it leads; or 0 */
	uint8_t far_port;
	char *name;		/* "node-05", "leaf-1/5 - spine-1/1" */
	char *text;		/* "at leaf-2/1", "8 links, 4 hosts",
				   "1xQDR of 4xEDR"; may be "" */
	char *place;		/* ", where node-17 (0x0002..) is now", ", at
				   leaf-1/6", ", behind others"; or NULL */
	bool is_behind;		/* a switch that had no cable to what is there:
				   not the cause */
	uint64_t cause;		/* of a host: all its links lead to switches
				   that are missing, of which this is one; 0:
				   a fault by itself */

	/* Private. Missing and its cause, or both of a link, or the switch */
	struct expected_node *of[2];
	struct expected_link *link;	/* NULL: it is none; */
	struct expected_silent *silent;	/* likewise */
};

/* In the order of the list of changes. */
enum change_kind {
	CHANGE_SWITCH_MISSING,	/* a fault that has begun, if it has no cause */
	CHANGE_SWITCH_BEHIND,	/* likewise, is_behind */
	CHANGE_HOST_MISSING,	/* CA or router */
	CHANGE_LINK_MISSING,
	CHANGE_RECABLED,	/* between switches: another cable is in its place, */
	CHANGE_MOVED,		/* or a host's */
	CHANGE_RENAMED,		/* another NodeDescription */
	CHANGE_SLOW,		/* a link below what it had, or what both its ends
				   support */
	CHANGE_SWITCH_CAME,	/* new or back */
	CHANGE_HOST_CAME,
	CHANGE_LINK_UP,		/* likewise; a new one between switches only */
	CHANGE_FULL_SPEED,
	CHANGE_KINDS
};

/* Something is worse than before. */
static inline bool
change_is_loss(enum change_kind kind)
{
	return kind <= CHANGE_RECABLED || kind == CHANGE_SLOW;
}

struct change {
	enum change_kind kind;
	uint64_t guid;		/* of the node, of a link's lower one; 0: of
				   many */
	char *name;		/* "node-05", "leaf-1/5 - spine-1/1" */
	char *text;		/* a line */
};

struct expected {
	GPtrArray *faults;	/* struct expected_fault, by kind, those behind
				   others last, then by name;
				   as of the last update or accept */
	GPtrArray *former;	/* likewise, but no faults: cables that are at
				   other ports, and names of nodes, for a day,
				   until they are as before, or an accept; text
				   is all that is said, NULL: nothing now */
	GPtrArray *changes;	/* struct change, by kind, then GUID: what
				   happened between the last two updates. Of
				   more than eight of a kind the names are in
				   one */
	uint32_t n[EXPECTED_KINDS];	/* what is expected, missing or not */

	/* Private */
	GPtrArray *nodes;
	GArray *silent;			/* ports */
	GArray *links;
	GHashTable *by_guid;	/* of nodes */
	struct expected_node **here;	/* by node of an update's snapshot */
	bool is_first;		/* this update: no node was seen before it, in this
				   run */
	bool has_new_names;	/* since is_shared of the nodes was found */
};

struct expected *expected_new(void);
void expected_free(struct expected *e);

/* What is kept of it; after a reading, expected_update() finds the faults. */
extern const struct state_part expected_part;

/* Compares, and adds new nodes and links. lids: of `s`, for texts; or NULL. now:
 * s since 1970; clock: us, of one that only goes on, for the time that a node was
 * away. */
void expected_update(struct expected *e, const struct snapshot *s,
		     const struct lid_map *lids, int64_t now, int64_t clock);

/* What a node with this GUID is called: one of several of a name has its GUID
 * behind it; NULL: it is not known. g_free. */
char *expected_name(const struct expected *e, uint64_t guid);

/*
 * The memory of LIDs, of struct lid_range, in which a switch that has none, there or
 * in `s`, and is at the cables of one that is missing, has the LID of that one, as if
 * it had had it before: tables and routes may then stay. The memory has lines by
 * PortGUID: of a switch whose NodeGUID is another one nothing is found. g_array_unref.
 */
GArray *expected_bequeath(const struct expected *e, const struct snapshot *s,
			  const GArray *ranges);

/* The numbers of a line VIEW_VERDICT: of `s`, which may be NULL, and what is
 * expected, no less. e NULL: nothing. */
void expected_count(const struct expected *e, const struct snapshot *s,
		    uint64_t n[VIEW_WORDS]);

/* The nodes and their cables, for a manager that has seen no fabric yet: where
 * each GUID is to be. Ports above the last one with a cable, names, and all that
 * a device says are not in it. */
struct snapshot *expected_snapshot(const struct expected *e);

/* The missing nodes and links and the rates of these faults are no longer expected,
 * and former cables and names no longer told. word: a node by its name or GUID, a
 * switch with the hosts whose cause it is, or as "leaf-1/5" an end of a link, or the
 * name of its fault; NULL: all. Returns their number; none before an update. */
unsigned expected_accept(struct expected *e, const char *word);

/* The fault of a missing node that has this name, or this NodeGUID, or this port
 * ("leaf-1/5"); or of the missing link of which that is an end; NULL: there is
 * none. */
const struct expected_fault *expected_find(const struct expected *e,
					   const char *word);

/* Behind the answer that no port has this word: that it may be a LID or PortGUID of
 * a missing node, which are not known; "" if it cannot be. */
const char *expected_hint(const struct expected *e, const char *word);

/* Of a fault with `near`: its other end, "spine-1/1". */
static inline const char *
expected_far_end(const struct expected_fault *f)
{
	return f->name + f->near + strlen(" - ");
}

/* "host node-05 is missing since 2026-11-28 10:12:18: at leaf-2/1"; g_free. */
char *expected_missing_text(const struct expected_fault *f);
/* "2026-11-28 10:12:18", "?" of a time that is none; g_free. */
char *expected_since_text(int64_t since);

/* "missing: 1 switch, 2 links; slow: 1 link: spine-2, .. and 3 more", with the
 * names of `most` faults that have no cause among the others. "" if there are
 * none; g_free. */
char *expected_summary(const struct expected *e, unsigned most);

#endif
