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

bool
report_begin(struct text_report *r, const char *key)
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
	if (!report_begin(r, key))
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
	if (!report_begin(r, key)) {
		if (value && after)
			g_string_append_printf(r->out, "%s%s", value, after);
	} else if (value) {
		put_string(r->out, value);
	} else {
		g_string_append(r->out, "null");
	}
}

void
report_number(struct text_report *r, const char *key, uint64_t value,
	      const char *after)
{
	if (report_begin(r, key))
		after = "";
	if (after)
		g_string_append_printf(r->out, "%" PRIu64 "%s", value, after);
}

void
report_hex(struct text_report *r, const char *key, uint64_t value, int digits,
	   const char *after)
{
	if (report_begin(r, key))
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
	if (report_begin(r, key))
		g_string_append(r->out, value ? "true" : "false");
}
