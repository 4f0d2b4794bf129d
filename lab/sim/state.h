/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the simulator, private to sm/sim. fabric.c has an
 * overview.
 */
#ifndef MINISM_SIM_STATE_H
#define MINISM_SIM_STATE_H

#include "sm/mad/mad.h"
#include "sm/mad/smp.h"
#include "lab/sim/sim.h"

#define NS_PER_US	1000

/* Of a directed-route SMP (IBA 14.2.1.2). */
#define SIM_OFF_DR_SLID	32
#define SIM_OFF_RETURN	192

/* --- the clock (clock.c): events in a heap, and the packets among them --- */

/* A queued event; the first member of its struct. */
struct sim_event {
	void (*fn)(struct sim *sim, struct sim_event *event);
	void (*free)(void *event);	/* at the end; NULL: it has an owner */
	uint32_t pos;		/* in the heap, from 1; 0: not queued */
};

/* A place of the heap. Total order: time, then the order of starting. */
struct sim_place {
	int64_t at;		/* ns */
	uint64_t seq;
	struct sim_event *event;
};

/* A MAD under way. Its stage is event.fn. */
struct sim_packet {
	struct sim_event event;
	struct mad_addr addr;		/* as given by the sender */
	uint32_t from, to;		/* ports; `to` is where it arrives */
	uint32_t node;			/* struct sim_match's */
	uint32_t epoch;			/* of that node when it was queued */
	int64_t travel;			/* ns to `to` */
	unsigned hop;			/* links of a directed route passed */
	struct mad_header h;
	uint8_t mad[MAD_SIZE];
	uint8_t *message;	/* a long one whole, `mad` is its beginning;
				   or NULL */
	size_t len;
};

void sim_clock_start(struct sim *sim, struct sim_event *event, int64_t at);
void sim_clock_stop(struct sim *sim, struct sim_event *event);
void sim_packet_drop(struct sim_packet *p);
/* Drops it and counts why. */
void sim_packet_lose(struct sim *sim, struct sim_packet *p, uint64_t *count);

/* --- nodes and ports --- */

struct sim_port {
	struct sim_event training;	/* of the link, at its lower port */
	uint64_t guid;
	struct sim_tables *tables;	/* NULL: none */
	int64_t lease_end;	/* of the M_Key, ns; 0: not running */
	uint32_t node, peer;
	uint8_t num;
	bool cut;		/* the cable: at both ends */
	uint16_t loss_per_mille;	/* so it is there, too */
	bool is_sm;		/* set by its driver */
	struct port_info info;
	struct sim_counters counters;
};

enum sim_power {
	SIM_POWER_ON,
	SIM_POWER_OFF,
};

struct sim_node {
	struct node_info info;
	struct switch_info sw;
	uint32_t first_port;
	uint32_t epoch;		/* counts switching on and off */
	enum sim_power power;
	enum sim_mood mood;
	unsigned smp_ns, forward_ns, vl15_depth; /* struct sim_params's */
	uint32_t queued;	/* SMPs that wait for the agent */
	int64_t busy_until;	/* ns */
	uint32_t lft_len;	/* bytes; LIDs beyond have no path */
	uint8_t *lft;
	GPtrArray *mft;		/* [position][block], see table.c; or NULL */
	char desc[NODE_DESC_LEN + 1];	/* all of it may be in use */
};

struct sim_fault {
	struct sim_rule r;
	uint64_t hits;
};

enum sim_passage {
	SIM_PASSAGE_FREE,
	SIM_PASSAGE_LOST,
};

/* Optional parts of a fabric; may be NULL. */
struct sim_hooks {
	/* the rules (fault.c), for a packet that is about to travel */
	enum sim_passage (*travel)(struct sim *sim, struct sim_packet *p);
	/* tests: an agent is about to serve this SMP; its answer is about to
	 * leave */
	void (*serve)(struct sim *sim, const struct sim_packet *p);
	enum sim_passage (*answer)(struct sim *sim, struct sim_packet *p);
	void *data;		/* of tests, freed by free() */
	void (*free)(struct sim *sim);
};
bool sim_match_packet(const struct sim_match *m, const struct sim_packet *p);

struct sim {
	struct sim_params params;
	uint32_t n_nodes, n_ports;
	struct sim_node *nodes;
	struct sim_port *ports;

	int64_t now;		/* ns */
	uint64_t seq;
	GArray *heap;		/* struct sim_place; [0] is not used */

	GPtrArray *clients;	/* struct sim_client, in order of attaching */
	uint32_t last_client;

	GHashTable *traps;	/* port << 16 | number -> struct sim_notice */
	uint64_t last_tid;

	uint64_t rng;
	GArray *rules;		/* struct sim_fault; or NULL */
	struct sim_hooks hooks;
	sim_step_fn step;	/* NULL: no stepping */
	void *step_data;
	bool held;		/* the clock stands still */
	sim_reregister_fn reregister;
	void *reregister_data;
	struct sim_stats stats;
};

static inline bool
sim_is_smp(const struct mad_header *h)
{
	return h->mgmt_class == MAD_CLASS_SMP_LID ||
		h->mgmt_class == MAD_CLASS_SMP_DIRECT;
}

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

/* The port with the LID and the M_Key of `port`: of a switch port 0. */
static inline uint32_t
sim_end_port(const struct sim *sim, uint32_t port)
{
	const struct sim_node *node = sim_node_of(sim, port);

	return sim_is_switch(node) ? node->first_port : port;
}

/* The low LMC bits of a DLID or of what a sender wrote (IBA 4.1.3). */
static inline uint8_t
sim_path_bits(const struct sim *sim, uint32_t port, uint16_t bits)
{
	return bits & ((1u << sim->ports[port].info.lmc) - 1);
}

static inline uint16_t
sim_source_lid(const struct sim *sim, const struct sim_packet *p)
{
	return sim->ports[p->from].info.lid |
		sim_path_bits(sim, p->from, p->addr.path_bits);
}

/* move.c: takes the packet (g_new0()), from p->from on. */
void sim_packet_launch(struct sim *sim, struct sim_packet *p);

/* client.c */
void sim_client_receive(struct sim *sim, struct sim_packet *p);

#define SIM_NO_ANSWER	UINT32_MAX
/* agent.c: answers p->mad in place; the status, or SIM_NO_ANSWER. */
uint32_t sim_agent_answer(struct sim *sim, struct sim_packet *p);

/* portinfo.c: data is read by a Set and written in any case. Returns the
 * status. */
unsigned sim_port_info_serve(struct sim *sim, const struct sim_packet *p,
			     uint8_t *data);
/* gsa.c: answers p->mad in place; the status. */
unsigned sim_pma_answer(struct sim *sim, struct sim_packet *p);

/* --- tables (table.c), as they are on the wire --- */

#define SIM_TABLE_BLOCK		64u	/* bytes of a table in one SMP */
#define SIM_SL2VL_LEN		8u
#define SIM_VL_ARB_BLOCKS	4u
#define SIM_PKEY_DEFAULT	0xffffu	/* IBA 10.9.1.2: in every table */

/* Tables of a port as they are on the wire, each there only once it was
 * written. */
struct sim_tables {
	uint8_t (*pkeys)[SIM_TABLE_BLOCK];
	uint8_t (*guids)[SIM_TABLE_BLOCK];
	uint8_t (*vl_arb)[SIM_TABLE_BLOCK];
	uint8_t (*sl2vl)[SIM_SL2VL_LEN];	/* by the port of entry */
};

/* data is read by a Set and written in any case. Returns the status. */
unsigned sim_table_serve(struct sim *sim, const struct sim_packet *p,
			 uint8_t *data);
void sim_table_clear_port(struct sim *sim, uint32_t port);
void sim_table_clear_node(struct sim *sim, uint32_t node);
bool sim_table_has_pkey(const struct sim *sim, uint32_t port, uint16_t pkey);
bool sim_table_admits_pkey(const struct sim *sim, uint32_t port,
			   uint16_t pkey);
/* OperationalVLs as a number of data VLs (IBA 14.2.5.6) */
unsigned sim_data_vls(const struct sim *sim, uint32_t port);
uint8_t sim_table_vl(const struct sim *sim, uint32_t out, unsigned in,
		     unsigned sl);
/* Does VL arbitration give it a turn? */
bool sim_table_vl_sends(const struct sim *sim, uint32_t out, uint8_t vl);

/* --- links and their states (link.c) --- */

enum sim_cause {
	SIM_CAUSE_LINK,		/* the link itself: PortStateChange, trap */
	SIM_CAUSE_SET,		/* SubnSet at this end (IBA 14.2.5.4) */
};
/* Looks at a link of which something has changed; cause: for `port`'s end. */
void sim_link_settle(struct sim *sim, uint32_t port, enum sim_cause cause);

/* --- traps, repeated until they are repressed (trap.c) --- */

/* Without repeats, beside the notice that is being repeated. */
void sim_trap_send_once(struct sim *sim, uint32_t port, unsigned trap);
/* The notices of an end port with this TID; tid NULL: all of them. */
void sim_trap_end(struct sim *sim, uint32_t end, const uint64_t *tid);

/* --- the way of a packet by LID (probe.c) --- */

enum sim_lane {
	SIM_LANE_VL15,		/* SMPs: links from Init on, no keys, no SL */
	SIM_LANE_DATA,
};
struct sim_packet_kind {
	enum sim_lane lane;
	bool is_long;		/* as the MTU of each port allows, not a MAD */
	uint16_t pkey;
	uint8_t sl;
};
/* From an end port by LID; trace->end is set in any case. */
enum sim_delivery sim_walk(const struct sim *sim, uint32_t from,
			   uint16_t dlid, const struct sim_packet_kind *kind,
			   struct sim_trace *trace);

#endif
