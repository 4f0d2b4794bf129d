// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Feeds the corpora to the fuzz targets, without a fuzzer: what once was bad
 * stays good. The argument is the folder with a folder for each target; without
 * one it is tests/fuzz/corpus under $MINISM_SRC. Speaks TAP, one point a
 * target. A crash ends the program; the last line names the input.
 */
#include <stdbool.h>
#include <stdio.h>

#include "tests/fuzz/fuzz.h"
#include "tests/lib/folder.h"

struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
};

#define ENTRY(name)	{ #name, fuzz_##name },
static const struct target targets[] = { FUZZ_TARGETS(ENTRY) };

static bool
run_input(const struct target *target, const char *path)
{
	g_autofree char *bytes = NULL;
	gsize len;

	if (!g_file_get_contents(path, &bytes, &len, NULL))
		return false;
	printf("# %s%s\n", target->name, strrchr(path, '/'));
	fflush(stdout);

	/* exactly as long as it is, so a sanitizer sees a read past it */
	g_autofree uint8_t *exact = g_memdup2(bytes, len);

	target->run(exact, len);
	return true;
}

int
main(int argc, char **argv)
{
	const char *src = g_getenv("MINISM_SRC");
	g_autofree char *corpus = argc > 1 ? g_strdup(argv[1]) :
		g_build_filename(src ? src : ".", "tests", "fuzz", "corpus",
				 NULL);
	int status = 0;

	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
	printf("1..%zu\n", G_N_ELEMENTS(targets));
	for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
		g_autofree char *folder = g_build_filename(corpus,
							   targets[i].name,
							   NULL);
		g_autoptr(GPtrArray) inputs = folder_list(folder, "");
		bool good = inputs->len > 0;

		for (guint n = 0; n < inputs->len; n++)
			good = run_input(&targets[i], inputs->pdata[n]) && good;
		printf("%sok %zu - %s: %u inputs\n", good ? "" : "not ", i + 1,
		       targets[i].name, inputs->len);
		status |= !good;
	}
	return status;
}
