/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the tables that the devices hold: forwarding tables of switches;
 * P_Keys, SL to VL and VL arbitration of ports.
 */
#ifndef MINISM_SWEEP_TABLE_READER_H
#define MINISM_SWEEP_TABLE_READER_H

#include "routing/tables.h"
#include "sm/log.h"
#include "sm/sweep/smp_batch.h"
#include "topology/port_tables.h"

/* A table to be read. */
struct table_reader_item {
	uint32_t port;
	unsigned table;		/* enum port_table */
	unsigned hops;		/* set by table_reader_start() */
	/* Read only blocks that are known here; NULL: all. */
	const struct port_tables *only;
};

/* A table that was not read. */
struct table_fault {
	uint32_t port;
	bool is_lft;
	char *text;		/* a line */
};

/* faults: of struct table_fault, borrowed. */
typedef void (*table_reader_done_fn)(const GArray *faults, void *data);

/*
 * Reads the blocks in use of all switches into `seen`, then the tables named in
 * items (GArray of struct table_reader_item; copied) into `held`; blocks known
 * there are not read again. seen NULL: no forwarding tables. keys, s, seen and
 * held are borrowed until `done`, and held has no other reference. After one
 * failed block the rest of that table is not read, and it goes to `lost`, see
 * silent_note(); borrowed as well. A switch whose LinearFDBTop
 * exceeds its capability is logged and not read. `done` is never called from
 * inside table_reader_start().
 */
struct smp_batch *table_reader_start(struct mad_client *x,
				     const struct mkey_db *keys,
				     const struct snapshot *s,
				     struct lft_seen *seen, const GArray *items,
				     struct port_tables *held, GArray *lost,
				     struct log *log,
				     table_reader_done_fn done, void *data);

/*
 * A new lft_seen with room for LIDs up to `top` and up to the LinearFDBTop of
 * any switch. It has the known tables of the time of `then` (may be NULL) of
 * the switches whose GUID, LID, LinearFDBTop and SMLID are still the same: an
 * SM that was their master in between would have written its own.
 */
struct lft_seen *table_reader_recall_lfts(const struct snapshot *now,
					  uint16_t top,
					  const struct snapshot *then,
					  const struct lft_seen *known);

/*
 * Copies to `held` the tables, known at the time of `then`, of the ports that
 * cannot have lost them: a port of a CA or router with the same GUID, number,
 * LID and SMLID whose link stayed up, and all ports of a switch with the same
 * LID, SMLID and LinearFDBTop, which a reset clears (IBA 14.2.5.4). Sets `rose` of
 * ports to be asked about at the next change.
 */
void table_reader_recall(struct snapshot *now, struct port_tables *held,
			 const struct snapshot *then,
			 const struct port_tables *known);

/* By switch: 1 if it may forward by a block that was never read, by one of too many
 * contents of a block, or is not written and may hold another content; NULL: there
 * is none. parts: late_parts(). g_free. */
uint8_t *table_reader_unread(const struct snapshot *s,
			     const struct lft_seen *seen, const GArray *parts);

/* By switch: 1 if it was reset, is new, or another SM may have written its
 * tables. then NULL: all are new. g_free. */
uint8_t *table_reader_fresh(const struct snapshot *now,
			    const struct snapshot *then);

#endif
