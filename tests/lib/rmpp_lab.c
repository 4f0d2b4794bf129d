// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bench of RMPP: see rmpp_lab.h.
 */
#include "tests/lib/rmpp_lab.h"

#include <glib.h>
#include <string.h>

void
rmpplab_header(uint8_t *mad, uint8_t method, uint64_t tid)
{
	memset(mad, 0, MAD_SIZE);
	mad[0] = 1;
	mad[1] = MAD_CLASS_SA;
	mad[2] = 2;
	mad[3] = method;
	mad_set_tid(mad, tid);
	mad[17] = 0x35;		/* PathRecord */
	mad[45] = 8;		/* AttributeOffset */
}

uint8_t
rmpplab_byte(uint64_t i)
{
	return (uint8_t)(i ^ i >> 8 ^ i >> 16);
}
