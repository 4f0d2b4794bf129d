// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The desired state: the SM's policy applied to the snapshot.
 *
 * Purpose. One place defines the value of every component that the SM decides,
 * so that the plan (desired minus observed), the program stage (what is sent)
 * and the read-back (what was accepted) cannot disagree.
 *
 * Method. Nothing is stored for a port: desired_port() and desired_switch()
 * copy what was read and replace what the SM decides. A port has up to three
 * roles, each with its own components:
 *   end port		LID, LMC, SMLID, SMSL, M_Key and its protection,
 *			GidPrefix, SubnetTimeOut	want_end_port()
 *   end of a cable	NeighborMTU, OperationalVLs, error thresholds, which
 *			follow from both ends; the enabled widths and speeds,
 *			raised to all that is supported	want_link()
 *   switch output	HOQLife, VLStallCount, shorter towards hosts, since
 *			a host that does not receive its packets must not stall
 *			a switch			want_link()
 * All other components stay as they were read.
 *
 * Reference. IBA 1.4, 14.2.5.4 (SwitchInfo), 14.2.5.6 (PortInfo) and 14.4 (the
 * subnet manager). The values of policy_default are those that `opensm -c`
 * writes.
 */
#include "sm/plan/desired.h"

#include <inttypes.h>
#include <string.h>

#define PORT_FIELDS_ALL	((PORT_FIELD_STATE - 1u) | PORT_FIELD_ENFORCE | \
			 PORT_FIELD_VL_HIGH_LIMIT | PORT_FIELDS_TRAINING)
#define SWITCH_FIELDS_VALUES	(SWITCH_FIELD_TOP | SWITCH_FIELD_LIFE_TIME | \
				 SWITCH_FIELD_MCAST_TOP)

const struct policy policy_default = {
	.gid_prefix = 0xfe80000000000000ull,
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

/* ---------------------------------------------------------------- fields */

enum field_show {
	SHOW_NUMBER,
	SHOW_GUID,
	SHOW_HEX,
	SHOW_SECRET,
	SHOW_YES,
	SHOW_MTU,
	SHOW_VLS,
	SHOW_STATE,
	SHOW_PAIR,		/* two numbers of a byte */
	SHOW_ENFORCE,		/* in, out */
};

#define N_PORT_FIELDS	21u
#define FIELD(type, title, member, form) \
	{ .name = title, .offset = G_STRUCT_OFFSET(struct type, member), \
	  .size = sizeof(((struct type *)0)->member), .show = form }
#define PORT(title, member, form)	FIELD(port_info, title, member, form)
#define SWITCH(title, member, form)	FIELD(switch_info, title, member, form)
#define PAIR(title, member, form) \
	{ .name = title, .offset = G_STRUCT_OFFSET(struct port_info, member), \
	  .size = 2, .show = form }
G_STATIC_ASSERT(G_STRUCT_OFFSET(struct port_info, overrun_errors) ==
		G_STRUCT_OFFSET(struct port_info, local_phy_errors) + 1);
G_STATIC_ASSERT(G_STRUCT_OFFSET(struct port_info, enforce_outbound) ==
		G_STRUCT_OFFSET(struct port_info, enforce_inbound) + 1);

/* In the order of enum port_field. */
const struct plan_field port_fields[N_PORT_FIELDS] = {
	PORT("LID", lid, SHOW_NUMBER),
	PORT("LMC", lmc, SHOW_NUMBER),
	PORT("SMLID", sm_lid, SHOW_NUMBER),
	PORT("SMSL", sm_sl, SHOW_NUMBER),
	PORT("M_Key", m_key, SHOW_SECRET),
	PORT("M_KeyProtectBits", m_key_protect, SHOW_NUMBER),
	PORT("M_KeyLeasePeriod", m_key_lease, SHOW_NUMBER),
	PORT("GidPrefix", gid_prefix, SHOW_GUID),
	PORT("SubnetTimeOut", subnet_timeout, SHOW_NUMBER),
	PORT("NeighborMTU", neighbor_mtu, SHOW_MTU),
	PORT("OperationalVLs", oper_vls, SHOW_VLS),
	PORT("HOQLife", hoq_life, SHOW_NUMBER),
	PORT("VLStallCount", vl_stall_count, SHOW_NUMBER),
	PAIR("ErrorThresholds", local_phy_errors, SHOW_PAIR),
	PORT("PortState", state, SHOW_STATE),
	PAIR("PartitionEnforcement", enforce_inbound, SHOW_ENFORCE),
	PORT("VLHighLimit", vl_high_limit, SHOW_NUMBER),
	PORT("ClientReregister", client_reregister, SHOW_YES),
	PORT("LinkWidthEnabled", width_enabled, SHOW_NUMBER),
	PORT("LinkSpeedEnabled", speed_enabled, SHOW_NUMBER),
	PORT("LinkSpeedExtEnabled", speed_ext_enabled, SHOW_NUMBER),
};
const struct plan_field switch_fields[] = {
	SWITCH("LinearFDBTop", linear_fdb_top, SHOW_NUMBER),
	SWITCH("LifeTimeValue", life_time, SHOW_NUMBER),
	SWITCH("PortStateChange", port_state_change, SHOW_NUMBER),
	SWITCH("MulticastFDBTop", multicast_fdb_top, SHOW_HEX),
};

const char *
port_field_name(unsigned bit)
{
	for (unsigned i = 0; i < N_PORT_FIELDS; i++)
		if (bit == 1u << i)
			return port_fields[i].name;
	return "?";
}

char *
plan_field_text(const struct plan_field *f, const void *info)
{
	static const char *const vls[] = {
		"none", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14",
	};
	static const char *const ways[2][2] = { { "off", "out" },
						{ "in", "both ways" } };
	const uint8_t *at = (const uint8_t *)info + f->offset;
	uint64_t n = *at;
	uint16_t two;

	if (f->size == sizeof(n)) {
		memcpy(&n, at, sizeof(n));
	} else if (f->size == sizeof(two)) {	/* a pair has any address */
		memcpy(&two, at, sizeof(two));
		n = two;
	}

	switch ((enum field_show)f->show) {
	case SHOW_NUMBER:
		break;
	case SHOW_GUID:
		return g_strdup_printf("0x%016" PRIx64, n);
	case SHOW_HEX:
		return g_strdup_printf("0x%04" PRIx64, n);
	case SHOW_SECRET:
		return g_strdup(n ? "(secret)" : "0");
	case SHOW_YES:
		return g_strdup(n ? "yes" : "no");
	case SHOW_MTU:
		n = port_mtu_bytes((unsigned)n);
		break;
	case SHOW_VLS:
		return g_strdup(n < G_N_ELEMENTS(vls) ? vls[n] : "?");
	case SHOW_STATE:
		return g_strdup(port_state_name((unsigned)n));
	case SHOW_PAIR:
		return g_strdup_printf("%u/%u", at[0], at[1]);
	case SHOW_ENFORCE:
		return g_strdup(ways[!!at[0]][!!at[1]]);
	}
	return g_strdup_printf("%" PRIu64, n);
}

static unsigned
fields_differ(const struct plan_field *f, unsigned n, const void *a,
	      const void *b)
{
	unsigned d = 0;

	for (unsigned i = 0; i < n; i++)
		if (memcmp((const uint8_t *)a + f[i].offset,
			   (const uint8_t *)b + f[i].offset, f[i].size) != 0)
			d |= 1u << i;
	return d;
}

unsigned
port_fields_differ(const struct port_info *a, const struct port_info *b,
		   unsigned mask)
{
	/* a request to register is no value that could be read back */
	return fields_differ(port_fields, N_PORT_FIELDS, a, b) & mask &
		~(unsigned)PORT_FIELD_REREGISTER;
}

unsigned
switch_fields_differ(const struct switch_info *a, const struct switch_info *b,
		     unsigned mask)
{
	return fields_differ(switch_fields, G_N_ELEMENTS(switch_fields), a,
			     b) & mask;
}

/* ------------------------------------------------------- desired values */

static void
want_end_port(const struct snapshot *s, const struct desired *w, uint32_t port,
	      struct port_info *out)
{
	const struct policy *policy = w->policy;
	uint64_t m_key = w->keys ?
		mkey_db_wanted(w->keys, s->ports[port].guid) : policy->m_key;

	/* A port without an assigned LID keeps the one it has. */
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

	/* A capability of 0 is no code of IBA: it is not known. */
	if (mtu > 0)
		out->neighbor_mtu = mtu;

	/* A port that carries traffic must not lose a VL under it. */
	vls = MIN(vls, policy->max_oper_vls);
	if (isolation_port_vls(s, w->qos, port, &most_vls,
			       &out->vl_high_limit))
		vls = MIN(vls, most_vls);
	if (vls > 0 && p->info.state < PORT_STATE_ACTIVE)
		out->oper_vls = vls;

	/* Widths and speeds that were disabled, by hand or by another SM, are
	 * enabled for the next training; the link is not taken down for it. */
	if (p->info.width_supported)
		out->width_enabled = p->info.width_supported;
	if (p->info.speed_supported)
		out->speed_enabled = p->info.speed_supported;
	if (p->info.speed_ext_supported && has_ext_speeds(s, port) &&
	    has_ext_speeds(s, p->peer))
		out->speed_ext_enabled = p->info.speed_ext_supported;

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

/* A switch's port 0 has no link; its PortState has a meaning only if it is
 * enhanced (IBA 14.2.5.6). Another end port needs a LID only with a link. */
static bool
wants_lid(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	if (!snapshot_is_end_port(s, port))
		return false;
	return snapshot_is_switch(snapshot_node_of(s, port)) ||
	       p->info.state >= PORT_STATE_INIT;
}

bool
desired_link_is_whole(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return snapshot_link_up(s, port) && p->info.state >= PORT_STATE_INIT &&
	       s->ports[p->peer].info.state >= PORT_STATE_INIT;
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
	if (desired_link_is_whole(s, port))
		want_link(s, w, port, out);
	/* A switch port without a P_Key table has nothing to enforce. */
	if (w->enforce && p->num > 0 && port_pkey_cap(s, port) &&
	    snapshot_is_switch(snapshot_node_of(s, port))) {
		out->enforce_inbound = w->enforce[port] & PKEY_ENFORCE_IN;
		out->enforce_outbound = w->enforce[port] & PKEY_ENFORCE_OUT;
	}
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
	/* Not a value but a request, which needs the capability (IBA 14.2.5.6):
	 * for other ports the bit is reserved. */
	out->client_reregister = w->reregister && w->reregister[port] &&
		wants_lid(s, port) &&
		p->info.cap_mask & PORT_CAP_HAS_CLIENT_REREGISTER;
	return fields | (out->client_reregister ? PORT_FIELD_REREGISTER : 0u);
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

	/* Writing 1 clears the bit (IBA 14.2.5.4): so does writing back the value
	 * that was read, if it is set. */
	return fields | (n->sw.port_state_change ? SWITCH_FIELD_CHANGE : 0u);
}
