/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counts links that go down again and again, and ports that send too many
 * traps, and holds them down if configured.
 */
#ifndef MINISM_SWEEP_FLAPS_H
#define MINISM_SWEEP_FLAPS_H

#include "topology/snapshot.h"

#define FLAP_LIMIT	5u	/* a link flaps if it goes down so often
				   within a minute */

struct flap_params {
	unsigned hold_s;	/* it is not used for so long; 0: reported
				   only */
	bool disable;		/* disable a babbling port for hold_s; 0: 60 */
};

struct flap {
	uint64_t guid, far_guid;	/* NodeGUIDs; far_guid 0: a port that
					   sends traps */
	uint8_t num;
	char *name;		/* "link leaf-1/5 - spine-1/1", "leaf-1/5" */
	unsigned downs, traps;	/* within the last hour */
	bool flaps, babbles;	/* reached the limit */
	bool held;
	uint64_t disabled_guid;	/* NodeGUID of the switch whose port */
	uint8_t disabled_num;	/* was disabled for it, and was not read back
				   as enabled yet; 0: none was */
	int64_t last;		/* event */
	int64_t held_until;	/* end of the last hold */
	/* private */
	int64_t recent[FLAP_LIMIT];	/* times of the last downs, a ring */
	unsigned n_recent;		/* since the last hold */
	int64_t pause;			/* of the last hold */
	int64_t traps_since;
	unsigned traps_now;
};

struct flaps {
	struct flap_params params;
	GHashTable *list;	/* struct flap, which is also the key */
	uint64_t downs;		/* how often links went down since the start */
};

struct flaps *flaps_new(const struct flap_params *params);
void flaps_free(struct flaps *f);

/* Ports (struct persist_port) that were disabled before a restart, or by the
 * former master: they are to be enabled. */
void flaps_enable(struct flaps *f, const GArray *disabled, int64_t now);

/* before: the last discovered snapshot, after: the new one; counts links that were
 * Active and are not. *told: the links that start to flap, of struct flap *,
 * borrowed until the next call. */
void flaps_note(struct flaps *f, const struct snapshot *before,
		const struct snapshot *after, int64_t now, GPtrArray *told);
/* Counts a trap of a port of s (port 0 of a switch sends those for its
 * ports). is_late: it may be a repeat for want of an answer. Returns the entry,
 * borrowed, if it starts to babble; else NULL. */
struct flap *flaps_trap(struct flaps *f, const struct snapshot *s,
			uint32_t port, bool is_late, int64_t now);
/* Holds the link from now on, each time for longer. */
void flaps_hold(struct flaps *f, struct flap *p, int64_t now);
/* Takes over s and returns it without the cables that are held; their ports
 * are marked. Never removes the SM's own cable, nor one without which no directed
 * route reaches a node: its hold ends, and it is appended to `needed` (struct
 * flap *, borrowed until the next call). */
struct snapshot *flaps_apply(struct flaps *f, struct snapshot *s,
			     GPtrArray *needed);
/* When the first hold is to end; INT64_MAX: there is none. */
int64_t flaps_due(const struct flaps *f);
/* Ends its hold. */
void flap_release(struct flap *p, int64_t now);

/* Links that went down within the hour, those that are held, and ports that
 * babble, sorted by name: of struct flap *, borrowed; g_ptr_array_unref(). */
GPtrArray *flaps_list(const struct flaps *f, int64_t now);

#endif
