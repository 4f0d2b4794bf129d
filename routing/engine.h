/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A routing engine: graph in, tables out. Pure.
 *
 * An engine is one file and one line in engine.c. It may not know how tables
 * reach hardware nor what happened before; it may be handed the tables of
 * before as a value.
 */
#ifndef MINISM_ROUTING_ENGINE_H
#define MINISM_ROUTING_ENGINE_H

#include <glib.h>

#include "routing/graph.h"
#include "routing/tables.h"

struct order;

enum engine_error {
	ENGINE_ERROR_UNKNOWN,	/* no engine of that name */
	ENGINE_ERROR_FABRIC,	/* the engine cannot route this fabric */
};
#define ENGINE_ERROR engine_error_quark()
GQuark engine_error_quark(void);

/*
 * What an engine may look at. Only `g` is needed; what else is not there is
 * NULL or 0.
 */
struct engine_input {
	const struct graph *g;
	/* g with the links that are to be avoided, for the check of tables;
	 * NULL: there are none. */
	const struct graph *whole;
	/* What the switches hold, rows in the numbering of g: an entry that is
	 * still right and balanced is worth keeping. LFT_NO_PATH where that is
	 * not known, and what it says may be anything: another manager's, of
	 * another fabric. May be shorter or longer than g->top. */
	const struct lft *previous;
	/* The order in force, from engine_output.ranks of an earlier sweep, by
	 * switch: a cable leads up to the lower one. ENGINE_NO_RANK for a
	 * switch that had none. */
	const uint32_t *ranks;
	/* What order_compute() makes without ranks, if somebody did so for
	 * this fabric. */
	struct order *order;
	/* auto: the load of the busiest channel in better tables; those of an
	 * engine that can tell that its own are far worse are of no use. 0:
	 * there are none. */
	double rival;
	const uint8_t *is_root;		/* by switch: given as a root */
	const uint8_t *is_io;		/* by target: an I/O node */
	unsigned n_threads;		/* at most; the result is the same */
};

#define ENGINE_NO_RANK	UINT32_MAX

struct engine_output {
	struct lft *lft;	/* the caller's, all LFT_NO_PATH, for g->top */
	uint32_t *ranks;	/* g_malloc'ed, by switch: what to hand in next
				   time; NULL if the engine has no order */
	GPtrArray *notes;	/* lines, owned: what of the fabric is not as
				   the engine expects, and what came of it */
};

void engine_output_init(struct engine_output *out, struct lft *lft);
void engine_output_clear(struct engine_output *out);	/* not the lft */

struct engine {
	const char *name;
	const char *summary;	/* one line, for --help and the man page */
	bool deadlock_free;	/* by design, on one VL */
	bool has_estimate;	/* looks at engine_input.rival */
	/* False with an error if the fabric is not one for this engine; then
	 * `out` is of no use. */
	bool (*compute)(const struct engine_input *in,
			struct engine_output *out, GError **error);
};

/* NULL-terminated. */
extern const struct engine *const engines[];

/* Never another engine than the one named: NULL with a message that lists
 * the names there are. */
const struct engine *engine_by_name(const char *name, GError **error);

extern const struct engine engine_ftree;
extern const struct engine engine_minhop;
extern const struct engine engine_updn;
extern const struct engine engine_cdg;

#endif
