// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The way of a packet by LID: for those that really move (move.c) and for
 * probes (probe.c). It depends on nothing but what the devices hold.
 *
 * At each switch (IBA 18.2.4): a LID above LinearFDBTop has no port; port 0
 * is the switch itself; 255 and ports that are not there drop. Out of a port
 * a data packet needs a link that is Active at both ends, an admitted P_Key
 * where the port enforces partitions (18.2.4.2.1, outbound, then inbound on
 * the other side), and an SL that maps to a VL which is in operation (7.6.6);
 * 15 says drop. SMPs travel on VL15: the link must be in Init at least, and
 * neither keys nor SL matter.
 *
 * A P_Key must be in the sender's table as it is, and be admitted by the
 * receiver's: the same but for the membership bit, and one of the two is a
 * full member (10.9.3).
 */
#include "sm/sim/state.h"

bool
sim_owns_lid(const struct sim *sim, uint32_t port, uint16_t lid)
{
	const struct port_info *info = &sim->ports[port].info;

	return info->lid && lid >= info->lid &&
		lid < info->lid + (1u << info->lmc);
}

/* OperationalVLs as a number of data VLs (IBA 14.2.5.6) */
static unsigned
data_vls(const struct port_info *info)
{
	static const uint8_t n[] = { 1, 1, 2, 4, 8, 15 };

	return info->oper_vls < G_N_ELEMENTS(n) ? n[info->oper_vls] : 1;
}

static bool
is_usable(const struct sim *sim, uint32_t out, enum sim_lane lane)
{
	const struct sim_port *p = &sim->ports[out];
	unsigned need = lane == SIM_LANE_VL15 ? PORT_STATE_INIT :
		PORT_STATE_ACTIVE;

	return p->peer != SNAPSHOT_NONE && p->info.state >= need &&
		sim->ports[p->peer].info.state >= need;
}

enum sim_delivery
sim_walk_cross(const struct sim *sim, uint32_t out, unsigned in,
	       const struct sim_packet_kind *kind, uint8_t *vl)
{
	const struct sim_port *p = &sim->ports[out];
	bool switch_here = sim_is_switch(sim_node_of(sim, out));

	*vl = 15;
	if (!is_usable(sim, out, kind->lane))
		return SIM_NO_LINK;
	if (kind->lane == SIM_LANE_VL15)
		return SIM_DELIVERED;
	if (switch_here && p->info.enforce_outbound &&
	    !sim_table_admits_pkey(sim, out, kind->pkey))
		return SIM_BAD_PKEY;
	*vl = sim_table_vl(sim, out, switch_here ? in : 0, kind->sl);
	return *vl < data_vls(&p->info) ? SIM_DELIVERED : SIM_BAD_VL;
}

enum sim_delivery
sim_walk_enter(const struct sim *sim, uint32_t in,
	       const struct sim_packet_kind *kind)
{
	if (kind->lane == SIM_LANE_DATA && sim->ports[in].num &&
	    sim_is_switch(sim_node_of(sim, in)) &&
	    sim->ports[in].info.enforce_inbound &&
	    !sim_table_admits_pkey(sim, in, kind->pkey))
		return SIM_BAD_PKEY;
	return SIM_DELIVERED;
}

static enum sim_delivery
receive(const struct sim *sim, uint32_t end, uint16_t dlid,
	const struct sim_packet_kind *kind)
{
	if (!sim_owns_lid(sim, end, dlid))
		return SIM_WRONG_END;
	if (kind->lane == SIM_LANE_DATA &&
	    !sim_table_admits_pkey(sim, end, kind->pkey))
		return SIM_BAD_PKEY;
	return SIM_DELIVERED;
}

/* The port by which a packet leaves node; SNAPSHOT_NONE: it has none. */
static uint32_t
look_up(const struct sim *sim, uint32_t node_index, uint16_t dlid)
{
	const struct sim_node *node = &sim->nodes[node_index];
	uint8_t num = sim_lft_entry(sim, node_index, dlid);

	if (dlid > node->sw.linear_fdb_top || num > node->info.num_ports)
		return SNAPSHOT_NONE;
	return node->first_port + num;
}

static enum sim_delivery
depart(const struct sim *sim, uint32_t from, uint16_t dlid,
       const struct sim_packet_kind *kind)
{
	if (dlid == LID_NONE)
		return SIM_NO_LID;
	if (kind->lane == SIM_LANE_VL15)
		return SIM_DELIVERED;
	if (sim->ports[from].info.lid == LID_NONE)
		return SIM_NO_LID;
	if (!sim_table_has_pkey(sim, from, kind->pkey))
		return SIM_BAD_PKEY;
	return SIM_DELIVERED;
}

enum sim_delivery
sim_walk(const struct sim *sim, uint32_t from, uint16_t dlid,
	 const struct sim_packet_kind *kind, struct sim_trace *trace)
{
	uint32_t at = from;		/* the port of entry */
	enum sim_delivery d = depart(sim, from, dlid, kind);

	trace->n = 0;
	trace->end = from;
	if (d != SIM_DELIVERED)
		return d;
	if (sim_owns_lid(sim, from, dlid) ||
	    (dlid == LID_PERMISSIVE && kind->lane == SIM_LANE_VL15))
		return SIM_DELIVERED;
	if (dlid > LID_UNICAST_MAX)
		return SIM_NO_LID;
	for (;;) {
		bool in_switch = sim_is_switch(sim_node_of(sim, at));
		uint32_t out = in_switch ?
			look_up(sim, sim->ports[at].node, dlid) : at;

		if (out == SNAPSHOT_NONE)
			return SIM_NO_ROUTE;
		if (in_switch && sim->ports[out].num == 0)
			break;
		if (trace->n == SIM_HOPS_MAX)
			return SIM_LOOP;
		trace->end = out;
		trace->hop[trace->n].port = out;
		d = sim_walk_cross(sim, out, sim->ports[at].num, kind,
				   &trace->hop[trace->n].vl);
		if (d != SIM_DELIVERED)
			return d;
		trace->n++;
		at = trace->end = sim->ports[out].peer;
		d = sim_walk_enter(sim, at, kind);
		if (d != SIM_DELIVERED)
			return d;
		if (!sim_is_switch(sim_node_of(sim, at)))
			break;
	}
	trace->end = sim_end_port(sim, at);
	return receive(sim, trace->end, dlid, kind);
}
