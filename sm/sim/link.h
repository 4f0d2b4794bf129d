/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links and their states. Private to sm/sim.
 */
#ifndef MINISM_SIM_LINK_H
#define MINISM_SIM_LINK_H

#include "sm/sim/state.h"

enum sim_cause {
	SIM_CAUSE_LINK,		/* the link itself: PortStateChange, trap */
	SIM_CAUSE_SET,		/* SubnSet at this end (IBA 14.2.5.4) */
};
/* Looks at a link of which something has changed; cause: for `port`'s end. */
void sim_link_settle(struct sim *sim, uint32_t port, enum sim_cause cause);
void sim_link_set_state(struct sim *sim, uint32_t port, unsigned state);

#endif
