/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Big-endian numbers of 1 to 8 bytes, as all MADs carry them.
 */
#ifndef MINISM_MAD_BYTES_H
#define MINISM_MAD_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
bytes_load(const uint8_t *from, unsigned n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | *from++;
	return value;
}

static inline void
bytes_store(uint8_t *to, uint64_t value, unsigned n)
{
	while (n--) {
		to[n] = (uint8_t)value;
		value >>= 8;
	}
}

/* Of 16, 32 and 64 bits in one access, for the header of each MAD, and for
 * millions of GIDs. */
#define BYTES(bits) \
static inline uint##bits##_t \
bytes_load##bits(const uint8_t *from) \
{ \
	uint##bits##_t value; \
\
	memcpy(&value, from, sizeof(value)); \
	return be##bits##toh(value); \
} \
\
static inline void \
bytes_store##bits(uint8_t *to, uint##bits##_t value) \
{ \
	value = htobe##bits(value); \
	memcpy(to, &value, sizeof(value)); \
}

BYTES(16)
BYTES(32)
BYTES(64)

#endif
