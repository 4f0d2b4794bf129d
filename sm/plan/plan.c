// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The desired state, and the plan: desired minus observed, as ordered steps.
 *
 * Purpose. The Sets that bring the fabric to the desired state, and no others.
 * When it has that state the plan is empty: the SM is done, and a sweep over a
 * fabric without changes writes nothing. One place defines the value of every
 * component that the SM decides, so that the plan, the program stage (what is
 * sent) and the read-back (what was accepted) cannot disagree.
 *
 * Method. Nothing is stored for a port: desired_port() and desired_switch()
 * copy what was read and replace what the SM decides. A port has up to three
 * roles, each with its own components:
 *   end port		LID, LMC, SMLID, SMSL, M_Key and its protection,
 *			GidPrefix, SubnetTimeOut; an enhanced port 0 also its
 *			NeighborMTU			want_end_port()
 *   end of a cable	NeighborMTU, OperationalVLs, error thresholds, which
 *			follow from both ends; the enabled widths and speeds,
 *			raised to all that is supported	want_link()
 *   switch output	HOQLife, VLStallCount, shorter towards hosts, since
 *			a host that does not receive its packets must not stall
 *			a switch			want_link()
 * All other components stay as they were read.
 *
 * Structs. A step holds indices and masks, not values: the program stage and
 * the printer take those from desired_port() and desired_switch().
 *
 * Flow. plan_diff() visits all nodes once. A switch adds its PortStateChange,
 * its LFT blocks (a memcmp a block) and its SwitchInfo. With a bridge all switches
 * hold its tables after the first stage, as was verified, so a block that differs
 * from it is a step even if its final entries are held already. A port adds
 *	in Init, link whole	ARM with all that differs, then ACTIVATE
 *	Armed, link whole	PLAN_PORT if something differs, then ACTIVATE
 *	anything else		PLAN_PORT if something differs
 * and the blocks of its tables that differ. As nodes and ports are visited in
 * index order, the steps of a kind are sorted by node, port and block;
 * plan_diff() puts the kinds behind each other. A link is whole if both
 * ends are known and neither is Down. A component that the port accepted
 * earlier but did not keep is no difference, or the plan of such a port would
 * never become empty.
 *
 * Reference. IBA 1.4, 14.2.5.4 (SwitchInfo), 14.2.5.6 (PortInfo), 14.2.5.10
 * (LinearForwardingTable) and 14.4 (the subnet manager, the link state machine).
 * The values of policy_default are those that `opensm -c` writes.
 */
#include "sm/plan/plan.h"

#include <string.h>

#include "topology/member.h"

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
const struct plan_field port_fields[] = {
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
	{ .name = "ClientReregister", .show = SHOW_YES,
	  .offset = G_STRUCT_OFFSET(struct port_info, client_reregister) },
	PORT("LinkWidthEnabled", width_enabled, SHOW_NUMBER),
	PORT("LinkSpeedEnabled", speed_enabled, SHOW_NUMBER),
	PORT("LinkSpeedExtEnabled", speed_ext_enabled, SHOW_NUMBER),
	{ .name = "PortPhysicalState", .show = SHOW_NUMBER,
	  .offset = G_STRUCT_OFFSET(struct port_info, phys_state) },
	{ .name = NULL },
};
const struct plan_field switch_fields[] = {
	SWITCH("LinearFDBTop", linear_fdb_top, SHOW_NUMBER),
	SWITCH("LifeTimeValue", life_time, SHOW_NUMBER),
	SWITCH("PortStateChange", port_state_change, SHOW_NUMBER),
	SWITCH("MulticastFDBTop", multicast_fdb_top, SHOW_HEX),
	{ .name = NULL },
};

uint64_t
plan_field_value(const struct plan_field *f, const void *info)
{
	const uint8_t *at = (const uint8_t *)info + f->offset;

	if (f->show == SHOW_PAIR || f->show == SHOW_ENFORCE)
		return (uint64_t)at[0] << 8 | at[1];
	return f->size ? member_load(at, f->size) : 0;
}

const char *
port_field_name(unsigned bit)
{
	for (unsigned i = 0; port_fields[i].name; i++)
		if (bit == 1u << i)
			return port_fields[i].name;
	return "?";
}

unsigned
plan_fields_differ(const struct plan_field *f, unsigned mask, const void *a,
		   const void *b)
{
	unsigned d = 0;

	for (unsigned i = 0; mask >> i; i++) {
		const uint8_t *x = (const uint8_t *)a + f[i].offset;
		const uint8_t *y = (const uint8_t *)b + f[i].offset;

		/* most have one byte, and this is called for every port */
		if (mask >> i & 1 && f[i].size && (*x != *y ||
		    (f[i].size > 1 && memcmp(x, y, f[i].size) != 0)))
			d |= 1u << i;
	}
	return d;
}

void
plan_fields_take(const struct plan_field *f, void *known, const void *answer)
{
	for (; f->name; f++)
		memcpy((char *)known + f->offset,
		       (const char *)answer + f->offset, f->size);
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
	if (w->keys_stay) {
		if (mkey_db_is_hidden(out))
			out->m_key = mkey_db_of(w->keys, s->ports[port].guid);
	} else if (m_key || out->m_key) {
		out->m_key = m_key;
		out->m_key_protect = w->is_unseen && port == s->local_port ?
			MIN(policy->m_key_protect, 1) : policy->m_key_protect;
		out->m_key_lease = policy->m_key_lease;
	}
	out->gid_prefix = policy->gid_prefix;
	out->subnet_timeout = policy->subnet_timeout;
	/* The neighbour of an enhanced port 0 is the switch itself. */
	if (!s->ports[port].num && out->mtu_cap > 0 &&
	    snapshot_node_of(s, port)->sw.enhanced_port0)
		out->neighbor_mtu = out->mtu_cap;
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
	const struct snapshot_port *p = &s->ports[port];
	const struct port_info *far = &s->ports[p->peer].info;
	unsigned mtu = MIN(p->info.mtu_cap, far->mtu_cap);
	unsigned vls = MIN(p->info.vl_cap, far->vl_cap);

	/* A capability of 0 is no code of IBA: it is not known. */
	if (mtu > 0)
		out->neighbor_mtu = mtu;

	/* A port that carries traffic must not lose a VL under it. */
	vls = MIN(vls, policy->max_oper_vls);
	if (w->qos) {
		vls = MIN(vls, isolation_vls_code(w->qos));
		out->vl_high_limit = w->qos->high_limit;
	}
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

/* The port of a CA or router for which no LID is left sends nothing: with the
 * LID that it has, if any, answers would go to another port. */
static bool
may_carry(const struct snapshot *s, const struct lid_map *lids, uint32_t port)
{
	return !snapshot_is_end_port(s, port) || lids->base[port] != LID_NONE;
}

/* Both ends known and at least in Init: the link may be armed and activated. A
 * cable from a switch to itself is a link like any other. */
static bool
link_is_whole(const struct snapshot *s, uint32_t port)
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
	/* A Set of LID 0 would be refused, whatever else it is about. */
	if (wants_lid(s, port) && out->lid == LID_NONE)
		return 0;
	if (link_is_whole(s, port))
		want_link(s, w, port, out);
	if (w->enforce && p->num > 0 &&
	    snapshot_is_switch(snapshot_node_of(s, port))) {
		out->enforce_inbound = w->enforce[port] & PKEY_ENFORCE_IN;
		out->enforce_outbound = w->enforce[port] & PKEY_ENFORCE_OUT;
	}
	fields = plan_fields_differ(port_fields, PORT_FIELDS_ALL, &p->info,
				    out);

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
	if (w->phys && w->phys[port] &&
	    (w->phys[port] == PORT_PHYS_DISABLED) !=
	    (p->info.phys_state == PORT_PHYS_DISABLED)) {
		out->phys_state = w->phys[port];
		out->state = out->phys_state == PORT_PHYS_DISABLED ?
			PORT_STATE_DOWN : PORT_STATE_NOP;
		fields |= PORT_FIELD_PHYS;
	}
	/* Not a value but a request, which needs the capability (IBA 14.2.5.6):
	 * for other ports the bit is reserved. */
	out->client_reregister = w->reregister && w->reregister[port] &&
		wants_lid(s, port) &&
		p->info.cap_mask & PORT_CAP_HAS_CLIENT_REREGISTER;
	return fields | (out->client_reregister ? PORT_FIELD_REREGISTER : 0u);
}

/* The end of the table, also on a switch without a group: multicast tables are
 * written beside the sweeps, and must count at once. */
uint16_t
desired_mcast_top(const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];

	if (!(s->ports[n->first_port].info.cap_mask &
	      PORT_CAP_HAS_MCAST_FDB_TOP) || !n->sw.multicast_fdb_cap)
		return n->sw.multicast_fdb_top;
	return (uint16_t)MIN(LID_MULTICAST_MIN + n->sw.multicast_fdb_cap - 1u,
			     LID_PERMISSIVE - 1u);
}

/* 0: it was never set, and all entries count (IBA 14.2.5.4). */
unsigned
plan_hidden_blocks(const struct snapshot *s, uint32_t node, unsigned *first)
{
	const struct snapshot_node *n = &s->nodes[node];
	uint16_t to = desired_mcast_top(s, node);
	uint16_t top = n->sw.multicast_fdb_top;

	if (top < LID_MULTICAST_MIN - 1 || top >= to)
		return 0;
	*first = (top - LID_MULTICAST_MIN + MFT_BLOCK) / MFT_BLOCK;
	return ((to - LID_MULTICAST_MIN) / MFT_BLOCK + 1u - *first) *
		mft_positions(n->info.num_ports);
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
	out->multicast_fdb_top = desired_mcast_top(s, node);
	fields = plan_fields_differ(switch_fields, SWITCH_FIELDS_VALUES,
				    &n->sw, out);

	/* Writing 1 clears the bit (IBA 14.2.5.4): so does writing back the value
	 * that was read, if it is set. */
	return fields | (n->sw.port_state_change ? SWITCH_FIELD_CHANGE : 0u);
}

/* ---------------------------------------------------------------- the plan */

/* The input of a plan, and its steps so far. */
struct diff {
	const struct snapshot *s;
	const struct desired *w;
	const struct lft_seen *seen;
	const struct port_tables *held;
	uint32_t *forgotten;
	GArray *steps;		/* struct plan_step, as they are found */
};

static void
add_step(struct diff *d, enum plan_kind kind, uint32_t node, uint32_t port,
	 unsigned fields)
{
	const struct plan_step step = {
		.kind = kind, .node = node, .port = port, .fields = fields,
	};

	g_array_append_val(d->steps, step);
}

static void
diff_port(struct diff *d, uint32_t port)
{
	const struct snapshot_port *p = &d->s->ports[port];
	struct port_info info;
	unsigned fields, early;
	bool rises;

	fields = desired_port(d->s, d->w, port, &info);
	if (d->forgotten) {
		d->forgotten[port] &= fields;
		fields &= ~d->forgotten[port];
	}

	/* Port 0 has no link state to change (IBA 14.2.5.6). */
	rises = p->num > 0 && p->info.state < PORT_STATE_ACTIVE &&
		link_is_whole(d->s, port) &&
		may_carry(d->s, d->w->lids, port) &&
		may_carry(d->s, d->w->lids, p->peer);
	/* Clients register as soon as ClientReregister is set: not before the
	 * port carries data. */
	early = rises ? fields & ~(unsigned)PORT_FIELD_REREGISTER : fields;
	if (rises && p->info.state == PORT_STATE_INIT)
		add_step(d, PLAN_ARM, p->node, port, early);
	else if (early)
		add_step(d, PLAN_PORT, p->node, port, early);
	if (rises)
		add_step(d, PLAN_ACTIVATE, p->node, port, fields);
}

/* A link that comes up is often that of a port which is reset: tables that were read
 * before the routes were computed may be lost, so they are written. */
static void
diff_table(struct diff *d, enum port_table table, uint32_t port)
{
	const struct snapshot_port *p = &d->s->ports[port];
	bool may_be_reset = p->num && p->info.state == PORT_STATE_INIT &&
		snapshot_is_end_port(d->s, port);
	unsigned n = d->w->tables->rows[table][port] ?
		d->w->tables->n_blocks[table][port] : 0;
	struct plan_step step = {
		.kind = PLAN_TABLE, .table = (uint8_t)table,
		.node = d->s->ports[port].node, .port = port,
	};

	for (; step.block < n; step.block++) {
		const union port_block *want, *have;

		want = port_tables_get(d->w->tables, table, port, step.block);
		have = d->held ? port_tables_get(d->held, table, port,
						 step.block) : NULL;
		if (want && (!have || memcmp(have, want, sizeof(*have)) ||
			     (may_be_reset &&
			      !port_block_is_plain(table, step.block, want))))
			g_array_append_val(d->steps, step);
	}
}

static void
diff_switch(struct diff *d, uint32_t node)
{
	const struct snapshot_node *n = &d->s->nodes[node];
	const uint8_t *row = lft_row(d->w->lft, n->sw_index);
	const uint8_t *bridge = d->w->bridge ?
		lft_row(d->w->bridge, n->sw_index) : NULL;
	uint32_t end = MIN(n->sw.linear_fdb_cap, d->w->lft->top + 1u);
	struct plan_step step = {
		.kind = PLAN_LFT, .node = node, .port = SNAPSHOT_NONE,
	};
	struct switch_info info;
	unsigned fields = desired_switch(d->s, d->w, node, &info), first;

	if (fields & SWITCH_FIELD_CHANGE)
		add_step(d, PLAN_CHANGE_CLEAR, node, SNAPSHOT_NONE,
			 SWITCH_FIELD_CHANGE);
	for (uint32_t lid = 0; lid < end; lid += LFT_BLOCK, step.block++) {
		const uint8_t *held = lft_seen_block(d->seen, n->sw_index,
						     step.block);
		/* Entries past the capability do not exist: a switch may return
		 * any value for them. */
		size_t len = MIN(LFT_BLOCK, n->sw.linear_fdb_cap - lid);

		if (!held || d->w->all_blocks ||
		    memcmp(held, row + lid, len) != 0 ||
		    (bridge && memcmp(held, bridge + lid, len) != 0))
			g_array_append_val(d->steps, step);
	}
	fields &= ~(unsigned)SWITCH_FIELD_CHANGE;
	if (d->w->all_blocks && plan_hidden_blocks(d->s, node, &first))
		add_step(d, PLAN_MFT, node, SNAPSHOT_NONE, 0);
	if (fields)
		add_step(d, PLAN_SWITCH, node, SNAPSHOT_NONE, fields);
}

static void
diff_node(struct diff *d, uint32_t node)
{
	const struct snapshot_node *n = &d->s->nodes[node];
	uint32_t end = n->first_port + n->info.num_ports;

	if (snapshot_is_switch(n) && n->sw_known)
		diff_switch(d, node);
	for (uint32_t port = n->first_port; port <= end; port++) {
		if (!d->s->ports[port].known)
			continue;
		for (unsigned t = 0; d->w->tables && t < PORT_N_TABLES; t++)
			diff_table(d, (enum port_table)t, port);
		diff_port(d, port);
	}
}

struct plan *
plan_diff(const struct snapshot *s, const struct desired *w,
	  const struct lft_seen *seen, const struct port_tables *held,
	  uint32_t *forgotten)
{
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE,
					      sizeof(struct plan_step));
	struct diff d = { .s = s, .w = w, .seen = seen, .held = held,
			  .forgotten = forgotten, .steps = steps };
	struct plan *plan = g_new0(struct plan, 1);
	const struct plan_step *step;
	uint32_t next[PLAN_N_KINDS];

	for (uint32_t node = 0; node < s->n_nodes; node++)
		diff_node(&d, node);
	/* sorts the steps by kind; in a kind they stay as they are */
	plan->n_steps = steps->len;
	plan->steps = g_new(struct plan_step, plan->n_steps);
	step = (const void *)steps->data;
	for (uint32_t i = 0; i < plan->n_steps; i++)
		plan->first[step[i].kind + 1]++;
	for (unsigned k = 0; k < PLAN_N_KINDS; k++) {
		plan->first[k + 1] += plan->first[k];
		next[k] = plan->first[k];
	}
	for (uint32_t i = 0; i < plan->n_steps; i++)
		plan->steps[next[step[i].kind]++] = step[i];
	return plan;
}

void
plan_free(struct plan *plan)
{
	if (!plan)
		return;
	g_free(plan->steps);
	g_free(plan);
}

unsigned
plan_entries(const struct snapshot *s, const struct desired *w,
	     const struct lft_seen *seen, const struct plan_step *step,
	     bool *is_known)
{
	const struct snapshot_node *n = &s->nodes[step->node];
	uint32_t first = step->block * LFT_BLOCK;
	const uint8_t *want = lft_row(w->lft, n->sw_index) + first;
	const uint8_t *held = lft_seen_block(seen, n->sw_index, step->block);
	unsigned len = MIN(LFT_BLOCK, n->sw.linear_fdb_cap - first);
	unsigned differ = 0;

	*is_known = held != NULL;
	held = held ? held : lft_no_paths;
	for (unsigned i = 0; i < len; i++)
		differ += want[i] != held[i];
	return differ;
}
