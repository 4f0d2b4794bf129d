/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet management packets and their attributes: bytes <-> host structs (IBA
 * 14.2).
 *
 * Decoders take the 64 bytes of the attribute; encoders write all 64 (reserved
 * bits become 0). A decoder returns the values on the wire: the caller checks
 * whether they make sense.
 */
#ifndef MINISM_MAD_SMP_H
#define MINISM_MAD_SMP_H

#include "sm/mad/mad.h"
#include "topology/port_tables.h"
#include "topology/smp_attr.h"

#define SMP_DATA_OFFSET	64u
#define SMP_DATA_LEN	64u

static inline uint8_t *
smp_data(uint8_t *mad)
{
	return mad + SMP_DATA_OFFSET;
}

static inline const uint8_t *
smp_data_const(const uint8_t *mad)
{
	return mad + SMP_DATA_OFFSET;
}

#define SMP_INITIAL_PATH	128	/* its offset; 64 bytes */

/* A request by directed route, permissive LIDs (IBA 14.2.1.2); TID 0, data
 * zero. */
void smp_build_direct(uint8_t mad[MAD_SIZE], enum mad_method method,
		      enum mad_attr attr_id, uint32_t attr_mod,
		      uint64_t m_key, const struct dr_path *path);

/* A LID-routed request; the LID is in the address for the transport. */
void smp_build_lid(uint8_t mad[MAD_SIZE], enum mad_method method,
		   enum mad_attr attr_id, uint32_t attr_mod, uint64_t m_key);

/* Turns the request in place into its answer: GetResp (TrapRepress for a
 * Trap), status; on a directed route the direction bit. The data stay. */
void smp_make_response(uint8_t mad[MAD_SIZE], unsigned status);

/* Of a PortInfo (IBA 14.2.5.6): the port number and, if `caps`, the
 * CapabilityMask of the port that has the LID, includes extended speeds,
 * SMSupportExtendedSpeeds: some devices report and accept them only then. */
#define SMP_PORT_INFO_EXT_SPEEDS	0x80000000u
static inline uint32_t
smp_port_info_modifier(unsigned num, uint32_t caps)
{
	return num | (caps & PORT_CAP_HAS_EXT_SPEEDS ?
		      SMP_PORT_INFO_EXT_SPEEDS : 0);
}

/* The place of the position in the modifier of a multicast table's block (IBA
 * 14.2.5.12). */
#define SMP_MFT_POSITION	28

uint64_t smp_m_key(const uint8_t mad[MAD_SIZE]);
void smp_set_m_key(uint8_t mad[MAD_SIZE], uint64_t m_key);

void node_info_decode(const uint8_t data[SMP_DATA_LEN], struct node_info *i);
void node_info_encode(uint8_t data[SMP_DATA_LEN], const struct node_info *i);
void switch_info_decode(const uint8_t data[SMP_DATA_LEN],
			struct switch_info *i);
void switch_info_encode(uint8_t data[SMP_DATA_LEN],
			const struct switch_info *i);
void port_info_decode(const uint8_t data[SMP_DATA_LEN], struct port_info *i);
void port_info_encode(uint8_t data[SMP_DATA_LEN], const struct port_info *i);

/* SMInfo, IBA 14.2.5.13 */
enum sm_state {
	SM_STATE_NOT_ACTIVE = 0,
	SM_STATE_DISCOVERING = 1,
	SM_STATE_STANDBY = 2,
	SM_STATE_MASTER = 3,
};

/* AttributeModifier of Set(SMInfo), IBA 14.4.1 */
enum sm_control {
	SM_CONTROL_HANDOVER = 1,
	SM_CONTROL_ACKNOWLEDGE = 2,
	SM_CONTROL_DISABLE = 3,
	SM_CONTROL_STANDBY = 4,
	SM_CONTROL_DISCOVER = 5,
};

#define SM_PRIORITY_MAX	15u

struct sm_info {
	uint64_t guid;		/* PortGUID of the SM's port */
	uint64_t sm_key;
	uint32_t act_count;
	uint8_t priority;	/* 0 to SM_PRIORITY_MAX */
	uint8_t state;		/* enum sm_state */
};

void sm_info_decode(const uint8_t data[SMP_DATA_LEN], struct sm_info *i);
void sm_info_encode(uint8_t data[SMP_DATA_LEN], const struct sm_info *i);
const char *sm_state_name(unsigned state);

/* The components of a Notice, the attribute of traps (IBA 13.4.8.2), that the SM
 * reads. */
struct notice {
	bool generic;
	uint8_t type;		/* 0 fatal .. 4 informational */
	uint32_t producer;	/* node type of the sender, if generic */
	uint16_t trap;		/* number, if generic */
	uint16_t issuer_lid;
	uint16_t lid;		/* at fault, in traps 128 to 131, 144, 145;
				   else 0 */
	uint8_t port;		/* in traps 129 to 131, else 0 */
};

void notice_decode(const uint8_t data[SMP_DATA_LEN], struct notice *n);
const char *notice_trap_name(unsigned trap);
/* Blanks the M_Key in trap 256: the key that was tried may be one of ours. */
void notice_hide_m_key(uint8_t data[SMP_DATA_LEN]);

/*
 * Tables of ports in SMPs (IBA 14.2.5.7 to .9): bytes <-> host values. A block
 * of a table is one SMP; which one is in the AttributeModifier.
 *
 * Decoders take the 64 bytes of the attribute and write the whole block, unused
 * values as 0; encoders write all 64 bytes.
 */

enum mad_attr smp_table_attr(enum port_table table);

/*
 * The AttributeModifier of a block of the table of a port. `num` is the number
 * of a switch port, 0 for the port of a CA or router.
 */
uint32_t smp_table_modifier(enum port_table table, unsigned num,
			    unsigned block);

void smp_table_decode(enum port_table table, const uint8_t data[SMP_DATA_LEN],
		      union port_block *out);
void smp_table_encode(enum port_table table, uint8_t data[SMP_DATA_LEN],
		      const union port_block *block);

#endif
