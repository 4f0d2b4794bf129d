/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * SA records: bytes <-> host structs (IBA 15.2.5). Lengths are those of
 * sa_record_size(); GIDs stay as on the wire.
 */
#ifndef MINISM_MAD_SA_RECORD_H
#define MINISM_MAD_SA_RECORD_H

#include "sm/mad/sa_mad.h"
#include "sm/mad/smp.h"

/*
 * Between the bytes of a record and the struct that goes with attr_id, by the
 * table of its components:
 *
 *	MCMemberRecord	  struct mcmember_record
 *	ServiceRecord	  struct service_record
 *	InformInfo	  struct inform_info
 *	InformInfoRecord  struct inform_info_record
 *	NodeRecord, PortInfoRecord, SwitchInfoRecord, SMInfoRecord: the struct
 *			  of their attribute; encode leaves the key fields 0
 *	others		  none: encode clears the record
 *
 * Encode writes sa_record_size() bytes; reserved bits become 0.
 */
void sa_record_decode(unsigned attr_id, const uint8_t *data, void *record);
void sa_record_encode(unsigned attr_id, uint8_t *data, const void *record);

/* Selectors of MTU, rate and life time, IBA 15.2.5.16 */
enum sa_selector {
	SA_GREATER = 0,
	SA_LESS = 1,
	SA_EXACTLY = 2,
	SA_LARGEST = 3,		/* of a life time: the smallest */
};

unsigned sa_rate_mbps(unsigned rate);		/* 0: no such rate */
/* The place of a rate by speed, since the codes are in no order: 1 for the
 * slowest; 0: no such rate. And back: a rank past the fastest is the fastest. */
unsigned sa_rate_rank(unsigned rate);
unsigned sa_rate_by_rank(unsigned rank);
/* Of a link: from its active width and speeds; 0 if they make none. */
unsigned sa_rate_of(const struct port_info *info);

/* ComponentMask bits that the code refers to. */
enum {
	PATH_DGID = 2, PATH_SGID = 3, PATH_DLID = 4, PATH_SLID = 5,
	PATH_RAW = 6, PATH_FLOW_LABEL = 8, PATH_HOP_LIMIT = 9,
	PATH_TCLASS = 10, PATH_REVERSIBLE = 11, PATH_NUMB_PATH = 12,
	PATH_PKEY = 13, PATH_QOS_CLASS = 14, PATH_SL = 15,
	PATH_MTU_SELECTOR = 16, PATH_MTU = 17, PATH_RATE_SELECTOR = 18,
	PATH_RATE = 19, PATH_LIFE_SELECTOR = 20, PATH_LIFE = 21,
	MULTI_RAW = 0, MULTI_FLOW_LABEL = 2, MULTI_NUMB_PATH = 6,
	MULTI_LIFE = 15, MULTI_SGID_COUNT = 19, MULTI_DGID_COUNT = 20,
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

/* The requested values are in `path`; the GIDs follow the fixed part of 24
 * bytes: first the sources. */
#define MULTI_PATH_GIDS_OFFSET	24u
struct multi_path_record {
	struct path_record path;	/* its GIDs and LIDs mean nothing */
	uint8_t independence;
	uint8_t n_sgids, n_dgids;
};
void multi_path_record_decode(const uint8_t *data,
			      struct multi_path_record *r);

/* The same of other records. */
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

struct service_record {
	uint64_t id;
	uint8_t gid[16];
	uint16_t pkey;
	uint32_t lease;		/* s; 0xffffffff: for ever */
	uint8_t key[16];
	char name[64];		/* not terminated if it is full */
	uint8_t data[64];	/* ServiceData8.1 .. 64.2, as on the wire */
};

/* IBA 13.4.8.3 */
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

struct inform_info_record {
	uint8_t subscriber_gid[16];
	uint16_t index;		/* Enum */
	struct inform_info info;
};

/* A Notice that the SM makes itself about a GID: traps 64 to 67 (IBA 14.4.10),
 * 64 bytes; in a Report IssuerGID follows. */
enum {
	NOTICE_GID_THERE = 64,		/* in service */
	NOTICE_GID_GONE = 65,
	NOTICE_GROUP_CREATED = 66,
	NOTICE_GROUP_DELETED = 67,
};
#define NOTICE_LEN	64u
#define NOTICE_ISSUER_OFFSET	64u
void notice_build_gid(uint8_t data[NOTICE_LEN], uint16_t trap,
		      uint16_t issuer_lid, const uint8_t gid[16]);

/* ClassPortInfo of the SA, IBA 13.4.8.1, 72 bytes; cap_mask2 has 27 bits,
 * resp_time 5. */
void sa_class_info_encode(uint8_t *data, uint16_t cap_mask, uint32_t cap_mask2,
			  uint8_t resp_time);

#endif
