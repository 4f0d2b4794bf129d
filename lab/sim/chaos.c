// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes of the fabric: cables, power, identities, and when they happen.
 *
 * Nothing here sets a port state: a cable or the power is changed, and link.c
 * derives the states from that. A node that is switched off loses what was set,
 * as devices do; its epoch counts up, so an SMP that waited for its agent is
 * not served after the node is on again.
 *
 * A script is a change that repeats: a link that flaps, a port that sends
 * traps. It is an event that starts itself again until it is done.
 */
#include "lab/sim/state.h"

#include <string.h>

#include "tools/device.h"

struct script {
	struct sim_event event;
	uint32_t port;
	unsigned trap;		/* 0: the link flaps */
	unsigned left;		/* events */
	int64_t period, other_period;	/* ns; other: of a link that is up */
};

/* ------------------------------------------------------------------ cables */

static void
set_cut(struct sim *sim, uint32_t port, bool cut)
{
	uint32_t peer = sim->ports[port].peer;

	if (peer == SNAPSHOT_NONE)
		return;
	sim->ports[port].cut = sim->ports[peer].cut = cut;
	sim_link_settle(sim, port, SIM_CAUSE_LINK);
}

void
sim_link_cut(struct sim *sim, uint32_t port)
{
	set_cut(sim, port, true);
}

void
sim_link_mend(struct sim *sim, uint32_t port)
{
	set_cut(sim, port, false);
}

void
sim_cable_plug(struct sim *sim, uint32_t a, uint32_t b)
{
	g_assert(sim->ports[a].num && sim->ports[b].num);
	g_assert(sim->ports[a].peer == SNAPSHOT_NONE &&
		 sim->ports[b].peer == SNAPSHOT_NONE);

	sim->ports[a].peer = b;
	sim->ports[b].peer = a;
	sim->ports[a].cut = sim->ports[b].cut = false;
	sim_link_settle(sim, a, SIM_CAUSE_LINK);
}

void
sim_cable_unplug(struct sim *sim, uint32_t port)
{
	uint32_t peer = sim->ports[port].peer;

	if (peer == SNAPSHOT_NONE)
		return;
	sim_link_cut(sim, port);
	sim->ports[port].peer = sim->ports[peer].peer = SNAPSHOT_NONE;
	sim->ports[port].cut = sim->ports[peer].cut = false;
}

void
sim_link_set_loss(struct sim *sim, uint32_t port, unsigned per_mille)
{
	uint32_t peer = sim->ports[port].peer;

	sim->ports[port].loss_per_mille = per_mille;
	if (peer != SNAPSHOT_NONE)
		sim->ports[peer].loss_per_mille = per_mille;
}

void
sim_link_set_speed(struct sim *sim, uint32_t port,
		   const struct port_info *active)
{
	const uint32_t ends[] = { port, sim->ports[port].peer };

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		struct sim_port *p = &sim->ports[ends[i]];

		if (ends[i] == SNAPSHOT_NONE)
			continue;
		p->info.width_active = active->width_active;
		p->info.speed_active = active->speed_active;
		p->info.speed_ext_active = active->speed_ext_active;
		p->info.speed_ext2_active = active->speed_ext2_active;
	}
}

/* The two far ends change places; a port without a cable gets the other's. */
void
sim_cable_swap(struct sim *sim, uint32_t a, uint32_t b)
{
	uint32_t far_a = sim->ports[a].peer;
	uint32_t far_b = sim->ports[b].peer;

	if (a == b || far_a == b)
		return;
	sim_cable_unplug(sim, a);
	sim_cable_unplug(sim, b);
	if (far_a != SNAPSHOT_NONE)
		sim_cable_plug(sim, b, far_a == a ? b : far_a);
	if (far_b != SNAPSHOT_NONE)
		sim_cable_plug(sim, a, far_b == b ? a : far_b);
}

/* ------------------------------------------------------------------- nodes */

void
sim_node_off(struct sim *sim, uint32_t node)
{
	struct sim_node *n = &sim->nodes[node];

	if (n->power == SIM_POWER_OFF)
		return;
	n->power = SIM_POWER_OFF;
	n->epoch++;
	n->queued = 0;
	n->busy_until = 0;
	for (unsigned num = 0; num <= n->info.num_ports; num++)
		sim_trap_end(sim, n->first_port + num, NULL);
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		sim_link_settle(sim, n->first_port + num, SIM_CAUSE_LINK);
}

void
sim_node_on(struct sim *sim, uint32_t node)
{
	struct sim_node *n = &sim->nodes[node];

	if (n->power == SIM_POWER_ON)
		return;
	sim_table_clear_node(sim, node);
	n->sw.linear_fdb_top = n->sw.multicast_fdb_top = 0;
	n->sw.default_port = 0;
	n->sw.default_mcast_primary = n->sw.default_mcast_not_primary = 0;
	n->sw.life_time = device_switch.life_time;
	n->sw.port_state_change = sim_is_switch(n);
	for (unsigned num = 0; num <= n->info.num_ports; num++) {
		struct sim_port *p = &sim->ports[n->first_port + num];
		struct port_info *i = &p->info;

		sim_table_clear_port(sim, n->first_port + num);
		p->lease_end = 0;
		i->m_key = 0;
		i->m_key_lease = i->m_key_protect = 0;
		i->gid_prefix = device_idle_port.gid_prefix;
		i->lid = i->sm_lid = 0;
		i->lmc = i->sm_sl = 0;
		i->m_key_violations = i->p_key_violations = 0;
		i->q_key_violations = 0;
		i->width_enabled = i->width_supported;
		i->speed_enabled = i->speed_supported;
		i->speed_ext_enabled = i->speed_ext_supported;
		i->link_down_default = PORT_PHYS_POLLING;
		i->oper_vls = i->vl_cap;
		i->neighbor_mtu = i->mtu_cap;
		i->vl_high_limit = 0;
		i->subnet_timeout = device_idle_port.subnet_timeout;
		i->enforce_inbound = i->enforce_outbound = false;
		i->filter_raw_inbound = i->filter_raw_outbound = false;
		if (num)
			i->phys_state = PORT_PHYS_POLLING;
	}
	n->power = SIM_POWER_ON;
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		sim_link_settle(sim, n->first_port + num, SIM_CAUSE_LINK);
}

void
sim_node_reset(struct sim *sim, uint32_t node)
{
	sim_node_off(sim, node);
	sim_node_on(sim, node);
}

void
sim_node_set_guid(struct sim *sim, uint32_t node, uint64_t guid)
{
	struct sim_node *n = &sim->nodes[node];

	n->info.node_guid = guid;
	if (sim_is_switch(n)) {
		sim->ports[n->first_port].guid = guid;
		return;
	}
	for (unsigned num = 1; num <= n->info.num_ports; num++)
		sim->ports[n->first_port + num].guid = guid + num;
}

void
sim_node_replace(struct sim *sim, uint32_t node, uint64_t guid)
{
	struct sim_node *n = &sim->nodes[node];
	const struct node_info was = n->info;

	sim_node_off(sim, node);
	sim_node_set_guid(sim, node, guid);
	n->info.system_guid = guid;
	for (unsigned num = 1; num <= was.num_ports; num++) {
		uint32_t peer = sim_peer(sim, n->first_port + num);
		struct node_info *inner = peer == SNAPSHOT_NONE ? &n->info :
			&sim_node_of(sim, peer)->info;

		if (inner->node_type == NODE_CA &&
		    (inner->system_guid == was.system_guid ||
		     inner->system_guid == was.node_guid))
			inner->system_guid = guid;
	}
	sim_node_on(sim, node);
}

void
sim_node_describe(struct sim *sim, uint32_t node, const char *desc)
{
	struct sim_node *n = &sim->nodes[node];
	unsigned first = sim_is_switch(n) ? 0 : 1;
	unsigned last = sim_is_switch(n) ? 0 : n->info.num_ports;

	memset(n->desc, 0, NODE_DESC_LEN);
	memcpy(n->desc, desc, strnlen(desc, NODE_DESC_LEN));
	for (unsigned num = first; num <= last; num++)
		sim_trap_raise(sim, n->first_port + num, 144, NULL);
}

/* ----------------------------------------------------------------- scripts */

static void
on_script(struct sim *sim, struct sim_event *e)
{
	struct script *s = (struct script *)e;
	bool cut = s->left % 2 == 0;
	int64_t period = s->period;

	if (s->trap) {
		sim_trap_send_once(sim, s->port, s->trap);
	} else {
		/* With an even number of events to go the link is up. */
		set_cut(sim, s->port, cut);
		if (!cut)
			period = s->other_period;
	}
	if (--s->left)
		sim_clock_start(sim, &s->event, sim->now + period);
	else
		g_free(s);
}

static void
script_start(struct sim *sim, const struct script *model)
{
	struct script *s;

	if (!model->left)
		return;
	s = g_memdup2(model, sizeof(*model));
	s->event = (struct sim_event){ .fn = on_script, .free = g_free };
	sim_clock_start(sim, &s->event, sim->now);
}

void
sim_link_flap(struct sim *sim, uint32_t port, unsigned times,
	      int64_t down_us, int64_t up_us)
{
	script_start(sim, &(struct script){
		.port = port, .left = 2 * times,
		.period = down_us * NS_PER_US,
		.other_period = up_us * NS_PER_US,
	});
}

void
sim_babble(struct sim *sim, uint32_t port, unsigned trap, unsigned times,
	   int64_t period_us)
{
	script_start(sim, &(struct script){
		.port = port, .trap = trap, .left = times,
		.period = period_us * NS_PER_US,
	});
}

/* ------------------------------------------------------------------ agents */

void
sim_node_set_mood(struct sim *sim, uint32_t node, enum sim_mood mood)
{
	sim->nodes[node].mood = mood;
}

void
sim_node_set_queue(struct sim *sim, uint32_t node, unsigned ns, unsigned places)
{
	sim->nodes[node].smp_ns = sim->nodes[node].forward_ns = ns;
	sim->nodes[node].vl15_depth = places;
}
