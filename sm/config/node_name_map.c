// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of nodes.
 *
 * A site reads "Rack 11 slot 1" in a log more easily than what a switch says
 * of itself. The map is one that the site has already.
 *
 * Source: ibnetdiscover(8), and what the programs that read such a file were
 * seen to do: a name needs no quotes, and they cut a name in quotes at a #.
 * Here such a name is taken as it stands. They take the first of two names for
 * one GUID, as is done here, with a warning; and leave out what they cannot
 * read, which is an error here.
 */
#include "topology/text.h"
#include "sm/config/node_name_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>


G_DEFINE_QUARK(minism-nodenames-error-quark, node_name_map_error)

/* The rest of the line: a name in quotes, or all until a comment. */
static bool
take_name(struct text_scan *s, struct text_span *name)
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

	if (!*name)
		return text_fail(s, place, "there is no name");
	if (span->len > NODE_NAME_MAP_MAX)
		return text_fail(s, place, "a name has %u bytes at most",
				 NODE_NAME_MAP_MAX);
	if (!g_utf8_validate(name, -1, NULL))
		return text_fail(s, place, "the name is not UTF-8");
	for (const char *c = name; *c; c = g_utf8_next_char(c)) {
		place.column = (unsigned)(span->at - s->line_start) + 1 +
			(unsigned)(c - name);
		if (!g_unichar_isprint(g_utf8_get_char(c)))
			return text_fail(s, place, "a character of the name "
					 "cannot be printed");
	}
	return true;
}

static void
take_line(GHashTable *names, struct text_scan *s)
{
	struct text_span word = text_take_span(s, " \t\r#\n"), span;
	g_autofree char *name = NULL;
	uint64_t guid, *key;

	if (!text_span_guid(&word, &guid) || *s->at == '#') {
		text_fail(s, word.place, "a line is a GUID of up to 16 "
			  "hexadecimal digits, and a name");
		return;
	}
	if (!take_name(s, &span))
		return;
	name = g_strndup(span.at, span.len);
	if (!check_name(s, &span, name))
		return;
	if (g_hash_table_contains(names, &guid)) {
		text_warn(s, word.place, "this GUID has the name \"%s\" "
			  "already",
			  (char *)g_hash_table_lookup(names, &guid));
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
		take_line(names, &s);
	if (!text_scan_end(&s, NODE_NAME_MAP_ERROR, NODE_NAME_MAP_ERROR_SYNTAX,
			   error))
		return NULL;
	return g_steal_pointer(&names);
}
