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
#include "topology/each.h"
#include "topology/state_file.h"
#include "topology/text.h"

static const struct {
	const char *key;
	size_t path;		/* in the options */
	const char *without;	/* NULL: it must be there */
	const char *emptied;
} kinds[SITE_TEXTS] = {
	[SITE_ROOTS] = { "root_guid_file",
		offsetof(struct options, root_guid_file), NULL, NULL },
	[SITE_COMPUTE_NODES] = { "cn_guid_file",
		offsetof(struct options, cn_guid_file), NULL, NULL },
	[SITE_IO_NODES] = { "io_guid_file",
		offsetof(struct options, io_guid_file), NULL, NULL },
	[SITE_NAMES] = { "node_name_map_name",
		offsetof(struct options, node_names_file),
		"nodes have the names that they tell", NULL },
	[SITE_PARTITIONS] = { "partition_config_file",
		offsetof(struct options, partition_file),
		"all ports are full members of the default partition",
		"which would open everything; write \"Default=0x7fff : "
		"ALL=full;\" to do that" },
};

static const char *
path_of(const struct site_files *s, enum site_text which)
{
	return G_STRUCT_MEMBER(char *, s->conf, kinds[which].path);
}

/* A file that cannot be there for a moment, or is empty: an editor or another
 * program is just writing it. So what a file said holds until it says something
 * else, or until a restart. */
static void
judge_text(const struct site_files *s, enum site_text which, const char *text,
	   GPtrArray *warnings, GPtrArray *errors)
{
	const char *held = s->lists.texts[which], *path = path_of(s, which);
	const char *key = kinds[which].key, *without = kinds[which].without;
	bool is_partitions = which == SITE_PARTITIONS;
	const char *emptied = kinds[which].emptied ?:
		"which it was not before; a restart takes it as it is";

	if (text && (!held || !text_is_empty(text) || text_is_empty(held)))
		return;
	if (text)
		text_add(errors, "%s: %s: empty, %s", key, path, emptied);
	else if (held || !without ||
		 (is_partitions && s->conf->partition_file_asked))
		text_add(errors, "%s: %s: no such file%s", key, path,
			 held ? " any more" : "");
	else if (!is_partitions || strcmp(path, OPTIONS_PARTITION_FILE))
		text_add(warnings, "%s: there is no %s: %s", key, path, without);
}

/* The text, which is new's, or NULL: there is none, or it is an error. */
static const char *
read_text(const struct site_files *s, enum site_text which,
	  struct site_lists *new, GPtrArray *warnings, GPtrArray *errors)
{
	const char *path = path_of(s, which), *key = kinds[which].key;
	g_autoptr(GError) error = NULL;

	if (!path)
		return NULL;
	/* a pipe has said what it had to say, and another one would block */
	if (s->is_loaded && state_file_is_stream(path)) {
		text_add(warnings, "%s: %s is no regular file, so it is read "
			 "at the start only", key, path);
		new->texts[which] = g_strdup(s->lists.texts[which]);
		return new->texts[which];
	}
	new->texts[which] = text_read_file(path, &error);
	if (error && !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		text_add(errors, "%s: %s", key, error->message);
	else
		judge_text(s, which, new->texts[which], warnings, errors);
	return new->texts[which];
}

static void
add_error(GPtrArray *errors, const GError *error)
{
	if (error)
		g_ptr_array_add(errors, g_strdup(error->message));
}

static void
read_list(const struct site_files *s, enum site_text which,
	  struct site_lists *new, GPtrArray *warnings, GPtrArray *errors)
{
	const char *text = read_text(s, which, new, warnings, errors);
	g_autoptr(GError) error = NULL;

	if (text)
		new->guids[which] = guid_list_parse(text, path_of(s, which),
						    &error);
	add_error(errors, error);
}

static void
clear_lists(struct site_lists *l)
{
	for (unsigned i = 0; i < SITE_NAMES; i++)
		g_clear_pointer(&l->guids[i], g_array_unref);
	g_clear_pointer(&l->names, g_hash_table_unref);
	for (unsigned i = 0; i < SITE_TEXTS; i++)
		g_clear_pointer(&l->texts[i], g_free);
}

static void
read_engines(struct site_files *s, GPtrArray *warnings, GPtrArray *errors)
{
	const struct options *c = s->conf;

	engine_list_read(c->engine, "routing_engine", &s->engines, warnings,
			 errors);
	s->route = (struct route_params){
		.engine = s->engines.only,
		.order = engine_list_order(&s->engines),
		.require_deadlock_free = c->require_deadlock_free,
		.threads = c->routing_threads,
	};
}

/* The SLs of partitions without QoS. */
static void
warn_of_sls(const struct site_files *s, GPtrArray *warnings)
{
	EACH_PTR(const struct partition, p, s->partitions->rules->partitions)
		if (p->sl && !s->conf->qos.enabled)
			text_add(warnings, "partition %s (0x%04x): sl=%u is "
				 "not used, SL 0 is: QoS is off (qos TRUE turns "
				 "it on)", p->name, p->pkey, p->sl);
}

/* Takes effect at once. */
static void
read_partitions(const struct site_files *s, struct site_lists *new,
		GPtrArray *warnings, GPtrArray *errors)
{
	guint before = errors->len;
	const char *text = read_text(s, SITE_PARTITIONS, new, warnings, errors);
	g_autoptr(GError) error = NULL;

	if (errors->len == before &&
	    partitions_load(s->partitions, text, path_of(s, SITE_PARTITIONS),
			    warnings, &error))
		warn_of_sls(s, warnings);
	add_error(errors, error);
}

char **
site_files_paths(const struct site_files *s)
{
	GPtrArray *paths = g_ptr_array_new();

	for (unsigned i = 0; i < SITE_TEXTS; i++)
		if (path_of(s, i))
			g_ptr_array_add(paths, g_strdup(path_of(s, i)));
	if (s->partitions->changes_path)
		g_ptr_array_add(paths, g_strdup(s->partitions->changes_path));
	g_ptr_array_add(paths, NULL);
	return (char **)g_ptr_array_free(paths, FALSE);
}

void
site_files_try(void *paths)
{
	for (char **path = paths; *path; path++)
		if (!state_file_is_stream(*path))
			g_free(text_read_file(*path, NULL));
}

bool
site_files_load(struct site_files *s, GPtrArray *warnings, GPtrArray *errors)
{
	struct site_lists new = { .names = NULL };
	guint before = errors->len;
	g_autoptr(GError) names_error = NULL;
	const char *text;

	for (unsigned i = 0; i < SITE_NAMES; i++)
		read_list(s, i, &new, warnings, errors);
	text = read_text(s, SITE_NAMES, &new, warnings, errors);
	if (text)
		new.names = node_name_map_parse(text, path_of(s, SITE_NAMES),
						warnings, &names_error);
	add_error(errors, names_error);
	/* the first time all mistakes are reported */
	if (!s->is_loaded || errors->len == before)
		read_partitions(s, &new, warnings, errors);
	if (errors->len > before) {
		clear_lists(&new);
		return false;
	}
	clear_lists(&s->lists);
	s->lists = new;
	s->route.roots = new.guids[SITE_ROOTS];
	s->route.compute_nodes = new.guids[SITE_COMPUTE_NODES];
	s->route.io_nodes = new.guids[SITE_IO_NODES];
	s->is_loaded = true;
	return true;
}

struct site_files *
site_files_read(const struct options *conf, GPtrArray *warnings,
		GPtrArray *errors)
{
	struct site_files *s = g_new0(struct site_files, 1);
	guint before = errors->len;

	s->conf = conf;
	s->policy = conf->policy;
	s->policy.max_oper_vls = (uint8_t)conf->qos.max_op_vls;
	s->partitions = partitions_new(conf->cache_dir);
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
