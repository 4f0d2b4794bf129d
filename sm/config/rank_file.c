// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The order of the switches as text.
 *
 * A list that is damaged in one place is not trusted in others: half an order
 * is worse than a new one, which is only a change of routes.
 */
#include "topology/text.h"
#include "sm/config/rank_file.h"

#include <string.h>


G_DEFINE_QUARK(minism-rankfile-error-quark, rank_file_error)

static gint
compare(gconstpointer a, gconstpointer b)
{
	const struct rank_line *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

void
rank_list_free(struct rank_list *list)
{
	if (!list)
		return;
	g_free(list->engine);
	g_free(list->in_force);
	g_array_unref(list->lines);
	g_free(list);
}

const struct rank_line *
rank_list_find(const struct rank_list *list, uint64_t guid)
{
	struct rank_line wanted = { .guid = guid };
	guint i;

	if (!g_array_binary_search(list->lines, &wanted, compare, &i))
		return NULL;
	return &g_array_index(list->lines, struct rank_line, i);
}

static bool
read_engine(const char *key, char **name, char **words)
{
	if (strcmp(words[0], key) || !words[1] || !*words[1] || words[2])
		return false;
	g_free(*name);
	*name = g_strdup(words[1]);
	return true;
}

static bool
read_rank(struct rank_list *list, char **words)
{
	struct rank_line line;
	uint64_t rank;

	if (!words[1] || words[2] || !g_str_has_prefix(words[0], "0x") ||
	    !text_read_number(words[0], UINT64_MAX, &line.guid) ||
	    !text_read_number(words[1], UINT32_MAX - 1, &rank))
		return false;
	/* in order, each once: as it was written */
	if (list->lines->len && g_array_index(list->lines, struct rank_line,
					      list->lines->len - 1).guid >=
	    line.guid)
		return false;
	line.rank = (uint32_t)rank;
	g_array_append_val(list->lines, line);
	return true;
}

struct rank_list *
rank_list_new(const char *engine)
{
	struct rank_list *list = g_new0(struct rank_list, 1);

	list->engine = g_strdup(engine);
	list->in_force = g_strdup(engine);
	list->lines = g_array_new(FALSE, TRUE, sizeof(struct rank_line));
	return list;
}

static bool
read_line(struct rank_list *list, char **words, unsigned line)
{
	if (!words[0])
		return false;
	if (line == 0)
		return read_engine("engine", &list->engine, words) &&
			read_engine("engine", &list->in_force, words);
	return (line == 1 && read_engine("in-force", &list->in_force, words)) ||
		read_rank(list, words);
}

struct rank_list *
rank_file_parse(const char *text, const char *name, GError **error)
{
	struct rank_list *list = rank_list_new(NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	unsigned i;

	for (i = 0; lines[i]; i++) {
		g_auto(GStrv) words = g_strsplit(lines[i], " ", 3);

		if (!*lines[i] && !lines[i + 1] && list->engine)
			return list;
		if (!read_line(list, words, i))
			break;
	}
	g_set_error(error, RANK_FILE_ERROR, RANK_FILE_ERROR_SYNTAX,
		    "%s:%u: damaged", name, i + 1);
	rank_list_free(list);
	return NULL;
}

void
rank_file_format(const struct rank_list *list, GString *out)
{
	const struct rank_line *line = (const void *)list->lines->data;

	g_string_append_printf(out, "engine %s\n", list->engine);
	if (strcmp(list->in_force, list->engine))
		g_string_append_printf(out, "in-force %s\n", list->in_force);
	for (guint i = 0; i < list->lines->len; i++, line++)
		g_string_append_printf(out, "0x%016" G_GINT64_MODIFIER
				       "x %u\n", line->guid, line->rank);
}
