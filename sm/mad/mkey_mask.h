/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The places of keys in a MAD, so that no dump prints them.
 */
#ifndef MINISM_MAD_MKEY_MASK_H
#define MINISM_MAD_MKEY_MASK_H

#include <stddef.h>
#include <stdint.h>

/* Zeros for each byte of a MAD that belongs to an M_Key, SM_Key or ServiceKey, or
 * may do: in an answer of the SA with records that have a key, all data may, and
 * so may all of what is too short for a MAD. */
void mkey_mask_blank(uint8_t *mad, size_t len);

#endif
