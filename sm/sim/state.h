/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the simulator share. Private to sm/sim. How they play
 * together stands at the head of sim.c.
 */
#ifndef MINISM_SIM_STATE_H
#define MINISM_SIM_STATE_H

#include "sm/sim/clock.h"
#include "sm/sim/node.h"
#include "sm/sim/probe.h"

struct sim {
	struct sim_params params;
	uint32_t n_nodes, n_ports;
	struct sim_node *nodes;
	struct sim_port *ports;

	int64_t now;		/* ns */
	uint64_t seq;
	GArray *heap;		/* struct sim_place; [0] is not used */
	struct sim_packet *unused;
	GPtrArray *chunks;	/* of packets */

	GPtrArray *clients;	/* struct sim_client, in order of attaching */
	uint32_t last_client;

	GHashTable *training;	/* lower port of a link -> its event */
	GHashTable *traps;	/* port << 16 | number -> struct sim_notice */
	uint64_t last_tid;

	uint64_t rng;
	GArray *rules, *cues;	/* fault.c */
	GPtrArray *scripts;	/* scheduled actions, fault.c */
	unsigned last_rule;
	sim_liar_fn liar;
	void *liar_data;
	sim_reregister_fn reregister;
	void *reregister_data;
	struct sim_stats stats;
};

static inline struct sim_node *
sim_node_of(const struct sim *sim, uint32_t port)
{
	return &sim->nodes[sim->ports[port].node];
}

static inline bool
sim_is_switch(const struct sim_node *node)
{
	return node->info.node_type == NODE_SWITCH;
}

/* The port that owns the LID and the keys of `port`: of a switch port 0. */
static inline uint32_t
sim_end_port(const struct sim *sim, uint32_t port)
{
	const struct sim_node *node = sim_node_of(sim, port);

	return sim_is_switch(node) ? node->first_port : port;
}

static inline bool
sim_is_base_port0(const struct sim *sim, uint32_t port)
{
	const struct sim_node *node = sim_node_of(sim, port);

	return sim_is_switch(node) && sim->ports[port].num == 0 &&
		!node->sw.enhanced_port0;
}

/* MulticastFDBTop is a component only if port 0 says so (IBA 14.2.5.6). */
static inline bool
sim_has_mcast_top(const struct sim *sim, const struct sim_node *node)
{
	return sim->ports[node->first_port].info.cap_mask &
		PORT_CAP_HAS_MCAST_FDB_TOP;
}

/* move.c: takes the packet, from p->from on. */
void sim_packet_launch(struct sim *sim, struct sim_packet *p);

/* client.c */
void sim_client_receive(struct sim *sim, struct sim_packet *p);
void sim_client_free_all(struct sim *sim);

#define SIM_NO_ANSWER	UINT32_MAX
/* agent.c: answers p->mad in place; the status, or who must not answer. */
uint32_t sim_agent_answer(struct sim *sim, struct sim_packet *p);

/* portinfo.c: `port` is where the SMP came in; data is read by a Set and
 * written in any case. Returns the status. */
unsigned sim_port_info_serve(struct sim *sim, uint32_t port,
			     const struct sim_packet *p, uint8_t *data);
/* pma.c: answers p->mad in place; the status. */
unsigned sim_pma_answer(struct sim *sim, struct sim_packet *p);
/* congestion.c: the same. */
unsigned sim_congestion_answer(struct sim *sim, struct sim_packet *p);
/* pma.c: a packet of so many bytes goes out of a port. */
void sim_pma_count(struct sim *sim, uint32_t out, unsigned bytes);
/* fault.c: whether the cable at `out` swallows this packet. */
bool sim_link_loses(struct sim *sim, uint32_t out);

/* fault.c */
enum sim_passage {
	SIM_PASSAGE_FREE,
	SIM_PASSAGE_LOST,
};
/* The rules, for a packet that is about to travel. */
enum sim_passage sim_rules_apply(struct sim *sim, struct sim_packet *p);
/* Cues that wait for this SMP. */
void sim_cues_play(struct sim *sim, const struct sim_packet *p);
void sim_fault_free(struct sim *sim);

#endif
