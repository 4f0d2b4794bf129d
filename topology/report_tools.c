// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Members that tools and the laboratory print, and a manager does not.
 */
#include "topology/report.h"

#include <inttypes.h>

#include "topology/text.h"

void
report_utf8(struct text_report *r, const char *key, const char *value,
	    const char *after)
{
	g_autofree char *valid = r->as_json ? g_utf8_make_valid(value, -1) :
		NULL;

	report_text(r, key, valid ? valid : value, after);
}

void
report_count(struct text_report *r, const char *key, uint64_t n,
	     const char *noun, const char *after)
{
	report_number(r, key, n, NULL);
	if (!r->as_json)
		text_put_count(r->out, n, 0, noun);
	report_say(r, "%s", after);
}

void
report_real(struct text_report *r, const char *key, double value, int places,
	    const char *after)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (report_begin(r, key))
		g_string_append(r->out, g_ascii_formatd(text, sizeof(text),
							"%.6g", value));
	else if (after)
		g_string_append_printf(r->out, "%.*f%s", places, value, after);
}

void
report_lines(struct text_report *r, const char *key, const GPtrArray *lines,
	     const char *before)
{
	report_open(r, key, '[');
	for (guint i = 0; lines && i < lines->len; i++) {
		report_say(r, "%s", before);
		report_text(r, NULL, lines->pdata[i], "\n");
	}
	report_close(r, ']');
}

void
report_ms(struct text_report *r, const char *key, int64_t us)
{
	us = MAX(us, 0);
	if (report_begin(r, key))
		g_string_append_printf(r->out, "%" PRId64 ".%03d", us / 1000,
				       (int)(us % 1000));
}
