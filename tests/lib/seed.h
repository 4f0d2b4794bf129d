/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The seed of a random test: its own, or that of MINISM_TEST_SEED, so that a
 * run which failed can be had again. It is printed for that.
 */
#ifndef MINISM_TESTS_SEED_H
#define MINISM_TESTS_SEED_H

#include <glib.h>

#include "tests/lib/unit.h"
#include "topology/prng.h"

static inline uint64_t
seed_from(const char *variable, uint64_t usual)
{
	const char *text = g_getenv(variable);

	return text ? g_ascii_strtoull(text, NULL, 0) : usual;
}

/* Without a word, for callers that print it with more. */
static inline uint64_t
seed_get(uint64_t usual)
{
	return seed_from("MINISM_TEST_SEED", usual);
}

static inline uint64_t
seed_take(uint64_t usual)
{
	uint64_t seed = seed_get(usual);

	print_message("# seed %" G_GUINT64_FORMAT "\n", seed);
	return seed;
}

/* The numbers below n in random order. */
static inline void
seed_shuffle(uint32_t *order, uint32_t n, uint64_t *rng)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = prng_below(rng, i);
		uint32_t held = order[i - 1];

		order[i - 1] = order[j];
		order[j] = held;
	}
}

static inline void
seed_fill(uint8_t *bytes, size_t n, uint64_t *rng)
{
	while (n--)
		*bytes++ = (uint8_t)prng_next(rng);
}

/* How long the tests of chaos go on. */
static inline unsigned
seed_events(unsigned usual)
{
	return (unsigned)seed_from("MINISM_CHAOS_EVENTS", usual);
}

#endif
