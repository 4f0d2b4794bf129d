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
#include "sm/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#define SMP_BASE_VERSION	1
#define SMP_CLASS_VERSION	1
#define NS_PER_S		1000000000
#define GUIDS_PER_BLOCK		8u
#define GUID_LEN		8u

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

static bool
switch_set_is_valid(const struct sim *sim, const struct sim_node *node,
		    const struct switch_info *want)
{
	uint16_t top = want->multicast_fdb_top;

	if (want->linear_fdb_top >= node->sw.linear_fdb_cap)
		return false;
	if (!sim_has_mcast_top(sim, node) || top == 0 ||
	    top == SIM_MCAST_TOP_NONE)
		return true;
	return top >= LID_MULTICAST_MIN &&
		top - LID_MULTICAST_MIN < node->sw.multicast_fdb_cap;
}

/* Read-only components (IBA 14.2.5.4) are ignored. */
static unsigned
serve_switch_info(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	struct sim_node *node = sim_node_of(sim, p->to);
	struct switch_info want;

	if (!sim_is_switch(node))
		return MAD_STATUS_BAD_ATTRIBUTE;
	if (p->h.attr_mod)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		switch_info_decode(data, &want);
		if (!switch_set_is_valid(sim, node, &want))
			return MAD_STATUS_BAD_VALUE;
		node->sw.linear_fdb_top = want.linear_fdb_top;
		node->sw.default_port = want.default_port;
		node->sw.default_mcast_primary = want.default_mcast_primary;
		node->sw.default_mcast_not_primary =
			want.default_mcast_not_primary;
		node->sw.life_time = want.life_time;
		if (sim_has_mcast_top(sim, node))
			node->sw.multicast_fdb_top = want.multicast_fdb_top;
		/* writing 1 clears */
		if (want.port_state_change)
			node->sw.port_state_change = false;
	}
	switch_info_encode(data, &node->sw);
	return MAD_STATUS_OK;
}

/* GUID 0 is the PortGUID; writes to it are ignored (IBA 14.2.5.5). */
static unsigned
serve_guid_info(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	struct sim_port *end = &sim->ports[sim_end_port(sim, p->to)];
	uint32_t block = p->h.attr_mod, first = block * GUIDS_PER_BLOCK;
	unsigned cap = end->info.guid_cap;
	unsigned blocks = (MAX(cap, 1) + GUIDS_PER_BLOCK - 1) /
		GUIDS_PER_BLOCK;

	if (block >= blocks)
		return MAD_STATUS_BAD_VALUE;
	if (p->h.method == MAD_METHOD_SET) {
		if (!end->tables)
			end->tables = g_new0(struct sim_tables, 1);
		if (!end->tables->guids)
			end->tables->guids = g_malloc0_n(blocks,
							 SIM_TABLE_BLOCK);
		if (first < cap)
			memcpy(end->tables->guids[block], data,
			       MIN(cap - first, GUIDS_PER_BLOCK) * GUID_LEN);
	}
	memset(data, 0, SMP_DATA_LEN);
	if (end->tables && end->tables->guids)
		memcpy(data, end->tables->guids[block], SIM_TABLE_BLOCK);
	if (block == 0)
		bytes_store(data, end->guid, GUID_LEN);
	return MAD_STATUS_OK;
}

static unsigned
serve_attribute(struct sim *sim, struct sim_packet *p)
{
	uint8_t *data = smp_data(p->mad);
	const struct sim_node *node = sim_node_of(sim, p->to);
	struct node_info info;
	bool get;

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
		info.port_guid = sim->ports[sim_end_port(sim, p->to)].guid;
		node_info_encode(data, &info);
		return MAD_STATUS_OK;
	case MAD_ATTR_SWITCH_INFO:
		return serve_switch_info(sim, p, data);
	case MAD_ATTR_GUID_INFO:
		return serve_guid_info(sim, p, data);
	case MAD_ATTR_PORT_INFO:
		return sim_port_info_serve(sim, p, data);
	}
	return sim_table_serve(sim, p, data);
}

uint32_t
sim_agent_answer(struct sim *sim, struct sim_packet *p)
{
	if (p->h.base_version != SMP_BASE_VERSION ||
	    p->h.class_version != SMP_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	switch (p->h.method) {
	case MAD_METHOD_TRAP_REPRESS:
		if (admits(sim, p))
			sim_trap_repress(sim, sim_end_port(sim, p->to),
					 p->h.tid);
		return SIM_NO_ANSWER;
	case MAD_METHOD_GET:
	case MAD_METHOD_SET:
		return admits(sim, p) ? serve_attribute(sim, p) :
			SIM_NO_ANSWER;
	}
	return MAD_STATUS_BAD_METHOD;
}
