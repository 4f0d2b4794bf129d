/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What only tests do to a simulated fabric: actions at a MAD,
 * answers that are rewritten, and running its clock.
 */
#ifndef MINISM_TESTS_SIM_SCRIPT_H
#define MINISM_TESTS_SIM_SCRIPT_H

#include "lab/sim/sim.h"

void sim_run(struct sim *sim, int64_t until_us);
/* Until nothing is going to happen (true) or until the limit (false). */
bool sim_run_idle(struct sim *sim, int64_t limit_us);

/* Something that happens once, before the nth (from 1) SMP that matches is
 * served from now on. */
typedef void (*sim_action_fn)(struct sim *sim, void *data);
void sim_at_mad(struct sim *sim, const struct sim_match *match, unsigned nth,
		sim_action_fn fn, void *data);

/* Every node acknowledges Sets and does none, for so long from now on. */
void sim_forget_sets(struct sim *sim, int64_t us);
void sim_node_set_speed(struct sim *sim, uint32_t node, unsigned smp_ns);

/* Sees every answer of an agent before it leaves, and may rewrite it; false:
 * it is lost. NULL: none. */
typedef bool (*sim_liar_fn)(struct sim *sim, uint32_t node,
			    uint8_t *answer, void *data);
void sim_set_liar(struct sim *sim, sim_liar_fn fn, void *data);

#endif
