/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links between switches that routing leaves out although they are Active:
 * links with errors or slow ones, if configured, and those that the operator
 * wants free of traffic.
 */
#ifndef MINISM_SWEEP_AVOID_H
#define MINISM_SWEEP_AVOID_H

#include "topology/snapshot.h"

/* Bits: why a link is to be left out. */
enum avoid_cause {
	AVOID_ERRORS = 1 << 0,
	AVOID_SLOW = 1 << 1,
	AVOID_BY_HAND = 1 << 2,
};

/* A port whose link is to be left out. */
struct avoid_wish {
	uint64_t guid;		/* NodeGUID */
	uint8_t num;
	unsigned causes;
	uint64_t errors;	/* within an hour */
};

enum avoid_verdict {
	AVOID_DONE,	/* it is left out */
	AVOID_NEEDED,	/* used, else a part would be cut off */
	AVOID_TOO_MANY,	/* used, since enough links of a switch are left out */
};

struct avoid_link {
	uint32_t port;		/* of the snapshot; the lower one of both */
	char *name;		/* "leaf-1/5 - spine-1/1" */
	unsigned causes;
	uint64_t errors;	/* within an hour, of the worse end */
	enum avoid_verdict verdict;
};

/*
 * The decision on each link that should be left out: of struct avoid_link,
 * sorted by name; g_ptr_array_unref(). wishes: of struct avoid_wish; slow: also
 * leave out links that could be faster. Pure.
 */
GPtrArray *avoid_choose(const struct snapshot *s, const GArray *wishes,
			bool slow);
/* In such a list; NULL: no link of it has this name. */
const struct avoid_link *avoid_find(const GPtrArray *links, const char *name);
/* Takes over s and returns it with marks at the links left out, and at no
 * others. */
struct snapshot *avoid_mark(struct snapshot *s, const GPtrArray *links);
/* "431 errors within an hour, slower than it could be"; g_free. */
char *avoid_why(const struct avoid_link *l);
/* By verdict: "is avoided", "is used, since ..." */
extern const char *const avoid_verdict_texts[];

#endif
