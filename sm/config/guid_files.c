// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text files with a GUID a line: lists of GUIDs, and the node name map.
 *
 * A list selects the switches that are roots, or the I/O nodes, so a line that
 * cannot be read is an error: with one GUID missing the fabric would be routed in
 * another way than the operator expects. The rest of a line behind the GUID is a
 * comment even without a #, since lists are often made by cutting columns out of
 * dumps.
 *
 * Source of the node name map: ibnetdiscover(8), and the behaviour of the
 * programs that read such a file: a name needs no quotes, and they cut a name in
 * quotes at a #. Here the whole name is used. They take the first of two names
 * for one GUID, as is done here, with a warning; and ignore lines that they
 * cannot read, which are an error here.
 */
#include "sm/config/guid_files.h"

#include <inttypes.h>
#include <string.h>

#include "topology/smp_attr.h"
#include "topology/text.h"

/* --- lists --- */

GArray *
guid_list_parse(const char *text, const char *name, GError **error)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct text_scan s;
	uint64_t *guids;
	guint n = 0;

	text_scan_init(&s, text, name, NULL);
	for (; text_skip_space(&s) && !s.n_errors; text_skip_line(&s)) {
		struct text_span word = text_take_span(&s, " \t\r\v\f\n#");
		uint64_t guid;

		if (text_span_guid(&word, &guid))
			g_array_append_val(list, guid);
		else
			text_fail(&s, word.place, "this is not a GUID of up "
				  "to 16 hexadecimal digits");
	}
	if (!text_scan_end(&s, error))
		return NULL;
	g_array_sort(list, guid_compare);
	guids = (uint64_t *)(void *)list->data;
	for (guint i = 0; i < list->len; i++)
		if (i == 0 || guids[i] != guids[n - 1])
			guids[n++] = guids[i];
	g_array_set_size(list, n);
	return g_steal_pointer(&list);
}

GArray *
guid_list_of_line(const char *line)
{
	g_autofree char *text = g_strdup(line);
	GArray *list = guid_list_parse(g_strdelimit(text, ",# \t", '\n'), "",
				       NULL);

	if (list && !list->len)
		g_clear_pointer(&list, g_array_unref);
	return list;
}

bool
guid_list_has(const GArray *list, uint64_t guid)
{
	return list && g_array_binary_search((GArray *)list, &guid,
					     guid_compare, NULL);
}

/* --- the node name map --- */

/* The rest of the line: a name in quotes, or all until a comment. */
static bool
node_name_take(struct text_scan *s, struct text_span *name)
{
	bool quoted = *(s->at = text_skip_blanks(s->at)) == '"';
	struct text_place place = text_here(s);
	const char *quote;

	if (!quoted) {
		*name = text_take_span(s, "#\n");
		quote = memchr(name->at, '"', name->len);
		if (!quote)
			return true;
		place.column += (unsigned)(quote - name->at);
		return text_fail(s, place, "a quote in a name");
	}
	if (!text_take_quoted(s, name))
		return text_fail(s, place, "the quote is not closed");
	name->place = place;
	return text_line_ends(s) ||
		text_fail(s, text_here(s), "behind the name there is only a "
			  "# comment");
}

static bool
check_name(struct text_scan *s, const struct text_span *span, const char *name)
{
	struct text_place place = span->place;
	g_autofree char *shown = text_printable(name);
	size_t good = 0;

	if (!*name)
		return text_fail(s, place, "there is no name");
	if (span->len > NODE_NAME_MAP_MAX)
		return text_fail(s, place, "a name has %u bytes at most",
				 NODE_NAME_MAP_MAX);
	while (name[good] && name[good] == shown[good])
		good++;
	place.column = (unsigned)(span->at - s->line_start + good) + 1;
	return !name[good] || text_fail(s, place, "a character of the name is "
					"not UTF-8, or cannot be printed");
}

static void
take_name_line(GHashTable *names, struct text_scan *s)
{
	struct text_span word = text_take_span(s, " \t\r#\n"), span;
	g_autofree char *name = NULL;
	uint64_t guid, *key;

	if (!text_span_guid(&word, &guid) || *s->at == '#') {
		text_fail(s, word.place, "a line is a GUID of up to 16 "
			  "hexadecimal digits, and a name");
		return;
	}
	if (!node_name_take(s, &span))
		return;
	name = g_strndup(span.at, span.len);
	if (!check_name(s, &span, name))
		return;
	if (g_hash_table_contains(names, &guid)) {
		text_warn(s, word.place, "this GUID has the name \"%s\" "
			  "already", (char *)g_hash_table_lookup(names, &guid));
		return;
	}
	key = g_memdup2(&guid, sizeof(guid));
	g_hash_table_insert(names, key, g_steal_pointer(&name));
}

GHashTable *
node_name_map_parse(const char *text, const char *file, GPtrArray *warnings,
		    GError **error)
{
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_int64_hash,
		g_int64_equal, g_free, g_free);
	struct text_scan s;

	text_scan_init(&s, text, file, warnings);
	while (text_skip_space(&s) && !s.n_errors)
		take_name_line(names, &s);
	if (!text_scan_end(&s, error))
		return NULL;
	return g_steal_pointer(&names);
}
