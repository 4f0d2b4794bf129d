// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state text, as in a file, and as a master sends it. What was read is written
 * the same again, and then no line is bad.
 */
#include "sm/persist.h"
#include "sm/sa/sa.h"
#include "sm/state.h"
#include "tests/fuzz/fuzz.h"
#include "topology/expected.h"

struct kept {
	struct persist *persist;
	struct expected *expected;
	struct sa *sa;
};

/* Reads `text`, and writes it into `out`. */
static unsigned
pass(const char *text, size_t len, GString *out)
{
	struct kept k = {
		persist_new(NULL), expected_new(),
		sa_new(&(struct sa_params){ 0 }),
	};
	const struct state_owner owners[] = {
		{ &lid_part, &k.persist->lids }, { &persist_part, k.persist },
		{ &expected_part, k.expected }, { &sa_part, k.sa },
	};
	struct state_told told = { .foreign = g_string_new(NULL) };
	g_autofree char *copy = g_memdup2(text, len);
	unsigned n_bad;

	state_read(owners, G_N_ELEMENTS(owners), copy, len, 0, &told);
	g_string_append_len(out, told.foreign->str, (gssize)told.foreign->len);
	for (size_t i = 0; i < G_N_ELEMENTS(owners); i++)
		owners[i].part->save(owners[i].owner, out, 0);
	expected_accept(k.expected, NULL);
	n_bad = told.n_bad;
	state_told_clear(&told);
	persist_free(k.persist);
	expected_free(k.expected);
	sa_free(k.sa);
	return n_bad;
}

FUZZ_TARGET(state)
{
	size_t len = MIN(size, FUZZ_MAX);
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	g_autofree char *whole = NULL, *sum = NULL;

	pass((const char *)data, len, once);
	g_assert_cmpuint(pass(once->str, once->len, twice), ==, 0);
	g_assert_cmpstr(once->str, ==, twice->str);
	/* with a seal, which a liar can put on */
	g_string_append_c(once, '\n');
	sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, once->str, -1);
	whole = g_strdup_printf("%s= end %s\n\n", once->str, sum);
	g_assert_cmpuint(state_sealed(whole, strlen(whole)), ==, once->len);
	state_sealed((const char *)data, len);
	return 0;
}
