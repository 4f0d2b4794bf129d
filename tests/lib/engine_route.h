/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Only tables from only a graph.
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

#endif
