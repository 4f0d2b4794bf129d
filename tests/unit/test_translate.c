// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Bytes through a table: all ways give what a plain loop gives.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routing/translate.h"
#include "topology/prng.h"

#define SIZE	(5 * TRANSLATE_STEP)
#define GUARD	0xa5u

static void
assert_translates(const struct translate_way *way, unsigned n_used,
		  uint64_t *rng)
{
	uint8_t from[SIZE] = { 0 }, to[SIZE + 1], table[256];
	size_t n = TRANSLATE_STEP * prng_below(rng, 6), i;

	for (i = 0; i < sizeof(table); i++)
		table[i] = (uint8_t)prng_below(rng, 256);
	for (i = 0; i < n; i++)
		from[i] = n_used == 0 || prng_below(rng, 4) == 0 ?
			TRANSLATE_NONE : (uint8_t)prng_below(rng, n_used);
	memset(to, (int)GUARD, sizeof(to));
	way->run(to, from, n, table, n_used);
	for (i = 0; i < n; i++)
		if (to[i] != table[from[i]])
			fail_msg("%s: of %u, %u became %u", way->name, n_used,
				 from[i], to[i]);
	assert_int_equal(to[n], GUARD);
}

static void
test_all_ways_agree(void **state)
{
	uint64_t rng = 20261121;
	unsigned n_used, i, n_ways = 0;

	print_message("seed %lu\n", (unsigned long)rng);
	for (const struct translate_way *way = translate_ways; way->name;
	     way++) {
		if (!way->is_there())
			continue;
		print_message("%s\n", way->name);
		n_ways++;
		for (n_used = 0; n_used <= 255; n_used++)
			for (i = 0; i < 20; i++)
				assert_translates(way, n_used, &rng);
	}
	assert_true(n_ways > 0);
}

static void
test_fastest_way_is_taken_and_right(void **state)
{
	const struct translate_way any = { .name = "any",
					   .run = translate_bytes };
	uint64_t rng = 7;

	for (unsigned n_used = 0; n_used <= 255; n_used++)
		assert_translates(&any, n_used, &rng);
}

static void
test_store_copies_all(void **state)
{
	uint8_t *from = aligned_alloc(TRANSLATE_STEP, SIZE);
	uint8_t *to = aligned_alloc(TRANSLATE_STEP, SIZE);
	uint64_t rng = 3;

	for (size_t n = 0; n <= SIZE; n += TRANSLATE_STEP) {
		for (size_t i = 0; i < SIZE; i++)
			from[i] = (uint8_t)prng_below(&rng, GUARD);
		memset(to, (int)GUARD, SIZE);
		translate_store(to, from, n);
		assert_memory_equal(to, from, n);
		if (n < SIZE)
			assert_int_equal(to[n], GUARD);
	}
	free(from);
	free(to);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_ways_agree),
		cmocka_unit_test(test_fastest_way_is_taken_and_right),
		cmocka_unit_test(test_store_copies_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
