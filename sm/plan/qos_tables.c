// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SL to VL and VL arbitration: the configured values, fitted to each port.
 *
 * Purpose. One configuration serves ports that have one VL and ports that have
 * fifteen. A VL that a port does not have is mapped to those it has, modulo their
 * number: OpenSM does so, and every SL keeps some VL. In VL
 * arbitration an entry of such a VL gets weight 0, which skips it (IBA
 * 7.6.9.2), since the entry of the VL that took its SLs in is there already.
 *
 * Flow. qos_tables_want() goes port by port: its kind, its number of VLs
 * (port_vls()), then its arbitration and its SL to VL blocks. An external port
 * of a switch has a mapping for each input port (IBA 14.2.5.8). Those of input
 * ports without a link are left out, which saves half of the blocks of a leaf
 * that is half full.
 *
 * How many VLs? A port that carries traffic keeps its OperationalVLs, see
 * desired.c; one that comes up gets as many as both ends support and the
 * configuration permits. A packet may change its VL at every hop. That cannot
 * cause a deadlock: the channel dependency graph of the routes has no cycle even
 * without VLs.
 */
#include "sm/plan/qos_tables.h"

#define VLS_CODE_MAX		5u

struct setup {
	const struct snapshot *s;
	const struct qos *qos;
	struct qos_values values[QOS_N_KINDS];
	struct port_tables *wanted;
};

/* --- how many VLs --- */

/* By VLCap and OperationalVLs code (IBA 14.2.5.6); other values count as one VL,
 * which every port has. */
static unsigned
code_vls(unsigned code)
{
	static const uint8_t vls[VLS_CODE_MAX + 1] = { 1, 1, 2, 4, 8, 15 };

	return code <= VLS_CODE_MAX ? vls[code] : 1;
}

static enum qos_kind
port_kind(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	if (snapshot_is_switch(n))
		return s->ports[port].num ? QOS_SWITCH : QOS_SWITCH_0;
	return n->info.node_type == NODE_ROUTER ? QOS_ROUTER : QOS_CA;
}

/* The code of both ends, with the most VLs that they are allowed. */
static unsigned
allowed_code(const struct snapshot *s, const struct qos *qos, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;
	unsigned most = qos_max_vls(qos, port_kind(s, port)), code = 1;

	if (peer != SNAPSHOT_NONE)
		most = MIN(most, qos_max_vls(qos, port_kind(s, peer)));
	if (qos->max_op_vls)
		most = MIN(most, code_vls(qos->max_op_vls));
	while (code < VLS_CODE_MAX && code_vls(code + 1u) <= most)
		code++;
	return code;
}

static unsigned
port_vls(const struct setup *q, uint32_t port)
{
	const struct snapshot_port *p = &q->s->ports[port];
	unsigned most;

	if (p->num == 0 || p->info.state >= PORT_STATE_ACTIVE)
		return code_vls(p->info.oper_vls);
	most = MIN(code_vls(p->info.vl_cap),
		   code_vls(q->s->ports[p->peer].info.vl_cap));
	return MIN(most, code_vls(allowed_code(q->s, q->qos, port)));
}

/* --- VL arbitration --- */

/* A table of `cap` entries in the block `block` and the next one. */
static void
want_shares(const struct setup *q, uint32_t port, unsigned n_vls,
	    unsigned block, const struct qos_share *shares, unsigned cap)
{
	cap = MIN(cap, QOS_ARB_ENTRIES);
	for (unsigned at = 0; at < cap; at += VL_ARB_ENTRIES, block++) {
		union port_block b = { .bytes = { 0 } };

		for (unsigned i = 0; i < VL_ARB_ENTRIES && at + i < cap; i++) {
			if (shares[at + i].vl >= n_vls)
				continue;
			b.arb[i].vl = shares[at + i].vl;
			b.arb[i].weight = shares[at + i].weight;
		}
		port_tables_set(q->wanted, PORT_TABLE_VL_ARB, port, block, &b);
	}
}

/* --- all ports --- */

void
qos_tables_want(const struct snapshot *s, const struct qos *qos,
	 struct port_tables *wanted)
{
	struct setup q = { .s = s, .qos = qos, .wanted = wanted };

	if (!qos || !qos->enabled)
		return;
	for (unsigned k = 0; k < QOS_N_KINDS; k++)
		qos_resolve(qos, (enum qos_kind)k, &q.values[k]);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		const struct snapshot_node *n = &s->nodes[p->node];
		const struct qos_values *v = &q.values[port_kind(s, port)];
		bool has_tables = snapshot_is_switch(n) && p->num == 0 ?
			p->known && n->sw_known && n->sw.enhanced_port0 :
			snapshot_link_up(s, port);
		union port_block b = { 0 };
		unsigned n_vls;

		if (!has_tables)
			continue;
		n_vls = port_vls(&q, port);
		want_shares(&q, port, n_vls, VL_ARB_LOW_1, v->low,
			    p->info.vl_arb_low_cap);
		want_shares(&q, port, n_vls, VL_ARB_HIGH_1, v->high,
			    p->info.vl_arb_high_cap);
		if (!(s->ports[snapshot_holder_of(s, port)].info.cap_mask &
		      PORT_CAP_HAS_SL_MAPPING))
			continue;
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			b.vl[sl] = v->sl2vl[sl] == QOS_VL_DROP ? QOS_VL_DROP :
				(uint8_t)(v->sl2vl[sl] % n_vls);
		port_tables_set(wanted, PORT_TABLE_SL2VL, port, 0, &b);
		for (unsigned in = 1; snapshot_is_switch(n) &&
		     in <= n->info.num_ports; in++)
			if (snapshot_link_up(s, n->first_port + in))
				port_tables_set(wanted, PORT_TABLE_SL2VL, port,
						in, &b);
	}
}

bool
qos_tables_port(const struct snapshot *s, const struct qos *qos, uint32_t port,
	 uint8_t *max_oper_vls, uint8_t *high_limit)
{
	if (!qos || !qos->enabled)
		return false;
	*max_oper_vls = (uint8_t)allowed_code(s, qos, port);
	*high_limit = (uint8_t)qos_high_limit(qos, port_kind(s, port));
	return true;
}
