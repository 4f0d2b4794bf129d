// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of ports as SMPs carry them.
 *
 *	table	a block is			AttributeModifier
 *	P_Key	32 P_Keys of 16 bits		port << 16 | block
 *	SL2VL	16 VLs of 4 bits, by SL		port of entry << 8 | of exit
 *	VLArb	32 of 4 reserved bits, VL,	block + 1 << 16 | port
 *		weight
 *
 * The port is that of a switch; a CA or router has these bits 0, as the SMP
 * came to the very port that is meant.
 *
 * Source: IBA 1.4, 14.2.5.7 to 14.2.5.9.
 */
#include "sm/mad/smp_table.h"

#include <string.h>

#include "sm/mad/bytes.h"

enum mad_attr
smp_table_attr(enum port_table table)
{
	static const enum mad_attr attrs[PORT_N_TABLES] = {
		[PORT_TABLE_PKEY] = MAD_ATTR_PKEY_TABLE,
		[PORT_TABLE_SL2VL] = MAD_ATTR_SL2VL,
		[PORT_TABLE_VL_ARB] = MAD_ATTR_VL_ARB,
	};

	return attrs[table];
}

uint32_t
smp_table_modifier(enum port_table table, unsigned num, unsigned block)
{
	switch (table) {
	case PORT_TABLE_PKEY:
		return num << 16 | block;
	case PORT_TABLE_SL2VL:
		return block << 8 | num;
	case PORT_TABLE_VL_ARB:
		return (block + 1) << 16 | num;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

void
smp_table_decode(enum port_table table, const uint8_t data[SMP_DATA_LEN],
		 union port_block *out)
{
	memset(out, 0, sizeof(*out));
	switch (table) {
	case PORT_TABLE_PKEY:
		for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
			out->pkeys[i] = (uint16_t)bytes_load(data + 2 * i, 2);
		return;
	case PORT_TABLE_SL2VL:
		for (unsigned sl = 0; sl < SL_COUNT; sl += 2) {
			out->vl[sl] = data[sl / 2] >> 4;
			out->vl[sl + 1] = data[sl / 2] & 0xf;
		}
		return;
	case PORT_TABLE_VL_ARB:
		for (unsigned i = 0; i < VL_ARB_ENTRIES; i++) {
			out->arb[i].vl = data[2 * i] & 0xf;
			out->arb[i].weight = data[2 * i + 1];
		}
		return;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

void
smp_table_encode(enum port_table table, uint8_t data[SMP_DATA_LEN],
		 const union port_block *block)
{
	memset(data, 0, SMP_DATA_LEN);
	switch (table) {
	case PORT_TABLE_PKEY:
		for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
			bytes_store(data + 2 * i, block->pkeys[i], 2);
		return;
	case PORT_TABLE_SL2VL:
		for (unsigned sl = 0; sl < SL_COUNT; sl += 2)
			data[sl / 2] = (uint8_t)(block->vl[sl] << 4 |
						 (block->vl[sl + 1] & 0xf));
		return;
	case PORT_TABLE_VL_ARB:
		for (unsigned i = 0; i < VL_ARB_ENTRIES; i++) {
			data[2 * i] = block->arb[i].vl & 0xf;
			data[2 * i + 1] = block->arb[i].weight;
		}
		return;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}
