/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notice, what traps carry (IBA 13.4.8.2): what the SM reads of it.
 */
#ifndef MINISM_MAD_NOTICE_H
#define MINISM_MAD_NOTICE_H

#include "sm/mad/smp.h"

struct notice {
	bool generic;
	uint8_t type;		/* 0 fatal .. 4 informational */
	uint32_t producer;	/* node type of the sender, if generic */
	uint16_t trap;		/* number, if generic */
	uint16_t issuer_lid;
	uint16_t lid;		/* at fault, in traps 128 to 131, 144; else 0 */
	uint8_t port;		/* in traps 129 to 131, else 0 */
};

void notice_decode(const uint8_t data[SMP_DATA_LEN], struct notice *n);
const char *notice_trap_name(unsigned trap);
/* Blanks the M_Key that trap 256 tells: what was tried may be one of ours. */
void notice_hide_m_key(uint8_t data[SMP_DATA_LEN]);

#endif
