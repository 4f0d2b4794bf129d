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
	struct text_scan scan;
	GArray *entries;
	unsigned *line_of;	/* by LID; 0: no line has it */
};

G_DEFINE_QUARK(minism-guid2lid-error-quark, guid2lid_error)

/* Hexadecimal, with 0x or without. */
static bool
take_hex(struct text_scan *s, uint64_t max, uint64_t *value)
{
	struct text_span span = text_take_span(s, " \t\r\n");

	return text_span_hex(&span, max, value);
}

static bool
mark_lids(struct file *f, struct text_place place, const struct lid_range *r)
{
	unsigned size = r->max - r->min + 1u;

	if (r->min < LID_UNICAST_MIN || r->max < r->min ||
	    r->max > LID_UNICAST_MAX)
		return text_fail(&f->scan, place, "0x%04x to 0x%04x are no "
				 "unicast LIDs", r->min, r->max);
	if ((size & (size - 1)) || size > 1u << LMC_MAX || r->min % size)
		return text_fail(&f->scan, place, "0x%04x to 0x%04x is no "
				 "range of a port: it must be 2^LMC LIDs and "
				 "begin at a multiple of that", r->min,
				 r->max);
	for (unsigned lid = r->min; lid <= r->max; lid++) {
		if (f->line_of[lid])
			return text_fail(&f->scan, place, "LID 0x%04x is that "
					 "of line %u", lid, f->line_of[lid]);
		f->line_of[lid] = place.line;
	}
	return true;
}

static bool
take_line(struct file *f)
{
	struct text_place place = text_here(&f->scan);
	struct entry entry = { .line = place.line };
	uint64_t min, max;

	if (!take_hex(&f->scan, UINT64_MAX, &entry.range.guid) ||
	    !take_hex(&f->scan, UINT16_MAX, &min) ||
	    !take_hex(&f->scan, UINT16_MAX, &max) ||
	    !text_line_ends(&f->scan))
		return text_fail(&f->scan, place, "this is not \"0xPORTGUID "
				 "0xMIN 0xMAX\"");
	if (!entry.range.guid)
		return text_fail(&f->scan, place, "PortGUID 0 is nobody's");
	entry.range.min = (uint16_t)min;
	entry.range.max = (uint16_t)max;
	if (!mark_lids(f, place, &entry.range))
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

static void
take_ranges(struct file *f, GArray *ranges)
{
	g_array_sort(f->entries, compare_entries);
	for (guint i = 0; i < f->entries->len; i++) {
		const struct entry *e = &g_array_index(f->entries,
						       struct entry, i);

		if (i > 0 && e[-1].range.guid == e->range.guid) {
			text_fail(&f->scan, (struct text_place){ e->line, 1 },
				  "PortGUID 0x%016" PRIx64 " is that of line "
				  "%u", e->range.guid, e[-1].line);
			return;
		}
		g_array_append_val(ranges, e->range);
	}
}

GArray *
guid2lid_parse(const char *text, const char *name, GError **error)
{
	g_autoptr(GArray) entries = g_array_new(FALSE, FALSE,
						sizeof(struct entry));
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE,
					       sizeof(struct lid_range));
	g_autofree unsigned *line_of = g_new0(unsigned, LID_UNICAST_MAX + 1);
	struct file f = { .entries = entries, .line_of = line_of };
	bool ok = true;

	text_scan_init(&f.scan, text, name, NULL);
	while (ok && text_skip_space(&f.scan))
		ok = take_line(&f);
	if (ok)
		take_ranges(&f, ranges);
	if (!text_scan_end(&f.scan, GUID2LID_ERROR, GUID2LID_ERROR_SYNTAX,
			   error))
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
