// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of routing engines.
 *
 * Purpose. The one place that knows all engines; everybody else asks by name
 * and gets that engine or an error, never a substitute: who asked for an
 * engine that cannot do the job must learn it.
 *
 * Source. A new engine is its file, its declaration in engine.h and its line
 * in engines[]. The first line is what an empty configuration gets.
 */
#include "routing/engine.h"

#include <string.h>

#define N_SAMPLED	64u	/* switches of engine_sample() */
#define LEAST_STEP	8u	/* of fewer of all it makes none */

G_DEFINE_QUARK(minism-engine-error-quark, engine_error)

const struct engine *const engines[] = {
	&engine_ftree,
	&engine_minhop,
	&engine_updn,
	&engine_cdg,
	NULL,
};

const struct engine *
engine_by_name(const char *name, GError **error)
{
	g_autoptr(GString) known = g_string_new(NULL);
	size_t i;

	for (i = 0; engines[i]; i++) {
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
		g_string_append_printf(known, "%s%s", i ? ", " : "",
				       engines[i]->name);
	}
	g_set_error(error, ENGINE_ERROR, ENGINE_ERROR_UNKNOWN,
		    "no routing engine \"%s\"; there are: %s", name,
		    known->str);
	return NULL;
}

void
engine_output_init(struct engine_output *out, struct lft *lft)
{
	*out = (struct engine_output){
		.lft = lft,
		.notes = g_ptr_array_new_with_free_func(g_free),
	};
}

void
engine_output_clear(struct engine_output *out)
{
	g_free(out->ranks);
	if (out->notes)
		g_ptr_array_unref(out->notes);
	*out = (struct engine_output){ 0 };
}

struct graph *
engine_sample(const struct graph *g)
{
	struct graph *few;
	uint32_t step = g->n_switches / N_SAMPLED, sw, i;

	if (step < LEAST_STEP)
		return NULL;
	few = g_memdup2(g, sizeof(*g));
	few->first_target = g_new(uint32_t, g->n_switches + 1);
	few->targets = g_new(struct graph_target, g->n_targets);
	few->n_targets = 0;
	for (sw = 0; sw < g->n_switches; sw++) {
		few->first_target[sw] = few->n_targets;
		for (i = g->first_target[sw]; sw % step == 0 &&
		     i < g->first_target[sw + 1]; i++)
			few->targets[few->n_targets++] = g->targets[i];
	}
	few->first_target[sw] = few->n_targets;
	return few;
}

void
engine_sample_free(struct graph *sample)
{
	if (!sample)
		return;
	g_free(sample->first_target);
	g_free(sample->targets);
	g_free(sample);
}

bool
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
