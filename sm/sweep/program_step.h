/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A step of the plan as a MAD: what is asked for, where it goes. Pure.
 */
#ifndef MINISM_SWEEP_PROGRAM_STEP_H
#define MINISM_SWEEP_PROGRAM_STEP_H

#include "sm/plan/plan.h"
#include "sm/mad/smp.h"

/* PLAN_PORT, _ARM, _ACTIVATE: a PortInfo; else a table, or something of a
 * switch. */
bool program_step_has_port(const struct plan_step *step);

/* The PortState that the step asks for; PORT_STATE_NOP: none. */
unsigned program_step_state(const struct plan_step *step);

enum mad_attr program_step_attr(const struct plan_step *step);
/* Of a PortInfo of that port. */
uint32_t program_step_port_info_mod(const struct snapshot *s, uint32_t port);
uint32_t program_step_attr_mod(const struct snapshot *s,
			       const struct plan_step *step);

/* The port of the snapshot that the SMP goes to: of a CA or router that very
 * port, else port 0 of the switch or the port itself. */
uint32_t program_step_target(const struct snapshot *s,
			     const struct plan_step *step);

/* The 64 bytes of the attribute as a Set carries them. */
void program_step_encode(const struct snapshot *s, const struct desired *w,
		 const struct plan_step *step, uint8_t data[SMP_DATA_LEN]);

#endif
