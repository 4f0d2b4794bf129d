/*
 * A routing engine: graph in, tables out. Pure.
 *
 * An engine is one file and one line in engine.c. It may not know how tables
 * reach hardware; it may be handed the tables of before as a value.
 */
#ifndef MINISM_ROUTING_ENGINE_H
#define MINISM_ROUTING_ENGINE_H

#include <glib.h>

#include "routing/graph.h"
#include "routing/tables.h"

enum engine_error {
	ENGINE_ERROR_UNKNOWN,	/* no engine of that name */
	ENGINE_ERROR_FABRIC,	/* the engine cannot route this fabric */
};
#define ENGINE_ERROR engine_error_quark()
GQuark engine_error_quark(void);

struct engine {
	const char *name;
	const char *summary;	/* one line, for --help and the man page */
	/*
	 * Fills `out`, which is fresh (all LFT_NO_PATH) and large enough for
	 * g->top. previous: the tables in force, or NULL. False with an error
	 * if the fabric is not one for this engine; then `out` is not used.
	 */
	bool (*compute)(const struct graph *g, const struct lft *previous,
			struct lft *out, GError **error);
};

/* NULL-terminated. The first is the default. */
extern const struct engine *const engines[];

/* Never another engine than the one named: NULL with a message that lists
 * the names there are. */
const struct engine *engine_by_name(const char *name, GError **error);

extern const struct engine engine_minhop;

#endif
