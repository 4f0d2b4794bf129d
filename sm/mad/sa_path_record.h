/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PathRecord and MultiPathRecord: bytes <-> host structs (IBA 15.2.5.16,
 * 15.2.5.20), and what goes with them: selectors and rates.
 */
#ifndef MINISM_MAD_SA_PATH_RECORD_H
#define MINISM_MAD_SA_PATH_RECORD_H

#include "sm/mad/sa_match.h"
#include "topology/smp_attr.h"

/* Selectors of MTU, rate and life time, IBA 15.2.5.16 */
enum sa_selector {
	SA_GREATER = 0,
	SA_LESS = 1,
	SA_EXACTLY = 2,
	SA_LARGEST = 3,		/* of a life time: the smallest */
};

/* Rate codes in the order of their speed, since the codes are in none: <0, 0,
 * >0. Codes that IBA does not have are slower than any. */
int sa_rate_compare(unsigned a, unsigned b);
unsigned sa_rate_mbps(unsigned rate);		/* 0: no such rate */
/* Of a link: from its active width and speeds; 0 if they make none. */
unsigned sa_rate_of(const struct port_info *info);

/* ComponentMask bits that somebody asks for by name. */
enum {
	PATH_DGID = 2, PATH_SGID = 3, PATH_DLID = 4, PATH_SLID = 5,
	PATH_RAW = 6, PATH_FLOW_LABEL = 8, PATH_HOP_LIMIT = 9,
	PATH_TCLASS = 10, PATH_REVERSIBLE = 11, PATH_NUMB_PATH = 12,
	PATH_PKEY = 13, PATH_QOS_CLASS = 14, PATH_SL = 15,
	PATH_MTU_SELECTOR = 16, PATH_MTU = 17, PATH_RATE_SELECTOR = 18,
	PATH_RATE = 19, PATH_LIFE_SELECTOR = 20, PATH_LIFE = 21,
	MULTI_RAW = 0, MULTI_FLOW_LABEL = 2, MULTI_HOP_LIMIT = 3,
	MULTI_TCLASS = 4, MULTI_REVERSIBLE = 5, MULTI_NUMB_PATH = 6,
	MULTI_PKEY = 7, MULTI_QOS_CLASS = 8, MULTI_SL = 9,
	MULTI_MTU_SELECTOR = 10, MULTI_MTU = 11, MULTI_RATE_SELECTOR = 12,
	MULTI_RATE = 13, MULTI_LIFE_SELECTOR = 14, MULTI_LIFE = 15,
	MULTI_INDEPENDENCE = 17, MULTI_SGID_COUNT = 19,
	MULTI_DGID_COUNT = 20,
};

struct path_record {
	uint64_t service_id;
	uint8_t dgid[16], sgid[16];
	uint16_t dlid, slid;
	bool raw;
	uint32_t flow_label;	/* 20 bits */
	uint8_t hop_limit;
	uint8_t tclass;
	bool reversible;
	uint8_t numb_path;	/* 7 bits */
	uint16_t pkey;
	uint16_t qos_class;	/* 12 bits */
	uint8_t sl;
	uint8_t mtu_selector, mtu;
	uint8_t rate_selector, rate;
	uint8_t life_selector, life;
	uint8_t preference;
};
void path_record_decode(const uint8_t *data, struct path_record *r);
void path_record_encode(uint8_t *data, const struct path_record *r);

/* What is asked for is in `path`; the GIDs follow the fixed part of 24 bytes:
 * first the sources. */
#define MULTI_PATH_GIDS_OFFSET	24u
struct multi_path_record {
	struct path_record path;	/* its GIDs and LIDs mean nothing */
	uint8_t independence;
	uint8_t n_sgids, n_dgids;
};
void multi_path_record_decode(const uint8_t *data,
			      struct multi_path_record *r);
void multi_path_record_encode(uint8_t *data,
			      const struct multi_path_record *r);

#endif
