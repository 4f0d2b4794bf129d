/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of ports in a view: what the sweep read of them, and what was read
 * since because somebody asked; and tables of groups, for which there is no
 * sweep.
 *
 * These are all that changes in a view. What was read only grows; tables of
 * groups are replaced as a whole, and a scan of records keeps those with which
 * it began. So an answer that is on its way is not disturbed.
 */
#ifndef MINISM_SA_SA_DB_TABLES_H
#define MINISM_SA_SA_DB_TABLES_H

#include "sm/sa/sa_db.h"
#include "topology/port_tables.h"

/* As the devices hold them, by what the sweep read: a reference. NULL: nothing
 * is known. */
void sa_db_set_tables(struct sa_db *v, struct port_tables *held);

/* Multicast tables as the switches hold them now: a reference, by the switches
 * of the view. NULL: none. Who draws records goes on with those of before. */
void sa_db_set_mft(struct sa_db *v, struct mft *mft);

/* NULL: not known, or there is no such block. */
const union port_block *sa_db_block(const struct sa_db *v,
				      enum port_table table, uint32_t port,
				      unsigned block);
/* Is all known that can be? */
bool sa_db_table_is_read(const struct sa_db *v, enum port_table table,
			   uint32_t port);

/* Where the P_Key stands in the table of the port; 0, where every port has its
 * default one, if that is not known (IBA 10.9.1.2). */
uint16_t sa_db_pkey_index(const struct sa_db *v, uint32_t port,
			    uint16_t pkey);

/* A block that was read; the port refuses, or has no more than what was. */
void sa_db_add_block(struct sa_db *v, enum port_table table,
		       uint32_t port, unsigned block,
		       const union port_block *data);
void sa_db_close_table(struct sa_db *v, enum port_table table,
			 uint32_t port);

#endif
