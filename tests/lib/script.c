// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests as text: see script.h.
 */
#include "tests/lib/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "$NAME", VALUE, .. */
static const char *
value_of(const GPtrArray *bound, const char *dollar, size_t len)
{
	for (guint i = 0; i < bound->len; i += 2)
		if (strlen(bound->pdata[i]) == len &&
		    strncmp(bound->pdata[i], dollar, len) == 0)
			return bound->pdata[i + 1];
	return NULL;
}

/* A name is as long as there are small letters; a value may name others. */
static char *
fill_in(const char *line, const GPtrArray *bound)
{
	GString *s = g_string_new(NULL);

	while (*line) {
		size_t len = *line == '$' ? 1 + strspn(line + 1,
				"abcdefghijklmnopqrstuvwxyz") : 1;
		const char *value = value_of(bound, line, len);
		g_autofree char *filled = value ? fill_in(value, bound) :
			g_strndup(line, len);

		g_string_append(s, filled);
		line += len;
	}
	return g_string_free(s, FALSE);
}

/* In place of what the name was bound to. */
static void
bind(GPtrArray *bound, const char *name, const char *value)
{
	g_autofree char *dollar = g_strconcat("$", name, NULL);

	for (guint i = 0; i < bound->len; i += 2)
		if (strcmp(bound->pdata[i], dollar) == 0) {
			g_free(bound->pdata[i + 1]);
			bound->pdata[i + 1] = g_strdup(value);
			return;
		}
	g_ptr_array_add(bound, g_steal_pointer(&dollar));
	g_ptr_array_add(bound, g_strdup(value));
}

static GPtrArray *
copy_texts(const GPtrArray *texts)
{
	GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < texts->len; i++)
		g_ptr_array_add(copy, g_strdup(texts->pdata[i]));
	return copy;
}

static bool
is_line(const char *line, const char *word)
{
	size_t n = word ? strlen(word) : 0;

	return n && strncmp(line, word, n) == 0 && (!line[n] || line[n] == ' ');
}

/* let NAME TEXT; TEXT may have what is bound. */
static void
let(const char *line, GPtrArray *bound)
{
	g_auto(GStrv) parts = g_strsplit(line, " ", 3);
	g_autofree char *text = NULL;

	if (g_strv_length(parts) < 3)
		g_error("let NAME TEXT: %s", line);
	text = fill_in(parts[2], bound);
	bind(bound, parts[1], text);
}

unsigned
scenario_line(const struct scenario *s)
{
	return s->at < s->n_given ? s->line : s->line + s->at - s->n_given + 1;
}

struct run {
	struct scenario *s;
	const struct script_player *player;
	GPtrArray *bound;
	void *stage;
};

/* Up to `end`, or the last line; *next is what follows. */
static char *
play_lines(struct run *r, guint from, guint *next)
{
	for (*next = from; *next < r->s->lines->len; ++*next) {
		g_autofree char *line = fill_in(r->s->lines->pdata[*next],
						r->bound);
		guint begin = *next + 1;
		char *why = NULL;

		r->s->at = *next;
		if (!*line || *line == '#' || is_line(line, "with"))
			continue;
		if (is_line(line, "end"))
			return NULL;
		if (is_line(line, "let"))
			let(line, r->bound);
		else if (!is_line(line, "repeat"))
			why = r->player->play(r->stage, line);
		else
			for (unsigned n = (unsigned)strtoul(line + 7, NULL, 10);
			     n > 0 && !why; n--)
				why = play_lines(r, begin, next);
		if (why)
			return why;
	}
	return NULL;
}

static bool
play_bound(struct scenario *s, const struct script_player *player,
	   const GPtrArray *bound, char **why)
{
	g_autoptr(GPtrArray) own = copy_texts(bound);
	struct run r = { s, player, own, player->open(player->data, bound) };
	g_autofree char *failed = NULL;
	guint at;

	failed = play_lines(&r, 0, &at);
	if (!failed && at < s->lines->len)
		failed = g_strdup("there is no repeat that could end");
	if (failed) {
		g_autoptr(GString) where = g_string_new(NULL);

		for (guint i = s->bound->len; i < bound->len; i += 2)
			g_string_append_printf(where, " %s",
					       (char *)bound->pdata[i + 1]);
		*why = g_strdup_printf("%s:%u: on%s: %s: %s", s->file,
				       scenario_line(s), where->str,
				       (char *)s->lines->pdata[s->at], failed);
	}
	player->close(r.stage);
	return !failed;
}

/* "2..5" as four words. */
static GPtrArray *
read_values(char **words)
{
	GPtrArray *values = g_ptr_array_new_with_free_func(g_free);

	for (; *words; words++) {
		unsigned from, to;
		char rest;

		if (sscanf(*words, "%u..%u%c", &from, &to, &rest) != 2)
			g_ptr_array_add(values, g_strdup(*words));
		else
			while (from <= to)
				g_ptr_array_add(values,
					g_strdup_printf("%u", from++));
	}
	return values;
}

/* Once for each value of each `with` and of the player's list from line `at`
 * on. */
static bool
play_on_each(struct scenario *s, const struct script_player *player, guint at,
	     GPtrArray *bound, char **why)
{
	g_autoptr(GPtrArray) values = NULL;
	g_auto(GStrv) words = NULL, names = NULL;
	g_autofree char *line = NULL;
	guint had = bound->len;
	bool ok = true;

	while (at < s->lines->len && !is_line(s->lines->pdata[at], "with") &&
	       !is_line(s->lines->pdata[at], player->list))
		at++;
	if (at == s->lines->len)
		return play_bound(s, player, bound, why);
	line = fill_in(s->lines->pdata[at], bound);
	g_shell_parse_argv(line, NULL, &words, NULL);
	names = g_strsplit(is_line(words[0], "with") ? words[1] : player->list,
			   ",", -1);
	values = read_values(words + 1 + is_line(words[0], "with"));
	for (guint i = 0; ok && i < values->len; i++) {
		g_auto(GStrv) parts = g_strsplit(values->pdata[i], ",",
						 g_strv_length(names));

		for (unsigned k = 0; names[k]; k++)
			bind(bound, names[k], parts[k] ?: "");
		ok = play_on_each(s, player, at + 1, bound, why);
		g_ptr_array_set_size(bound, (gint)had);
	}
	return ok;
}

bool
script_play(struct scenario *s, const struct script_player *player, char **why)
{
	g_autoptr(GPtrArray) bound = copy_texts(s->bound);

	s->is_done = false;
	return s->is_done = play_on_each(s, player, 0, bound, why);
}

bool
script_time(const char *word, int64_t *us)
{
	static const struct { const char *unit; double factor; } units[] = {
		{ "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { "h", 3.6e9 },
	};
	char *end = NULL;
	double value = word ? g_ascii_strtod(word, &end) : 0;

	for (size_t i = 0; word && i < G_N_ELEMENTS(units); i++)
		if (end != word && strcmp(end, units[i].unit) == 0) {
			*us = (int64_t)(value * units[i].factor);
			return true;
		}
	return false;
}

/* ---- files ---- */

static void
scenario_free(gpointer data)
{
	struct scenario *s = data;

	g_free(s->file);
	g_free(s->title);
	g_ptr_array_unref(s->lines);
	g_ptr_array_unref(s->bound);
	g_free(s);
}

/* A line that begins with a tab goes to the one before, and an empty one is in
 * its place: lines are counted. */
static void
join_lines(char **lines)
{
	char *joined;

	for (guint i = 1, whole = 0; lines[0] && lines[i]; i++) {
		if (*lines[i] != '\t') {
			whole = i;
			continue;
		}
		joined = g_strconcat(g_strchomp(lines[whole]), " ",
				     g_strstrip(lines[i]), NULL);
		g_free(lines[whole]);
		lines[whole] = joined;
		*lines[i] = '\0';
	}
}

GPtrArray *
scenarios_read(const char *file)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(scenario_free);
	g_autoptr(GPtrArray) bound = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) given = g_ptr_array_new();	/* of lines */
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct scenario *s = NULL;

	if (!g_file_get_contents(file, &text, NULL, &error))
		g_error("%s", error->message);
	lines = g_strsplit(text, "\n", -1);
	join_lines(lines);
	for (unsigned i = 0; lines[i]; i++) {
		const char *line = g_strstrip(lines[i]);

		if (g_str_has_prefix(line, "scenario ")) {
			s = g_new0(struct scenario, 1);
			s->file = g_path_get_basename(file);
			s->title = g_strdup(line + strlen("scenario "));
			s->line = i + 1;
			s->n_given = given->len;
			s->lines = copy_texts(given);
			s->bound = g_ptr_array_ref(bound);
			g_ptr_array_add(list, s);
		} else if (is_line(line, "given")) {
			if (s)
				g_ptr_array_set_size(given, 0);
			s = NULL;
			if (!is_line(line, "given nothing"))
				g_ptr_array_add(given,
						lines[i] + strlen("given "));
		} else if (s) {
			g_ptr_array_add(s->lines, g_strdup(line));
		} else if (is_line(line, "let")) {
			let(line, bound);
		}
	}
	return list;
}

bool
range_holds(const char *range, uint64_t n)
{
	const char *digits = range + strcspn(range, "0123456789");
	const char *dots = strstr(range, "..");
	uint64_t a = g_ascii_strtoull(digits, NULL, 0);
	uint64_t b = dots ? g_ascii_strtoull(dots + 2, NULL, 0) : a;

	if (!*digits)
		return false;
	if (g_str_has_prefix(range, "!="))
		return n != a;
	if (g_str_has_prefix(range, "<="))
		return n <= a;
	return n >= a && (n <= b || g_str_has_prefix(range, ">="));
}
