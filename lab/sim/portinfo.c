// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PortInfo (IBA 14.2.5.6), the attribute with the most rules.
 *
 * A Set is checked as a whole first, and applied only if every component that
 * is valid at this kind of port is good; otherwise the status is 0x1c and
 * nothing has changed. The components by kind of port:
 *
 *	end ports (CA, router, switch port 0)	LIDs, keys, SM's address,
 *						timeouts, ClientReregister
 *	ports with a link (and an enhanced	state, MTU, VLs, width, speed,
 *	port 0)					error thresholds
 *	external switch ports			partition enforcement, filters
 *
 * Other components are ignored. 0 means no change in the state, the physical
 * state, LinkDownDefaultState, the enabled widths and speeds and
 * OperationalVLs.
 *
 * States (7.2): a Set may go from Init to Armed, from Armed to Active, and from
 * any state to Down, which starts the link's training again, as does a physical
 * state alone (so does ibportstate: reset, disable). Devices differ in the answer to
 * a Set of the present state: see enum sim_same_state.
 */
#include "lab/sim/state.h"


#define MOD_PORT		0x000000ffu

#define SPEED_EXT_NONE		30u

static bool
is_subset(unsigned want, unsigned supported, unsigned all)
{
	return want == 0 || want == all || !(want & ~supported);
}

static bool
link_is_valid(const struct sim *sim, const struct port_info *have,
	      const struct port_info *want)
{
	switch (want->state) {
	case PORT_STATE_NOP:
	case PORT_STATE_DOWN:
		break;
	case PORT_STATE_ARMED:
	case PORT_STATE_ACTIVE:
		if (want->state == have->state ?
		    sim->params.same_state != SIM_SAME_STATE_ACCEPTED :
		    want->state != have->state + 1)
			return false;
		break;
	default:
		return false;	/* Init cannot be Set */
	}
	/* a physical state takes the link down */
	return want->phys_state <= PORT_PHYS_DISABLED &&
		(want->phys_state == PORT_PHYS_NOP ||
		 want->state <= PORT_STATE_DOWN) &&
		want->link_down_default <= PORT_PHYS_POLLING &&
		want->neighbor_mtu >= 1 &&
		want->neighbor_mtu <= have->mtu_cap &&
		want->oper_vls <= have->vl_cap &&
		is_subset(want->width_enabled, have->width_supported,
			  PORT_WIDTH_ALL) &&
		is_subset(want->speed_enabled, have->speed_supported,
			  PORT_SPEED_ALL) &&
		(want->speed_ext_enabled == SPEED_EXT_NONE ||
		 is_subset(want->speed_ext_enabled, have->speed_ext_supported,
			   PORT_SPEED_EXT_ALL));
}

static uint8_t
enabled(uint8_t have, uint8_t want, uint8_t supported, uint8_t all)
{
	if (want == 0)
		return have;
	return want == all ? supported : want;
}

static void
apply_link(struct sim *sim, uint32_t port, const struct port_info *want)
{
	struct port_info *have = &sim->ports[port].info;
	bool goes_down = want->state == PORT_STATE_DOWN || want->phys_state;

	have->width_enabled = enabled(have->width_enabled, want->width_enabled,
				      have->width_supported, PORT_WIDTH_ALL);
	have->speed_enabled = enabled(have->speed_enabled, want->speed_enabled,
				      have->speed_supported, PORT_SPEED_ALL);
	have->speed_ext_enabled = enabled(have->speed_ext_enabled,
					  want->speed_ext_enabled,
					  have->speed_ext_supported,
					  PORT_SPEED_EXT_ALL);
	if (want->link_down_default)
		have->link_down_default = want->link_down_default;
	if (want->oper_vls)
		have->oper_vls = want->oper_vls;
	have->neighbor_mtu = want->neighbor_mtu;
	have->vl_high_limit = want->vl_high_limit;
	have->vl_stall_count = want->vl_stall_count;
	have->hoq_life = want->hoq_life;
	have->local_phy_errors = want->local_phy_errors;
	have->overrun_errors = want->overrun_errors;
	/* The states last: the state of the other end may follow. */
	if (sim_is_switch(sim_node_of(sim, port)) &&
	    sim->ports[port].num == 0) {
		if (want->state > PORT_STATE_DOWN)
			have->state = want->state;
		return;
	}
	if (goes_down)
		have->phys_state = want->phys_state ? want->phys_state :
			have->link_down_default;
	if (want->state || goes_down)
		have->state = goes_down ? PORT_STATE_DOWN : want->state;
	if (goes_down)
		sim_link_settle(sim, port, SIM_CAUSE_SET);
}

static unsigned
set(struct sim *sim, uint32_t port, const struct port_info *want)
{
	struct port_info *have = &sim->ports[port].info;
	const struct sim_node *node = sim_node_of(sim, port);
	const struct switch_info *sw = &node->sw;
	bool is_end = sim_end_port(sim, port) == port;
	/* else a base port 0, which has one LID, and no LMC */
	bool has_link = !sim_is_switch(node) || !is_end || sw->enhanced_port0;
	unsigned last = want->lid + (has_link ? (1u << want->lmc) - 1 : 0);

	if (is_end && (MIN(want->lid, want->sm_lid) < LID_UNICAST_MIN ||
		       MAX(last, want->sm_lid) > LID_UNICAST_MAX))
		return MAD_STATUS_BAD_VALUE;
	if (has_link && !link_is_valid(sim, have, want))
		return MAD_STATUS_BAD_VALUE;
	if (is_end) {
		/* a new lease period ends the running one */
		if (have->m_key_lease != want->m_key_lease)
			sim->ports[port].lease_end = 0;
		have->m_key = want->m_key;
		have->m_key_lease = want->m_key_lease;
		have->m_key_protect = want->m_key_protect;
		have->gid_prefix = want->gid_prefix;
		if (has_link)
			have->lmc = want->lmc;
		/* the base LID's low LMC bits do not count (IBA 4.1.3) */
		have->lid = want->lid & ~((1u << have->lmc) - 1);
		have->sm_lid = want->sm_lid;
		have->sm_sl = want->sm_sl;
		have->init_type_reply = want->init_type_reply;
		have->mcast_pkey_trap_suppression =
			want->mcast_pkey_trap_suppression;
		have->subnet_timeout = want->subnet_timeout;
		have->m_key_violations = want->m_key_violations;
		have->p_key_violations = want->p_key_violations;
		have->q_key_violations = want->q_key_violations;
	} else {
		/* Without the capability of the switch it is read-only (IBA
		 * 14.2.5.4). */
		if (sw->enforce_inbound)
			have->enforce_inbound = want->enforce_inbound;
		if (sw->enforce_outbound)
			have->enforce_outbound = want->enforce_outbound;
		if (sw->filter_raw_inbound)
			have->filter_raw_inbound = want->filter_raw_inbound;
		if (sw->filter_raw_outbound)
			have->filter_raw_outbound = want->filter_raw_outbound;
	}
	if (has_link)
		apply_link(sim, port, want);
	return MAD_STATUS_OK;
}

unsigned
sim_port_info_serve(struct sim *sim, const struct sim_packet *p, uint8_t *data)
{
	const struct sim_node *node = sim_node_of(sim, p->to);
	uint32_t num = p->h.attr_mod & MOD_PORT, index;
	/* as some devices do it: without the flag one sees QDR at most */
	bool hide_speeds = sim->params.hide_ext_speeds &&
		!(p->h.attr_mod & SMP_PORT_INFO_EXT_SPEEDS);
	bool echo = false, is_other;
	struct port_info info;
	struct sim_port *port;
	unsigned status;

	if (p->h.attr_mod & ~(SMP_PORT_INFO_EXT_SPEEDS | MOD_PORT) ||
	    num > node->info.num_ports)
		return MAD_STATUS_BAD_VALUE;
	/* 0 at a CA or router means the port by which the SMP came. */
	index = num || sim_is_switch(node) ? node->first_port + num : p->to;
	port = &sim->ports[index];
	/* Each port of a CA has an agent with an M_Key of its own. */
	is_other = !sim_is_switch(node) && index != p->to;
	if (p->h.method == MAD_METHOD_SET) {
		if (is_other)
			return MAD_STATUS_BAD_VALUE;
		port_info_decode(data, &info);
		status = set(sim, index, &info);
		if (status != MAD_STATUS_OK)
			return status;
		echo = info.client_reregister && port->info.cap_mask &
			PORT_CAP_HAS_CLIENT_REREGISTER;
		if (echo && sim_end_port(sim, index) == index &&
		    sim->reregister)
			sim->reregister(sim, index, sim->reregister_data);
	}
	info = port->info;
	info.local_port = sim->ports[p->to].num;	/* IBA 14.2.5.6 */
	info.client_reregister = echo;
	if (hide_speeds)
		info.speed_ext_active = info.speed_ext_supported =
			info.speed_ext_enabled = info.speed_ext2_active = 0;
	/* Protection level 1 hides the key from a request without it. */
	if ((is_other || info.m_key_protect == 1) &&
	    smp_m_key(p->mad) != info.m_key)
		info.m_key = 0;
	port_info_encode(data, &info);
	return MAD_STATUS_OK;
}
