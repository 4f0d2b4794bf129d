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

/* Engines of other managers. In a list with one of ours they are skipped;
 * adaptive ones (ar_) are taken for auto. */
static const char *const foreign_engines[] = {
	"dfsssp", "dnup", "file", "kdor-hc", "lash", "none", "nue", "pqft",
	"sssp", "torus-2QoS", NULL,
};

/* One name of `n`. True: it is auto, whatever the others are. */
static bool
read_name(struct engine_list *list, const char *name, guint n, guint *n_order,
	  const char *key, GPtrArray *warnings, GPtrArray *errors)
{
	g_autoptr(GError) error = NULL;
	const struct engine *engine;

	if (strcmp(name, "auto") == 0)
		return true;
	if (g_str_has_prefix(name, "ar_")) {
		g_ptr_array_add(warnings, g_strdup_printf(
			"%s: there is no adaptive routing, so auto is used for "
			"%s", key, name));
		return true;
	}
	engine = engine_by_name(name, &error);
	if (engine && *n_order < ENGINE_LIST_MAX)
		list->order[(*n_order)++] = engine;
	else if (engine)
		g_ptr_array_add(errors, g_strdup_printf(
			"%s: more than %u engines", key, ENGINE_LIST_MAX));
	else if (n > 1 && g_strv_contains(foreign_engines, name))
		g_ptr_array_add(warnings, g_strdup_printf(
			"%s: minism has no %s, so it is ignored", key, name));
	else
		g_ptr_array_add(errors, g_strdup_printf("%s: %s, auto", key,
							error->message));
	return false;
}

bool
engine_list_read(const char *names, const char *key, struct engine_list *list,
		 GPtrArray *warnings, GPtrArray *errors)
{
	g_auto(GStrv) all = g_strsplit_set(names, ", \t", -1);
	guint n = 0, n_order = 0, before = errors->len;
	bool is_auto = false;

	*list = (struct engine_list){ .only = NULL };
	for (guint i = 0; all[i]; i++)
		n += *all[i] != '\0';
	for (guint i = 0; all[i]; i++)
		if (*all[i])
			is_auto |= read_name(list, all[i], n, &n_order, key,
					     warnings, errors);
	if (is_auto)
		list->order[0] = NULL;
	else if (n == 1)
		list->only = list->order[0];
	else if (!n_order && errors->len == before)
		g_ptr_array_add(errors, g_strdup_printf(
			"%s: minism has none of \"%s\"", key, names));
	return errors->len == before;
}

const struct engine *const *
engine_list_order(const struct engine_list *list)
{
	return list->only || !list->order[0] ? NULL : list->order;
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
