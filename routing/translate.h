/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Bytes through a table of 256: what fills most of a forwarding table.
 */
#ifndef MINISM_ROUTING_TRANSLATE_H
#define MINISM_ROUTING_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSLATE_STEP	64u	/* bytes; n is a multiple of it */
#define TRANSLATE_NONE	255u

/* to[i] = table[from[i]] for all i < n. Every from[i] is below n_used, or it
 * is TRANSLATE_NONE. `to` and `from` do not overlap. */
void translate_bytes(uint8_t *to, const uint8_t *from, size_t n,
		     const uint8_t table[256], unsigned n_used);

/* The ways to do it, for tests: the fastest that this processor has is taken
 * above. NULL at the end. */
struct translate_way {
	const char *name;
	bool (*is_there)(void);
	void (*run)(uint8_t *to, const uint8_t *from, size_t n,
		    const uint8_t table[256], unsigned n_used);
};
extern const struct translate_way translate_ways[];

/* Copies n bytes to memory that nobody reads soon, past the caches. Both
 * begin at multiples of TRANSLATE_STEP. */
void translate_store(uint8_t *restrict to, const uint8_t *restrict from,
		     size_t n);

#endif
