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

/* In one access, for the header of each MAD, and for millions of GIDs. */
static inline uint16_t
bytes_load16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return be16toh(value);
}

static inline uint32_t
bytes_load32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

static inline uint64_t
bytes_load64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

static inline void
bytes_store16(uint8_t *to, uint16_t value)
{
	value = htobe16(value);
	memcpy(to, &value, sizeof(value));
}

static inline void
bytes_store32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void
bytes_store64(uint8_t *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

#endif
