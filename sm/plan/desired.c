// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the fabric should be: the SM's policy applied to what was seen.
 *
 * Purpose: one place that says what value the SM wants in every component it
 * decides, so that the plan (wanted minus seen), the program stage (what is
 * sent) and the read-back (what was accepted) cannot disagree.
 *
 * Structs: `policy` is the SM's choices, `wanted` bundles it with the results
 * of LID assignment and routing. Nothing is stored a port: desired_port() and
 * desired_switch() copy what was seen and replace what the SM decides.
 *
 * Flow: a port plays up to three parts, each with its own components.
 *   end port		LID, LMC, SMLID, SMSL, M_Key and its protection,
 *			GidPrefix, SubnetTimeOut	want_end_port()
 *   end of a cable	NeighborMTU, OperationalVLs, error thresholds, which
 *			follow from both ends; the enabled widths and speeds,
 *			raised to all that is supported	want_link()
 *   switch output	HOQLife, VLStallCount, shorter towards hosts, since
 *			a host that does not take its packets must not hold up
 *			a switch			want_link()
 * A component that has no part in this port stays as it was seen.
 *
 * Source: IBA 1.4, 14.2.5.4 (SwitchInfo), 14.2.5.6 (PortInfo) and 14.4 (the
 * subnet manager). The values of policy_default are those that `opensm -c`
 * writes.
 */
#include "sm/plan/desired.h"

#define PORT_FIELDS_ALL	((PORT_FIELD_STATE - 1u) | PORT_FIELD_ENFORCE | \
			 PORT_FIELD_VL_HIGH_LIMIT | PORT_FIELDS_TRAINING)
#define SWITCH_FIELDS_VALUES	(SWITCH_FIELD_TOP | SWITCH_FIELD_LIFE_TIME | \
				 SWITCH_FIELD_MCAST_TOP)

const struct policy policy_default = {
	.m_key = 0,
	.gid_prefix = 0xfe80000000000000ull,
	.m_key_lease = 0,
	.m_key_protect = 0,
	.sm_sl = 0,
	.subnet_timeout = 18,
	.packet_life_time = 0x12,
	.hoq_life = 0x12,
	.leaf_hoq_life = 0x10,
	.vl_stall = 7,
	.leaf_vl_stall = 7,
	.max_oper_vls = 5,
	.local_phy_errors = 8,
	.overrun_errors = 8,
};

const char *
port_field_name(unsigned bit)
{
	switch ((enum port_field)bit) {
	case PORT_FIELD_LID:
		return "LID";
	case PORT_FIELD_LMC:
		return "LMC";
	case PORT_FIELD_SM_LID:
		return "SMLID";
	case PORT_FIELD_SM_SL:
		return "SMSL";
	case PORT_FIELD_M_KEY:
		return "M_Key";
	case PORT_FIELD_M_KEY_PROTECT:
		return "M_KeyProtectBits";
	case PORT_FIELD_M_KEY_LEASE:
		return "M_KeyLeasePeriod";
	case PORT_FIELD_GID_PREFIX:
		return "GidPrefix";
	case PORT_FIELD_SUBNET_TIMEOUT:
		return "SubnetTimeOut";
	case PORT_FIELD_MTU:
		return "NeighborMTU";
	case PORT_FIELD_OPER_VLS:
		return "OperationalVLs";
	case PORT_FIELD_HOQ_LIFE:
		return "HOQLife";
	case PORT_FIELD_VL_STALL:
		return "VLStallCount";
	case PORT_FIELD_ERROR_THRESHOLDS:
		return "ErrorThresholds";
	case PORT_FIELD_STATE:
		return "PortState";
	case PORT_FIELD_ENFORCE:
		return "PartitionEnforcement";
	case PORT_FIELD_VL_HIGH_LIMIT:
		return "VLHighLimit";
	case PORT_FIELD_REREGISTER:
		return "ClientReregister";
	case PORT_FIELD_WIDTH:
		return "LinkWidthEnabled";
	case PORT_FIELD_SPEED:
		return "LinkSpeedEnabled";
	case PORT_FIELD_SPEED_EXT:
		return "LinkSpeedExtEnabled";
	}
	return "?";
}

const char *
switch_field_name(unsigned bit)
{
	switch ((enum switch_field)bit) {
	case SWITCH_FIELD_TOP:
		return "LinearFDBTop";
	case SWITCH_FIELD_LIFE_TIME:
		return "LifeTimeValue";
	case SWITCH_FIELD_CHANGE:
		return "PortStateChange";
	case SWITCH_FIELD_MCAST_TOP:
		return "MulticastFDBTop";
	}
	return "?";
}

static unsigned
bit_if(bool differs, unsigned bit)
{
	return differs ? bit : 0;
}

unsigned
port_fields_differ(const struct port_info *a, const struct port_info *b,
		   unsigned mask)
{
	unsigned d = 0;

	d |= bit_if(a->lid != b->lid, PORT_FIELD_LID);
	d |= bit_if(a->lmc != b->lmc, PORT_FIELD_LMC);
	d |= bit_if(a->sm_lid != b->sm_lid, PORT_FIELD_SM_LID);
	d |= bit_if(a->sm_sl != b->sm_sl, PORT_FIELD_SM_SL);
	d |= bit_if(a->m_key != b->m_key, PORT_FIELD_M_KEY);
	d |= bit_if(a->m_key_protect != b->m_key_protect,
		    PORT_FIELD_M_KEY_PROTECT);
	d |= bit_if(a->m_key_lease != b->m_key_lease,
		    PORT_FIELD_M_KEY_LEASE);
	d |= bit_if(a->gid_prefix != b->gid_prefix, PORT_FIELD_GID_PREFIX);
	d |= bit_if(a->subnet_timeout != b->subnet_timeout,
		    PORT_FIELD_SUBNET_TIMEOUT);
	d |= bit_if(a->neighbor_mtu != b->neighbor_mtu, PORT_FIELD_MTU);
	d |= bit_if(a->oper_vls != b->oper_vls, PORT_FIELD_OPER_VLS);
	d |= bit_if(a->hoq_life != b->hoq_life, PORT_FIELD_HOQ_LIFE);
	d |= bit_if(a->vl_stall_count != b->vl_stall_count,
		    PORT_FIELD_VL_STALL);
	d |= bit_if(a->local_phy_errors != b->local_phy_errors ||
		    a->overrun_errors != b->overrun_errors,
		    PORT_FIELD_ERROR_THRESHOLDS);
	d |= bit_if(a->state != b->state, PORT_FIELD_STATE);
	d |= bit_if(a->enforce_inbound != b->enforce_inbound ||
		    a->enforce_outbound != b->enforce_outbound,
		    PORT_FIELD_ENFORCE);
	d |= bit_if(a->vl_high_limit != b->vl_high_limit,
		    PORT_FIELD_VL_HIGH_LIMIT);
	d |= bit_if(a->width_enabled != b->width_enabled, PORT_FIELD_WIDTH);
	d |= bit_if(a->speed_enabled != b->speed_enabled, PORT_FIELD_SPEED);
	d |= bit_if(a->speed_ext_enabled != b->speed_ext_enabled,
		    PORT_FIELD_SPEED_EXT);
	return d & mask;
}

unsigned
switch_fields_differ(const struct switch_info *a, const struct switch_info *b,
		     unsigned mask)
{
	unsigned d = 0;

	d |= bit_if(a->linear_fdb_top != b->linear_fdb_top, SWITCH_FIELD_TOP);
	d |= bit_if(a->life_time != b->life_time, SWITCH_FIELD_LIFE_TIME);
	d |= bit_if(a->port_state_change != b->port_state_change,
		    SWITCH_FIELD_CHANGE);
	d |= bit_if(a->multicast_fdb_top != b->multicast_fdb_top,
		    SWITCH_FIELD_MCAST_TOP);
	return d & mask;
}

static void
want_end_port(const struct snapshot *s, const struct desired *w, uint32_t port,
	      struct port_info *out)
{
	const struct policy *policy = w->policy;
	uint64_t m_key = w->keys ?
		mkey_db_wanted(w->keys, s->ports[port].guid) : policy->m_key;

	/* A port that the assignment passed over keeps what it has. */
	if (w->lids->base[port] != LID_NONE) {
		out->lid = w->lids->base[port];
		out->lmc = w->lids->lmc[port];
	}
	out->sm_lid = w->sm_lid;
	out->sm_sl = policy->sm_sl;
	/* Without a key there is nothing to protect or to expire. */
	if (m_key || out->m_key) {
		out->m_key = m_key;
		out->m_key_protect = policy->m_key_protect;
		out->m_key_lease = policy->m_key_lease;
	}
	out->gid_prefix = policy->gid_prefix;
	out->subnet_timeout = policy->subnet_timeout;
}

static bool
has_ext_speeds(const struct snapshot *s, uint32_t port)
{
	return s->ports[snapshot_holder_of(s, port)].info.cap_mask &
		PORT_CAP_HAS_EXT_SPEEDS;
}

/* What was narrowed by hand, or by a manager before us, is to end with the next
 * training; the link is not taken down for it. */
static void
want_training(const struct snapshot *s, uint32_t port, struct port_info *out)
{
	const struct snapshot_port *p = &s->ports[port];

	if (p->info.width_supported)
		out->width_enabled = p->info.width_supported;
	if (p->info.speed_supported)
		out->speed_enabled = p->info.speed_supported;
	if (p->info.speed_ext_supported && has_ext_speeds(s, port) &&
	    has_ext_speeds(s, p->peer))
		out->speed_ext_enabled = p->info.speed_ext_supported;
}

static void
want_link(const struct snapshot *s, const struct desired *w, uint32_t port,
	  struct port_info *out)
{
	const struct policy *policy = w->policy;
	uint8_t most_vls;
	const struct snapshot_port *p = &s->ports[port];
	const struct port_info *far = &s->ports[p->peer].info;
	unsigned mtu = MIN(p->info.mtu_cap, far->mtu_cap);
	unsigned vls = MIN(p->info.vl_cap, far->vl_cap);

	/* A capability of 0 is none of IBA's codes: such an end says nothing
	 * that one could act upon. */
	if (mtu > 0)
		out->neighbor_mtu = mtu;

	/* A port that carries traffic must not lose a VL under it. */
	vls = MIN(vls, policy->max_oper_vls);
	if (qos_tables_port(s, w->qos, port, &most_vls, &out->vl_high_limit))
		vls = MIN(vls, most_vls);
	if (vls > 0 && p->info.state < PORT_STATE_ACTIVE)
		out->oper_vls = vls;

	want_training(s, port, out);
	out->local_phy_errors = policy->local_phy_errors;
	out->overrun_errors = policy->overrun_errors;
	if (!snapshot_is_switch(snapshot_node_of(s, port)))
		return;

	if (snapshot_is_switch(snapshot_node_of(s, p->peer))) {
		out->hoq_life = policy->hoq_life;
		out->vl_stall_count = policy->vl_stall;
	} else {
		out->hoq_life = policy->leaf_hoq_life;
		out->vl_stall_count = policy->leaf_vl_stall;
	}
}

/* A switch's port 0 has no link to be down; its PortState has a meaning only
 * if it is enhanced (IBA 14.2.5.6). Another end port needs a link for anyone
 * to care what its LID is. */
static bool
wants_lid(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	if (!snapshot_is_end_port(s, port))
		return false;
	return snapshot_is_switch(snapshot_node_of(s, port)) ||
	       p->info.state >= PORT_STATE_INIT;
}

static bool
wants_link(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return snapshot_link_up(s, port) && p->info.state >= PORT_STATE_INIT &&
	       s->ports[p->peer].info.state >= PORT_STATE_INIT;
}

/* A switch that has no table to enforce has no such bits either. */
static void
want_enforcement(const struct snapshot *s, const struct desired *w,
		 uint32_t port, struct port_info *out)
{
	if (!snapshot_is_switch(snapshot_node_of(s, port)) ||
	    !port_pkey_cap(s, port))
		return;
	out->enforce_inbound = w->enforce[port] & PKEY_ENFORCE_IN;
	out->enforce_outbound = w->enforce[port] & PKEY_ENFORCE_OUT;
}

/* The capability is a must (IBA 14.2.5.6): others would take the bit for
 * something reserved. */
static bool asks_to_register(const struct snapshot *s, const struct desired *w,
			     uint32_t port)
{
	return w->reregister && w->reregister[port] && wants_lid(s, port) &&
		s->ports[port].info.cap_mask & PORT_CAP_HAS_CLIENT_REREGISTER;
}

unsigned
desired_port(const struct snapshot *s, const struct desired *w, uint32_t port,
	    struct port_info *out)
{
	const struct snapshot_port *p = &s->ports[port];
	unsigned fields;

	g_assert(p->known);
	*out = p->info;
	if (wants_lid(s, port))
		want_end_port(s, w, port, out);
	if (wants_link(s, port))
		want_link(s, w, port, out);
	if (w->enforce && p->num > 0)
		want_enforcement(s, w, port, out);
	fields = port_fields_differ(&p->info, out, PORT_FIELDS_ALL);

	/* "No change" for all that this Set is not about (IBA 14.2.5.6). */
	out->state = PORT_STATE_NOP;
	out->phys_state = PORT_PHYS_NOP;
	out->link_down_default = 0;
	if (!(fields & PORT_FIELD_WIDTH))
		out->width_enabled = 0;
	if (!(fields & PORT_FIELD_SPEED))
		out->speed_enabled = 0;
	if (!(fields & PORT_FIELD_SPEED_EXT))
		out->speed_ext_enabled = 0;
	if (!(fields & PORT_FIELD_OPER_VLS))
		out->oper_vls = 0;
	/* Not a value but a request. */
	out->client_reregister = asks_to_register(s, w, port);
	return fields | bit_if(out->client_reregister, PORT_FIELD_REREGISTER);
}

unsigned
desired_switch(const struct snapshot *s, const struct desired *w, uint32_t node,
	      struct switch_info *out)
{
	const struct snapshot_node *n = &s->nodes[node];
	unsigned fields;

	g_assert(n->sw_known);
	*out = n->sw;
	/* A capability of 0: no linear table at all, so no top either. */
	if (n->sw.linear_fdb_cap > 0)
		out->linear_fdb_top = MIN(w->lft->top,
					  n->sw.linear_fdb_cap - 1);
	out->life_time = w->policy->packet_life_time;
	/* The end of the table, also on a switch without a group: multicast
	 * tables are written beside the sweeps, and must count at once. */
	if (s->ports[n->first_port].info.cap_mask &
	    PORT_CAP_HAS_MCAST_FDB_TOP && n->sw.multicast_fdb_cap > 0)
		out->multicast_fdb_top = (uint16_t)
			MIN(LID_MULTICAST_MIN + n->sw.multicast_fdb_cap - 1u,
			    LID_PERMISSIVE - 1u);
	fields = switch_fields_differ(&n->sw, out, SWITCH_FIELDS_VALUES);

	/* Writing 1 clears the bit (IBA 14.2.5.4): what was read, written
	 * back, does it just when it is set. */
	fields |= bit_if(n->sw.port_state_change, SWITCH_FIELD_CHANGE);
	return fields;
}
