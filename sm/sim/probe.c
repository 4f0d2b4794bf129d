// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Probes: where a packet would go.
 *
 * Multicast goes breadth first over channels, a channel being one direction
 * of a cable, and each channel is taken once: a second copy on it is a loop,
 * or two trees that met, and both are wrong.
 */
#include "sm/sim/state.h"

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
};

const char *
sim_delivery_name(enum sim_delivery d)
{
	return (unsigned)d < SIM_N_DELIVERIES ? delivery_names[d] : "?";
}

enum sim_delivery
sim_probe(const struct sim *sim, uint32_t from, uint16_t dlid, uint16_t pkey,
	  unsigned sl, struct sim_trace *trace)
{
	const struct sim_packet_kind kind = {
		.lane = SIM_LANE_DATA, .pkey = pkey, .sl = sl,
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
arrive(struct spread *s, uint32_t end)
{
	if (sim_table_admits_pkey(s->sim, end, s->kind.pkey))
		g_array_append_val(s->out->reached, end);
	else
		s->out->lost[SIM_BAD_PKEY]++;
}

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
	d = sim_walk_cross(s->sim, out, in, &s->kind, &vl);
	if (d == SIM_DELIVERED) {
		s->out->channels++;
		peer = s->sim->ports[out].peer;
		d = sim_walk_enter(s->sim, peer, &s->kind);
	}
	if (d != SIM_DELIVERED)
		s->out->lost[d]++;
	else if (sim_is_switch(sim_node_of(s->sim, peer)))
		g_array_append_val(s->todo, peer);
	else
		arrive(s, peer);
}

/* No entry for this MLID: the default port, or the other one if that is where
 * the packet came from (IBA 18.2.4.3.3). */
static void
copy_by_default(struct spread *s, const struct sim_node *node, unsigned in)
{
	uint8_t num = in == node->sw.default_mcast_primary ?
		node->sw.default_mcast_not_primary :
		node->sw.default_mcast_primary;

	if (num == 0 || num > node->info.num_ports)
		s->out->lost[SIM_NO_ROUTE]++;
	else
		copy_out(s, node->first_port + num, in);
}

static void
spread_switch(struct spread *s, uint32_t at)
{
	const struct sim *sim = s->sim;
	uint32_t node_index = sim->ports[at].node;
	const struct sim_node *node = &sim->nodes[node_index];
	unsigned in = sim->ports[at].num;

	if (!sim_table_mcast_any(sim, node_index, s->mlid)) {
		copy_by_default(s, node, in);
		return;
	}
	for (unsigned num = 0; num <= node->info.num_ports; num++) {
		if (num == in || !sim_table_mcast_has(sim, node_index,
						      s->mlid, num))
			continue;
		if (num == 0)
			arrive(s, node->first_port);
		else
			copy_out(s, node->first_port + num, in);
	}
}

static gint
mcast_compare_ports(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

enum sim_delivery
sim_probe_mcast(const struct sim *sim, uint32_t from, uint16_t mlid,
		uint16_t pkey, unsigned sl, struct sim_mcast *out)
{
	struct spread s = {
		.sim = sim, .out = out, .mlid = mlid,
		.kind = { .lane = SIM_LANE_DATA, .pkey = pkey, .sl = sl },
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
