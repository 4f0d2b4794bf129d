/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a fabric does to its subnet manager: losses and lies, and changes of
 * the fabric itself. All of it is decided by the seed, or by who calls.
 */
#ifndef MINISM_SIM_FAULT_H
#define MINISM_SIM_FAULT_H

#include "sm/sim/sim.h"

#define SIM_ANY		UINT32_MAX

/* Which MADs. 0 (node: SIM_ANY) matches everything. The node of an answer is
 * who gives it, that of everything else where it goes. */
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

/* Returns an id, never 0. Rules apply in the order in which they came. */
unsigned sim_rule_add(struct sim *sim, const struct sim_rule *rule);
void sim_rule_remove(struct sim *sim, unsigned id);
void sim_rules_clear(struct sim *sim, uint32_t node);	/* all for this one */
uint64_t sim_rule_hits(const struct sim *sim, unsigned id);

/* Something that happens: at a time, or before the nth (from 1) SMP that
 * matches is served from now on. Each happens once. */
typedef void (*sim_action_fn)(struct sim *sim, void *data);
void sim_at(struct sim *sim, int64_t when_us, sim_action_fn fn, void *data);
void sim_at_mad(struct sim *sim, const struct sim_match *match, unsigned nth,
		sim_action_fn fn, void *data);

/* Agents. */
enum sim_mood {
	SIM_MOOD_OBEDIENT,
	SIM_MOOD_SILENT,	/* forwards, and never answers */
	SIM_MOOD_FORGETFUL,	/* acknowledges Sets and does none */
};
void sim_node_set_mood(struct sim *sim, uint32_t node, enum sim_mood mood);
/* Every node acknowledges Sets and does none, for so long from now on. */
void sim_forget_sets(struct sim *sim, int64_t us);
void sim_node_set_speed(struct sim *sim, uint32_t node, unsigned smp_ns);
/* Its agent needs so long for each SMP, also for one that it passes on, and has
 * so many places for those that wait. */
void sim_node_set_queue(struct sim *sim, uint32_t node, unsigned ns,
			unsigned places);
/* Sees every answer of an agent before it leaves, and may rewrite it; false:
 * it is lost. NULL: nobody. */
typedef bool (*sim_liar_fn)(struct sim *sim, uint32_t node,
			    uint8_t *answer, void *data);
void sim_set_liar(struct sim *sim, sim_liar_fn fn, void *data);

/* Cables. Each end of one that is cut stays in its socket. Which ports there
 * are does not change: plugging joins two that have no cable (two islands,
 * say, into one); a port with itself is a loopback plug. */
void sim_link_cut(struct sim *sim, uint32_t port);
void sim_link_mend(struct sim *sim, uint32_t port);
void sim_link_flap(struct sim *sim, uint32_t port, unsigned times,
		   int64_t down_us, int64_t up_us);	/* starts now */
void sim_cable_plug(struct sim *sim, uint32_t a, uint32_t b);
void sim_cable_unplug(struct sim *sim, uint32_t port);
void sim_cable_swap(struct sim *sim, uint32_t a, uint32_t b);

/* Of the packets that take this cable, either way; 0: none. */
void sim_link_set_loss(struct sim *sim, uint32_t port, unsigned per_mille);
/* What both ends say of it: LinkWidthActive, LinkSpeedActive and -ExtActive. */
void sim_link_set_speed(struct sim *sim, uint32_t port, unsigned width,
			unsigned speed, unsigned speed_ext);

/* Error counters of a port, in the order of PortCounters' CounterSelect. */
enum sim_error {
	SIM_ERROR_SYMBOL,
	SIM_ERROR_LINK_RECOVERY,
	SIM_ERROR_LINK_DOWNED,
	SIM_ERROR_RCV,
	SIM_ERROR_RCV_REMOTE_PHYSICAL,
	SIM_ERROR_RCV_SWITCH_RELAY,
	SIM_ERROR_XMIT_DISCARDS,
	SIM_ERROR_XMIT_CONSTRAINT,
	SIM_ERROR_RCV_CONSTRAINT,
	SIM_ERROR_LOCAL_INTEGRITY,
	SIM_ERROR_BUFFER_OVERRUN,
	SIM_ERROR_VL15_DROPPED,
	SIM_N_ERRORS
};
void sim_port_add_errors(struct sim *sim, uint32_t port, enum sim_error error,
			 uint64_t n);

/* Nodes. A reset or a new start loses all that was set; clients stay. */
void sim_node_off(struct sim *sim, uint32_t node);
void sim_node_on(struct sim *sim, uint32_t node);
void sim_node_reset(struct sim *sim, uint32_t node);
/* Off, another device with this NodeGUID in its place (its PortGUIDs follow
 * it: +n for port n, a switch +0), on. */
void sim_node_replace(struct sim *sim, uint32_t node, uint64_t guid);
/* The same device says from now on that it is called so: a clash. */
void sim_node_set_guid(struct sim *sim, uint32_t node, uint64_t guid);
/* Trap 144 follows (IBA 14.2.5.1). */
void sim_node_describe(struct sim *sim, uint32_t node, const char *desc);

/* Traps: one of 128 to 131, 144, 145, 256 to 259 from the end port that speaks
 * for `port`, until it is repressed; or a new one every period, `times`
 * times, whatever anybody says. */
void sim_trap(struct sim *sim, uint32_t port, unsigned trap);
void sim_babble(struct sim *sim, uint32_t port, unsigned trap,
		unsigned times, int64_t period_us);

#endif
