// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A list of cables becomes a net file without GUIDs, of switches only: without
 * a CA no node is left out.
 */
#include "tools/compare.h"

#include <stdlib.h>
#include <string.h>

#include "tools/view.h"
#include "topology/text.h"

#define BLANKS		" \t\r\n\f\v"
#define PORTS_MAX	254
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

struct design_block {
	GString *lines;
	int most;		/* its highest port */
};

static void
block_free(gpointer data)
{
	struct design_block *block = data;

	g_string_free(block->lines, TRUE);
	g_free(block);
}

/* Name -> node + 1; that of several nodes -> 0, but with the NodeGUID behind it, as
 * minismctl links has it, its node. */
static GHashTable *
index_names(const struct snapshot *s)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal,
						  g_free, NULL);
	g_autoptr(GHashTable) shared = snapshot_shared_names(s);

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const char *name = snapshot_node_name(&s->nodes[i]);
		bool is_shared = g_hash_table_contains(shared, name);

		g_hash_table_insert(names, g_strdup(name),
				    GUINT_TO_POINTER(is_shared ? 0 : i + 1));
		if (is_shared)
			g_hash_table_insert(names, snapshot_full_name(
				&s->nodes[i], shared), GUINT_TO_POINTER(i + 1));
	}
	return names;
}

struct list {
	GHashTable *blocks;	/* by name */
	GHashTable *used;	/* NAME/PORT -> its line */
	GHashTable *names;	/* of the fabric */
};

/* How many digits a port has whose "/" may be here; 0: it is not. */
static size_t
port_digits(const char *at)
{
	return *at == '/' ? strspn(at + 1, "0123456789") : 0;
}

/* Where the second end begins behind the first one; NULL: nothing separates
 * them. */
static const char *
skip_separator(const char *at, bool *is_dash)
{
	const char *next = at + strspn(at, BLANKS);

	*is_dash = next > at && *next == '-' && g_ascii_isspace(next[1]);
	if (next == at && *next != ',' && *next != ';')
		return NULL;
	next += *is_dash || *next == ',' || *next == ';';
	return next + strspn(next, BLANKS);
}

/* How good a reading of a line is: by the names of the fabric, then by the form
 * that minismctl links prints. behind: what follows the second end. */
static unsigned
rank_reading(char *const *w, GHashTable *names, bool is_dash,
	     const char *behind)
{
	unsigned known = (unsigned)g_hash_table_contains(names, w[0]) +
		(unsigned)g_hash_table_contains(names, w[2]);
	bool is_plain = !*behind || strspn(behind, BLANKS) >= 2;

	return 1 + 4 * known + (is_dash ? 2 + is_plain : 0);
}

/* Splits a line of a list: NAME, PORT, NAME, PORT. NULL: the line is not a cable.
 * A name may contain a separator, so all readings are compared; of equal ones the
 * first names are the shortest. */
static char **
split_cable(const char *line, GHashTable *names)
{
	const char *first = line + strspn(line, BLANKS);
	unsigned best = 0, rank;
	char **words = NULL;
	bool is_dash;
	size_t n, m;

	for (const char *p = first + !!*first; *p && *p != '"'; p++) {
		const char *second = (n = port_digits(p)) ?
			skip_separator(p + 1 + n, &is_dash) : NULL;

		for (const char *q = second; q && *q && *q != '"'; q++) {
			const char *behind = q + 1 + (m = port_digits(q));
			g_auto(GStrv) w = NULL;

			if (!m || q == second ||
			    (*behind && !strchr(BLANKS ",;", *behind)))
				continue;
			w = g_new0(char *, 5);
			w[0] = g_strndup(first, (gsize)(p - first));
			w[1] = g_strndup(p + 1, n);
			w[2] = g_strndup(second, (gsize)(q - second));
			w[3] = g_strndup(q + 1, m);
			rank = rank_reading(w, names, is_dash, behind);
			if (rank <= best)
				continue;
			best = rank;
			g_strfreev(words);
			words = g_steal_pointer(&w);
		}
	}
	return words;
}

/* Why no cable can be at the port w[1] of the node w[0]; NULL: it can. */
static char *
claim_port(struct list *l, char *const *w, unsigned line)
{
	unsigned long port = strtoul(w[1], NULL, 10);
	gpointer node = NULL;
	char *end, *wrong = NULL;
	guint before;

	if (port < 1 || port > PORTS_MAX)
		return g_strdup_printf("%s/%s: a port is 1 to %d", w[0], w[1],
				       PORTS_MAX);
	if (g_hash_table_lookup_extended(l->names, w[0], NULL, &node) && !node)
		return g_strdup_printf("several nodes are called %s: leave its "
			"lines out, or give them names", w[0]);
	end = g_strdup_printf("%s/%lu", w[0], port);
	before = GPOINTER_TO_UINT(g_hash_table_lookup(l->used, end));
	if (before)
		wrong = g_strdup_printf("%s has a cable already in line %u",
					end, before);
	g_hash_table_insert(l->used, end, GUINT_TO_POINTER(line));
	return wrong;
}

/* Adds a cable to the blocks of its nodes, by name. NULL, or why not. */
static char *
take_cable(struct list *l, const char *text, unsigned line)
{
	g_auto(GStrv) w = split_cable(text, l->names);

	if (!w)
		return g_strdup("no cable NAME/PORT - NAME/PORT");
	for (unsigned i = 0; i < 4; i += 2) {
		struct design_block *block =
			g_hash_table_lookup(l->blocks, w[i]);
		char *wrong = claim_port(l, w + i, line);

		if (wrong)
			return wrong;
		if (!block) {
			block = g_new0(struct design_block, 1);
			block->lines = g_string_new(NULL);
			g_hash_table_insert(l->blocks, g_strdup(w[i]), block);
		}
		block->most = MAX(block->most, atoi(w[i + 1]));
		g_string_append_printf(block->lines, "[%s] \"%s\"[%s]\n",
				       w[i + 1], w[2 - i], w[3 - i]);
	}
	return NULL;
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
	g_autoptr(GHashTable) names = index_names(now);
	struct list l = { .blocks = blocks, .used = used, .names = names };
	g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
	GString *net = g_string_new(NULL);
	GHashTableIter iter;
	gpointer name, data;

	for (unsigned i = 0; lines[i]; i++) {
		g_autofree char *wrong = NULL;

		if (*g_strchomp(lines[i]) != '#' && *lines[i])
			wrong = take_cable(&l, lines[i], i + 1);
		if (!wrong)
			continue;
		text_refuse(error, "%s:%u: %s", file, i + 1, wrong);
		g_string_free(net, TRUE);
		return NULL;
	}
	g_hash_table_iter_init(&iter, blocks);
	while (g_hash_table_iter_next(&iter, &name, &data)) {
		const struct design_block *block = data;
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
		if (at[i]) {
			const struct snapshot_node *is = &now->nodes[at[i] - 1];

			info->node_type = is->info.node_type;
			info->node_guid = is->info.node_guid;
			if (is_list)	/* without a GUID behind it */
				design->nodes[i].name = g_intern_string(
					snapshot_node_name(is));
		} else if (same) {	/* another one's; those of a list are
					   made up */
			info->node_guid = UINT64_MAX - i;
		}
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

	if (v && !v->s->n_nodes) {
		text_refuse(error, "%s: neither a node nor a cable is in it",
			    file);
		g_clear_pointer(&v, tool_view_free);
	}
	if (!v)
		return NULL;
	b = builder_new_from(v->s);
	tool_view_free(v);
	identify(b->s, now, is_list);
	b->s->local_port = SNAPSHOT_NONE;	/* no node is dropped */
	return builder_finish(b);
}
