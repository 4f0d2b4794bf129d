// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of routing engines.
 *
 * Purpose. The only place that lists all engines. A name gives that engine or
 * an error, never a substitute: a request for an engine that cannot do the job
 * must fail visibly.
 *
 * Source. A new engine is its file, its declaration in engine.h and its line in
 * engines[]. The first line is the default.
 */
#include "routing/engine.h"

#include <string.h>

G_DEFINE_QUARK(minism-engine-error-quark, engine_error)

const struct engine *const engines[] = {
	&engine_ftree,
	&engine_minhop,
	&engine_updn,
	&engine_dor,
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
		    "unknown routing engine \"%s\"; known: %s", name,
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
