// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * guid2lid: the memory of LIDs as text.
 *
 * A line is "0xPORTGUID 0xMIN 0xMAX", hexadecimal, and OpenSM leaves a blank
 * line after each; blank lines and comments are passed over in reading. LIDs
 * cannot change under the users of a subnet without their noticing, so this
 * file is either right or not there: if a line says what no assignment could
 * have said, the whole is refused and the caller starts afresh.
 *
 * Duplicates of a GUID are found by sorting, those of a LID by a mark for each
 * LID that holds the number of the line, so that a message can name both.
 */
#include <inttypes.h>

#include "topology/text.h"
#include "sm/config/guid2lid.h"

struct entry {
	struct lid_range range;
	unsigned line;
};

struct file {
	const char *name;
	unsigned line;
	GError **error;
	GArray *entries;
	unsigned *line_of;	/* by LID, 0: nobody's yet */
};

GQuark
guid2lid_error_quark(void)
{
	return g_quark_from_static_string("minism-guid2lid-error");
}

G_GNUC_PRINTF(3, 4) static bool
fail(struct file *f, unsigned line, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(f->error, GUID2LID_ERROR, GUID2LID_ERROR_SYNTAX,
		    "%s:%u: %s", f->name, line, text);
	g_free(text);
	return false;
}

/* Takes one word of hexadecimal digits, with 0x or without. */
static bool
take_hex(const char **text, uint64_t max, uint64_t *value)
{
	*text = text_skip_blanks(*text);
	text_take_0x(text);
	return text_take_digits(text, 16, max, value) &&
		(text_is_blank(**text) || !**text);
}

static bool
mark_lids(struct file *f, const struct lid_range *r)
{
	unsigned size = r->max - r->min + 1u;

	if (r->min < LID_UNICAST_MIN || r->max < r->min ||
	    r->max > LID_UNICAST_MAX)
		return fail(f, f->line, "0x%04x to 0x%04x are no unicast LIDs",
			    r->min, r->max);
	if ((size & (size - 1)) || size > 1u << LMC_MAX || r->min % size)
		return fail(f, f->line, "0x%04x to 0x%04x is no range of a "
			    "port: it must be 2^LMC LIDs and begin at a "
			    "multiple of that", r->min, r->max);
	for (unsigned lid = r->min; lid <= r->max; lid++) {
		if (f->line_of[lid])
			return fail(f, f->line, "LID 0x%04x is that of line "
				    "%u", lid, f->line_of[lid]);
		f->line_of[lid] = f->line;
	}
	return true;
}

static bool
read_line(struct file *f, const char *text)
{
	struct entry entry = { .line = f->line };
	uint64_t min;
	uint64_t max;

	text = text_skip_blanks(text);
	if (!*text || *text == '#')
		return true;
	if (!take_hex(&text, UINT64_MAX, &entry.range.guid) ||
	    !take_hex(&text, UINT16_MAX, &min) ||
	    !take_hex(&text, UINT16_MAX, &max) || *text_skip_blanks(text))
		return fail(f, f->line, "this is not \"0xPORTGUID 0xMIN "
			    "0xMAX\"");
	if (!entry.range.guid)
		return fail(f, f->line, "PortGUID 0 is nobody's");
	entry.range.min = (uint16_t)min;
	entry.range.max = (uint16_t)max;
	if (!mark_lids(f, &entry.range))
		return false;
	g_array_append_val(f->entries, entry);
	return true;
}

static gint
compare_entries(gconstpointer a, gconstpointer b)
{
	const struct entry *ea = a;
	const struct entry *eb = b;

	if (ea->range.guid != eb->range.guid)
		return ea->range.guid < eb->range.guid ? -1 : 1;
	return (ea->line > eb->line) - (ea->line < eb->line);
}

static GArray *
sort_ranges(struct file *f)
{
	GArray *ranges = g_array_sized_new(FALSE, FALSE,
					   sizeof(struct lid_range),
					   f->entries->len);

	g_array_sort(f->entries, compare_entries);
	for (guint i = 0; i < f->entries->len; i++) {
		const struct entry *e = &g_array_index(f->entries,
						       struct entry, i);

		if (i > 0 && e[-1].range.guid == e->range.guid) {
			fail(f, e->line, "PortGUID 0x%016" PRIx64 " is that "
			     "of line %u", e->range.guid, e[-1].line);
			g_array_free(ranges, TRUE);
			return NULL;
		}
		g_array_append_val(ranges, e->range);
	}
	return ranges;
}

GArray *
guid2lid_parse(const char *text, const char *name, GError **error)
{
	struct file f = {
		.name = name,
		.error = error,
		.entries = g_array_new(FALSE, FALSE, sizeof(struct entry)),
		.line_of = g_new0(unsigned, LID_UNICAST_MAX + 1),
	};
	char **lines = g_strsplit(text, "\n", -1);
	GArray *ranges = NULL;
	bool ok = true;

	while (ok && lines[f.line]) {
		const char *line = lines[f.line++];

		ok = read_line(&f, line);
	}
	if (ok)
		ranges = sort_ranges(&f);
	g_strfreev(lines);
	g_free(f.line_of);
	g_array_free(f.entries, TRUE);
	return ranges;
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
