/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What clients leave with the SA, and are told by it: bytes <-> host structs of
 * MCMemberRecord, ServiceRecord, InformInfo, Notice, ClassPortInfo (IBA 13.4.8,
 * 15.2.5).
 */
#ifndef MINISM_MAD_SA_CLIENT_RECORD_H
#define MINISM_MAD_SA_CLIENT_RECORD_H

#include "sm/mad/sa_match.h"

/* ComponentMask bits that somebody asks for by name. */
enum {
	MCM_MGID = 0, MCM_PORT_GID = 1, MCM_Q_KEY = 2, MCM_MLID = 3,
	MCM_MTU_SELECTOR = 4, MCM_MTU = 5, MCM_TCLASS = 6, MCM_PKEY = 7,
	MCM_RATE_SELECTOR = 8, MCM_RATE = 9, MCM_LIFE_SELECTOR = 10,
	MCM_LIFE = 11, MCM_SL = 12, MCM_FLOW_LABEL = 13,
	MCM_HOP_LIMIT = 14, MCM_SCOPE = 15, MCM_JOIN_STATE = 16,
	MCM_PROXY_JOIN = 17,
	SERVICE_ID = 0, SERVICE_GID = 1, SERVICE_PKEY = 2,
	SERVICE_LEASE = 4, SERVICE_KEY = 5, SERVICE_NAME = 6,
};

struct mcmember_record {
	uint8_t mgid[16], port_gid[16];
	uint32_t q_key;
	uint16_t mlid;
	uint8_t mtu_selector, mtu;
	uint8_t tclass;
	uint16_t pkey;
	uint8_t rate_selector, rate;
	uint8_t life_selector, life;
	uint8_t sl;
	uint32_t flow_label;	/* 20 bits */
	uint8_t hop_limit;
	uint8_t scope;
	uint8_t join_state;
	bool proxy_join;
};
void mcmember_record_decode(const uint8_t *data, struct mcmember_record *r);
void mcmember_record_encode(uint8_t *data, const struct mcmember_record *r);

struct service_record {
	uint64_t id;
	uint8_t gid[16];
	uint16_t pkey;
	uint32_t lease;		/* s; 0xffffffff: for ever */
	uint8_t key[16];
	char name[64];		/* not terminated if it is full */
	uint8_t data[64];	/* ServiceData8.1 .. 64.2, as on the wire */
};
void service_record_decode(const uint8_t *data, struct service_record *r);
void service_record_encode(uint8_t *data, const struct service_record *r);

/* IBA 13.4.8.3 */
#define INFORM_LEN	36u
struct inform_info {
	uint8_t gid[16];
	uint16_t lid_begin, lid_end;
	bool generic;
	uint8_t subscribe;	/* 1: yes, 0: no; others are invalid */
	uint16_t type;		/* 0xffff: all */
	uint16_t trap;		/* or device ID; 0xffff: all */
	uint32_t qpn;		/* 24 bits */
	uint8_t resp_time;	/* 5 bits */
	uint32_t producer;	/* or vendor; 24 bits, 0xffffff: all */
};
void inform_info_decode(const uint8_t *data, struct inform_info *i);
void inform_info_encode(uint8_t *data, const struct inform_info *i);

struct inform_info_record {
	uint8_t subscriber_gid[16];
	uint16_t index;		/* Enum */
	struct inform_info info;
};
void inform_info_record_decode(const uint8_t *data,
			       struct inform_info_record *r);
void inform_info_record_encode(uint8_t *data,
			       const struct inform_info_record *r);

/* A Notice that the SM makes itself about a GID: traps 64 to 67 (IBA 14.4.10),
 * 64 bytes; behind them in a Report stands IssuerGID. */
#define NOTICE_LEN	64u
#define NOTICE_ISSUER_OFFSET	64u
void notice_build_gid(uint8_t data[NOTICE_LEN], uint16_t trap,
		      uint16_t issuer_lid, const uint8_t gid[16]);

/* ClassPortInfo, IBA 13.4.8.1, 72 bytes: what the SA says of itself. */
struct sa_class_info {
	uint16_t cap_mask;
	uint32_t cap_mask2;	/* 27 bits */
	uint8_t resp_time;	/* 5 bits */
};
void sa_class_info_encode(uint8_t *data, const struct sa_class_info *i);
void sa_class_info_decode(const uint8_t *data, struct sa_class_info *i);

#endif
