/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet administration MADs: the header, and which bits of a record a
 * ComponentMask compares (IBA 15.2). Records themselves: sa_record.h.
 */
#ifndef MINISM_MAD_SA_MAD_H
#define MINISM_MAD_SA_MAD_H

#include "sm/mad/mad.h"
#include "sm/mad/mad_field.h"

#define SA_RMPP_OFFSET	24u	/* RMPP header, 12 bytes (IBA 13.6.2) */
#define SA_HEADER_OFFSET 36u	/* SM_Key .. ComponentMask, 20 bytes */
#define SA_DATA_OFFSET	56u
#define SA_DATA_LEN	200u

/* Those that mad.h does not have; bit 7 makes the answer. */
enum sa_method {
	SA_METHOD_REPORT = 0x06,
	SA_METHOD_GET_TABLE = 0x12,
	SA_METHOD_GET_MULTI = 0x14,
	SA_METHOD_DELETE = 0x15,
};

enum sa_attr {
	SA_ATTR_CLASS_PORT_INFO = 0x0001,
	SA_ATTR_NOTICE = 0x0002,
	SA_ATTR_INFORM_INFO = 0x0003,
	SA_ATTR_NODE = 0x0011,
	SA_ATTR_PORT_INFO = 0x0012,
	SA_ATTR_SL_TO_VL = 0x0013,
	SA_ATTR_SWITCH_INFO = 0x0014,
	SA_ATTR_LINEAR_FT = 0x0015,
	SA_ATTR_RANDOM_FT = 0x0016,	/* a name only, as the two below */
	SA_ATTR_MULTICAST_FT = 0x0017,
	SA_ATTR_SM_INFO = 0x0018,
	SA_ATTR_LINK = 0x0020,
	SA_ATTR_GUID_INFO = 0x0030,
	SA_ATTR_SERVICE = 0x0031,
	SA_ATTR_PKEY_TABLE = 0x0033,
	SA_ATTR_PATH = 0x0035,
	SA_ATTR_VL_ARB = 0x0036,
	SA_ATTR_MC_MEMBER = 0x0038,
	SA_ATTR_TRACE = 0x0039,
	SA_ATTR_MULTI_PATH = 0x003a,
	SA_ATTR_SERVICE_ASSOCIATION = 0x003b,
	SA_ATTR_INFORM_INFO_RECORD = 0x00f3,
	SA_ATTR_STATE = 0xff10,	/* of one minism to another: sm/standby.h */
};

/* The class-specific part of a status, IBA 15.2.2.1. Statuses of enum
 * mad_status go with these. */
enum sa_status {
	SA_STATUS_NO_RESOURCES = 0x0100,
	SA_STATUS_REQ_INVALID = 0x0200,
	SA_STATUS_NO_RECORDS = 0x0300,
	SA_STATUS_TOO_MANY = 0x0400,
	SA_STATUS_INVALID_GID = 0x0500,
	SA_STATUS_INSUFFICIENT = 0x0600,
	SA_STATUS_DENIED = 0x0700,
};

struct sa_header {
	struct mad_header mad;	/* status: all 16 bits */
	uint64_t sm_key;
	uint64_t comp_mask;
	uint16_t attr_offset;	/* 8 bytes each */
};

/* False if there are fewer than MAD_SIZE bytes or the class is another. */
bool sa_header_read(const uint8_t *mad, size_t len, struct sa_header *h);

/* Turns a request in place into its answer: method, status, AttributeOffset
 * (of the record of `attr_id`), no RMPP; SM_Key is cleared, data stay. */
void sa_make_response(uint8_t mad[MAD_SIZE], unsigned status);

/* False of answers, and of messages without one: Trap, TrapRepress, Report. */
bool sa_is_request(unsigned method);

/* A request of our own (a Report); TID 0, data zero. */
void sa_build(uint8_t mad[MAD_SIZE], unsigned method, unsigned attr_id);
void sa_set_sm_key(uint8_t mad[MAD_SIZE], uint64_t sm_key);

const char *sa_attr_name(unsigned attr_id);	/* "PathRecord", "?" */

/* Bytes of a record in a table: a multiple of 8; 0 if there is no such
 * attribute. */
size_t sa_record_size(unsigned attr_id);

/*
 * Components of a record in the order of the mask's bits (IBA 15.2.5): bit n
 * of a ComponentMask is fields[n]. NULL for an attribute without any.
 */
const struct mad_field *sa_fields(unsigned attr_id, unsigned *n);

#define SA_BIT(n)	(UINT64_C(1) << (n))

/* The plain components that a record must have: (record & mask) == value. */
struct sa_match {
	size_t len;		/* bytes to be looked at */
	uint8_t mask[SA_DATA_LEN];
	uint8_t value[SA_DATA_LEN];
};

/* wanted: the record of the request, sa_record_size() bytes at least. Bits of
 * comp_mask that this attribute has no component for are ignored. */
void sa_match_init(struct sa_match *m, unsigned attr_id, uint64_t comp_mask,
		   const uint8_t *wanted);
bool sa_match_test(const struct sa_match *m, const uint8_t *record);

#endif
