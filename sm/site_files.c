// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A site's files.
 *
 * All are read or none: a fabric that is routed, or divided into partitions, by
 * half of what its owner wrote is not what the owner expects. So a reload
 * parses everything into new values first. At the start all files are read even
 * if one is bad, so that all mistakes are reported at once.
 */
#include "sm/site_files.h"

#include <string.h>

#include "sm/config/guid_files.h"
#include "sm/config/qos_policy_conf.h"
#include "topology/text.h"

static void
read_list(const char *key, const char *path, GArray **list,
	  GPtrArray *errors)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (!path)
		return;
	text = text_read_file(path, &error);
	if (!text) {
		g_ptr_array_add(errors, g_strdup_printf("%s: %s", key,
							error->message));
		return;
	}
	*list = guid_list_parse(text, path, &error);
	if (!*list)
		g_ptr_array_add(errors, g_strdup(error->message));
}

static void
clear_lists(struct site_lists *l)
{
	g_clear_pointer(&l->roots, g_array_unref);
	g_clear_pointer(&l->compute_nodes, g_array_unref);
	g_clear_pointer(&l->io_nodes, g_array_unref);
	qos_policy_unref(l->sls);
	g_clear_pointer(&l->names, g_hash_table_unref);
}

/* Engines of other managers. In a list with one of ours they are skipped;
 * adaptive ones (ar_) are taken for auto. */
static const char *const foreign_engines[] = {
	"dfsssp", "dnup", "dor", "file", "kdor-hc", "lash", "none", "nue",
	"pqft", "sssp", "torus-2QoS", NULL,
};

/* One name of `n`. True: it is auto, whatever the others are. */
static bool
read_engine(struct site_files *s, const char *name, guint n, guint *n_order,
	    GPtrArray *warnings, GPtrArray *errors)
{
	g_autoptr(GError) error = NULL;
	const struct engine *engine;

	if (strcmp(name, "auto") == 0)
		return true;
	if (g_str_has_prefix(name, "ar_")) {
		g_ptr_array_add(warnings, g_strdup_printf(
			"routing_engine: there is no adaptive routing, so auto "
			"is used for %s", name));
		return true;
	}
	engine = engine_by_name(name, &error);
	if (engine && *n_order < SITE_ENGINES_MAX)
		s->order[(*n_order)++] = engine;
	else if (engine)
		g_ptr_array_add(errors, g_strdup_printf(
			"--routing-engine: more than %u engines",
			SITE_ENGINES_MAX));
	else if (n > 1 && g_strv_contains(foreign_engines, name))
		g_ptr_array_add(warnings, g_strdup_printf(
			"routing_engine: minism has no %s, so it is ignored",
			name));
	else
		g_ptr_array_add(errors, g_strdup_printf(
			"--routing-engine: %s, auto", error->message));
	return false;
}

/* A single engine is used or the sweep fails; of a list the first one whose
 * tables are safe is used. */
static void
read_engines(struct site_files *s, GPtrArray *warnings, GPtrArray *errors)
{
	const struct options *c = s->conf;
	g_auto(GStrv) names = g_strsplit_set(c->engine, ", \t", -1);
	guint n = 0, n_order = 0, before = errors->len;
	bool is_auto = false;

	s->route = (struct route_params){
		.require_deadlock_free = c->require_deadlock_free,
		.threads = c->routing_threads,
	};
	for (guint i = 0; names[i]; i++)
		n += *names[i] != '\0';
	for (guint i = 0; names[i]; i++)
		if (*names[i])
			is_auto |= read_engine(s, names[i], n, &n_order,
					       warnings, errors);
	if (is_auto)
		return;
	if (n == 1)
		s->route.engine = s->order[0];
	else if (n_order)
		s->route.order = s->order;
	else if (errors->len == before)
		g_ptr_array_add(errors, g_strdup_printf(
			"--routing-engine: minism has none of \"%s\"",
			c->engine));
}

static void
read_names(const struct options *c, GHashTable **out, GPtrArray *warnings,
	   GPtrArray *errors)
{
	const char *path = c->node_names_file;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (!path)
		return;
	text = text_read_file(path, &error);
	if (!text) {
		g_ptr_array_add(g_error_matches(error, G_FILE_ERROR,
						G_FILE_ERROR_NOENT) ?
				warnings : errors, g_strdup_printf(
			"node_name_map_name: %s", error->message));
		return;
	}
	*out = node_name_map_parse(text, path, warnings, &error);
	if (error)
		g_ptr_array_add(errors, g_strdup(error->message));
}

bool
site_files_load(struct site_files *s, GPtrArray *warnings, GPtrArray *errors)
{
	const struct options *c = s->conf;
	struct site_lists new = { .roots = NULL };
	const GPtrArray *all = NULL;
	guint before = errors->len;
	g_autoptr(GError) error = NULL, refusal = NULL;

	read_list("root_guid_file", c->root_guid_file, &new.roots, errors);
	read_list("cn_guid_file", c->cn_guid_file, &new.compute_nodes, errors);
	read_list("io_guid_file", c->io_guid_file, &new.io_nodes, errors);
	if (!qos_policy_conf_read(c, &new.sls, warnings, &error))
		g_ptr_array_add(errors, g_strdup(error->message));
	read_names(c, &new.names, warnings, errors);
	/* Last, since it takes effect at once. The first time all mistakes are
	 * reported. */
	if (!s->is_loaded || errors->len == before) {
		if (partitions_load(s->partitions, warnings, &refusal))
			all = s->partitions->rules->partitions;
		else
			g_ptr_array_add(errors, g_strdup(refusal->message));
	}
	for (guint i = 0; all && !c->qos.enabled && i < all->len; i++) {
		const struct partition *p = all->pdata[i];

		if (p->sl)
			g_ptr_array_add(warnings, g_strdup_printf(
				"partition %s (0x%04x): sl=%u is not used, "
				"SL 0 is: QoS is off (qos TRUE turns it on)",
				p->name, p->pkey, p->sl));
	}
	if (errors->len > before) {
		clear_lists(&new);
		return false;
	}
	clear_lists(&s->lists);
	s->lists = new;
	s->route.roots = new.roots;
	s->route.compute_nodes = new.compute_nodes;
	s->route.io_nodes = new.io_nodes;
	s->is_loaded = true;
	return true;
}

struct site_files *
site_files_read(const struct options *conf, GPtrArray *warnings,
		GPtrArray *errors)
{
	struct site_files *s = g_new0(struct site_files, 1);
	enum partitions_absence absence = conf->partition_file_asked ?
		PARTITIONS_MUST : g_strcmp0(conf->partition_file,
					    OPTIONS_PARTITION_FILE) ?
		PARTITIONS_WARN : PARTITIONS_MAY_LACK;
	guint before = errors->len;

	s->conf = conf;
	/* options.c checks the keys against the ranges of the fields, so that
	 * nothing is truncated here. */
	s->policy = (struct policy){
		.m_key = conf->m_key,
		.gid_prefix = conf->subnet_prefix,
		.m_key_lease = (uint16_t)conf->m_key_lease,
		.m_key_protect = (uint8_t)conf->m_key_protect,
		.sm_sl = (uint8_t)conf->sm_sl,
		.subnet_timeout = (uint8_t)conf->subnet_timeout,
		.packet_life_time = (uint8_t)conf->packet_life_time,
		.hoq_life = (uint8_t)conf->hoq_life,
		.leaf_hoq_life = (uint8_t)conf->leaf_hoq_life,
		.vl_stall = (uint8_t)conf->vl_stall,
		.leaf_vl_stall = (uint8_t)conf->leaf_vl_stall,
		.max_oper_vls = (uint8_t)conf->max_op_vls,
		.local_phy_errors = (uint8_t)conf->local_phy_errors,
		.overrun_errors = (uint8_t)conf->overrun_errors,
	};
	s->qos = conf->qos;
	s->qos.max_op_vls = (uint8_t)conf->max_op_vls;
	s->partitions = partitions_new(conf->partition_file, absence,
				       conf->cache_dir);
	read_engines(s, warnings, errors);
	if (site_files_load(s, warnings, errors) && errors->len == before)
		return s;
	site_files_free(s);
	return NULL;
}

void
site_files_free(struct site_files *s)
{
	if (!s)
		return;
	clear_lists(&s->lists);
	partitions_free(s->partitions);
	g_free(s);
}
