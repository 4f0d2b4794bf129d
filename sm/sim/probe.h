/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The data plane: what becomes of a packet, by the tables and states that the
 * devices hold at this moment. Asking changes nothing and takes no time.
 */
#ifndef MINISM_SIM_PROBE_H
#define MINISM_SIM_PROBE_H

#include "sm/sim/sim.h"

/* A packet in a loop is taken for lost after so many hops. */
#define SIM_HOPS_MAX	64u

enum sim_delivery {
	SIM_DELIVERED,
	SIM_NO_LID,		/* the sender has none; or 0 or a LID of the
				   wrong kind was asked for */
	SIM_NO_LINK,		/* a link on the way is not up or not Active */
	SIM_NO_ROUTE,		/* a switch has no port for this LID */
	SIM_LOOP,
	SIM_WRONG_END,		/* it came to a port that has another LID */
	SIM_BAD_PKEY,		/* refused at an end or at a switch port */
	SIM_BAD_VL,		/* an SL that maps to no operational VL */
	SIM_N_DELIVERIES
};
const char *sim_delivery_name(enum sim_delivery d);

/* The way of a packet; also of one that was lost, as far as it came. */
struct sim_trace {
	uint32_t end;		/* the port where it ended */
	unsigned n;
	struct {
		uint32_t port;	/* out of which it went: a channel */
		uint8_t vl;
	} hop[SIM_HOPS_MAX];
};

/* Does a packet from the end port `from` arrive at who owns `dlid`? pkey: as
 * the sender's table must have it. trace may be NULL. */
enum sim_delivery sim_probe(const struct sim *sim, uint32_t from,
			    uint16_t dlid, uint16_t pkey, unsigned sl,
			    struct sim_trace *trace);

/* What became of the copies of a multicast packet. */
struct sim_mcast {
	GArray *reached;	/* uint32_t end ports, in index order; a switch
				   port 0 is there once for each copy */
	uint32_t channels;	/* out of which copies went */
	uint32_t lost[SIM_N_DELIVERIES];	/* copies, by what they met */
};

/* SIM_DELIVERED: copies went out, look at `out`. SIM_LOOP: a copy took a
 * channel that another one had taken; it was not followed any further. Every
 * end port that a copy comes to has it: who listens is the host's business. */
enum sim_delivery sim_probe_mcast(const struct sim *sim, uint32_t from,
				  uint16_t mlid, uint16_t pkey, unsigned sl,
				  struct sim_mcast *out);
void sim_mcast_clear(struct sim_mcast *out);

/* What a device really holds; borrowed, valid until the next event. */
const struct port_info *sim_port_info(const struct sim *sim, uint32_t port);
const struct switch_info *sim_switch_info(const struct sim *sim,
					  uint32_t node);
const struct node_info *sim_node_info(const struct sim *sim, uint32_t node);
/* Of an end port; 0: nothing there. */
uint16_t sim_port_pkey(const struct sim *sim, uint32_t port, unsigned index);
/* Where the port has the key that lets a packet with `pkey` in. */
unsigned sim_port_pkey_index(const struct sim *sim, uint32_t port,
			     uint16_t pkey);
uint32_t sim_peer(const struct sim *sim, uint32_t port);
/* LFT entry: 255 for none. */
uint8_t sim_lft_entry(const struct sim *sim, uint32_t node, uint16_t lid);

/* What passed and what was lost, and why. */
struct sim_stats {
	uint64_t sent;		/* MADs by clients and trapping agents */
	uint64_t served;	/* SMPs that agents worked on */
	uint64_t delivered;	/* to clients */
	uint64_t returned;	/* requests, TRANSPORT_RETURNED */
	uint64_t lost[SIM_N_DELIVERIES];	/* on the way */
	uint64_t lost_by_fault;	/* by a rule or a liar */
	uint64_t lost_vl15;	/* the agent had too many to do */
	uint64_t lost_at_node;	/* dead, silent, or the M_Key is wrong */
	uint64_t lost_nobody;	/* no client wants it */
	uint64_t traps;		/* repeats included */
	uint64_t events;
};
const struct sim_stats *sim_stats(const struct sim *sim);

#endif
