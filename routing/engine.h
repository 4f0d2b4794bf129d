/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A routing engine: graph in, tables out. Pure.
 *
 * An engine is one file and one line in engine.c. It does not depend on how
 * tables are programmed; the tables and the order of the last sweep are part of
 * its input.
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
 * The input of an engine. Only `g` is required; all else may be NULL or 0.
 */
struct engine_input {
	const struct graph *g;
	/* g with the links that are to be avoided, for verification; NULL:
	 * there are no such links. */
	const struct graph *whole;
	/* The tables that the switches hold, rows in the numbering of g: an
	 * entry that is still right and balanced should stay. LFT_NO_PATH
	 * where it is not known. It may have any content, even that of
	 * another manager or another fabric, and be shorter or longer than
	 * g->top. Its others are only compared with new tables. */
	const struct lft *previous;
	const uint8_t *unread;	/* by switch: it may forward by an entry that was
				   never read; NULL: none does */
	/* The present order, from engine_output.ranks of an earlier sweep,
	 * by switch: a cable leads up to the lower rank. ENGINE_NO_RANK for
	 * a new switch. */
	const uint32_t *ranks;
	/* The result of order_compute() without ranks, if it is known
	 * already. */
	struct order *order;
	/* auto: the load of the busiest channel in the best tables so far;
	 * an engine that estimates a much higher load may give up. 0: there
	 * are none. */
	double rival;
	const uint8_t *is_root;		/* by switch: given as a root */
	const uint8_t *is_io;		/* by target: an I/O node */
	unsigned n_threads;		/* at most; the result is the same */
};

#define ENGINE_NO_RANK	UINT32_MAX

struct engine_output {
	struct lft *lft;	/* the caller's; up to g->top, all
				   LFT_NO_PATH */
	uint32_t *ranks;	/* g_malloc'ed, by switch, for engine_input
				   of the next sweep; NULL if the engine has
				   no order */
	GPtrArray *notes;	/* lines, owned: irregularities of the
				   fabric, and their consequences */
};

void engine_output_init(struct engine_output *out, struct lft *lft);
void engine_output_clear(struct engine_output *out);	/* all but the lft */

struct engine {
	const char *name;
	const char *summary;	/* one line, for --help and the man page */
	bool deadlock_free;	/* by design, on one VL */
	/* False with an error if the engine cannot route this fabric; then
	 * `out` is undefined. */
	bool (*compute)(const struct engine_input *in,
			struct engine_output *out, GError **error);
};

/* NULL-terminated. */
extern const struct engine *const engines[];

/* NULL with a message that lists all names, if there is no engine of this
 * name. */
const struct engine *engine_by_name(const char *name, GError **error);

#define ENGINE_LIST_MAX	16u

/* What routing_engine names: one engine, which is used or the routing fails;
 * several, of which the first with safe tables is used; neither: auto. */
struct engine_list {
	const struct engine *only;
	const struct engine *order[ENGINE_LIST_MAX + 1];	/* up to NULL */
};

/* Names between commas or blanks; with auto or an adaptive one of OpenSM's
 * among them it is auto. Lines "KEY: ..", char *. False: there are errors. */
bool engine_list_read(const char *names, const char *key,
		      struct engine_list *list, GPtrArray *warnings,
		      GPtrArray *errors);
/* NULL: not several. */
const struct engine *const *engine_list_order(const struct engine_list *list);

extern const struct engine engine_ftree;
extern const struct engine engine_minhop;
extern const struct engine engine_updn;
extern const struct engine engine_dor;

#endif
