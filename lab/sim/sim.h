/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A simulated fabric behind sm/io/transport.h: the agents of its nodes, its
 * links, a virtual clock. One thread and no real time: the same fabric,
 * parameters and calls give the same run, bit for bit.
 *
 * Ports and nodes are named by their index in the snapshot that the fabric was
 * made of.
 */
#ifndef MINISM_SIM_SIM_H
#define MINISM_SIM_SIM_H

#include "sm/io/transport.h"
#include "sm/mad/perf.h"
#include "topology/snapshot.h"

struct sim;

/* The answer of a port to a Set of the state that it is in. */
enum sim_same_state {
	SIM_SAME_STATE_REFUSED,	/* 0x1c: no transition of the state machine */
	SIM_SAME_STATE_ACCEPTED,
};

/* MulticastFDBTop as another manager may have left it, with few groups or
 * none. */
#define SIM_MCAST_TOP_NONE	0xbfffu
#define SIM_MCAST_TOP_LOW	0xc000u
#define SIM_MCAST_TOP_MIXED	1u	/* each switch: 0 or one of these */

struct sim_params {
	uint64_t seed;		/* of every random choice */
	unsigned hop_ns;	/* one hop, each way */
	unsigned smp_ns;	/* an agent works on one SMP at a time */
	unsigned forward_ns;	/* so long, too, on a directed-route SMP that it
				   forwards, request or answer; 0: forwarded by
				   hardware */
	unsigned train_us;	/* from cable to Init */
	unsigned vl15_depth;	/* SMPs at an agent; more are lost */
	unsigned trap_repeat_us;/* until TrapRepress; 0: by SubnetTimeOut, 4.096
				   us * 2^n (IBA 13.4.9) */
	unsigned trap_repeats;	/* then it gives up; 0: never */
	enum sim_same_state same_state;
	uint16_t mcast_top;	/* MulticastFDBTop of the switches */
	bool hide_ext_speeds;	/* from a Get without SMSupportExtendedSpeeds */
};

/* Seed 1, 300 ns a hop, 20 us an SMP, 10 ms of training, 1,024 waiting SMPs,
 * traps repeated by SubnetTimeOut without limit, refused, tops mixed. */
extern const struct sim_params sim_params_default;

/*
 * A fabric that no subnet manager has configured: links in Init, tables empty,
 * LIDs as in the snapshot. A port that is not known in the snapshot has the
 * attributes of a new device. `fabric` is copied; params NULL: the defaults.
 */
struct sim *sim_new(const struct snapshot *fabric,
		    const struct sim_params *params);
void sim_free(struct sim *sim);		/* detaches and frees all transports */

/* The role of a client on its port. */
enum sim_role {
	SIM_ROLE_MANAGER,	/* sets IsSM; gets SMInfo, traps, GMP
				   requests */
	SIM_ROLE_CLIENT,	/* gets answers, and Reports (IBA 13.4.6.1) */
	SIM_ROLE_DRIVER,	/* of the whole port: gets all that is not for
				   its agents; its TIDs stay as they are and
				   nothing times out. The only client of its
				   port. */
};

/*
 * A client on an end port; there may be several, even on one port. Each gets
 * the answers to its requests (the upper half of a request's TID is written
 * here, as by the kernel). It does RMPP (struct
 * transport), but for a driver. transport_free() detaches;
 * a client may do that inside its own callbacks.
 */
struct transport *sim_attach(struct sim *sim, uint32_t port,
			     enum sim_role role);

/* The virtual clock. */
int64_t sim_now(const struct sim *sim);		/* us */
bool sim_step(struct sim *sim);	/* the next event; false: there is none */

/* A manager that sets IsSM, as it does at first, or not. */
void sim_client_show(struct transport *t, bool shown);

/* IsSM of a port with a driver. */
void sim_port_set_is_sm(struct sim *sim, uint32_t port, bool is_sm);

enum sim_pace {
	SIM_PACE_FAST,		/* whenever the main loop has nothing better */
	SIM_PACE_REAL,		/* a virtual second takes a second */
};
/* Drives the fabric from a main loop; attach it with g_source_attach(). The
 * fabric must outlive it. */
GSource *sim_source_new(struct sim *sim, enum sim_pace pace);

/*
 * For stepping: called with each answer of an agent and the method of its
 * request, before the answer is sent. The clock of sim_source_new() then stops
 * until sim_go_on(). fn NULL: no more stepping.
 */
typedef void (*sim_step_fn)(struct sim *sim, uint32_t node, unsigned method,
			    const uint8_t *answer, void *data);
void sim_set_step(struct sim *sim, sim_step_fn fn, void *data);
void sim_go_on(struct sim *sim);

/* Called when a Set of a port has ClientReregister (IBA 14.4.2). */
typedef void (*sim_reregister_fn)(struct sim *sim, uint32_t port, void *data);
void sim_set_reregister(struct sim *sim, sim_reregister_fn fn, void *data);

/*
 * Faults: losses, and changes of the fabric. All are decided by the seed or by
 * the caller.
 */

#define SIM_ANY		UINT32_MAX

/* Which MADs. 0 (node: SIM_ANY) matches everything. The node of an answer is
 * its sender, that of everything else its destination. */
struct sim_match {
	uint32_t node;
	uint8_t mgmt_class, method;
	uint16_t attr_id;
};

enum sim_fault_kind {
	SIM_FAULT_LOSS,
	SIM_FAULT_DELAY,	/* by us */
	SIM_FAULT_REORDER,	/* by anything from 0 to us */
	SIM_FAULT_DUPLICATE,	/* the copy comes up to us later */
	SIM_FAULT_CORRUPT,	/* one bit of the MAD */
};

struct sim_rule {
	struct sim_match match;
	enum sim_fault_kind kind;
	unsigned per_mille;	/* of those that match; 1000: every one */
	unsigned times;		/* then the rule is over; 0: never */
	int64_t us;
};

/* Rules apply in the order in which they came. */
void sim_rule_add(struct sim *sim, const struct sim_rule *rule);
void sim_rules_clear(struct sim *sim, uint32_t node);	/* all for this one */

/* Agents. */
enum sim_mood {
	SIM_MOOD_OBEDIENT,
	SIM_MOOD_SILENT,	/* never answers; forwards in hardware only */
	SIM_MOOD_FORGETFUL,	/* acknowledges Sets and does none */
};
void sim_node_set_mood(struct sim *sim, uint32_t node, enum sim_mood mood);
/* Its agent needs `ns` for each SMP, also for one that it forwards, and queues
 * `places` of them. */
void sim_node_set_queue(struct sim *sim, uint32_t node, unsigned ns,
			unsigned places);

/* Cables. A cut cable stays plugged in at both ends. Plugging joins two ports
 * without a cable (and so two islands, for example); a port with itself is a
 * loopback plug. */
void sim_link_cut(struct sim *sim, uint32_t port);
void sim_link_mend(struct sim *sim, uint32_t port);
void sim_link_flap(struct sim *sim, uint32_t port, unsigned times,
		   int64_t down_us, int64_t up_us);	/* starts now */
void sim_cable_plug(struct sim *sim, uint32_t a, uint32_t b);
void sim_cable_unplug(struct sim *sim, uint32_t port);
void sim_cable_swap(struct sim *sim, uint32_t a, uint32_t b);

/* Of the packets on this cable, in both directions; 0: none. */
void sim_link_set_loss(struct sim *sim, uint32_t port, unsigned per_mille);
/* At both ends: LinkWidthActive and LinkSpeedActive, Ext and Ext2, as in this. */
void sim_link_set_speed(struct sim *sim, uint32_t port,
			const struct port_info *active);

void sim_port_add_errors(struct sim *sim, uint32_t port, enum perf_error error,
			 uint64_t n);

/* Nodes. A reset or a new start loses all that was set; clients stay. */
void sim_node_off(struct sim *sim, uint32_t node);
void sim_node_on(struct sim *sim, uint32_t node);
void sim_node_reset(struct sim *sim, uint32_t node);
/* Off, another device with this NodeGUID in its place (its PortGUIDs follow
 * it: +n for port n, a switch +0), on; with the CAs inside of a switch, which
 * are those with its SystemImageGUID or NodeGUID as theirs. */
void sim_node_replace(struct sim *sim, uint32_t node, uint64_t guid);
/* The same device has this NodeGUID from now on: a clash. */
void sim_node_set_guid(struct sim *sim, uint32_t node, uint64_t guid);
/* Trap 144 follows (IBA 14.2.5.1). */
void sim_node_describe(struct sim *sim, uint32_t node, const char *desc);

#define SIM_N_TRAPS	10u
extern const uint16_t sim_traps[SIM_N_TRAPS];
struct sim_packet;
/* Traps: one of sim_traps from the end port of `port`, until it is repressed
 * (culprit: the MAD with a wrong key, or NULL); or a new one every period, `times`
 * times, repressed or not. */
void sim_trap_raise(struct sim *sim, uint32_t port, unsigned trap,
		    const struct sim_packet *culprit);
void sim_babble(struct sim *sim, uint32_t port, unsigned trap,
		unsigned times, int64_t period_us);

/*
 * The data plane: the path of a packet by the present tables and states of the
 * devices. A probe changes nothing and takes no time.
 */

/* After so many hops a packet counts as in a loop: a manager reaches nodes up to
 * 63 cables away, so two of them are 126 from each other, and a path that goes
 * up to a root and down may be twice as long. */
#define SIM_HOPS_MAX	256u

enum sim_delivery {
	SIM_DELIVERED,
	SIM_NO_LID,		/* the sender has none; or the DLID is 0 or of
				   the wrong kind */
	SIM_NO_LINK,		/* a link of the path is not up or not Active */
	SIM_NO_ROUTE,		/* a switch has no port for this LID */
	SIM_LOOP,
	SIM_WRONG_END,		/* it arrived at a port with another LID */
	SIM_BAD_PKEY,		/* refused at an end or at a switch port */
	SIM_BAD_VL,		/* an SL that maps to no operational VL, or to
				   one that is never sent */
	SIM_BAD_MTU,		/* NeighborMTU is less at the far end */
	SIM_N_DELIVERIES
};
const char *sim_delivery_name(enum sim_delivery d);

/* The path of a packet; of a lost one up to the port where it was lost. */
struct sim_trace {
	uint32_t end;		/* the port where it ended */
	unsigned n;
	struct {
		uint32_t port;	/* out of which it went: a channel */
		uint8_t vl;
	} hop[SIM_HOPS_MAX];
};

/* Does a packet from the end port `from` arrive at the owner of `dlid`?
 * pkey: as the sender's table must have it. trace may be NULL. */
enum sim_delivery sim_probe(const struct sim *sim, uint32_t from,
			    uint16_t dlid, uint16_t pkey, unsigned sl,
			    struct sim_trace *trace);

/* The copies of a multicast packet. */
struct sim_mcast {
	GArray *reached;	/* uint32_t end ports, in index order; a switch
				   port 0 is there once for each copy */
	uint32_t channels;	/* out of which copies went */
	uint32_t lost[SIM_N_DELIVERIES];	/* copies, by reason */
};

/* SIM_DELIVERED: copies were sent, see `out`. SIM_LOOP: a copy came to a
 * channel that another one had taken; it was not followed further. Every end
 * port that a copy reaches is listed, member or not. */
enum sim_delivery sim_probe_mcast(const struct sim *sim, uint32_t from,
				  uint16_t mlid, uint16_t pkey, unsigned sl,
				  struct sim_mcast *out);
void sim_mcast_clear(struct sim_mcast *out);

/* The PMA's counters (IBA 16.1.3.5); in its widths only on the wire. */
enum sim_traffic {	/* in the order of PortCounters */
	SIM_XMIT_DATA,	/* words of 4 bytes, */
	SIM_RCV_DATA,	/* too */
	SIM_XMIT_PACKETS,
	SIM_RCV_PACKETS,
	SIM_N_TRAFFIC
};
struct sim_counters {
	uint64_t traffic[SIM_N_TRAFFIC], error[PERF_COUNTERS];
};

/* Attributes of a device; borrowed, valid until the next event. */
const struct port_info *sim_port_info(const struct sim *sim, uint32_t port);
const struct switch_info *sim_switch_info(const struct sim *sim,
					  uint32_t node);
const struct node_info *sim_node_info(const struct sim *sim, uint32_t node);
const char *sim_node_desc(const struct sim *sim, uint32_t node);
/* Of an end port; 0: no entry. */
uint16_t sim_port_pkey(const struct sim *sim, uint32_t port, unsigned index);
/* The index of the port's P_Key that admits a packet with `pkey`. */
unsigned sim_port_pkey_index(const struct sim *sim, uint32_t port,
			     uint16_t pkey);
uint32_t sim_peer(const struct sim *sim, uint32_t port);
/* LFT entry: 255 for none. */
uint8_t sim_lft_entry(const struct sim *sim, uint32_t node, uint16_t lid);
/* The ports of an MLID, as masks of 16 each. False: there is no entry, masks is
 * not written or 0. */
#define SIM_MFT_POSITIONS	16u
#define SIM_PORTS_PER_MASK	16u
bool sim_table_mcast(const struct sim *sim, uint32_t node, uint16_t mlid,
		     uint16_t masks[SIM_MFT_POSITIONS]);

/* Counters of MADs. */
struct sim_stats {
	uint64_t sent;		/* MADs by clients and trapping agents */
	uint64_t served;	/* SMPs that agents worked on */
	uint64_t returned;	/* requests, TRANSPORT_RETURNED */
	uint64_t lost[SIM_N_DELIVERIES];	/* by the reason */
	uint64_t lost_by_fault;	/* by a rule or a hook */
	uint64_t lost_vl15;	/* the agent's queue was full */
	uint64_t lost_at_node;	/* powered off, silent, or the M_Key is wrong */
	uint64_t lost_nobody;	/* no client wants it */
	uint64_t lost_qp;	/* an SMP not on QP 0, a GMP not on QP 1 */
	uint64_t by_lid;	/* LID-routed SMPs that a manager asked by */
	uint64_t reserved;	/* SMPs about a table of a CA that name a port */
	uint64_t traps;		/* repeats included */
	uint64_t events;
};
const struct sim_stats *sim_stats(const struct sim *sim);

#endif
