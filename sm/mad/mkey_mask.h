/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Where keys are in a MAD: for who prints bytes and must not print those.
 */
#ifndef MINISM_MAD_MKEY_MASK_H
#define MINISM_MAD_MKEY_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The byte at `at` belongs to an M_Key, SM_Key or ServiceKey, or may do. For
 * records of the SA, which may lie anywhere in an answer, all of it may. */
bool mkey_mask_holds(const uint8_t *mad, size_t len, size_t at);

#endif
