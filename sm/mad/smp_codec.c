// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The attributes of SMPs: 64 bytes <-> host structs.
 *
 * NodeInfo, SwitchInfo, PortInfo and SMInfo are what the SA record of the same
 * name carries behind its key fields, so the tables of mad_field.c serve both.
 *
 * Notice is read only: the subnet manager never sends one to itself. Its
 * DataDetails depend on the trap number (13.4.8.2, 14.2.5.1), and where the
 * LID stands in them with it.
 */
#include "sm/mad/mad_field.h"
#include "sm/mad/notice.h"
#include "sm/mad/sa_mad.h"
#include "sm/mad/smp.h"

#include <glib.h>
#include <infiniband/mad.h>
#include <string.h>

static void
attr_decode(unsigned attr_id, const uint8_t *data, void *host)
{
	mad_fields_decode(mad_attr_table(attr_id), MAD_FIELD_ATTR_BASE, data,
			  host);
}

static void
attr_encode(unsigned attr_id, uint8_t *data, const void *host)
{
	memset(data, 0, SMP_DATA_LEN);
	mad_fields_encode(mad_attr_table(attr_id), MAD_FIELD_ATTR_BASE, data,
			  host);
}

void
node_info_decode(const uint8_t data[SMP_DATA_LEN], struct node_info *i)
{
	attr_decode(SA_ATTR_NODE, data, i);
}

void
node_info_encode(uint8_t data[SMP_DATA_LEN], const struct node_info *i)
{
	attr_encode(SA_ATTR_NODE, data, i);
}

void
switch_info_decode(const uint8_t data[SMP_DATA_LEN], struct switch_info *i)
{
	attr_decode(SA_ATTR_SWITCH_INFO, data, i);
}

void
switch_info_encode(uint8_t data[SMP_DATA_LEN], const struct switch_info *i)
{
	attr_encode(SA_ATTR_SWITCH_INFO, data, i);
}

void
port_info_decode(const uint8_t data[SMP_DATA_LEN], struct port_info *i)
{
	attr_decode(SA_ATTR_PORT_INFO, data, i);
}

void
port_info_encode(uint8_t data[SMP_DATA_LEN], const struct port_info *i)
{
	attr_encode(SA_ATTR_PORT_INFO, data, i);
}

void
sm_info_decode(const uint8_t data[SMP_DATA_LEN], struct sm_info *i)
{
	attr_decode(SA_ATTR_SM_INFO, data, i);
}

void
sm_info_encode(uint8_t data[SMP_DATA_LEN], const struct sm_info *i)
{
	attr_encode(SA_ATTR_SM_INFO, data, i);
}

const char *
sm_state_name(unsigned state)
{
	static const char *const names[] = {
		[SM_STATE_NOT_ACTIVE] = "not active",
		[SM_STATE_DISCOVERING] = "discovering",
		[SM_STATE_STANDBY] = "standby",
		[SM_STATE_MASTER] = "master",
	};

	return state < G_N_ELEMENTS(names) ? names[state] : "?";
}

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
	if ((n->trap >= 129 && n->trap <= 131) || n->trap == 144)
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
