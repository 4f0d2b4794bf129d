// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/lib/golden.h"

#include <stdbool.h>

#include "tests/lib/unit.h"

#define FACT	" => "

static GPtrArray *cases;

/* This is what comes of a text from now on. */
static void
write_result(const struct golden *g, const char *got)
{
	g_auto(GStrv) name = g_strsplit(g->name, ": ", 2);
	g_autofree char *path = folder_source("tests/golden", name[0]), *text = NULL;
	g_autofree char *head = g_strdup_printf("== %s\n", name[1]);
	g_autofree char *fact = g_strdup_printf("== %s" FACT, name[1]);
	g_auto(GStrv) lines = g_strsplit(got, "\\", -1);
	g_autofree char *plain = g_strjoinv("\\\\", lines);
	g_autofree char *anew = NULL;
	const char *from, *to, *bar;

	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	from = strstr(text, fact);
	from = from ? from + strlen(fact) : strstr(text, head) + strlen(head);
	to = strstr(from - 1, "\n== ");
	bar = strstr(from - 1, "\n--\n");
	if (bar && (!to || bar < to))
		from = bar + strlen("\n--\n");
	to = to ? to + 1 : "";
	anew = g_strdup_printf("%.*s%s%s%s", (int)(from - text), text, plain,
			       !*plain || g_str_has_suffix(plain, "\n") ? "" :
			       "\\\n", to);
	assert_true(g_file_set_contents(path, anew, -1, NULL));
}

static void
test_golden(void **state)
{
	const struct golden *g = *state;
	g_autoptr(GString) got = g_string_new(NULL);

	g->made(g->of, g->text, got);
	if (g_getenv("MINISM_GOLDEN") && strcmp(got->str, g->result))
		write_result(g, got->str);
	else
		assert_string_equal(got->str, g->result);
}

static char *
take_section(const char *begin, const char *end)
{
	g_autofree char *raw = g_strndup(begin, (gsize)(end - begin));

	if (g_str_has_suffix(raw, "\\\n"))
		raw[strlen(raw) - 2] = '\0';
	return g_strcompress(raw);
}

/* Lines behind "$ "; or that do not begin with a blank, up to a colon. */
static char *
steps_of(const char *transcript)
{
	g_auto(GStrv) lines = g_strsplit(transcript, "\n", -1);
	bool is_shell = g_str_has_prefix(transcript, "$ ");
	GString *steps = g_string_new(NULL);

	for (char **line = lines; *line; line++)
		if (is_shell && g_str_has_prefix(*line, "$ "))
			g_string_append_printf(steps, "%s\n", *line + 2);
		else if (!is_shell && **line && **line != ' ')
			g_string_append_printf(steps, "%.*s\n",
					       (int)strcspn(*line, ":"), *line);
	return g_string_free(steps, FALSE);
}

const GPtrArray *
golden_add(const char *file, golden_fn made, const void *of)
{
	g_autofree char *path = folder_source("tests/golden", file), *text = NULL;
	g_auto(GStrv) parts = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		g_error("%s is not there", path);
	text[strlen(text) - 1] = '\0';
	cases = cases ?: g_ptr_array_new();
	parts = g_strsplit(text, "\n== ", -1);
	for (guint i = 0; parts[i]; i++) {
		g_autofree char *part = g_strconcat(parts[i], "\n", NULL);
		char *title = part + (i ? 0 : strlen("== "));
		char *line = strchr(part, '\n'), *bar = strstr(line, "\n--\n");
		struct golden *g = g_new0(struct golden, 1);
		g_autofree char *head = g_strndup(title, (gsize)(line - title));
		g_auto(GStrv) fact = g_strsplit(head, FACT, 2);

		g->of = of;
		g->made = made;
		if (fact[1]) {
			g->text = g_strcompress(fact[0]);
			g->result = g_strconcat(fact[1], "\n", NULL);
		} else if (!bar) {
			g->result = take_section(line + 1,
						 line + strlen(line));
			g->text = steps_of(g->result);
		} else {
			g->text = take_section(line + 1, bar + 1);
			g->result = take_section(bar + 4,
						 bar + strlen(bar));
		}
		g_ptr_array_add(cases, g);
		g->name = g_strdup_printf("%s: %s", file, fact[0]);
		unit_add_state(g->name, test_golden, g);
	}
	return cases;
}

void
golden_play(const char *steps,
	    void (*play)(void *of, const char *step, GString *out), void *of,
	    GString *out)
{
	g_auto(GStrv) lines = g_strsplit(steps, "\n", -1);

	for (char **line = lines; **line; line++) {
		g_string_append_printf(out, "%s:", *line);
		play(of, *line, out);
		g_string_append_c(out, '\n');
	}
}
