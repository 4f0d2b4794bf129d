/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A run of a subnet manager as text: a line for each MAD and each decision,
 * with the reason and the clause of IBA. Pure: values in, lines out.
 */
#ifndef MINISM_TOOLS_EXPLAIN_H
#define MINISM_TOOLS_EXPLAIN_H

#include "routing/tables.h"
#include "topology/lid.h"
#include "topology/snapshot.h"

enum explain_format { EXPLAIN_NONE, EXPLAIN_TEXT, EXPLAIN_JSON };

enum explain_kind {
	EXPLAIN_HEADING,	/* a phase begins */
	EXPLAIN_DECISION,
	EXPLAIN_REQUEST,	/* of our own; not printed, for its answer is */
	EXPLAIN_MAD,
};

/* Valid during the call. */
struct explain_line {
	enum explain_kind kind;
	int64_t us;		/* since the first event */
	const char *phase;	/* "discovering" */
	const char *what;	/* "Get PortInfo", "LID"; NULL: heading */
	const char *where;	/* "leaf-1"; a node without a name yet is
				   "leaf-1/5", by the port that leads to it; "" */
	const char *path;	/* directed route, "0,1,5"; or NULL */
	const char *text;
	const char *why, *clause;	/* or NULL */
	bool is_new;		/* the first with this reason in this phase */
};
typedef void (*explain_fn)(const struct explain_line *line, void *data);

struct explain;

struct explain *explain_new(explain_fn fn, void *data);
void explain_free(struct explain *e);	/* NULL is ignored */

/* Text: a reason once in a phase, later its clause only. JSON: an object. Ends
 * with a newline. */
void explain_print(const struct explain_line *line, enum explain_format format,
		   GString *out);

/* The following lines belong to this phase; static. */
void explain_phase(struct explain *e, int64_t now, const char *phase);

enum explain_event {
	EXPLAIN_SENT,
	EXPLAIN_RECEIVED,
	EXPLAIN_RETURNED,	/* our request: no answer came in time */
};

/* A request and its answer are one line, which is written with the answer. lid:
 * of the other end, if the MAD is routed by LID. */
void explain_mad(struct explain *e, int64_t now, enum explain_event event,
		 unsigned lid, const uint8_t *mad, size_t len);

/* For an observer of the fabric: the answer of `where` to a request of this
 * method, from any manager. */
void explain_answer(struct explain *e, int64_t now, const char *where,
		    unsigned method, const uint8_t *mad);

/* Decisions. why and clause are static, or NULL. */
void explain_say(struct explain *e, int64_t now, const char *what,
		 const char *where, const char *why, const char *clause,
		 const char *format, ...) G_GNUC_PRINTF(7, 8);
/* From here on LIDs have the names of s; takes references. */
void explain_set_lids(struct explain *e, struct snapshot *s,
		      struct lid_map *lids);

#endif
