/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sets of small integers as bits, and disjoint sets.
 */
#ifndef MINISM_ROUTING_SETS_H
#define MINISM_ROUTING_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/smp_attr.h"

static inline bool
set_has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static inline void
set_add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

/* n words. */
static inline void
set_unite(uint64_t *restrict to, const uint64_t *restrict from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] |= from[i];
}

static inline bool
set_meets(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i] & b[i])
			return true;
	return false;
}

/* i: each number in a word of a set; `base` is the number of its lowest bit.
 * Clears the word. */
#define for_each_bit(word, base, i) \
	for (; (word) && \
	     ((i) = (base) + (uint32_t)__builtin_ctzll(word), true); \
	     (word) &= (word) - 1)

/* For qsort. */
static inline int
compare_numbers(const void *a, const void *b)
{
	return uint_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Disjoint sets: a forest whose roots are the lowest of their members. */
static inline uint32_t
disjoint_find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

static inline void
disjoint_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = disjoint_find(up, a);
	b = disjoint_find(up, b);
	up[a > b ? a : b] = a < b ? a : b;
}

#endif
