/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The MAD: 256 bytes, a common header, big-endian (IBA 13.4.2). Endianness
 * ends in this folder. Lengths are checked here, before any byte is read.
 */
#ifndef MINISM_MAD_MAD_H
#define MINISM_MAD_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAD_SIZE	256u

enum mad_class {
	MAD_CLASS_SMP_LID = 0x01,
	MAD_CLASS_SA = 0x03,
	MAD_CLASS_PERF = 0x04,
	MAD_CLASS_SMP_DIRECT = 0x81,
};

enum mad_method {
	MAD_METHOD_GET = 0x01,
	MAD_METHOD_SET = 0x02,
	MAD_METHOD_TRAP = 0x05,
	MAD_METHOD_TRAP_REPRESS = 0x07,
	MAD_METHOD_GET_RESP = 0x81,
};
#define MAD_METHOD_RESPONSE	0x80u

#define MAD_BASE_VERSION	1u

/* Places in the header, bytes; see mad.c. */
#define MAD_OFF_METHOD		3u
#define MAD_OFF_STATUS		4u
#define MAD_OFF_ATTR_ID		16u
#define MAD_OFF_ATTR_MOD	20u

#define MAD_GSI_QKEY	0x80010000u	/* IBA 3.5.3, 10.2.4: of QP 1 */

/* Status, IBA 13.4.7; the class-specific high byte and, on directed routes,
 * the direction bit are not in it. */
enum mad_status {
	MAD_STATUS_OK = 0x0000,
	MAD_STATUS_BUSY = 0x0001,
	MAD_STATUS_BAD_VERSION = 0x0004,
	MAD_STATUS_BAD_METHOD = 0x0008,
	MAD_STATUS_BAD_ATTRIBUTE = 0x000c,
	MAD_STATUS_BAD_VALUE = 0x001c,
};

enum mad_attr {
	MAD_ATTR_NOTICE = 0x0002,
	MAD_ATTR_NODE_DESC = 0x0010,
	MAD_ATTR_NODE_INFO = 0x0011,
	MAD_ATTR_SWITCH_INFO = 0x0012,
	MAD_ATTR_GUID_INFO = 0x0014,
	MAD_ATTR_PORT_INFO = 0x0015,
	MAD_ATTR_PKEY_TABLE = 0x0016,
	MAD_ATTR_SL2VL = 0x0017,
	MAD_ATTR_VL_ARB = 0x0018,
	MAD_ATTR_LINEAR_FT = 0x0019,
	MAD_ATTR_MULTICAST_FT = 0x001b,
	MAD_ATTR_SM_INFO = 0x0020,
};

struct mad_header {
	uint64_t tid;
	uint32_t attr_mod;
	uint16_t attr_id;
	uint16_t status;	/* without the direction bit */
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint8_t hop_pointer, hop_count;	/* directed-route SMPs, else 0 */
	bool returning;			/* their direction bit */
};

/* False if there are fewer than MAD_SIZE bytes. Judges nothing else. */
bool mad_header_read(const uint8_t *mad, size_t len, struct mad_header *h);
/* A request: BaseVersion 1, all that is not named 0. */
void mad_build(uint8_t mad[MAD_SIZE], unsigned mgmt_class,
	       unsigned class_version, unsigned method, unsigned attr_id);
void mad_set_tid(uint8_t *mad, uint64_t tid);

/* Names for logs: "Get", "PortInfo", "invalid attribute value"; "?" if there is
 * none. Static. */
const char *mad_method_name(unsigned method);
const char *mad_attr_name(unsigned attr_id);
const char *mad_status_name(unsigned status);

#endif
