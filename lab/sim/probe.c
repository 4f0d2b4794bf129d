// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Probes: the path of a packet by LID, as for those that are moved (move.c). It
 * depends only on the tables and states of the devices.
 *
 * At each switch (IBA 18.2.4): a LID above LinearFDBTop has no port; port 0
 * is the switch itself; 255 and ports that are not there drop. Out of a port
 * a data packet needs a link that is Active at both ends, an admitted P_Key
 * where the port enforces partitions (18.2.4.2.1, outbound, then inbound on
 * the other side), and an SL that maps to a VL which is in operation (7.6.6)
 * and has a weight in VL arbitration (7.6.9); 15 says drop. SMPs travel on VL15:
 * the link must be in Init at least, and neither keys nor SL matter. Probes are
 * as long as NeighborMTU of each port that they leave by; MADs fit every one.
 *
 * A P_Key must be in the sender's table as it is, and be admitted by the
 * receiver's: the same but for the membership bit, and one of the two is a
 * full member (10.9.3).
 *
 * Multicast is followed breadth first over channels (one direction of a cable),
 * each once: a second copy on a channel is a loop, or two trees that join, and
 * both are errors.
 */
#include "lab/sim/state.h"

#include <string.h>

static const char *const delivery_names[] = {
	[SIM_DELIVERED] = "delivered",
	[SIM_NO_LID] = "no LID",
	[SIM_NO_LINK] = "no link",
	[SIM_NO_ROUTE] = "no route",
	[SIM_LOOP] = "loop",
	[SIM_WRONG_END] = "wrong end",
	[SIM_BAD_PKEY] = "bad P_Key",
	[SIM_BAD_VL] = "bad VL",
	[SIM_BAD_MTU] = "bad MTU",
};

const char *
sim_delivery_name(enum sim_delivery d)
{
	return (unsigned)d < SIM_N_DELIVERIES ? delivery_names[d] : "?";
}

static bool
owns_lid(const struct sim *sim, uint32_t port, uint16_t lid)
{
	const struct port_info *info = &sim->ports[port].info;

	return info->lid && lid >= info->lid &&
		lid < info->lid + (1u << info->lmc);
}

/* Across the link at `out`, having come into its node by port `in`. *to: the
 * port at the other end; SNAPSHOT_NONE: the packet is lost on this side. */
static enum sim_delivery
cross_link(const struct sim *sim, uint32_t out, unsigned in,
	   const struct sim_packet_kind *kind, uint8_t *vl, uint32_t *to)
{
	const struct sim_port *p = &sim->ports[out];
	bool switch_here = sim_is_switch(sim_node_of(sim, out));
	unsigned need = kind->lane == SIM_LANE_VL15 ? PORT_STATE_INIT :
		PORT_STATE_ACTIVE;

	*vl = 15;
	*to = SNAPSHOT_NONE;
	if (p->peer == SNAPSHOT_NONE || p->info.state < need ||
	    sim->ports[p->peer].info.state < need)
		return SIM_NO_LINK;
	if (kind->lane == SIM_LANE_DATA) {
		if (switch_here && p->info.enforce_outbound &&
		    !sim_table_admits_pkey(sim, out, kind->pkey))
			return SIM_BAD_PKEY;
		*vl = sim_table_vl(sim, out, switch_here ? in : 0, kind->sl);
		if (*vl >= sim_data_vls(sim, out) ||
		    !sim_table_vl_sends(sim, out, *vl))
			return SIM_BAD_VL;
	}
	*to = p->peer;
	if (kind->is_long && p->info.neighbor_mtu >
	    sim->ports[p->peer].info.neighbor_mtu)
		return SIM_BAD_MTU;
	return kind->lane == SIM_LANE_DATA && sim->ports[*to].num &&
		sim_is_switch(sim_node_of(sim, *to)) &&
		sim->ports[*to].info.enforce_inbound &&
		!sim_table_admits_pkey(sim, *to, kind->pkey) ?
		SIM_BAD_PKEY : SIM_DELIVERED;
}

enum sim_delivery
sim_walk(const struct sim *sim, uint32_t from, uint16_t dlid,
	 const struct sim_packet_kind *kind, struct sim_trace *trace)
{
	uint32_t at = from;		/* the port of entry */
	bool is_data = kind->lane == SIM_LANE_DATA;
	enum sim_delivery d;

	trace->n = 0;
	trace->end = from;
	if (dlid == LID_NONE ||
	    (is_data && sim->ports[from].info.lid == LID_NONE))
		return SIM_NO_LID;
	if (is_data && !sim_table_has_pkey(sim, from, kind->pkey))
		return SIM_BAD_PKEY;
	if (owns_lid(sim, from, dlid) || (dlid == LID_PERMISSIVE && !is_data))
		return SIM_DELIVERED;
	if (dlid > LID_UNICAST_MAX)
		return SIM_NO_LID;
	for (;;) {
		const struct sim_node *node = sim_node_of(sim, at);
		uint32_t out = at;

		if (sim_is_switch(node)) {
			uint8_t num = sim_lft_entry(sim, sim->ports[at].node,
						    dlid);

			if (dlid > node->sw.linear_fdb_top ||
			    num > node->info.num_ports)
				return SIM_NO_ROUTE;
			if (num == 0)
				break;
			out = node->first_port + num;
		}
		if (trace->n == SIM_HOPS_MAX)
			return SIM_LOOP;
		trace->end = out;
		trace->hop[trace->n].port = out;
		d = cross_link(sim, out, sim->ports[at].num, kind,
			       &trace->hop[trace->n].vl, &at);
		if (at == SNAPSHOT_NONE)
			return d;
		trace->n++;
		trace->end = at;
		if (d != SIM_DELIVERED)
			return d;
		if (!sim_is_switch(sim_node_of(sim, at)))
			break;
	}
	trace->end = sim_end_port(sim, at);
	if (!owns_lid(sim, trace->end, dlid))
		return SIM_WRONG_END;
	if (is_data && !sim_table_admits_pkey(sim, trace->end, kind->pkey))
		return SIM_BAD_PKEY;
	return SIM_DELIVERED;
}

enum sim_delivery
sim_probe(const struct sim *sim, uint32_t from, uint16_t dlid, uint16_t pkey,
	  unsigned sl, struct sim_trace *trace)
{
	const struct sim_packet_kind kind = {
		.lane = SIM_LANE_DATA, .pkey = pkey, .sl = sl, .is_long = true,
	};
	struct sim_trace unwanted;

	g_assert(sl < 16);
	if (sim_node_of(sim, from)->power == SIM_POWER_OFF)
		return SIM_NO_LINK;
	return sim_walk(sim, from, dlid, &kind, trace ? trace : &unwanted);
}

/* ------------------------------------------------------------- multicast */

struct spread {
	const struct sim *sim;
	struct sim_packet_kind kind;
	struct sim_mcast *out;
	GArray *todo;		/* uint32_t ports by which copies came in */
	uint8_t *taken;		/* by port: a copy went out of it */
	uint16_t mlid;
};

static void
copy_out(struct spread *s, uint32_t out, unsigned in)
{
	enum sim_delivery d;
	uint32_t peer;
	uint8_t vl;

	if (s->taken[out]) {
		s->out->lost[SIM_LOOP]++;
		return;
	}
	s->taken[out] = 1;
	d = cross_link(s->sim, out, in, &s->kind, &vl, &peer);
	s->out->channels += peer != SNAPSHOT_NONE;
	if (d != SIM_DELIVERED)
		s->out->lost[d]++;
	else if (sim_is_switch(sim_node_of(s->sim, peer)))
		g_array_append_val(s->todo, peer);
	else
		g_array_append_val(s->out->reached, peer);
}

static void
spread_switch(struct spread *s, uint32_t at)
{
	const struct sim *sim = s->sim;
	uint32_t node_index = sim->ports[at].node;
	const struct sim_node *node = &sim->nodes[node_index];
	unsigned in = sim->ports[at].num;
	uint16_t masks[SIM_MFT_POSITIONS];

	if (!sim_table_mcast(sim, node_index, s->mlid, masks)) {
		uint8_t by_default = in == node->sw.default_mcast_primary ?
			node->sw.default_mcast_not_primary :
			node->sw.default_mcast_primary;

		/* No entry for this MLID: the default port, or the other one if
		 * that is where the packet came from (IBA 18.2.4.3.3). */
		if (by_default == 0 || by_default > node->info.num_ports)
			s->out->lost[SIM_NO_ROUTE]++;
		else
			copy_out(s, node->first_port + by_default, in);
		return;
	}
	for (unsigned num = 0; num <= node->info.num_ports; num++) {
		if (num == in || !(masks[num / SIM_PORTS_PER_MASK] >>
				   num % SIM_PORTS_PER_MASK & 1))
			continue;
		if (num == 0)
			g_array_append_val(s->out->reached, node->first_port);
		else
			copy_out(s, node->first_port + num, in);
	}
}

static gint
mcast_compare_ports(gconstpointer a, gconstpointer b)
{
	return uint_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

enum sim_delivery
sim_probe_mcast(const struct sim *sim, uint32_t from, uint16_t mlid,
		uint16_t pkey, unsigned sl, struct sim_mcast *out)
{
	struct spread s = {
		.sim = sim, .out = out, .mlid = mlid,
		.kind = { .lane = SIM_LANE_DATA, .pkey = pkey, .sl = sl,
			  .is_long = true },
	};

	g_assert(sl < 16);
	memset(out, 0, sizeof(*out));
	out->reached = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (mlid < LID_MULTICAST_MIN || mlid == LID_PERMISSIVE ||
	    sim->ports[from].info.lid == LID_NONE)
		return SIM_NO_LID;
	if (!sim_table_has_pkey(sim, from, pkey))
		return SIM_BAD_PKEY;
	s.todo = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s.taken = g_new0(uint8_t, sim->n_ports);
	if (sim_is_switch(sim_node_of(sim, from)))
		g_array_append_val(s.todo, from);
	else
		copy_out(&s, from, 0);
	for (guint i = 0; i < s.todo->len; i++)
		spread_switch(&s, g_array_index(s.todo, uint32_t, i));
	for (guint i = out->reached->len; i-- > 0;) {
		uint32_t end = g_array_index(out->reached, uint32_t, i);

		if (sim_table_admits_pkey(sim, end, pkey))
			continue;
		out->lost[SIM_BAD_PKEY]++;
		g_array_remove_index_fast(out->reached, i);
	}
	g_array_sort(out->reached, mcast_compare_ports);
	g_array_unref(s.todo);
	g_free(s.taken);
	if (!out->channels && !out->reached->len && out->lost[SIM_NO_LINK])
		return SIM_NO_LINK;
	return out->lost[SIM_LOOP] ? SIM_LOOP : SIM_DELIVERED;
}

void
sim_mcast_clear(struct sim_mcast *out)
{
	if (out->reached)
		g_array_unref(out->reached);
	out->reached = NULL;
}
