/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A node of the simulated fabric and a port of it: what an agent knows of
 * itself, and what was done to it. Private to sm/sim.
 */
#ifndef MINISM_SIM_NODE_H
#define MINISM_SIM_NODE_H

#include "sm/sim/fault.h"
#include "sm/mad/smp.h"

struct sim_tables;

/* What the PMA tells (IBA 16.1.3.5); in its widths only on the wire. */
struct sim_counters {
	uint64_t xmit_data, rcv_data;	/* words of 4 bytes */
	uint64_t xmit_packets, rcv_packets;
	uint64_t error[SIM_N_ERRORS];
};

struct sim_port {
	uint64_t guid;
	struct sim_tables *tables;	/* NULL: none */
	int64_t lease_end;	/* of the M_Key, ns; 0: not running */
	uint32_t node, peer;
	uint8_t num;
	bool cut;		/* the cable: at both ends */
	uint16_t loss_per_mille;	/* so it is there, too */
	bool wire_valid;
	bool is_sm;		/* its driver says so */
	struct port_info info;
	uint8_t wire[SMP_DATA_LEN];	/* info, encoded, if valid */
	struct sim_counters counters;
};

enum sim_power {
	SIM_POWER_ON,
	SIM_POWER_OFF,
};

struct sim_node {
	struct node_info info;
	struct switch_info sw;
	uint32_t first_port;
	uint32_t epoch;		/* counts switching on and off */
	enum sim_power power;
	enum sim_mood mood;
	unsigned smp_ns, forward_ns, vl15_depth; /* struct sim_params's */
	uint32_t queued;	/* SMPs that wait for the agent */
	int64_t busy_until;	/* ns */
	uint32_t lft_len;	/* bytes; what is beyond holds no path */
	uint8_t *lft;
	uint8_t **mft;		/* [position][block], see table.c; or NULL */
	GHashTable *congestion;	/* what was set of it; NULL: nothing */
	char desc[NODE_DESC_LEN];
};

#endif
