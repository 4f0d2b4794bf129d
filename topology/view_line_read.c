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

/* The word of this name, or k->n. */
static unsigned
find_word(const struct view_form *k, const char *name, size_t len)
{
	unsigned i = 0;

	while (i < k->n && (!k->words[i].name ||
			    strlen(k->words[i].name) != len ||
			    memcmp(k->words[i].name, name, len) != 0))
		i++;
	return i;
}

bool
view_line_take(enum view_kind kind, const char *line,
	       uint64_t numbers[VIEW_WORDS], const char **text)
{
	const struct view_form *k = &view_forms[kind];
	const char *at = line;
	size_t len;

	*text = NULL;
	if (line[0] != '#' || line[1] != k->keyword[0])
		return false;
	len = strlen(k->keyword);
	at = line + 1 + len;
	memset(numbers, 0, VIEW_WORDS * sizeof(*numbers));
	if (strncmp(line + 1, k->keyword, len) != 0 || (*at && *at != ' '))
		return false;
	for (unsigned i = 0; i < k->n && !k->words[i].name; i++)
		if (!take_number(&at, &numbers[i]))
			return false;
	if (k->text && !*k->text) {
		*text = at + (*at == ' ');
		return true;
	}
	while (*(at += strspn(at, " "))) {
		size_t n = strcspn(at, " ");
		unsigned i = find_word(k, at, n);
		uint64_t other;

		if (k->text && strlen(k->text) == n &&
		    memcmp(at, k->text, n) == 0) {
			at += n;
			*text = at + (*at == ' ');
			return true;
		}
		at += n;
		if (i < k->n ? !take_number(&at, &numbers[i]) :
		    !take_number(&at, &other))
			return i == k->n;	/* a text of a newer version */
	}
	return true;
}
