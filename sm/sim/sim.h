/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A simulated fabric behind the seam of sm/io/transport.h: the agents of its
 * nodes, its links, a virtual clock. One thread, no real time, no surprise:
 * the same fabric, parameters and calls give the same run, bit for bit.
 *
 * Ports and nodes are named by their index in the snapshot that the fabric was
 * made of. What can go wrong is in sm/sim/fault.h, what the data plane does
 * with a packet in sm/sim/probe.h.
 */
#ifndef MINISM_SIM_SIM_H
#define MINISM_SIM_SIM_H

#include "sm/io/transport.h"
#include "topology/snapshot.h"

struct sim;

/* What happens to a request that nobody answers in time. */
enum sim_returns {
	SIM_RETURNS_IN_TIME,	/* TRANSPORT_RETURNED after its timeout_ms, as
				   the kernel does */
	SIM_RETURNS_NEVER,
};

/* What a port says to a Set of the state that it is in. */
enum sim_same_state {
	SIM_SAME_STATE_REFUSED,	/* 0x1c: no transition of the state machine */
	SIM_SAME_STATE_ACCEPTED,
};

/* What another manager may have left in MulticastFDBTop: its groups were few,
 * or the switch carried none. */
#define SIM_MCAST_TOP_NONE	0xbfffu
#define SIM_MCAST_TOP_LOW	0xc000u
#define SIM_MCAST_TOP_MIXED	1u	/* each switch: 0 or one of these */

struct sim_params {
	uint64_t seed;		/* of every random choice */
	unsigned hop_ns;	/* one hop, each way */
	unsigned smp_ns;	/* an agent works on one SMP at a time */
	unsigned forward_ns;	/* so long, too, on one that a directed route
				   takes through it, request or answer;
				   0: hardware passes these on */
	unsigned train_us;	/* from cable to Init */
	unsigned vl15_depth;	/* SMPs at an agent; more are lost */
	unsigned trap_repeat_us;/* until TrapRepress; 0: as SubnetTimeOut says,
				   4.096 us * 2^n (IBA 13.4.9) */
	unsigned trap_repeats;	/* then it gives up; 0: never */
	enum sim_returns returns;
	enum sim_same_state same_state;
	uint16_t mcast_top;	/* MulticastFDBTop of the switches */
	bool hide_ext_speeds;	/* from a Get without SMSupportExtendedSpeeds */
};

/* Seed 1, 300 ns a hop, 20 us an SMP, 10 ms of training, 1,024 waiting SMPs,
 * traps for ever as SubnetTimeOut says, returns in time, refused, tops
 * mixed. */
extern const struct sim_params sim_params_default;

/*
 * A fabric of which nobody has taken care yet: links in Init, tables empty,
 * LIDs as in the snapshot. A port that the snapshot does not know is one that
 * was just switched on. `fabric` is copied; params NULL: the defaults.
 */
struct sim *sim_new(const struct snapshot *fabric,
		    const struct sim_params *params);
void sim_free(struct sim *sim);		/* detaches and frees all transports */

/* What a client is to its port. */
enum sim_role {
	SIM_ROLE_MANAGER,	/* the port says IsSM; gets SMInfo, traps, GMPs
				   that ask */
	SIM_ROLE_CLIENT,	/* gets answers, and Reports (IBA 13.4.6.1) */
	SIM_ROLE_DRIVER,	/* of the whole port: gets all that is not for
				   its agents; TIDs and time-outs stay its own
				   business. No other client beside it. */
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
void sim_run(struct sim *sim, int64_t until_us);
/* Until nothing is going to happen (true) or until the limit (false). */
bool sim_run_idle(struct sim *sim, int64_t limit_us);

/* IsSM of a port with a driver. */
void sim_port_set_is_sm(struct sim *sim, uint32_t port, bool is_sm);

enum sim_pace {
	SIM_PACE_FAST,		/* whenever the main loop has nothing better */
	SIM_PACE_REAL,		/* a virtual second takes a second */
};
/* Drives the fabric from a main loop; attach it with g_source_attach(). The
 * fabric must outlive it. */
GSource *sim_source_new(struct sim *sim, enum sim_pace pace);

/* Called when a port is told ClientReregister (IBA 14.4.2). */
typedef void (*sim_reregister_fn)(struct sim *sim, uint32_t port, void *data);
void sim_set_reregister(struct sim *sim, sim_reregister_fn fn, void *data);

#endif
