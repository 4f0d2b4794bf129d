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

struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
};

#define ENTRY(name)	{ #name, fuzz_##name },
static const struct target targets[] = { FUZZ_TARGETS(ENTRY) };

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted: the same order everywhere. */
static GPtrArray *
list_folder(const char *folder)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (name[0] != '.')
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, compare_names);
	return names;
}

static bool
run_input(const struct target *target, const char *folder, const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	g_autofree char *bytes = NULL;
	gsize len;

	if (!g_file_get_contents(path, &bytes, &len, NULL))
		return false;
	printf("# %s/%s\n", target->name, name);
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

	printf("1..%zu\n", G_N_ELEMENTS(targets));
	for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
		g_autofree char *folder = g_build_filename(corpus,
							   targets[i].name,
							   NULL);
		g_autoptr(GPtrArray) names = list_folder(folder);
		bool good = names->len > 0;

		for (guint n = 0; n < names->len; n++)
			good = run_input(&targets[i], folder,
					 g_ptr_array_index(names, n)) && good;
		printf("%sok %zu - %s: %u inputs\n", good ? "" : "not ", i + 1,
		       targets[i].name, names->len);
		status |= !good;
	}
	return status;
}
