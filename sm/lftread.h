/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the forwarding tables that the switches hold already.
 */
#ifndef MINISM_SM_LFTREAD_H
#define MINISM_SM_LFTREAD_H

#include "routing/tables.h"
#include "sm/io/xact.h"
#include "sm/log.h"
#include "sm/plan/keyring.h"
#include "topology/subnet.h"

/* What we knew of the tables before: by the snapshot of then. */
struct lft_memory {
	struct subnet *subnet;
	struct lft_seen *seen;
};

struct lftread;

/* `seen` is the callee's; `faults` (of char *) is borrowed: switches whose
 * table could not be read. */
typedef void (*lftread_done_fn)(struct lft_seen *seen, GPtrArray *faults,
				void *data);

/*
 * Rows have room for LIDs up to `top` and up to what any switch holds.
 * memory: what a switch was left with is believed, not read again, if its
 * GUID, LID and LinearFDBTop are still the same; NULL: everything is read. A
 * switch that claims a top beyond its capability is logged and not read.
 * `done` never comes from inside lftread_start().
 */
struct lftread *lftread_start(struct xact *x, const struct keyring *keys,
			      const struct subnet *s, uint16_t top,
			      const struct lft_memory *memory,
			      struct log *log, lftread_done_fn done,
			      void *data);
void lftread_cancel(struct lftread *r);

/* By switch: it was reset, or is new, and holds no tables. g_free. */
uint8_t *lftread_fresh(const struct subnet *s);

#endif
