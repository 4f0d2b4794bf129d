// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What values of SMInfo and of SA records mean. Apart from their codecs: a program
 * that prints them needs no libibmad.
 */
#include <glib.h>

#include "sm/mad/sa_record.h"
#include "sm/mad/smp.h"

const char *
sm_state_name(unsigned state)
{
	static const char *const names[] = {
		[SM_STATE_NOT_ACTIVE] = "not active",
		[SM_STATE_DISCOVERING] = "discovering",
		[SM_STATE_STANDBY] = "standby",
		[SM_STATE_MASTER] = "master",
	};

	return state < G_N_ELEMENTS(names) ? names[state] : "?";
}

/* By code, nominal, in Mb/s: IBA table of PathRecord.Rate. */
static const uint32_t rates[] = {
	[2] = 2500, [3] = 10000, [4] = 30000, [5] = 5000, [6] = 20000,
	[7] = 40000, [8] = 60000, [9] = 80000, [10] = 120000, [11] = 14000,
	[12] = 56000, [13] = 112000, [14] = 168000, [15] = 25000,
	[16] = 100000, [17] = 200000, [18] = 300000, [19] = 28000,
	[20] = 50000, [21] = 400000, [22] = 600000, [23] = 800000,
	[24] = 1200000, [25] = 1600000,
};

/* Their codes, slow to fast. */
static const uint8_t codes[] = {
	0, 2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14, 17, 18,
	21, 22, 23, 24, 25,
};

unsigned
sa_rate_mbps(unsigned rate)
{
	return rate < G_N_ELEMENTS(rates) ? rates[rate] : 0;
}

unsigned
sa_rate_rank(unsigned rate)
{
	unsigned rank = G_N_ELEMENTS(codes) - 1;

	while (rank > 0 && codes[rank] != rate)
		rank--;
	return rank;
}

unsigned
sa_rate_by_rank(unsigned rank)
{
	return codes[MIN(rank, G_N_ELEMENTS(codes) - 1)];
}

/* The rate, or the next lower one if this one has no code. */
unsigned
sa_rate_of(const struct port_info *info)
{
	unsigned mbps = port_mbps(info);
	unsigned rank = G_N_ELEMENTS(codes) - 1;

	while (rates[codes[rank]] > mbps)
		rank--;
	return codes[rank];
}
