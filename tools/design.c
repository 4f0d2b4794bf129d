// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A list of cables becomes a net file without GUIDs, of switches only: without
 * a CA no node is left out.
 */
#include "tools/design.h"

#include <stdlib.h>
#include <string.h>

#include "tools/view.h"
#include "topology/text.h"

/* NAME/PORT, what may be between two of them, and what may follow */
#define CABLE_PATTERN \
	"^\\s*([^\"]+?)/(\\d{1,3})(?:\\s+-\\s+|\\s*[,;]\\s*|\\s+)" \
	"([^\"]+?)/(\\d{1,3})(?:[\\s,;].*)?$"
#define CA_PORTS	2	/* a node with more is a switch, if not known */

/* A list of cables has neither in its first line. */
static bool
is_net_file(const char *text)
{
	while (*text == '#' || g_ascii_isspace(*text)) {
		if (g_str_has_prefix(text, "#view "))
			return true;
		text += *text == '#' ? strcspn(text, "\n") : 1;
	}
	text += strcspn(text, "\"=\n");
	return *text == '"' || *text == '=';
}

/* ---- a list of cables ---- */

struct block {
	GString *lines;
	int most;		/* its highest port */
};

static void
block_free(gpointer data)
{
	struct block *block = data;

	g_string_free(block->lines, TRUE);
	g_free(block);
}

/* Adds a cable to the blocks of its nodes, by name. False: it is none, or one
 * of its ports is in `used`. */
static bool
take_cable(const GRegex *pattern, const char *line, GHashTable *blocks,
	   GHashTable *used)
{
	g_auto(GStrv) w = g_regex_split(pattern, line, 0);

	for (unsigned i = 1; g_strv_length(w) > 4 && i < 5; i += 2) {
		struct block *block = g_hash_table_lookup(blocks, w[i]);
		char *end = g_strconcat(w[i], "/", w[i + 1], NULL);

		if (!g_hash_table_add(used, end))
			return false;
		if (!block) {
			block = g_new0(struct block, 1);
			block->lines = g_string_new(NULL);
			g_hash_table_insert(blocks, g_strdup(w[i]), block);
		}
		block->most = MAX(block->most, atoi(w[i + 1]));
		g_string_append_printf(block->lines, "[%s] \"%s\"[%s]\n",
				       w[i + 1], w[4 - i], w[5 - i]);
	}
	return g_strv_length(w) > 4;
}

/* Name -> node + 1; that of several nodes -> 0. */
static GHashTable *
index_names(const struct snapshot *s)
{
	GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		char *name = (char *)snapshot_node_name(&s->nodes[i]);

		g_hash_table_insert(names, name, GUINT_TO_POINTER(
			g_hash_table_contains(names, name) ? 0 : i + 1));
	}
	return names;
}

/* NULL with an error. A switch has the ports that it has now. */
static char *
make_net_file(const char *list, const char *file, const struct snapshot *now,
	      GError **error)
{
	g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash,
						g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) blocks = g_hash_table_new_full(g_str_hash,
					g_str_equal, g_free, block_free);
	g_autoptr(GRegex) pattern = g_regex_new(CABLE_PATTERN, G_REGEX_RAW, 0,
						NULL);
	g_autoptr(GHashTable) names = index_names(now);
	g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
	GString *net = g_string_new(NULL);
	GHashTableIter iter;
	gpointer name, data;

	for (unsigned i = 0; lines[i]; i++) {
		if (*g_strchomp(lines[i]) == '#' || !*lines[i] ||
		    take_cable(pattern, lines[i], blocks, used))
			continue;
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX, "%s:%u: no "
			    "cable NAME/PORT - NAME/PORT, or a port that has "
			    "one", file, i + 1);
		g_string_free(net, TRUE);
		return NULL;
	}
	g_hash_table_iter_init(&iter, blocks);
	while (g_hash_table_iter_next(&iter, &name, &data)) {
		const struct block *block = data;
		uint32_t i = GPOINTER_TO_UINT(g_hash_table_lookup(names, name));
		int n = i ? now->nodes[i - 1].info.num_ports : 0;

		g_string_append_printf(net, "Switch %d \"%s\"\n%s\n",
				       MAX(n, block->most), (char *)name,
				       block->lines->str);
	}
	return g_string_free(net, FALSE);
}

/* ---- which node is which ---- */

static void
identify(struct snapshot *design, const struct snapshot *now, bool is_list)
{
	g_autoptr(GHashTable) own = index_names(design);
	g_autoptr(GHashTable) others = index_names(now);
	g_autofree uint32_t *at = g_new0(uint32_t, design->n_nodes + 1);
	g_autofree bool *taken = g_new0(bool, now->n_nodes + 1);

	for (uint32_t i = 0; i < design->n_nodes; i++) {
		const char *name = snapshot_node_name(&design->nodes[i]);

		if (!g_hash_table_lookup(own, name))
			continue;
		at[i] = GPOINTER_TO_UINT(g_hash_table_lookup(others, name));
		taken[at[i]] = true;
	}
	for (uint32_t i = 0; i < design->n_nodes; i++) {
		struct node_info *info = &design->nodes[i].info;
		uint32_t same = snapshot_find_node(now, info->node_guid) + 1;

		if (!at[i] && !is_list && same && !taken[same])
			at[i] = same;
		if (is_list && info->num_ports <= CA_PORTS)
			info->node_type = NODE_CA;
		if (at[i])
			info->node_type = now->nodes[at[i] - 1].info.node_type;
		info->node_guid = at[i] ? now->nodes[at[i] - 1].info.node_guid :
			UINT64_MAX - i;
	}
}

struct snapshot *
design_parse(const char *text, const char *file, const struct snapshot *now,
	     GError **error)
{
	bool is_list = !is_net_file(text);
	g_autofree char *net = is_list ? make_net_file(text, file, now,
						       error) : NULL;
	struct tool_view *v = is_list && !net ? NULL :
		tool_view_read(net ? net : text, file, error);
	struct builder *b;

	if (!v)
		return NULL;
	b = builder_new_from(v->s);
	tool_view_free(v);
	identify(b->s, now, is_list);
	b->s->local_port = SNAPSHOT_NONE;	/* no node is dropped */
	return builder_finish(b);
}
