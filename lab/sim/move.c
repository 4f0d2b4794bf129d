// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Moving MADs, and the queues of the agents.
 *
 * launch	finds the way: of a directed-route SMP by its path, of all
 *		others by LID through the tables that the switches hold
 *		(probe.c); then the rules apply, and it travels
 * on_arrive	the agent gets it, or a client on this port; on a wrong QP it
 *		is lost (IBA 13.5.1, 14.2.1)
 * on_serve	the agent's turn has come: it answers, the answer is launched
 *
 * on_forward	the agent of a switch on a directed route passes the SMP on
 *
 * A directed route (IBA 14.2.2) is followed in one step, or, if agents take
 * time to forward (sim_params.forward_ns), from switch to switch; then one that
 * hangs forwards nothing. HopPointer has to be at the sender's end. The ports of
 * entry are recorded in ReturnPath for the answer. SMPs pass a link that is in
 * Init at both ends. A CA or router forwards nothing; at the first node the SMP
 * leaves by the first port of the path (C14-9). A route with a LID-routed part
 * is not supported: it is lost.
 */
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"
#include "sm/mad/sa_mad.h"
#include "topology/prng.h"

#define OFF_HOP_POINTER	6
#define OFF_DR_DLID	34
#define OFF_INITIAL	128

#define WIRE_LEN	290u	/* a MAD with LRH, BTH, DETH and CRCs */

/* Over the cable at `out`; false: it is lost there. */
static bool
pass(struct sim *sim, uint32_t out)
{
	struct sim_port *from = &sim->ports[out];
	struct sim_port *to = &sim->ports[from->peer];

	from->counters.traffic[SIM_XMIT_PACKETS]++;
	from->counters.traffic[SIM_XMIT_DATA] += WIRE_LEN / 4;
	to->counters.traffic[SIM_RCV_PACKETS]++;
	to->counters.traffic[SIM_RCV_DATA] += WIRE_LEN / 4;
	if (!from->loss_per_mille ||
	    prng_below(&sim->rng, 1000) >= from->loss_per_mille)
		return true;
	to->counters.error[PERF_RCV]++;
	return false;
}

/* Follows the route from the present node to its end or to the next switch
 * whose agent has to forward it. */
static enum sim_delivery
route_direct(struct sim *sim, struct sim_packet *p)
{
	const uint8_t *ports = p->mad +
		(p->h.returning ? SIM_OFF_RETURN : OFF_INITIAL);
	unsigned hops = p->h.hop_count;

	if (hops > DR_MAX_HOPS ||
	    bytes_load16(p->mad + SIM_OFF_DR_SLID) != LID_PERMISSIVE ||
	    bytes_load16(p->mad + OFF_DR_DLID) != LID_PERMISSIVE)
		return SIM_NO_ROUTE;
	p->travel = 0;
	while (p->hop < hops) {
		unsigned i = p->h.returning ? hops - p->hop : p->hop + 1;
		const struct sim_node *node = sim_node_of(sim, p->to);
		uint32_t out = node->first_port + ports[i];

		if (p->hop > 0 && !sim_is_switch(node))
			return SIM_NO_ROUTE;
		if (ports[i] == 0 || ports[i] > node->info.num_ports ||
		    (!sim_is_switch(node) && out != p->to))
			return SIM_NO_LINK;
		p->to = sim->ports[out].peer;
		if (p->to == SNAPSHOT_NONE ||
		    sim->ports[out].info.state < PORT_STATE_INIT ||
		    sim->ports[p->to].info.state < PORT_STATE_INIT ||
		    !pass(sim, out))
			return SIM_NO_LINK;
		if (!p->h.returning)
			p->mad[SIM_OFF_RETURN + i] = sim->ports[p->to].num;
		p->travel += sim->params.hop_ns;
		p->hop++;
		if (p->hop < hops && sim_node_of(sim, p->to)->forward_ns)
			return SIM_DELIVERED;
	}
	p->mad[OFF_HOP_POINTER] = p->h.returning ? 0 : hops + 1;
	return SIM_DELIVERED;
}

/* On a switch the port of an SMP is that where its last hop ends. */
static enum sim_delivery
route_by_lid(struct sim *sim, struct sim_packet *p)
{
	struct sim_packet_kind kind = { .lane = SIM_LANE_VL15 };
	struct sim_port *end;
	struct sim_trace trace;
	enum sim_delivery d;

	if (!sim_is_smp(&p->h)) {
		kind.lane = SIM_LANE_DATA;
		kind.sl = p->addr.sl;
		kind.pkey = sim_port_pkey(sim, p->from, p->addr.pkey_index);
	}
	d = sim_walk(sim, p->from, p->addr.lid, &kind, &trace);
	for (unsigned i = 0; i < trace.n; i++)
		if (!pass(sim, trace.hop[i].port))
			return SIM_NO_LINK;
	if (d == SIM_NO_LINK || d == SIM_LOOP)
		sim_port_add_errors(sim, trace.end, PERF_XMIT_DISCARDS, 1);
	p->to = trace.end;
	p->travel = (int64_t)trace.n * sim->params.hop_ns;
	if (d == SIM_DELIVERED && trace.n)
		p->to = sim->ports[trace.hop[trace.n - 1].port].peer;
	if (d != SIM_BAD_PKEY || trace.end == p->from)
		return d;
	/* The port that detects a violation counts it and raises a trap (IBA
	 * 14.2.5.1). */
	end = &sim->ports[trace.end];
	if (sim_is_switch(sim_node_of(sim, trace.end)) && end->num) {
		sim_trap_raise(sim, trace.end, 259, p);
		return d;
	}
	if (end->info.p_key_violations < UINT16_MAX)
		end->info.p_key_violations++;
	sim_trap_raise(sim, trace.end, 257, p);
	return d;
}

static void on_arrive(struct sim *sim, struct sim_event *e);

static void
packet_answer(struct sim *sim, struct sim_packet *p, unsigned status)
{
	uint32_t asker = p->from;
	uint16_t pkey = sim_port_pkey(sim, asker, p->addr.pkey_index);
	uint16_t slid = sim_source_lid(sim, p);

	smp_make_response(p->mad, status);
	if (sim->step) {
		sim->held = true;
		sim->step(sim, p->node, p->h.method, p->mad, sim->step_data);
	}
	if (sim->hooks.answer &&
	    sim->hooks.answer(sim, p) == SIM_PASSAGE_LOST) {
		sim_packet_lose(sim, p, &sim->stats.lost_by_fault);
		return;
	}
	mad_header_read(p->mad, MAD_SIZE, &p->h);
	p->from = p->to;
	if (p->h.mgmt_class != MAD_CLASS_SMP_DIRECT) {
		p->from = sim_end_port(sim, p->to);
		p->addr.pkey_index = sim_port_pkey_index(sim, p->from, pkey);
		/* from the LID that was asked */
		p->addr.path_bits = p->addr.lid;
		p->addr.lid = p->from == asker && sim_is_smp(&p->h) ?
			LID_PERMISSIVE : slid;
	}
	sim_packet_launch(sim, p);
}

/* A hook may change the fabric, this node included. */
static void
on_serve(struct sim *sim, struct sim_event *e)
{
	struct sim_packet *p = (struct sim_packet *)e;
	struct sim_node *node = &sim->nodes[p->node];
	uint32_t status;

	if (node->epoch == p->epoch)
		node->queued--;
	if (sim->hooks.serve)
		sim->hooks.serve(sim, p);
	if (node->epoch != p->epoch || node->mood == SIM_MOOD_SILENT) {
		sim_packet_lose(sim, p, &sim->stats.lost_at_node);
		return;
	}
	sim->stats.served++;
	status = sim_agent_answer(sim, p);
	if (status == SIM_NO_ANSWER)
		sim_packet_drop(p);
	else
		packet_answer(sim, p, status);
}

/* The agent of a switch on the route forwards the SMP. */
static void
on_forward(struct sim *sim, struct sim_event *e)
{
	struct sim_packet *p = (struct sim_packet *)e;
	struct sim_node *node = sim_node_of(sim, p->to);
	enum sim_delivery d;

	if (node->epoch == p->epoch)
		node->queued--;
	if (node->epoch != p->epoch || node->mood == SIM_MOOD_SILENT) {
		sim_packet_lose(sim, p, &sim->stats.lost_at_node);
		return;
	}
	d = route_direct(sim, p);
	if (d != SIM_DELIVERED) {
		sim_packet_lose(sim, p, &sim->stats.lost[d]);
		return;
	}
	p->event.fn = on_arrive;
	sim_clock_start(sim, &p->event, sim->now + p->travel);
}

static void
wait_in_line(struct sim *sim, struct sim_packet *p, struct sim_node *node,
	     unsigned ns, void (*fn)(struct sim *sim, struct sim_event *e))
{
	if (node->queued >= node->vl15_depth) {
		sim_port_add_errors(sim, p->to, PERF_VL15_DROPPED, 1);
		sim_packet_lose(sim, p, &sim->stats.lost_vl15);
		return;
	}
	node->queued++;
	node->busy_until = MAX(node->busy_until, sim->now) + ns;
	p->epoch = node->epoch;
	p->event.fn = fn;
	sim_clock_start(sim, &p->event, node->busy_until);
}

static void
on_arrive(struct sim *sim, struct sim_event *e)
{
	struct sim_packet *p = (struct sim_packet *)e;
	struct sim_node *node = sim_node_of(sim, p->to);
	const struct mad_header *h = &p->h;

	/* again, since a bit may have been flipped */
	mad_header_read(p->mad, MAD_SIZE, &p->h);
	if (node->power == SIM_POWER_OFF) {
		sim_packet_lose(sim, p, &sim->stats.lost_at_node);
	} else if (p->addr.qp != !sim_is_smp(h)) {
		sim_packet_lose(sim, p, &sim->stats.lost_qp);
	} else if (h->mgmt_class == MAD_CLASS_SMP_DIRECT &&
		   p->hop < h->hop_count) {
		wait_in_line(sim, p, node, node->forward_ns, on_forward);
	} else if (sim_is_smp(h) && !(h->method & MAD_METHOD_RESPONSE) &&
		   h->method != MAD_METHOD_TRAP &&
		   h->method != SA_METHOD_REPORT &&
		   h->attr_id != MAD_ATTR_SM_INFO) {
		p->node = sim->ports[p->to].node;
		wait_in_line(sim, p, node, node->smp_ns, on_serve);
	} else if (h->mgmt_class == MAD_CLASS_PERF &&
		   (h->method == MAD_METHOD_GET ||
		    h->method == MAD_METHOD_SET)) {
		/* the firmware answers on QP 1 */
		p->to = sim_end_port(sim, p->to);
		p->node = sim->ports[p->to].node;
		if (node->mood == SIM_MOOD_SILENT)
			sim_packet_lose(sim, p, &sim->stats.lost_at_node);
		else
			packet_answer(sim, p, sim_pma_answer(sim, p));
	} else {
		p->to = sim_end_port(sim, p->to);
		sim_client_receive(sim, p);
	}
}

void
sim_packet_launch(struct sim *sim, struct sim_packet *p)
{
	enum sim_delivery d;

	if (sim_node_of(sim, p->from)->power == SIM_POWER_OFF) {
		sim_packet_lose(sim, p, &sim->stats.lost_at_node);
		return;
	}
	p->event.free = (GDestroyNotify)sim_packet_drop;
	p->hop = 0;
	p->to = p->from;
	if (p->h.mgmt_class != MAD_CLASS_SMP_DIRECT)
		d = route_by_lid(sim, p);
	else if (p->h.hop_pointer != (p->h.returning ? p->h.hop_count + 1 : 0))
		d = SIM_NO_ROUTE;
	else
		d = route_direct(sim, p);
	if (d != SIM_DELIVERED) {
		sim_packet_lose(sim, p, &sim->stats.lost[d]);
		return;
	}
	p->node = p->h.method & MAD_METHOD_RESPONSE ?
		sim->ports[p->from].node : sim->ports[p->to].node;
	p->event.fn = on_arrive;
	if (sim->hooks.travel && sim->hooks.travel(sim, p) == SIM_PASSAGE_LOST)
		sim_packet_lose(sim, p, &sim->stats.lost_by_fault);
	else
		sim_clock_start(sim, &p->event, sim->now + p->travel);
}
