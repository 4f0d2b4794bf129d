// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text files with a GUID a line: lists of GUIDs, the node name map, the memory
 * of LIDs (guid2lid), and the order of the switches (ranks).
 *
 * A list selects the switches that are roots, or the I/O nodes, so a line that
 * cannot be read is an error: with one GUID missing the fabric would be routed in
 * another way than the operator expects. The rest of a line behind the GUID is a
 * comment even without a #, since lists are often made by cutting columns out of
 * dumps.
 *
 * guid2lid and ranks are written by the subnet manager, guid2lid in OpenSM's
 * form. A LID that changes breaks connections, and half an order of the
 * switches is worse than a new one: a file that is wrong in one line is not
 * used at all, and the caller starts with an empty one.
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

/* --- the memory of LIDs --- */

/* The LIDs of the line are marked with its number: a range that is no
 * assignment, or that has a LID of another line, is refused. */
static bool
mark_lids(struct text_scan *s, struct text_place place,
	  const struct lid_range *r, unsigned *line_of)
{
	unsigned size = r->max - r->min + 1u;

	if (!r->guid)
		return text_fail(s, place, "PortGUID 0 is no port's");
	if (r->min < LID_UNICAST_MIN || r->max < r->min ||
	    r->max > LID_UNICAST_MAX)
		return text_fail(s, place, "0x%04x to 0x%04x are no unicast "
				 "LIDs", r->min, r->max);
	if ((size & (size - 1)) || size > 1u << LMC_MAX || r->min % size)
		return text_fail(s, place, "0x%04x to 0x%04x is no range of a "
				 "port: it must be 2^LMC LIDs and begin at a "
				 "multiple of that", r->min, r->max);
	for (unsigned lid = r->min; lid <= r->max; lid++) {
		if (line_of[lid])
			return text_fail(s, place, "LID 0x%04x is that of line "
					 "%u", lid, line_of[lid]);
		line_of[lid] = place.line;
	}
	return true;
}

static bool
guid2lid_take(struct text_scan *s, GArray *ranges, unsigned *line_of)
{
	struct text_place place = text_here(s);
	struct text_span words[3];
	struct lid_range range;
	uint64_t min, max;

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		words[i] = text_take_span(s, " \t\r\n");
	if (!text_span_number(&words[0], 16, UINT64_MAX, &range.guid) ||
	    !text_span_number(&words[1], 16, UINT16_MAX, &min) ||
	    !text_span_number(&words[2], 16, UINT16_MAX, &max) ||
	    !text_line_ends(s))
		return text_fail(s, place, "this is not \"0xPORTGUID 0xMIN "
				 "0xMAX\"");
	range.min = (uint16_t)min;
	range.max = (uint16_t)max;
	if (!mark_lids(s, place, &range, line_of))
		return false;
	g_array_append_val(ranges, range);
	return true;
}

static gint
guid2lid_compare(gconstpointer a, gconstpointer b)
{
	const struct lid_range *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->min < y->min ? -1 : x->min > y->min;
}

GArray *
guid2lid_parse(const char *text, const char *name, GError **error)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE,
					       sizeof(struct lid_range));
	g_autofree unsigned *line_of = g_new0(unsigned, LID_UNICAST_MAX + 1);
	struct text_scan s;
	bool ok = true;

	text_scan_init(&s, text, name, NULL);
	while (ok && text_skip_space(&s))
		ok = guid2lid_take(&s, ranges, line_of);
	/* by GUID, each once */
	g_array_sort(ranges, guid2lid_compare);
	for (guint i = 1; ok && i < ranges->len; i++) {
		const struct lid_range *r = &g_array_index(ranges,
						struct lid_range, i - 1);
		unsigned a = line_of[r[0].min], b = line_of[r[1].min];

		if (r[0].guid == r[1].guid)
			ok = text_fail(&s, (struct text_place){ MAX(a, b), 1 },
				       "PortGUID 0x%016" PRIx64 " is that of "
				       "line %u", r[1].guid, MIN(a, b));
	}
	if (!text_scan_end(&s, error))
		return NULL;
	return g_steal_pointer(&ranges);
}

void
guid2lid_format(const GArray *ranges, GString *out)
{
	for (guint i = 0; i < ranges->len; i++) {
		const struct lid_range *r = &g_array_index(ranges,
						struct lid_range, i);

		g_string_append_printf(out, "0x%016" PRIx64 " 0x%04x 0x%04x\n"
				       "\n", r->guid, r->min, r->max);
	}
}

/* --- the order of the switches --- */

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
	guint i;

	if (!g_array_binary_search(list->lines, &guid, guid_compare, &i))
		return NULL;
	return &g_array_index(list->lines, struct rank_line, i);
}

struct rank_list *
rank_list_new(const char *engine)
{
	struct rank_list *list = g_new0(struct rank_list, 1);

	list->engine = g_strdup(engine);
	list->lines = g_array_new(FALSE, TRUE, sizeof(struct rank_line));
	return list;
}

/* A line without a newline was truncated. GUIDs are in ascending order, as they
 * were written. */
static bool
take_rank_line(struct text_scan *s, struct rank_list *list)
{
	struct text_span word = text_take_span(s, " \n");
	struct text_span value = text_take_span(s, " \n");
	guint n = list->lines->len;
	struct rank_line line;
	uint64_t rank;

	if (!value.len || *s->at != '\n')
		return false;
	if (s->line == 1) {
		list->engine = g_strndup(value.at, value.len);
		list->in_force = g_strdup(list->engine);
		return text_span_is(&word, "engine");
	}
	if (s->line == 2 && text_span_is(&word, "in-force")) {
		g_free(list->in_force);
		list->in_force = text_span_is(&value, "-") ? NULL :
			g_strndup(value.at, value.len);
		return true;
	}
	if (!g_str_has_prefix(word.at, "0x") ||
	    !text_span_number(&word, 0, UINT64_MAX, &line.guid) ||
	    !text_span_number(&value, 0, UINT32_MAX - 1, &rank) ||
	    (n && g_array_index(list->lines, struct rank_line, n - 1).guid >=
	     line.guid))
		return false;
	line.rank = (uint32_t)rank;
	g_array_append_val(list->lines, line);
	return true;
}

struct rank_list *
rank_file_parse(const char *text, const char *name, GError **error)
{
	struct rank_list *list = rank_list_new(NULL);
	struct text_scan s;
	bool ok;

	text_scan_init(&s, text, name, NULL);
	do {
		ok = take_rank_line(&s, list);
		s.line_start = s.at += ok;
		s.line += ok;
	} while (ok && *s.at);
	if (!ok)
		text_fail(&s, (struct text_place){ s.line, 1 }, "damaged");
	if (text_scan_end(&s, error))
		return list;
	rank_list_free(list);
	return NULL;
}

void
rank_file_format(const struct rank_list *list, GString *out)
{
	const struct rank_line *line = (const void *)list->lines->data;

	g_string_append_printf(out, "engine %s\n", list->engine);
	if (g_strcmp0(list->in_force, list->engine))
		g_string_append_printf(out, "in-force %s\n",
				       list->in_force ? list->in_force : "-");
	for (guint i = 0; i < list->lines->len; i++, line++)
		g_string_append_printf(out, "0x%016" G_GINT64_MODIFIER
				       "x %u\n", line->guid, line->rank);
}
