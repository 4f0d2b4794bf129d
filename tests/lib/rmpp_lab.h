/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What tests of RMPP share: the header and the bytes of a message that
 * everybody knows, and a source that gives them.
 */
#ifndef MINISM_TESTS_LIB_RMPP_LAB_H
#define MINISM_TESTS_LIB_RMPP_LAB_H

#include "sm/mad/mad.h"
#include "sm/mad/rmpp.h"

#define MS		INT64_C(1000)
#define ROOM		200u	/* bytes of SA data in a segment */
#define METHOD_GET_MULTI	0x14
#define METHOD_GET_TABLE	0x12
#define METHOD_GET_TABLE_RESP	0x92
#define RMPPLAB_TID	UINT64_C(0x1122334455667788)

/* An SA MAD without RMPP header and data. */
void rmpplab_header(uint8_t *mad, uint8_t method, uint64_t tid);

/* The byte at this place of every message. */
uint8_t rmpplab_byte(uint64_t i);

#endif
