/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The arrays of one computation, which are given back together:
 *
 *	g_autoptr(GPtrArray) all = scratch_new();
 *	uint32_t *hops = SCRATCH(all, uint32_t, n);
 */
#ifndef MINISM_ROUTING_SCRATCH_H
#define MINISM_ROUTING_SCRATCH_H

#include <glib.h>
#include <stddef.h>

static inline GPtrArray *
scratch_new(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

static inline void *
scratch_take(GPtrArray *all, size_t n, size_t size)
{
	void *array = g_malloc0_n(n + 1, size);

	g_ptr_array_add(all, array);
	return array;
}

/* n elements and one more, all zero. */
#define SCRATCH(all, type, n)	((type *)scratch_take(all, n, sizeof(type)))

#endif
