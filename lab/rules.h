/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What Linux says of a MAD before it looks at anything else: shared by kernel.c
 * and the preloaded library, which answers write(2) without waiting for the
 * server. mad: at least RMPP_HEADER_LEN bytes.
 */
#ifndef MINISM_LAB_RULES_H
#define MINISM_LAB_RULES_H

#include <errno.h>
#include <rdma/ib_user_mad.h>

#include "sm/mad/mad.h"
#include "sm/mad/rmpp.h"

/* Which side does RMPP for an agent. */
enum rules_agent {
	RULES_AGENT_ABSENT,
	RULES_AGENT_PLAIN,	/* the program, if it wants to */
	RULES_AGENT_OWN_RMPP,	/* the program */
	RULES_AGENT_KERNEL_RMPP,
};

static inline enum rules_agent
rules_agent(unsigned rmpp_version, uint32_t flags)
{
	return !rmpp_version ? RULES_AGENT_PLAIN :
		flags & IB_USER_MAD_USER_RMPP ? RULES_AGENT_OWN_RMPP :
		RULES_AGENT_KERNEL_RMPP;
}

static inline bool
rules_is_vendor2(unsigned mgmt_class)
{
	return mgmt_class >= 0x30 && mgmt_class <= 0x4f;
}

/* Where the data begin in a MAD of a class with RMPP; 0: it has none. */
static inline unsigned
rules_header_len(unsigned mgmt_class)
{
	switch (mgmt_class) {
	case MAD_CLASS_SA:
		return RMPP_SA_HEADER_LEN;
	case 0x06:		/* device management */
	case 0x10:		/* device administration */
	case 0x12:		/* BIS */
		return 64;
	}
	return rules_is_vendor2(mgmt_class) ? 40 : 0;
}

static inline bool
rules_is_response(const uint8_t *mad)
{
	return mad[3] & MAD_METHOD_RESPONSE ||
		mad[3] == MAD_METHOD_TRAP_REPRESS;
}

/* A segment, ACK, STOP or ABORT that is the kernel's to send and to take. */
static inline bool
rules_by_kernel(enum rules_agent a, const uint8_t *mad)
{
	return rules_header_len(mad[1]) && mad[26] & RMPP_FLAG_ACTIVE &&
		a == RULES_AGENT_KERNEL_RMPP;
}

/* One of the program's own: several may wait with one TID, and none of them
 * needs a request to be delivered. */
static inline bool
rules_by_program(enum rules_agent a, const uint8_t *mad)
{
	return rules_header_len(mad[1]) && mad[26] & RMPP_FLAG_ACTIVE &&
		a != RULES_AGENT_KERNEL_RMPP;
}

/* 0, or the errno of write(2): length and class are not those of a MAD, or of a
 * message that the kernel cuts into segments; or no SMI lets it out. Without the
 * agent it was EINVAL before 2021, and half a header of the class was taken
 * before 2026. */
static inline int
rules_refuse(enum rules_agent a, const uint8_t *mad, size_t len)
{
	unsigned header_len;

	if (len < RMPP_HEADER_LEN)
		return EINVAL;
	if (a == RULES_AGENT_ABSENT)
		return EIO;
	header_len = rules_header_len(mad[1]);
	if (len < header_len || (!header_len && a != RULES_AGENT_PLAIN) ||
	    (len > MAD_SIZE && !rules_by_kernel(a, mad)))
		return EINVAL;
	/* HopPointer of a directed route where it begins, or turns back */
	if (mad[1] == MAD_CLASS_SMP_DIRECT &&
	    mad[6] != (mad[4] & 0x80 ? mad[7] + 1 : 0))
		return EINVAL;
	return 0;
}

#endif
