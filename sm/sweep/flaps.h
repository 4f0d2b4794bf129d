/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links that go down again and again, and ports that send too many traps:
 * counted, and held down if that is wanted.
 */
#ifndef MINISM_SWEEP_FLAPS_H
#define MINISM_SWEEP_FLAPS_H

#include "topology/snapshot.h"

#define FLAP_LIMIT_MAX	32u

struct flap_params {
	unsigned limit;		/* a link that goes down so often, at most
				   FLAP_LIMIT_MAX; 0: 5 */
	unsigned interval_s;	/* in this time flaps; 0: 60 */
	unsigned hold_s;	/* and is not used for so long; 0: it is only
				   told of */
	bool disable;		/* a port that babbles is disabled for hold_s;
				   0: 60 */
};

struct flap {
	uint64_t guid, far_guid;	/* of the nodes; far_guid 0: a port
					   that sends traps */
	uint8_t num;
	char *name;		/* "link leaf-1/5 - spine-1/1", "leaf-1/5" */
	unsigned downs, traps;	/* within the hour: it is listed so long */
	bool flaps, babbles;	/* reached the limit */
	bool held;
	uint64_t disabled_guid;	/* of the node whose port disabled_num was */
	uint8_t disabled_num;	/* disabled for that; 0: none was */
	int64_t last;		/* event */
	int64_t held_until;	/* or was, the last time */
	/* private */
	int64_t recent[FLAP_LIMIT_MAX];	/* the last downs, a ring, */
	unsigned n_recent;		/* since the last hold */
	int64_t pause;			/* of the last hold */
	int64_t traps_since;
	unsigned traps_now;
};

struct flaps;

struct flaps *flaps_new(const struct flap_params *params);
void flaps_free(struct flaps *f);

/* before: as published, after: as discovered; a link that was Active and is not
 * has been down. What flaps since now is in *told, of struct flap *, borrowed
 * until the next call. */
void flaps_note(struct flaps *f, const struct snapshot *before,
		const struct snapshot *after, int64_t now, GPtrArray *told);
/* A port of s sent a trap, or a switch its port 0 for one of them. The entry,
 * borrowed, if it babbles since now; else NULL. */
struct flap *flaps_trap(struct flaps *f, const struct snapshot *s,
			uint32_t port, int64_t now);
/* Its link is held by disabling this port, see flaps_release(). */
void flaps_disable(struct flaps *f, struct flap *p, uint64_t guid,
		   uint8_t num, int64_t now);
/* A port that was disabled before a restart: it may be used again. */
void flaps_recall(struct flaps *f, uint64_t guid, uint8_t num, int64_t now);
/* Consumes s, and returns it without the cables that are held, whose ports are
 * marked. Never the one at the SM's own port. */
struct snapshot *flaps_apply(struct flaps *f, struct snapshot *s);
/* When the next cable may be used again; INT64_MAX: none is held. */
int64_t flaps_due(const struct flaps *f);
/* Of struct flap *, borrowed: what is held no longer. A port that was disabled
 * for it is to be enabled. */
GPtrArray *flaps_release(struct flaps *f, int64_t now);

/* Links that went down within the hour and ports that babble, by name: of
 * struct flap *, borrowed; g_ptr_array_unref(). */
GPtrArray *flaps_list(const struct flaps *f, int64_t now);
/* Since the start. */
uint64_t flaps_downs(const struct flaps *f);

#endif
