/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the subnet manager remembers: the LIDs that ports had and the order of
 * the switches (across restarts, in the cache folder), and the PortInfo
 * components that a port acknowledges and does not take (while we run).
 */
#ifndef MINISM_SM_PERSIST_H
#define MINISM_SM_PERSIST_H

#include "routing/engine.h"
#include "sm/log.h"
#include "sm/plan/desired.h"
#include "topology/lid.h"

struct persist;

/* cache_dir NULL: nothing is read or written. A file that is damaged is said,
 * renamed to guid2lid.damaged, and counts as empty. */
struct persist *persist_open(const char *cache_dir, struct log *log);
void persist_free(struct persist *m);

const struct lid_range *persist_ranges(const struct persist *m, size_t *n);

/* Takes the assignment over and writes the file, atomically, if it differs. */
void persist_keep_lids(struct persist *m, const struct snapshot *s,
		      const struct lid_map *map);

/* By port index of `s`: the fields that are given up, since the port did not
 * take them in three sweeps in a row (PORT_FIELDS_TRAINING: in one). A port
 * that has changed since then (PortStateChange of its switch or of the one
 * behind it, link down, away) is forgotten first. */
uint32_t *persist_given_up(struct persist *m, const struct snapshot *s);

/* A sweep's result: by port, the fields acknowledged and not taken; NULL:
 * nothing was sent. */
void persist_learn(struct persist *m, const struct snapshot *s,
		  const uint32_t *untaken);
/* A person wants all to be tried again. */
void persist_forget_untaken(struct persist *m);

/* How many ports there are with a field, and the first of them. */
struct field_tally {
	uint32_t count[32], first[32];
};
void field_tally_add(struct field_tally *t, uint32_t port, uint32_t fields);
/* "node-1 (0x..) port 1 and 3 more" */
void field_tally_print(const struct field_tally *t, unsigned bit,
		       const struct snapshot *s, GString *out);

/* The order of the switches that an engine left, by switch of `s`, with
 * ENGINE_NO_RANK for those that it did not know; NULL if there is none. `by`
 * gets the name of the engine, NULL if there is none; borrowed until the next
 * persist_keep_ranks(). */
uint32_t *persist_ranks(const struct persist *m, const struct snapshot *s,
		       const char **by);

/* The engine of persist_keep_ranks(), or of the file of ranks; NULL. With all
 * its cables back, a fabric returns to the engine that it had with them. */
const char *persist_engine(const struct persist *m, const struct snapshot *s);

/* Takes it over; `ranks` NULL: this engine has none. Switches that are away
 * keep theirs as long as the engine is the same. */
void persist_keep_ranks(struct persist *m, const char *engine,
		       const struct snapshot *s, const uint32_t *ranks);

#endif
