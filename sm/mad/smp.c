// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subnet management packets: requests and their answers.
 *
 * An SMP is the common header, then (IBA 14.2.1)
 *
 *	 24 M_Key
 *	 32 DrSLID, 34 DrDLID	(directed route only)
 *	 64 the attribute, 64 bytes
 *	128 InitialPath, 192 ReturnPath (directed route only), 64 bytes each
 *
 * The requests built here route by directed hops all the way: DrSLID and
 * DrDLID are permissive, so no forwarding table matters (14.2.2.1). Hop 0 of
 * InitialPath is not used. One SMP is built for every request of a sweep, so
 * the few fields are stored by hand.
 */
#include "sm/mad/smp.h"

#include <glib.h>
#include <infiniband/mad.h>
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/mad/mad_field.h"
#include "sm/mad/sa_mad.h"

#define SMP_VERSION	1	/* ClassVersion, IBA 14.2.1 */

#define OFF_HOP_COUNT	7
#define OFF_M_KEY	24
#define OFF_DR_SLID	32
#define OFF_DR_DLID	34

#define DIRECTION_BIT	0x8000u

static void
build(uint8_t mad[MAD_SIZE], enum mad_class mgmt_class,
      enum mad_method method, enum mad_attr attr_id, uint32_t attr_mod,
      uint64_t m_key)
{
	mad_build(mad, mgmt_class, SMP_VERSION, method, attr_id);
	bytes_store32(mad + MAD_OFF_ATTR_MOD, attr_mod);
	bytes_store64(mad + OFF_M_KEY, m_key);
}

void
smp_build_direct(uint8_t mad[MAD_SIZE], enum mad_method method,
		 enum mad_attr attr_id, uint32_t attr_mod,
		 uint64_t m_key, const struct dr_path *path)
{
	g_assert(path->hops <= DR_MAX_HOPS);

	build(mad, MAD_CLASS_SMP_DIRECT, method, attr_id, attr_mod, m_key);
	mad[OFF_HOP_COUNT] = path->hops;
	bytes_store16(mad + OFF_DR_SLID, LID_PERMISSIVE);
	bytes_store16(mad + OFF_DR_DLID, LID_PERMISSIVE);
	memcpy(mad + SMP_INITIAL_PATH + 1, path->port + 1, path->hops);
}

void
smp_build_lid(uint8_t mad[MAD_SIZE], enum mad_method method,
	      enum mad_attr attr_id, uint32_t attr_mod, uint64_t m_key)
{
	build(mad, MAD_CLASS_SMP_LID, method, attr_id, attr_mod, m_key);
}

/*
 * IBA 13.4.5: a Trap is answered by TrapRepress, which is no response by its
 * R bit; Get and Set are answered by GetResp. HopPointer stays: where the
 * request ended is where the answer starts (14.2.2.3).
 */
void
smp_make_response(uint8_t mad[MAD_SIZE], unsigned status)
{
	mad[MAD_OFF_METHOD] = mad[MAD_OFF_METHOD] == MAD_METHOD_TRAP ?
		MAD_METHOD_TRAP_REPRESS : MAD_METHOD_GET_RESP;
	if (mad[1] == MAD_CLASS_SMP_DIRECT)
		status |= DIRECTION_BIT;
	bytes_store16(mad + MAD_OFF_STATUS, status);
}

void
smp_set_m_key(uint8_t mad[MAD_SIZE], uint64_t m_key)
{
	bytes_store64(mad + OFF_M_KEY, m_key);
}

uint64_t
smp_m_key(const uint8_t mad[MAD_SIZE])
{
	return bytes_load64(mad + OFF_M_KEY);
}

/*
 * The attributes of SMPs: 64 bytes <-> host structs.
 *
 * NodeInfo, SwitchInfo, PortInfo and SMInfo are the SA records of the same name
 * without their key fields, so the tables of mad_tables.c serve both.
 *
 * Notice is read only: the subnet manager never sends one to itself. Its
 * DataDetails depend on the trap number (13.4.8.2, 14.2.5.1), and where the
 * LID stands in them with it.
 */

#define CODEC(type, attr_id) \
void \
type##_decode(const uint8_t data[SMP_DATA_LEN], struct type *i) \
{ \
	mad_fields_decode(mad_attr_table(attr_id), MAD_FIELD_ATTR_BASE, data, \
			  i); \
} \
\
void \
type##_encode(uint8_t data[SMP_DATA_LEN], const struct type *i) \
{ \
	memset(data, 0, SMP_DATA_LEN); \
	mad_fields_encode(mad_attr_table(attr_id), MAD_FIELD_ATTR_BASE, data, \
			  i); \
}

CODEC(node_info, SA_ATTR_NODE)
CODEC(switch_info, SA_ATTR_SWITCH_INFO)
CODEC(port_info, SA_ATTR_PORT_INFO)
CODEC(sm_info, SA_ATTR_SM_INFO)

#define TRAP_PORT_OFFSET	14	/* PORTNO of traps 129 to 131 */
#define TRAP_M_KEY_OFFSET	24u	/* in trap 256 */

void
notice_decode(const uint8_t data[SMP_DATA_LEN], struct notice *n)
{
	uint8_t *wire = (uint8_t *)data;

	memset(n, 0, sizeof(*n));
	n->generic = mad_get_field(wire, 0, IB_NOTICE_IS_GENERIC_F);
	n->type = mad_get_field(wire, 0, IB_NOTICE_TYPE_F);
	n->issuer_lid = mad_get_field(wire, 0, IB_NOTICE_ISSUER_LID_F);
	/* else these bytes are a vendor's ID and its device's */
	if (!n->generic)
		return;

	n->producer = mad_get_field(wire, 0, IB_NOTICE_PRODUCER_F);
	n->trap = mad_get_field(wire, 0, IB_NOTICE_TRAP_NUMBER_F);
	if (n->trap == 128)
		n->lid = mad_get_field(wire, 0, IB_NOTICE_DATA_LID_F);
	if ((n->trap >= 129 && n->trap <= 131) || n->trap == 144 ||
	    n->trap == 145)
		n->lid = mad_get_field(wire, 0, IB_NOTICE_DATA_144_LID_F);
	if (n->trap >= 129 && n->trap <= 131)
		n->port = data[TRAP_PORT_OFFSET];
}

void
notice_hide_m_key(uint8_t data[SMP_DATA_LEN])
{
	struct notice n;

	notice_decode(data, &n);
	if (n.generic && n.trap == 256)
		memset(data + TRAP_M_KEY_OFFSET, 0, 8);
}

/* IBA 14.2.5.1, table of traps */
static const struct {
	uint16_t trap;
	const char *name;
} traps[] = {
	{ 64, "GID in service" },
	{ 65, "GID out of service" },
	{ 66, "multicast group created" },
	{ 67, "multicast group deleted" },
	{ 128, "link state change" },
	{ 129, "local link integrity" },
	{ 130, "excessive buffer overrun" },
	{ 131, "flow control update watchdog" },
	{ 144, "capability mask or node description change" },
	{ 145, "system image GUID change" },
	{ 256, "bad M_Key" },
	{ 257, "bad P_Key" },
	{ 258, "bad Q_Key" },
	{ 259, "bad P_Key at a switch port" },
};

const char *
notice_trap_name(unsigned trap)
{
	for (size_t i = 0; i < G_N_ELEMENTS(traps); i++)
		if (traps[i].trap == trap)
			return traps[i].name;
	return "?";
}

/*
 * Tables of ports as SMPs carry them.
 *
 *	table	a block is			AttributeModifier
 *	P_Key	32 P_Keys of 16 bits		port << 16 | block
 *	SL2VL	16 VLs of 4 bits, by SL		port of entry << 8 | of exit
 *	VLArb	32 of 4 reserved bits, VL,	block + 1 << 16 | port
 *		weight
 *
 * The port is that of a switch; a CA or router has these bits 0, as the SMP
 * came to the very port that is meant.
 *
 * Source: IBA 1.4, 14.2.5.7 to 14.2.5.9.
 */

enum mad_attr
smp_table_attr(enum port_table table)
{
	static const enum mad_attr attrs[PORT_N_TABLES] = {
		[PORT_TABLE_PKEY] = MAD_ATTR_PKEY_TABLE,
		[PORT_TABLE_SL2VL] = MAD_ATTR_SL2VL,
		[PORT_TABLE_VL_ARB] = MAD_ATTR_VL_ARB,
	};

	return attrs[table];
}

uint32_t
smp_table_modifier(enum port_table table, unsigned num, unsigned block)
{
	switch (table) {
	case PORT_TABLE_PKEY:
		return num << 16 | block;
	case PORT_TABLE_SL2VL:
		return block << 8 | num;
	case PORT_TABLE_VL_ARB:
		return (block + 1) << 16 | num;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

void
smp_table_decode(enum port_table table, const uint8_t data[SMP_DATA_LEN],
		 union port_block *out)
{
	memset(out, 0, sizeof(*out));
	switch (table) {
	case PORT_TABLE_PKEY:
		for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
			out->pkeys[i] = (uint16_t)bytes_load(data + 2 * i, 2);
		return;
	case PORT_TABLE_SL2VL:
		for (unsigned sl = 0; sl < SL_COUNT; sl += 2) {
			out->vl[sl] = data[sl / 2] >> 4;
			out->vl[sl + 1] = data[sl / 2] & 0xf;
		}
		return;
	case PORT_TABLE_VL_ARB:
		memcpy(out->bytes, data, SMP_DATA_LEN);
		for (unsigned i = 0; i < VL_ARB_ENTRIES; i++)
			out->arb[i].vl &= 0xf;
		return;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

void
smp_table_encode(enum port_table table, uint8_t data[SMP_DATA_LEN],
		 const union port_block *block)
{
	memset(data, 0, SMP_DATA_LEN);
	switch (table) {
	case PORT_TABLE_PKEY:
		for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
			bytes_store(data + 2 * i, block->pkeys[i], 2);
		return;
	case PORT_TABLE_SL2VL:
		for (unsigned sl = 0; sl < SL_COUNT; sl += 2)
			data[sl / 2] = (uint8_t)(block->vl[sl] << 4 |
						 (block->vl[sl + 1] & 0xf));
		return;
	case PORT_TABLE_VL_ARB:
		memcpy(data, block->bytes, SMP_DATA_LEN);
		return;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}
