/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A part of the state text alone. */
#ifndef MINISM_TESTS_LIB_STATE_TEXT_H
#define MINISM_TESTS_LIB_STATE_TEXT_H

#include <string.h>

#include "sm/sa/sa.h"
#include "topology/state_line.h"
#include "topology/text.h"

static inline unsigned
line_of(const char *text, const char *line)
{
	const char *end = strstr(text, line);
	unsigned n = 1;

	for (; text < end; text++)
		n += *text == '\n';
	return n;
}

/* Replaces the state. False: with what is said of the first bad line; the others
 * are taken. */
static inline bool
state_load(const struct state_part *part, void *owner, const char *text,
	   int64_t now, GError **error)
{
	const struct state_owner o = { part, owner };
	g_autofree char *copy = g_strconcat(text, *text && text[strlen(text) - 1]
					    != '\n' ? "\n" : "", NULL);
	struct state_told told = { .foreign = g_string_new(NULL) };
	bool good;

	part->clear(owner);
	state_read(&o, 1, copy, strlen(copy), now, &told);
	good = !told.n_bad && !told.foreign->len;
	if (told.first)
		g_set_error_literal(error, TEXT_ERROR, TEXT_ERROR_SYNTAX,
				    told.first);
	else if (!good)
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX, "line %u: a "
			    "line of a kind that is not known",
			    line_of(text, told.foreign->str));
	state_told_clear(&told);
	return good;
}

static inline bool
sa_load(struct sa *sa, const char *text, int64_t now, GError **error)
{
	return state_load(&sa_part, sa, text, now, error);
}

static inline void
sa_save(const struct sa *sa, GString *out, int64_t now)
{
	sa_part.save(sa, out, now);
}

#endif
