/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Members of structs that a table names. */
#ifndef MINISM_TOPOLOGY_MEMBER_H
#define MINISM_TOPOLOGY_MEMBER_H

#include <stdint.h>
#include <string.h>

/* A number of a host struct, of 1, 2, 4 or 8 bytes. */
static inline uint64_t
member_load(const void *member, unsigned size)
{
	uint64_t v64 = *(const uint8_t *)member;
	uint32_t v32;
	uint16_t v16;

	if (size == 8) {
		memcpy(&v64, member, 8);
	} else if (size == 4) {
		memcpy(&v32, member, 4);
		v64 = v32;
	} else if (size == 2) {
		memcpy(&v16, member, 2);
		v64 = v16;
	}
	return v64;
}

static inline void
member_store(void *member, unsigned size, uint64_t value)
{
	if (size == 8)
		memcpy(member, &value, 8);
	else if (size == 4)
		memcpy(member, &(uint32_t){ (uint32_t)value }, 4);
	else if (size == 2)
		memcpy(member, &(uint16_t){ (uint16_t)value }, 2);
	else
		*(uint8_t *)member = (uint8_t)value;
}

#endif
