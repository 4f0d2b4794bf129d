/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Random numbers that are the same everywhere: SplitMix64 (Steele, Lea, Flood,
 * "Fast splittable pseudorandom number generators", 2014). The state is one
 * number, which its user keeps. Not for secrets.
 */
#ifndef MINISM_TOPOLOGY_PRNG_H
#define MINISM_TOPOLOGY_PRNG_H

#include <stdint.h>

static inline uint64_t
prng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* The start of stream number `stream` of a seed. Neighbouring seeds are mixed
 * first, or their streams would be the same one, shifted. */
static inline uint64_t
prng_stream(uint64_t seed, unsigned stream)
{
	uint64_t state = seed;

	return prng_next(&state) + stream * 0xd1342543de82ef95u;
}

/* 0 .. n - 1. The bias is below n / 2^32. */
static inline uint32_t
prng_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((prng_next(state) >> 32) * n >> 32);
}

#endif
