/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of ports: P_Keys, SL to VL, VL arbitration (IBA 14.2.5.7 to .9), as
 * they are held by the devices, or as they should be.
 *
 * A table is a row of blocks of 64 bytes, and a block is known or not. Most
 * ports of a fabric hold the same few blocks, so equal blocks are kept once
 * and a port has a pointer to each.
 */
#ifndef MINISM_TOPOLOGY_PORT_TABLES_H
#define MINISM_TOPOLOGY_PORT_TABLES_H

#include <glib.h>

#include "topology/snapshot.h"

enum port_table {
	PORT_TABLE_PKEY,   /* block: 32 P_Keys each */
	PORT_TABLE_SL2VL,  /* block: the port of entry, 0 but at switches */
	PORT_TABLE_VL_ARB, /* block: enum vl_arb_block */
	PORT_N_TABLES
};
extern const char *const port_table_names[PORT_N_TABLES];

/* IBA numbers them from 1 (14.2.5.9). */
enum vl_arb_block {
	VL_ARB_LOW_1, VL_ARB_LOW_2, VL_ARB_HIGH_1, VL_ARB_HIGH_2,
	VL_ARB_N_BLOCKS
};

#define PKEYS_A_BLOCK	32u
#define VL_ARB_ENTRIES	32u
#define SL_COUNT	16u

struct vl_share {
	uint8_t vl;
	uint8_t weight;		/* 64 bytes each; 0: the entry is skipped */
};

/* Host order; bytes that a table does not use are 0. */
union port_block {
	uint16_t pkeys[PKEYS_A_BLOCK];
	uint8_t vl[SL_COUNT];		/* by SL */
	struct vl_share arb[VL_ARB_ENTRIES];
	uint8_t bytes[64];
};

/* Has each port this block of a table when it comes up? */
bool port_block_is_plain(enum port_table table, unsigned block,
			 const union port_block *b);

/* Reference counted. A row is the blocks of one table of one port, as pointers
 * into the pool (NULL: not known), and is made when the first block of it is
 * set: a fabric without QoS pays one pointer a port for VL arbitration. */
struct port_tables {
	gint ref;
	uint32_t n_ports;
	uint16_t *n_blocks[PORT_N_TABLES];	/* [port] */
	gpointer **rows[PORT_N_TABLES];	/* [port][block]; NULL: none is known */
	GHashTable *pool;		/* set of GBytes, a union port_block
					   each */
};

/* For every port of `s`; no block is known. Keeps no reference to s. */
struct port_tables *port_tables_new(const struct snapshot *s);
struct port_tables *port_tables_ref(struct port_tables *t);
void port_tables_unref(struct port_tables *t);

/* How many P_Keys the port can hold (NodeInfo, SwitchInfo; IBA 14.2.5.3, .4): 0
 * for a port that has no table: an external port of a switch that does not
 * enforce partitions. */
unsigned port_pkey_cap(const struct snapshot *s, uint32_t port);

/* NULL: not known. Valid until the tables go. */
const union port_block *port_tables_get(const struct port_tables *t,
					enum port_table table, uint32_t port,
					unsigned block);
/* Only while there is no other reference. */
void port_tables_set(struct port_tables *t, enum port_table table,
		     uint32_t port, unsigned block,
		     const union port_block *data);
void port_tables_forget(struct port_tables *t, enum port_table table,
			uint32_t port);

#endif
