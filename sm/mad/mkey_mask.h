/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The places of keys in a MAD, so that no dump prints them.
 */
#ifndef MINISM_MAD_MKEY_MASK_H
#define MINISM_MAD_MKEY_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The byte at `at` belongs to an M_Key, SM_Key or ServiceKey, or may do. In an
 * answer of the SA with records that have a key, all data may. */
bool mkey_mask_holds(const uint8_t *mad, size_t len, size_t at);

#endif
