// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subnet management agent of a node (IBA 14.3).
 *
 * An SMP is checked in this order: versions, method, M_Key, then its attribute.
 * A wrong M_Key gets no answer (14.2.4): the violation is counted, trap 256 is
 * sent, and the lease period, if there is one, begins. When it expires the
 * protection is off; a correct key stops it.
 *
 *	protection	Get			Set, TrapRepress
 *	0		free			needs the key
 *	1		free, M_Key reads 0	needs the key
 *	2, 3		needs the key		needs the key
 *
 * Of a switch, port 0 has the key for all ports.
 *
 * An answer with an error status carries the data of the request; nothing of
 * a Set that has one bad component is applied.
 */
#include "lab/sim/state.h"

#include <string.h>

#define SMP_BASE_VERSION	1
#define SMP_CLASS_VERSION	1
#define NS_PER_S		1000000000

/* ExtendedPortInfo, which ibportstate reads of devices of this vendor: all zero,
 * no speed of the vendor's own */
#define VENDOR_MELLANOX		0x2c9
#define ATTR_VENDOR_PORT_INFO	0xff90

static bool
admits(struct sim *sim, const struct sim_packet *p)
{
	struct sim_port *key = &sim->ports[sim_end_port(sim, p->to)];

	if (key->lease_end && sim->now >= key->lease_end) {
		key->lease_end = 0;
		key->info.m_key_protect = 0;
	}
	if (!key->info.m_key)
		return true;
	if (smp_m_key(p->mad) == key->info.m_key) {
		key->lease_end = 0;
		return true;
	}
	if (p->h.method == MAD_METHOD_GET && key->info.m_key_protect < 2)
		return true;
	if (key->info.m_key_violations < UINT16_MAX)
		key->info.m_key_violations++;
	if (key->info.m_key_lease && !key->lease_end)
		key->lease_end = sim->now +
			(int64_t)key->info.m_key_lease * NS_PER_S;
	sim->stats.lost_at_node++;
	sim_trap_raise(sim, p->to, 256, p);
	return false;
}

/* Read-only components (IBA 14.2.5.4) are ignored. */
static unsigned
serve_switch_info(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	struct sim_node *node = sim_node_of(sim, p->to);
	/* IBA 14.2.5.6 */
	bool has_top = sim->ports[node->first_port].info.cap_mask &
		PORT_CAP_HAS_MCAST_FDB_TOP;
	struct switch_info want;
	uint16_t top;

	if (!sim_is_switch(node))
		return MAD_STATUS_BAD_ATTRIBUTE;
	if (p->h.attr_mod)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		switch_info_decode(data, &want);
		if (want.linear_fdb_top >= node->sw.linear_fdb_cap)
			return MAD_STATUS_BAD_VALUE;
		top = want.multicast_fdb_top;
		if (has_top && top != 0 && top != SIM_MCAST_TOP_NONE &&
		    (top < LID_MULTICAST_MIN ||
		     top - LID_MULTICAST_MIN >= node->sw.multicast_fdb_cap))
			return MAD_STATUS_BAD_VALUE;
		node->sw.linear_fdb_top = want.linear_fdb_top;
		node->sw.default_port = want.default_port;
		node->sw.default_mcast_primary = want.default_mcast_primary;
		node->sw.default_mcast_not_primary =
			want.default_mcast_not_primary;
		node->sw.life_time = want.life_time;
		if (has_top)
			node->sw.multicast_fdb_top = top;
		/* writing 1 clears */
		if (want.port_state_change)
			node->sw.port_state_change = false;
	}
	switch_info_encode(data, &node->sw);
	return MAD_STATUS_OK;
}

uint32_t
sim_agent_answer(struct sim *sim, struct sim_packet *p)
{
	uint8_t *data = smp_data(p->mad);
	const struct sim_node *node = sim_node_of(sim, p->to);
	uint32_t end = sim_end_port(sim, p->to);
	struct node_info info;
	bool get;

	if (p->h.base_version != SMP_BASE_VERSION ||
	    p->h.class_version != SMP_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	if (p->h.method != MAD_METHOD_GET && p->h.method != MAD_METHOD_SET &&
	    p->h.method != MAD_METHOD_TRAP_REPRESS)
		return MAD_STATUS_BAD_METHOD;
	if (!admits(sim, p))
		return SIM_NO_ANSWER;
	if (p->h.method == MAD_METHOD_TRAP_REPRESS) {
		sim_trap_end(sim, end, &p->h.tid);
		return SIM_NO_ANSWER;
	}
	/* The answer to a Set that is not done has the old values. */
	if (node->mood == SIM_MOOD_FORGETFUL)
		p->h.method = MAD_METHOD_GET;
	get = p->h.method == MAD_METHOD_GET;
	switch (p->h.attr_id) {
	case MAD_ATTR_NODE_DESC:
		if (get)
			memcpy(data, node->desc, NODE_DESC_LEN);
		return get ? MAD_STATUS_OK : MAD_STATUS_BAD_ATTRIBUTE;
	case MAD_ATTR_NODE_INFO:
		if (!get)
			return MAD_STATUS_BAD_ATTRIBUTE;
		info = node->info;
		info.local_port = sim->ports[p->to].num;
		info.port_guid = sim->ports[end].guid;
		node_info_encode(data, &info);
		return MAD_STATUS_OK;
	case MAD_ATTR_SWITCH_INFO:
		return serve_switch_info(sim, p, data);
	case MAD_ATTR_PORT_INFO:
		return sim_port_info_serve(sim, p, data);
	case ATTR_VENDOR_PORT_INFO:
		if (node->info.vendor_id != VENDOR_MELLANOX)
			break;
		memset(data, 0, SMP_DATA_LEN);
		return MAD_STATUS_OK;
	}
	return sim_table_serve(sim, p, data);
}
