/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the forwarding tables that the switches hold already.
 */
#ifndef MINISM_SWEEP_LFT_READER_H
#define MINISM_SWEEP_LFT_READER_H

#include "routing/tables.h"
#include "sm/io/mad_client.h"
#include "sm/log.h"
#include "sm/plan/mkey_db.h"
#include "topology/snapshot.h"

/* What we knew of the tables before: by the snapshot of then. */
struct lft_memory {
	struct snapshot *subnet;
	struct lft_seen *seen;
};

struct lft_reader;

/* `seen` is the callee's; `faults` (of char *) is borrowed: switches whose
 * table could not be read. */
typedef void (*lft_reader_done_fn)(struct lft_seen *seen, GPtrArray *faults,
				void *data);

/*
 * Rows have room for LIDs up to `top` and up to what any switch holds.
 * memory: what a switch was left with is believed, not read again, if its
 * GUID, LID and LinearFDBTop are still the same; NULL: everything is read. A
 * switch that claims a top beyond its capability is logged and not read.
 * `done` never comes from inside lft_reader_start().
 */
struct lft_reader *lft_reader_start(struct mad_client *x,
				    const struct mkey_db *keys,
				    const struct snapshot *s, uint16_t top,
				    const struct lft_memory *memory,
				    struct log *log, lft_reader_done_fn done,
				    void *data);
void lft_reader_cancel(struct lft_reader *r);

/* By switch: it was reset, or is new, and holds no tables. g_free. */
uint8_t *lft_reader_fresh(const struct snapshot *s);

#endif
