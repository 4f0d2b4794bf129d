// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Words and numbers of the partition file.
 *
 * OpenSM compares words by the letters that are there, so that "A" is ALL and
 * "GUID=" makes a full member. Here a word cut short has three letters at
 * least, and they must fit one word only. Numbers are those of C; an octal one
 * is refused unless it means the same in decimal, because P_Keys are often
 * padded with zeros and never meant to be octal.
 */
#include <string.h>

#include "sm/config/partitions_lex.h"

#define SHORTEST	3u	/* letters of a word cut short */
#define SHOWN		64u	/* bytes of a number in a message */

/* Of words cut short: the one it is, or -1. */
static int
find_short(const struct text_span *span, const char *const *words,
	   size_t n)
{
	int found = -1;

	if (span->len < SHORTEST)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (strlen(words[i]) < span->len ||
		    memcmp(words[i], span->at, span->len) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static char *
list_words(const char *also, const char *const *words, size_t n)
{
	GString *out = g_string_new(also);

	if (also)
		g_string_append(out, ", ");
	for (size_t i = 0; i < n; i++)
		g_string_append_printf(out, "%s%s", words[i],
				       i + 2 < n ? ", " :
				       i + 1 < n ? " or " : "");
	return g_string_free(out, FALSE);
}

int
partitions_choose(struct text_scan *lex, const struct text_span *span,
		const char *what, const char *also, const char *const *words,
		size_t n)
{
	g_autofree char *shown = NULL;
	g_autofree char *list = NULL;
	g_autofree char *near = NULL;
	int i;

	for (size_t k = 0; k < n; k++)
		if (text_span_is(span, words[k]))
			return (int)k;
	shown = text_span_show(span);
	i = find_short(span, words, n);
	if (i >= 0) {
		text_warn(lex, span->place, "%s is taken for %s", shown,
			      words[i]);
		return i;
	}
	list = list_words(also, words, n);
	near = text_nearest(shown, "", words, n);
	if (span->len)
		text_fail(lex, span->place, "%s is no %s: %s%s", shown,
			      what, list, near);
	else
		text_fail(lex, span->place, "a %s is missing: %s", what,
			      list);
	return -1;
}

/* --- numbers --- */

static bool
read_digits(const char *text, size_t len, unsigned base, uint64_t *value)
{
	const char *at = text;

	return text_take_digits(&at, base, UINT64_MAX, value) &&
		at == text + len;
}

/* To C, 010 is 8. */
static bool
is_octal(const struct text_span *span)
{
	size_t zeros = 0;
	uint64_t value;

	while (zeros < span->len && span->at[zeros] == '0')
		zeros++;
	if (zeros == 0 || zeros == span->len ||
	    !read_digits(span->at, span->len, 10, &value))
		return false;
	return value > 7;
}

/* The 0x has been left out. */
static bool
is_bare_hex(const struct text_span *span, uint64_t min, uint64_t max)
{
	uint64_t value;

	return span->len < SHOWN &&
		read_digits(span->at, span->len, 16, &value) &&
		value >= min && value <= max;
}

static char *
show_range(uint64_t min, uint64_t max)
{
	if (max > UINT8_MAX)
		return g_strdup_printf("0x%" G_GINT64_MODIFIER "x to 0x%"
				       G_GINT64_MODIFIER "x", min, max);
	return g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
			       min, max);
}

bool
partitions_take_number(struct text_scan *lex, const struct text_span *span,
		const char *what, uint64_t min, uint64_t max, uint64_t *value)
{
	g_autofree char *shown = NULL;
	g_autofree char *range = NULL;
	bool octal = is_octal(span);

	if (!octal && text_span_number(span, max, value) && *value >= min)
		return true;
	shown = text_span_show(span);
	range = show_range(min, max);
	if (!span->len)
		text_fail(lex, span->place, "a %s is missing: %s", what,
			      range);
	else if (octal)
		text_fail(lex, span->place, "%s is octal to OpenSM: "
			      "write a %s decimal without zeros in front, or "
			      "0x and hexadecimal", shown, what);
	else if (!text_span_number(span, UINT64_MAX, value) &&
		 is_bare_hex(span, min, max))
		text_fail(lex, span->place, "%s is no %s: %s; is 0x%s "
			      "meant?", shown, what, range, shown);
	else
		text_fail(lex, span->place, "%s is no %s: %s, decimal, or "
			      "0x and hexadecimal%s", shown, what, range,
			  memchr(span->at, ' ', span->len) ||
			  memchr(span->at, '\t', span->len) ?
			  "; is a comma missing?" : "");
	return false;
}
