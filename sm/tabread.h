/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads tables of ports: P_Keys, SL to VL, VL arbitration.
 */
#ifndef MINISM_SM_TABREAD_H
#define MINISM_SM_TABREAD_H

#include "sm/io/xact.h"
#include "sm/plan/keyring.h"
#include "topology/porttab.h"

/* A table that is to be read. */
struct tabread_item {
	uint32_t port;
	enum port_table table;
	/* Only blocks that are known here; NULL: all. */
	const struct port_tables *only;
};

struct tabread;

/* What was read is in the tables that were handed in. `faults` (of char *) is
 * borrowed: ports whose table could not be read. */
typedef void (*tabread_done_fn)(GPtrArray *faults, void *data);

/*
 * items: GArray of struct tabread_item; copied. keys and s are borrowed until
 *	`done`. `held`: only what is not known there is asked for; nobody else may
 *	have a reference.
 * A table of which a block cannot be read is not asked for any further. `done`
 * never comes from inside tabread_start().
 */
struct tabread *tabread_start(struct xact *x, const struct keyring *keys,
			      const struct subnet *s, const GArray *items,
			      struct port_tables *held, tabread_done_fn done,
			      void *data);
void tabread_cancel(struct tabread *r);

/*
 * What we knew of tables before, by the snapshot of then: `held` gets those of
 * the ports that cannot have lost them. That is a port of a CA or router with
 * the same GUID, number and LID that did not come up anew, and all ports of a
 * switch that kept its LID and its LinearFDBTop, for one that was reset has
 * neither (IBA 14.2.5.4).
 */
void tabread_recall(const struct subnet *now, struct port_tables *held,
		    const struct subnet *then,
		    const struct port_tables *known);

#endif
