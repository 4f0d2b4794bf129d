/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work shared among threads, for passes whose items are independent.
 */
#ifndef MINISM_ROUTING_WORK_H
#define MINISM_ROUTING_WORK_H

#include <stdint.h>

#define WORK_MAX_THREADS	64u

/*
 * Calls fn(data, from, to) for ranges that cover 0..n_items - 1 once, and
 * returns when all are done. fn may be called in any order, from any thread,
 * and writes only the results of its items. n_threads 0 is 1: one call after
 * the other from this thread.
 */
void work_share(unsigned n_threads, uint32_t n_items,
		void (*fn)(void *data, uint32_t from, uint32_t to),
		void *data);

#endif
