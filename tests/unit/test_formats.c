// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text formats by known texts. tests/golden/FORMAT is a file of cases, each a
 * test point: what the parser of that format (formats.c) makes of a text,
 * warnings first, then the normal form or the error, byte for byte.
 *
 *	== title
 *	text
 *	--
 *	what comes of it
 *
 * Escapes are those of C (g_strcompress); a backslash at the end of a section
 * takes its last newline away.
 *
 * And of what is good: each text damaged in a few places is a text or an
 * error, not a crash.
 */
#include <string.h>

#include "tests/lib/folder.h"
#include "tests/lib/formats.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/text.h"

#define DAMAGES	100u	/* of each case */

struct test_case {
	const struct format *format;
	char *name, *text, *result;
};

static GPtrArray *cases;	/* they live as long as the program */

/* The text and what comes of it. */
static char *
result_of(const struct format *f, const char *text)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autofree char *normal = format_judge(f, text + text_bom(text, strlen(text)),
					       warnings, &error);
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < warnings->len; i++)
		g_string_append_printf(out, "warning: %s\n",
				       (char *)warnings->pdata[i]);
	if (normal)
		g_string_append(out, normal);
	else
		g_string_append_printf(out, "%s\n", error->message);
	return g_string_free(out, FALSE);
}

static void
test_case(void **state)
{
	const struct test_case *c = *state;
	g_autofree char *got = result_of(c->format, c->text);

	assert_string_equal(got, c->result);
}

TEST(test_damaged_texts_are_survived)
{
	uint64_t rng = seed_take(7);

	for (guint i = 0; i < cases->len; i++) {
		const struct test_case *c = cases->pdata[i];
		size_t len = strlen(c->text);

		/* the largest fabric is a letter away: fuzz_generate */
		if (strcmp(c->format->name, "formula") == 0)
			continue;
		for (unsigned n = 0; len && n < DAMAGES; n++) {
			g_autofree char *text = g_strdup(c->text);

			for (unsigned k = 0; k <= n % 3; k++)
				text[prng_below(&rng, (uint32_t)len)] =
					"\n\"[]()=#, 09azx\t\r\377\1"[
						prng_below(&rng, 20)];
			g_free(result_of(c->format, text));
		}
	}
}

static char *
take_section(const char *begin, const char *end)
{
	g_autofree char *raw = g_strndup(begin, (gsize)(end - begin));

	if (g_str_has_suffix(raw, "\\\n"))
		raw[strlen(raw) - 2] = '\0';
	return g_strcompress(raw);
}

static void
add_file(const char *path)
{
	g_autofree char *name = g_path_get_basename(path), *text = NULL;
	const struct format *format = format_find(name);
	g_auto(GStrv) parts = NULL;

	if (!format || !g_file_get_contents(path, &text, NULL, NULL))
		g_error("%s: no text of a format", path);
	text[strlen(text) - 1] = '\0';
	parts = g_strsplit(text, "\n== ", -1);
	for (guint i = 0; parts[i]; i++) {
		g_autofree char *part = g_strconcat(parts[i], "\n", NULL);
		char *line = strchr(part, '\n'), *bar = strstr(line, "\n--\n");
		struct test_case *c = g_new0(struct test_case, 1);

		c->format = format;
		c->text = take_section(line + 1, MAX(bar, line) + 1);
		c->result = take_section(bar + 4, bar + strlen(bar));
		*line = '\0';
		g_ptr_array_add(cases, c);
		c->name = g_strdup_printf("%s: %s", name, part +
					  (i ? 0 : strlen("== ")));
		unit_add_state(c->name, test_case, c);
	}
}

__attribute__((constructor)) static void
add_files(void)
{
	g_autofree char *folder = g_build_filename(
		g_getenv("MINISM_SRC") ?: ".", "tests/golden", NULL);
	g_autoptr(GPtrArray) files = folder_list(folder, "");

	cases = g_ptr_array_new();
	for (guint i = 0; i < files->len; i++)
		add_file(files->pdata[i]);
	if (cases->len < 200)
		g_error("the golden files are not there");
}
