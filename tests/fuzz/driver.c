// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Feeds the corpora to the fuzz targets, without a fuzzer: what once was bad
 * stays good. Each target is a test; a crash ends the program, and the last line
 * names the input.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/unit.h"

struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
};

static void
run_corpus(void **state)
{
	const struct target *target = *state;
	g_autofree char *folder = folder_source("tests/fuzz/corpus",
						target->name);
	g_autoptr(GPtrArray) inputs = folder_list(folder, "");

	assert_true(inputs->len > 0);
	EACH_PTR(const char, path, inputs) {
		g_autofree char *bytes = NULL, *exact = NULL;
		gsize len;

		assert_true(g_file_get_contents(path, &bytes, &len, NULL));
		printf("# %s%s\n", target->name, strrchr(path, '/'));
		fflush(stdout);
		/* exactly as long as it is, so a sanitizer sees a read past it */
		exact = g_memdup2(bytes, len);
		target->run((const uint8_t *)exact, len);
	}
}

__attribute__((constructor)) static void
add_targets(void)
{
#define ENTRY(name)	{ #name, fuzz_##name },
	static const struct target targets[] = { FUZZ_TARGETS(ENTRY) };

	for (size_t i = 0; i < G_N_ELEMENTS(targets); i++)
		unit_add_state(targets[i].name, run_corpus, &targets[i]);
}
