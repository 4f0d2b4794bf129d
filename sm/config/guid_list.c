// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lists of GUIDs.
 *
 * A list decides who is a root or an I/O node, so a line that cannot be read
 * is an error: a list that lacks one GUID would route the fabric otherwise
 * than its owner thinks. What follows the GUID on its line is a comment even
 * without a #, since lists are often made by cutting columns out of dumps.
 */
#include "sm/config/guid_list.h"

#include "topology/text.h"

#define GUID_DIGITS	16

G_DEFINE_QUARK(minism-guidlist-error-quark, guid_list_error)

static gint
compare(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The first word of `line` as a GUID. */
static bool
read_guid(const char *line, uint64_t *guid)
{
	const char *first;

	text_take_0x(&line);
	first = line;
	if (!text_take_digits(&line, 16, UINT64_MAX, guid) ||
	    line - first > GUID_DIGITS)
		return false;
	if (*line && !g_ascii_isspace(*line) && *line != '#')
		return false;
	return *guid != 0;
}

static void
unite(GArray *list)
{
	uint64_t *guids = (uint64_t *)(void *)list->data;
	guint n = 0;

	g_array_sort(list, compare);
	for (guint i = 0; i < list->len; i++)
		if (i == 0 || guids[i] != guids[n - 1])
			guids[n++] = guids[i];
	g_array_set_size(list, n);
}

GArray *
guid_list_parse(const char *text, const char *name, GError **error)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	uint64_t guid;

	for (unsigned i = 0; lines[i]; i++) {
		char *line = g_strchomp(lines[i]);

		while (g_ascii_isspace(*line))
			line++;
		if (!*line || *line == '#')
			continue;
		if (!read_guid(line, &guid)) {
			g_set_error(error, GUID_LIST_ERROR,
				    GUID_LIST_ERROR_SYNTAX, "%s:%u:%u: this "
				    "is not a GUID of up to 16 hexadecimal "
				    "digits", name, i + 1,
				    (unsigned)(line - lines[i]) + 1);
			return NULL;
		}
		g_array_append_val(list, guid);
	}
	unite(list);
	return g_steal_pointer(&list);
}

bool
guid_list_has(const GArray *list, uint64_t guid)
{
	return list && g_array_binary_search((GArray *)list, &guid, compare,
					     NULL);
}
