// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lines of a view, as they are written.
 * A number is decimal, or has 0x and a fixed count of digits.
 */
#include "topology/view_line.h"

#include <inttypes.h>
#include <string.h>

#include "topology/text.h"

const struct view_form view_forms[VIEW_KINDS] = {
	[VIEW_HEAD] = { "view", { { NULL, 0 }, { "gen", 0 }, { "sa", 0 },
		{ "at", 0 }, { "port", 16 } }, 5, "by" },
	[VIEW_VERDICT] = { "verdict", { { "links", 0 }, { "all-links", 0 },
		{ "hosts", 0 }, { "all-hosts", 0 }, { "switches", 0 },
		{ "all-switches", 0 } }, 6, "is" },
	[VIEW_MANAGER] = { "manager", { { "state", 0 }, { "priority", 0 },
		{ "guest", 0 }, { "paused", 0 }, { "up", 0 }, { "qos", 0 } },
		6, "on" },
	[VIEW_ROLE] = { "role", { { NULL, 0 } }, 0, "" },
	[VIEW_LEVEL] = { "level", { { NULL, 0 } }, 0, "" },
	[VIEW_DOING] = { "doing", { { NULL, 0 } }, 0, "" },
	[VIEW_UNIT] = { "unit", { { NULL, 0 } }, 0, "" },
	[VIEW_MASTER] = { "master", { { NULL, 0 } }, 0, "" },
	[VIEW_RIVAL] = { "rival", { { NULL, 0 } }, 0, "" },
	[VIEW_SM] = { "sm", { { NULL, 16 }, { "state", 0 },
		{ "priority", 0 } }, 3, "at" },
	[VIEW_STANDBY] = { "standby", { { "follows", 0 }, { "warm", 0 },
		{ "groups", 0 }, { "members", 0 }, { "services", 0 },
		{ "subscriptions", 0 }, { "age", 0 } }, 7, "why" },
	[VIEW_SWEEP] = { "sweep", { { "age", 0 }, { "took", 0 } }, 2, "end" },
	[VIEW_SOURCE] = { "source", { { NULL, 0 } }, 0, "" },
	[VIEW_COUNT] = { "count", { { NULL, 0 } }, 1, "of" },
	[VIEW_SUBNET] = { "subnet", { { "switches", 0 }, { "hosts", 0 },
		{ "active", 0 }, { "links", 0 }, { "top", 0 },
		{ "age", 0 } }, 6, NULL },
	[VIEW_FAULT] = { "fault", { { NULL, 0 }, { "since", 0 },
		{ "guid", 16 }, { "kind", 0 }, { "name", 0 },
		{ "cause", 16 } }, 6, "what" },
	[VIEW_ERROR] = { "error", { { NULL, 0 } }, 0, "" },
	[VIEW_COMPLAINT] = { "complaint", { { NULL, 0 } }, 0, "" },
	[VIEW_UNREACHED] = { "unreached", { { NULL, 0 } }, 0, "" },
	[VIEW_WARNING] = { "warning", { { NULL, 0 } }, 0, "" },
	[VIEW_ROUTE] = { "route", { { "looped", 0 }, { "top", 0 },
		{ "unsafe", 0 } }, 3, "engine" },
	[VIEW_REASON] = { "reason", { { NULL, 0 } }, 0, "" },
	[VIEW_CANDIDATE] = { "candidate", { { NULL, 0 } }, 0, "" },
	[VIEW_LOOP] = { "loop", { { NULL, 16 }, { "port", 0 }, { "lid", 0 } },
		3, "at" },
	[VIEW_ROOT] = { "root", { { NULL, 16 } }, 1, NULL },
	[VIEW_COMPUTE] = { "compute", { { NULL, 16 } }, 1, NULL },
	[VIEW_IO] = { "io", { { NULL, 16 } }, 1, NULL },
	[VIEW_FLAP] = { "flap", { { "held", 0 }, { "flaps", 0 },
		{ "babbles", 0 }, { "downs", 0 }, { "traps", 0 },
		{ "age", 0 }, { "left", 0 } }, 7, "at" },
	[VIEW_NOTE] = { "note", { { NULL, 0 } }, 0, "" },
	[VIEW_NODE] = { "node", { { NULL, 16 }, { "revision", 8 } }, 2,
		NULL },
	[VIEW_NAME] = { "name", { { NULL, 16 } }, 1, "is" },
	[VIEW_USUAL] = { "usual", { { "state", 0 }, { "mtu", 0 },
		{ "vls", 0 }, { "phys", 0 } }, 4, NULL },
	[VIEW_IDLE] = { "idle", { { "state", 0 }, { "mtu", 0 },
		{ "vls", 0 }, { "phys", 0 } }, 4, NULL },
	[VIEW_PORT] = { "port", { { NULL, 16 }, { NULL, 0 }, { "state", 0 },
		{ "mtu", 0 }, { "vls", 0 }, { "phys", 0 } }, 6, "speed" },
	[VIEW_TRAIT] = { "trait", { { NULL, 16 }, { NULL, 0 }, { "sm", 0 },
		{ "virtual", 0 }, { "key", 0 } }, 5, "sl2vl" },
	[VIEW_SLOW] = { "slow", { { NULL, 16 }, { NULL, 0 } }, 2, "could-be" },
	[VIEW_PARTITION] = { "partition", { { NULL, 4 }, { "sl", 0 } }, 2,
		"name" },
	[VIEW_AWAY] = { "away", { { NULL, 4 }, { NULL, 16 }, { "as", 0 } }, 3,
		NULL },
	[VIEW_PKEY] = { "pkey", { { NULL, 4 }, { NULL, 16 } }, 2, NULL },
	[VIEW_AVOIDED] = { "avoided", { { NULL, 16 }, { NULL, 0 },
		{ "errors", 0 }, { "used", 0 }, { "name", 0 },
		{ "reason", 0 } }, 6, "link" },
	[VIEW_HOP] = { "hop", { { NULL, 16 }, { NULL, 0 }, { "lid", 0 } }, 3,
		NULL },
	[VIEW_LFT] = { "lft", { { NULL, 16 }, { NULL, 0 } }, 2, "" },
	[VIEW_END] = { "end", { { NULL, 0 } }, 1, NULL },
};

void
view_line_put(enum view_kind kind, const uint64_t *numbers, const char *text,
	      GString *out)
{
	const struct view_form *k = &view_forms[kind];
	gsize begin = out->len;

	g_string_append_printf(out, "#%s", k->keyword);
	for (unsigned i = 0; i < k->n; i++) {
		const struct view_word *w = &k->words[i];

		g_string_append_printf(out, w->digits ? "%s%s 0x%0*" PRIx64 :
				       "%s%s %*" PRIu64, w->name ? " " : "",
				       w->name ? w->name : "",
				       (int)w->digits, numbers[i]);
	}
	if (text && k->text)
		g_string_append_printf(out, "%s%s %s", *k->text ? " " : "",
				       k->text, text);
	for (gsize i = begin; i < out->len; i++)
		if ((unsigned char)out->str[i] < ' ')
			out->str[i] = ' ';
	g_string_append_c(out, '\n');
}

void
view_text_put(enum view_kind kind, const char *text, GString *out)
{
	if (text)
		view_line_put(kind, NULL, text, out);
}

void
view_texts_put(enum view_kind kind, const GPtrArray *texts, GString *out)
{
	for (guint i = 0; texts && i < texts->len; i++)
		view_text_put(kind, texts->pdata[i], out);
}

void
view_counts_put(const uint64_t *numbers, bool is_whole, GString *out)
{
	uint64_t links = numbers[VERDICT_ALL_LINKS];

	text_put_count(out, numbers[VERDICT_SWITCHES],
		       numbers[VERDICT_ALL_SWITCHES], "switch");
	g_string_append(out, ", ");
	text_put_count(out, numbers[VERDICT_HOSTS], numbers[VERDICT_ALL_HOSTS],
		       "host");
	g_string_append(out, ", ");
	if (!is_whole)
		g_string_append_printf(out, "%" PRIu64 " of ",
				       numbers[VERDICT_LINKS]);
	g_string_append_printf(out, "%" PRIu64 " link%s%s", links,
			       text_plural(links), is_whole ? ", all Active" :
			       " Active");
}

char *
view_verdict_text(const char *verdict, const uint64_t *numbers)
{
	GString *out = g_string_new(verdict);

	g_string_append(out, ": ");
	view_counts_put(numbers, false, out);
	return g_string_free(out, FALSE);
}

void
view_lines_wrap(GString *out, gsize begin)
{
	static const char more[] = "\n" VIEW_LINE_MORE;

	for (gsize at = begin; at < out->len; at++) {
		gsize len = strcspn(out->str + at, "\n");

		if (out->str[at] == '#' && len > VIEW_LINE_MAX) {
			len = VIEW_LINE_MAX;
			/* in no character of UTF-8, which has 4 bytes at most */
			while (len > VIEW_LINE_MAX - 3 &&
			       (out->str[at + len] & 0xc0) == 0x80)
				len--;
			g_string_insert(out, (gssize)(at + len), more);
		}
		at += len;
	}
}
