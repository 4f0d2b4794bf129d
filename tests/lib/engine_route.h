/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Only tables, from only a graph or a snapshot with LIDs.
 */
#ifndef MINISM_TESTS_ENGINE_ROUTE_H
#define MINISM_TESTS_ENGINE_ROUTE_H

#include "routing/engine.h"

static inline bool
engine_route(const struct engine *engine, const struct graph *g,
	     struct lft *lft, GError **error)
{
	const struct engine_input in = { .g = g };
	struct engine_output out;
	bool ok;

	engine_output_init(&out, lft);
	ok = engine->compute(&in, &out, error);
	engine_output_clear(&out);
	return ok;
}

static inline struct lft *
engine_tables(const struct engine *engine, const struct snapshot *s,
	      const struct lid_map *lids)
{
	struct graph *g = graph_new(s, lids);
	struct lft *lft = lft_new(g->n_switches, g->top);

	if (!engine_route(engine, g, lft, NULL))
		g_error("%s: no tables", engine->name);
	graph_free(g);
	return lft;
}

#endif
