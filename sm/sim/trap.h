/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Traps, repeated until they are repressed. Private to sm/sim.
 */
#ifndef MINISM_SIM_TRAP_H
#define MINISM_SIM_TRAP_H

#include "sm/sim/state.h"

void sim_trap_raise(struct sim *sim, uint32_t port, unsigned trap,
		    const struct sim_packet *culprit);
/* Without repeats, whatever is being told already. */
void sim_trap_send_once(struct sim *sim, uint32_t port, unsigned trap);
void sim_trap_repress(struct sim *sim, uint32_t port, uint64_t tid);
void sim_trap_forget(struct sim *sim, uint32_t node);

#endif
