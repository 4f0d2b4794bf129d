/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads tables of ports: P_Keys, SL to VL, VL arbitration.
 */
#ifndef MINISM_SWEEP_TABLE_READER_H
#define MINISM_SWEEP_TABLE_READER_H

#include "sm/io/mad_client.h"
#include "sm/plan/mkey_db.h"
#include "topology/port_tables.h"

/* A table that is to be read. */
struct table_reader_item {
	uint32_t port;
	enum port_table table;
	/* Only blocks that are known here; NULL: all. */
	const struct port_tables *only;
};

struct table_reader;

/* What was read is in the tables that were handed in. `faults` (of char *) is
 * borrowed: ports whose table could not be read. */
typedef void (*table_reader_done_fn)(GPtrArray *faults, void *data);

/*
 * items: GArray of struct table_reader_item; copied. keys and s are borrowed
 * until
 *	`done`. `held`: only what is not known there is asked for; nobody else may
 *	have a reference.
 * A table of which a block cannot be read is not asked for any further. `done`
 * never comes from inside table_reader_start().
 */
struct table_reader *table_reader_start(struct mad_client *x,
					const struct mkey_db *keys,
					const struct snapshot *s,
					const GArray *items,
					struct port_tables *held,
					table_reader_done_fn done, void *data);
void table_reader_cancel(struct table_reader *r);

/*
 * What we knew of tables before, by the snapshot of then: `held` gets those of
 * the ports that cannot have lost them. That is a port of a CA or router with
 * the same GUID, number and LID that did not come up anew, and all ports of a
 * switch that kept its LID and its LinearFDBTop, for one that was reset has
 * neither (IBA 14.2.5.4).
 */
void table_reader_recall(const struct snapshot *now, struct port_tables *held,
		    const struct snapshot *then,
		    const struct port_tables *known);

#endif
