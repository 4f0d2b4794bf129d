// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Text formats by known texts. tests/golden/FORMAT (golden.h) has what the parser
 * of that format (formats.c) makes of a text, warnings first, then the normal
 * form or the error.
 *
 * And of what is good: each text damaged in a few places is a text or an
 * error, not a crash.
 */
#include "tests/lib/formats.h"
#include "tests/lib/seed.h"

#define DAMAGES	100u	/* of each case, and one more a byte */

static const GPtrArray *cases;

/* The text and what comes of it. */
static void
result_of(const void *format, const char *text, GString *out)
{
	const struct format *f = format;
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autofree char *normal = format_judge(f, text + text_bom(text, strlen(text)),
					       warnings, &error);

	for (guint i = 0; i < warnings->len; i++)
		g_string_append_printf(out, "warning: %s\n",
				       (char *)warnings->pdata[i]);
	if (normal)
		g_string_append(out, normal);
	else
		g_string_append_printf(out, "%s\n", error->message);
}

TEST(test_damaged_texts_are_survived)
{
	uint64_t rng = seed_take(7);

	EACH_PTR(const struct golden, c, cases) {
		const struct format *f = c->of;
		size_t len = strlen(c->text);

		/* the largest fabric is a letter away: fuzz_generate */
		if (strcmp(f->name, "formula") == 0)
			continue;
		for (unsigned n = 0; len && n < DAMAGES + len; n++) {
			g_autofree char *text = g_strdup(c->text);
			g_autoptr(GString) out = g_string_new(NULL);

			for (unsigned k = 0; k <= n % 3; k++)
				text[prng_below(&rng, (uint32_t)len)] =
					"\n\"[]()=#, 09azx\t\r\377\1"[
						prng_below(&rng, 20)];
			result_of(f, text, out);
		}
	}
}

__attribute__((constructor)) static void
add_files(void)
{
	g_autofree char *folder = folder_source("tests/golden", NULL);
	g_autoptr(GPtrArray) files = folder_list(folder, "");

	for (guint i = 0; i < files->len; i++) {
		g_autofree char *name = g_path_get_basename(files->pdata[i]);

		if (format_find(name))
			cases = golden_add(name, result_of, format_find(name));
	}
	if (cases->len < 200)
		g_error("the golden files are not there");
}
