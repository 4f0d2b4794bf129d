// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The simulated fabric: creation, and an overview of this folder.
 *
 * A struct sim is two flat arrays, nodes and ports, with the indices of the
 * snapshot that it was made of, and a queue of events. A MAD is a struct
 * sim_packet that walks through these stages:
 *
 *	client.c  send ---+                        +--> client.c  deliver
 *	trap.c    raise --+-> move.c  launch ------+
 *	                      route, rules, delay  |
 *	                                           +--> move.c    arrive at an
 *	        +--------- launch <---- serve <---------  agent: wait in line
 *
 *	clock.c		the queue, the virtual time, the main loop source
 *	client.c	transports, delivery, requests without an answer
 *	move.c		from port to port, directed route or by LID; agents'
 *			queues
 *	agent.c		M_Key, methods, the simple attributes
 *	portinfo.c	PortInfo
 *	table.c		GUIDs, P_Key, SL to VL, VL arbitration, LFT, MFT
 *	link.c		cables and port states
 *	gsa.c		counters
 *	trap.c		notices, repeated until they are repressed
 *	probe.c		the data plane
 *	fault.c		rules: loss, delay, duplicates ..
 *	chaos.c		changes of the fabric
 *
 * The path of a MAD is decided when it is sent and when its answer is sent, by
 * the links and tables of that moment; in between only time passes. Nothing
 * here depends on the subnet manager under test. IBA 1.4 volume 1, chapters 7
 * (links), 13 (MADs), 14 (subnet management), 18 (switches).
 */
#include "lab/sim/state.h"

#include <string.h>

#include "tools/device.h"
#include "topology/prng.h"

#define RNG_STREAM	16u	/* apart from the generators' streams */
#define TOP_STREAM	17u

const struct sim_params sim_params_default = {
	.seed = 1,
	.hop_ns = 300,
	.smp_ns = 20000,
	.train_us = 10000,
	.vl15_depth = 1024,
	.same_state = SIM_SAME_STATE_REFUSED,
	.mcast_top = SIM_MCAST_TOP_MIXED,
};

/* A port that is not known in the snapshot has the attributes of a new
 * device. */
static void
fabric_take_port(struct sim *sim, const struct snapshot *fabric, uint32_t i)
{
	const struct snapshot_port *from = &fabric->ports[i];
	struct sim_port *p = &sim->ports[i];
	const struct sim_node *node = &sim->nodes[from->node];
	bool is_port0 = from->num == 0 && sim_is_switch(node);

	p->node = from->node;
	p->num = from->num;
	p->peer = from->peer;
	p->guid = from->guid;
	p->info = from->known ? from->info : device_idle_port;
	p->info.local_port = from->num;
	p->info.state = PORT_STATE_DOWN;
	p->info.phys_state = PORT_PHYS_POLLING;
	if (!sim_is_switch(node) && from->num != 0) {
		if (!p->guid)
			p->guid = node->info.node_guid + from->num;
		if (!from->known)
			p->info.cap_mask = DEVICE_END_PORT_CAPS;
	}
	/* The links have trained already. */
	if (is_port0 || p->peer != SNAPSHOT_NONE) {
		p->info.state = is_port0 ? PORT_STATE_ACTIVE : PORT_STATE_INIT;
		p->info.phys_state = PORT_PHYS_LINK_UP;
	}
	/* IsSM is set when a manager attaches. */
	p->info.cap_mask &= ~PORT_CAP_IS_SM;
}

struct sim *
sim_new(const struct snapshot *fabric, const struct sim_params *params)
{
	static const uint16_t mixed[] = {
		0, SIM_MCAST_TOP_NONE, SIM_MCAST_TOP_LOW,
	};
	struct sim *sim = g_new0(struct sim, 1);

	sim->params = params ? *params : sim_params_default;
	sim->n_nodes = fabric->n_nodes;
	sim->n_ports = fabric->n_ports;
	sim->nodes = g_new0(struct sim_node, sim->n_nodes);
	sim->ports = g_new0(struct sim_port, sim->n_ports);
	for (uint32_t i = 0; i < sim->n_nodes; i++) {
		uint64_t rng = prng_stream(sim->params.seed + i, TOP_STREAM);
		const struct snapshot_node *from = &fabric->nodes[i];
		struct sim_node *n = &sim->nodes[i];

		n->info = from->info;
		n->info.partition_cap = MAX(n->info.partition_cap, 1);
		n->sw = from->sw_known ? from->sw : device_switch;
		n->sw.linear_fdb_top = 0;
		n->sw.multicast_fdb_top = sim->params.mcast_top;
		if (sim->params.mcast_top == SIM_MCAST_TOP_MIXED)
			n->sw.multicast_fdb_top = mixed[prng_below(&rng,
						G_N_ELEMENTS(mixed))];
		n->sw.port_state_change = sim_is_switch(n);
		n->first_port = from->first_port;
		n->smp_ns = sim->params.smp_ns;
		n->forward_ns = sim->params.forward_ns;
		n->vl15_depth = sim->params.vl15_depth;
		memcpy(n->desc, from->desc, strnlen(from->desc, NODE_DESC_LEN));
	}
	for (uint32_t i = 0; i < sim->n_ports; i++)
		fabric_take_port(sim, fabric, i);

	sim->heap = g_array_new(FALSE, TRUE, sizeof(struct sim_place));
	g_array_set_size(sim->heap, 1);
	sim->clients = g_ptr_array_new();
	sim->traps = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
					   g_free);
	sim->rng = prng_stream(sim->params.seed, RNG_STREAM);
	return sim;
}

void
sim_free(struct sim *sim)
{
	if (!sim)
		return;
	while (sim->clients->len)
		transport_free(sim->clients->pdata[sim->clients->len - 1]);
	/* Events without an owner, while all queued ones are there. */
	for (guint i = 1; i < sim->heap->len; i++) {
		struct sim_event *event =
			g_array_index(sim->heap, struct sim_place, i).event;

		if (event->free)
			event->free(event);
	}
	g_array_unref(sim->heap);
	if (sim->hooks.free)
		sim->hooks.free(sim);
	g_clear_pointer(&sim->rules, g_array_unref);
	g_hash_table_unref(sim->traps);
	for (uint32_t i = 0; i < sim->n_ports; i++)
		sim_table_clear_port(sim, i);
	for (uint32_t i = 0; i < sim->n_nodes; i++)
		sim_table_clear_node(sim, i);
	g_ptr_array_unref(sim->clients);
	g_free(sim->ports);
	g_free(sim->nodes);
	g_free(sim);
}

void
sim_set_reregister(struct sim *sim, sim_reregister_fn fn, void *data)
{
	sim->reregister = fn;
	sim->reregister_data = data;
}

void
sim_set_step(struct sim *sim, sim_step_fn fn, void *data)
{
	sim->step = fn;
	sim->step_data = data;
	sim->held &= fn != NULL;
}

void
sim_go_on(struct sim *sim)
{
	sim->held = false;
}

const struct port_info *
sim_port_info(const struct sim *sim, uint32_t port)
{
	return &sim->ports[port].info;
}

const struct switch_info *
sim_switch_info(const struct sim *sim, uint32_t node)
{
	return &sim->nodes[node].sw;
}

const struct node_info *
sim_node_info(const struct sim *sim, uint32_t node)
{
	return &sim->nodes[node].info;
}

const char *
sim_node_desc(const struct sim *sim, uint32_t node)
{
	return sim->nodes[node].desc;
}

uint32_t
sim_peer(const struct sim *sim, uint32_t port)
{
	return sim->ports[port].peer;
}

const struct sim_stats *
sim_stats(const struct sim *sim)
{
	return &sim->stats;
}
