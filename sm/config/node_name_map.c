// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of nodes.
 *
 * Purpose: who has "Rack 11 slot 1" on the door wants to read that in a log,
 * not what a switch says of itself. The map is one that a site has already.
 *
 * Flow: a line is cut into its GUID and the rest; the rest is a name in quotes
 * or, without them, all until a comment. Then the name is looked at, and the
 * GUID must be a new one.
 *
 * Source: ibnetdiscover(8), and what the programs that read such a file were
 * seen to do: a name needs no quotes, and they cut a name in quotes at a #.
 * Here such a name is taken as it stands. They take the first of two names for
 * one GUID, as is done here, with a warning; and leave out what they cannot
 * read, which is an error here.
 */
#include "topology/text.h"
#include "sm/config/node_name_map.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>


#define WARNINGS_MAX	100u

G_DEFINE_QUARK(minism-nodenames-error-quark, node_name_map_error)

struct line {
	const char *file;
	unsigned number;
	const char *text;	/* it is cut up as it is read */
};

/* NULL; `at` is the place in the line. */
G_GNUC_PRINTF(4, 5) static char *
fail(const struct line *line, const char *at, GError **error,
     const char *format, ...)
{
	g_autofree char *why = NULL;
	va_list args;

	va_start(args, format);
	why = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(error, NODE_NAME_MAP_ERROR, NODE_NAME_MAP_ERROR_SYNTAX,
		    "%s:%u:%u: %s", line->file, line->number,
		    (unsigned)(at - line->text) + 1, why);
	return NULL;
}

static char *
skip_blanks(char *at)
{
	return at + strspn(at, " \t");
}

/* In quotes: `at` is behind the first one. */
static char *
cut_quoted(const struct line *line, char *at, GError **error)
{
	char *end = strchr(at, '"');
	char *more;

	if (!end)
		return fail(line, at - 1, error, "the quote is not closed");
	more = skip_blanks(end + 1);
	if (*more && *more != '#')
		return fail(line, more, error, "behind the name there is "
			    "only a # comment");
	*end = '\0';
	return at;
}

static char *
cut_bare(const struct line *line, char *at, GError **error)
{
	char *quote;

	at[strcspn(at, "#")] = '\0';
	quote = strchr(at, '"');
	if (quote)
		return fail(line, quote, error, "a quote in a name");
	return g_strchomp(at);
}

/* The name in the rest of the line. */
static char *
cut_name(const struct line *line, char *at, GError **error)
{
	bool quoted = *at == '"';
	char *name = quoted ? cut_quoted(line, at + 1, error) :
		cut_bare(line, at, error);

	if (!name)
		return NULL;
	if (!*name)
		return fail(line, at, error, "there is no name");
	if (strlen(name) > NODE_NAME_MAP_MAX)
		return fail(line, at, error, "a name has %u bytes at most",
			    NODE_NAME_MAP_MAX);
	if (!g_utf8_validate(name, -1, NULL))
		return fail(line, at, error, "the name is not UTF-8");
	for (const char *c = name; *c; c = g_utf8_next_char(c))
		if (!g_unichar_isprint(g_utf8_get_char(c)))
			return fail(line, c, error, "a character of the name "
				    "cannot be printed");
	return name;
}

static bool
read_line(GHashTable *names, const struct line *line, char *at,
	  GPtrArray *warnings, GError **error)
{
	char *word = at, *name;
	uint64_t guid, *key;

	at += strcspn(at, " \t#");
	if (*at == ' ' || *at == '\t')
		*at++ = '\0';
	else if (*at)		/* a comment where the name should be */
		at = at + strlen(at);
	if (!text_read_guid(word, &guid) || !guid) {
		fail(line, word, error, "a line is a GUID of up to 16 "
		     "hexadecimal digits, and a name");
		return false;
	}
	name = cut_name(line, skip_blanks(at), error);
	if (!name)
		return false;
	key = g_new(uint64_t, 1);
	*key = guid;
	if (!g_hash_table_contains(names, key))
		return g_hash_table_insert(names, key, g_strdup(name));
	g_free(key);
	if (!warnings || warnings->len >= WARNINGS_MAX)
		return true;
	g_ptr_array_add(warnings, g_strdup_printf(
		"%s:%u:%u: this GUID has the name \"%s\" already", line->file,
		line->number, (unsigned)(word - line->text) + 1,
		(char *)g_hash_table_lookup(names, &guid)));
	return true;
}

GHashTable *
node_name_map_parse(const char *text, const char *file, GPtrArray *warnings,
		GError **error)
{
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_int64_hash,
		g_int64_equal, g_free, g_free);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (unsigned i = 0; lines[i]; i++) {
		const struct line line = { file, i + 1, lines[i] };
		char *at = skip_blanks(g_strchomp(lines[i]));

		if (!*at || *at == '#')
			continue;
		if (!read_line(names, &line, at, warnings, error))
			return NULL;
	}
	return g_steal_pointer(&names);
}
