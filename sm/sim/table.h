/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of ports and switches, as they are on the wire. Private to sm/sim.
 */
#ifndef MINISM_SIM_TABLE_H
#define MINISM_SIM_TABLE_H

#include "sm/sim/state.h"

#define SIM_TABLE_BLOCK		64u	/* bytes of a table in one SMP */
#define SIM_SL2VL_LEN		8u
#define SIM_VL_ARB_BLOCKS	4u
#define SIM_PKEY_DEFAULT	0xffffu	/* IBA 10.9.1.2: in every table */

/* Tables of a port as they are on the wire, each there only once it was
 * written. */
struct sim_tables {
	uint8_t (*pkeys)[SIM_TABLE_BLOCK];
	uint8_t (*guids)[SIM_TABLE_BLOCK];
	uint8_t (*vl_arb)[SIM_TABLE_BLOCK];
	uint8_t (*sl2vl)[SIM_SL2VL_LEN];	/* by the port of entry */
};

/* `port` is where the SMP came in; data is read by a Set and written in any
 * case. Returns the status. */
unsigned sim_table_serve(struct sim *sim, uint32_t port,
			 const struct sim_packet *p, uint8_t *data);
void sim_table_clear_port(struct sim *sim, uint32_t port);
void sim_table_clear_node(struct sim *sim, uint32_t node);
bool sim_table_has_pkey(const struct sim *sim, uint32_t port, uint16_t pkey);
bool sim_table_admits_pkey(const struct sim *sim, uint32_t port,
			   uint16_t pkey);
uint8_t sim_table_vl(const struct sim *sim, uint32_t out, unsigned in,
		     unsigned sl);
bool sim_table_mcast_has(const struct sim *sim, uint32_t node, uint16_t mlid,
			 unsigned port);
bool sim_table_mcast_any(const struct sim *sim, uint32_t node, uint16_t mlid);

#endif
