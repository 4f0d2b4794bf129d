/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the subnet manager remembers: the LIDs that ports had and the order of
 * the switches (across restarts, in the cache folder), and the PortInfo
 * components that a device acknowledges and forgets (while we run).
 */
#ifndef MINISM_SM_MEMORY_H
#define MINISM_SM_MEMORY_H

#include "routing/engine.h"
#include "sm/log.h"
#include "sm/plan/wanted.h"
#include "topology/lids.h"

struct memory;

/* cache_dir NULL: nothing is read or written. A file that is damaged is said,
 * renamed to guid2lid.damaged, and counts as empty. */
struct memory *memory_open(const char *cache_dir, struct log *log);
void memory_free(struct memory *m);

const struct lid_range *memory_ranges(const struct memory *m, size_t *n);

/* Takes the assignment over and writes the file, atomically, if it differs. */
void memory_keep_lids(struct memory *m, const struct subnet *s,
		      const struct lid_map *map);

/* By port index of `s`: the fields that were forgotten so far. */
uint32_t *memory_forgotten(const struct memory *m, const struct subnet *s);

/* Adds what was learned; what is new is logged in one line, summed up by
 * field. */
void memory_learn(struct memory *m, const struct subnet *s,
		  const uint32_t *forgot);

/* The order of the switches that an engine left, by switch of `s`, with
 * ENGINE_NO_RANK for those that it did not know; NULL if there is none. `by`
 * gets the name of the engine, NULL if there is none; borrowed until the next
 * memory_keep_ranks(). */
uint32_t *memory_ranks(const struct memory *m, const struct subnet *s,
		       const char **by);

/* Takes it over; `ranks` NULL: this engine has none. Switches that are away
 * keep theirs as long as the engine is the same. */
void memory_keep_ranks(struct memory *m, const char *engine,
		       const struct subnet *s, const uint32_t *ranks);

#endif
