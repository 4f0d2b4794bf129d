// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lines of a view, as they are written.
 * A number is decimal, or has 0x and a fixed count of digits.
 */
#include "topology/view_line.h"

#include <inttypes.h>
#include <string.h>

#include "topology/each.h"
#include "topology/text.h"

const struct view_form view_forms[VIEW_KINDS] = {
	[VIEW_HEAD] = { "view # gen # sa # at # port G", "by" },
	[VIEW_VERDICT] = { "verdict links # all-links # hosts # all-hosts # "
		"switches # all-switches #", "is" },
	[VIEW_MANAGER] = { "manager state # priority # guest # paused # up # "
		"qos #", "on" },
	[VIEW_ROLE] = { "role", "" },
	[VIEW_LEVEL] = { "level", "" },
	[VIEW_DOING] = { "doing", "" },
	[VIEW_UNIT] = { "unit", "" },
	[VIEW_MASTER] = { "master", "" },
	[VIEW_RIVAL] = { "rival", "" },
	[VIEW_SM] = { "sm G state # priority #", "at" },
	[VIEW_STANDBY] = { "standby follows # warm # groups # members # "
		"services # subscriptions # age #", "why" },
	[VIEW_SWEEP] = { "sweep age # took #", "end" },
	[VIEW_SOURCE] = { "source", "" },
	[VIEW_COUNT] = { "count #", "of" },
	[VIEW_SUBNET] = { "subnet switches # hosts # active # links # top # "
		"age #", NULL },
	[VIEW_FAULT] = { "fault # since # guid G port # far G far-port # kind # "
		"name # near # cause G", "what" },
	[VIEW_FORMER] = { "former since # guid G", "is" },
	[VIEW_ERROR] = { "error", "" },
	[VIEW_COMPLAINT] = { "complaint", "" },
	[VIEW_UNREACHED] = { "unreached", "" },
	[VIEW_WARNING] = { "warning", "" },
	[VIEW_ROUTE] = { "route looped # top # unsafe #", "engine" },
	[VIEW_REASON] = { "reason", "" },
	[VIEW_CANDIDATE] = { "candidate", "" },
	[VIEW_LOOP] = { "loop G port # lid #", "at" },
	[VIEW_ROOT] = { "root G", NULL },
	[VIEW_COMPUTE] = { "compute G", NULL },
	[VIEW_IO] = { "io G", NULL },
	[VIEW_FLAP] = { "flap held # flaps # babbles # downs # traps # age # "
		"left #", "at" },
	[VIEW_NOTE] = { "note", "" },
	[VIEW_NODE] = { "node G revision X", NULL },
	[VIEW_NAME] = { "name G", "is" },
	[VIEW_USUAL] = { "usual state # mtu # vls # phys #", NULL },
	[VIEW_IDLE] = { "idle state # mtu # vls # phys #", NULL },
	[VIEW_PORT] = { "port G # state # mtu # vls # phys #", "speed" },
	[VIEW_TRAIT] = { "trait G # sm # virtual # key #", "sl2vl" },
	[VIEW_SLOW] = { "slow G #", "could-be" },
	[VIEW_PARTITION] = { "partition K sl #", "name" },
	[VIEW_AWAY] = { "away K G as #", NULL },
	[VIEW_PKEY] = { "pkey K G", NULL },
	[VIEW_AVOIDED] = { "avoided G # errors # used # name # reason #",
		"link" },
	[VIEW_HOP] = { "hop G # lid #", NULL },
	[VIEW_LFT] = { "lft G #", "" },
	[VIEW_END] = { "end #", NULL },
};

void
view_line_put(enum view_kind kind, const uint64_t *numbers, const char *text,
	      GString *out)
{
	const struct view_form *f = &view_forms[kind];
	gsize begin = out->len;

	g_string_append_c(out, '#');
	for (const char *c = f->words; *c; c++) {
		int digits = *c == 'G' ? 16 : *c == 'X' ? 8 : 4;

		if (*c == '#')
			g_string_append_printf(out, "%" PRIu64, *numbers++);
		else if (g_ascii_isupper(*c))
			g_string_append_printf(out, "0x%0*" PRIx64, digits,
					       *numbers++);
		else
			g_string_append_c(out, *c);
	}
	if (text && f->text)
		g_string_append_printf(out, "%s%s %s", *f->text ? " " : "",
				       f->text, text);
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
	EACH_PTR(const char, text, texts)
		view_text_put(kind, text, out);
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
