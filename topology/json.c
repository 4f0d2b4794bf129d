// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writing JSON.
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
#include "topology/json.h"

#include <inttypes.h>

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

static void
begin_member(struct json *j, const char *key)
{
	const char *space = j->space ? j->space : "";

	if (j->comma)
		g_string_append_c(j->out, ',');
	if (j->gap || j->comma)
		g_string_append(j->out, j->gap ? j->gap : space);
	j->gap = NULL;
	j->comma = true;
	if (!key)
		return;
	put_string(j->out, key);
	g_string_append_c(j->out, ':');
	g_string_append(j->out, space);
}

void
json_open(struct json *j, const char *key, char bracket)
{
	begin_member(j, key);
	g_string_append_c(j->out, bracket);
	j->comma = false;
}

void
json_close(struct json *j, char bracket)
{
	g_string_append_c(j->out, bracket);
	j->comma = true;
}

void
json_text(struct json *j, const char *key, const char *value)
{
	begin_member(j, key);
	if (value)
		put_string(j->out, value);
	else
		g_string_append(j->out, "null");
}

void
json_utf8(struct json *j, const char *key, const char *value)
{
	g_autofree char *valid = g_utf8_make_valid(value, -1);

	json_text(j, key, valid);
}

void
json_number(struct json *j, const char *key, uint64_t value)
{
	begin_member(j, key);
	g_string_append_printf(j->out, "%" PRIu64, value);
}

void
json_real(struct json *j, const char *key, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	begin_member(j, key);
	g_string_append(j->out, g_ascii_formatd(text, sizeof(text), "%.6g",
						value));
}

void
json_bool(struct json *j, const char *key, bool value)
{
	begin_member(j, key);
	g_string_append(j->out, value ? "true" : "false");
}

void
json_ms(struct json *j, const char *key, int64_t us)
{
	begin_member(j, key);
	us = MAX(us, 0);
	g_string_append_printf(j->out, "%" PRId64 ".%03d", us / 1000,
			       (int)(us % 1000));
}

void
json_hex(struct json *j, const char *key, uint64_t value, int digits)
{
	begin_member(j, key);
	g_string_append_printf(j->out, "\"0x%0*" PRIx64 "\"", digits, value);
}

/* --- text or JSON --- */

void
report_open(struct text_report *r, const char *key, char bracket)
{
	if (r->as_json)
		json_open(&r->json, key, bracket);
}

void
report_close(struct text_report *r, char bracket)
{
	if (r->as_json)
		json_close(&r->json, bracket);
}

void
report_break(struct text_report *r, const char *gap)
{
	r->json.gap = gap;
}

void
report_say(struct text_report *r, const char *format, ...)
{
	va_list args;

	if (r->as_json)
		return;
	va_start(args, format);
	g_string_append_vprintf(r->json.out, format, args);
	va_end(args);
}

void
report_text(struct text_report *r, const char *key, const char *value,
	    const char *after)
{
	if (r->as_json)
		json_text(&r->json, key, value);
	else if (value && after)
		g_string_append(g_string_append(r->json.out, value), after);
}

void
report_number(struct text_report *r, const char *key, uint64_t value,
	      const char *after)
{
	if (r->as_json)
		json_number(&r->json, key, value);
	else if (after)
		report_say(r, "%" PRIu64 "%s", value, after);
}

void
report_bool(struct text_report *r, const char *key, bool value)
{
	if (r->as_json)
		json_bool(&r->json, key, value);
}

void
report_hex(struct text_report *r, const char *key, uint64_t value, int digits,
	   const char *after)
{
	if (r->as_json)
		json_hex(&r->json, key, value, digits);
	else if (after)
		report_say(r, "0x%0*" PRIx64 "%s", digits, value, after);
}

void
report_real(struct text_report *r, const char *key, double value, int places,
	    const char *after)
{
	if (r->as_json)
		json_real(&r->json, key, value);
	else if (after)
		report_say(r, "%.*f%s", places, value, after);
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
