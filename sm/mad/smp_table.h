/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tables of ports in SMPs (IBA 14.2.5.7 to .9): bytes <-> host values. A block
 * of a table is one SMP; which one is in the AttributeModifier.
 *
 * Decoders take the 64 bytes of the attribute and write the whole block, with
 * 0 for what the table does not use; encoders write all 64 bytes.
 */
#ifndef MINISM_MAD_SMP_TABLE_H
#define MINISM_MAD_SMP_TABLE_H

#include "sm/mad/smp.h"
#include "topology/port_tables.h"

enum mad_attr smp_table_attr(enum port_table table);

/*
 * The AttributeModifier of a block of the table of a port. `num` is the port's
 * number if it is a switch's, 0 for a CA's or router's: that is who is asked.
 */
uint32_t smp_table_modifier(enum port_table table, unsigned num,
			    unsigned block);

void smp_table_decode(enum port_table table, const uint8_t data[SMP_DATA_LEN],
		      union port_block *out);
void smp_table_encode(enum port_table table, uint8_t data[SMP_DATA_LEN],
		      const union port_block *block);

#endif
