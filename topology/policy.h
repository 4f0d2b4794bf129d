/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the configuration decides of ports and switches.
 */
#ifndef MINISM_TOPOLOGY_POLICY_H
#define MINISM_TOPOLOGY_POLICY_H

#include <stdint.h>

/* The same for all ports. */
struct policy {
	uint64_t m_key;
	uint64_t gid_prefix;
	uint16_t m_key_lease;		/* s */
	uint8_t m_key_protect;		/* 0 to 3 */
	uint8_t sm_sl;			/* to the SM and the SA */
	uint8_t subnet_timeout;		/* 4.096 us * 2^n */
	uint8_t packet_life_time;	/* SwitchInfo.LifeTimeValue */
	/* towards switches, hosts; 4.096 us * 2^n, 20: for ever */
	uint8_t hoq_life, leaf_hoq_life;
	uint8_t vl_stall, leaf_vl_stall;	/* packets, 1 to 7 */
	uint8_t max_oper_vls;		/* VLCap code */
	uint8_t local_phy_errors, overrun_errors;	/* 0 to 15 */
};

#endif
