/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sets of destinations, one bit each, and components of switches.
 */
#ifndef MINISM_ROUTING_FTREE_SET_H
#define MINISM_ROUTING_FTREE_SET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets of n words, a multiple of SET_UNROLL: by fours, which a compiler turns
 * into vectors. */
#define SET_UNROLL	4u

static inline void
set_unite(uint64_t *restrict to, const uint64_t *restrict from, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += SET_UNROLL) {
		to[i] |= from[i];
		to[i + 1] |= from[i + 1];
		to[i + 2] |= from[i + 2];
		to[i + 3] |= from[i + 3];
	}
}

static inline void
set_meet(uint64_t *restrict to, const uint64_t *restrict from, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += SET_UNROLL) {
		to[i] &= from[i];
		to[i + 1] &= from[i + 1];
		to[i + 2] &= from[i + 2];
		to[i + 3] &= from[i + 3];
	}
}

static inline bool
set_has(const uint64_t *set, uint32_t dest)
{
	return set[dest / 64] >> dest % 64 & 1;
}

/* Finds the next run of ones in bits [*from, end): false if there is none,
 * else it is [*from, *to). */
static inline bool
set_next_run(const uint64_t *set, uint32_t end, uint32_t *from, uint32_t *to)
{
	uint32_t i = *from;
	uint64_t word;

	while (i < end) {
		word = set[i / 64] >> i % 64;
		if (word) {
			i += (uint32_t)__builtin_ctzll(word);
			break;
		}
		i = (i / 64 + 1) * 64;
	}
	if (i >= end)
		return false;
	*from = i;
	while (i < end) {
		word = ~set[i / 64] >> i % 64;
		if (word) {
			i += (uint32_t)__builtin_ctzll(word);
			break;
		}
		i = (i / 64 + 1) * 64;
	}
	*to = MIN(i, end);
	return true;
}

/* Components: a forest whose roots are the lowest of their members. */
static inline uint32_t
tree_find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

static inline void
tree_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = tree_find(up, a);
	b = tree_find(up, b);
	up[MAX(a, b)] = MIN(a, b);
}

#endif
