// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports, as text or as JSON.
 *
 * A comma goes before each member but the first of its bracket. After a closing
 * bracket another member may follow, so one bit of state is enough for all
 * depths.
 *
 * Two kinds of text: a NodeDescription is bytes of no known character set, and
 * what an operator typed is UTF-8.
 *
 * Source: RFC 8259.
 */
#include "topology/report.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "topology/text.h"

static void
put_string(GString *out, const char *text)
{
	/* a node name map may be in any language */
	uint8_t last = g_utf8_validate(text, -1, NULL) ? 0xff : 0x7e;

	g_string_append_c(out, '"');
	for (const uint8_t *c = (const uint8_t *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_printf(out, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f || *c > last)
			g_string_append_printf(out, "\\u%04x", *c);
		else
			g_string_append_c(out, (char)*c);
	}
	g_string_append_c(out, '"');
}

/* False: this is text. */
static bool
begin_member(struct text_report *r, const char *key)
{
	const char *space = r->space ? r->space : "";

	if (!r->as_json)
		return false;
	if (r->comma)
		g_string_append_c(r->out, ',');
	if (r->gap || r->comma)
		g_string_append(r->out, r->gap ? r->gap : space);
	r->gap = NULL;
	r->comma = true;
	if (key) {
		put_string(r->out, key);
		g_string_append_c(r->out, ':');
		g_string_append(r->out, space);
	}
	return true;
}

void
report_open(struct text_report *r, const char *key, char bracket)
{
	if (!begin_member(r, key))
		return;
	g_string_append_c(r->out, bracket);
	r->comma = false;
}

void
report_close(struct text_report *r, char bracket)
{
	if (!r->as_json)
		return;
	g_string_append_c(r->out, bracket);
	r->comma = true;
}

void
report_text(struct text_report *r, const char *key, const char *value,
	    const char *after)
{
	if (!begin_member(r, key)) {
		if (value && after)
			g_string_append_printf(r->out, "%s%s", value, after);
	} else if (value) {
		put_string(r->out, value);
	} else {
		g_string_append(r->out, "null");
	}
}

void
report_utf8(struct text_report *r, const char *key, const char *value,
	    const char *after)
{
	g_autofree char *valid = r->as_json ? g_utf8_make_valid(value, -1) :
		NULL;

	report_text(r, key, valid ? valid : value, after);
}

void
report_number(struct text_report *r, const char *key, uint64_t value,
	      const char *after)
{
	if (begin_member(r, key))
		after = "";
	if (after)
		g_string_append_printf(r->out, "%" PRIu64 "%s", value, after);
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
report_hex(struct text_report *r, const char *key, uint64_t value, int digits,
	   const char *after)
{
	if (begin_member(r, key))
		g_string_append_printf(r->out, "\"0x%0*" PRIx64 "\"", digits,
				       value);
	else if (after)
		g_string_append_printf(r->out, "0x%0*" PRIx64 "%s", digits,
				       value, after);
}

void
report_gid(struct text_report *r, const char *key, const uint8_t gid[16],
	   const char *after)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, gid, text, sizeof(text));
	report_text(r, key, text, after);
}

void
report_real(struct text_report *r, const char *key, double value, int places,
	    const char *after)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (begin_member(r, key))
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
report_end(struct text_report *r)
{
	report_close(r, '}');
	if (r->as_json)
		g_string_append_c(r->out, '\n');
}

void
report_done(struct text_report *r, bool done, const char *text)
{
	report_open(r, NULL, '{');
	report_bool(r, "done", done);
	report_text(r, "message", text, "\n");
	report_end(r);
}

void
report_open_list(struct text_report *r, const char *key)
{
	report_open(r, NULL, '{');
	report_open(r, key, '[');
}

void
report_close_list(struct text_report *r, const char *things)
{
	if (!r->out->len)
		report_say(r, "no %s\n", things);
	report_close(r, ']');
	report_end(r);
}

void
report_say(struct text_report *r, const char *format, ...)
{
	va_list args;

	if (r->as_json)
		return;
	va_start(args, format);
	g_string_append_vprintf(r->out, format, args);
	va_end(args);
}

void
report_bool(struct text_report *r, const char *key, bool value)
{
	if (begin_member(r, key))
		g_string_append(r->out, value ? "true" : "false");
}

void
report_ms(struct text_report *r, const char *key, int64_t us)
{
	us = MAX(us, 0);
	if (begin_member(r, key))
		g_string_append_printf(r->out, "%" PRId64 ".%03d", us / 1000,
				       (int)(us % 1000));
}
