/*
 * Writing JSON.
 *
 * A comma goes before each member but the first of its bracket; that is all
 * the state there is, since a bracket that closes makes its own bracket a
 * member that others may follow.
 *
 * Source: RFC 8259.
 */
#include "sm/json.h"

#include <inttypes.h>

static void
put_string(GString *out, const char *text)
{
	/* a site's own names may be of any language */
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
	if (j->comma)
		g_string_append_c(j->out, ',');
	j->comma = true;
	if (!key)
		return;
	put_string(j->out, key);
	g_string_append_c(j->out, ':');
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
json_number(struct json *j, const char *key, uint64_t value)
{
	begin_member(j, key);
	g_string_append_printf(j->out, "%" PRIu64, value);
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

void
json_lines(struct json *j, const char *key, const GPtrArray *lines)
{
	json_open(j, key, '[');
	for (guint i = 0; lines && i < lines->len; i++)
		json_text(j, NULL, lines->pdata[i]);
	json_close(j, ']');
}
