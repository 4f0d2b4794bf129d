// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of LIDs, of the switches' order and of forgetful devices.
 *
 * guid2lid and ranks are written to a temporary file in the same folder and
 * renamed over the old one, so a crash leaves either the old or the new
 * memory. A damaged file is never overwritten: it goes to guid2lid.damaged,
 * where a person can look at it, and the LIDs come from the fabric; likewise
 * the ranks, which an engine can find anew.
 *
 * A forgotten field is remembered by (NodeGUID, port number). It is a fact
 * about a device, so it outlives sweeps; a restart forgets it, and the first
 * sweep after it tries again.
 */
#include "sm/memory.h"

#include <errno.h>
#include <string.h>
#include <glib/gstdio.h>

#include "sm/conf/guid2lid.h"
#include "sm/conf/rankfile.h"
#include "topology/base/text.h"

struct memory {
	char *path;		/* of guid2lid; NULL: no cache */
	char *ranks_path;
	struct rank_list *ranks;	/* may be NULL */
	struct log *log;
	GArray *ranges;		/* of struct lid_range, sorted by GUID */
	GHashTable *forgotten;	/* struct end -> field mask */
};

struct end {
	uint64_t guid;		/* NodeGUID */
	uint8_t port;
};

static guint
end_hash(gconstpointer key)
{
	const struct end *e = key;

	return (guint)(e->guid ^ e->guid >> 32) * 31 + e->port;
}

static gboolean
end_equal(gconstpointer a, gconstpointer b)
{
	const struct end *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port;
}

static void
set_aside(struct memory *m, const char *path, const char *why,
	  const char *then)
{
	g_autofree char *aside = g_strdup_printf("%s.damaged", path);

	if (g_rename(path, aside) == 0)
		log_say(m->log, LOG_WARNING, "memory", "%s; the file is set "
			"aside as %s, %s", why, aside, then);
	else
		log_say(m->log, LOG_WARNING, "memory", "%s; it cannot be set "
			"aside (%s), %s", why, g_strerror(errno), then);
}

/* The text of a file; NULL if there is none or it cannot be text. */
static char *
load(struct memory *m, const char *path, const char *then)
{
	g_autoptr(GError) error = NULL;
	char *text = text_read_file(path, &error);

	if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_INVAL))
		set_aside(m, path, error->message, then);
	else if (error && !g_error_matches(error, G_FILE_ERROR,
					   G_FILE_ERROR_NOENT))
		log_say(m->log, LOG_WARNING, "memory", "%s", error->message);
	return text;
}

static void
load_ranges(struct memory *m)
{
	static const char then[] = "LIDs are taken from the fabric";
	g_autofree char *text = load(m, m->path, then);
	g_autoptr(GError) error = NULL;

	if (!text)
		return;
	m->ranges = guid2lid_parse(text, m->path, &error);
	if (!m->ranges)
		set_aside(m, m->path, error->message, then);
}

static void
load_ranks(struct memory *m)
{
	static const char then[] = "the switches are ordered anew";
	g_autofree char *text = load(m, m->ranks_path, then);
	g_autoptr(GError) error = NULL;

	if (!text)
		return;
	m->ranks = rankfile_parse(text, m->ranks_path, &error);
	if (!m->ranks)
		set_aside(m, m->ranks_path, error->message, then);
}

struct memory *
memory_open(const char *cache_dir, struct log *log)
{
	struct memory *m = g_new0(struct memory, 1);

	m->log = log;
	m->forgotten = g_hash_table_new_full(end_hash, end_equal, g_free,
					     NULL);
	if (cache_dir) {
		m->path = g_build_filename(cache_dir, "guid2lid", NULL);
		m->ranks_path = g_build_filename(cache_dir, "ranks", NULL);
		load_ranges(m);
		load_ranks(m);
	}
	if (!m->ranges)
		m->ranges = g_array_new(FALSE, FALSE,
					sizeof(struct lid_range));
	return m;
}

void
memory_free(struct memory *m)
{
	if (!m)
		return;
	g_array_unref(m->ranges);
	g_hash_table_unref(m->forgotten);
	rank_list_free(m->ranks);
	g_free(m->ranks_path);
	g_free(m->path);
	g_free(m);
}

const struct lid_range *
memory_ranges(const struct memory *m, size_t *n)
{
	*n = m->ranges->len;
	return (const struct lid_range *)(void *)m->ranges->data;
}

static void
save(struct memory *m, const char *path, const GString *text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = g_path_get_dirname(path);

	/* g_file_set_contents writes a temporary file and renames it. */
	if (g_mkdir_with_parents(dir, 0755) ||
	    !g_file_set_contents(path, text->str, (gssize)text->len, &error))
		log_limited(m->log, LOG_WARNING, "memory",
			    "not remembered", "%s: %s", path,
			    error ? error->message : g_strerror(errno));
}

static void
save_ranges(struct memory *m)
{
	g_autoptr(GString) text = g_string_new(NULL);

	guid2lid_format(m->ranges, text);
	save(m, m->path, text);
}

/* Field by field: a struct has padding. */
static bool
same_ranges(const GArray *ranges, const struct lid_range *old, size_t n)
{
	const struct lid_range *r = (const void *)ranges->data;

	if (ranges->len != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (r[i].guid != old[i].guid || r[i].min != old[i].min ||
		    r[i].max != old[i].max)
			return false;
	return true;
}

void
memory_keep_lids(struct memory *m, const struct subnet *s,
		 const struct lid_map *map)
{
	size_t n;
	const struct lid_range *old = memory_ranges(m, &n);
	GArray *ranges = lids_remember(s, map, old, n);
	bool same = same_ranges(ranges, old, n);

	g_array_unref(m->ranges);
	m->ranges = ranges;
	if (m->path && !same)
		save_ranges(m);
}

uint32_t *
memory_ranks(const struct memory *m, const struct subnet *s, const char **by)
{
	const struct rank_line *line;
	uint32_t *ranks;

	*by = m->ranks ? m->ranks->engine : NULL;
	if (!m->ranks)
		return NULL;
	ranks = g_new(uint32_t, s->n_switches);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		line = rank_list_find(m->ranks,
			s->nodes[s->switches[sw]].info.node_guid);
		ranks[sw] = line ? line->rank : ENGINE_NO_RANK;
	}
	return ranks;
}

/* Those of the old list that are not in `s`, and those of `s`: both are sorted
 * by GUID. */
static GArray *
merge_ranks(const struct rank_list *old, const struct subnet *s,
	    const uint32_t *ranks)
{
	GArray *lines = g_array_new(FALSE, TRUE, sizeof(struct rank_line));
	const struct rank_line *away = NULL;
	struct rank_line line;
	guint i = 0;

	for (uint32_t sw = 0; sw <= s->n_switches; sw++) {
		line.guid = UINT64_MAX;	/* behind the last: all that is left */
		if (sw < s->n_switches)
			line.guid = s->nodes[s->switches[sw]].info.node_guid;
		for (; old && i < old->lines->len; i++) {
			away = &g_array_index(old->lines, struct rank_line, i);
			if (away->guid >= line.guid)
				break;
			g_array_append_val(lines, *away);
		}
		if (sw == s->n_switches)
			break;
		if (away && i < old->lines->len && away->guid == line.guid)
			i++;
		line.rank = ranks[sw];
		g_array_append_val(lines, line);
	}
	return lines;
}

void
memory_keep_ranks(struct memory *m, const char *engine,
		  const struct subnet *s, const uint32_t *ranks)
{
	g_autoptr(GString) before = g_string_new(NULL);
	g_autoptr(GString) after = g_string_new(NULL);
	struct rank_list *old = m->ranks, *list;
	bool same_engine = old && strcmp(old->engine, engine) == 0;

	if (!ranks)
		return;
	list = g_new0(struct rank_list, 1);
	list->engine = g_strdup(engine);
	list->lines = merge_ranks(same_engine ? old : NULL, s, ranks);
	if (old)
		rankfile_format(old, before);
	rankfile_format(list, after);
	m->ranks = list;
	rank_list_free(old);
	if (m->ranks_path && !g_string_equal(before, after))
		save(m, m->ranks_path, after);
}

static struct end
end_of(const struct subnet *s, uint32_t port)
{
	return (struct end){ .guid = subnet_node_of(s, port)->info.node_guid,
			     .port = s->ports[port].num };
}

uint32_t *
memory_forgotten(const struct memory *m, const struct subnet *s)
{
	uint32_t *fields = g_new0(uint32_t, s->n_ports);

	if (!g_hash_table_size(m->forgotten))
		return fields;
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct end e = end_of(s, port);

		fields[port] = GPOINTER_TO_UINT(
			g_hash_table_lookup(m->forgotten, &e));
	}
	return fields;
}

static void
report(GString *text, const struct subnet *s, unsigned bit, unsigned count,
       uint32_t first)
{
	const struct subnet_node *n = subnet_node_of(s, first);

	g_string_append_printf(text, "%s%s (%s (0x%016" G_GINT64_MODIFIER
			       "x) port %u", text->len ? ", " : "",
			       port_field_name(bit), subnet_node_name(n),
			       n->info.node_guid, s->ports[first].num);
	if (count > 1)
		g_string_append_printf(text, " and %u more", count - 1);
	g_string_append_c(text, ')');
}

void
memory_learn(struct memory *m, const struct subnet *s, const uint32_t *forgot)
{
	g_autoptr(GString) text = g_string_new(NULL);
	unsigned count[32] = { 0 };
	uint32_t first[32];

	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct end e = end_of(s, port);
		unsigned known, fresh;

		if (!forgot[port])
			continue;
		known = GPOINTER_TO_UINT(g_hash_table_lookup(m->forgotten,
							     &e));
		fresh = forgot[port] & ~known;
		if (!fresh)
			continue;
		for (unsigned bit = 0; bit < 32; bit++)
			if (fresh >> bit & 1 && !count[bit]++)
				first[bit] = port;
		g_hash_table_replace(m->forgotten,
				     g_memdup2(&e, sizeof(e)),
				     GUINT_TO_POINTER(known | fresh));
	}
	for (unsigned bit = 0; bit < 32; bit++)
		if (count[bit])
			report(text, s, 1u << bit, count[bit], first[bit]);
	if (text->len)
		log_say(m->log, LOG_INFO, "memory", "acknowledged and not "
			"taken, so not sent again: %s", text->str);
}
