/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work shared among threads, for passes whose items do not look at each other.
 */
#ifndef MINISM_ROUTING_WORK_H
#define MINISM_ROUTING_WORK_H

#include <stdint.h>

#define WORK_MAX_THREADS	64u

/*
 * Calls fn(data, from, to) until 0..n_items - 1 are all covered, each once,
 * and returns when that is done. The ranges, their order and the threads they
 * run on are nobody's business: fn writes only what belongs to its items.
 * n_threads 0 is 1: then all is called from here, in order.
 */
void work_share(unsigned n_threads, uint32_t n_items,
		void (*fn)(void *data, uint32_t from, uint32_t to),
		void *data);

#endif
