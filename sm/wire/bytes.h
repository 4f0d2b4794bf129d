/*
 * Big-endian numbers of 1 to 8 bytes, as all MADs carry them.
 */
#ifndef MINISM_WIRE_BYTES_H
#define MINISM_WIRE_BYTES_H

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

/* All eight in one go, for where a GID is looked up millions of times. */
static inline uint64_t
bytes_load64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

static inline void
bytes_store(uint8_t *to, uint64_t value, unsigned n)
{
	while (n--) {
		to[n] = (uint8_t)value;
		value >>= 8;
	}
}

#endif
