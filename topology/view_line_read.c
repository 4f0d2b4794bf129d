// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lines of a view as they are read; a manager only writes them. The order of
 * names is free, but for the plain numbers at the begin.
 */
#include "topology/view_line.h"

#include <string.h>

/* A number at *at, and *at behind it. */
static bool
take_number(const char **at, uint64_t *value)
{
	char *end;

	*at += strspn(*at, " ");
	if (!g_ascii_isdigit(**at))
		return false;
	*value = g_ascii_strtoull(*at, &end, g_str_has_prefix(*at, "0x") ?
				  16 : 10);
	if (*end && *end != ' ')
		return false;
	*at = end;
	return true;
}

static bool
is_mark(char c)
{
	return c == '#' || g_ascii_isupper(c);
}

/* The number behind this name, or VIEW_WORDS: there is none. */
static unsigned
find_number(const struct view_form *f, const char *name, size_t len)
{
	unsigned i = 0;

	for (const char *w = f->words; (w = strchr(w, ' '));) {
		if (is_mark(*++w))
			i++;
		else if (strncmp(w, name, len) == 0 && w[len] == ' ')
			return i;
	}
	return VIEW_WORDS;
}

bool
view_line_take(enum view_kind kind, const char *line,
	       uint64_t numbers[VIEW_WORDS], const char **text)
{
	const struct view_form *f = &view_forms[kind];
	size_t len = strcspn(f->words, " ");
	const char *at = line + 1 + len, *w = f->words + len;

	*text = NULL;
	if (line[0] != '#' || strncmp(line + 1, f->words, len) != 0 ||
	    (*at && *at != ' '))
		return false;
	memset(numbers, 0, VIEW_WORDS * sizeof(*numbers));
	for (unsigned i = 0; *w && is_mark(w[1]); w += 2)
		if (!take_number(&at, &numbers[i++]))
			return false;
	if (f->text && !*f->text) {
		*text = at + (*at == ' ');
		return true;
	}
	while (*(at += strspn(at, " "))) {
		size_t n = strcspn(at, " ");
		unsigned i = find_number(f, at, n);
		uint64_t other;

		if (f->text && strlen(f->text) == n &&
		    memcmp(at, f->text, n) == 0) {
			at += n;
			*text = at + (*at == ' ');
			return true;
		}
		at += n;
		if (!take_number(&at, i < VIEW_WORDS ? &numbers[i] : &other))
			/* a text of a newer version */
			return i == VIEW_WORDS;
	}
	return true;
}
